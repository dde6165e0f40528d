//! Which documents contain which items of a benchmark?
//!
//! A document contains an item if it has at least a given share of the item's runs of `n` words
//! (its n-grams). An item shorter than `n` words must be in the document in one piece. N-grams are
//! compared word for word, each word by the 64 bits of its hash, and no n-gram is left out. So
//! shares are exact, unless two different words have the same hash: a chance of 2⁻⁶⁴ for each
//! comparison. The items are held in memory, about 35 bytes a word; documents are read as a stream.
//!
//! ```
//! use crivo_near::{Benchmark, Texts};
//!
//! let items = ["what is the capital of the republic of France", "two plus two"];
//! let benchmark = Benchmark::read(&Texts::new(&items, 1), 5)?;
//! let mut matcher = benchmark.matcher(0.5)?;
//! let hits = matcher.hits(b"Quiz: What is the capital of the republic of Peru? And two plus two?");
//! assert_eq!(hits.iter().map(|hit| (hit.item, hit.run)).collect::<Vec<_>>(), [(0, 8), (1, 3)]);
//! assert_eq!(hits[0].share, 0.8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod grams;
mod matcher;

use std::ops::Range;
use std::sync::Arc;

use self::grams::GramTable;
pub use self::matcher::{ItemHit, Matcher};
use crate::error::{Error, Result};
use crate::parallel::thread_count;
use crate::passages::WordCutter;
use crate::source::Documents;
use crate::spill::{Order, Partitions, Spill, Writer};

/// The greatest length of n-grams.
const LONGEST_GRAM: usize = 64;

/// The items of a benchmark, with all their n-grams.
pub struct Benchmark {
    gram: usize,
    /// The place of each item in its collection, ascending within a collection.
    places: Vec<u64>,
    /// The end of the items of each collection.
    ends: Vec<u32>,
    /// The words of all items, one after the other. `starts` has the beginning of each item, and
    /// the end of the last.
    words: Vec<u64>,
    starts: Vec<u32>,
    /// The n-grams of `gram` words first, then those of the lengths of shorter items.
    grams: Vec<GramTable>,
}

impl Benchmark {
    /// Reads all items. `words` is the length of the n-grams.
    ///
    /// # Errors
    /// If `words` is 0 or above 64, or the items cannot be read.
    pub fn read(items: &impl Documents, words: usize) -> Result<Self> {
        Self::read_all(std::slice::from_ref(items), words)
    }

    /// Reads the items of several collections, such as the files of several benchmarks. Items are
    /// numbered in the order of the collections. `words` is the length of the n-grams.
    ///
    /// # Errors
    /// If `words` is 0 or above 64, or the items cannot be read.
    ///
    /// ```
    /// use crivo_near::{Benchmark, Texts, overlap};
    ///
    /// let (sums, places) = (["two plus two", "one plus one"], ["capital of France"]);
    /// let benchmark = Benchmark::read_all(&[Texts::new(&sums, 1), Texts::new(&places, 1)], 3)?;
    /// let documents = ["Two plus two? And one plus one?", "Two plus two!"];
    /// let found = overlap(&Texts::new(&documents, 1), &benchmark, 1.0, 1 << 20)?;
    /// let hits = found.of_parts(&benchmark.collections())?;
    /// assert_eq!((hits[0].items_hit, hits[0].documents_hit), (2, 2));
    /// assert_eq!((hits[1].items_hit, hits[1].documents_hit), (0, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_all<D: Documents>(collections: &[D], words: usize) -> Result<Self> {
        if !(1..=LONGEST_GRAM).contains(&words) {
            return Err(Error::setting("words", format_args!("1 to {LONGEST_GRAM}"), words));
        }
        let mut all = ItemWords::default();
        for collection in collections {
            all.read(collection)?;
        }
        Ok(Self::of_items(all, words))
    }

    /// Creates the tables of all n-grams of `gram` words and of shorter items.
    fn of_items(items: ItemWords, gram: usize) -> Self {
        let ItemWords { words, places, starts, ends } = items;
        let items = || (0_u32..).zip(starts.windows(2).map(|pair| (pair[0], pair[1])));
        let long = items().flat_map(|(item, (start, end))| {
            (start..(end + 1).saturating_sub(gram as u32).max(start)).map(move |position| (position, item))
        });
        let mut grams = vec![GramTable::new(gram, &long.collect::<Vec<_>>(), &words)];
        for length in 1..gram {
            let short = items().filter(|(_, (start, end))| (end - start) as usize == length);
            let whole: Vec<_> = short.map(|(item, (start, _))| (start, item)).collect();
            if !whole.is_empty() {
                grams.push(GramTable::new(length, &whole, &words));
            }
        }
        Self { gram, places, ends, words, starts, grams }
    }

    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.places.len()
    }

    /// Returns the items of each collection, in the order in which the collections were read.
    pub fn collections(&self) -> Vec<Range<u32>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| start..end).collect()
    }

    /// Returns the place of an item in its collection.
    pub fn place(&self, item: u32) -> u64 {
        self.places.get(item as usize).copied().unwrap_or(u64::MAX)
    }

    /// Returns a matcher, which finds items in one document after the other. `share` is the least
    /// share of an item's n-grams.
    ///
    /// # Errors
    /// If the share is not above 0 and at most 1.
    pub fn matcher(&self, share: f64) -> Result<Matcher<'_>> {
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::setting("share", "above 0 and at most 1", share));
        }
        Matcher::new(self, share)
    }

    /// Returns the range of an item's words.
    fn range(&self, item: u32) -> Range<usize> {
        self.starts[item as usize] as usize..self.starts[item as usize + 1] as usize
    }
}

