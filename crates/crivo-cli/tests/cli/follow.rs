//! `--follow` works like `tail -F`: a file may grow, be renamed and replaced, or be truncated.

#![cfg(unix)]

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Ran, Scratch};

/// Much longer than the interval at which the program checks the files.
const PAUSE: Duration = Duration::from_millis(1200);

fn follow(scratch: &Scratch, args: &[&str]) -> Child {
    let mut command =
        scratch.command(&[&["distinct", "--follow", "--method", "exact", "--json"], args].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(PAUSE);
    child
}

fn append(scratch: &Scratch, name: &str, text: &str) {
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(scratch.path(name)).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    drop(file);
    std::thread::sleep(PAUSE);
}

/// Interrupts the program, which then prints its answer.
fn interrupted(child: Child) -> Ran {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "INT", &pid]).status().unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// Interrupts the program. Returns the number of rows, the number of different values, and the
/// remarks.
fn answer(child: Child) -> (u64, f64, String) {
    let ran = interrupted(child);
    let json: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    (json["rows"].as_u64().unwrap(), json["distinct"]["value"].as_f64().unwrap(), ran.err)
}

#[test]
fn rotated_file_is_continued_in_the_new_one() {
    let scratch = Scratch::with([("log.csv", "user,n\na,1\nb,2\n")]);
    let child = follow(&scratch, &["log.csv", "-f", "user"]);
    append(&scratch, "log.csv", "c,3\n");
    std::fs::rename(scratch.path("log.csv"), scratch.path("log.csv.1")).unwrap();
    // Rows that are still written to the old file count, including its last line.
    append(&scratch, "log.csv.1", "d,4");
    append(&scratch, "log.csv", "user,n\ne,5\na,6\n");
    let (rows, distinct, remarks) = answer(child);
    assert_eq!((rows, distinct), (6, 5.0), "{remarks}");
    assert!(remarks.contains("log.csv: was replaced while it was followed"), "{remarks}");
}

#[test]
fn truncated_file_is_read_again_and_said_so() {
    let scratch = Scratch::with([("log.txt", "a\nb\nc\nhalf a li")]);
    let child = follow(&scratch, &["log.txt"]);
    std::fs::write(scratch.path("log.txt"), "d\n").unwrap();
    std::thread::sleep(PAUSE);
    append(&scratch, "log.txt", "e\n");
    let (rows, distinct, remarks) = answer(child);
    assert_eq!((rows, distinct), (5, 5.0), "a fragment is no row: {remarks}");
    assert!(remarks.contains("rows may have been missed"), "{remarks}");
}

