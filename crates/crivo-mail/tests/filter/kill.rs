//! A lesson that was reported survives a kill at any moment. No lesson is stored in part.

use std::time::Duration;

use crivo_mail::{Filter, Label, Learned};
use crivo_records::victim;

use crate::support::Writer;

const KILLS: usize = 100;

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

/// Does nothing unless this process is the victim. The victim learns one message after the other,
/// and reports each.
#[test]
fn the_victim() {
    let Some(folder) = victim::folder() else { return };
    let filter = Filter::open_or_create(&folder).unwrap();
    let mut number = filter.stats().unwrap().messages;
    loop {
        filter.learn(&message(number), &label(number)).unwrap();
        number += 1;
        victim::report(number).unwrap();
    }
}

#[test]
fn what_was_reported_learned_is_there_after_a_kill_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Writer::new(&format!("kill {}", std::process::id()));
    let mut reported = 0;
    for round in 0..KILLS {
        // Every other victim is killed while it learns, the others at any time after their start.
        let (time, learns) = (Duration::from_micros(random.below(100_000) as u64), round % 2 == 0);
        let report = victim::kill("kill::the_victim", folder.path(), time, learns).unwrap();
        assert!(report.is_some() || !learns, "it learns before it is killed");
        reported = report.unwrap_or(reported);
        let filter = match Filter::open(folder.path()) {
            // The victim may have been killed before it created a store.
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
