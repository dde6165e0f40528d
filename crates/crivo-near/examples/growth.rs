//! Measures how CPU time, memory and disk grow with the number of documents, without reading files.
//!
//! `cargo run --release -p crivo-near --example growth -- engine 256 100000 400000` searches
//! documents of about 1.9 KB with 256 MiB. Each number of documents is a separate search.
//!
//! `cargo run --release -p crivo-near --example growth -- index FOLDER 100000 1000000` adds
//! documents of about 200 bytes until the index has each of these numbers. Then it queries a tenth
//! as many, and as many. Half of the queries are changed copies of indexed documents.
//!
//! The times include making the texts, which takes the same time for every document.

// An example prints.
#![allow(clippy::print_stdout)]

use std::fmt::Write;
use std::fs::read_to_string;
use std::ops::Range;

use crivo::hash::split_mix::finish as mix;
use crivo::similarity::Bands;
use crivo_near::{
    Clusters, Documents, Index, Keep, Linking, Result, Settings, TakeText, deal, near_duplicates,
};

/// The number of documents that a thread makes at once.
const AT_ONCE: u64 = 256;

/// Documents that are computed from their numbers.
struct MadeDocuments {
    numbers: Range<u64>,
    /// Writes the text of a number.
    text: fn(u64, &mut String),
}

impl Documents for MadeDocuments {
    fn read<S: Send>(&self, make: &(dyn Fn() -> S + Sync), take: &TakeText<'_, S>) -> Result<Vec<S>> {
        let Range { start, end } = self.numbers;
        let make = || (make(), String::new());
        let states = deal(1, (end - start).div_ceil(AT_ONCE) as usize, make, |(state, text), task| {
            let first = start + task as u64 * AT_ONCE;
            for number in first..end.min(first + AT_ONCE) {
                text.clear();
                (self.text)(number, text);
                take(state, number, text.as_bytes())?;
            }
            Ok(())
        })?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}

/// Appends a word. Short words are frequent, as in a language.
fn push_word(id: u64, text: &mut String) {
    let _ = write!(text, "{:x} ", id % (1 << (8 + id % 17)));
}

/// Writes a text of about 1.9 KB. Every third is a copy of an earlier one, with up to eleven words
/// changed.
fn long_text(number: u64, text: &mut String) {
    let original = if number % 3 == 2 { mix(number) % (number / 3 + 1) * 3 } else { number };
    let changes = if original == number { 0 } else { mix(number + 1) % 12 };
    let words = 40 + mix(original) % 580;
    for word in 0..words {
        let id = mix(original << 12 | word);
        let is_changed = (0..changes).any(|change| mix(number << 8 | change) % words == word);
        push_word(if is_changed { mix(id ^ number) } else { id }, text);
    }
}

/// Writes a text of about 200 bytes, different for each number. `last` changes the last word.
fn short_text(number: u64, last: u64, text: &mut String) {
    let words = 24 + mix(number) % 16;
    for word in 0..words {
        push_word(mix(number << 8 | word) ^ if word + 1 == words { last } else { 0 }, text);
    }
}

/// Writes the text of a query. Every second is a changed copy of an indexed document; the others
/// are new.
fn asked_text(number: u64, text: &mut String) {
    short_text(if number % 2 == 1 { number | 1 << 50 } else { number }, 1, text);
}

/// Returns the user and system time of this process in seconds, and its peak of resident memory in
/// MiB.
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

/// Returns the result of `work`, and its CPU time divided by `count` in microseconds.
fn timed<T>(count: u64, work: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let (before, _) = usage();
    let done = work()?;
    Ok((done, (usage().0 - before) * 1e6 / count as f64))
}

fn engine(memory: u64, counts: impl Iterator<Item = u64>) -> Result<()> {
    println!("documents\tCPU µs a document\tpeak MiB\tspilled MiB\tkept\tpairs");
    let settings = Settings { memory, threads: 1, ..Settings::default() };
    for count in counts {
        let documents = MadeDocuments { numbers: 0..count, text: long_text };
        let ((found, kept), each) = timed(count, || {
            let found = near_duplicates(&documents, &settings, &())?;
            let clusters = Clusters::of(&found, Linking::Kept, Keep::First)?;
            Ok((found, clusters.kept_count()))
        })?;
        let (peak, spilled) = (usage().1, found.spilled() >> 20);
        println!("{count}\t{each:.1}\t{peak:.0}\t{spilled}\t{kept}\t{}", found.pairs());
    }
    Ok(())
}

fn index(folder: &str, counts: impl Iterator<Item = u64>) -> Result<()> {
    let bands = Bands::new(16, 6)?;
    let mut index = Index::create(folder, &Settings { bands: Some(bands), ..Settings::default() })?;
    println!(
        "documents\tadded\tµs to add one\tµs to ask about one of a tenth\tof all\tfound\tbytes a document\tpeak MiB"
    );
    let mut before = 0;
    for count in counts {
        let added =
            MadeDocuments { numbers: before..count, text: |number, text| short_text(number, 0, text) };
        let ((), adding) = timed(count - before, || {
            index.add_all(&added, &|place| Ok(Some(place.to_string().into_bytes()))).map(drop)
        })?;
        let ask = |asked: u64| {
            let documents = MadeDocuments { numbers: 0..asked, text: asked_text };
            timed(asked, || Ok(index.nearest_of_all(&documents, 0.8, 256 << 20)?.found.len()))
        };
        let ((_, few), (found, all)) = (ask(count / 10)?, ask(count)?);
        let (peak, bytes) = (usage().1, index.stats()?.bytes / count);
        println!("{count}\t{}\t{adding:.1}\t{few:.1}\t{all:.1}\t{found}\t{bytes}\t{peak:.0}", count - before);
        before = count;
    }
    Ok(())
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((what, [first, counts @ ..])) = arguments.split_first() else {
        println!("growth engine MEBIBYTES COUNT…, or growth index FOLDER COUNT…");
        return Ok(());
    };
    let counts = counts.iter().filter_map(|count| count.parse().ok());
    match what.as_str() {
        "index" => index(first, counts),
        _ => engine(first.parse::<u64>().unwrap_or(256) << 20, counts),
    }
}
