//! What a file guarantees: it is whole or absent, nothing is trusted that was not written, and
//! there is one writer at a time.

// A test that fails should panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use crivo_records::{File, Problem, Table};
use rusqlite::Connection;

use support::Notes;

/// Fills a new file with no records.
#[allow(clippy::unnecessary_wraps)] // the signature of a function that fills a file, which may fail
fn empty(file: File<Notes>) -> Result<(File<Notes>, ()), (PathBuf, Problem)> {
    Ok((file, ()))
}

/// Returns a new file with two records in each table.
fn notebook(folder: &Path) -> File<Notes> {
    let fill = |file: File<Notes>| {
        for (table, number) in [(Notes::Text, 1), (Notes::Text, 2), (Notes::Names, 1), (Notes::Names, 2)] {
            file.put(table, number, format!("{table:?} {number}").into_bytes())?;
        }
        Ok((file, ()))
    };
    File::create(folder, fill).unwrap();
    File::open(folder).unwrap()
}

fn text(file: &File<Notes>, table: Notes, number: i64) -> Result<Option<String>, (PathBuf, Problem)> {
    file.get(table, number, |record| String::from_utf8(record.to_vec()).ok())
}

fn files_in(folder: &Path) -> Vec<String> {
    folder.read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect()
}

fn problem<T: std::fmt::Debug>(result: Result<T, (PathBuf, Problem)>) -> Problem {
    let (path, problem) = result.unwrap_err();
    assert!(path.ends_with("notes.sqlite"), "{}", path.display());
    problem
}

/// Runs a statement on the file that leaves a valid database behind.
fn behind_its_back(folder: &Path, statement: &str) {
    Connection::open(folder.join("notes.sqlite")).unwrap().execute_batch(statement).unwrap();
}

#[test]
fn a_file_appears_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(problem(File::<Notes>::open(folder.path())), Problem::Missing);
    for at in [folder.path().to_path_buf(), folder.path().join("of its own")] {
        let failed = File::<Notes>::create::<()>(&at, |file| {
            file.put(Notes::Text, 1, b"half".to_vec())?;
            Err(file.damaged("the rest cannot be had"))
        });
        assert_eq!(problem(failed), Problem::Damaged("the rest cannot be had".into()));
        assert_eq!(
            files_in(folder.path()),
            [""; 0],
            "nothing is left of it, and the folder that was there is"
        );
    }

    let file = notebook(folder.path());
    assert_eq!(text(&file, Notes::Names, 2).unwrap().unwrap(), "Names 2");
    assert_eq!(text(&file, Notes::Names, 3).unwrap(), None);
    drop(file);
    assert_eq!(files_in(folder.path()), ["notes.sqlite"]);
    let before = fs::read(folder.path().join("notes.sqlite")).unwrap();
    assert_eq!(problem(File::<Notes>::create(folder.path(), empty)), Problem::Exists);
    assert_eq!(fs::read(folder.path().join("notes.sqlite")).unwrap(), before, "the first one stays");
    assert_eq!(files_in(folder.path()), ["notes.sqlite"]);
}

#[test]
fn a_record_is_added_once_and_put_any_time() {
    let folder = tempfile::tempdir().unwrap();
    let file = notebook(folder.path());
    file.add(Notes::Names, 3, b"first".to_vec()).unwrap();
    assert!(matches!(problem(file.add(Notes::Names, 3, b"second".to_vec())), Problem::Damaged(_)));
    assert_eq!(text(&file, Notes::Names, 3).unwrap().unwrap(), "first");
    file.put(Notes::Names, 3, b"third".to_vec()).unwrap();
    assert_eq!(text(&file, Notes::Names, 3).unwrap().unwrap(), "third");
}

