//! The index gives the same answers as a comparison of all documents.

use crivo::similarity::shingle::{Shingles, StopWords};
use crivo_near::index::{Added, Changes};
use crivo_near::{Error, Index, Settings, Texts};

use crate::support::{BruteForce, Random, index_of, text, texts};

fn kinds() -> [Shingles; 4] {
    [
        Shingles::words(2).unwrap(),
        Shingles::characters(3).unwrap(),
        Shingles::english_stop_words(),
        Shingles::StopWords(StopWords::new(["über", "a"]).unwrap()),
    ]
}

#[test]
fn answers_are_those_of_brute_force_through_adding_replacing_and_removing() {
    for (number, shingles) in kinds().into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { shingles, seed: number as u64, threshold: 0.5, ..Settings::default() };
        let mut index = Index::create(folder.path(), &settings).unwrap();
        let mut model = BruteForce::new(&settings);
        let (mut random, mut seen) = (Random::new(number as u64), Vec::new());
        for _ in 0..12 {
            let (mut expected, mut writer) = (Changes::default(), index.writer());
            for _ in 0..40 {
                let id = random.below(150).to_string().into_bytes();
                if random.below(5) == 0 {
                    let was_there = model.documents.remove(&id).is_some();
                    expected.removed += u64::from(was_there);
                    assert_eq!(writer.remove(&id).unwrap(), was_there);
                    continue;
                }
                let new = text(&mut random, &seen);
                seen.push(new.clone());
                let added = match model.documents.insert(id.clone(), new.clone()) {
                    None => Added::New,
                    Some(old) if old == new => Added::Unchanged,
                    Some(_) => Added::Replaced,
                };
                match added {
                    Added::New => expected.added += 1,
                    Added::Replaced => expected.replaced += 1,
                    Added::Unchanged => expected.unchanged += 1,
                }
                assert_eq!(writer.add(&id, new.as_bytes()).unwrap(), added);
            }
            assert_eq!(writer.finish().unwrap(), expected);
            for threshold in [0.3, 0.8, 1.0] {
                let asked = text(&mut random, &seen);
                let found = index.query(asked.as_bytes(), threshold).unwrap();
                assert_eq!(found, model.query(&asked, threshold), "{asked:?} at {threshold}");
            }
            index.check().unwrap();
            assert_eq!(index.stats().unwrap().documents, model.documents.len() as u64);
        }
        for id in (0..150).map(|id: u32| id.to_string().into_bytes()) {
            assert_eq!(index.contains(&id).unwrap(), model.documents.contains_key(&id));
        }
    }
}

#[test]
fn a_collection_is_asked_about_on_any_number_of_threads_alike() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { shingles: Shingles::words(2).unwrap(), ..Settings::default() };
    let texts = texts(3, 900);
    let mut index = index_of(folder.path(), &settings, &texts[..600]);
    let one_by_one: Vec<_> = (0..)
        .zip(&texts)
        .filter(|(place, _)| place % 3 != 0)
        .map(|(place, text)| (place, index.query(text.as_bytes(), 0.8).unwrap()))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    let nearest: Vec<_> = one_by_one.iter().map(|(place, found)| (*place, found[..1].to_vec())).collect();
    for (threads, memory) in [(1, 1 << 30), (2, 1 << 30), (5, 1 << 30), (2, 1 << 14)] {
        let texts = Texts::new(&texts, threads);
        let all = index.query_all(&texts, 0.8, memory, &|place| place % 3 != 0).unwrap();
        assert!(all.found == one_by_one, "{threads} threads, {memory} bytes");
        assert_eq!(all.asked, 600);
        let mut found = index.nearest_of_all(&texts, 0.8, memory).unwrap().found;
        found.retain(|(place, _)| place % 3 != 0);
        assert!(found == nearest, "{threads} threads, {memory} bytes");
    }
    assert!(one_by_one.len() > 300);
}

#[test]
fn a_document_that_cannot_be_named_ends_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = Index::create(folder.path(), &Settings::default()).unwrap();
    let texts = ["one", "two", "three"];
    let name = |place: u64| if place == 1 { Err(Error::Changed) } else { Ok(Some(vec![b'a'])) };
    assert!(matches!(index.add_all(&Texts::new(&texts, 1), &name), Err(Error::Changed)));
    assert_eq!(index.stats().unwrap().documents, 0);
}

