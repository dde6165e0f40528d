//! A kill at any moment leaves a new file whole or not there at all.

// A test that fails should panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::time::Duration;

use crivo_records::{File, Problem, victim};

use support::Notes;

const RECORDS: i64 = 200;

/// Does nothing unless this process is the victim, which creates one file after the other.
#[test]
fn the_victim() {
    let Some(folder) = victim::folder() else { return };
    let mut made = folder.read_dir().unwrap().count() as u64;
    loop {
        let make = |file: File<Notes>| {
            (0..RECORDS).try_for_each(|number| file.put(Notes::Text, number, vec![7; 100]))?;
            Ok((file, ()))
        };
        File::create(&folder.join(made.to_string()), make).unwrap();
        made += 1;
        victim::report(made).unwrap();
    }
}

#[test]
fn files_are_whole_or_not_there_after_a_kill_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let mut whole = 0;
    for round in 0..30 {
        let before = folder.path().read_dir().unwrap().count() as u64;
        let time = Duration::from_micros(round * 1700);
        let reported = victim::kill("the_victim", folder.path(), time, true).unwrap().unwrap();
        for number in before..folder.path().read_dir().unwrap().count() as u64 {
            match File::<Notes>::open(&folder.path().join(number.to_string())) {
                Err((_, Problem::Missing)) => assert!(number >= reported, "{number} was reported"),
                file => {
                    let (file, mut count) = (file.unwrap(), 0);
                    file.check_pages().unwrap();
                    file.for_each(Notes::Text, |_, _| {
                        count += 1;
                        Ok(Some(()))
                    })
                    .unwrap();
                    assert_eq!(count, RECORDS);
                    whole += 1;
                }
            }
        }
    }
    assert!(whole >= 30, "the victims made something: {whole}");
}
