//! Several processes read while one writes, and writers take turns.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crivo::similarity::shingle::Shingles;
use crivo_near::index::IndexProblem;
use crivo_near::{Error, Index, Settings};

use crate::support::{index_of, texts};

fn settings() -> Settings {
    Settings { shingles: Shingles::words(2).unwrap(), ..Settings::default() }
}

/// Every commit adds a document to each of ten families, whose members are the same text. So a
/// reader that saw a state between two commits would see families of different sizes. A reader that
/// lost a document would see a smaller family.
#[test]
fn readers_see_whole_commits_while_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    let families: Vec<String> = (0..10).map(|f| format!("family {f} has its own text {f} {f}")).collect();
    let mut index = Index::create(folder.path(), &settings()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let read = || {
            let mut reader = Index::open(folder.path()).unwrap();
            let (mut queries, mut last) = (0, 0);
            while !done.load(Ordering::Relaxed) || queries == 0 {
                let sizes: Vec<usize> =
                    families.iter().map(|text| reader.query(text.as_bytes(), 1.0).unwrap().len()).collect();
                // The queries run one after the other, so there may be commits between them.
                assert!(sizes.is_sorted() && sizes[0] >= last, "{last}, then {sizes:?}");
                let documents = reader.stats().unwrap().documents;
                assert!(documents.is_multiple_of(10) && documents >= 10 * sizes[9] as u64);
                last = sizes[9];
                queries += 1;
            }
            queries
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        for round in 0..150 {
            let mut writer = index.writer();
            for (family, text) in families.iter().enumerate() {
                writer.add(format!("{family}-{round}").as_bytes(), text.as_bytes()).unwrap();
            }
            writer.commit().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| assert!(reader.join().unwrap() > 0));
    });
    index.check().unwrap();
    assert_eq!(index.query(families[3].as_bytes(), 1.0).unwrap().len(), 150);
}

#[test]
fn writers_take_turns_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let texts = texts(5, 400);
    let mut index = Index::create(folder.path(), &settings()).unwrap();
    std::thread::scope(|scope| {
        for half in 0..2 {
            let (folder, texts) = (folder.path(), &texts);
            scope.spawn(move || {
                let mut index = Index::open(folder).unwrap();
                let mut writer = index.writer();
                for (number, text) in texts.iter().enumerate().filter(|(number, _)| number % 2 == half) {
                    writer.add(number.to_string().as_bytes(), text.as_bytes()).unwrap();
                    if number % 16 == half {
                        writer.commit().unwrap();
                    }
                }
                assert_eq!(writer.commit().unwrap().added, 200);
            });
        }
    });
    index.check().unwrap();
    assert_eq!(index.stats().unwrap().documents, 400);
}

#[test]
fn a_second_writer_is_refused_when_its_patience_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = index_of(folder.path(), &settings(), &texts(1, 5));
    let mut second = Index::open(folder.path()).unwrap();
    second.set_patience(Duration::from_millis(30)).unwrap();
    assert!(second.set_patience(Duration::MAX).is_err());

    let mut writer = first.writer();
    writer.add(b"mine", b"is added first").unwrap();
    match second.writer().add(b"theirs", b"has to wait") {
        Err(Error::Index(error)) => {
            assert_eq!(*error.problem(), IndexProblem::Busy);
            assert!(error.to_string().contains("another process is writing"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert!(!second.contains(b"mine").unwrap(), "not committed yet");
    writer.commit().unwrap();
    assert!(second.contains(b"mine").unwrap());
    second.writer().add(b"theirs", b"can be added now").unwrap();
}
