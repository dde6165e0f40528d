//! Finds every passage that occurs in two places.
//!
//! # What is found
//!
//! A window is [`min_words`](PassageSettings::min_words) consecutive words of a document. It is
//! repeated if the same words occur in an earlier document; with
//! [`within`](PassageSettings::within) also earlier in its own. Every repeated window is in a
//! passage, and every passage is a maximal run: the words before and behind it differ from those
//! around its first occurrence. This is certain, because winnowing selects anchors so that all
//! occurrences of a window share one. With windows of `w` hashes of `k` words each, any shared run
//! of at least `w + k − 1` words has a common anchor ([`winnow`](crivo::similarity::winnow)), and
//! `min_words = w + k − 1`.
//!
//! Passages of one document are chosen from left to right: the first window that is not in a
//! passage yet is extended in both directions, along its first occurrence in the collection.
//!
//! # Cost
//!
//! The documents are read once for their words, and once more for the bytes of passages. Words take
//! five bytes each in a file, and anchors seventeen bytes for every twenty words at 50 words a
//! passage. All other records are sorted on disk too.
//!
//! # Word for word
//!
//! Matching compares words by 40 bits of their hash, so that one of 10¹² comparisons errs. The
//! second reading hashes every passage and its first occurrence again, with another seed and 64
//! bits a word. If one differs, the whole search is repeated with other hashes. So a wrong word
//! passes with a chance of 2⁻¹⁰⁴ ≈ 5 · 10⁻³². A shared run can be missed in only one way: two
//! different windows or contexts of one anchor have the same 64-bit hash. For an anchor with `n`
//! different ones, the probability is at most `n² / 2⁶⁵`, 3 · 10⁻⁸ for a million.
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

mod anchors;
mod bytes;
mod cut;
mod extend;
mod members;
mod seeds;
mod stages;
mod steps;
mod store;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;

use crivo::similarity::winnow::Winnow;

use self::bytes::{Located, document_partition, locate, of_document, unpacked};
pub use self::cut::{Cut, cut};
use self::extend::word_of;
use self::stages::{Counts, Stages};
pub use self::steps::{PassageSteps, SharedPassage, SharedWindow};
use self::store::{StoredDocument, document_at_place};
pub(crate) use self::words::WordCutter;
pub use self::words::count_words;
use crate::error::{Error, Result};
use crate::parallel::thread_count;
use crate::search::{Stage, Watch};
use crate::source::Documents;
use crate::work::{Work, WorkFolder};

/// The least memory of a run.
const LEAST_MEMORY: u64 = 16 << 20;

/// The number of attempts with different hashes. After that, the documents are assumed to have
/// changed between two readings.
const ATTEMPTS: u64 = 4;

/// The settings of a search for passages.
#[derive(Debug, Clone)]
pub struct PassageSettings {
    /// The number of words of the shortest passage, 8 to 50,000.
    pub min_words: usize,
    /// Also find passages that occur twice in one document.
    pub within: bool,
    /// The least number of occurrences of a window in the collection, at least 2.
    pub min_count: u32,
    /// The seed of every hash.
    pub seed: u64,
    /// The approximate number of bytes to use. 28 bytes for each document must fit beside the
    /// buffers.
    pub memory: u64,
    /// The number of threads. 0 means one for each processor.
    pub threads: usize,
    /// The folder that keeps finished stages for a run that was killed. Without it, stages are in
    /// files without a name.
    pub work: Option<WorkFolder>,
}

impl Default for PassageSettings {
    fn default() -> Self {
        Self {
            min_words: 50,
            within: false,
            min_count: 2,
            seed: 0,
            memory: 256 << 20,
            threads: 0,
            work: None,
        }
    }
}

impl PassageSettings {
    /// Returns the winnowing that selects anchors.
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

    /// Returns all settings that decide the result of a run, one on each line, for a work folder.
    fn identity(&self) -> String {
        let Self { min_words, within, min_count, seed, .. } = self;
        format!("passages 1\nmin words {min_words}\nwithin {within}\nmin count {min_count}\nseed {seed}\n")
    }

