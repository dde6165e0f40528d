//! A damaged file gives an error or the right answer, never a crash or a wrong answer.

use std::path::Path;

use crivo::similarity::shingle::Shingles;
use crivo_near::index::Match;
use crivo_near::{Error, Index, Settings};

use crate::support::{Random, index_of, texts};

const FILE: &str = "index.sqlite";
const JOURNAL: &str = "index.sqlite-wal";
const PAGE: usize = 8192;

fn settings() -> Settings {
    Settings { shingles: Shingles::words(2).unwrap(), threshold: 0.6, ..Settings::default() }
}

/// The answers to all queries.
#[derive(Debug, Clone, PartialEq)]
struct Answers {
    found: Vec<Vec<Match>>,
    names: Vec<bool>,
}

impl Answers {
    /// Runs all queries. Returns `None` after an error about the index, and panics after any other
    /// error.
    fn of(index: &mut Index, asked: &[String], names: usize) -> Option<Self> {
        let found = asked.iter().map(|text| about_index(index.query(text.as_bytes(), 0.6))).collect();
        let names = (0..names).map(|name| about_index(index.contains(name.to_string().as_bytes()))).collect();
        Some(Self { found: Option::from_iter::<Vec<_>>(found)?, names: Option::from_iter::<Vec<_>>(names)? })
    }
}

fn about_index<T>(result: Result<T, Error>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(Error::Index(error)) => {
            assert!(error.to_string().contains(FILE), "{error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Writes files to a new folder, queries the index there, and checks the answers. Returns true if
/// the index passes its own check. If there is only one right state, single answers are compared
/// with it.
fn ask(file: &[u8], journal: Option<&[u8]>, asked: &[String], right: &[Answers]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE), file).unwrap();
    if let Some(journal) = journal {
        std::fs::write(folder.path().join(JOURNAL), journal).unwrap();
    }
    let Some(mut index) = about_index(Index::open(folder.path())) else { return false };
    if let [right] = right {
        for (text, right) in asked.iter().zip(&right.found) {
            if let Some(found) = about_index(index.query(text.as_bytes(), 0.6)) {
                assert_eq!(found, *right, "{text:?}");
            }
        }
        for (name, &right) in right.names.iter().enumerate() {
            if let Some(found) = about_index(index.contains(name.to_string().as_bytes())) {
                assert_eq!(found, right, "{name}");
            }
        }
    }
    let answers = Answers::of(&mut index, asked, right[0].names.len());
    if let Some(answers) = &answers {
        assert!(right.contains(answers), "{answers:?}");
    }
    let sound = about_index(index.check()).is_some();
    assert!(!sound || answers.is_some(), "what was checked can be read");
    // Writing to a damaged index must not make an intact one damaged.
    let mut writer = index.writer();
    let added = about_index(writer.add(b"new", b"one two three four")).is_some();
    if about_index(writer.finish()).is_some() && added && sound {
        about_index(index.check()).expect("what was sound stays sound");
    }
    sound
}

fn read(folder: &Path, name: &str) -> Vec<u8> {
    std::fs::read(folder.join(name)).unwrap()
}

#[test]
fn a_changed_file_gives_errors_or_right_answers() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts(7, 160);
    let mut index = index_of(folder.path(), &settings(), &texts);
    let right = [Answers::of(&mut index, &texts[120..], 170).unwrap()];
    assert!(right[0].found.iter().any(|found| found.len() > 1));
    drop(index);
    let file = read(folder.path(), FILE);
    assert!(ask(&file, None, &texts[120..], &right), "it is whole before");

    let (mut random, mut unseen) = (Random::new(11), 0);
    // Every byte of the header and of the page that lists the tables, and a sample of all others.
    let header = (0..100).chain((100..PAGE).step_by(211));
    let positions: Vec<usize> = header.chain((PAGE..file.len()).step_by(file.len() / 250)).collect();
    for &at in &positions {
        let mut changed = file.clone();
        changed[at] ^= 1 << random.below(8);
        unseen += usize::from(ask(&changed, None, &texts[120..], &right));
    }
    // Unused bytes can change without being noticed, but they are not most of the file.
    assert!(unseen * 2 < positions.len(), "{unseen} of {} changes were not seen", positions.len());
    for _ in 0..40 {
        let mut changed = file.clone();
        let (from, length) = (random.below(file.len()), random.below(5000));
        changed[from..].iter_mut().take(length).for_each(|byte| *byte = random.below(256) as u8);
        ask(&changed, None, &texts[120..], &right);
    }
}

#[test]
fn pages_that_change_places_are_seen() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts(8, 160);
    let mut index = index_of(folder.path(), &settings(), &texts);
    let right = [Answers::of(&mut index, &texts[120..], 170).unwrap()];
    drop(index);
    let file = read(folder.path(), FILE);
    let mut random = Random::new(12);
    for _ in 0..40 {
        let mut changed = file.clone();
        let pages = file.len() / PAGE;
        let (one, other) = (1 + random.below(pages - 1), 1 + random.below(pages - 1));
        changed.copy_within(one * PAGE..(one + 1) * PAGE, other * PAGE);
        assert!(!ask(&changed, None, &texts[120..], &right) || changed == file);
    }
}

#[test]
fn a_file_that_is_cut_off_gives_errors_or_right_answers() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts(9, 160);
    let mut index = index_of(folder.path(), &settings(), &texts);
    let right = [Answers::of(&mut index, &texts[120..], 170).unwrap()];
    drop(index);
    let file = read(folder.path(), FILE);
    for length in (0..150).step_by(7).chain((150..file.len()).step_by(file.len() / 150)) {
        assert!(!ask(&file[..length], None, &texts[120..], &right), "cut off after {length} bytes");
    }
}

/// The commits before the damage of a journal are used, so each state is one that was committed.
#[test]
fn a_damaged_journal_gives_an_earlier_state_or_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts(10, 160);
    let mut index = index_of(folder.path(), &settings(), &texts[..60]);
    drop(index);
    index = Index::open(folder.path()).unwrap();
    let mut right = vec![Answers::of(&mut index, &texts[120..], 170).unwrap()];
    for (number, texts_of) in texts[60..].chunks(20).enumerate() {
        let mut writer = index.writer();
        for (at, text) in texts_of.iter().enumerate() {
            writer.add((60 + 20 * number + at).to_string().as_bytes(), text.as_bytes()).unwrap();
        }
        writer.remove(number.to_string().as_bytes()).unwrap();
        writer.finish().unwrap();
        right.push(Answers::of(&mut index, &texts[120..], 170).unwrap());
    }
    let (file, journal) = (read(folder.path(), FILE), read(folder.path(), JOURNAL));
    drop(index);
    assert!(journal.len() > 5 * PAGE, "the commits are in the journal");
    assert!(ask(&file, Some(&journal), &texts[120..], &right[5..]));
    assert!(ask(&file, None, &texts[120..], &right[..1]));

    let mut random = Random::new(13);
    for at in (0..64).chain((64..journal.len()).step_by(journal.len() / 150)) {
        let mut changed = journal.clone();
        changed[at] ^= 1 << random.below(8);
        ask(&file, Some(&changed), &texts[120..], &right);
        ask(&file, Some(&journal[..at]), &texts[120..], &right);
    }
}
