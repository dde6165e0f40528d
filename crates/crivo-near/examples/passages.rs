//! Finds the repeated passages of the texts in a file with NUL bytes between them, and prints the
//! times.
//!
//! `cargo run --release -p crivo-near --example passages -- TEXTS [--min-words N] [--copies N]
//! [--same] [--report R.tsv]`
//!
//! With `--copies N` the texts are read N times, each time with other letters and digits. So each
//! copy has the passages of the first, and hardly any in common with another copy. With `--same`
//! all copies are equal, so everything except the first copy is repeated.

// An example may print and stop.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::io::Write;
use std::time::Instant;

use crivo_near::{Documents, PassageSettings, Result, Stage, TakeText, Watch, repeated_passages};

/// Texts that are read several times.
struct CopiedTexts<'a> {
    texts: Vec<&'a [u8]>,
    copies: usize,
    same: bool,
}

impl CopiedTexts<'_> {
    /// Returns the byte that replaces each byte in a copy. Letters are replaced by letters, and
    /// digits by digits.
    fn alphabet(&self, copy: usize) -> [u8; 256] {
        let mut table = std::array::from_fn(|byte| byte as u8);
        if self.same {
            return table;
        }
        // Factors that have no common divisor with the number of letters or digits.
        let letters = [1, 3, 5, 7, 9, 11, 15, 17, 19, 21, 23, 25][copy % 12];
        let digits = [1, 3, 7, 9][copy % 4];
        for (first, count, factor) in [(b'a', 26, letters), (b'A', 26, letters), (b'0', 10, digits)] {
            for number in 0..count {
                let other = (number * factor + copy / 12) % count;
                table[usize::from(first) + number] = first + other as u8;
            }
        }
        table
    }
}

impl Documents for CopiedTexts<'_> {
    fn read<S: Send>(&self, make: &(dyn Fn() -> S + Sync), take: &TakeText<'_, S>) -> Result<Vec<S>> {
        let (mut state, mut text) = (make(), Vec::new());
        for copy in 0..self.copies {
            let alphabet = self.alphabet(copy);
            for (number, original) in self.texts.iter().enumerate() {
                text.clear();
                text.extend(original.iter().map(|&byte| alphabet[usize::from(byte)]));
                take(&mut state, (copy * self.texts.len() + number) as u64, &text)?;
            }
        }
        Ok(vec![state])
    }
}

/// Prints the time at which each stage begins.
struct Clock(Instant);

impl Watch for Clock {
    fn begin(&self, stage: Stage) {
        println!("{:6.1} s {stage:?}", self.0.elapsed().as_secs_f64());
    }

    fn stopped(&self) -> bool {
        false
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let bytes = std::fs::read(args.first().ok_or("name a file of texts")?)?;
    let documents = CopiedTexts {
        texts: bytes.split(|&byte| byte == 0).collect(),
        copies: after("--copies").map_or(Ok(1), |copies| copies.parse())?,
        same: args.iter().any(|arg| arg == "--same"),
    };
    let min_words = after("--min-words").map_or(Ok(50), |words| words.parse())?;
    let settings = PassageSettings { min_words, threads: 1, ..PassageSettings::default() };
    let found = repeated_passages(&documents, &settings, &Clock(Instant::now()))?;
    println!(
        "{} documents, {} passages, {} of {} bytes repeated, {} bytes spilled",
        found.documents(),
        found.passages(),
        found.bytes_repeated(),
        found.bytes(),
        found.spilled()
    );
    if let Some(path) = after("--report") {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        found.for_each(|passage| {
            let (start, end) = (passage.start, passage.end);
            let (first, first_start, first_end) =
                (passage.first_place, passage.first_start, passage.first_end);
            writeln!(file, "{}\t{start}\t{end}\t{first}\t{first_start}\t{first_end}", passage.place).unwrap();
            Ok(())
        })?;
        file.flush()?;
    }
    Ok(())
}
