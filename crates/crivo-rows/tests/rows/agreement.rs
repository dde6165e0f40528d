//! The same column in any format, compression and number of threads gives the same sketch, byte
//! for byte.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray};
use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;
use crivo_rows::{Input, Items, Scan, Select};

use crate::compressed::{gzip, xz, zstd};
use crate::parquet_files::parquet_bytes;
use crate::support::{Folder, Random};

fn sketch(input: &Input, field: &str, scheme: KeyScheme, items: Items, threads: usize) -> Vec<u8> {
    let empty = HyperLogLog::with_scheme(8, scheme).unwrap();
    let select = if field.is_empty() { Select::Row } else { Select::field(field) };
    let scan = Scan::of(input).select(select).keys(scheme).items(items).threads(threads).chunk_size(4096);
    let folded = scan.fold(
        || empty.clone(),
        |sketch, batch| Ok(sketch.insert_batch(&batch.keys(0)?)?),
        |sketch, other| Ok(sketch.merge(&other)?),
    );
    folded.unwrap().state.encode()
}

/// Writes one table in every format.
fn write_all(folder: &Folder, rows: usize) -> Vec<Input> {
    let mut random = Random::new(11);
    let words = ["red", "dark green", "blue, light", "a \"quoted\" one", "two\nlines", "ação", ""];
    let texts: Vec<String> =
        (0..rows).map(|_| format!("{}{}", random.pick(&words), random.pick(&["", "1", "22"]))).collect();
    let numbers: Vec<i64> = (0..rows).map(|_| random.below(1 << 40) as i64 - (1 << 39)).collect();
    let floats: Vec<f64> = (0..rows)
        .map(|_| (random.below(1 << 30) as f64 - 5e8) / random.pick(&[1.0, 8.0, 1e-9, 1e15]))
        .collect();
    let table = |delimiter: &str| {
        let mut text = ["text", "number", "float"].join(delimiter) + "\n";
        for row in 0..rows {
            let quoted = format!("\"{}\"", texts[row].replace('"', "\"\""));
            text += &[quoted, numbers[row].to_string(), python_float(floats[row])].join(delimiter);
            text.push('\n');
        }
        text
    };
    let jsonl: String = (0..rows)
        .map(|row| {
            let text = texts[row].replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\u000a");
            let text = if text.is_empty() { "null".into() } else { format!("\"{text}\"") };
            format!("{{\"float\": {:e}, \"text\": {text}, \"number\":{}}}\n", floats[row], numbers[row])
        })
        .collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "text",
            Arc::new(
                texts
                    .iter()
                    .map(|text| Some(text.clone()).filter(|t| !t.is_empty()))
                    .collect::<StringArray>(),
            ),
        ),
        ("number", Arc::new(Int64Array::from(numbers.clone()))),
        ("float", Arc::new(Float64Array::from(floats.clone()))),
    ];
    let csv = table(",");
    vec![
        folder.input("t.csv", &csv),
        folder.input("t.tsv", table("\t")),
        folder.input("colons.csv", table("::")).delimiter("::").unwrap(),
        folder.input("t.jsonl", &jsonl),
        folder.input("t.parquet", parquet_bytes(columns, 700)),
        folder.input("t.csv.gz", gzip(csv.as_bytes())),
        folder.input("t.csv.zst", zstd(csv.as_bytes())),
        folder.input("t.jsonl.xz", xz(jsonl.as_bytes())),
    ]
}

/// Formats a float like Python's `repr`, independently of the code under test.
fn python_float(value: f64) -> String {
    let scientific = format!("{value:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{value}");
    if plain.contains('.') { plain } else { plain + ".0" }
}

#[test]
fn same_column_gives_the_same_bytes_from_every_format() {
    let folder = Folder::new();
    let seeded = KeyScheme::bytes().with_seed(7);
    for (field, scheme, items) in [
        ("text", KeyScheme::bytes(), Items::Values),
        ("text", seeded, Items::Words(2)),
        ("number", seeded, Items::Values),
        ("number", KeyScheme::integers(), Items::Values),
        ("float", KeyScheme::bytes(), Items::Values),
    ] {
        let inputs = write_all(&folder, 3000);
        let expected = sketch(&inputs[0], field, scheme, items, 1);
        for (at, input) in inputs.iter().enumerate() {
            for threads in [1, 4] {
                let found = sketch(input, field, scheme, items, threads);
                assert!(found == expected, "format {at}, field {field}, {items:?}, {threads} threads");
            }
        }
        let other = sketch(
            &inputs[0],
            if field == "text" { "number" } else { "text" },
            KeyScheme::bytes(),
            Items::Values,
            1,
        );
        assert_ne!(other, expected, "the sketches do depend on the column");
    }
}

#[test]
fn lines_and_a_csv_of_one_column_agree() {
    let folder = Folder::new();
    let body: String = (0..5000).map(|n| format!("item {}\n", n % 1700)).collect();
    let lines = folder.input("t.txt", &body);
    let csv = folder.input("t.csv", format!("name\n{body}"));
    let expected = sketch(&lines, "", KeyScheme::bytes(), Items::Values, 1);
    assert_eq!(sketch(&lines, "", KeyScheme::bytes(), Items::Values, 4), expected);
    assert_eq!(sketch(&csv, "name", KeyScheme::bytes(), Items::Values, 4), expected);
}

#[test]
fn repeatable_deals_the_same_chunks_to_the_same_threads() {
    let folder = Folder::new();
    let input = folder.input("t.txt", (0..20_000).map(|n| format!("{n}\n")).collect::<String>());
    let parts = || {
        let scan = Scan::of(&input).threads(3).chunk_size(500).repeatable(true);
        let folded = scan.fold(
            || vec![Vec::new()],
            |parts, batch| {
                parts[0].extend((0..batch.rows()).map(|row| batch.id(row)));
                Ok(())
            },
            |parts, others| {
                parts.extend(others);
                Ok(())
            },
        );
        folded.unwrap().state
    };
    let first = parts();
    assert_eq!(first.iter().map(Vec::len).sum::<usize>(), 20_000);
    assert!(first.len() == 3 && first.iter().all(|part| !part.is_empty()));
    for _ in 0..20 {
        assert_eq!(parts(), first);
    }
}