#[test]
fn a_collection_is_added_on_any_number_of_threads_alike() {
    let settings = Settings { shingles: Shingles::words(2).unwrap(), ..Settings::default() };
    let texts = texts(4, 1200);
    let name = |place: u64| Ok((!place.is_multiple_of(5)).then(|| place.to_string().into_bytes()));
    let [one, four] = [1, 4].map(|threads| {
        let folder = tempfile::tempdir().unwrap();
        let mut index = Index::create(folder.path(), &settings).unwrap();
        let texts = Texts::new(&texts, threads);
        assert_eq!(index.add_all(&texts, &name).unwrap(), Changes { added: 960, ..Changes::default() });
        assert_eq!(index.add_all(&texts, &name).unwrap(), Changes { unchanged: 960, ..Changes::default() });
        index.check().unwrap();
        index.query_all(&texts, 0.8, 1 << 30, &|_| true).unwrap().found
    });
    assert!(one == four);
}

#[test]
fn documents_without_a_shingle_are_found_by_the_same_bytes_only() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["too short", "too short", "Too short", ""].map(String::from);
    let mut index = index_of(folder.path(), &Settings::default(), &texts);
    assert_eq!(index.stats().unwrap().too_short, 4);
    let names = |text: &str, index: &mut Index| -> Vec<String> {
        let found = index.query(text.as_bytes(), 1.0).unwrap();
        assert!(found.iter().all(|found| found.similarity == 1.0));
        found.into_iter().map(|found| String::from_utf8(found.id).unwrap()).collect()
    };
    assert_eq!(names("too short", &mut index), ["0", "1"]);
    assert_eq!(names("Too short", &mut index), ["2"]);
    assert_eq!(names("", &mut index), ["3"]);
    assert!(names("too  short", &mut index).is_empty());
}

#[test]
fn what_is_not_committed_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut index = index_of(folder.path(), &Settings::default(), &texts(1, 10));
    let before = index.stats().unwrap();
    let mut writer = index.writer();
    writer.add(b"new", b"one two three four five six").unwrap();
    writer.remove(b"0").unwrap();
    drop(writer);
    index.check().unwrap();
    assert_eq!(index.stats().unwrap().documents, before.documents);
    assert!(!index.contains(b"new").unwrap() && index.contains(b"0").unwrap());
}

/// All documents have the same keys. All are compared, and none is left out.
#[test]
fn a_thousand_documents_in_one_bucket_are_all_found() {
    let folder = tempfile::tempdir().unwrap();
    let text = "one two three four five six seven eight nine ten".to_owned();
    let mut index = index_of(folder.path(), &Settings::default(), &vec![text.clone(); 1000]);
    assert_eq!(index.query(text.as_bytes(), 1.0).unwrap().len(), 1000);
    let mut writer = index.writer();
    (0..999).for_each(|id: u32| assert!(writer.remove(id.to_string().as_bytes()).unwrap()));
    writer.finish().unwrap();
    assert_eq!(index.query(text.as_bytes(), 1.0).unwrap().len(), 1);
    index.check().unwrap();
}

