//! The words of all documents on disk, one after the other, and the anchors that point into them.
//!
//! An address is the number of a word in the store. Documents too short for a passage are not
//! stored.

use std::sync::Arc;

use crivo::similarity::winnow::{Anchor, Winnow};
use xxhash_rust::xxh3::xxh3_64;

use super::anchors::{AnchorRecord, first_window};
use super::words::{WORD_BYTES, WordCutter};
use crate::error::{Error, Result};
use crate::spill::{Extent, Order, PARTITIONS, Spill, Writer};

/// The number of bytes of words that a thread collects before it writes them to the file.
const BLOCK: usize = 1 << 20;

/// The number of addresses that share one entry of the table that finds documents.
const ADDRESSES_A_HINT: u64 = 1024;

/// The documents whose words were stored, and their anchors.
pub(crate) type StoredWords = (Vec<StoredDocument>, Writer<AnchorRecord>);

/// A document of the store.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredDocument {
    pub(crate) place: u64,
    /// The address of its first word.
    pub(crate) start: u64,
    pub(crate) words: u32,
}

impl StoredDocument {
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.words)
    }
}

/// Stores the words and anchors of the documents that one thread reads.
pub(crate) struct StoreWriter {
    cutter: WordCutter,
    winnow: Winnow,
    words: Arc<Spill>,
    anchors: Writer<AnchorRecord>,
    found: Vec<Anchor>,
    block: Vec<u8>,
    /// The documents of the block. Their addresses count from the beginning of the block until it
    /// is written.
    block_documents: Vec<StoredDocument>,
    /// Hash, context and address of each anchor of the block.
    block_anchors: Vec<(u64, u64, u64)>,
    documents: Vec<StoredDocument>,
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

impl StoreWriter {
    pub(crate) fn new(
        words: &Arc<Spill>,
        anchors: &Arc<Spill>,
        winnow: Winnow,
        seed: u64,
        memory: u64,
    ) -> Result<Self> {
        Ok(Self {
            cutter: WordCutter::new(seed)?,
            winnow,
            words: Arc::clone(words),
            anchors: Writer::new(anchors, PARTITIONS, memory, Order::Sorted),
            found: Vec::new(),
            block: Vec::new(),
            block_documents: Vec::new(),
            block_anchors: Vec::new(),
            documents: Vec::new(),
            count: 0,
            bytes: 0,
        })
    }

    /// Adds a document.
    pub(crate) fn take(&mut self, place: u64, text: &[u8]) -> Result<()> {
        self.count += 1;
        self.bytes += text.len() as u64;
        if u32::try_from(text.len()).is_err() {
            return Err(Error::setting("document", "fewer than 4 GiB", format_args!("{} bytes", text.len())));
        }
        let words = self.cutter.words(text);
        if words.len() < self.winnow.guaranteed() {
            return Ok(());
        }
        let start = (self.block.len() / WORD_BYTES) as u64;
        self.block.reserve(words.len() * WORD_BYTES);
        words.iter().for_each(|word| self.block.extend_from_slice(&word.to_le_bytes()[..WORD_BYTES]));
        self.block_documents.push(StoredDocument { place, start, words: words.len() as u32 });
        self.winnow.anchors(words, &mut self.found);
        let stored = &self.block[start as usize * WORD_BYTES..];
        let mut window = 0;
        for (at, anchor) in self.found.iter().enumerate() {
            // The windows of an anchor end where those of the next begin.
            let next = self.found.get(at + 1).map(|next| first_window(self.winnow, Some(anchor), next));
            let end = next.map_or(words.len(), |next| next + self.winnow.guaranteed() - 1);
            let context = xxh3_64(&stored[window * WORD_BYTES..end * WORD_BYTES]);
            self.block_anchors.push((anchor.hash, context, start + anchor.position as u64));
            window = next.unwrap_or(window);
        }
        if self.block.len() >= BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let Extent { start, .. } = self.words.append(&self.block)?;
        let first = start / WORD_BYTES as u64;
        self.block.clear();
        let documents = self.block_documents.drain(..);
        self.documents
            .extend(documents.map(|document| StoredDocument { start: first + document.start, ..document }));
        for (hash, context, address) in self.block_anchors.drain(..) {
            let record = AnchorRecord::new(hash, context, first + address);
            self.anchors.push(AnchorRecord::partition(hash), record)?;
        }
        Ok(())
    }

