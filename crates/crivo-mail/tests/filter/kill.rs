//! What was reported learned survives a kill at any moment, and nothing half-done does.
//!
//! The process that is killed is this test program again, told by a variable to be the victim.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crivo_mail::{Filter, Label, Learned};

use crate::support::Writer;

const VICTIM: &str = "CRIVO_MAIL_VICTIM";
const KILLS: usize = 60;

fn message(number: u64) -> Vec<u8> {
    format!(
        "From: s{}@x.example\nSubject: number {number}\n\nthe words of message {number} are few\n",
        number % 7
    )
    .into_bytes()
}

fn label(number: u64) -> Label {
    if number.is_multiple_of(2) { Label::Spam } else { Label::Ham }
}

fn victim(folder: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "kill::the_victim", "--nocapture"])
        .env(VICTIM, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Does nothing unless it is the victim: then it learns one message after the other, and says so after each.
#[test]
fn the_victim() {
    let Some(folder) = std::env::var_os(VICTIM) else { return };
    let filter = Filter::open_or_create(folder.as_ref()).unwrap();
    let mut number = filter.stats().unwrap().messages;
    loop {
        filter.learn(&message(number), &label(number)).unwrap();
        let mut output = std::io::stdout();
        writeln!(output, "\nlearned {number}").unwrap();
        output.flush().unwrap();
        number += 1;
    }
}

#[test]
fn what_was_reported_learned_is_there_after_a_kill_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Writer::new(&format!("kill {}", std::process::id()));
    let mut reported = 0;
    for round in 0..KILLS {
        let mut child = victim(folder.path());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let number =
            |line: &String| line.strip_prefix("learned ").and_then(|number| number.parse::<u64>().ok());
        // Every other victim is killed while it learns, the others at any time from their start on.
        if round % 2 == 0 {
            reported = reported.max(lines.by_ref().find_map(|line| number(&line)).unwrap() + 1);
        }
        std::thread::sleep(Duration::from_micros(random.below(100_000) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        reported = lines.filter_map(|line| number(&line)).last().map_or(reported, |last| last + 1);
        let filter = match Filter::open(folder.path()) {
            // It may have been killed before there was anything.
            Err(error) if error.is_missing_store() && reported == 0 => continue,
            opened => opened.unwrap(),
        };
        filter.verify().unwrap();
        let stats = filter.stats().unwrap();
        let there = stats.messages;
        assert!(there >= reported && there <= reported + 1, "{reported} were reported, {there} are there");
        assert_eq!((stats.spam, stats.ham), (there.div_ceil(2), there / 2));
        for number in there.saturating_sub(3)..there {
            assert_eq!(filter.learn(&message(number), &label(number)).unwrap(), Learned::Already);
        }
        reported = there;
    }
    assert!(reported >= KILLS as u64 / 2, "the victims lived long enough to learn something: {reported}");
}
