//! How many texts of a column say nearly the same as another?
//!
//! **Question.** What share of the documents, which are the longer texts of the column, has a near-duplicate in it: another that
//! shares at least four fifths of all their runs of eight bytes (Jaccard similarity 0.8, letters of ASCII taken as
//! small)?
//!
//! **Idea.** A sample of rows would miss nearly all pairs: both documents must be drawn. So documents are drawn
//! by what they say. Every run of eight bytes is hashed, the smallest hash, hashed once more, is the document's *mark*, and the
//! documents with the smallest marks are kept. (Hashed once more, because the smallest of many is small: of a longer
//! document smaller.) Two documents with similarity `J` have the same mark with probability `J`, and are
//! then drawn together or not at all. Those that share a mark are compared by sketches of their runs.
//!
//! What is counted is the rest: documents *without* a near-duplicate. Each is drawn by itself with the same chance
//! `θ`, the share of all marks that are kept, so `u` of them stand for `u/θ`, with binomial bounds. (The
//! near-duplicates themselves come in heaps, and a single heap of a million could be drawn or not.)
//!
//! **Bounds.** At 95 %. A document with one near-duplicate of similarity `J ≥ 0.8` is missed with probability `1 − J ≤ 0.2`, so
//! of `N` documents `U` without one are seen as at least `U` and at most `U + 0.2(N − U)`; the interval allows for both ends.
//! Sketches of 64 runs are off by 0.05 near the threshold: pairs that close to it count for one bound and not for the
//! other. While all documents are kept every pair is compared, and the first two sources of doubt are gone.
//!
//! **Sources.** Broder: *On the resemblance and containment of documents* (1997), for marks and sketches of runs.

use std::collections::HashMap;

use crivo::hash::remix;
use crivo::math::sampled_total;
use crivo::{Confidence, Estimate};

/// The least similarity of near-duplicates.
pub(super) const SIMILAR: f64 = 0.8;
/// A run of bytes.
const RUN: usize = 8;
/// Shorter values are names, codes and addresses.
const SHORTEST: usize = 32;
/// A document has a few words.
const LEAST_BLANKS: usize = 3;
/// How many runs the sketch of a document has.
const SKETCH: usize = 64;
/// How far an estimated similarity may be off: twice its standard error at the threshold.
const DOUBT: f64 = 0.1;
/// Documents kept of each mark: enough to see if they are alike.
const KEPT: usize = 3;

/// A sample of a column's documents.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    /// How many marks are kept; 0 if the column has no room for any.
    capacity: usize,
    /// Documents with marks up to here are kept.
    threshold: u64,
    seen: u64,
    marks: HashMap<u64, Alike>,
    runs: Vec<u32>,
}

/// Documents with the same mark.
#[derive(Debug, Clone, Default)]
struct Alike {
    count: u64,
    /// The smallest hashes of the runs of the first few, ascending.
    sketches: Vec<Box<[u32]>>,
}