    /// Writes the last block. Returns the documents and the anchors.
    pub(crate) fn finish(mut self) -> Result<StoredWords> {
        self.flush()?;
        Ok((self.documents, self.anchors))
    }
}

/// All documents, in the order of the collection.
pub(crate) struct Store {
    words: Arc<Spill>,
    documents: Vec<StoredDocument>,
    /// The numbers of the documents in the order of their addresses.
    by_address: Vec<u32>,
    /// For every block of `ADDRESSES_A_HINT` addresses, the position in `by_address` of the
    /// document that holds the first of them.
    hints: Vec<u32>,
}

/// Returns the number of the document at a place, if its words were stored.
pub(crate) fn document_at_place(documents: &[StoredDocument], place: u64) -> Option<u32> {
    documents.binary_search_by_key(&place, |document| document.place).ok().map(|at| at as u32)
}

impl Store {
    /// Sorts the documents in the order of the collection. Their words must fill the file without
    /// gaps.
    pub(crate) fn new(words: Arc<Spill>, mut documents: Vec<StoredDocument>) -> Result<Self> {
        documents.sort_unstable_by_key(|document| document.place);
        let count = u32::try_from(documents.len()).map_err(|_| Error::TooMany)?;
        let mut by_address: Vec<u32> = (0..count).collect();
        by_address.sort_unstable_by_key(|&number| documents[number as usize].start);
        let end = words.bytes() / WORD_BYTES as u64;
        let mut hints = Vec::with_capacity((end / ADDRESSES_A_HINT) as usize + 1);
        let mut next = 0;
        for (at, &number) in (0_u32..).zip(&by_address) {
            let document = documents[number as usize];
            // Only a damaged work folder has documents with gaps.
            if document.start != next {
                return Err(Error::Changed);
            }
            next = document.end();
            while (hints.len() as u64) * ADDRESSES_A_HINT < next.min(end) {
                hints.push(at);
            }
        }
        if next != end || documents.windows(2).any(|pair| pair[0].place == pair[1].place) {
            return Err(Error::Changed);
        }
        Ok(Self { words, documents, by_address, hints })
    }

    pub(crate) fn documents(&self) -> &[StoredDocument] {
        &self.documents
    }

    /// Returns the number of addresses.
    pub(crate) fn addresses(&self) -> u64 {
        self.words.bytes() / WORD_BYTES as u64
    }

    pub(crate) fn words(&self) -> &Spill {
        &self.words
    }

    /// Returns the number of the document with an address, or `None` if the address is beyond the
    /// words.
    pub(crate) fn document_at(&self, address: u64) -> Option<u32> {
        let hint = *self.hints.get((address / ADDRESSES_A_HINT) as usize)?;
        let rest = self.by_address.get(hint as usize..)?;
        rest.iter().copied().find(|&number| address < self.documents[number as usize].end())
    }

    /// Returns the documents, without their words.
    pub(crate) fn into_documents(self) -> Vec<StoredDocument> {
        self.documents
    }

    /// Replaces the content of `words` by the words of a range of addresses.
    pub(crate) fn read(&self, start: u64, end: u64, bytes: &mut Vec<u8>, words: &mut Vec<u64>) -> Result<()> {
        let size = WORD_BYTES as u64;
        words.clear();
        if end <= start {
            return Ok(());
        }
        self.words.read(Extent { start: start * size, len: (end - start) * size }, bytes)?;
        words.extend(bytes.chunks_exact(WORD_BYTES).map(|word| {
            let mut whole = [0; 8];
            whole[..WORD_BYTES].copy_from_slice(word);
            u64::from_le_bytes(whole)
        }));
        Ok(())
    }
}
