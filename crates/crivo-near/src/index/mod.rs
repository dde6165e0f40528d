//! An index on disk: which of the documents seen before is this one like?
//!
//! **Question.** Documents come day after day. Which of them are near-duplicates of one that came
//! before?
//!
//! **Guarantee.** A document of similarity `J ≥ t` to the text asked about is found with
//! probability `1 − (1 − J^r)^b`, the curve of the index's [bands](crivo::similarity::Bands): 0.99
//! and more at the threshold the index was made for. What is found is compared as the sets they
//! are, so every similarity is exact and none is below the threshold. *All* candidates are
//! compared, however many share a band: where a million documents are near-duplicates of each
//! other, a query takes the time to read them.
//!
//! **Idea.** A signature's bands are keys; a key leads to the documents that have it (`runs`). A
//! document's set of shingles is stored beside its name, and compared with that of the text.
//! Documents without a shingle are stored too, and found by a text of the same bytes only, with
//! similarity 1.
//!
//! # What survives
//!
//! The file keeps what [`crivo_records`] promises:
//!
//! - **A kill, or a power cut, at any moment.** [`Writer::commit`] returns when everything is on
//!   the disk; what was not committed is gone when the index is opened again, and nothing else is.
//! - **Readers during a write.** Any number of processes ask while one writes; each query sees one
//!   committed state. A second writer waits for the first one's commit for ten seconds, and is
//!   refused then.
//! - **Damage.** Every record has a checksum, also those that say a key is *not* there; what was
//!   changed in the file gives an error that names it, never a wrong answer. A damaged journal may
//!   undo the last commits, each as a whole. [`Index::check`] reads everything.
//!
//! # The file
//!
//! `index.sqlite` has three tables of numbered records, each with the checksum of its bytes behind
//! it ([`crivo_records`]):
//!
//! | table | number | record |
//! |---|---|---|
//! | `head` | 1 | the settings, a line each (`settings`) |
//! | | 2 | the state: 0, how many postings, documents, documents too short, the next numbers of a document and of a bucket, and the runs |
//! | | 3 | the numbers of removed documents whose postings may still be there |
//! | `documents` | that of a document, never used again | fingerprint, id, and the set as 64-bit numbers, ascending |
//! | `buckets` | those of a run one after the other | postings of a key and a document's number, ascending (`runs`) |
//!
//! With 16 bands the postings take about 190 bytes a document, whatever its length, and its record
//! about 45 and its name; the set takes 8 bytes a shingle. Pages that a merge of runs has freed are
//! used again by later ones. Indexes of format 1 are read, and converted by the first change.
//!
//! **When not to use it.** For one collection, read once:
//! [`near_duplicates`](crate::near_duplicates) needs no disk. On network file systems, where the
//! locks that keep writers apart may not work.
//!
//! **Source.** Bentley, Saxe: *Decomposable searching problems I* (1980).

mod buckets;
mod bulk;
mod check;
mod error;
mod file;
mod record;
mod runs;
mod settings;
mod signer;
mod writer;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

pub use self::bulk::Answers;
use self::bulk::BulkQuery;
pub use self::error::{IndexError, IndexProblem};
use self::file::File;
use self::record::{Document, State, removed_numbers};
use self::signer::{Signer, fingerprint, name_key};
pub use self::writer::{Added, Changes, Writer};
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::source::Documents;

/// An index in a folder; see the [module](self) for what it promises.
///
/// ```
/// use crivo_near::{Index, Settings};
/// use crivo::similarity::shingle::Shingles;
///
/// let folder = tempfile::tempdir()?;
/// let settings = Settings { shingles: Shingles::words(2)?, ..Settings::default() };
/// let mut index = Index::create(folder.path(), &settings)?;
/// let mut writer = index.writer();
/// writer.add(b"cat", b"the cat sat on the mat")?;
/// writer.add(b"dog", b"a dog barked")?;
/// assert_eq!(writer.finish()?.added, 2);
///
/// let alike = index.query(b"The cat sat on the mat!", 0.8)?;
/// assert_eq!((alike[0].id.as_slice(), alike[0].similarity), (&b"cat"[..], 1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Index {
    file: File,
    settings: Settings,
    signer: Signer,
}