#[test]
fn a_left_over_journal_is_not_played_into_a_new_file() {
    for end in ["-wal", "-journal"] {
        let folder = tempfile::tempdir().unwrap();
        let rest = format!("notes.sqlite{end}");
        fs::write(folder.path().join(&rest), b"of an earlier file").unwrap();
        match problem(File::<Notes>::create(folder.path(), empty)) {
            Problem::Foreign(what) => {
                assert!(what.contains(&rest) && what.contains("left of an earlier notebook"), "{what}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(files_in(folder.path()), [rest]);
    }
}

#[test]
fn what_was_not_committed_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = notebook(folder.path());
    let transaction = file.write_transaction().unwrap();
    file.put(Notes::Text, 1, b"changed".to_vec()).unwrap();
    file.remove(Notes::Text, 2).unwrap();
    drop(transaction);
    assert_eq!(text(&file, Notes::Text, 1).unwrap().unwrap(), "Text 1");

    let transaction = file.write_transaction().unwrap();
    file.put(Notes::Text, 1, b"changed".to_vec()).unwrap();
    file.remove_range(Notes::Text, 2, 9).unwrap();
    file.commit(transaction).unwrap();
    let other = File::<Notes>::open(folder.path()).unwrap();
    let mut found = Vec::new();
    other
        .for_each(Notes::Text, |number, record| {
            found.push((number, record.to_vec()));
            Ok(Some(()))
        })
        .unwrap();
    assert_eq!(found, [(1, b"changed".to_vec())]);
    assert!(other.bytes() > fs::metadata(other.path()).unwrap().len(), "the commit is in the journal");
    other.check_pages().unwrap();
}

#[test]
fn changed_moved_and_missing_records_are_named_and_not_believed() {
    let set = |value: &str| format!("UPDATE texts SET record = {value} WHERE number = 1");
    for (statement, expected) in [
        (set("CAST('Tex7' || substr(record, 5) AS BLOB)"), "record 1 of its texts"),
        (set("substr(record, 1, 7)"), "record 1 of its texts"),
        (set("(SELECT record FROM texts WHERE number = 2)"), "record 1 of its texts"),
        (set("(SELECT record FROM names WHERE number = 1)"), "record 1 of its texts"),
        (set("'Text 1'"), "record 1 of its texts"),
        ("DELETE FROM texts WHERE number = 1".into(), "record 1 of its texts is missing"),
        ("DROP TABLE texts".into(), "no such table: texts"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        drop(notebook(folder.path()));
        behind_its_back(folder.path(), &statement);
        let file = File::<Notes>::open(folder.path()).unwrap();
        match problem(file.need(Notes::Text, 1, |record| Some(record.to_vec()))) {
            Problem::Damaged(what) => assert!(what.contains(expected), "{statement}: {what}"),
            other => panic!("{statement}: {other:?}"),
        }
        let all = file.for_each(Notes::Text, |_, _| Ok(Some(())));
        assert_eq!(all.is_ok(), statement.starts_with("DELETE"), "{statement}");
        assert_eq!(text(&file, Notes::Names, 1).unwrap().unwrap(), "Names 1", "the others are believed");
    }
    // A record with a valid checksum that is not what its reader expects.
    let folder = tempfile::tempdir().unwrap();
    let file = notebook(folder.path());
    let expected = Problem::Damaged("record 2 of its names".into());
    assert_eq!(problem(file.get(Notes::Names, 2, |_| None::<()>)), expected);
    assert_eq!(problem(file.for_each(Notes::Names, |number, _| Ok((number < 2).then_some(())))), expected);
}

#[test]
fn files_of_others_and_of_other_versions_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.sqlite");
    for (bytes, expected) in [
        (&b""[..], "not marked as a notebook of these tests, or empty"),
        (&[b'x'; 9000], "it does not begin as a notebook does (not a database)"),
    ] {
        fs::write(&path, bytes).unwrap();
        match problem(File::<Notes>::open(folder.path())) {
            Problem::Damaged(what) => assert!(what.contains(expected), "{what}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
    fs::remove_file(&path).unwrap();
    drop(notebook(folder.path()));
    behind_its_back(folder.path(), "PRAGMA user_version = 4");
    match problem(File::<Notes>::open(folder.path())) {
        Problem::Foreign(what) => {
            assert!(what.contains("has version 4, this program reads version 3"), "{what}");
        }
        other => panic!("{other:?}"),
    }
    behind_its_back(folder.path(), "PRAGMA application_id = 7");
    assert!(matches!(problem(File::<Notes>::open(folder.path())), Problem::Damaged(_)));
}

#[test]
fn a_second_writer_is_refused_when_its_patience_ends_and_readers_never() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (notebook(folder.path()), File::<Notes>::open(folder.path()).unwrap());
    let transaction = first.write_transaction().unwrap();
    first.put(Notes::Text, 1, b"new".to_vec()).unwrap();
    assert_eq!(problem(second.write_transaction()), Problem::Busy);
    let moment = second.read_transaction().unwrap();
    assert_eq!(text(&second, Notes::Text, 1).unwrap().unwrap(), "Text 1");
    first.commit(transaction).unwrap();
    assert_eq!(text(&second, Notes::Text, 1).unwrap().unwrap(), "Text 1", "still of that moment");
    drop(moment);
    assert_eq!(text(&second, Notes::Text, 1).unwrap().unwrap(), "new");
    second.write_transaction().unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), b"").unwrap();
    let made = File::<Notes>::create(&folder.path().join("file"), empty);
    assert!(matches!(problem(made), Problem::Refused(_)));
}

#[test]
fn every_problem_names_the_file_and_what_to_do() {
    struct Shown(Problem);
    impl std::fmt::Display for Shown {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.write(f, "notes".as_ref(), &Notes::FORMAT.words)
        }
    }
    let differs = Problem::Differs { field: "paper", stored: "lined".into(), asked: "blank".into() };
    for (problem, expected) in [
        (Problem::Missing, "there is no notebook: buy one"),
        (Problem::Exists, "there is a notebook already: open it, or name another folder"),
        (Problem::Foreign("it is a diary".into()), "it is a diary"),
        (
            differs,
            "paper: the notebook has lined, asked for was blank; settings cannot change: use those of the notebook, or \
             make another",
        ),
        (Problem::Damaged("wet".into()), "the notebook is damaged: wet; write it again"),
        (Problem::Busy, "another process is writing to the notebook: try again when that has finished"),
        (Problem::Refused("no ink".into()), "no ink; what was written before is safe"),
    ] {
        assert_eq!(Shown(problem).to_string(), format!("notes: {expected}"));
    }
}

/// Opens a file whose journal cannot be created, as in a snapshot. Here a folder has the name of
/// one of its files, which stops even a superuser.
#[test]
fn a_file_is_read_where_nothing_can_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it's 100 % read-only? yes#");
    drop(notebook(&path));
    fs::create_dir(path.join("notes.sqlite-shm")).unwrap();
    let file = File::<Notes>::open(&path).unwrap();
    assert_eq!(text(&file, Notes::Text, 1).unwrap().as_deref(), Some("Text 1"));
    assert!(matches!(problem(file.put(Notes::Text, 3, Vec::new())), Problem::Refused(_)));
}