#[test]
fn nothing_is_called_exact_after_a_truncation() {
    for command in ["distinct", "count", "top"] {
        let scratch = Scratch::with([("log.txt", "a\nb\nc\n")]);
        let run = |args: &[&str]| {
            let mut command = scratch.command(&[&[command, "log.txt", "--follow"], args].concat());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let (shown, programs) = (run(&["--every", "300ms"]), run(&["--json"]));
        std::thread::sleep(PAUSE);
        std::fs::write(scratch.path("log.txt"), "d\n").unwrap();
        std::thread::sleep(PAUSE);
        let ran = interrupted(shown);
        let last = ran.out.rsplit_once("exact").map_or(ran.out.as_str(), |(_, rest)| rest);
        assert!(
            last.contains("at least") || last.contains("rows may have been missed"),
            "{command}: {ran:?}"
        );
        let json: serde_json::Value = serde_json::from_str(&interrupted(programs).out).unwrap();
        let estimate = match command {
            "top" => &json["top"][0]["count"],
            command => &json[command],
        };
        assert!(has_no_upper_bound(estimate), "{command}: {json}");
    }
}

/// Returns true if the upper bound of an estimate in JSON is the largest float.
fn has_no_upper_bound(estimate: &serde_json::Value) -> bool {
    estimate["upper"].as_f64() == Some(f64::MAX) && estimate["lower"].as_f64() < Some(f64::MAX)
}

/// Runs a command that follows `n.csv`, truncates it, and returns the answer.
fn after_truncation(args: &[&str]) -> Ran {
    let scratch = Scratch::with([("n.csv", "g,n\na,1\na,2\nb,3\n")]);
    let mut command = scratch.command(&[&args[..1], &["n.csv", "--follow", "--quiet"], &args[1..]].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(PAUSE);
    std::fs::write(scratch.path("n.csv"), "g,n\na,1\n").unwrap();
    std::thread::sleep(PAUSE);
    interrupted(child)
}

#[test]
fn no_group_is_called_exact_after_a_truncation() {
    for args in [&["distinct", "-f", "n"][..], &["count"], &["top", "-f", "n"]] {
        let json = after_truncation(&[args, &["--by", "g", "--json"]].concat()).json();
        let group = &json["groups"][0];
        let estimate = match args[0] {
            "top" => &group["top"][0]["count"],
            command => &group[command],
        };
        assert!(has_no_upper_bound(estimate), "{args:?}: {json}");
    }
}

#[test]
fn no_quantile_is_called_exact_after_a_truncation() {
    let args = ["quantile", "-f", "n", "-q", "0.5", "--rank", "2"];
    let table = after_truncation(&args).out;
    assert!(!table.contains("exactly") && table.contains("rows may have been missed"), "{table}");
    for by in [&[][..], &["--by", "g"]] {
        let json = after_truncation(&[&args, by, &["--json"]].concat()).json();
        let answers = if by.is_empty() { &json } else { &json["groups"][0] };
        let (value, rank) = (&answers["quantiles"][0]["value"], &answers["ranks"][0]["rank"]);
        assert_eq!((value["lower"].as_f64(), value["upper"].as_f64()), (Some(-f64::MAX), Some(f64::MAX)));
        assert_eq!((rank["lower"].as_f64(), rank["upper"].as_f64()), (Some(0.0), Some(1.0)), "{json}");
    }
    let json = after_truncation(&["quantile", "-f", "g", "-q", "0.5", "--texts", "--json"]).json();
    assert_eq!(json["quantiles"][0]["value"]["confidence"].as_f64(), Some(0.0), "{json}");
}

#[test]
fn no_profile_or_sketch_is_called_exact_after_a_truncation() {
    let json = after_truncation(&["profile", "--json"]).json();
    let numbers = &json["columns"][1];
    assert!(has_no_upper_bound(&numbers["distinct"]), "{json}");
    assert!(has_no_upper_bound(&numbers["top"][0]["count"]), "{json}");
    assert!(has_no_upper_bound(&numbers["quantiles"]["p50"]), "{json}");
    assert!(json["columns"][0]["majority"].is_null(), "{json}");
    let table = after_truncation(&["profile"]).out;
    assert!(table.contains("n.csv (rows may have been missed)"), "{table}");
    let json = after_truncation(&["freq", "-f", "g", "-o", "g.crivo", "--json"]).json();
    assert!(has_no_upper_bound(&json["items"]), "{json}");
}

#[test]
fn only_the_last_of_two_files_is_followed() {
    let scratch = Scratch::with([("a.txt", "1\n2\n"), ("b.txt", "1\n")]);
    let args = ["similar", "files", "--follow", "a.txt", "b.txt", "--json"];
    let child = scratch.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(PAUSE);
    append(&scratch, "b.txt", "2\n");
    let json = interrupted(child).json();
    assert_eq!(
        (&json["rows"], json["similarity"]["value"].as_f64()),
        (&serde_json::json!([2, 2]), Some(1.0))
    );
}

#[test]
fn pairs_are_found_after_the_interrupt() {
    let scratch = Scratch::with([("likes.csv", "user,film\nana,1\nana,2\nrui,1\n")]);
    let args = ["similar", "pairs", "--follow", "--sets", "1,2", "--threshold", "0.9", "likes.csv"];
    let child = scratch.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(PAUSE);
    append(&scratch, "likes.csv", "rui,2\n");
    assert_eq!(interrupted(child).out, "ana\trui\t1\n");
}

#[test]
fn pipe_that_closes_ends_the_run() {
    let scratch = Scratch::new();
    let json = scratch.feed(&["distinct", "--follow", "--json"], "a\nb\na\n").json();
    assert_eq!((json["rows"].as_u64(), json["distinct"]["value"].as_f64()), (Some(3), Some(2.0)));
}

#[test]
fn answers_come_again_and_again() {
    for command in [&["distinct"][..], &["count"], &["top"]] {
        let scratch = Scratch::with([("log.txt", "a\nb\n")]);
        let args = [command, &["log.txt", "--follow", "--every", "300ms", "--output", "jsonl"]].concat();
        let child = scratch.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(PAUSE);
        append(&scratch, "log.txt", "c\n");
        let ran = interrupted(child);
        assert!(ran.out.lines().count() >= 4, "{command:?}: {ran:?}");
        if command[0] != "top" {
            let values: Vec<f64> = ran
                .out
                .lines()
                .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
                .map(|row| {
                    row[if command[0] == "count" { "count" } else { "distinct" }]["value"].as_f64().unwrap()
                })
                .collect();
            assert!(values.first() == Some(&2.0) && values.last() == Some(&3.0), "{values:?}");
        }
    }
}
