//! Adds and removes documents, many in each commit.

use std::collections::{BTreeSet, HashMap};

use crivo_records::Transaction;

use super::file::{self, File, Table};
use super::record::{Document, State, removed_numbers, write_removed};
use super::runs::{self, Posting};
use super::signer::{Signer, fingerprint, name_key};
use super::{buckets, settings};
use crate::error::{Error, Result};
use crate::settings::Settings;

/// The number of changed documents after which the writer commits. Each commit waits for the disk
/// and begins a run.
const DOCUMENTS_AT_ONCE: u64 = 256 << 10;

/// The number of postings in memory after which the writer commits: 64 MiB.
const POSTINGS_AT_ONCE: usize = 4 << 20;

/// The number of bytes of documents after which the writer commits. Until then they are in the
/// journal.
const BYTES_AT_ONCE: u64 = 256 << 20;

/// The effect of adding a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// Its name is new.
    New,
    /// It replaced another document with the same name.
    Replaced,
    /// The index had the document already, byte for byte.
    Unchanged,
}

/// The committed changes of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// Documents with a new name.
    pub added: u64,
    /// Documents that replaced another with the same name.
    pub replaced: u64,
    /// Documents that the index had already.
    pub unchanged: u64,
    /// Documents that were removed.
    pub removed: u64,
}

impl Changes {
    fn all(self) -> u64 {
        self.added + self.replaced + self.unchanged + self.removed
    }

    fn plus(self, other: Self) -> Self {
        Self {
            added: self.added + other.added,
            replaced: self.replaced + other.replaced,
            unchanged: self.unchanged + other.unchanged,
            removed: self.removed + other.removed,
        }
    }
}

/// A write transaction. Readers are not blocked. The write lock is taken at the first change, and
/// another writer waits for the next commit. The writer commits by itself every hundred thousand
/// documents or so. Changes since the last commit are rolled back after an error, and if
/// [`finish`](Self::finish) is not called.
pub struct Writer<'a> {
    file: &'a File,
    settings: &'a Settings,
    signer: &'a mut Signer,
    open: Option<Open<'a>>,
    committed: Changes,
}

/// An open transaction and its changes that are still in memory.
struct Open<'a> {
    transaction: Transaction<'a>,
    state: State,
    /// The postings of new documents.
    postings: Vec<Posting>,
    /// The numbers of new documents by the keys of their names.
    names: HashMap<u64, Vec<u32>>,
    removed: BTreeSet<u32>,
    removed_before: usize,
    bytes: u64,
    changes: Changes,
}

/// A signed document that is to be added.
pub(super) struct NewDocument {
    pub(super) id: Vec<u8>,
    pub(super) fingerprint: u128,
    pub(super) set: Vec<u64>,
    pub(super) keys: Vec<u64>,
}

impl NewDocument {
    pub(super) fn sign(id: &[u8], text: &[u8], signer: &mut Signer) -> Result<Self> {
        let fingerprint = fingerprint(text);
        let (set, keys) = signer.read(text, fingerprint)?;
        Ok(Self { id: id.to_vec(), fingerprint, set: set.to_vec(), keys: keys.to_vec() })
    }

    /// Returns the number of bytes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.id.len() + 8 * (self.set.len() + self.keys.len())
    }
}

impl<'a> Writer<'a> {
    pub(super) fn new(file: &'a File, settings: &'a Settings, signer: &'a mut Signer) -> Self {
        Self { file, settings, signer, open: None, committed: Changes::default() }
    }

    /// Adds a document under a name. If the index has another document with that name, it is
    /// replaced.
    ///
    /// # Errors
    /// If the index is damaged or cannot be written, or another writer holds it for too long.
    pub fn add(&mut self, id: &[u8], text: &[u8]) -> Result<Added> {
        let document = NewDocument::sign(id, text, self.signer)?;
        let mut open = self.begin()?;
        let numbers = stored_with(self.file, &open.state, name_key(id))?;
        let added = self.add_to(&mut open, &document, &numbers)?;
        self.keep(open)?;
        Ok(added)
    }

    /// Adds many documents at once. Their names are looked up in the order of the index's keys.
    ///
    /// # Errors
    /// The errors of [`add`](Self::add).
    pub(super) fn add_batch(&mut self, documents: &[NewDocument]) -> Result<()> {
        let mut open = self.begin()?;
        let mut by_name: Vec<(u64, usize)> =
            documents.iter().zip(0..).map(|(document, at)| (name_key(&document.id), at)).collect();
        by_name.sort_unstable();
        let names: Vec<u64> = by_name.iter().map(|(name, _)| *name).collect();
        let mut numbers = vec![Vec::new(); documents.len()];
        runs::look_up_all(self.file, &open.state.runs, &names, |at, found| {
            numbers[by_name[at].1].extend(found);
            Ok(())
        })?;
        // A commit comes only after the batch, because another writer may change the index after a
        // commit.
        for (document, numbers) in documents.iter().zip(&numbers) {
            self.add_to(&mut open, document, numbers)?;
        }
        self.keep(open)
    }