impl Documents {
    /// Bytes that each mark can take; twice as many are collected.
    pub(super) const BYTES_EACH: usize = 2 * (KEPT * (SKETCH * size_of::<u32>() + 16) + 96);
    /// With fewer marks the answer would be too wide to be of use.
    pub(super) const FEWEST: usize = 32;
    pub(super) const MOST: usize = 512;

    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, threshold: u64::MAX, seen: 0, marks: HashMap::new(), runs: Vec::new() }
    }

    /// How many documents there were.
    pub(super) fn seen(&self) -> u64 {
        self.seen
    }

    /// Takes a value, if it is a document.
    #[inline]
    pub(super) fn insert(&mut self, text: &[u8]) {
        if text.len() >= SHORTEST && self.capacity > 0 && is_document(text) {
            self.insert_document(text);
        }
    }

    #[inline(never)]
    fn insert_document(&mut self, text: &[u8]) {
        self.seen += 1;
        let mark = remix(runs(text).min().unwrap_or(u64::MAX), 1);
        if mark > self.threshold {
            return;
        }
        let alike = self.marks.entry(mark).or_default();
        alike.count += 1;
        if alike.sketches.len() < KEPT {
            self.runs.clear();
            self.runs.extend(runs(text).map(|run| (run >> 32) as u32));
            self.runs.sort_unstable();
            self.runs.dedup();
            self.runs.truncate(SKETCH);
            alike.sketches.push(self.runs.as_slice().into());
        }
        if self.marks.len() > 2 * self.capacity {
            self.keep_smallest();
        }
    }

    #[cold]
    fn keep_smallest(&mut self) {
        let mut marks: Vec<u64> = self.marks.keys().copied().collect();
        if marks.len() > self.capacity {
            let (_, largest, _) = marks.select_nth_unstable(self.capacity - 1);
            self.threshold = *largest;
            self.marks.retain(|mark, _| *mark <= self.threshold);
        }
    }

    /// Makes this the sample of both columns' documents.
    pub(super) fn merge(&mut self, other: Self) {
        self.seen += other.seen;
        self.threshold = self.threshold.min(other.threshold);
        #[allow(clippy::iter_over_hash_type)] // each mark is merged by itself
        for (mark, theirs) in other.marks {
            let mine = self.marks.entry(mark).or_default();
            mine.count += theirs.count;
            let room = KEPT.saturating_sub(mine.sketches.len());
            mine.sketches.extend(theirs.sketches.into_iter().take(room));
        }
        self.marks.retain(|mark, _| *mark <= self.threshold);
        if self.marks.len() > 2 * self.capacity {
            self.keep_smallest();
        }
    }

    /// The share of documents with a near-duplicate; none if there are no documents.
    pub(super) fn near_duplicates(&self) -> Option<Estimate> {
        if self.seen == 0 {
            return None;
        }
        let total = self.seen as f64;
        // In an order of their own, so that sums are the same to the last bit every time.
        let mut marks: Vec<(u64, &Alike)> = self.marks.iter().map(|(&mark, alike)| (mark, alike)).collect();
        marks.sort_unstable_by_key(|(mark, _)| *mark);
        if self.threshold == u64::MAX {
            let all: Vec<&[u32]> =
                marks.iter().flat_map(|(_, alike)| &alike.sketches).map(|sketch| &**sketch).collect();
            // Those beyond the few that are kept of a mark are taken to be like them.
            let each = |alike: &Alike| alike.count as f64 / alike.sketches.len().max(1) as f64;
            let stands_for: Vec<f64> = marks
                .iter()
                .flat_map(|(_, alike)| std::iter::repeat_n(each(alike), alike.sketches.len()))
                .collect();
            let share = |least: f64| {
                let has_like = with_like(&all, least);
                let those = has_like.iter().zip(&stands_for).filter(|(has_like, _)| **has_like);
                those.map(|(_, stands_for)| stands_for).sum::<f64>() / total
            };
            let doubt = if all.iter().any(|sketch| sketch.len() == SKETCH) { DOUBT } else { 0.0 };
            let (lower, upper) = (share(SIMILAR + doubt), share(SIMILAR - doubt));
            return Some(Estimate::probable(share(SIMILAR), lower, upper, Confidence::P95));
        }
        // What lies at the threshold itself was what set it.
        let chance = self.threshold as f64 / 2_f64.powi(64);
        let without = |least: f64| {
            let drawn = marks.iter().filter(|(mark, _)| *mark < self.threshold);
            let lonely: f64 = drawn.map(|(_, alike)| alike.lonely(least)).sum();
            sampled_total(lonely.round() as u64, chance, Confidence::P95)
        };
        // Of those with a near-duplicate so many are seen without, if it is only one and so similar.
        let corrected = |seen: f64, missed: f64| ((seen - missed * total) / (1.0 - missed)).clamp(0.0, total);
        let value = 1.0 - corrected(without(SIMILAR).value(), (1.0 - SIMILAR) / 2.0) / total;
        let upper = 1.0 - corrected(without(SIMILAR - DOUBT).lower(), 1.0 - SIMILAR) / total;
        let lower = 1.0 - without(SIMILAR + DOUBT).upper().min(total) / total;
        Some(Estimate::probable(value.clamp(lower, upper.max(lower)), lower, upper, Confidence::P95))
    }
}

