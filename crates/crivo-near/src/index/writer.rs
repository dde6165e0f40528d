//! Adding and removing, many documents to a commit.

use crivo_records::Transaction;

use super::buckets::Touched;
use super::file::{File, Table};
use super::record::{Document, State};
use super::signer::{Signer, fingerprint, name_key};
use crate::error::{Error, Result};

/// After so many documents there is a commit: each costs a write to the disk that is waited for.
const DOCUMENTS_AT_ONCE: u64 = 8192;

/// And after so many postings in memory: 64 MiB.
const POSTINGS_AT_ONCE: usize = 4 << 20;

/// What a document that was added did to the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// Its name is new.
    New,
    /// It took the place of another with the same name.
    Replaced,
    /// It was there already, byte for byte.
    Unchanged,
}

/// What was done to an index and is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changes {
    /// Documents with a new name.
    pub added: u64,
    /// Documents that took the place of another with the same name.
    pub replaced: u64,
    /// Documents that were there already.
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

/// Somebody who changes an index: only one at a time can, and others wait for the next commit. Every
/// few thousand documents there is one, and at the end [`finish`](Self::finish) has to be called: what was
/// done since the last commit is taken back otherwise, and after an error too.
pub struct Writer<'a> {
    file: &'a File,
    signer: &'a mut Signer,
    open: Option<Open<'a>>,
    committed: Changes,
}

/// A transaction, and what it holds in memory.
struct Open<'a> {
    transaction: Transaction<'a>,
    state: State,
    touched: Touched,
    changes: Changes,
}

impl<'a> Writer<'a> {
    pub(super) fn new(file: &'a File, signer: &'a mut Signer) -> Self {
        Self { file, signer, open: None, committed: Changes::default() }
    }

    /// Adds a document under a name. One that has the name already is replaced, unless it is the
    /// same.
    ///
    /// # Errors
    /// If the index is damaged or cannot be written, or somebody else writes to it for too long.
    pub fn add(&mut self, id: &[u8], text: &[u8]) -> Result<Added> {
        let mut open = self.begin()?;
        let added = self.add_to(&mut open, id, text)?;
        match added {
            Added::New => open.changes.added += 1,
            Added::Replaced => open.changes.replaced += 1,
            Added::Unchanged => open.changes.unchanged += 1,
        }
        self.keep(open)?;
        Ok(added)
    }

    /// Removes a document, and says if it was there.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn remove(&mut self, id: &[u8]) -> Result<bool> {
        let mut open = self.begin()?;
        let found = self.find(&mut open, id)?;
        let was_there = found.is_some();
        if let Some((number, document)) = found {
            self.take_out(&mut open, number, &document)?;
            open.changes.removed += 1;
        }
        self.keep(open)?;
        Ok(was_there)
    }

    /// Returns when everything is on the disk, and says what this writer has done.
    ///
    /// # Errors
    /// If the index cannot be written: what was done since the last commit is taken back then.
    pub fn commit(&mut self) -> Result<Changes> {
        if let Some(mut open) = self.open.take() {
            open.touched.write(self.file)?;
            open.state.write(self.file)?;
            self.file.commit(open.transaction)?;
            self.committed = self.committed.plus(open.changes);
            self.file.shorten_journal();
        }
        Ok(self.committed)
    }

    /// The last [`commit`](Self::commit).
    ///
    /// # Errors
    /// As that.
    pub fn finish(mut self) -> Result<Changes> {
        self.commit()
    }

    /// The transaction that is open, or a new one. Whoever fails drops it, and so takes it back.
    fn begin(&mut self) -> Result<Open<'a>> {
        if let Some(open) = self.open.take() {
            return Ok(open);
        }
        let transaction = self.file.write_transaction()?;
        let state = State::read(self.file)?;
        Ok(Open { transaction, state, touched: Touched::default(), changes: Changes::default() })
    }

    fn keep(&mut self, open: Open<'a>) -> Result<()> {
        let full = open.changes.all() >= DOCUMENTS_AT_ONCE || open.touched.held() >= POSTINGS_AT_ONCE;
        self.open = Some(open);
        if full { self.commit().map(drop) } else { Ok(()) }
    }

    fn add_to(&mut self, open: &mut Open<'_>, id: &[u8], text: &[u8]) -> Result<Added> {
        let fingerprint = fingerprint(text);
        let before = self.find(open, id)?;
        let added = match before {
            Some((_, document)) if document.fingerprint == fingerprint => return Ok(Added::Unchanged),
            Some((number, document)) => {
                self.take_out(open, number, &document)?;
                Added::Replaced
            }
            None => Added::New,
        };
        let number = u32::try_from(open.state.next).map_err(|_| Error::TooMany)?;
        let (set, keys) = self.signer.read(text, fingerprint)?;
        self.file.add(Table::Documents, number.into(), Document::encode(id, fingerprint, set))?;
        open.touched.insert(self.file, &mut open.state, name_key(id), number)?;
        for &key in keys {
            open.touched.insert(self.file, &mut open.state, key, number)?;
        }
        open.state.next += 1;
        open.state.documents += 1;
        open.state.too_short += u64::from(set.is_empty());
        Ok(added)
    }

    fn find(&self, open: &mut Open<'_>, id: &[u8]) -> Result<Option<(u32, Document)>> {
        for number in open.touched.numbers(self.file, &open.state, name_key(id))? {
            let document = Document::read(self.file, number)?;
            if document.id == id {
                return Ok(Some((number, document)));
            }
        }
        Ok(None)
    }

    fn take_out(&mut self, open: &mut Open<'_>, number: u32, document: &Document) -> Result<()> {
        open.touched.remove(self.file, &mut open.state, name_key(&document.id), number)?;
        for &key in self.signer.keys_of(document)? {
            open.touched.remove(self.file, &mut open.state, key, number)?;
        }
        self.file.remove(Table::Documents, number.into())?;
        open.state.documents -= 1;
        open.state.too_short -= u64::from(document.set.is_empty());
        Ok(())
    }
}
