//! Every passage that stands in two places.
//!
//! # What is found
//!
//! A window is [`min_words`](PassageSettings::min_words) consecutive words of a document. It is repeated if the same words stand in an
//! earlier document; with [`within`](PassageSettings::within) also earlier in its own. Every repeated window is in a passage, and every
//! passage is a maximal run: the words before and behind it differ from those around its first occurrence.
//! There is no chance in it. Winnowing selects anchors so that all occurrences of a window share one: with
//! windows of `w` hashes of `k` words each, any shared run of at least `w + k − 1` words has a common anchor
//! ([`winnow`](crivo::similarity::winnow)), and `min_words = w + k − 1`.
//!
//! Passages of one document are chosen from left to right: the first window that is not in a passage yet is extended in both
//! directions, along its first occurrence in the collection.
//!
//! # Cost
//!
//! The documents are read once for their words, and once more for the bytes of passages. Words go to a file, five bytes
//! each, and anchors, sixteen bytes for every twenty words at 50 words a passage. Everything else is sorted on disk too. Words
//! are compared by 40 bits of their hash: a passage ends a word too late with a chance of 10⁻¹².
//!
//! ```
//! use crivo_near::{PassageSettings, Texts, repeated_passages};
//!
//! let licence = "permission is hereby granted free of charge to any person obtaining a copy";
//! let texts = [format!("One. {licence}."), format!("Something else: {licence}, etc.")];
//! let settings = PassageSettings { min_words: 10, ..PassageSettings::default() };
//! let found = repeated_passages(&Texts::new(&texts, 1), &settings, &())?;
//! found.for_each(|passage| {
//!     assert_eq!(&texts[1][passage.range()], licence);
//!     assert_eq!(&texts[0][passage.first_range()], licence);
//!     Ok(())
//! })?;
//! assert_eq!(found.passages(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bytes;
mod cut;
mod extend;
mod seeds;
mod store;
mod words;

use std::ops::Range;
use std::sync::Arc;

use crivo::similarity::winnow::Winnow;

use self::bytes::{Located, document_partition, locate, of_document, unpacked};
pub use self::cut::{Cut, cut};
use self::extend::{Extender, WordRun, word_of};
use self::seeds::{Seed, SeedFinder};
use self::store::{Store, StoreWriter};
pub(crate) use self::words::WordCutter;
pub use self::words::count_words;
use crate::error::{Error, Result};
use crate::parallel::{deal, thread_count};
use crate::search::{Stage, Watch};
use crate::source::Documents;
use crate::spill::{Order, PARTITIONS, Partitions, Spill, Writer};

/// The least memory a run can be given.
const LEAST_MEMORY: u64 = 16 << 20;

/// The bytes that are kept in memory of each document with words enough for a passage.
const BYTES_A_DOCUMENT: u64 = 28;

/// How passages are looked for.
#[derive(Debug, Clone)]
pub struct PassageSettings {
    /// The words of the shortest passage; 8 to 50,000.
    pub min_words: usize,
    /// Also find what stands twice in one document.
    pub within: bool,
    /// How often a window has to stand in the collection; at least 2.
    pub min_count: u32,
    /// Of every hash.
    pub seed: u64,
    /// About how many bytes to use. 28 bytes a document have to fit beside the buffers.
    pub memory: u64,
    /// On how many threads; 0 means as many as there are processors.
    pub threads: usize,
}

impl Default for PassageSettings {
    fn default() -> Self {
        Self { min_words: 50, within: false, min_count: 2, seed: 0, memory: 256 << 20, threads: 0 }
    }
}

impl PassageSettings {
    /// Returns the winnowing by which anchors are selected.
    ///
    /// # Errors
    /// If a setting is out of its range.
    pub fn winnow(&self) -> Result<Winnow> {
        if self.min_count < 2 {
            return Err(Error::setting("min-count", "at least 2", self.min_count));
        }
        if self.memory < LEAST_MEMORY {
            return Err(Error::setting("memory", "at least 16 MiB", format_args!("{} bytes", self.memory)));
        }
        Ok(Winnow::for_run(self.min_words)?)
    }
}

/// A passage that stood before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The place of its document.
    pub place: u64,
    /// Its first byte in the text.
    pub start: u32,
    /// The byte behind its last.
    pub end: u32,
    /// The place of the document with its first occurrence.
    pub first_place: u64,
    /// The first byte of the first occurrence.
    pub first_start: u32,
    /// The byte behind its last.
    pub first_end: u32,
    /// The number of its words.
    pub words: u32,
}

impl Passage {
    /// Its bytes in the text.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The bytes of its first occurrence.
    pub fn first_range(&self) -> Range<usize> {
        self.first_start as usize..self.first_end as usize
    }
}

