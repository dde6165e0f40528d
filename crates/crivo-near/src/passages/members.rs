//! The occurrences of one anchor, in memory if they are few, otherwise in a file.

use super::store::Store;
use crate::error::{Error, Result};
use crate::spill::{Extent, Record, Spill};

/// The bytes of an occurrence in memory.
const BYTES_A_MEMBER: u64 = size_of::<Member>() as u64;

/// An occurrence of an anchor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Member {
    pub(crate) context: u64,
    pub(crate) address: u64,
    pub(crate) document: u32,
}

impl Member {
    /// A placeholder that is later in the collection than every occurrence.
    pub(crate) const LAST: Self = Self { context: 0, address: u64::MAX, document: u32::MAX };

    /// Returns the occurrence that comes first in the collection.
    pub(crate) fn earlier(self, other: Self) -> Self {
        if (other.document, other.address) < (self.document, self.address) { other } else { self }
    }
}

/// The occurrences of one anchor, sorted by their contexts.
pub(crate) struct Members {
    held: Vec<Member>,
    /// The number of occurrences above which they are written to the file.
    most: usize,
    first_context: u64,
    last_context: u64,
    count: u64,
    spill: Spill,
    extents: Vec<Extent>,
}

impl Members {
    /// Creates a container of about `memory` bytes, half of them for a piece that is read back.
    pub(crate) fn new(memory: u64) -> Self {
        Self {
            held: Vec::new(),
            // A growing vector may have twice the capacity it needs.
            most: (memory / BYTES_A_MEMBER / 4).max(64) as usize,
            first_context: 0,
            last_context: 0,
            count: 0,
            spill: Spill::default(),
            extents: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, context: u64, address: u64) -> Result<()> {
        if self.count == 0 {
            self.first_context = context;
        }
        self.last_context = context;
        self.count += 1;
        self.held.push(Member { context, address, document: 0 });
        if self.held.len() > self.most { self.flush() } else { Ok(()) }
    }

    #[cold]
    fn flush(&mut self) -> Result<()> {
        let mut bytes = Vec::with_capacity(self.held.len() * <(u64, u64)>::SIZE);
        self.held.drain(..).for_each(|member| (member.context, member.address).write(&mut bytes));
        self.extents.push(self.spill.append(&bytes)?);
        Ok(())
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Finds the documents of the occurrences in memory.
    pub(crate) fn resolve(&mut self, store: &Store) -> Result<()> {
        self.held.iter_mut().try_for_each(|member| resolve(member, store))
    }

    pub(crate) fn have_one_context(&self) -> bool {
        // Occurrences are pushed in the order of their contexts.
        self.first_context == self.last_context
    }

    /// Returns true if all occurrences are known to be in one document.
    pub(crate) fn are_of_one_document(&self) -> bool {
        let first = self.held.first().map(|member| member.document);
        self.extents.is_empty() && self.held.iter().all(|member| Some(member.document) == first)
    }

    /// Returns the number of pieces to read the occurrences in.
    pub(crate) fn pieces(&self) -> usize {
        self.extents.len() + 1
    }

    /// Replaces the content of `piece` by the piece with this number.
    pub(crate) fn read(&self, number: usize, store: &Store, piece: &mut Vec<Member>) -> Result<()> {
        piece.clear();
        let Some(&extent) = self.extents.get(number) else {
            piece.extend_from_slice(&self.held);
            return Ok(());
        };
        let mut bytes = Vec::new();
        self.spill.read(extent, &mut bytes)?;
        for (context, address) in bytes.chunks_exact(<(u64, u64)>::SIZE).map(<(u64, u64)>::read) {
            let mut member = Member { context, address, document: 0 };
            resolve(&mut member, store)?;
            piece.push(member);
        }
        Ok(())
    }

    pub(crate) fn clear(&mut self) {
        self.held.clear();
        self.count = 0;
        if !self.extents.is_empty() {
            (self.held, self.spill, self.extents) = Default::default();
        }
    }
}

fn resolve(member: &mut Member, store: &Store) -> Result<()> {
    // Only a damaged work folder has addresses beyond the stored words.
    member.document = store.document_at(member.address).ok_or(Error::Changed)?;
    Ok(())
}
