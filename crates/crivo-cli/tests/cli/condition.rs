//! `--where`, in every command that reads rows.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::{Random, Scratch};

/// One row of a log: user, status, bytes.
type Row = (String, u64, u64);

const FAILED: &str = "status >= 500 and bytes % 2";

fn failed((_, status, bytes): &Row) -> bool {
    *status >= 500 && bytes.is_multiple_of(2)
}

/// Returns a log in which about a fifth of the rows failed.
fn log(rows: u64) -> Vec<Row> {
    let mut random = Random::new(11);
    (0..rows)
        .map(|_| {
            let user = format!("u{}", random.below(60) * random.below(60));
            (user, [200, 301, 404, 500, 503][random.below(5) as usize], random.below(1000))
        })
        .collect()
}

fn csv(rows: &[Row]) -> String {
    rows.iter().fold("user,status,bytes\n".into(), |text: String, (user, status, bytes)| {
        text + &format!("{user},{status},{bytes}\n")
    })
}

fn jsonl(rows: &[Row]) -> String {
    rows.iter().fold(String::new(), |text, (user, status, bytes)| {
        text + &format!("{{\"user\": \"{user}\", \"status\": {status}, \"bytes\": {bytes}}}\n")
    })
}

#[test]
fn only_rows_that_satisfy_it_are_taken() {
    let rows = log(20_000);
    let scratch = Scratch::with([("log.csv", csv(&rows)), ("log.jsonl", jsonl(&rows))]);
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    rows.iter().filter(|row| failed(row)).for_each(|(user, ..)| *counts.entry(user).or_default() += 1);
    let left_out = rows.iter().filter(|row| !failed(row)).count();
    for file in ["log.csv", "log.jsonl"] {
        for threads in ["1", "2"] {
            let input = [file, "-f", "user", "--where", FAILED, "--threads", threads];
            let json =
                scratch.run(&[&["distinct", "--method", "exact", "--json"], &input[..]].concat()).json();
            assert_eq!(json["distinct"]["value"], counts.len() as f64, "{file}");
            assert_eq!(
                (json["rows"].as_u64(), json["left_out"].as_u64()),
                (Some(20_000), Some(left_out as u64))
            );

            let json = scratch.run(&[&["top", "-k", "5000", "--json"], &input[..]].concat()).json();
            let top = json["top"].as_array().unwrap();
            assert_eq!(top.len(), counts.len());
            for line in top {
                assert_eq!(line["count"]["value"], counts[line["key"].as_str().unwrap()] as f64, "{line}");
            }
        }
        scratch
            .run(&["freq", file, "-f", "user", "--where", FAILED, "--error", "1e-5", "-o", "f.crivo"])
            .ok();
        scratch
            .run(&["count", file, "--by", "user", "--bits", "16", "--where", FAILED, "-o", "c.crivo"])
            .ok();
        scratch.run(&["set", "build", file, "-f", "user", "--where", FAILED, "-o", "s.crivo"]).ok();
        for (user, &count) in counts.iter().step_by(40) {
            let often = scratch.run(&["ask", "f.crivo", user, "--json"]).json();
            assert_eq!(often["answers"][0]["count"]["value"], count as f64, "{user}");
            let few = scratch.run(&["ask", "c.crivo", user, "--json"]).json();
            assert!(few["answers"][0]["count"]["value"].as_f64().unwrap() >= 1.0, "{user}");
            scratch.run(&["set", "has", "s.crivo", user]).ok();
        }
    }
}

#[test]
fn rows_that_are_copied_are_the_same_as_of_a_file_of_those() {
    let rows = log(5_000);
    let kept: Vec<Row> = rows.iter().filter(|row| failed(row)).cloned().collect();
    let scratch = Scratch::with([("log.csv", csv(&rows)), ("failed.csv", csv(&kept))]);
    for (all, of_those) in [
        (
            &["uniq", "log.csv", "-f", "user", "--where", FAILED][..],
            &["uniq", "failed.csv", "-f", "user"][..],
        ),
        (&["sample", "log.csv", "-n", "9999", "--where", FAILED], &["sample", "failed.csv", "-n", "9999"]),
    ] {
        assert_eq!(scratch.run(all).ok(), scratch.run(of_those).ok(), "{all:?}");
    }
    let sampled = scratch.run(&["sample", "log.csv", "-n", "50", "--where", FAILED]);
    let sample = sampled.ok();
    let lines: BTreeSet<String> = csv(&kept).lines().map(String::from).collect();
    assert_eq!(sample.lines().count(), 51);
    assert!(sample.lines().all(|line| lines.contains(line)));
}