/// Every passage of a collection.
pub struct Passages {
    store: Store,
    located: Located,
    documents: u64,
    bytes: u64,
    guaranteed: usize,
    spilled: u64,
    memory: u64,
}

/// Finds what is repeated in a collection of texts.
///
/// # Errors
/// Settings out of range, documents that cannot be read or change between two readings, a temporary file that cannot be
/// written.
pub fn repeated_passages(
    documents: &impl Documents,
    settings: &PassageSettings,
    watch: &dyn Watch,
) -> Result<Passages> {
    let winnow = settings.winnow()?;
    let threads = thread_count(settings.threads);
    let each = settings.memory / threads as u64;
    let begin = |stage| {
        watch.begin(stage);
        if watch.stopped() { Err(Error::Stopped) } else { Ok(()) }
    };
    begin(Stage::Signing)?;
    let (words, anchors) = (Arc::new(Spill::default()), Arc::new(Spill::default()));
    let states = documents.read(
        &|| StoreWriter::new(&words, &anchors, winnow, settings.seed, each / 2),
        &|state, place, text| match state {
            Ok(writer) => writer.take(place, text),
            Err(_) => Ok(()),
        },
    )?;
    let (mut count, mut bytes, mut stored, mut writers) = (0, 0, Vec::new(), Vec::new());
    for state in states {
        let writer = state?;
        count += writer.count;
        bytes += writer.bytes;
        let (mut found, anchors) = writer.finish()?;
        stored.append(&mut found);
        writers.push(anchors);
    }
    check_memory(stored.len() as u64, settings.memory)?;
    let store = Store::new(words, stored)?;
    let anchors = Partitions::new(PARTITIONS, writers);
    begin(Stage::Pairing)?;
    let seeds = find_seeds(&store, &anchors, winnow, settings, watch)?;
    let mut spilled = store.bytes() + anchors.spill().bytes() + seeds.spill().bytes();
    drop(anchors);
    let runs = extend_seeds(&store, &seeds, settings)?;
    spilled += runs.spill().bytes();
    drop(seeds);
    begin(Stage::Gathering)?;
    let located = locate(documents, &store, &runs, settings.seed, settings.memory / 2, threads)?;
    spilled += located.passages.spill().bytes() + located.firsts.spill().bytes();
    Ok(Passages {
        store,
        located,
        documents: count,
        bytes,
        guaranteed: winnow.guaranteed(),
        spilled,
        memory: settings.memory,
    })
}

/// Refuses more documents than there is memory for: they may take three quarters of it.
fn check_memory(documents: u64, memory: u64) -> Result<()> {
    let needed = documents.saturating_mul(BYTES_A_DOCUMENT);
    if needed <= memory / 4 * 3 {
        return Ok(());
    }
    Err(Error::Memory { members: documents, given: memory, least: needed.div_ceil(3).saturating_mul(4) })
}

/// Which windows stood before, and where first.
fn find_seeds(
    store: &Store,
    anchors: &Partitions<(u64, u64)>,
    winnow: Winnow,
    settings: &PassageSettings,
    watch: &dyn Watch,
) -> Result<Partitions<Seed>> {
    let threads = thread_count(settings.threads);
    let each = settings.memory / threads as u64;
    let spill = Arc::new(Spill::default());
    let (min_count, within) = (settings.min_count, settings.within);
    let make = || {
        let finder = SeedFinder::new(store, winnow, within, min_count, each / 4);
        (finder, Writer::new(&spill, PARTITIONS, each / 8, Order::Sorted), Vec::new(), Vec::new())
    };
    // All seeds of a document go into one partition.
    let addresses = store.addresses().max(1);
    let partition_of = |address: u64| {
        let document = store.documents()[store.document_at(address) as usize];
        (u128::from(document.start) * PARTITIONS as u128 / u128::from(addresses)) as usize
    };
    let states = deal(threads, anchors.count(), make, |(finder, seeds, group, buffer), partition| {
        if watch.stopped() {
            return Err(Error::Stopped);
        }
        group.clear();
        let mut last = 0;
        anchors.for_each_sorted(partition, each / 4, buffer, |(hash, address)| {
            if hash != last {
                finder.group(group, |seed| seeds.push(partition_of(seed.0), seed))?;
                group.clear();
                last = hash;
            }
            group.push(address);
            Ok(())
        })?;
        finder.group(group, |seed| seeds.push(partition_of(seed.0), seed))
    })?;
    Ok(Partitions::new(PARTITIONS, states.into_iter().map(|(_, seeds, ..)| seeds).collect()))
}

