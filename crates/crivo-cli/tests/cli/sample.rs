//! `crivo sample`: rows of the input, in order, and drawn uniformly.

use std::collections::HashSet;

use crate::support::{Scratch, column, table};

#[test]
fn rows_stand_as_they_are_in_order_after_the_header() {
    let values = column(2_000, 1_000_000, 1);
    let scratch = Scratch::new();
    for format in ["lines", "csv", "jsonl"] {
        let name = format!("data.{format}");
        let bytes = table(format, &values);
        scratch.write(&name, &bytes);
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let header = usize::from(format == "csv");
        for threads in ["1", "4"] {
            let run = scratch.run(&["sample", &name, "-n", "50", "--threads", threads]);
            let sampled: Vec<&str> = run.ok().split_inclusive('\n').collect();
            assert_eq!((sampled.len(), &sampled[..header]), (50 + header, &lines[..header]), "{format}");
            let mut rest = lines[header..].iter();
            assert!(
                sampled[header..].iter().all(|line| rest.any(|other| other == line)),
                "{format}: in order"
            );
        }
    }
    let one = scratch.run(&["sample", "data.csv", "-n", "50", "--threads", "1"]);
    assert_eq!(one.out, scratch.run(&["sample", "data.csv", "-n", "50", "--threads", "5"]).out);
    assert_ne!(one.out, scratch.run(&["sample", "data.csv", "-n", "50", "--seed", "1"]).out);
    assert_ne!(
        scratch.run(&["sample", "data.csv", "-n", "50", "--seed", "random"]).out,
        scratch.run(&["sample", "data.csv", "-n", "50", "--seed", "random"]).out
    );
}

#[test]
fn few_rows_are_all_of_them_whatever_their_line_ends() {
    let scratch = Scratch::with([
        ("crlf.csv", "a,b\r\n1,2\r\n3,4"),
        ("empty.csv", "a,b\n"),
        ("one.txt", "a\n\nb"),
        ("two.txt", "c\n"),
    ]);
    assert_eq!(scratch.run(&["sample", "crlf.csv", "-n", "9"]).ok(), "a,b\r\n1,2\r\n3,4");
    assert_eq!(scratch.run(&["sample", "empty.csv", "-n", "9"]).ok(), "a,b\n");
    assert_eq!(scratch.run(&["sample", "one.txt", "two.txt", "-n", "9"]).ok(), "a\n\nb\nc\n");
    assert_eq!(scratch.feed(&["sample", "-n", "2"], "x\ny\n").ok(), "x\ny\n");
    scratch.write("other.csv", "a,c\n1,2\n");
    scratch.run(&["sample", "crlf.csv", "other.csv", "-n", "9"]).fails_with("other.csv: has another header");
    scratch.write("same.csv", "a,b\n5,6\n");
    assert_eq!(scratch.run(&["sample", "crlf.csv", "same.csv", "-n", "9"]).ok(), "a,b\r\n1,2\r\n3,4\n5,6\n");
    assert_eq!(scratch.feed(&["sample", "-n", "2"], "").ok(), "");
    assert_eq!(scratch.feed(&["sample", "-n", "5", "-f", "2"], "a b\nc\nd e\n").ok(), "a b\nd e\n");
}

/// Each of 20 rows is in a sample of 5 with probability 1/4. Over 400 seeds the number of times is
/// binomial, 100 ± 8.7. In a fair sample, some row falls outside 52 to 148 (5.5 standard
/// deviations) with a probability below 10⁻⁶. Seeds are fixed.
#[test]
fn every_row_is_as_likely() {
    let text = (0..20).fold(String::new(), |text, n| text + &format!("{n}\n"));
    let scratch = Scratch::with([("data.txt", &text)]);
    let mut times = [0; 20];
    let mut samples = HashSet::new();
    for seed in 0..400 {
        let run =
            scratch.run(&["sample", "data.txt", "-n", "5", "--seed", &seed.to_string(), "--threads", "1"]);
        run.ok().lines().for_each(|line| times[line.parse::<usize>().unwrap()] += 1);
        samples.insert(run.out);
    }
    assert!(times.iter().all(|times| (52..=148).contains(times)), "{times:?}");
    assert!(samples.len() > 350, "of 15504 sets");
}