/// A document of the index that is like a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Its name.
    pub id: Vec<u8>,
    /// The Jaccard similarity of their sets, exactly.
    pub similarity: f64,
}

impl Match {
    /// The most similar first, of equally similar ones by name.
    fn order(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then_with(|| self.id.cmp(&other.id))
    }

    fn is_before(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Less
    }
}

/// What an index holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// How many documents there are.
    pub documents: u64,
    /// How many of them are too short for one shingle.
    pub too_short: u64,
    /// The number of keys that lead to documents, those of removed ones included.
    pub postings: u64,
    /// The bytes of the file and its journal.
    pub bytes: u64,
}

// ---- construction ----

impl Index {
    /// Makes a new index in a folder, and the folder if there is none. Of the settings it keeps
    /// what decides which documents are alike: threshold, shingles, seed, hashes, bands.
    ///
    /// # Errors
    /// If there is an index already, the folder cannot be written, or a setting is out of range.
    pub fn create(folder: impl AsRef<Path>, settings: &Settings) -> Result<Self> {
        Signer::new(settings)?;
        crivo::similarity::MinHash::new(settings.hashes)?;
        file::create(folder.as_ref(), &settings::encode(settings, settings.bands()?))?;
        Self::open(folder)
    }

    /// Opens the index of a folder, with the settings it was made with.
    ///
    /// # Errors
    /// If there is none, or it is damaged.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let file = File::open(folder.as_ref())?;
        let settings = settings::decode(file.path(), &file::settings(&file)?)?;
        State::read(&file)?;
        let signer = Signer::new(&settings)?;
        Ok(Self { file, settings, signer })
    }

    /// Opens the index of a folder, and makes sure that it has these settings.
    ///
    /// # Errors
    /// If a setting differs, which is named with both values; and as [`open`](Self::open).
    pub fn open_with(folder: impl AsRef<Path>, settings: &Settings) -> Result<Self> {
        let index = Self::open(folder)?;
        settings::agree(index.file.path(), &index.settings, settings)?;
        Ok(index)
    }

    /// Opens the index of a folder, or makes one if there is none.
    ///
    /// # Errors
    /// As [`open_with`](Self::open_with) and [`create`](Self::create).
    pub fn open_or_create(folder: impl AsRef<Path>, settings: &Settings) -> Result<Self> {
        let folder = folder.as_ref();
        if !Self::is_in(folder) {
            match Self::create(folder, settings) {
                // Another process was quicker.
                Err(Error::Index(error)) if *error.problem() == IndexProblem::Exists => {}
                made => return made,
            }
        }
        Self::open_with(folder, settings)
    }

    /// Returns true if a folder has an index.
    pub fn is_in(folder: impl AsRef<Path>) -> bool {
        folder.as_ref().join(file::FORMAT.file_name).exists()
    }
}

// ---- update ----

impl Index {
    /// Sets how long to wait for another writer's commit; ten seconds by default.
    ///
    /// # Errors
    /// If the time is longer than can be waited.
    pub fn set_patience(&mut self, time: Duration) -> Result<()> {
        if i32::try_from(time.as_millis()).is_err() {
            return Err(Error::setting("patience", "at most 24 days", format_args!("{time:?}")));
        }
        self.file.set_patience(time)
    }

    /// A write transaction. Readers are not blocked; the write lock is taken at the first change.
    pub fn writer(&mut self) -> Writer<'_> {
        Writer::new(&self.file, &self.settings, &mut self.signer)
    }

    /// Adds a collection, read and signed on its threads; `name` knows the documents by their
    /// place, and leaves out those it has no name for. Documents come in no particular order, so no
    /// two of them should have the same name. There is a commit every hundred thousand or so: after
    /// an error, those that were committed stay. About 256 MiB are used, whatever the size of the
    /// index.
    ///
    /// # Errors
    /// As [`Writer::add`], or if the collection cannot be read.
    pub fn add_all(
        &mut self,
        documents: &impl Documents,
        name: &(dyn Fn(u64) -> Option<Vec<u8>> + Sync),
    ) -> Result<Changes> {
        bulk::add_all(self, documents, name)
    }
}