/// Extends seeds to passages.
fn extend_seeds(
    store: &Store,
    seeds: &Partitions<Seed>,
    settings: &PassageSettings,
) -> Result<Partitions<WordRun>> {
    let threads = thread_count(settings.threads);
    let each = settings.memory / threads as u64;
    let spill = Arc::new(Spill::default());
    let count = store.documents().len();
    let make = || {
        let extender = Extender::new(store, settings.min_words);
        (extender, Writer::new(&spill, PARTITIONS, each / 4, Order::Sorted), Vec::new(), Vec::new())
    };
    let states = deal(threads, seeds.count(), make, |(extender, runs, own, buffer), partition| {
        own.clear();
        let mut current: Option<(u32, u64)> = None;
        let mut finish = |current: Option<(u32, u64)>, own: &[Seed]| match current {
            Some((number, _)) => {
                extender.document(number, own, |run| runs.push(document_partition(number, count), run))
            }
            None => Ok(()),
        };
        seeds.for_each_sorted(partition, each / 4, buffer, |seed| {
            if current.is_none_or(|(_, end)| seed.0 >= end) {
                finish(current, own)?;
                own.clear();
                let number = store.document_at(seed.0);
                current = Some((number, store.documents()[number as usize].end()));
            }
            own.push(seed);
            Ok(())
        })?;
        finish(current, own)
    })?;
    Ok(Partitions::new(PARTITIONS, states.into_iter().map(|(_, runs, ..)| runs).collect()))
}

impl Passages {
    /// The number of documents.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The bytes of all texts.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of passages.
    pub fn passages(&self) -> u64 {
        self.located.count
    }

    /// The number of documents with a passage.
    pub fn documents_with_passages(&self) -> u64 {
        self.located.changed
    }

    /// The bytes that are in a passage, each counted once.
    pub fn bytes_repeated(&self) -> u64 {
        self.located.repeated
    }

    /// The shortest run that is sure to be found: `w + k − 1` words.
    pub fn guaranteed_words(&self) -> usize {
        self.guaranteed
    }

    /// The bytes that were written to temporary files.
    pub fn spilled(&self) -> u64 {
        self.spilled
    }

    /// Goes through the passages, in the order of the collection and of each text.
    ///
    /// # Errors
    /// What `take` returns, or a temporary file that cannot be read.
    pub fn for_each(&self, mut take: impl FnMut(Passage) -> Result<()>) -> Result<()> {
        let documents = self.store.documents();
        let (mut passages, mut firsts) = (Vec::new(), Vec::new());
        let (mut first_partition, mut at) = (0, 0);
        for partition in 0..PARTITIONS {
            let memory = self.memory / 4;
            self.located.passages.for_each_sorted(
                partition,
                memory,
                &mut passages,
                |(key, words, bytes)| {
                    while at == firsts.len() && first_partition < PARTITIONS {
                        self.located.firsts.sorted(first_partition, &mut firsts)?;
                        first_partition += 1;
                        at = 0;
                    }
                    let &(_, first, first_bytes) = firsts.get(at).ok_or(Error::Changed)?;
                    at += 1;
                    let (start, end) = unpacked(bytes);
                    let (first_start, first_end) = unpacked(first_bytes);
                    take(Passage {
                        place: documents[word_of(key).0 as usize].place,
                        start,
                        end,
                        first_place: documents[word_of(first).0 as usize].place,
                        first_start,
                        first_end,
                        words: words as u32,
                    })
                },
            )?;
        }
        Ok(())
    }

    /// Looks up the passages of one document after the other.
    pub fn lookup(&self) -> PassageLookup<'_> {
        PassageLookup { passages: self, partition: usize::MAX, records: Vec::new(), ranges: Vec::new() }
    }
}

/// Finds the passages of a document. Documents that are near each other in the collection are found quickly.
pub struct PassageLookup<'a> {
    passages: &'a Passages,
    partition: usize,
    records: Vec<(u64, u64, u64)>,
    ranges: Vec<Range<usize>>,
}

impl PassageLookup<'_> {
    /// The bytes of the passages of the document at a place: ascending, those that overlap merged.
    ///
    /// # Errors
    /// A temporary file that cannot be read.
    pub fn ranges(&mut self, place: u64) -> Result<&[Range<usize>]> {
        self.ranges.clear();
        let store = &self.passages.store;
        let Some(number) = store.document_at_place(place) else { return Ok(&self.ranges) };
        let partition = document_partition(number, store.documents().len());
        if partition != self.partition {
            self.passages.located.passages.sorted(partition, &mut self.records)?;
            self.partition = partition;
        }
        for &(.., bytes) in of_document(&self.records, number) {
            let (start, end) = unpacked(bytes);
            let (start, end) = (start as usize, end as usize);
            match self.ranges.last_mut() {
                Some(last) if start <= last.end => last.end = last.end.max(end),
                _ => self.ranges.push(start..end),
            }
        }
        Ok(&self.ranges)
    }
}
