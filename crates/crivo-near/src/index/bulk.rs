//! Adds or queries many documents at once, in the order of the index's keys.
//!
//! One by one, each document costs a look-up for each band in each run. In bulk, keys are sorted
//! first. So a run is read once from its beginning to its end, or, for few keys, at ascending
//! places.
//!
//! **Queries.** A first reading writes the keys of each text to a temporary file (`spill`). They
//! are looked up in order, which gives the texts that have candidates. A second reading writes the
//! sets of those texts to blocks that fit in memory (`segments`). Each block is then compared with
//! the stored sets, which are read in the order of their numbers. All look-ups see one committed
//! state.

use std::collections::{BTreeSet, HashMap};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use crivo::similarity::jaccard::at_least;

use super::record::{Document, State, removed_numbers};
use super::signer::{Signer, fingerprint};
use super::writer::{Changes, NewDocument};
use super::{Index, Match, find_document, runs};
use crate::candidates::LARGEST_BUCKET;
use crate::error::{Error, Result};
use crate::parallel::thread_count;
use crate::segments::{BlockSets, SegmentWriter, Segments};
use crate::settings::Settings;
use crate::source::Documents;
use crate::spill::{Order, PARTITIONS, Partitions, Writer};

/// The bytes of signed documents from which a thread sends them to the writer.
const BYTES_SENT: usize = 1 << 20;

/// The bytes of signed documents from which a batch is added.
const BYTES_OF_A_BATCH: usize = 64 << 20;

/// The most blocks of candidates.
const MOST_BLOCKS: u64 = 4096;

// ---- adding ----

/// The state of one thread that signs documents.
struct SigningThread {
    signer: Option<Signer>,
    signed: Vec<NewDocument>,
    bytes: usize,
    batches: SyncSender<Vec<NewDocument>>,
}

impl SigningThread {
    /// Sends the signed documents. Sending fails only if the receiver was dropped because adding
    /// failed. Then the error of adding is the one that is returned.
    fn send(&mut self) -> Result<()> {
        self.bytes = 0;
        self.batches.send(std::mem::take(&mut self.signed)).map_err(|_| Error::Stopped)
    }
}

/// Adds a collection. See [`Index::add_all`].
pub(super) fn add_all(
    index: &mut Index,
    documents: &impl Documents,
    name: &(dyn Fn(u64) -> Result<Option<Vec<u8>>> + Sync),
) -> Result<Changes> {
    let settings = index.settings.clone();
    let mut writer = index.writer();
    let (batches, arriving) = sync_channel::<Vec<NewDocument>>(4);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let make =
                || SigningThread { signer: None, signed: Vec::new(), bytes: 0, batches: batches.clone() };
            let threads = documents.read(&make, &|thread: &mut SigningThread, place, text| {
                let Some(id) = name(place)? else { return Ok(()) };
                let document = NewDocument::sign(&id, text, signer_of(&mut thread.signer, &settings)?)?;
                thread.bytes += document.bytes();
                thread.signed.push(document);
                if thread.bytes >= BYTES_SENT { thread.send() } else { Ok(()) }
            })?;
            // The channel closes when the last sender is dropped.
            threads.into_iter().try_for_each(|mut thread| thread.send())
        });
        let (mut batch, mut bytes) = (Vec::new(), 0);
        let added = arriving.iter().try_for_each(|signed| {
            bytes += signed.iter().map(NewDocument::bytes).sum::<usize>();
            batch.extend(signed);
            if bytes < BYTES_OF_A_BATCH {
                return Ok(());
            }
            bytes = 0;
            writer.add_batch(&std::mem::take(&mut batch))
        });
        drop(arriving);
        let read = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
        added?;
        read?;
        writer.add_batch(&batch)?;
        writer.finish()
    })
}

// ---- asking ----

/// The answers of an index about a collection.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// The number of texts in the query.
    pub asked: u64,
    /// The places of the texts that are similar to a document of the index, ascending. The matches
    /// of a text begin with the most similar document.
    pub found: Vec<(u64, Vec<Match>)>,
}

/// A query for every text of a collection.
pub(super) struct BulkQuery<'a> {
    pub(super) index: &'a Index,
    pub(super) threshold: f64,
    pub(super) memory: u64,
    /// Keeps only the best match of each text.
    pub(super) best_only: bool,
}

/// The keys of all texts, sorted, each with the place of its text.
struct AskedKeys {
    keys: Partitions<(u64, u64)>,
    asked: u64,
    /// The number of words of all sets.
    words: u64,
    last_place: u64,
}

/// The texts that may be similar to a document of the index.
struct Candidates {
    /// The places of the texts, ascending. A candidate is named by its position here.
    places: Vec<u64>,
    /// Pairs of a document of the index and a candidate that share a key, in one partition for each
    /// block. The document's number is in the high 32 bits, the candidate's number in the low ones.
    pairs: Partitions<u64>,
}

impl Candidates {
    /// Returns the block of a candidate.
    fn block(&self, candidate: usize) -> usize {
        block_of(candidate, self.places.len(), self.pairs.count())
    }
}