    /// Removes a document. Returns true if it was there.
    ///
    /// # Errors
    /// The errors of [`add`](Self::add).
    pub fn remove(&mut self, id: &[u8]) -> Result<bool> {
        let mut open = self.begin()?;
        let numbers = stored_with(self.file, &open.state, name_key(id))?;
        let found = self.find(&open, id, &numbers)?;
        let was_there = found.is_some();
        if let Some((number, document)) = found {
            self.take_out(&mut open, number, &document)?;
            open.changes.removed += 1;
        }
        self.keep(open)?;
        Ok(was_there)
    }

    /// Commits the changes and waits until they are on the disk. Returns all changes that this
    /// writer has committed.
    ///
    /// # Errors
    /// If the index cannot be written. Then the changes since the last commit are rolled back.
    pub fn commit(&mut self) -> Result<Changes> {
        if let Some(mut open) = self.open.take() {
            let postings = std::mem::take(&mut open.postings);
            runs::add_run(self.file, &mut open.state, &mut open.removed, postings)?;
            if open.removed.len() != open.removed_before {
                write_removed(self.file, &open.removed)?;
            }
            open.state.write(self.file)?;
            self.file.commit(open.transaction)?;
            self.committed = self.committed.plus(open.changes);
            self.file.shorten_journal();
        }
        Ok(self.committed)
    }

    /// Makes the last [`commit`](Self::commit).
    ///
    /// # Errors
    /// The errors of [`commit`](Self::commit).
    pub fn finish(mut self) -> Result<Changes> {
        self.commit()
    }

    /// Returns the open transaction, or a new one. A caller that fails drops it, which rolls it
    /// back.
    fn begin(&mut self) -> Result<Open<'a>> {
        if let Some(open) = self.open.take() {
            return Ok(open);
        }
        let transaction = self.file.write_transaction()?;
        let mut state = State::read(self.file)?;
        if state.old_buckets > 0 {
            buckets::convert(self.file, &mut state)?;
            file::write_settings(self.file, &settings::encode(self.settings, self.settings.bands()?))?;
        }
        let removed = removed_numbers(self.file)?;
        Ok(Open {
            transaction,
            state,
            postings: Vec::new(),
            names: HashMap::new(),
            removed_before: removed.len(),
            removed,
            bytes: 0,
            changes: Changes::default(),
        })
    }

    fn keep(&mut self, open: Open<'a>) -> Result<()> {
        let full = open.is_full();
        self.open = Some(open);
        if full { self.commit().map(drop) } else { Ok(()) }
    }

    /// Adds a document, unless it is there already. `numbers` has the stored documents that may
    /// have its name.
    fn add_to(&mut self, open: &mut Open<'_>, document: &NewDocument, numbers: &[u32]) -> Result<Added> {
        let added = match self.find(open, &document.id, numbers)? {
            Some((_, before)) if before.fingerprint == document.fingerprint => {
                open.changes.unchanged += 1;
                return Ok(Added::Unchanged);
            }
            Some((number, before)) => {
                self.take_out(open, number, &before)?;
                open.changes.replaced += 1;
                Added::Replaced
            }
            None => {
                open.changes.added += 1;
                Added::New
            }
        };
        let NewDocument { id, fingerprint, set, keys } = document;
        let number = u32::try_from(open.state.next).map_err(|_| Error::TooMany)?;
        let record = Document::encode(id, *fingerprint, set);
        open.bytes += record.len() as u64;
        self.file.add(Table::Documents, number.into(), record)?;
        let name = name_key(id);
        open.names.entry(name).or_default().push(number);
        open.postings.extend([name].iter().chain(keys).map(|&key| (key, number)));
        open.state.next += 1;
        open.state.documents += 1;
        open.state.too_short += u64::from(set.is_empty());
        Ok(added)
    }

    /// Returns the document with a name, from this transaction or from the stored documents
    /// `stored`.
    fn find(&self, open: &Open<'_>, id: &[u8], stored: &[u32]) -> Result<Option<(u32, Document)>> {
        let new = open.names.get(&name_key(id)).map_or(&[][..], Vec::as_slice);
        for &number in new.iter().chain(stored).filter(|number| !open.removed.contains(number)) {
            let Some(document) = Document::find(self.file, number)? else {
                return Err(self.file.damaged(format_args!("document {number} is missing")));
            };
            if document.id == id {
                return Ok(Some((number, document)));
            }
        }
        Ok(None)
    }

    /// Removes a document. Its postings are removed when their run is merged.
    fn take_out(&self, open: &mut Open<'_>, number: u32, document: &Document) -> Result<()> {
        self.file.remove(Table::Documents, number.into())?;
        open.removed.insert(number);
        open.state.documents -= 1;
        open.state.too_short -= u64::from(document.set.is_empty());
        Ok(())
    }
}

impl Open<'_> {
    /// Returns true if it is time for a commit.
    fn is_full(&self) -> bool {
        self.changes.all() >= DOCUMENTS_AT_ONCE
            || self.postings.len() >= POSTINGS_AT_ONCE
            || self.bytes >= BYTES_AT_ONCE
    }
}

/// Returns the numbers of the stored documents with a key, including removed ones.
fn stored_with(file: &File, state: &State, key: u64) -> Result<Vec<u32>> {
    let mut numbers = Vec::new();
    state.look_up(file, key, |number| numbers.push(number))?;
    Ok(numbers)
}
