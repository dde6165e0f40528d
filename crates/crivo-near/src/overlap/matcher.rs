//! Finds the items of a benchmark in a document.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crivo::similarity::winnow::gram_hashes;

use super::Benchmark;
use crate::error::Result;
use crate::passages::WordCutter;

/// An item that a document contains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemHit {
    /// The number of the item.
    pub item: u32,
    /// The share of its n-grams that stand in the document; 1 for a short item that stands there whole.
    pub share: f64,
    /// The words of the longest run that the item and the document have in common.
    pub run: u32,
}

/// Finds items in one document after the other, in buffers it keeps.
pub struct Matcher<'a> {
    benchmark: &'a Benchmark,
    share: f64,
    cutter: WordCutter,
    words: Vec<u64>,
    hashes: Vec<u64>,
    /// Where n-grams of items stand in the document: the word, and the first position among those of the items.
    found: Vec<(u32, u32)>,
    hits: Vec<ItemHit>,
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
        })
    }

    /// The items that a text contains, ascending.
    pub fn hits(&mut self, text: &[u8]) -> &[ItemHit] {
        self.hits.clear();
        self.words.clear();
        self.words.extend_from_slice(self.cutter.words(text));
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

    /// The bytes of a text that are in n-grams of the items it contains: ascending, those that overlap merged.
    pub fn ranges(&mut self, text: &[u8]) -> Vec<Range<usize>> {
        self.hits(text);
        let items: Vec<u32> = self.hits.iter().map(|hit| hit.item).collect();
        let mut covered: BTreeMap<u32, u32> = BTreeMap::new();
        for at in 0..self.benchmark.grams.len() {
            self.look_up(at);
            let table = &self.benchmark.grams[at];
            for &(word, first) in &self.found {
                let is_wanted =
                    |position: u32| items.binary_search(&self.benchmark.item_at(position)).is_ok();
                if table.positions(first).any(is_wanted) {
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

    /// Finds the n-grams of one length.
    fn look_up(&mut self, table: usize) {
        let table = &self.benchmark.grams[table];
        self.found.clear();
        gram_hashes(&self.words, table.length, &mut self.hashes);
        for (word, (&hash, gram)) in self.hashes.iter().zip(self.words.windows(table.length)).enumerate() {
            if let Some(position) = table.find(hash, gram, &self.benchmark.words) {
                self.found.push((word as u32, position));
            }
        }
    }

    /// Takes the items with enough n-grams in the document.
    fn count_grams(&mut self) {
        let benchmark = self.benchmark;
        let table = &benchmark.grams[0];
        let mut different: Vec<u32> = self.found.iter().map(|found| found.1).collect();
        different.sort_unstable();
        different.dedup();
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for first in different {
            table.positions(first).for_each(|at| *counts.entry(benchmark.item_at(at)).or_default() += 1);
        }
        let (mut items, mut shares) = (Vec::new(), Vec::new());
        for (item, count) in counts {
            let grams = benchmark.range(item).len() + 1 - benchmark.gram;
            let share = f64::from(count) / grams as f64;
            if share >= self.share {
                items.push(item);
                shares.push(share);
            }
        }
        let runs = self.longest_runs(&items);
        let hits = items.into_iter().zip(shares).zip(runs);
        self.hits.extend(hits.map(|((item, share), run)| ItemHit { item, share, run }));
    }

    /// The words of the longest run that the document and each of some items, which ascend, have in common. The document is
    /// gone through once for all of them: an n-gram may stand in thousands of items.
    fn longest_runs(&self, items: &[u32]) -> Vec<u32> {
        let (benchmark, table) = (self.benchmark, &self.benchmark.grams[0]);
        let mut longest = vec![0; items.len()];
        if items.is_empty() {
            return longest;
        }
        // Where each n-gram stands in those items: ascending positions, and which of the items it is.
        let mut wanted: HashMap<u32, Vec<(u32, usize)>> = HashMap::new();
        let place = |position: u32| Some((position, items.binary_search(&benchmark.item_at(position)).ok()?));
        // The n-grams in a row that end at each position with this word of the document, and with the one before.
        let mut now: Vec<(u32, usize, u32)> = Vec::new();
        let mut before: Vec<(u32, usize, u32)> = Vec::new();
        let mut last_word = u32::MAX;
        for &(word, first) in &self.found {
            if last_word.wrapping_add(1) != word {
                before.clear();
            }
            let places =
                wanted.entry(first).or_insert_with(|| table.positions(first).filter_map(place).collect());
            now.clear();
            let mut known = before.iter().copied().peekable();
            for &(position, item) in places.iter() {
                while known.next_if(|known| known.0 + 1 < position).is_some() {}
                let grams = match known.peek() {
                    Some(&(at, same, grams)) if at + 1 == position && same == item => grams + 1,
                    _ => 1,
                };
                longest[item] = grams.max(longest[item]);
                now.push((position, item, grams));
            }
            std::mem::swap(&mut before, &mut now);
            last_word = word;
        }
        longest.iter_mut().for_each(|run| *run += benchmark.gram as u32 - 1);
        longest
    }

    /// Takes the items that stand in the document as a whole.
    fn take_whole(&mut self, table: usize) {
        let table = &self.benchmark.grams[table];
        let mut items: Vec<u32> = Vec::new();
        let mut firsts: Vec<u32> = self.found.iter().map(|found| found.1).collect();
        firsts.sort_unstable();
        firsts.dedup();
        for first in firsts {
            items.extend(table.positions(first).map(|position| self.benchmark.item_at(position)));
        }
        let run = table.length as u32;
        self.hits.extend(items.into_iter().map(|item| ItemHit { item, share: 1.0, run }));
    }
}
