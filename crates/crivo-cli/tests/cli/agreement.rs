//! The same column gives the same sketch, from a file in any format and on any number of threads.

use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;

use crate::support::{Scratch, Values, column, compress, table};

const FORMATS: [&str; 5] = ["lines", "csv", "tsv", "jsonl", "parquet"];

/// Returns every format with every compression.
fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    let compressions = ["", "gz", "zst", "xz"];
    FORMATS
        .into_iter()
        .flat_map(move |format| compressions.map(|compression| (format, compression)))
        .filter(|(format, compression)| *format != "parquet" || compression.is_empty())
}

/// Makes the sketch of the column from a file of the given format, on the given number of threads,
/// and reads it back.
fn sketch_of(values: &Values, format: &str, compression: &str, threads: &str, more: &[&str]) -> Vec<u8> {
    let scratch = Scratch::new();
    // The name has no extension, so that content and options decide the format.
    scratch.write("data", compress(compression, &table(format, values)));
    let mut args = vec!["distinct", "data", "--format", format, "--threads", threads, "-o", "s.crivo"];
    if format != "lines" {
        args.extend(["-f", "value"]);
    }
    args.extend(more);
    scratch.run(&args).ok();
    scratch.read("s.crivo")
}

fn library_sketch(values: &Values, precision: u8, scheme: KeyScheme) -> HyperLogLog {
    let mut sketch = HyperLogLog::with_scheme(precision, scheme).unwrap();
    values.iter().filter(|value| !value.is_empty()).for_each(|value| sketch.insert(value.as_str()).unwrap());
    sketch
}

#[test]
fn every_format_compression_and_thread_count_gives_the_librarys_bytes() {
    // The small stream stays exact, the large one becomes registers. So both states of the sketch
    // are tested.
    for (rows, different) in [(300, 100), (20_000, 50_000)] {
        let values = column(rows, different, 7);
        let expected = library_sketch(&values, 14, KeyScheme::bytes()).encode();
        for (format, compression) in files() {
            for threads in ["1", "4"] {
                let found = sketch_of(&values, format, compression, threads, &[]);
                assert!(found == expected, "{rows} rows of {format} {compression} on {threads} threads");
            }
        }
    }
}

#[test]
fn precision_and_seed_reach_the_sketch() {
    let values = column(5_000, 5_000, 8);
    let expected = library_sketch(&values, 10, KeyScheme::bytes().with_seed(u64::MAX)).encode();
    let seed = u64::MAX.to_string();
    for format in FORMATS {
        let found = sketch_of(&values, format, "", "2", &["--precision", "10", "--seed", &seed]);
        assert!(found == expected, "{format}");
    }
}

#[test]
fn integer_keys_are_the_librarys_integers() {
    let values: Values = (-500_i64..500).map(|n| (n * 7).to_string()).collect();
    let mut expected = HyperLogLog::with_scheme(14, KeyScheme::integers()).unwrap();
    (-500_i64..500).for_each(|n| expected.insert(&(n * 7)).unwrap());
    for format in FORMATS {
        let found = sketch_of(&values, format, "", "2", &["--keys", "int"]);
        assert!(found == expected.encode(), "{format}");
    }
}

#[test]
fn sketch_continued_day_by_day_is_the_sketch_of_all_days() {
    let scratch = Scratch::new();
    let days: Vec<Values> = (0..4).map(|day| column(3_000, 4_000, day)).collect();
    for (day, format) in days.iter().zip(["csv", "jsonl", "parquet", "tsv"]) {
        scratch.write("day", table(format, day));
        scratch.run(&["distinct", "day", "--format", format, "-f", "value", "--into", "all.crivo"]).ok();
    }
    let expected = library_sketch(&days.concat(), 14, KeyScheme::bytes()).encode();
    assert!(scratch.read("all.crivo") == expected);
}
