//! The stages of a search for passages, and how they are kept in a work folder.
//!
//! `stored` has the words and anchors of all documents, `extended` the passages in words. Both
//! include the documents, so that the files of the previous stage can be removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crivo::similarity::winnow::Winnow;

use super::PassageSettings;
use super::anchors::{ADDRESS_BITS, AnchorRecord};
use super::bytes::document_partition;
use super::extend::{Extender, WordRun};
use super::seeds::{Seed, SeedFinder};
use super::store::{Store, StoreWriter, StoredDocument};
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::parallel::{deal, thread_count};
use crate::search::{Stage, Watch};
use crate::source::Documents;
use crate::spill::{Order, PARTITIONS, Partitions, Spill, Writer};
use crate::stages::load_partitions;
use crate::work::{StageReader, StageWriter, Work};

/// The bytes in memory for each document that has enough words for a passage.
const BYTES_A_DOCUMENT: u64 = 28;

/// The number of documents that are moved at once from the list of a thread.
const DOCUMENTS_AT_ONCE: usize = 64 << 10;

/// The data that all stages share.
pub(crate) struct Stages<'a> {
    pub(crate) settings: &'a PassageSettings,
    pub(crate) winnow: Winnow,
    pub(crate) watch: &'a dyn Watch,
    pub(crate) work: Option<&'a Work>,
}

/// Counts of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counts {
    pub(crate) documents: u64,
    pub(crate) bytes: u64,
    /// The number of bytes in temporary files.
    pub(crate) spilled: u64,
    /// The number of times that the search was repeated with other hashes.
    pub(crate) attempt: u64,
}

/// The result of the first reading.
struct Stored {
    store: Store,
    anchors: Partitions<AnchorRecord>,
    counts: Counts,
}

/// The passages in words, before their bytes are known.
pub(crate) struct Extended {
    pub(crate) documents: Vec<StoredDocument>,
    pub(crate) runs: Partitions<WordRun>,
    pub(crate) counts: Counts,
}