/// One row has as much weight as the 19 others together. It is drawn first with probability 1/2,
/// and as one of two with 1/2 + 1/2 · (its share of the remaining weight, 19/37): 0.757. Of 400
/// that is 303 ± 8.6.
#[test]
fn heavy_rows_are_likelier() {
    let text = (0..20)
        .fold(String::from("id,w\n"), |text, n| text + &format!("{n},{}\n", if n == 7 { 19 } else { 1 }));
    let scratch = Scratch::with([("data.csv", &text)]);
    let mut heavy = 0;
    for seed in 0..400 {
        let args =
            ["sample", "data.csv", "-n", "2", "--weight", "w", "--seed", &seed.to_string(), "--threads", "1"];
        heavy += usize::from(scratch.run(&args).ok().contains("\n7,19\n"));
    }
    assert!((255..=351).contains(&heavy), "{heavy}");
}

#[test]
fn weights_are_numbers_from_0_on() {
    let scratch =
        Scratch::with([("w.csv", "id,w\na,0\nb,2.5\nc,\nd,1e3\n"), ("bad.csv", "id,w\na,1\nb,-1\nc,x\n")]);
    assert_eq!(scratch.run(&["sample", "w.csv", "-n", "9", "--weight", "w"]).ok(), "id,w\nb,2.5\nd,1e3\n");
    let bad = ["sample", "bad.csv", "-n", "9", "--weight", "w"];
    scratch
        .run(&bad)
        .fails_with("crivo: bad.csv:3: column 'w': expected a number from 0 on as the weight, found '-1'");
    assert_eq!(scratch.run(&[&bad[..], &["--skip-bad"]].concat()).ok(), "id,w\na,1\n");
    scratch.run(&["sample", "w.csv"]).fails_with("-n");
    scratch.run(&["sample", "w.csv", "-n", "0"]).fails_with("-n");
    scratch.run(&["sample", "w.csv", "-n", "1", "--words", "2"]).fails_with("--words");
    scratch.run(&["sample", "w.csv", "-n", "1", "--weight", "no"]).fails_with("there is no field 'no'");
}

#[test]
fn parquet_rows_are_copied_as_parquet() {
    let values = column(3_000, 1_000_000, 2);
    let scratch = Scratch::with([("data.parquet", table("parquet", &values))]);
    let output = scratch.command(&["sample", "data.parquet", "-n", "40"]).output().unwrap();
    scratch.write("some.parquet", output.stdout);
    let count = |name: &str| scratch.run(&["count", name, "--json"]).json()["rows"].as_u64();
    assert_eq!(count("some.parquet"), Some(40));
    // Every sampled id is one of the file's, and no id occurs twice.
    let ids = scratch.run(&["distinct", "some.parquet", "-f", "id", "--method", "exact", "--json"]).json();
    assert_eq!(ids["distinct"]["value"], 40.0);
}

#[test]
fn of_parquet_only_rows_that_satisfy_the_condition_are_sampled() {
    let values: Vec<String> = (0..3_000).map(|row| format!("group {}", row % 2)).collect();
    let scratch = Scratch::with([("data.parquet", table("parquet", &values))]);
    let odd = |name: &str| scratch.run(&["count", name, "--where", "id % 3 = 1", "--json"]).json();
    for by in [&[][..], &["--by", "value"]] {
        let args = [&["sample", "data.parquet", "-n", "40", "--where", "id % 3 = 1"], by].concat();
        scratch.write("some.parquet", scratch.command(&args).output().unwrap().stdout);
        let (counted, expected) = (odd("some.parquet"), if by.is_empty() { 40 } else { 80 });
        assert_eq!(counted["rows"].as_u64(), Some(expected), "{by:?}");
        assert_eq!(counted["count"]["value"].as_f64(), Some(expected as f64), "{by:?}");
    }
}