impl Alike {
    /// How many of them are like no other.
    fn lonely(&self, least: f64) -> f64 {
        let sketches: Vec<&[u32]> = self.sketches.iter().map(|sketch| &**sketch).collect();
        // Those beyond the few that are kept are taken to be like them.
        let lonely = with_like(&sketches, least).iter().filter(|has_like| !**has_like).count();
        self.count as f64 * lonely as f64 / sketches.len().max(1) as f64
    }
}

/// Which sketches are like another.
fn with_like(sketches: &[&[u32]], least: f64) -> Vec<bool> {
    let mut has_like = vec![false; sketches.len()];
    for (at, one) in sketches.iter().enumerate() {
        for (further, other) in sketches[at + 1..].iter().enumerate() {
            let other_at = at + 1 + further;
            if (!has_like[at] || !has_like[other_at]) && similarity(one, other) >= least {
                (has_like[at], has_like[other_at]) = (true, true);
            }
        }
    }
    has_like
}

/// The share of the smallest hashes of both that both have: exact if neither sketch is full.
fn similarity(one: &[u32], other: &[u32]) -> f64 {
    let (mut at, mut of, mut common, mut union) = (0, 0, 0, 0);
    while union < SKETCH && (at < one.len() || of < other.len()) {
        match (one.get(at), other.get(of)) {
            (Some(a), Some(b)) if a == b => {
                common += 1;
                (at, of) = (at + 1, of + 1);
            }
            (Some(a), Some(b)) if a < b => at += 1,
            (Some(_), None) => at += 1,
            _ => of += 1,
        }
        union += 1;
    }
    f64::from(common) / (union as f64).max(1.0)
}

fn is_document(text: &[u8]) -> bool {
    // Nearly every text that is one shows it at once.
    text.iter().filter(|&&byte| byte == b' ').take(LEAST_BLANKS).count() == LEAST_BLANKS
}

/// The hash of every run, capitals taken as small letters.
#[inline]
fn runs(text: &[u8]) -> impl Iterator<Item = u64> {
    text.windows(RUN).map(|run| {
        let run = run.first_chunk::<RUN>().map_or(0, |run| u64::from_le_bytes(*run)) | 0x2020_2020_2020_2020;
        // The finalizer of MurmurHash3 without its last step: enough for an order by the high bits.
        let mixed = (run ^ run >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        (mixed ^ mixed >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text of invented words; the same number gives the same text.
    fn text(number: u64, words: u64) -> String {
        let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let words = (0..words).map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("w{:x}", state >> 44)
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn share(texts: impl Iterator<Item = String>, capacity: usize) -> Estimate {
        let mut parts = [Documents::new(capacity), Documents::new(capacity)];
        texts.enumerate().for_each(|(at, text)| parts[at % 2].insert(text.as_bytes()));
        let [mut whole, other] = parts;
        whole.merge(other);
        whole.near_duplicates().unwrap()
    }

    #[test]
    fn no_near_duplicates_and_nothing_else_are_told_apart() {
        let none = share((0..20_000).map(|i| text(i, 20)), 256);
        assert!(none.lower() == 0.0 && none.upper() < 0.25, "{none:?}");
        // Every text a second time with one word more.
        let all = share((0..20_000).map(|i| text(i / 2, 30) + if i % 2 == 0 { "" } else { " indeed" }), 256);
        assert!(all.lower() > 0.7 && all.upper() == 1.0, "{all:?}");
        // One text over and over, so that whether it is drawn is one chance.
        let heap = share((0..20_000).map(|i| if i % 4 == 0 { text(i, 20) } else { text(1, 20) }), 256);
        assert!(heap.covers(0.75) && heap.upper() - heap.lower() < 0.25, "{heap:?}");
    }

    #[test]
    fn few_documents_are_all_compared() {
        let texts = |i: u64| if i < 4 { text(1, 40) + &format!(" {i}") } else { text(i, 40) };
        let found = share((0..20).map(texts), 64);
        assert_eq!((found.value(), found.lower()), (0.2, 0.2), "{found:?}");
    }

    #[test]
    fn names_and_codes_are_no_documents() {
        let mut documents = Documents::new(64);
        for short in
            ["Ana", "https://example.org/a/very/long/path/of/a/page", "2024-01-31T23:59:59.123456+01:00"]
        {
            documents.insert(short.as_bytes());
        }
        assert_eq!((documents.seen(), documents.near_duplicates()), (0, None));
    }
}
