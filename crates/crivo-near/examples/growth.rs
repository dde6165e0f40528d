//! How CPU time and memory of the engine grow with the number of documents, without reading files.
//!
//! `cargo run --release -p crivo-near --example growth -- 256 100000 400000` prints for each number of documents of
//! about 1.9 KB the CPU time a document and the peak of resident memory, with 256 MiB. A third of the documents are
//! changed copies of others. Making the texts is in the time; it is the same for every document.

// An example prints.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::fs::read_to_string;

use crivo::hash::split_mix::finish as mix;
use crivo_near::{Clusters, Documents, Keep, Linking, Result, Settings, TakeText, deal, near_duplicates};

struct MadeDocuments {
    count: u64,
    threads: usize,
}

fn make_text(number: u64, text: &mut String) {
    text.clear();
    // Every third is a copy of one before, with up to eleven words changed.
    let original = if number % 3 == 2 { mix(number) % (number / 3 + 1) * 3 } else { number };
    let changes = if original == number { 0 } else { mix(number + 1) % 12 };
    let words = 40 + mix(original) % 580;
    for word in 0..words {
        let mut id = mix(original << 12 | word);
        if (0..changes).any(|change| mix(number << 8 | change) % words == word) {
            id = mix(id ^ number);
        }
        // Short words are frequent, as in a language.
        let _ = write!(text, "{:x} ", id % (1 << (8 + id % 17)));
    }
}

impl Documents for MadeDocuments {
    fn read<S: Send>(&self, make: &(dyn Fn() -> S + Sync), take: &TakeText<'_, S>) -> Result<Vec<S>> {
        let make = || (make(), String::new());
        let states = deal(self.threads, self.count.div_ceil(256) as usize, make, |(state, text), task| {
            for number in task as u64 * 256..self.count.min((task as u64 + 1) * 256) {
                make_text(number, text);
                take(state, number, text.as_bytes())?;
            }
            Ok(())
        })?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}

/// User and system time of this process in seconds, and its peak of resident memory in MiB.
fn usage() -> (f64, f64) {
    let stat = read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        stat.rsplit(')').next().unwrap_or("").split_whitespace().filter_map(|f| f.parse().ok()).collect();
    let ticks = fields.get(10).unwrap_or(&0.0) + fields.get(11).unwrap_or(&0.0);
    let status = read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0");
    let kibibytes: f64 = peak.split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0.0);
    (ticks / 100.0, kibibytes / 1024.0)
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).filter_map(|argument| argument.parse::<u64>().ok());
    let memory = arguments.next().unwrap_or(256) << 20;
    println!("documents\tCPU µs a document\tpeak MiB\tspilled MiB\tkept\tpairs");
    for count in arguments {
        let (before, _) = usage();
        let settings = Settings { memory, threads: 1, ..Settings::default() };
        let found = near_duplicates(&MadeDocuments { count, threads: 1 }, &settings, &())?;
        let clusters = Clusters::of(&found, Linking::Kept, Keep::First)?;
        let (after, peak) = usage();
        let (each, spilled) = ((after - before) * 1e6 / count as f64, found.spilled() >> 20);
        println!("{count}\t{each:.1}\t{peak:.0}\t{spilled}\t{}\t{}", clusters.kept_count(), found.pairs());
    }
    Ok(())
}
