//! A damaged store reports an error. It never answers from damaged bytes, and never starts over.

use std::fs;
use std::path::Path;

use crivo_mail::{Error, Filter, Label, Problem};

use crate::support::{Writer, trained};

fn flip_a_bit(bytes: &mut [u8], writer: &mut Writer) {
    let at = writer.below(bytes.len());
    bytes[at] ^= 1 << writer.below(8);
}

/// Replaces a store's file, and removes the journals of the old one.
fn replace_file(folder: &Path, bytes: &[u8]) {
    fs::write(folder.join("mail.sqlite"), bytes).unwrap();
    for end in ["-wal", "-shm"] {
        let _ = fs::remove_file(folder.join(format!("mail.sqlite{end}")));
    }
}

#[test]
fn a_missing_store_is_an_error_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let error = Filter::open(folder.path()).unwrap_err();
    assert!(error.is_missing_store() && error.to_string().contains("crivo mail train"), "{error}");
}

#[test]
fn truncated_foreign_and_changed_files_are_refused_or_answer_as_before() {
    let mut writer = Writer::new("damage");
    let (folder, filter) = trained(&writer.mail(60));
    let probe = writer.message(true);
    let score = filter.check(&probe).unwrap().score;
    drop(filter);
    let path = folder.path().join("mail.sqlite");
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    for trial in 0..150 {
        let mut bytes = whole.clone();
        if trial % 3 == 0 {
            bytes.truncate(writer.below(whole.len()));
        } else {
            flip_a_bit(&mut bytes, &mut writer);
        }
        replace_file(folder.path(), &bytes);
        match Filter::open(folder.path()).and_then(|filter| filter.check(&probe)) {
            Ok(judgement) => assert_eq!(judgement.score, score, "trial {trial}"),
            Err(error) => {
                assert!(matches!(error, Error::Store { .. }) && !error.is_missing_store(), "{error}");
                refused += 1;
            }
        }
    }
    assert!(refused >= 50, "all truncations at least: {refused}");
    fs::write(&path, b"").unwrap();
    assert!(Filter::open(folder.path()).is_err());
    assert!(Filter::open_or_create(folder.path()).is_err(), "an emptied store does not start over");
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);
}

#[test]
fn damaged_exports_change_nothing() {
    let mut writer = Writer::new("damaged exports");
    let (_folder, filter) = trained(&writer.mail(20));
    let mut exported = Vec::new();
    filter.export(&mut exported).unwrap().unwrap();
    let (_other_folder, other) = trained(&writer.mail(10));
    for trial in 0..100 {
        let mut bytes = exported.clone();
        if trial % 2 == 0 {
            bytes.truncate(writer.below(bytes.len()));
        } else {
            let at = writer.below(bytes.len());
            bytes[at] ^= 1 << writer.below(8);
        }
        other.import(&mut bytes.as_slice(), "export".as_ref()).unwrap_err();
        assert_eq!(other.stats().unwrap().messages, 10);
    }
    let two = [exported.as_slice(), &exported].concat();
    let error = other.import(&mut two.as_slice(), "export".as_ref()).unwrap_err().to_string();
    assert!(error.contains("more bytes follow") && other.stats().unwrap().messages == 10, "{error}");
    assert_eq!(other.import(&mut exported.as_slice(), "export".as_ref()).unwrap().changed, 20);
    other.verify().unwrap();
}

#[cfg(unix)]
#[test]
fn a_store_that_cannot_grow_gives_an_error_and_keeps_what_it_has() {
    let mut writer = Writer::new("full");
    let (folder, filter) = trained(&writer.mail(20));
    let journal = folder.path().join("mail.sqlite-wal");
    drop(filter);
    // With a folder in the place of the journal, nothing can be written.
    let _ = fs::remove_file(&journal);
    fs::create_dir(&journal).unwrap();
    let failed =
        Filter::open(folder.path()).and_then(|filter| filter.learn(b"Subject: x\n\nnew", &Label::Spam));
    let error = failed.unwrap_err();
    assert!(
        matches!(&error, Error::Store { problem: Problem::Refused(_) | Problem::Damaged(_), .. }),
        "{error}"
    );
    fs::remove_dir(&journal).unwrap();
    let filter = Filter::open(folder.path()).unwrap();
    filter.verify().unwrap();
    assert_eq!(filter.stats().unwrap().messages, 20);
}

#[test]
fn what_was_derived_can_be_derived_again() {
    let mut writer = Writer::new("repair");
    let (folder, filter) = trained(&writer.mail(60));
    let probe = writer.message(true);
    let score = filter.check(&probe).unwrap().score;
    drop(filter);
    let whole = fs::read(folder.path().join("mail.sqlite")).unwrap();
    let (mut repaired, mut refused) = (0, 0);
    for _ in 0..60 {
        let mut bytes = whole.clone();
        flip_a_bit(&mut bytes, &mut writer);
        replace_file(folder.path(), &bytes);
        if Filter::open(folder.path()).and_then(|filter| filter.verify()).is_ok() {
            continue;
        }
        // Other damage cannot be repaired: that is an error, and nothing changes.
        if Filter::repair(folder.path()).is_err() {
            refused += 1;
            continue;
        }
        let filter = Filter::open(folder.path()).unwrap();
        filter.verify().unwrap();
        assert_eq!(filter.check(&probe).unwrap().score, score);
        filter.export(&mut Vec::new()).unwrap().unwrap();
        repaired += 1;
    }
    assert!(repaired > 0, "{repaired} repaired, {refused} refused");
}

/// Derived records are no part of an export, so damage to them does not block it.
#[test]
fn a_store_with_damaged_derived_records_can_be_exported() {
    let mut writer = Writer::new("export of a damaged store");
    let (folder, filter) = trained(&writer.mail(60));
    let mut expected = Vec::new();
    filter.export(&mut expected).unwrap().unwrap();
    drop(filter);
    let whole = fs::read(folder.path().join("mail.sqlite")).unwrap();
    let (mut exported, mut refused) = (0, 0);
    for _ in 0..100 {
        let mut bytes = whole.clone();
        flip_a_bit(&mut bytes, &mut writer);
        replace_file(folder.path(), &bytes);
        if Filter::open(folder.path()).is_ok() {
            continue;
        }
        let mut found = Vec::new();
        match Filter::export_from(folder.path(), &mut found) {
            // An export that succeeds is complete.
            Ok(written) => {
                assert_eq!(written.unwrap(), 60);
                assert!(found == expected);
                exported += 1;
            }
            Err(_) => refused += 1,
        }
    }
    assert!(exported > 0, "{exported} exported, {refused} refused");
}
