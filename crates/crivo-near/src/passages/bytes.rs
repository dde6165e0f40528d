//! Finds the bytes of passages by a second reading of the documents that have a passage or a first
//! occurrence of one.
//!
//! Passages are numbered in the order of the collection. Thousands of passages often have the same
//! run of words as their first occurrence. So each run is looked up once, and joined with its
//! passages afterwards.
//!
//! # The check
//!
//! Up to this point words were compared by 40 bits of their hash. The second reading hashes them
//! again, with another seed and 64 bits each. A passage must have the same hash as its first
//! occurrence. A word that differs passes both comparisons with a chance of 2⁻¹⁰⁴. If a passage
//! fails, it is not enough to drop that passage: the same collision may have hidden another first
//! occurrence. So the whole search is repeated with other hashes.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::extend::{WordRun, word_key, word_of};
use super::store::{StoredDocument, document_at_place};
use super::words::WordCutter;
use crate::error::{Error, Result};
use crate::source::Documents;
use crate::spill::{Order, PARTITIONS, Partitions, Spill, Writer};

/// A run of words: the key of its first word and its number of words.
type Stretch = (u64, u64);

/// A run of words with its bytes and the hash of its words.
type FoundStretch = (u64, u64, u64, u64);

/// The first occurrence of a passage: the passage's number, the key of its first word, its bytes
/// and the hash of its words.
type FirstStretch = (u64, u64, u64, u64);

/// Packs the first byte and the end of a run into one number.
fn packed(start: usize, end: usize) -> u64 {
    (start as u64) << 32 | end as u64
}

/// Returns the first byte and the end of a run.
pub(crate) fn unpacked(bytes: u64) -> (u32, u32) {
    ((bytes >> 32) as u32, bytes as u32)
}

/// Returns the partition of a document's records.
pub(crate) fn document_partition(number: u32, documents: usize) -> usize {
    (u64::from(number) * PARTITIONS as u64 / documents.max(1) as u64) as usize
}

/// The result of the second reading.
pub(crate) struct Located {
    /// Every passage in the order of the collection, with its bytes.
    pub(crate) passages: Partitions<FoundStretch>,
    /// The first occurrence of each passage, by the passage's number.
    pub(crate) firsts: Partitions<FirstStretch>,
    pub(crate) count: u64,
    /// The number of bytes that are in a passage.
    pub(crate) repeated: u64,
    /// The number of documents with a passage.
    pub(crate) changed: u64,
    /// The number of bytes written to temporary files.
    pub(crate) spilled: u64,
}

/// The state of one thread, with the runs of its current partition.
struct LocatingThread {
    cutter: WordCutter,
    /// The hashes of the words of a document, eight bytes each.
    hashes: Vec<u8>,
    partition: usize,
    passages: Vec<WordRun>,
    firsts: Vec<Stretch>,
    found: Writer<FoundStretch>,
    found_firsts: Writer<FoundStretch>,
    repeated: u64,
    changed: u64,
}

