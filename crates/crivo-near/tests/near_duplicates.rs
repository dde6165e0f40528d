//! Tests the engine against brute force: it must find every pair that it should and no other, with
//! any number of threads and any memory.

// What fails here should fail loudly; and a test may make its texts as it reads best.
#![allow(clippy::unwrap_used, clippy::format_collect)]

use std::collections::{BTreeMap, BTreeSet};

use crivo::Confidence;
use crivo::similarity::shingle::{Shingler, Shingles};
use crivo_near::{
    Clusters, Keep, LARGEST_BUCKET, Linking, Measure, Outcome, Settings, Texts, near_duplicates,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Random numbers that are the same in each run.
struct Random(Xoshiro256PlusPlus);

impl Random {
    fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    fn below(&mut self, size: usize) -> usize {
        (self.0.next_u64() % size as u64) as usize
    }
}

/// Returns random texts. Many are copies of an earlier one with words replaced, removed or
/// repeated.
fn texts(count: usize, vocabulary: &[&str], between: &str, random: &mut Random) -> Vec<String> {
    let mut all: Vec<Vec<&str>> = Vec::new();
    for number in 0..count {
        let mut words: Vec<&str> = if number > 0 && random.below(2) == 0 {
            all[random.below(number)].clone()
        } else {
            (0..random.below(60)).map(|_| vocabulary[random.below(vocabulary.len())]).collect()
        };
        for _ in 0..random.below(4) {
            if words.is_empty() {
                break;
            }
            let at = random.below(words.len());
            match random.below(3) {
                0 => words[at] = vocabulary[random.below(vocabulary.len())],
                1 => drop(words.remove(at)),
                _ => words.insert(at, words[at]),
            }
        }
        all.push(words);
    }
    all.into_iter().map(|words| words.join(between)).collect()
}

const WORDS: [&str; 24] = [
    "river",
    "Über",
    "ação",
    "Ёлка",
    "naïve",
    "snow",
    "stone",
    "ΣΙΓΜΑ",
    "one",
    "Two",
    "THREE",
    "x1",
    "mañana",
    "ijs",
    "łódź",
    "the",
    "of",
    "and",
    "a",
    "to",
    "in",
    "that",
    "sea",
    "42",
];

const CHARACTERS: [&str; 20] = [
    "日", "本", "語", "の", "文", "章", "に", "は", "空", "白", "が", "な", "い", "東", "京", "都", "港",
    "区", "海", "山",
];

fn exact_pairs(texts: &[String], settings: &Settings) -> BTreeMap<(u32, u32), f64> {
    let mut shingler = Shingler::new(settings.shingles.clone());
    let sets: Vec<BTreeSet<u64>> =
        texts.iter().map(|text| shingler.shingles(text.as_bytes()).iter().copied().collect()).collect();
    let mut pairs = BTreeMap::new();
    for one in 0..texts.len() {
        for other in one + 1..texts.len() {
            let common = sets[one].intersection(&sets[other]).count();
            let union = sets[one].union(&sets[other]).count();
            let similarity =
                if texts[one] == texts[other] { 1.0 } else { common as f64 / union.max(1) as f64 };
            if similarity >= settings.threshold {
                pairs.insert((one as u32, other as u32), similarity);
            }
        }
    }
    pairs
}

fn found_pairs(outcome: &Outcome) -> BTreeMap<(u32, u32), f64> {
    let mut pairs = BTreeMap::new();
    outcome
        .for_each_pair(|one, other, similarity| {
            assert!(pairs.insert((one, other), similarity).is_none(), "the pair {one}, {other} came twice");
            Ok(())
        })
        .unwrap();
    assert_eq!(pairs.len() as u64, outcome.pairs());
    pairs
}

fn find(texts: &[String], settings: &Settings) -> Outcome {
    near_duplicates(&Texts::new(texts, settings.threads.max(1)), settings, &()).unwrap()
}

/// With 40 bands of 3 rows a pair at 0.5 is missed with probability 0.005, at 0.8 with 3e-13. So a
/// few of the pairs nearest to the threshold may be missed, never one that is well above it.
fn sure_settings(shingles: Shingles) -> Settings {
    let bands = crivo::similarity::Bands::new(40, 3).unwrap();
    Settings { threshold: 0.5, shingles, bands: Some(bands), threads: 2, ..Settings::default() }
}

#[test]
fn pairs_are_those_of_brute_force_and_their_similarity_is_exact() {
    let mut random = Random::new(1);
    for (vocabulary, between, shingles) in [
        (&WORDS[..], " ", "words:3"),
        (&WORDS[..], ", ", "words:1"),
        (&WORDS[..], " ", "stopwords"),
        (&CHARACTERS[..], "", "chars:4"),
        (&["ha"][..], " ", "words:2"),
    ] {
        let texts = texts(400, vocabulary, between, &mut random);
        let settings = sure_settings(shingles.parse().unwrap());
        let expected = exact_pairs(&texts, &settings);
        let outcome = find(&texts, &settings);
        let found = found_pairs(&outcome);
        for (pair, similarity) in &found {
            assert_eq!(expected.get(pair), Some(similarity), "{shingles}: {pair:?} was invented");
        }
        let missed: Vec<_> = expected.iter().filter(|(pair, _)| !found.contains_key(pair)).collect();
        assert!(missed.iter().all(|(_, similarity)| **similarity < 0.75), "{shingles}: {missed:?}");
        // The curve predicts the number of missed pairs. It is exceeded with a chance of one in a
        // million.
        let level = Confidence::new(1.0 - 2e-6).unwrap();
        let likely = outcome.bands().expected_missed_at(found.values().copied(), level).unwrap();
        assert!(missed.len() as f64 <= likely.upper(), "{shingles}: {} missed, not {likely:?}", missed.len());
    }
}

#[test]
fn threads_and_memory_change_nothing() {
    let mut random = Random::new(2);
    let mut texts = texts(3000, &WORDS, " ", &mut random);
    // Adds many identical texts.
    texts.extend((0..300).map(|_| "the same words in the same order each time".to_owned()));
    let settings = Settings { threads: 1, ..sure_settings(Shingles::words(2).unwrap()) };
    let expected = found_pairs(&find(&texts, &settings));
    assert!(expected.len() > 40_000);
    for (threads, memory) in [(2, 2 << 30), (5, 16 << 20), (1, 16 << 20)] {
        let outcome = find(&texts, &Settings { threads, memory, ..settings.clone() });
        assert_eq!(found_pairs(&outcome), expected, "{threads} threads, {memory} bytes");
    }
}

#[test]
fn texts_without_a_shingle_are_alike_only_if_they_are_the_same() {
    let texts = ["", "Ok", "ok", "Ok", "", "Thank you", "one two three four five six"].map(str::to_owned);
    let outcome = find(&texts, &Settings::default());
    assert_eq!(outcome.too_short(), 6);
    assert_eq!(found_pairs(&outcome), [((0, 4), 1.0), ((1, 3), 1.0)].into());
}

#[test]
fn very_many_identical_texts_take_time_and_pairs_in_proportion() {
    let texts = vec!["a text that is there a great many times over and over again".to_owned(); 200_000];
    let outcome = find(&texts, &Settings::default());
    assert_eq!(outcome.pairs(), 199_999);
    let clusters = Clusters::of(&outcome, Linking::Chains, Keep::First).unwrap();
    assert_eq!((clusters.kept_count(), clusters.sizes()), (1, vec![(0, 200_000)]));
}

#[test]
fn very_many_near_duplicates_are_linked_to_the_first() {
    let count = 4 * LARGEST_BUCKET;
    let common: String = (0..300).map(|i| format!("word{i} ")).collect();
    let texts: Vec<String> = (0..count).map(|i| format!("{common} and number {i}")).collect();
    let outcome = find(&texts, &Settings::default());
    // Not every pair is compared, but no text is left out.
    assert!(outcome.compared() < 40 * count as u64, "{}", outcome.compared());
    let clusters = Clusters::of(&outcome, Linking::Chains, Keep::First).unwrap();
    assert_eq!(clusters.sizes(), [(0, count as u32)]);
}

#[test]
fn chains_can_be_cut_to_those_like_the_one_that_stays() {
    // Each text is similar to its neighbours only.
    let word = |i: usize| format!("w{i}");
    let text = |from: usize| (from..from + 40).map(word).collect::<Vec<_>>().join(" ");
    let texts: Vec<String> = (0..6).map(|step| text(step * 4)).collect();
    let settings = Settings { threshold: 0.75, ..sure_settings(Shingles::words(1).unwrap()) };
    let outcome = find(&texts, &settings);
    let of = |linking, keep| Clusters::of(&outcome, linking, keep).unwrap().kept().to_vec();
    assert_eq!(of(Linking::Chains, Keep::First), [0, 0, 0, 0, 0, 0]);
    assert_eq!(of(Linking::Kept, Keep::First), [0, 0, 2, 2, 4, 4]);
}

/// Nothing like a known document stays, so it must not stand for others.
#[test]
fn known_documents_hold_no_cluster_together() {
    let word = |i: usize| format!("w{i}");
    let text = |from: usize| (from..from + 40).map(word).collect::<Vec<_>>().join(" ");
    let texts: Vec<String> = (0..6).map(|step| text(step * 4)).collect();
    let settings = Settings { threshold: 0.75, ..sure_settings(Shingles::words(1).unwrap()) };
    let outcome = find(&texts, &settings);
    let of = |linking, known: u32| {
        let clusters = Clusters::of_unknown(&outcome, linking, Keep::First, &|member| member == known);
        clusters.unwrap().kept().to_vec()
    };
    assert_eq!(of(Linking::Chains, 0), [0, 1, 1, 1, 1, 1]);
    assert_eq!(of(Linking::Chains, 3), [0, 0, 0, 3, 4, 4]);
    assert_eq!(of(Linking::Kept, 0), [0, 1, 1, 3, 3, 5]);
}

#[test]
fn the_longest_can_be_kept() {
    let base = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
    let texts = [base.to_owned(), format!("{base}!!!"), format!("{base}!")];
    let outcome = find(&texts, &Settings::default());
    for linking in [Linking::Chains, Linking::Kept] {
        assert_eq!(Clusters::of(&outcome, linking, Keep::Longest).unwrap().kept(), [1, 1, 1]);
    }
}

#[test]
fn trusted_signatures_find_nearly_the_same() {
    let mut random = Random::new(3);
    let texts = texts(1000, &WORDS, " ", &mut random);
    let settings = Settings { threshold: 0.8, hashes: 400, ..sure_settings(Shingles::words(2).unwrap()) };
    let exact = found_pairs(&find(&texts, &settings));
    let trusted = found_pairs(&find(&texts, &Settings { fast: true, ..settings }));
    let both = exact.keys().filter(|pair| trusted.contains_key(pair)).count();
    assert!(both * 100 >= exact.len() * 85, "{both} of {}", exact.len());
    // An estimate from 400 slots differs by more than 0.15 from the truth once in 10^9.
    for (pair, similarity) in &trusted {
        assert!(exact.get(pair).is_none_or(|truth| (truth - similarity).abs() < 0.15));
    }
}

/// The shingles of a giant text are signed piece by piece, which gives the same result.
#[test]
fn giant_texts_are_compared_as_others_are() {
    let mut random = Random::new(9);
    let words: Vec<String> = (0..1_200_000).map(|_| format!("w{}", random.below(1 << 20))).collect();
    let mut changed = words.clone();
    changed.iter_mut().step_by(100).for_each(|word| *word = "changed".to_owned());
    let texts = [words.join(" "), changed.join("  "), words[..600_000].join(" "), "too short".to_owned()];
    assert!(texts[0].len() > 9 << 20);
    let settings = Settings { threads: 2, threshold: 0.5, ..Settings::default() };
    let expected = exact_pairs(&texts, &settings);
    assert_eq!(expected.keys().filter(|pair| **pair == (0, 1)).count(), 1);
    let outcome = find(&texts, &settings);
    assert_eq!((outcome.documents(), outcome.too_short()), (4, 1));
    let found = found_pairs(&outcome);
    assert_eq!(found.get(&(0, 1)), expected.get(&(0, 1)));
    assert!(found.iter().all(|(pair, similarity)| expected.get(pair) == Some(similarity)));
    let contained = Settings { measure: Measure::Containment, threshold: 0.9, ..settings };
    assert_eq!(found_pairs(&find(&texts, &contained)).get(&(0, 2)), Some(&1.0));
}

#[test]
fn settings_out_of_range_are_refused_before_anything_is_read() {
    let texts: [String; 0] = [];
    let refused = |settings: &Settings| {
        near_duplicates(&Texts::new(&texts, 1), settings, &())
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    for threshold in [0.0, -0.1, 1.1, f64::NAN] {
        assert!(refused(&Settings { threshold, ..Settings::default() }).contains("above 0 and at most 1"));
    }
    let bands = crivo::similarity::Bands::new(50, 3).ok();
    assert!(refused(&Settings { bands, ..Settings::default() }).contains("at most 128 hashes"));
    assert!(refused(&Settings { memory: 1, ..Settings::default() }).contains("16 MiB"));
    assert!(!refused(&Settings { hashes: 0, ..Settings::default() }).is_empty());
    assert_eq!(find(&texts, &Settings::default()).documents(), 0);
}
