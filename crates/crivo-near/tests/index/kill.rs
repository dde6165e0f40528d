//! Committed changes survive a kill at any moment, and uncommitted changes do not.

use std::time::Duration;

use crivo::similarity::shingle::Shingles;
use crivo_near::{Index, Settings};
use crivo_records::victim;

use crate::support::Random;

fn settings() -> Settings {
    Settings { shingles: Shingles::words(2).unwrap(), ..Settings::default() }
}

fn text(number: u64) -> String {
    let words = (0..12).map(|word| (number / 7 * 31 + word * word) % 97);
    words.map(|word| char::from_u32(0x4E00 + word as u32).unwrap()).flat_map(|word| [word, ' ']).collect()
}

/// Does nothing unless this process is the victim. The victim makes or continues the index, and
/// reports the number of documents after each commit.
#[test]
fn the_victim() {
    let Some(folder) = victim::folder() else { return };
    let mut index = Index::open_or_create(folder, &settings()).unwrap();
    let mut number = index.stats().unwrap().documents;
    let mut random = Random::new(number);
    loop {
        let mut writer = index.writer();
        for _ in 0..=random.below(40) {
            writer.add(number.to_string().as_bytes(), text(number).as_bytes()).unwrap();
            number += 1;
        }
        writer.commit().unwrap();
        victim::report(number).unwrap();
    }
}

#[test]
fn what_was_committed_is_there_after_a_kill_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random::new(std::process::id().into());
    let mut committed = 0;
    for _ in 0..25 {
        let time = Duration::from_micros(random.below(120_000) as u64);
        committed =
            victim::kill("kill::the_victim", folder.path(), time, false).unwrap().unwrap_or(committed);
        // The victim may have been killed before it made the index.
        if committed == 0 && !Index::is_in(folder.path()) {
            continue;
        }
        let mut index = Index::open(folder.path()).unwrap();
        index.check().unwrap();
        let documents = index.stats().unwrap().documents;
        assert!(documents >= committed, "{committed} were committed, {documents} are there");
        for number in 0..documents {
            assert!(index.contains(number.to_string().as_bytes()).unwrap(), "{number} of {documents}");
        }
        assert!(!index.contains(documents.to_string().as_bytes()).unwrap());
        if documents > 0 {
            let found = index.query(text(documents - 1).as_bytes(), 1.0).unwrap();
            assert!(found.iter().any(|found| found.id == (documents - 1).to_string().as_bytes()));
        }
    }
    assert!(committed > 100, "the victims lived long enough to do something: {committed}");
}