/// Reads the documents again and finds the bytes of passages. `seed` is for the hashes of the
/// check.
pub(crate) fn locate(
    documents: &impl Documents,
    stored: &[StoredDocument],
    runs: &Partitions<WordRun>,
    seed: u64,
    memory: u64,
    threads: usize,
) -> Result<Located> {
    let count = stored.len();
    let (requests, unique) = first_stretches(runs, count, memory / 4)?;
    let [found, found_firsts] = [(); 2].map(|()| Arc::new(Spill::default()));
    let each = memory / 8 / threads.max(1) as u64;
    let make = || -> Result<LocatingThread> {
        Ok(LocatingThread {
            cutter: WordCutter::new(seed)?,
            hashes: Vec::new(),
            partition: usize::MAX,
            passages: Vec::new(),
            firsts: Vec::new(),
            found: Writer::new(&found, PARTITIONS, each, Order::Sorted),
            found_firsts: Writer::new(&found_firsts, PARTITIONS, each, Order::Sorted),
            repeated: 0,
            changed: 0,
        })
    };
    let states = documents.read(&make, &|state, place, text| {
        let Ok(thread) = state else { return Ok(()) };
        let Some(number) = document_at_place(stored, place) else { return Ok(()) };
        thread.document(number, text, count, runs, &unique)
    })?;
    let (mut repeated, mut changed) = (0, 0);
    let (mut passages, mut firsts) = (Vec::new(), Vec::new());
    for state in states {
        let state = state?;
        repeated += state.repeated;
        changed += state.changed;
        passages.push(state.found);
        firsts.push(state.found_firsts);
    }
    let passages = Partitions::new(PARTITIONS, passages);
    let total: u64 = (0..PARTITIONS).map(|partition| passages.len(partition)).sum();
    if total != (0..PARTITIONS).map(|partition| runs.len(partition)).sum::<u64>() {
        return Err(Error::Changed);
    }
    let found_firsts = Partitions::new(PARTITIONS, firsts);
    let firsts = join(&requests, &found_firsts, total, memory / 4)?;
    let spills = [requests.spill(), unique.spill(), passages.spill(), found_firsts.spill(), firsts.spill()];
    let spilled = spills.iter().map(|spill| spill.bytes()).sum();
    Ok(Located { passages, firsts, count: total, repeated, changed, spilled })
}

/// For each passage the place of its first occurrence, and the runs to look up.
type FirstStretches = (Partitions<WordRun>, Partitions<Stretch>);

/// Returns the first occurrences as one record for each passage, with the passage's number, and
/// each distinct run once.
fn first_stretches(runs: &Partitions<WordRun>, documents: usize, memory: u64) -> Result<FirstStretches> {
    let spill = Arc::new(Spill::default());
    let mut requests = Writer::new(&spill, PARTITIONS, memory, Order::Sorted);
    let (mut buffer, mut number) = (Vec::new(), 0);
    for partition in 0..runs.count() {
        runs.for_each_sorted(partition, memory, &mut buffer, |(_, first, length)| {
            let at = document_partition(word_of(first).0, documents);
            requests.push(at, (first, length, number))?;
            number += 1;
            Ok(())
        })?;
    }
    let requests = Partitions::new(PARTITIONS, vec![requests]);
    let mut unique = Writer::new(&Arc::new(Spill::default()), PARTITIONS, memory, Order::Sorted);
    let mut buffer = Vec::new();
    for partition in 0..PARTITIONS {
        let mut last = None;
        requests.for_each_sorted(partition, memory, &mut buffer, |(first, length, _)| {
            if last.replace((first, length)) == Some((first, length)) {
                return Ok(());
            }
            unique.push(partition, (first, length))
        })?;
    }
    Ok((requests, Partitions::new(PARTITIONS, vec![unique])))
}

impl LocatingThread {
    /// Looks up the runs of a document.
    fn document(
        &mut self,
        number: u32,
        text: &[u8],
        documents: usize,
        runs: &Partitions<WordRun>,
        firsts: &Partitions<Stretch>,
    ) -> Result<()> {
        let partition = document_partition(number, documents);
        if partition != self.partition {
            runs.sorted(partition, &mut self.passages)?;
            firsts.sorted(partition, &mut self.firsts)?;
            self.partition = partition;
        }
        let (passages, firsts) = (of_document(&self.passages, number), of_document(&self.firsts, number));
        if passages.is_empty() && firsts.is_empty() {
            return Ok(());
        }
        self.hashes.clear();
        let hashes = self.cutter.hashes(text);
        hashes.iter().for_each(|hash| self.hashes.extend_from_slice(&hash.to_le_bytes()));
        let (hashes, spans) = (&self.hashes, self.cutter.spans(text));
        // Returns the bytes and the hash of a run's words.
        let find = |key: u64, length: u64| -> Result<(usize, usize, u64)> {
            let first = word_of(key).1 as usize;
            let last = (first + length as usize).checked_sub(1).ok_or(Error::Changed)?;
            let (Some(&(start, _)), Some(&(_, end))) = (spans.get(first), spans.get(last)) else {
                return Err(Error::Changed);
            };
            let words = hashes.get(first * 8..(last + 1) * 8).ok_or(Error::Changed)?;
            Ok((start, end, xxh3_64(words)))
        };
        self.changed += u64::from(!passages.is_empty());
        let mut covered = 0;
        for &(key, _, length) in passages {
            let (start, end, hash) = find(key, length)?;
            self.repeated += end.saturating_sub(start.max(covered)) as u64;
            covered = covered.max(end);
            self.found.push(partition, (key, length, packed(start, end), hash))?;
        }
        for &(key, length) in firsts {
            let (start, end, hash) = find(key, length)?;
            self.found_firsts.push(partition, (key, length, packed(start, end), hash))?;
        }
        Ok(())
    }
}