/// The items of all collections that were read so far.
struct ItemWords {
    /// The words of all items, one after the other.
    words: Vec<u64>,
    /// The place of each item in its collection.
    places: Vec<u64>,
    /// The beginning of each item's words, and the end of the last.
    starts: Vec<u32>,
    /// The end of the items of each collection.
    ends: Vec<u32>,
}

impl Default for ItemWords {
    fn default() -> Self {
        Self { words: Vec::new(), places: Vec::new(), starts: vec![0], ends: Vec::new() }
    }
}

impl ItemWords {
    /// Adds the items of a collection in their order.
    fn read(&mut self, collection: &impl Documents) -> Result<()> {
        let states = collection.read(
            // The state of a thread: the words of all its items, one after the other, and the place
            // and the words' range of each item.
            &|| (WordCutter::new(0), Vec::new(), Vec::<(u64, Range<usize>)>::new()),
            &|(cutter, words, items), place, text| {
                if let Ok(cutter) = cutter {
                    let start = words.len();
                    words.extend_from_slice(cutter.hashes(text));
                    items.push((place, start..words.len()));
                }
                Ok(())
            },
        )?;
        let (mut all, mut threads) = (Vec::new(), Vec::with_capacity(states.len()));
        for (cutter, words, items) in states {
            cutter?;
            all.extend(items.into_iter().map(|(place, range)| (place, threads.len(), range)));
            threads.push(words);
        }
        let first_words = self.words.len();
        let is_ordered = all.is_sorted_by_key(|item| item.0);
        if let [only] = threads.as_mut_slice()
            && is_ordered
            && first_words == 0
        {
            // The words of a single thread need no copy.
            self.words = std::mem::take(only);
        } else {
            all.sort_unstable_by_key(|item| item.0);
            self.words.reserve(threads.iter().map(Vec::len).sum());
            for (_, thread, range) in &all {
                self.words.extend_from_slice(&threads[*thread][range.clone()]);
            }
        }
        drop(threads);
        let mut end = first_words;
        for (place, _, range) in all {
            end += range.len();
            self.places.push(place);
            self.starts.push(u32::try_from(end).map_err(|_| Error::TooMany)?);
        }
        self.ends.push(u32::try_from(self.places.len()).map_err(|_| Error::TooMany)?);
        Ok(())
    }
}

/// The items of a benchmark that a collection contains.
pub struct Overlaps {
    /// Place of the document, item and longest run, bits of the share.
    hits: Partitions<(u64, u64, u64)>,
    /// The number of documents.
    pub documents: u64,
    /// The number of documents that contain an item.
    pub documents_hit: u64,
    /// The number of items that some document contains.
    pub items_hit: u64,
    /// True for each item that some document contains.
    is_hit: Vec<bool>,
    memory: u64,
}

