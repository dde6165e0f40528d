//! What a document costs in an index that grows.
//!
//! `cargo run --release -p crivo-near --example index_growth -- FOLDER 100000 1000000` adds documents of about 200 bytes
//! until the index has each of these numbers, and then asks about as many as were added last. It prints CPU time a
//! document for both, and bytes on disk. Half of the documents asked about are changed copies of indexed ones.

// An example prints.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::fs::read_to_string;
use std::ops::Range;
use std::path::PathBuf;

use crivo_near::{Documents, Index, Result, Settings, TakeText, deal};

/// A step of SplitMix64, which makes numbers that look random.
fn mix(number: u64) -> u64 {
    let mixed = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Documents made from their numbers, some of them with a word changed.
struct MadeDocuments {
    numbers: Range<u64>,
    /// Every second document has a changed word, and the others are new.
    asked: bool,
}

fn make_text(number: u64, changed: bool, text: &mut String) {
    text.clear();
    let words = 24 + mix(number) % 16;
    for word in 0..words {
        let id = mix(number << 8 | word) ^ u64::from(changed && word + 1 == words);
        let _ = write!(text, "{:x} ", id % (1 << (8 + id % 17)));
    }
}

impl Documents for MadeDocuments {
    fn read<S: Send>(&self, make: &(dyn Fn() -> S + Sync), take: &TakeText<'_, S>) -> Result<Vec<S>> {
        let count = self.numbers.end - self.numbers.start;
        let make = || (make(), String::new());
        let states = deal(1, count.div_ceil(256) as usize, make, |(state, text), task| {
            let first = self.numbers.start + task as u64 * 256;
            for number in first..self.numbers.end.min(first + 256) {
                let is_new = self.asked && number % 2 == 1;
                make_text(if is_new { number | 1 << 50 } else { number }, self.asked, text);
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
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "index".into()));
    let bands = crivo::similarity::Bands::new(16, 6)?;
    let mut index = Index::create(&folder, &Settings { bands: Some(bands), ..Settings::default() })?;
    println!("documents\tadded\tµs to add one\tµs to ask about one\tfound\tbytes a document\tpeak MiB");
    let mut before = 0;
    for count in arguments.filter_map(|argument| argument.parse::<u64>().ok()) {
        let (start, _) = usage();
        let added = MadeDocuments { numbers: before..count, asked: false };
        index.add_all(&added, &|place| Some(place.to_string().into_bytes()))?;
        let (middle, _) = usage();
        // As many are asked about as the index has: then both sides are read once.
        let asked = MadeDocuments { numbers: 0..count, asked: true };
        let found = index.nearest_of_all(&asked, 0.8, 256 << 20)?.found.len();
        let (end, peak) = usage();
        let (adding, asking) =
            ((middle - start) * 1e6 / (count - before) as f64, (end - middle) * 1e6 / count as f64);
        let bytes = index.stats()?.bytes / count;
        println!("{count}\t{}\t{adding:.1}\t{asking:.1}\t{found}\t{bytes}\t{peak:.0}", count - before);
        before = count;
    }
    Ok(())
}