impl Stages<'_> {
    /// Reports the start of a stage to the watcher. Returns an error if the watcher requests a
    /// stop.
    pub(crate) fn begin(&self, stage: Stage) -> Result<()> {
        self.watch.begin(stage);
        if self.watch.stopped() { Err(Error::Stopped) } else { Ok(()) }
    }

    fn spill(&self, name: &str) -> Arc<Spill> {
        self.work.map_or_else(Arc::default, |work| work.spill(name))
    }

    fn budget(&self) -> Budget {
        Budget::new(self.settings.memory, thread_count(self.settings.threads))
    }

    /// Returns the bytes that this number of documents leaves, at least a quarter of the memory.
    pub(crate) fn room(&self, documents: usize) -> u64 {
        self.budget().room(0, documents as u64 * BYTES_A_DOCUMENT)
    }

    /// Finds the passages in words. Returns `None` if two hashes collided. `attempt` is ignored if
    /// the work folder has a stage already.
    pub(crate) fn extended(
        &self,
        documents: &impl Documents,
        attempt: u64,
        seed: impl Fn(u64) -> u64,
    ) -> Result<Option<Extended>> {
        if let Some(extended) = self.work.map(Extended::load).transpose()?.flatten() {
            return Ok(Some(extended));
        }
        let stored = match self.work.map(Stored::load).transpose()?.flatten() {
            Some(stored) => stored,
            None => self.store(documents, attempt, seed(attempt))?,
        };
        self.begin(Stage::Pairing)?;
        let seeds = self.find_seeds(&stored)?;
        let Stored { store, anchors, mut counts } = stored;
        counts.spilled += store.words().bytes() + anchors.spill().bytes() + seeds.spill().bytes();
        drop(anchors);
        let Some(runs) = self.extend_seeds(&store, &seeds)? else { return Ok(None) };
        counts.spilled += runs.spill().bytes();
        let mut extended = Extended { documents: store.into_documents(), runs, counts };
        self.work.map_or(Ok(()), |work| extended.save(work))?;
        Ok(Some(extended))
    }

    /// Reads the documents and stores their words and anchors.
    fn store(&self, documents: &impl Documents, attempt: u64, seed: u64) -> Result<Stored> {
        self.begin(Stage::Signing)?;
        let (words, anchors) = (self.spill("words.spill"), self.spill("anchors.spill"));
        let each = self.budget().each(self.settings.memory);
        let states = documents.read(
            &|| StoreWriter::new(&words, &anchors, self.winnow, seed, each / 2),
            &|state, place, text| match state {
                Ok(writer) => writer.take(place, text),
                Err(_) => Ok(()),
            },
        )?;
        let mut counts = Counts { documents: 0, bytes: 0, spilled: 0, attempt };
        let (mut lists, mut writers) = (Vec::new(), Vec::new());
        for state in states {
            let writer = state?;
            counts.documents += writer.count;
            counts.bytes += writer.bytes;
            let (found, anchors) = writer.finish()?;
            lists.push(found);
            writers.push(anchors);
        }
        let count: usize = lists.iter().map(Vec::len).sum();
        check_memory(count as u64, self.settings.memory)?;
        // Anchors stay in memory only if all of them fit there beside few documents.
        if self.room(count) < self.settings.memory / 4 * 3 || anchors.bytes() > 0 {
            writers.iter_mut().try_for_each(Writer::flush)?;
        }
        let store = Store::new(words, joined(lists))?;
        if store.addresses() >> ADDRESS_BITS > 0 {
            let allowed = format_args!("at most {} words", 1_u64 << ADDRESS_BITS).to_string();
            return Err(Error::setting("collection", allowed, format_args!("{} words", store.addresses())));
        }
        let mut stored = Stored { store, anchors: Partitions::new(PARTITIONS, writers), counts };
        self.work.map_or(Ok(()), |work| stored.save(work))?;
        Ok(stored)
    }

    /// Finds the repeated windows and their first occurrences.
    fn find_seeds(&self, stored: &Stored) -> Result<Partitions<Seed>> {
        let Stored { store, anchors, .. } = stored;
        let anchors_held = if anchors.spill().bytes() == 0 { self.settings.memory / 2 } else { 0 };
        let room = self.room(store.documents().len()).saturating_sub(anchors_held);
        let each = self.budget().each(room);
        let spill = Arc::new(Spill::default());
        let PassageSettings { min_count, within, threads, .. } = *self.settings;
        let make = || {
            let finder = SeedFinder::new(store, self.winnow, within, min_count, each / 2);
            (finder, Writer::new(&spill, PARTITIONS, each / 8, Order::Sorted), Vec::new())
        };
        // All seeds of a document go into one partition.
        let addresses = u128::from(store.addresses().max(1));
        let partition_of = |document: u32| {
            let start = u128::from(store.documents()[document as usize].start);
            (start * PARTITIONS as u128 / addresses) as usize
        };
        let states =
            deal(thread_count(threads), anchors.count(), make, |(finder, seeds, buffer), partition| {
                if self.watch.stopped() {
                    return Err(Error::Stopped);
                }
                let mut put = |document, seed| seeds.push(partition_of(document), seed);
                anchors
                    .for_each_sorted(partition, each / 4, buffer, |anchor| finder.add(anchor, &mut put))?;
                finder.finish(&mut put)
            })?;
        Ok(Partitions::new(PARTITIONS, states.into_iter().map(|(_, seeds, _)| seeds).collect()))
    }

    /// Extends seeds to passages. Returns `None` if the windows of a seed differ.
    fn extend_seeds(&self, store: &Store, seeds: &Partitions<Seed>) -> Result<Option<Partitions<WordRun>>> {
        let count = store.documents().len();
        let each = self.budget().each(self.room(count));
        let spill = self.spill("runs.spill");
        let is_right = AtomicBool::new(true);
        let make = || {
            let extender = Extender::new(store, self.settings.min_words);
            (extender, Writer::new(&spill, PARTITIONS, each / 4, Order::Sorted), Vec::new(), Vec::new())
        };
        let threads = thread_count(self.settings.threads);
        let states = deal(threads, seeds.count(), make, |(extender, runs, own, buffer), partition| {
            own.clear();
            let mut current: Option<(u32, u64)> = None;
            let mut finish = |current: Option<(u32, u64)>, own: &[Seed]| -> Result<()> {
                let Some((number, _)) = current else { return Ok(()) };
                let to = document_partition(number, count);
                if !extender.document(number, own, |run| runs.push(to, run))? {
                    is_right.store(false, Ordering::Relaxed);
                }
                Ok(())
            };
            seeds.for_each_sorted(partition, each / 4, buffer, |seed| {
                if current.is_none_or(|(_, end)| seed.window() >= end) {
                    finish(current, own)?;
                    own.clear();
                    // The window may begin before its document, if a hash collided. That is found
                    // when it is extended.
                    let number = store.document_at(seed.window()).ok_or(Error::Changed)?;
                    current = Some((number, store.documents()[number as usize].end()));
                }
                own.push(seed);
                Ok(())
            })?;
            finish(current, own)
        })?;
        let runs = states.into_iter().map(|(_, runs, ..)| runs).collect();
        Ok(is_right.into_inner().then(|| Partitions::new(PARTITIONS, runs)))
    }

    /// Removes all stages.
    pub(crate) fn forget(&self) -> Result<()> {
        self.work.map_or(Ok(()), |work| {
            work.remove(&["extended", "stored", "words.spill", "anchors.spill", "runs.spill"])
        })
    }
}