#[test]
fn lines_are_judged_whole() {
    let scratch = Scratch::with([("app.log", "error a\nfine b\nerror a\nerror c\n".to_string())]);
    let json = scratch.run(&["top", "app.log", "--where", "0 ~ ^error", "--json"]).json();
    assert_eq!((json["top"][0]["key"].as_str(), json["left_out"].as_u64()), (Some("error a"), Some(1)));
    let answer = scratch.run(&["distinct", "app.log", "--where", "0 ~ ^error"]);
    let text = answer.ok();
    assert!(text.contains("4 rows, 1 left out, 0 skipped"), "{text}");
}

#[test]
fn an_error_names_the_line_in_the_file() {
    let scratch =
        Scratch::with([("sales.csv", "who,ok,cents\na,no,1\nb,no,2\nc,yes,3\nd,yes,four\n".to_string())]);
    scratch
        .run(&["top", "sales.csv", "-f", "who", "--weight", "cents", "--where", "ok = yes"])
        .fails_with("sales.csv:5:");
    scratch
        .run(&["distinct", "sales.csv", "--where", "ok = yes"])
        .fails_with("name the field to take too: -f NAME");
}

#[test]
fn empty_fields_are_found_and_open_answers_left_out() {
    let scratch = Scratch::with([
        ("a.csv", "k,referrer\n1,\n2,x\n3,\n4,y\n"),
        ("a.jsonl", "{\"k\":1}\n{\"k\":2,\"r\":\"\"}\n{\"r\":\"x\"}\n"),
    ]);
    let count = |file: &str, condition: &str| {
        scratch.run(&["count", file, "--where", condition, "--json"]).json()["count"]["value"].as_f64()
    };
    for (condition, expected) in [
        ("referrer = \"\"", 2.0),
        ("referrer is empty", 2.0),
        ("referrer is not empty", 2.0),
        ("referrer != x", 1.0),
        ("not (referrer = x)", 1.0),
        ("referrer in (x, 'y')", 2.0),
        ("k in (1, 4) and (referrer ~ ^y)", 1.0),
    ] {
        assert_eq!(count("a.csv", condition), Some(expected), "{condition}");
    }
    assert_eq!(count("a.jsonl", "r is empty"), Some(2.0));
}

#[test]
fn neither_conditions_nor_groups_are_about_the_elements_of_an_array() {
    let scratch = Scratch::with([("a.jsonl", "{\"n\":1,\"tags\":[\"x\",\"y\"]}\n")]);
    for command in [&["count", "a.jsonl", "--where", "tags[] = x"][..], &["filter", "tags[] = x", "a.jsonl"]]
    {
        scratch.run(command).fails_with("a.jsonl:1: a condition is about one value");
    }
    scratch
        .run(&["count", "a.jsonl", "--by", "tags[]"])
        .fails_with("a.jsonl:1: rows are grouped by one value");
    scratch
        .run(&["distinct", "a.jsonl", "-f", "n", "--by", "tags[]"])
        .fails_with("a.jsonl:1: rows are grouped by one value");
    // A field whose name ends in brackets is a single value.
    let named = Scratch::with([("a.csv", "tags[]\nx\ny\n")]);
    assert_eq!(
        named.run(&["count", "a.csv", "--where", "tags[] = x", "--json"]).json()["count"]["value"],
        1.0
    );
    assert_eq!(
        named.run(&["count", "a.csv", "--by", "tags[]", "--json"]).json()["groups"][1]["group"][0],
        "y"
    );
}