/// A record whose partition is sorted by the key of a word.
pub(crate) trait WordRecord {
    fn key(&self) -> u64;
}

impl WordRecord for Stretch {
    fn key(&self) -> u64 {
        self.0
    }
}

impl WordRecord for WordRun {
    fn key(&self) -> u64 {
        self.0
    }
}

impl WordRecord for FoundStretch {
    fn key(&self) -> u64 {
        self.0
    }
}

/// Returns the records of a document among those of its partition.
pub(crate) fn of_document<R: WordRecord>(records: &[R], number: u32) -> &[R] {
    let from = records.partition_point(|record| record.key() < word_key(number, 0));
    let upto = records.partition_point(|record| record.key() >> 32 <= u64::from(number));
    &records[from..upto]
}

/// Returns the first occurrence of each passage, in the order of the passages.
fn join(
    requests: &Partitions<WordRun>,
    found: &Partitions<FoundStretch>,
    total: u64,
    memory: u64,
) -> Result<Partitions<FirstStretch>> {
    let mut joined = Writer::new(&Arc::new(Spill::default()), PARTITIONS, memory, Order::Sorted);
    let (mut buffer, mut stretches) = (Vec::new(), Vec::new());
    for partition in 0..PARTITIONS {
        found.sorted(partition, &mut stretches)?;
        let mut at = 0;
        requests.for_each_sorted(partition, memory, &mut buffer, |(first, length, number)| {
            while stretches.get(at).is_some_and(|stretch| (stretch.0, stretch.1) < (first, length)) {
                at += 1;
            }
            match stretches.get(at) {
                Some(&(key, words, bytes, hash)) if (key, words) == (first, length) => {
                    let to = (u128::from(number) * PARTITIONS as u128 / u128::from(total.max(1))) as usize;
                    joined.push(to, (number, first, bytes, hash))
                }
                _ => Err(Error::Changed),
            }
        })?;
    }
    Ok(Partitions::new(PARTITIONS, vec![joined]))
}

impl Located {
    /// Passes the passages with their first occurrences to `take`, in the order of the collection
    /// and of each text.
    pub(crate) fn for_each(
        &self,
        memory: u64,
        mut take: impl FnMut(FoundStretch, FirstStretch) -> Result<()>,
    ) -> Result<()> {
        let (mut passages, mut firsts) = (Vec::new(), Vec::new());
        let (mut first_partition, mut at) = (0, 0);
        for partition in 0..PARTITIONS {
            self.passages.for_each_sorted(partition, memory, &mut passages, |passage| {
                while at == firsts.len() && first_partition < PARTITIONS {
                    self.firsts.sorted(first_partition, &mut firsts)?;
                    first_partition += 1;
                    at = 0;
                }
                let &first = firsts.get(at).ok_or(Error::Changed)?;
                at += 1;
                take(passage, first)
            })?;
        }
        Ok(())
    }

    /// Returns true if every passage has the words of its first occurrence.
    pub(crate) fn is_right(&self, memory: u64) -> Result<bool> {
        let mut is_right = true;
        self.for_each(memory, |passage, first| {
            is_right &= passage.3 == first.3;
            Ok(())
        })?;
        Ok(is_right)
    }
}