/// The hits of some items of a benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartHits {
    /// The number of these items that some document contains.
    pub items_hit: u64,
    /// The number of documents that contain one of these items.
    pub documents_hit: u64,
}

/// The state of one thread.
struct OverlapThread<'a> {
    matcher: Result<Matcher<'a>>,
    hits: Writer<(u64, u64, u64)>,
    is_hit: Vec<bool>,
    documents: u64,
    documents_hit: u64,
}

/// Finds the items of a benchmark in every document.
///
/// # Errors
/// If the share is out of range, the documents cannot be read, or a temporary file cannot be
/// written.
pub fn overlap(
    documents: &impl Documents,
    benchmark: &Benchmark,
    share: f64,
    memory: u64,
) -> Result<Overlaps> {
    benchmark.matcher(share)?;
    let spill = Arc::new(Spill::default());
    // The documents decide how many threads there are, usually one for each processor.
    let each = memory / thread_count(0).max(16) as u64;
    let make = || OverlapThread {
        matcher: benchmark.matcher(share),
        hits: Writer::new(&spill, 1, each, Order::Sorted),
        is_hit: vec![false; benchmark.items()],
        documents: 0,
        documents_hit: 0,
    };
    let threads = documents.read(&make, &|thread, place, text| {
        let Ok(matcher) = &mut thread.matcher else { return Ok(()) };
        let found = matcher.hits(text);
        thread.documents += 1;
        thread.documents_hit += u64::from(!found.is_empty());
        for hit in found {
            thread.is_hit[hit.item as usize] = true;
            let packed = u64::from(hit.item) << 32 | u64::from(hit.run);
            thread.hits.push(0, (place, packed, hit.share.to_bits()))?;
        }
        Ok(())
    })?;
    let (mut count, mut documents_hit, mut writers) = (0, 0, Vec::new());
    let mut is_hit = vec![false; benchmark.items()];
    for thread in threads {
        count += thread.documents;
        documents_hit += thread.documents_hit;
        is_hit.iter_mut().zip(&thread.is_hit).for_each(|(all, one)| *all |= one);
        writers.push(thread.hits);
    }
    let items_hit = is_hit.iter().filter(|hit| **hit).count() as u64;
    let hits = Partitions::new(1, writers);
    Ok(Overlaps { hits, documents: count, documents_hit, items_hit, is_hit, memory })
}

impl Overlaps {
    /// Returns true if some document contains the item.
    pub fn is_item_hit(&self, item: u32) -> bool {
        self.is_hit.get(item as usize) == Some(&true)
    }

    /// Counts the hits of each part of the items, for example of each collection of a benchmark.
    /// The parts must be ascending and must not overlap.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub fn of_parts(&self, parts: &[Range<u32>]) -> Result<Vec<PartHits>> {
        let items_hit = |part: &Range<u32>| part.clone().filter(|&item| self.is_item_hit(item)).count();
        let hits = |part| PartHits { items_hit: items_hit(part) as u64, documents_hit: 0 };
        let mut counted: Vec<PartHits> = parts.iter().map(hits).collect();
        if let ([part], [only]) = (parts, counted.as_mut_slice())
            && part.len() == self.is_hit.len()
        {
            only.documents_hit = self.documents_hit;
            return Ok(counted);
        }
        let mut last = None;
        self.for_each(|place, hit| {
            let part = parts.partition_point(|part| part.end <= hit.item);
            let is_inside = parts.get(part).is_some_and(|range| range.contains(&hit.item));
            // The hits of a document are in the order of the items, so each part counts it once.
            if is_inside && last.replace((place, part)) != Some((place, part)) {
                counted[part].documents_hit += 1;
            }
            Ok(())
        })?;
        Ok(counted)
    }

    /// Passes the hits to `take` in the order of the documents and items: the place of the
    /// document, and the hit.
    ///
    /// # Errors
    /// The errors of `take`, and an error if a temporary file cannot be read.
    pub fn for_each(&self, mut take: impl FnMut(u64, ItemHit) -> Result<()>) -> Result<()> {
        self.hits.for_each_sorted(0, self.memory / 16, &mut Vec::new(), |(place, packed, share)| {
            let hit =
                ItemHit { item: (packed >> 32) as u32, run: packed as u32, share: f64::from_bits(share) };
            take(place, hit)
        })
    }
}
