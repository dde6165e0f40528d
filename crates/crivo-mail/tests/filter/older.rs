//! Stores written by earlier versions can be opened, judge, and learn.

use std::fs;
use std::io::Read;
use std::path::Path;

use crivo_mail::{Filter, Label, Learned, Verdict};
use flate2::read::GzDecoder;

/// A store of version 2 with the first twelve messages, ten of them trained together.
const VERSION_2: &[u8] = include_bytes!("store_version_2.sqlite.gz");

fn message(number: u32) -> Vec<u8> {
    let text = if number.is_multiple_of(2) {
        format!(
            "From: s{number}@shop.example\nSubject: offer {number}\n\n\
             buy cheap watches number {number} now and save a lot today\n"
        )
    } else {
        format!(
            "From: ana@home.example\nSubject: lunch {number}\n\n\
             shall we meet for lunch on day {number} at the usual place\n"
        )
    };
    text.into_bytes()
}

fn label(number: u32) -> Label {
    if number.is_multiple_of(2) { Label::Spam } else { Label::Ham }
}

fn put(folder: &Path) {
    let mut store = Vec::new();
    GzDecoder::new(VERSION_2).read_to_end(&mut store).unwrap();
    fs::write(folder.join("mail.sqlite"), store).unwrap();
}

/// Returns the version in the header of the file.
fn version(folder: &Path) -> u32 {
    let bytes = fs::read(folder.join("mail.sqlite")).unwrap();
    u32::from_be_bytes(bytes[60..64].try_into().unwrap())
}

#[test]
fn a_store_of_version_2_is_read_as_it_is_and_learns() {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path());
    let filter = Filter::open(folder.path()).unwrap();
    filter.verify().unwrap();
    let found = |filter: &Filter, number| filter.check(&message(number)).unwrap();
    assert!((0..12).all(|number| (found(&filter, number).verdict == Verdict::Spam) == (number % 2 == 0)));
    assert!(found(&filter, 100).score > 0.8 && found(&filter, 101).score < 0.2);
    let like =
        |number, name: &str| found(&filter, number).reasons.iter().any(|r| r.to_string().contains(name));
    assert!(
        like(100, "like a learned spam message")
            && like(101, "ana@home.example: 0 learned as spam, 6 as ham")
    );
    drop(filter);
    assert_eq!(version(folder.path()), 2, "reading changes nothing");

    // The export of the old store and the store after the first lesson are the same set.
    let filter = Filter::open(folder.path()).unwrap();
    let (mut exported, other) = (Vec::new(), tempfile::tempdir().unwrap());
    filter.export(&mut exported).unwrap().unwrap();
    let joined = Filter::open_or_create(other.path()).unwrap();
    assert_eq!(joined.import(&mut exported.as_slice(), "export".as_ref()).unwrap().changed, 12);
    for number in 12..90 {
        assert_eq!(filter.learn(&message(number), &label(number)).unwrap(), Learned::New);
    }
    filter.verify().unwrap();
    assert_eq!(filter.stats().unwrap().messages, 90);
    assert!((0..90).all(|number| (found(&filter, number).verdict == Verdict::Spam) == (number % 2 == 0)));
    drop(filter);
    drop(joined);
    let again = Filter::open(folder.path()).unwrap();
    assert_eq!(again.stats().unwrap().messages, 90);
    assert_eq!(version(other.path()), 4);
}

#[test]
fn exports_of_old_and_new_stores_are_the_same_bytes() {
    let (old, new) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    put(old.path());
    let export = |folder: &Path| {
        let mut exported = Vec::new();
        Filter::open(folder).unwrap().export(&mut exported).unwrap().unwrap();
        exported
    };
    let exported = export(old.path());
    Filter::open_or_create(new.path()).unwrap().import(&mut exported.as_slice(), "export".as_ref()).unwrap();
    assert_eq!(export(new.path()), exported);
    Filter::repair(old.path()).unwrap();
    assert_eq!(export(old.path()), exported);
    Filter::open(old.path()).unwrap().verify().unwrap();
}
