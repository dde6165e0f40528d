//! An index on disk: which of the documents seen before is this text similar to?
//!
//! **Question.** Documents come day after day. Which of them are near-duplicates of an earlier one?
//!
//! **Guarantee.** A document of similarity `J ≥ t` to the text of a query is found with probability
//! `1 − (1 − J^r)^b`, the curve of the index's [bands](crivo::similarity::Bands). That is 0.99 and
//! more at the threshold that the index was made for. The sets of candidates are compared, so every
//! similarity is exact and none is below the threshold. *All* candidates are compared, however many
//! share a band: if a million documents are near-duplicates of each other, a query takes the time
//! to read them.
//!
//! **Idea.** A signature's bands are keys, and each key leads to the documents that have it
//! (`runs`). A document's set of shingles is stored beside its name, and compared with the set of
//! the text. Documents without a shingle are stored too. Only a text of the same bytes finds them,
//! with similarity 1.
//!
//! # What survives
//!
//! The file keeps what [`crivo_records`] promises:
//!
//! - **A kill, or a power cut, at any moment.** [`Writer::commit`] returns when everything is on
//!   the disk. When the index is opened again, uncommitted changes are gone, and nothing else is.
//! - **Readers during a write.** Any number of processes query while one writes. Each query sees
//!   one committed state. A second writer waits up to ten seconds for the first one's commit, and
//!   then fails.
//! - **Damage.** Every record has a checksum, also those that say a key is *not* there. A change of
//!   the file gives an error that names it, never a wrong answer. A damaged journal may undo the
//!   last commits, each as a whole. [`Index::check`] reads everything.
//!
//! # The file
//!
//! `index.sqlite` has three tables of numbered records, each followed by the checksum of its bytes
//! ([`crivo_records`]):
//!
//! | table | number | record |
//! |---|---|---|
//! | `head` | 1 | the settings, a line each (`settings`) |
//! | | 2 | the state: 0, how many postings, documents, documents too short, the next numbers of a document and of a bucket, and the runs |
//! | | 3 | the numbers of removed documents whose postings may still be there |
//! | `documents` | that of a document, never used again | fingerprint, id, and the set as 64-bit numbers, ascending |
//! | `buckets` | those of a run one after the other | postings of a key and a document's number, ascending (`runs`) |
//!
//! With 16 bands the postings take about 190 bytes a document, whatever its length. The record of a
//! document takes about 45 bytes and the bytes of its name; the set takes 8 bytes a shingle. Pages
//! that a merge of runs has freed are used again by later ones. Indexes of format 1 are read, and
//! converted by the first change.
//!
//! **When not to use it.** For one collection that is read once:
//! [`near_duplicates`](crate::near_duplicates) needs no index. On network file systems, because the
//! locks between writers may not work there.
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

/// An index in a folder. See the [module](self) for its guarantees.
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

/// A document of the index that is similar to a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The document's name.
    pub id: Vec<u8>,
    /// The exact Jaccard similarity of the two sets.
    pub similarity: f64,
}

impl Match {
    /// Orders matches by descending similarity, and equally similar ones by name.
    fn order(&self, other: &Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then_with(|| self.id.cmp(&other.id))
    }

    fn is_before(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Less
    }
}

/// Statistics of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// The number of documents.
    pub documents: u64,
    /// The number of documents that are too short for one shingle.
    pub too_short: u64,
    /// The number of postings (key and document), including those of removed documents.
    pub postings: u64,
    /// The bytes of the file and its journal.
    pub bytes: u64,
}

// ---- construction ----

impl Index {
    /// Makes a new index in a folder, and the folder if it does not exist. The index keeps the
    /// settings that decide which documents are similar: threshold, shingles, seed, hashes and
    /// bands.
    ///
    /// # Errors
    /// If the folder has an index already or cannot be written, or a setting is out of range.
    pub fn create(folder: impl AsRef<Path>, settings: &Settings) -> Result<Self> {
        Signer::new(settings)?;
        crivo::similarity::MinHash::new(settings.hashes)?;
        file::create(folder.as_ref(), &settings::encode(settings, settings.bands()?))?;
        Self::open(folder)
    }

