//! Texts, and the expected answers of an index about them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crivo::similarity::jaccard::jaccard_sorted;
use crivo::similarity::min_hash::sign;
use crivo::similarity::shingle::Shingler;
use crivo_near::index::Match;
use crivo_near::{Index, Settings};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Random numbers that are the same in each run.
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }
}

const WORDS: [&str; 16] = [
    "the", "of", "and", "sieve", "ação", "mar", "東京", "都", "zeit", "über", "река", "small", "wheat",
    "stone", "a", "to",
];

/// Returns a text of a few words. Often it is an earlier text with words changed; sometimes it is
/// too short for a shingle.
pub(crate) fn text(random: &mut Random, before: &[String]) -> String {
    let fresh = |random: &mut Random, words: usize| {
        (0..words).map(|_| WORDS[random.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    };
    if before.is_empty() || random.below(3) == 0 {
        let words = random.below(40);
        return fresh(random, words);
    }
    let old = &before[random.below(before.len())];
    let mut words: Vec<&str> = old.split(' ').collect();
    for _ in 0..random.below(4) {
        let at = random.below(words.len());
        words[at] = WORDS[random.below(WORDS.len())];
    }
    words.join(" ")
}

/// Returns many texts.
pub(crate) fn texts(seed: u64, count: usize) -> Vec<String> {
    let (mut random, mut texts) = (Random::new(seed), Vec::new());
    for _ in 0..count {
        let next = text(&mut random, &texts);
        texts.push(next);
    }
    texts
}

/// Answers queries by comparing with every document.
pub(crate) struct BruteForce {
    settings: Settings,
    pub(crate) documents: BTreeMap<Vec<u8>, String>,
}

impl BruteForce {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { settings: settings.clone(), documents: BTreeMap::new() }
    }

    fn set_and_keys(&self, text: &str) -> (Vec<u64>, BTreeSet<u64>) {
        let mut shingler = Shingler::with_seed(self.settings.shingles.clone(), self.settings.seed);
        let set = shingler.set(text.as_bytes()).to_vec();
        let (mut slots, mut keys) = (vec![0; self.settings.hashes as usize], Vec::new());
        sign(&set, &mut slots).unwrap();
        self.settings.bands().unwrap().keys(&slots, &mut keys).unwrap();
        (set, keys.into_iter().collect())
    }

    /// Returns all documents that share a band and are similar enough, the most similar first.
    pub(crate) fn query(&self, text: &str, threshold: f64) -> Vec<Match> {
        let (set, keys) = self.set_and_keys(text);
        let mut matches = Vec::new();
        for (id, other) in &self.documents {
            let (other_set, other_keys) = self.set_and_keys(other);
            let similarity = if set.is_empty() && other_set.is_empty() {
                f64::from(u8::from(text == other))
            } else if keys.is_disjoint(&other_keys) {
                0.0
            } else {
                jaccard_sorted(&set, &other_set).unwrap()
            };
            if similarity >= threshold {
                matches.push(Match { id: id.clone(), similarity });
            }
        }
        // The ids are in ascending order, and a stable sort keeps that order among equals.
        matches.sort_by(|a, b| b.similarity.total_cmp(&a.similarity));
        matches
    }
}

/// Creates an index of texts, each named by its number.
pub(crate) fn index_of(folder: &Path, settings: &Settings, texts: &[String]) -> Index {
    let mut index = Index::create(folder, settings).unwrap();
    let mut writer = index.writer();
    for (number, text) in texts.iter().enumerate() {
        writer.add(number.to_string().as_bytes(), text.as_bytes()).unwrap();
    }
    assert_eq!(writer.finish().unwrap().added, texts.len() as u64);
    index
}