    /// Returns the seed of the hashes by which words are compared. For attempt 0 it is the seed of
    /// the settings.
    fn seed_of(&self, attempt: u64) -> u64 {
        self.seed.wrapping_add(attempt.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// Returns the seed of the hashes by which passages are checked. No attempt uses it to compare
    /// words.
    fn check_seed_of(&self, attempt: u64) -> u64 {
        !self.seed_of(attempt)
    }
}

/// A passage that occurred before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The place of the passage's document.
    pub place: u64,
    /// The passage's first byte in the text.
    pub start: u32,
    /// The byte after the passage.
    pub end: u32,
    /// The place of the document with its first occurrence.
    pub first_place: u64,
    /// The first byte of the first occurrence.
    pub first_start: u32,
    /// The byte after the first occurrence.
    pub first_end: u32,
    /// The number of words.
    pub words: u32,
}

impl Passage {
    /// Returns the byte range of the passage in its text.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the byte range of the first occurrence in its text.
    pub fn first_range(&self) -> Range<usize> {
        self.first_start as usize..self.first_end as usize
    }
}

/// Every passage of a collection.
pub struct Passages {
    stored: Vec<StoredDocument>,
    located: Located,
    counts: Counts,
    guaranteed: usize,
    /// The number of bytes beside the documents.
    memory: u64,
}

/// Finds all repeated passages in a collection of texts.
///
/// # Errors
/// If settings are out of range, documents cannot be read or change between two readings, a
/// temporary file cannot be written, or the work folder belongs to another run.
pub fn repeated_passages(
    documents: &impl Documents,
    settings: &PassageSettings,
    watch: &dyn Watch,
) -> Result<Passages> {
    let winnow = settings.winnow()?;
    let work = match &settings.work {
        Some(folder) => Some(Work::open(folder, &settings.identity())?),
        None => None,
    };
    let stages = Stages { settings, winnow, watch, work: work.as_ref() };
    let threads = thread_count(settings.threads);
    let mut attempt = 0;
    while attempt < ATTEMPTS {
        if let Some(extended) = stages.extended(documents, attempt, |attempt| settings.seed_of(attempt))? {
            let (stored, mut counts) = (extended.documents, extended.counts);
            attempt = counts.attempt;
            stages.begin(Stage::Gathering)?;
            let seed = settings.check_seed_of(attempt);
            let memory = stages.room(stored.len());
            let located = locate(documents, &stored, &extended.runs, seed, memory / 2, threads)?;
            if located.is_right(memory / 4)? {
                counts.spilled = counts.spilled.saturating_add(located.spilled);
                let guaranteed = winnow.guaranteed();
                return Ok(Passages { stored, located, counts, guaranteed, memory });
            }
        }
        stages.forget()?;
        attempt += 1;
    }
    Err(Error::Changed)
}

impl Passages {
    /// Returns the number of documents.
    pub fn documents(&self) -> u64 {
        self.counts.documents
    }

    /// Returns the number of bytes of all texts.
    pub fn bytes(&self) -> u64 {
        self.counts.bytes
    }

    /// Returns the number of passages.
    pub fn passages(&self) -> u64 {
        self.located.count
    }

    /// Returns the number of documents with a passage.
    pub fn documents_with_passages(&self) -> u64 {
        self.located.changed
    }

    /// Returns the number of bytes that are in a passage, each counted once.
    pub fn bytes_repeated(&self) -> u64 {
        self.located.repeated
    }

    /// Returns the length of the shortest run that is certain to be found: `w + k − 1` words.
    pub fn guaranteed_words(&self) -> usize {
        self.guaranteed
    }

    /// Returns the number of bytes that were written to temporary files.
    pub fn spilled(&self) -> u64 {
        self.counts.spilled
    }

    /// Passes the passages to `take`, in the order of the collection and of each text.
    ///
    /// # Errors
    /// The errors of `take`, and an error if a temporary file cannot be read.
    pub fn for_each(&self, mut take: impl FnMut(Passage) -> Result<()>) -> Result<()> {
        let place_of = |key: u64| {
            self.stored.get(word_of(key).0 as usize).map(|document| document.place).ok_or(Error::Changed)
        };
        self.located.for_each(self.memory / 4, |(key, words, bytes, _), (_, first, first_bytes, _)| {
            let (start, end) = unpacked(bytes);
            let (first_start, first_end) = unpacked(first_bytes);
            take(Passage {
                place: place_of(key)?,
                start,
                end,
                first_place: place_of(first)?,
                first_start,
                first_end,
                words: words as u32,
            })
        })
    }

    /// Returns a lookup of the passages of single documents.
    pub fn lookup(&self) -> PassageLookup<'_> {
        PassageLookup { passages: self, partition: usize::MAX, records: Vec::new(), ranges: Vec::new() }
    }
}

/// Looks up the passages of one document after the other. It is fast if the documents are near each
/// other in the collection.
pub struct PassageLookup<'a> {
    passages: &'a Passages,
    partition: usize,
    records: Vec<(u64, u64, u64, u64)>,
    ranges: Vec<Range<usize>>,
}

impl PassageLookup<'_> {
    /// Returns the byte ranges of the passages of the document at a place. They ascend, and
    /// overlapping ranges are merged.
    ///
    /// # Errors
    /// If a temporary file cannot be read.
    pub fn ranges(&mut self, place: u64) -> Result<&[Range<usize>]> {
        self.ranges.clear();
        let stored = &self.passages.stored;
        let Some(number) = document_at_place(stored, place) else { return Ok(&self.ranges) };
        let partition = document_partition(number, stored.len());
        if partition != self.partition {
            self.passages.located.passages.sorted(partition, &mut self.records)?;
            self.partition = partition;
        }
        for &(_, _, bytes, _) in of_document(&self.records, number) {
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
