//! Compares CSV with Python's `csv`, and JSONL with Python's `json`. For 100,000 random inputs
//! each, both readers must find the same rows or both refuse.
//!
//! Python reads with its defaults, so its formats differ from crivo's in some cases, which the
//! inputs avoid. For Python, a carriage return alone ends a record, a byte order mark is data, and
//! an empty line is not a record.

#![allow(clippy::unwrap_used, clippy::expect_used)] // what fails here should fail loudly

use std::io::Write;
use std::process::{Command, Stdio};

use crivo_rows::{Input, Scan, Select};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::Value;

const CASES: usize = 100_000;

struct Random(Xoshiro256PlusPlus);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    fn soup(&mut self, alphabet: &[&str], most: usize) -> String {
        (0..self.below(most + 1)).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

/// Returns the rows that Python reads from each case.
fn python(format: &str, cases: &[String]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/differential/reference.py");
    let mut child = Command::new("python3")
        .args([script, format])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test compares with python3, which must be installed");
    let mut input = child.stdin.take().unwrap();
    let all: Vec<u8> = cases
        .iter()
        .flat_map(|case| [format!("{}\n", case.len()).into_bytes(), case.clone().into_bytes()].concat())
        .collect();
    let writer = std::thread::spawn(move || input.write_all(&all).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the rows and the number of bad records that crivo reads from a text, and the names of
/// the fields.
fn crivo(
    path: &std::path::Path,
    text: &str,
    select: &Select,
) -> (Vec<Vec<Option<String>>>, u64, Vec<String>) {
    std::fs::write(path, text).unwrap();
    let input = Input::file(path).skip_bad(true);
    let folded = Scan::of(&input).select(select.clone()).threads(1).chunk_size(16).fold(
        Vec::new,
        |rows, batch| {
            for row in 0..batch.rows() {
                let values = (0..batch.names().len()).map(|column| {
                    batch.value(column, row).map(|value| String::from_utf8_lossy(value).into_owned())
                });
                rows.push(values.collect());
            }
            Ok(())
        },
        |_, _| Ok(()),
    );
    match folded {
        Ok(folded) => (folded.state, folded.counts.bad, folded.names),
        // No record has the field.
        Err(error) if error.kind() == crivo_rows::ErrorKind::NoSuchField => {
            (Vec::new(), u64::MAX, Vec::new())
        }
        Err(error) => unreachable!("{error} for {text:?}"),
    }
}

/// Compares each half of the cases with Python's rows, on its own thread and in its own file.
/// Returns the sums of the counts of `compare`.
fn compare_all(
    format: &str,
    cases: &[String],
    compare: impl Fn(&std::path::Path, &str, &Value, &mut [u64; 2]) + Sync,
) -> [u64; 2] {
    let half = |cases: &[String]| {
        let expected = python(format, cases);
        assert_eq!(expected.len(), cases.len());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").with_extension(format);
        let mut counted = [0; 2];
        cases.iter().zip(&expected).for_each(|(text, expected)| compare(&path, text, expected, &mut counted));
        counted
    };
    let (first, second) = cases.split_at(cases.len() / 2);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(second));
        let (one, other) = (half(first), other.join().unwrap());
        [one[0] + other[0], one[1] + other[1]]
    })
}

#[test]
fn csv_is_read_as_python_reads_it() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(1));
    let alphabet = ["a", "b", " ", ",", ",", "\"", "\"", "\"\"", "\n", "\r\n", "é", "'", ";"];
    let cases: Vec<String> = (0..CASES)
        .map(|_| ["h,i\n", "h,i,j\r\n", ""][random.below(3)].to_owned() + &random.soup(&alphabet, 30))
        .collect();
    let [compared, _] = compare_all("csv", &cases, |path, text, expected, counted| {
        let header: Vec<String> = serde_json::from_value(expected["header"].clone()).unwrap();
        // If records have one field, crivo reads an empty line as an empty record, but Python skips
        // it.
        if header.len() < 2 {
            return;
        }
        let (rows, bad, names) = crivo(path, text, &Select::All);
        let wanted: Vec<Vec<Option<String>>> = serde_json::from_value(expected["rows"].clone()).unwrap();
        assert_eq!((rows, names), (wanted, header), "{text:?}");
        assert_eq!(Some(bad), expected["bad"].as_u64(), "{text:?}");
        counted[0] += 1;
    });
    assert!(compared > CASES as u64 / 2, "{compared}");
}

#[test]
fn jsonl_is_read_as_python_reads_it() {
    let mut random = Random(Xoshiro256PlusPlus::seed_from_u64(2));
    let cases: Vec<String> = (0..CASES).map(|_| json_lines(&mut random)).collect();
    let [values, refused] = compare_all("jsonl", &cases, |path, text, expected, counted| {
        let (rows, bad, _) = crivo(path, text, &Select::field("a"));
        let wanted = expected["rows"].as_array().unwrap();
        if bad == u64::MAX {
            assert!(wanted.iter().all(Value::is_null), "{text:?}");
            return;
        }
        assert_eq!((rows.len(), Some(bad)), (wanted.len(), expected["bad"].as_u64()), "{text:?}");
        counted[1] += bad;
        for (row, wanted) in rows.iter().zip(wanted) {
            counted[0] += 1;
            match wanted {
                Value::Object(nested) => {
                    let text = row[0].as_deref().unwrap_or_default();
                    let found: Value = serde_json::from_str(text).unwrap_or(Value::Null);
                    assert_eq!(found.is_array(), nested["nested"].is_array(), "{text:?}");
                    assert_eq!(found.to_string().len(), nested["nested"].to_string().len(), "{text:?}");
                }
                wanted => assert_eq!(row[0].as_deref(), wanted.as_str(), "{text:?}"),
            }
        }
    });
    assert!(values > CASES as u64 && refused > 1000, "{values} values, {refused} bad records");
}

/// Returns random lines. Most are objects with a field `a`, and some are nearly so.
fn json_lines(random: &mut Random) -> String {
    let mut text = String::new();
    for _ in 0..=random.below(5) {
        let scalar = [
            "1",
            "-0",
            "-0.0",
            "12345678901234567890123",
            "1.50",
            "1e5",
            "1E-7",
            "2.5e+300",
            "0.1",
            "true",
            "false",
            "null",
            "\"\"",
        ];
        let strings = [
            "x",
            "\\n",
            "\\u00e9",
            "\\ud83d\\ude00",
            "\\ud83d",
            "\\\"",
            "\\\\",
            "é",
            "/",
            "\\/",
            " ",
            "{",
            "]",
        ];
        let value = match random.below(8) {
            0..=2 => scalar[random.below(scalar.len())].to_owned(),
            3..=5 => format!("\"{}\"", random.soup(&strings, 6)),
            6 => "[1,2,[]]".to_owned(),
            _ => random.soup(&["0", "1", ".", "e", "-", "+", "\"", "t", "[", "]"], 4),
        };
        let blank = ["", " ", "\t"][random.below(3)];
        let before = ["", "\"b\":[{}],", "\"a\":0,"][random.below(3)];
        let mut line = format!("{blank}{{{before}\"a\"{blank}:{blank}{value}{blank}}}{blank}");
        if random.below(20) == 0 {
            let at = random.below(line.len());
            if line.is_char_boundary(at) {
                line.truncate(at);
            }
        }
        text += &line;
        text += ["\n", "\r\n", "\n\n"][random.below(3)];
    }
    text
}