// ---- query ----

impl Index {
    /// Returns the settings that the index was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The documents whose similarity to a text is at least the threshold: the most similar first,
    /// of equally similar ones by name. Below the threshold that the index was made for, fewer than
    /// 99 % are found.
    ///
    /// # Errors
    /// If the threshold is not above 0 and at most 1, or the index is damaged or cannot be read.
    pub fn query(&mut self, text: &[u8], threshold: f64) -> Result<Vec<Match>> {
        if !(threshold > 0.0 && threshold <= 1.0) {
            return Err(Error::setting("threshold", "above 0 and at most 1", threshold));
        }
        let fingerprint = fingerprint(text);
        let (set, keys) = self.signer.read(text, fingerprint)?;
        let _moment = self.file.read_transaction()?;
        let mut matches = Vec::new();
        for document in documents_with(&self.file, keys)? {
            let similarity = document.similarity(set, fingerprint, threshold);
            matches.extend(similarity.map(|similarity| Match { id: document.id, similarity }));
        }
        matches.sort_unstable_by(Match::order);
        Ok(matches)
    }

    /// Asks about every wanted text of a collection, and lists every match. The collection is read
    /// twice on its threads, and the index once, in its own order; about `memory` bytes are used
    /// beside the matches.
    ///
    /// # Errors
    /// As [`query`](Self::query), or if the collection cannot be read or changes between the
    /// readings.
    pub fn query_all(
        &self,
        documents: &impl Documents,
        threshold: f64,
        memory: u64,
        wanted: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Answers> {
        BulkQuery { index: self, threshold, memory, best_only: false }.run(documents, wanted)
    }

    /// As [`query_all`](Self::query_all), with one match of each text: the most similar, of equally
    /// similar ones the first by name. Of more than 500 documents that share a band key in one run
    /// of the index, only the first 500 are compared, so that a text that a million documents
    /// repeat costs no more than others.
    ///
    /// # Errors
    /// As [`query_all`](Self::query_all).
    pub fn nearest_of_all(&self, documents: &impl Documents, threshold: f64, memory: u64) -> Result<Answers> {
        BulkQuery { index: self, threshold, memory, best_only: true }.run(documents, &|_| true)
    }

    /// Returns true if there is a document of this name.
    ///
    /// # Errors
    /// If the index is damaged or cannot be read.
    pub fn contains(&self, id: &[u8]) -> Result<bool> {
        let _moment = self.file.read_transaction()?;
        Ok(documents_with(&self.file, &[name_key(id)])?.iter().any(|document| document.id == id))
    }

    /// Returns statistics of the index.
    ///
    /// # Errors
    /// If the index is damaged or cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        let state = State::read(&self.file)?;
        Ok(Stats {
            documents: state.documents,
            too_short: state.too_short,
            postings: state.postings,
            bytes: self.file.bytes(),
        })
    }

    /// Reads the whole index and compares everything with everything.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&mut self) -> Result<()> {
        check::check(&self.file, &mut self.signer)
    }
}

/// The documents that have one of the keys, by their numbers, each once.
fn documents_with(file: &File, keys: &[u64]) -> Result<Vec<Document>> {
    let state = State::read(file)?;
    let mut numbers = Vec::new();
    keys.iter().try_for_each(|&key| state.look_up(file, key, |number| numbers.push(number)))?;
    numbers.sort_unstable();
    numbers.dedup();
    let (mut documents, mut removed) = (Vec::new(), None);
    for number in numbers {
        documents.extend(find_document(file, number, &mut removed)?);
    }
    Ok(documents)
}

/// Returns a document that has postings; none if it was removed. `removed` is read when it is first
/// needed.
fn find_document(file: &File, number: u32, removed: &mut Option<BTreeSet<u32>>) -> Result<Option<Document>> {
    let found = Document::find(file, number)?;
    if found.is_none() {
        let removed = match removed {
            Some(removed) => removed,
            none => none.insert(removed_numbers(file)?),
        };
        if !removed.contains(&number) {
            return Err(file.damaged(format_args!("document {number} is missing")));
        }
    }
    Ok(found)
}
