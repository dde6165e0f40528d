//! Cuts keys into batches and hands them to a sketch.

use std::ops::Range;

use crivo::keys::{KeyBatch, KeyBuffer, KeyKind, KeyRef, KeyScheme, Span};

use crate::errors::Result;

/// Where batches go: into the sketch, under its lock.
pub(crate) type Take<'t> = &'t (dyn Fn(&KeyBatch<'_>) -> crivo::Result<()> + Sync);

/// The way from keys to a sketch. It can be moved to where the GIL is not held.
pub(super) struct Feed<'t> {
    scheme: KeyScheme,
    buffer: KeyBuffer,
    take: Take<'t>,
    /// Keys of no bytes: docs/keys.md counts empty text among what is missing from a column.
    empty: u64,
}

impl<'t> Feed<'t> {
    pub(super) fn new(scheme: KeyScheme, take: Take<'t>) -> Self {
        Self { scheme, buffer: KeyBuffer::new(scheme), take, empty: 0 }
    }

    pub(super) fn kind(&self) -> KeyKind {
        self.scheme.kind()
    }

    /// How many keys were left out because they are empty.
    pub(super) fn empty(&self) -> u64 {
        self.empty
    }

    /// Hands over the keys that lie at `ranges`, which ascend, of `bytes`. Spans count from the
    /// first key of their batch, so `bytes` itself may be larger than a batch can address.
    pub(super) fn ranges(
        &mut self,
        bytes: &[u8],
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> Result<()> {
        let mut start = 0;
        for range in ranges {
            if range.is_empty() {
                self.empty += 1;
                continue;
            }
            let too_far = range.end - start > u32::MAX as usize;
            if self.buffer.len() == KeyBatch::TARGET_LEN || too_far {
                self.flush(&bytes[start..])?;
            }
            if self.buffer.is_empty() {
                start = range.start;
            }
            self.buffer.push_span(Span::new(range.start - start..range.end - start)?);
        }
        self.flush(&bytes[start..])
    }

    /// Hands over the keys between each offset and the next: an Arrow column as it lies in memory.
    pub(super) fn offsets(&mut self, bytes: &[u8], offsets: &[i32]) -> Result<()> {
        let mut rest = offsets;
        while rest.len() > 1 {
            let batch = &rest[..rest.len().min(KeyBatch::TARGET_LEN + 1)];
            if batch.windows(2).any(|pair| pair[0] == pair[1]) {
                // Empty keys are left out, so the others have to be pointed at one by one.
                self.ranges(bytes, batch.windows(2).map(|pair| pair[0] as usize..pair[1] as usize))?;
            } else {
                (self.take)(&self.buffer.hash_offsets(batch, bytes)?)?;
            }
            rest = &rest[batch.len() - 1..];
        }
        Ok(())
    }

    fn flush(&mut self, bytes: &[u8]) -> Result<()> {
        let outcome = self.buffer.hash_spans(bytes).and_then(|batch| (self.take)(&batch));
        self.buffer.clear();
        Ok(outcome?)
    }

    /// Hands over integer keys, or hashes if that is what the sketch takes.
    pub(super) fn integers(&mut self, integers: &[u64]) -> Result<()> {
        for batch in integers.chunks(KeyBatch::TARGET_LEN) {
            let batch = match self.kind() {
                KeyKind::Hash => KeyBatch::from_hashes(self.scheme, batch)?,
                KeyKind::Integer | KeyKind::Bytes => self.buffer.hash_integers(batch)?,
            };
            (self.take)(&batch)?;
        }
        Ok(())
    }
}

/// Keys that had to be copied or written out, on their way to a [`Feed`].
///
/// It holds many batches: when the values are Python objects, each delivery releases the GIL,
/// and getting it back from a busy thread takes milliseconds.
#[derive(Default)]
pub(super) struct Gathered {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    integers: Vec<u64>,
}

impl Gathered {
    const KEYS: usize = 16 * KeyBatch::TARGET_LEN;
    const BYTES: usize = 1 << 20;

    pub(super) fn push(&mut self, key: KeyRef<'_>) {
        match key {
            KeyRef::Bytes(key) => {
                self.bytes.extend_from_slice(key);
                self.ends.push(self.bytes.len());
            }
            KeyRef::Integer(key) | KeyRef::Hash(key) => self.integers.push(key),
        }
    }

    /// Lets `write` append one key, unless it answers that there is none.
    #[inline]
    pub(super) fn push_written(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<bool>) -> Result<bool> {
        let written = write(&mut self.bytes)?;
        if written {
            self.ends.push(self.bytes.len());
        }
        Ok(written)
    }

    pub(super) fn is_full(&self) -> bool {
        self.ends.len() + self.integers.len() >= Self::KEYS || self.bytes.len() >= Self::BYTES
    }

    /// Hands everything over and keeps the memory.
    pub(super) fn deliver(&mut self, feed: &mut Feed<'_>) -> Result<()> {
        if !self.ends.is_empty() {
            let mut start = 0;
            let ranges = self.ends.iter().map(|&end| std::mem::replace(&mut start, end)..end);
            feed.ranges(&self.bytes, ranges)?;
        }
        feed.integers(&self.integers)?;
        self.bytes.clear();
        self.ends.clear();
        self.integers.clear();
        Ok(())
    }
}

/// The hash of a single key.
pub(super) fn hash(key: KeyRef<'_>, scheme: KeyScheme) -> crivo::Result<u64> {
    match key {
        KeyRef::Bytes(bytes) => scheme.hash(bytes),
        KeyRef::Integer(integer) | KeyRef::Hash(integer) => scheme.hash(&integer),
    }
}
