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
        assert!(estimate["upper"].is_null() && estimate["lower"].is_f64(), "{command}: {json}");
    }
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
