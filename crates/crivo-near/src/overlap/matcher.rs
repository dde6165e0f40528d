//! Finds the items of a benchmark in a document.

use std::collections::BTreeMap;
use std::ops::Range;

use crivo::similarity::winnow::gram_hashes;

use super::Benchmark;
use super::grams::NO_GRAM;
use crate::error::Result;
use crate::passages::WordCutter;

/// An item that a document contains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemHit {
    /// The item's number.
    pub item: u32,
    /// The share of the item's n-grams that the document contains, or 1 for a short item that it
    /// contains whole.
    pub share: f64,
    /// The number of words of the longest run that the item and the document have in common.
    pub run: u32,
}

/// Marks an item that is not among the hits.
const NO_HIT: u32 = u32::MAX;

/// Finds the items in one document after the other. Its buffers are reused.
pub struct Matcher<'a> {
    benchmark: &'a Benchmark,
    share: f64,
    cutter: WordCutter,
    words: Vec<u64>,
    hashes: Vec<u64>,
    /// The n-grams of items in the document: the position of the first word, and the number of the
    /// n-gram.
    found: Vec<(u32, u32)>,
    hits: Vec<ItemHit>,
    /// For each n-gram, whether the document has it. All false between documents.
    is_seen: Vec<bool>,
    /// For each item, the number of its n-grams that the document has. All 0 between documents.
    counts: Vec<u32>,
    /// For each item, its position in `hits`. [`NO_HIT`] between documents.
    places: Vec<u32>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(benchmark: &'a Benchmark, share: f64) -> Result<Self> {
        Ok(Self {
            benchmark,
            share,
            cutter: WordCutter::new(0)?,
            words: Vec::new(),
            hashes: Vec::new(),
            found: Vec::new(),
            hits: Vec::new(),
            is_seen: vec![false; benchmark.grams[0].len()],
            counts: vec![0; benchmark.items()],
            places: vec![NO_HIT; benchmark.items()],
        })
    }

    /// Returns the items that a text contains, ascending.
    pub fn hits(&mut self, text: &[u8]) -> &[ItemHit] {
        self.hits.clear();
        self.cutter.hashes_into(text, &mut self.words);
        for table in 0..self.benchmark.grams.len() {
            self.look_up(table);
            if self.found.is_empty() {
                continue;
            }
            if table == 0 { self.count_grams() } else { self.take_whole(table) }
        }
        self.hits.sort_unstable_by_key(|hit| hit.item);
        &self.hits
    }

    /// Returns the byte ranges of a text that are in n-grams of the items it contains. They ascend,
    /// and overlapping ranges are merged.
    pub fn ranges(&mut self, text: &[u8]) -> Vec<Range<usize>> {
        self.hits(text);
        let items: Vec<u32> = self.hits.iter().map(|hit| hit.item).collect();
        let mut covered: BTreeMap<u32, u32> = BTreeMap::new();
        for at in 0..self.benchmark.grams.len() {
            self.look_up(at);
            let table = &self.benchmark.grams[at];
            for &(word, gram) in &self.found {
                if table.places(gram).iter().any(|place| items.binary_search(&place.item).is_ok()) {
                    let end = word + table.length as u32;
                    covered.entry(word).and_modify(|known| *known = end.max(*known)).or_insert(end);
                }
            }
        }
        let spans = self.cutter.spans(text);
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (word, end) in covered {
            let (Some(first), Some(last)) = (spans.get(word as usize), spans.get(end as usize - 1)) else {
                continue;
            };
            match ranges.last_mut() {
                Some(known) if first.0 <= known.end => known.end = known.end.max(last.1),
                _ => ranges.push(first.0..last.1),
            }
        }
        ranges
    }

    /// Finds the n-grams of one length in the document.
    fn look_up(&mut self, table: usize) {
        let table = &self.benchmark.grams[table];
        self.found.clear();
        gram_hashes(&self.words, table.length, &mut self.hashes);
        for (word, (&hash, gram)) in self.hashes.iter().zip(self.words.windows(table.length)).enumerate() {
            if let Some(number) = table.find(hash, gram, &self.benchmark.words) {
                self.found.push((word as u32, number));
            }
        }
    }

    /// Adds the items with enough n-grams in the document to the hits.
    fn count_grams(&mut self) {
        let (benchmark, table) = (self.benchmark, &self.benchmark.grams[0]);
        let mut touched: Vec<u32> = Vec::new();
        for &(_, gram) in &self.found {
            if std::mem::replace(&mut self.is_seen[gram as usize], true) {
                continue;
            }
            for place in table.places(gram) {
                let count = &mut self.counts[place.item as usize];
                if *count == 0 {
                    touched.push(place.item);
                }
                *count += 1;
            }
        }
        self.found.iter().for_each(|found| self.is_seen[found.1 as usize] = false);
        touched.sort_unstable();
        for item in touched {
            let count = std::mem::take(&mut self.counts[item as usize]);
            let grams = benchmark.range(item).len() + 1 - benchmark.gram;
            let share = f64::from(count) / grams as f64;
            if share >= self.share {
                self.hits.push(ItemHit { item, share, run: 0 });
            }
        }
        if !self.hits.is_empty() {
            self.find_longest_runs();
        }
    }

    /// Finds the longest run that the document and each of the hits have in common. Every common
    /// run is compared only once, from its first n-gram on, because an n-gram may be in thousands
    /// of items.
    fn find_longest_runs(&mut self) {
        let (benchmark, table) = (self.benchmark, &self.benchmark.grams[0]);
        for (at, hit) in (0..).zip(&self.hits) {
            self.places[hit.item as usize] = at;
        }
        let mut last = (u32::MAX, NO_GRAM);
        for &(word, gram) in &self.found {
            let before = if last.0.wrapping_add(1) == word { last.1 } else { NO_GRAM };
            last = (word, gram);
            for place in table.places_not_after(before, gram) {
                let at = self.places[place.item as usize];
                if at == NO_HIT {
                    continue;
                }
                let hit = &mut self.hits[at as usize];
                let end = benchmark.range(place.item).end;
                // The remaining words of the item may be too few for a longer run.
                if end <= place.position as usize + hit.run as usize {
                    continue;
                }
                // The words of the n-gram itself are known to be equal.
                let item = &benchmark.words[place.position as usize + table.length..end];
                let pairs = self.words[word as usize + table.length..].iter().zip(item);
                let more = pairs.take_while(|(one, other)| one == other).count();
                hit.run = hit.run.max((table.length + more) as u32);
            }
        }
        self.hits.iter().for_each(|hit| self.places[hit.item as usize] = NO_HIT);
    }

    /// Adds the items that the document contains whole to the hits.
    fn take_whole(&mut self, table: usize) {
        let table = &self.benchmark.grams[table];
        let mut grams: Vec<u32> = self.found.iter().map(|found| found.1).collect();
        grams.sort_unstable();
        grams.dedup();
        let run = table.length as u32;
        let places = grams.into_iter().flat_map(|gram| table.places(gram));
        self.hits.extend(places.map(|place| ItemHit { item: place.item, share: 1.0, run }));
    }
}