fn block_of(candidate: usize, candidates: usize, blocks: usize) -> usize {
    (candidate as u64 * blocks as u64 / candidates.max(1) as u64) as usize
}

/// Returns the signer of a thread, which is made at its first use.
fn signer_of<'s>(signer: &'s mut Option<Signer>, settings: &Settings) -> Result<&'s mut Signer> {
    match signer {
        Some(signer) => Ok(signer),
        none => Ok(none.insert(Signer::new(settings)?)),
    }
}

impl BulkQuery<'_> {
    pub(super) fn run(
        &self,
        documents: &impl Documents,
        wanted: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Answers> {
        if !(self.threshold > 0.0 && self.threshold <= 1.0) {
            return Err(Error::setting("threshold", "above 0 and at most 1", self.threshold));
        }
        let asked = self.read_keys(documents, wanted)?;
        let _moment = self.index.file.read_transaction()?;
        let state = State::read(&self.index.file)?;
        let candidates = self.look_up(&state, &asked)?;
        drop(asked.keys);
        if candidates.places.is_empty() {
            return Ok(Answers { asked: asked.asked, found: Vec::new() });
        }
        let sets = self.gather(documents, &candidates)?;
        let mut found = Vec::new();
        let mut removed = None;
        for block in 0..candidates.pairs.count() {
            self.compare(&candidates, &sets, block, &mut removed, &mut found)?;
        }
        Ok(Answers { asked: asked.asked, found })
    }

    fn memory_each(&self) -> u64 {
        self.memory / 4 / thread_count(0) as u64
    }

    /// Makes the first reading, which collects the keys of all wanted texts.
    fn read_keys(
        &self,
        documents: &impl Documents,
        wanted: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<AskedKeys> {
        let (spill, each, settings) = (Arc::default(), self.memory_each(), &self.index.settings);
        let [asked, words, last] = [const { AtomicU64::new(0) }; 3];
        let make = || (None, Writer::new(&spill, PARTITIONS, each, Order::Any));
        let threads =
            documents.read(&make, &|(signer, keys): &mut (Option<Signer>, Writer<_>), place, text| {
                if !wanted(place) {
                    return Ok(());
                }
                let (set, found) = signer_of(signer, settings)?.read(text, fingerprint(text))?;
                asked.fetch_add(1, Ordering::Relaxed);
                words.fetch_add(set.len() as u64, Ordering::Relaxed);
                last.fetch_max(place, Ordering::Relaxed);
                found.iter().try_for_each(|&key| keys.push((key >> 56) as usize, (key, place)))
            })?;
        let writers = threads.into_iter().map(|(_, keys)| keys).collect();
        Ok(AskedKeys {
            keys: Partitions::new(PARTITIONS, writers),
            asked: asked.into_inner(),
            words: words.into_inner(),
            last_place: last.into_inner(),
        })
    }

    /// Finds the documents that share a key with a text.
    fn look_up(&self, state: &State, asked: &AskedKeys) -> Result<Candidates> {
        let most = if self.best_only { LARGEST_BUCKET } else { usize::MAX };
        let removed = removed_numbers(&self.index.file)?;
        let mut pairs = Writer::new(&Arc::default(), PARTITIONS, self.memory / 4, Order::Once);
        let places = u128::from(asked.last_place) + 1;
        let partition_of = |place: u64| (u128::from(place) * PARTITIONS as u128 / places) as usize;
        let (mut records, mut keys, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        for partition in 0..asked.keys.count() {
            asked.keys.sorted(partition, &mut records)?;
            keys.clear();
            starts.clear();
            for (&(key, _), at) in records.iter().zip(0_usize..) {
                if keys.last() != Some(&key) {
                    keys.push(key);
                    starts.push(at);
                }
            }
            starts.push(records.len());
            let mut put = |at: usize, numbers: &mut dyn Iterator<Item = u32>| {
                // Removed documents do not use up the limit.
                let live = numbers.filter(|number| removed.is_empty() || !removed.contains(number));
                live.take(most).try_for_each(|number| {
                    records[starts[at]..starts[at + 1]].iter().try_for_each(|&(_, place)| {
                        pairs.push(partition_of(place), (place, u64::from(number)))
                    })
                })
            };
            state.look_up_all(&self.index.file, &keys, &mut put)?;
        }
        self.number_candidates(&Partitions::new(PARTITIONS, vec![pairs]), asked.words)
    }

    /// Numbers the candidates in their order, and writes their pairs to blocks. `words` is the
    /// number of words of all sets.
    fn number_candidates(&self, pairs: &Partitions<(u64, u64)>, words: u64) -> Result<Candidates> {
        let (memory, mut buffer, mut places) = (self.memory / 8, Vec::new(), Vec::<u64>::new());
        for partition in 0..pairs.count() {
            pairs.for_each_sorted(partition, memory, &mut buffer, |(place, _)| {
                if places.last() != Some(&place) {
                    places.push(place);
                }
                Ok(())
            })?;
        }
        // A candidate's number has 32 bits.
        u32::try_from(places.len()).map_err(|_| Error::TooMany)?;
        let blocks = (words.saturating_mul(8) / (self.memory / 4).max(1) + 1).min(MOST_BLOCKS) as usize;
        let mut numbered = Writer::new(&Arc::default(), blocks, self.memory / 8, Order::Once);
        let mut candidate = 0;
        for partition in 0..pairs.count() {
            pairs.for_each_sorted(partition, memory, &mut buffer, |(place, number)| {
                if places[candidate] != place {
                    candidate += 1;
                }
                numbered.push(block_of(candidate, places.len(), blocks), number << 32 | candidate as u64)
            })?;
        }
        Ok(Candidates { places, pairs: Partitions::new(blocks, vec![numbered]) })
    }

    /// Makes the second reading, which collects the fingerprint and the set of each candidate.
    fn gather(&self, documents: &impl Documents, candidates: &Candidates) -> Result<Segments> {
        let (spill, each, settings) = (Arc::default(), self.memory_each(), &self.index.settings);
        let blocks = candidates.pairs.count();
        let make = || (None, SegmentWriter::new(&spill, blocks, each), Vec::new());
        let take =
            |(signer, sets, words): &mut (Option<Signer>, SegmentWriter, Vec<u64>), place, text: &[u8]| {
                let Ok(candidate) = candidates.places.binary_search(&place) else { return Ok(()) };
                let fingerprint = fingerprint(text);
                words.clear();
                words.extend([(fingerprint >> 64) as u64, fingerprint as u64]);
                words.extend_from_slice(signer_of(signer, settings)?.set(text));
                sets.push(candidates.block(candidate), candidate as u32, words)
            };
        let threads = documents.read(&make, &take)?;
        Ok(Segments::new(blocks, threads.into_iter().map(|(_, sets, _)| sets).collect()))
    }

    /// Compares the candidates of a block with the documents that share a key with them.
    fn compare(
        &self,
        candidates: &Candidates,
        sets: &Segments,
        block: usize,
        removed: &mut Option<BTreeSet<u32>>,
        found: &mut Vec<(u64, Vec<Match>)>,
    ) -> Result<()> {
        let own = BlockSets::load(sets, block)?;
        let mut matches: HashMap<u32, Vec<Match>> = HashMap::new();
        let mut stored: Option<(u32, Option<Document>)> = None;
        let mut last = None;
        candidates.pairs.for_each_sorted(block, self.memory / 8, &mut Vec::new(), |pair| {
            // A pair may repeat, because the two may share several keys.
            if last.replace(pair) == Some(pair) {
                return Ok(());
            }
            let (number, candidate) = ((pair >> 32) as u32, pair as u32);
            let document = match &mut stored {
                Some((last, document)) if *last == number => document,
                other => &mut other.insert((number, find_document(&self.index.file, number, removed)?)).1,
            };
            let Some(document) = document else { return Ok(()) };
            if let Some(similarity) = self.similarity(own.of(candidate)?, document) {
                let matched = Match { id: document.id.clone(), similarity };
                let list = matches.entry(candidate).or_default();
                match list.first_mut() {
                    Some(best) if self.best_only => {
                        if matched.is_before(best) {
                            *best = matched;
                        }
                    }
                    _ => list.push(matched),
                }
            }
            Ok(())
        })?;
        let mut matches: Vec<(u32, Vec<Match>)> = matches.into_iter().collect();
        matches.sort_unstable_by_key(|(candidate, _)| *candidate);
        found.extend(matches.into_iter().map(|(candidate, mut list)| {
            list.sort_unstable_by(Match::order);
            (candidates.places[candidate as usize], list)
        }));
        Ok(())
    }

    /// Returns the similarity of a candidate and a document, if it is at least the threshold. The
    /// first two words are the candidate's fingerprint, the others its set.
    fn similarity(&self, words: &[u64], document: &Document) -> Option<f64> {
        let (&[high, low], set) = words.split_first_chunk()?;
        let fingerprint = u128::from(high) << 64 | u128::from(low);
        document.similarity(set, fingerprint, self.threshold)
    }
}

impl Document {
    /// Returns the similarity to a text with this set and fingerprint, if it is at least the
    /// threshold. A document without a shingle is similar only to the same text.
    pub(super) fn similarity(&self, set: &[u64], fingerprint: u128, threshold: f64) -> Option<f64> {
        if self.set.is_empty() {
            return (self.fingerprint == fingerprint).then_some(1.0);
        }
        at_least(set, &self.set, threshold)
    }
}

impl State {
    /// Looks up ascending keys. `take` gets the position of a key and the numbers of documents that
    /// have it.
    fn look_up_all(
        &self,
        file: &super::file::File,
        keys: &[u64],
        take: &mut impl FnMut(usize, &mut dyn Iterator<Item = u32>) -> Result<()>,
    ) -> Result<()> {
        if self.old_buckets == 0 {
            return runs::look_up_all(file, &self.runs, keys, take);
        }
        for (&key, at) in keys.iter().zip(0..) {
            let mut numbers = Vec::new();
            self.look_up(file, key, |number| numbers.push(number))?;
            take(at, &mut numbers.into_iter())?;
        }
        Ok(())
    }
}
