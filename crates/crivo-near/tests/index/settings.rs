//! An index keeps its settings, and opening it with other settings is an error.

use crivo::similarity::Bands;
use crivo::similarity::shingle::{Shingles, StopWords};
use crivo_near::index::IndexProblem;
use crivo_near::{Error, Index, Settings};

use crate::support::texts;

fn problem(result: Result<Index, Error>) -> IndexProblem {
    match result {
        Err(Error::Index(error)) => error.problem().clone(),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it was accepted"),
    }
}

#[test]
fn other_settings_are_refused_with_the_field_and_both_values() {
    let folder = tempfile::tempdir().unwrap();
    let own = Settings { seed: 3, ..Settings::default() };
    Index::open_or_create(folder.path(), &own).unwrap();
    Index::open_or_create(folder.path(), &own).unwrap();
    let kept = Index::open(folder.path()).unwrap();
    assert_eq!((kept.settings().seed, kept.settings().threshold), (3, 0.8));
    let stop_words = Shingles::StopWords(StopWords::new(["de"]).unwrap());
    for (asked, field, stored, found) in [
        (Settings { shingles: Shingles::words(3).unwrap(), ..own.clone() }, "shingles", "words:5", "words:3"),
        (Settings { shingles: stop_words, ..own.clone() }, "shingles", "words:5", "stopwords (de)"),
        (Settings { seed: 4, ..own.clone() }, "seed", "3", "4"),
        (Settings { hashes: 200, ..own.clone() }, "hashes", "128", "200"),
        (Settings { bands: Some(Bands::new(8, 4).unwrap()), ..own.clone() }, "bands", "16 × 6", "8 × 4"),
    ] {
        let expected = IndexProblem::Differs { field, stored: stored.into(), asked: found.into() };
        assert_eq!(problem(Index::open_or_create(folder.path(), &asked)), expected);
    }
    // The list of stop words is one of the settings.
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = [["a", "de"], ["a", "da"]].map(|words| Settings {
        shingles: Shingles::StopWords(StopWords::new(words).unwrap()),
        ..Settings::default()
    });
    Index::create(folder.path(), &one).unwrap();
    let error = Index::open_with(folder.path(), &other).err().unwrap().to_string();
    assert!(error.contains("stopwords (a de)") && error.contains("stopwords (a da)"), "{error}");
    assert!(error.contains("index.sqlite"), "{error}");
}

#[test]
fn settings_out_of_range_make_no_index() {
    let folder = tempfile::tempdir().unwrap();
    for settings in [
        Settings { threshold: 0.0, ..Settings::default() },
        Settings { threshold: f64::NAN, ..Settings::default() },
        Settings { hashes: 0, ..Settings::default() },
        Settings { hashes: 40_000, bands: Some(Bands::new(8, 4).unwrap()), ..Settings::default() },
        Settings { bands: Some(Bands::new(50, 5).unwrap()), ..Settings::default() },
    ] {
        assert!(Index::create(folder.path(), &settings).is_err(), "{settings:?}");
        assert!(!Index::is_in(folder.path()));
    }
    let mut index = Index::create(folder.path(), &Settings::default()).unwrap();
    for threshold in [0.0, -1.0, 1.01, f64::NAN] {
        assert!(matches!(index.query(b"", threshold), Err(Error::Setting { name: "threshold", .. })));
    }
}

#[test]
fn folders_without_an_index_and_with_one_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(problem(Index::open(folder.path())), IndexProblem::Missing);
    assert_eq!(problem(Index::open(folder.path().join("none"))), IndexProblem::Missing);
    Index::create(folder.path().join("new/one"), &Settings::default()).unwrap();
    let again = Index::create(folder.path().join("new/one"), &Settings::default());
    assert_eq!(problem(again), IndexProblem::Exists);
    let names: Vec<_> =
        folder.path().join("new/one").read_dir().unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["index.sqlite"]);
}

#[test]
fn files_that_are_no_index_are_refused_by_name() {
    for bytes in [&b""[..], b"text", &[0; 9000]] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("index.sqlite"), bytes).unwrap();
        for open in [Index::open(folder.path()), Index::open_or_create(folder.path(), &Settings::default())] {
            let error = open.err().unwrap().to_string();
            assert!(error.contains("index.sqlite: the index is damaged"), "{error}");
        }
        assert_eq!(std::fs::read(folder.path().join("index.sqlite")).unwrap(), bytes, "left as it was");
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.sqlite-wal"), texts(1, 1).concat()).unwrap();
    assert!(matches!(problem(Index::create(folder.path(), &Settings::default())), IndexProblem::Foreign(_)));
}
