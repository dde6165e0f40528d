//! Tests with words whose hashes collide.

use super::*;
use crate::source::Texts;

/// Returns two words with the same 40 bits of their hash. Among three million words four such pairs
/// are expected, and fewer than one of fifty seeds has none. The seed is fixed.
fn words_of_one_hash(seed: u64) -> (String, String) {
    let mut cutter = WordCutter::new(seed).unwrap();
    let word = |number: u32| format!("w{number}");
    let mut hashes: Vec<(u64, u32)> =
        (0..3_000_000).map(|number| (cutter.words(word(number).as_bytes())[0], number)).collect();
    hashes.sort_unstable();
    let pair = hashes.windows(2).find(|pair| pair[0].0 == pair[1].0).unwrap();
    (word(pair[0].1), word(pair[1].1))
}

fn found(texts: &[String], settings: &PassageSettings) -> (Vec<Passage>, u64) {
    let outcome = repeated_passages(&Texts::new(texts, 1), settings, &()).unwrap();
    let mut passages = Vec::new();
    outcome
        .for_each(|passage| {
            passages.push(passage);
            Ok(())
        })
        .unwrap();
    (passages, outcome.counts.attempt)
}

#[test]
fn words_of_one_hash_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let work = WorkFolder { path: folder.path().join("work"), identity: "a test".into() };
    let usual = PassageSettings { min_words: 10, threads: 1, ..PassageSettings::default() };
    let (one, other) = words_of_one_hash(usual.seed);
    let words =
        |name: &str| (0..12).map(|number| format!("{name}{number}")).collect::<Vec<_>>().join(" ") + " ";
    let [front, back] = [words("front"), words("back")];
    for settings in [usual.clone(), PassageSettings { work: Some(work), ..usual.clone() }] {
        // The words are after a passage, before it, and inside it.
        let texts = [format!("{front}{one}"), format!("x {front}{other}")];
        let (passages, attempt) = found(&texts, &settings);
        assert_eq!((passages.len(), passages[0].words, attempt), (1, 12, 1));
        assert_eq!(&texts[1][passages[0].range()], front.trim_end());
        settings.work.as_ref().map_or(Ok(()), WorkFolder::clear).unwrap();
    }
    let (passages, _) = found(&[format!("{one} {back}"), format!("{other} {back}")], &usual);
    assert_eq!((passages.len(), passages[0].words), (1, 12));
    let texts = [format!("{front}{one} {back}"), format!("{front}{other} {back}")];
    let (passages, _) = found(&texts, &usual);
    assert_eq!(passages.iter().map(|passage| passage.words).collect::<Vec<_>>(), [12, 12]);
    // A third text repeats the second, but not the first. Its front occurred in the first text
    // already.
    let (passages, _) = found(&[texts[0].clone(), texts[1].clone(), texts[1].clone()], &usual);
    let last = passages.last().unwrap();
    assert_eq!((passages.len(), last.place, last.first_place, last.words), (4, 2, 1, 25));
    // Without colliding words, the search is not repeated.
    assert_eq!(found(&[texts[0].clone(), texts[0].clone()], &usual).1, 0);
}

#[test]
fn a_group_too_large_for_memory_is_read_from_a_file() {
    // One word is repeated, so every word begins an anchor of the same hash.
    let texts = ["again ".repeat(300_000), format!("{} end", "again ".repeat(100))];
    for within in [false, true] {
        let settings = PassageSettings { memory: 16 << 20, threads: 1, within, ..PassageSettings::default() };
        let (passages, _) = found(&texts, &settings);
        let expected = if within { vec![(0, 299_999), (1, 100)] } else { vec![(1, 100)] };
        assert_eq!(
            passages.iter().map(|passage| (passage.place, passage.words)).collect::<Vec<_>>(),
            expected
        );
    }
}