    /// Opens the index of a folder, with the settings that it was made with.
    ///
    /// # Errors
    /// If there is no index, or it is damaged.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let file = File::open(folder.as_ref())?;
        let settings = settings::decode(file.path(), &file::settings(&file)?)?;
        State::read(&file)?;
        let signer = Signer::new(&settings)?;
        Ok(Self { file, settings, signer })
    }

    /// Opens the index of a folder, and checks that it has these settings.
    ///
    /// # Errors
    /// If a setting differs (the error names it and both values), and the errors of
    /// [`open`](Self::open).
    pub fn open_with(folder: impl AsRef<Path>, settings: &Settings) -> Result<Self> {
        let index = Self::open(folder)?;
        settings::agree(index.file.path(), &index.settings, settings)?;
        Ok(index)
    }

    /// Opens the index of a folder, or makes one if there is none.
    ///
    /// # Errors
    /// The errors of [`open_with`](Self::open_with) and [`create`](Self::create).
    pub fn open_or_create(folder: impl AsRef<Path>, settings: &Settings) -> Result<Self> {
        let folder = folder.as_ref();
        if !Self::is_in(folder) {
            match Self::create(folder, settings) {
                // Another process has made the index in the meantime.
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
    /// Sets how long to wait for another writer's commit. The default is ten seconds.
    ///
    /// # Errors
    /// If the time is longer than 24 days.
    pub fn set_patience(&mut self, time: Duration) -> Result<()> {
        if i32::try_from(time.as_millis()).is_err() {
            return Err(Error::setting("patience", "at most 24 days", format_args!("{time:?}")));
        }
        self.file.set_patience(time)
    }

    /// Returns a write transaction. Readers are not blocked; the write lock is taken at the first
    /// change.
    pub fn writer(&mut self) -> Writer<'_> {
        Writer::new(&self.file, &self.settings, &mut self.signer)
    }

    /// Adds a collection, which is read and signed on its threads. `name` returns the name of the
    /// document at a place, `None` to leave it out, or an error that ends the work. Documents come in no particular order, so no
    /// two of them should have the same name. The writer commits every hundred thousand documents
    /// or so. After an error, the committed documents stay. About 256 MiB are used, whatever the
    /// size of the index.
    ///
    /// # Errors
    /// The errors of [`Writer::add`] and of `name`, and an error if the collection cannot be read.
    pub fn add_all(
        &mut self,
        documents: &impl Documents,
        name: &(dyn Fn(u64) -> Result<Option<Vec<u8>>> + Sync),
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

    /// Returns the documents whose similarity to a text is at least the threshold. The most similar
    /// come first, and equally similar ones are sorted by name. Below the threshold that the index
    /// was made for, fewer than 99 % are found.
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

    /// Finds every match of every wanted text of a collection. The collection is read twice on its
    /// threads, and the index once, in its own order. About `memory` bytes are used beside the
    /// matches.
    ///
    /// # Errors
    /// The errors of [`query`](Self::query), and an error if the collection cannot be read or
    /// changes between the readings.
    pub fn query_all(
        &self,
        documents: &impl Documents,
        threshold: f64,
        memory: u64,
        wanted: &(dyn Fn(u64) -> bool + Sync),
    ) -> Result<Answers> {
        BulkQuery { index: self, threshold, memory, best_only: false }.run(documents, wanted)
    }

    /// Finds the best match of each text: the most similar document, and the first by name of
    /// equally similar ones. Otherwise like [`query_all`](Self::query_all). If more than 500
    /// documents share a band key in one run of the index, only the first 500 are compared. So a
    /// text that a million documents repeat costs no more than others.
    ///
    /// # Errors
    /// The errors of [`query_all`](Self::query_all).
    pub fn nearest_of_all(&self, documents: &impl Documents, threshold: f64, memory: u64) -> Result<Answers> {
        BulkQuery { index: self, threshold, memory, best_only: true }.run(documents, &|_| true)
    }

    /// Returns true if there is a document with this name.
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

    /// Reads the whole index and checks that its records agree with each other.
    ///
    /// # Errors
    /// The first problem that is found.
    pub fn check(&mut self) -> Result<()> {
        check::check(&self.file, &mut self.signer)
    }
}

/// Returns the documents that have one of the keys, each once, sorted by number.
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

/// Returns a document that has postings, or `None` if it was removed. `removed` is read at its
/// first use.
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