/// Small commits make many runs, and replaced documents leave postings behind. Neither may grow
/// without limit.
#[test]
fn runs_and_postings_of_replaced_documents_stay_few() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { shingles: Shingles::words(2).unwrap(), ..Settings::default() };
    let mut index = Index::create(folder.path(), &settings).unwrap();
    for round in 0..30_u32 {
        let mut writer = index.writer();
        for id in 0..200 {
            let words = (0..8).map(|word| format!("w{}", (id * 13 + round + word * 7) % 101));
            let text = words.collect::<Vec<_>>().join(" ");
            writer.add(format!("{id}").as_bytes(), text.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
        index.check().unwrap();
    }
    let stats = index.stats().unwrap();
    assert_eq!(stats.documents, 200);
    let keys = u64::from(settings.bands().unwrap().bands()) + 1;
    assert!(stats.postings <= keys * (200 + 2 * 1300), "{} postings", stats.postings);
}

/// The part of an index that does not depend on the length of documents, at 16 bands.
#[test]
fn an_index_takes_at_most_260_bytes_a_document_beside_sets() {
    const DOCUMENTS: u64 = 20_000;
    let folder = tempfile::tempdir().unwrap();
    let bands = crivo::similarity::Bands::new(16, 6).unwrap();
    let settings =
        Settings { shingles: Shingles::words(1).unwrap(), bands: Some(bands), ..Settings::default() };
    let mut index = Index::create(folder.path(), &settings).unwrap();
    let texts: Vec<String> = (0..DOCUMENTS).map(|number| format!("{number} word{}", number / 3)).collect();
    let name = |place: u64| Ok(Some(format!("doc-{place:06}").into_bytes()));
    index.add_all(&Texts::new(&texts, 2), &name).unwrap();
    drop(index);
    // The journal is in the file when the last connection is closed.
    let bytes = std::fs::metadata(folder.path().join("index.sqlite")).unwrap().len();
    let sets = DOCUMENTS * 2 * 8;
    let each = (bytes - sets) as f64 / DOCUMENTS as f64;
    assert!((150.0..=260.0).contains(&each), "{each} bytes a document");
}

/// The index was written by the first release with indexes. `format_1.tsv` has its answers.
#[test]
fn an_index_of_format_1_answers_and_is_converted_by_the_first_change() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/index/golden");
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(format!("{golden}/format_1.sqlite"), folder.path().join("index.sqlite")).unwrap();
    let expected = std::fs::read_to_string(format!("{golden}/format_1.tsv")).unwrap();
    let texts: Vec<String> = (0..30_usize)
        .map(|n| {
            (0..6 + n % 7).map(|k| format!("w{}", (n / 3 * 5 + k * 7) % 41)).collect::<Vec<_>>().join(" ")
        })
        .chain(["alone".to_owned()])
        .collect();
    let name = |at: usize| if at < 30 { format!("doc-{at}") } else { "short".to_owned() };
    let mut index = Index::open(folder.path()).unwrap();
    for changed in [false, true] {
        let mut bulk = Vec::new();
        let answers = index.query_all(&Texts::new(&texts, 2), 0.6, 1 << 20, &|_| true).unwrap();
        for (place, found) in answers.found {
            for found in found {
                let id = String::from_utf8(found.id).unwrap();
                bulk.push(format!("{}\t{id}\t{}\n", name(place as usize), found.similarity));
            }
        }
        assert_eq!(bulk.concat(), expected, "changed: {changed}");
        assert_eq!(index.query(texts[30].as_bytes(), 0.6).unwrap().len(), 1);
        assert!(!index.contains(b"doc-4").unwrap() && index.contains(b"doc-5").unwrap());
        index.check().unwrap();
        let mut writer = index.writer();
        writer.remove(b"short").unwrap();
        writer.add(b"short", b"alone").unwrap();
        writer.finish().unwrap();
        index = Index::open(folder.path()).unwrap();
    }
    let mut writer = index.writer();
    assert!(writer.remove(b"doc-0").unwrap());
    writer.finish().unwrap();
    index.check().unwrap();
    let answers = index.query_all(&Texts::new(&texts, 2), 0.6, 1 << 20, &|_| true).unwrap();
    let left: Vec<_> = answers.found.into_iter().flat_map(|(_, found)| found).map(|found| found.id).collect();
    let without_it = expected.lines().filter(|line| line.split('\t').nth(1) != Some("doc-0"));
    assert_eq!(left.len(), without_it.count());
    assert!(left.len() < expected.lines().count() && !left.iter().any(|id| id == b"doc-0"));
    assert!(!index.contains(b"doc-0").unwrap());
}

#[test]
fn removed_documents_hide_no_other_with_the_same_bands() {
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { shingles: Shingles::words(2).unwrap(), ..Settings::default() };
    let text = "all of these documents have the same words in the same order";
    let same = vec![text.to_owned(); crivo_near::LARGEST_BUCKET + 100];
    let mut index = index_of(folder.path(), &settings, &same);
    let mut writer = index.writer();
    for number in 0..same.len() - 1 {
        assert!(writer.remove(number.to_string().as_bytes()).unwrap());
    }
    writer.finish().unwrap();
    let asked = [text];
    let found = index.nearest_of_all(&Texts::new(&asked, 1), 0.8, 1 << 20).unwrap().found;
    assert_eq!(found, [(0, index.query(text.as_bytes(), 0.8).unwrap())]);
    assert_eq!(found[0].1.len(), 1);
}
