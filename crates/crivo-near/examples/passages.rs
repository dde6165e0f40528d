//! Finds the passages of texts that stand in a file with NUL bytes between them, and says what that took.
//!
//! `cargo run --release -p crivo-near --example passages -- TEXTS [--min-words N] [--report R.tsv]`

// An example may print and stop.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::io::Write;

use crivo_near::{PassageSettings, Texts, repeated_passages};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1));
    let bytes = std::fs::read(args.first().ok_or("name a file of texts")?)?;
    let texts: Vec<&[u8]> = bytes.split(|&byte| byte == 0).collect();
    let min_words = after("--min-words").map_or(Ok(50), |words| words.parse())?;
    let settings = PassageSettings { min_words, threads: 1, ..PassageSettings::default() };
    let found = repeated_passages(&Texts::new(&texts, 1), &settings, &())?;
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
