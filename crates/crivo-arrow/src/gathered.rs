//! Keys that had to be copied or written as text before they go to a [`Feed`].

use std::mem;

use crivo::keys::{KeyBatch, KeyKind, KeyRef};

use crate::error::{Error, Result};
use crate::feed::Feed;

/// Collects many batches of keys. A caller whose values are Python objects releases its lock at
/// each delivery, and getting the lock back from a busy thread takes milliseconds.
#[derive(Debug)]
pub struct Gathered {
    kind: KeyKind,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    integers: Vec<u64>,
    /// The missing values among integers. Among texts a missing value is an empty range.
    gaps: Vec<usize>,
}

impl Gathered {
    pub(crate) const VALUES: usize = 16 * KeyBatch::TARGET_LEN;
    const BYTES: usize = 1 << 20;

    /// Creates an empty collection.
    pub fn new(kind: KeyKind) -> Self {
        let (bytes, ends, integers, gaps) = Default::default();
        Self { kind, bytes, ends, integers, gaps }
    }

    /// Adds a key.
    pub fn push(&mut self, key: KeyRef<'_>) {
        match key {
            KeyRef::Bytes(key) => {
                self.bytes.extend_from_slice(key);
                self.ends.push(self.bytes.len());
            }
            KeyRef::Integer(key) | KeyRef::Hash(key) => self.integers.push(key),
        }
    }

    /// Adds a missing value.
    pub fn push_missing(&mut self) {
        match self.kind {
            KeyKind::Bytes => self.ends.push(self.bytes.len()),
            KeyKind::Integer | KeyKind::Hash => self.gaps.push(self.integers.len()),
        }
    }

    /// Adds the key that `write` appends, or a missing value if it returns false.
    #[inline]
    pub(crate) fn push_written(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<bool>) -> Result<()> {
        let start = self.bytes.len();
        if !write(&mut self.bytes)? {
            self.bytes.truncate(start);
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Returns true if the keys should be delivered.
    pub fn is_full(&self) -> bool {
        self.ends.len() + self.integers.len() + self.gaps.len() >= Self::VALUES
            || self.bytes.len() >= Self::BYTES
    }

    /// Passes all keys to the feed. The memory is kept.
    ///
    /// # Errors
    /// The errors of the feed.
    pub fn deliver<E: From<Error>>(&mut self, feed: &mut Feed<'_, E>) -> Result<(), E> {
        if self.kind == KeyKind::Bytes {
            let mut start = 0;
            let ranges = self.ends.iter().map(|&end| mem::replace(&mut start, end)..end);
            feed.ranges(&self.bytes, ranges)?;
        } else {
            feed.integer_keys(&self.integers, &self.gaps)?;
        }
        self.bytes.clear();
        self.ends.clear();
        self.integers.clear();
        self.gaps.clear();
        Ok(())
    }
}