/// Joins lists, in no particular order. Documents are moved in pieces whose memory is freed at once,
/// because two copies of all of them might not fit in memory.
fn joined(mut lists: Vec<Vec<StoredDocument>>) -> Vec<StoredDocument> {
    let mut all = lists.pop().unwrap_or_default();
    all.reserve_exact(lists.iter().map(Vec::len).sum());
    for mut list in lists {
        while !list.is_empty() {
            let left = list.len().saturating_sub(DOCUMENTS_AT_ONCE);
            all.extend_from_slice(&list[left..]);
            list.truncate(left);
            list.shrink_to_fit();
        }
    }
    all
}

/// Returns an error if documents would take more than three quarters of the memory.
fn check_memory(documents: u64, memory: u64) -> Result<()> {
    let needed = documents.saturating_mul(BYTES_A_DOCUMENT);
    if needed <= memory / 4 * 3 {
        return Ok(());
    }
    Err(Error::Memory { members: documents, given: memory, least: needed.div_ceil(3).saturating_mul(4) })
}

// ---- in a work folder ----

impl Stored {
    fn save(&mut self, work: &Work) -> Result<()> {
        self.store.words().sync()?;
        self.anchors.persist()?;
        work.save("stored", |to| {
            self.counts.save(to)?;
            save_documents(self.store.documents(), to)?;
            to.number(self.store.words().bytes())?;
            to.extents(self.anchors.spill().bytes(), self.anchors.extents())
        })
    }

    fn load(work: &Work) -> Result<Option<Self>> {
        work.load("stored", |from| {
            let counts = Counts::load(from)?;
            let (documents, end) = (load_documents(from)?, from.number()?);
            let words = Arc::new(Spill::reopened(&work.path("words.spill"), end)?);
            let store = Store::new(words, documents).map_err(|_| from.damaged())?;
            Ok(Self { store, anchors: load_partitions(work, "anchors.spill", from)?, counts })
        })
    }
}

impl Extended {
    /// Saves the passages, and removes the files of the previous stage.
    fn save(&mut self, work: &Work) -> Result<()> {
        self.runs.persist()?;
        work.save("extended", |to| {
            self.counts.save(to)?;
            save_documents(&self.documents, to)?;
            to.extents(self.runs.spill().bytes(), self.runs.extents())
        })?;
        work.remove(&["stored", "anchors.spill", "words.spill"])
    }

    fn load(work: &Work) -> Result<Option<Self>> {
        work.load("extended", |from| {
            let (counts, documents) = (Counts::load(from)?, load_documents(from)?);
            Ok(Self { documents, runs: load_partitions(work, "runs.spill", from)?, counts })
        })
    }
}

impl Counts {
    fn save(self, to: &mut StageWriter) -> Result<()> {
        let Self { documents, bytes, spilled, attempt } = self;
        [documents, bytes, spilled, attempt].into_iter().try_for_each(|number| to.number(number))
    }

    fn load(from: &mut StageReader) -> Result<Self> {
        let (documents, bytes) = (from.number()?, from.number()?);
        Ok(Self { documents, bytes, spilled: from.number()?, attempt: from.number()? })
    }
}

fn save_documents(documents: &[StoredDocument], to: &mut StageWriter) -> Result<()> {
    to.number(documents.len() as u64)?;
    for document in documents {
        to.number(document.place)?;
        to.number(document.start)?;
        to.number(document.words.into())?;
    }
    Ok(())
}

fn load_documents(from: &mut StageReader) -> Result<Vec<StoredDocument>> {
    let documents = from.list(24, |from| {
        Ok(StoredDocument { place: from.number()?, start: from.number()?, words: from.number32()? })
    })?;
    let is_ordered = documents.windows(2).all(|pair| pair[0].place < pair[1].place);
    if is_ordered && u32::try_from(documents.len()).is_ok() { Ok(documents) } else { Err(from.damaged()) }
}
