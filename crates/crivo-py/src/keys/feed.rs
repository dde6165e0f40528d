//! Cuts keys into batches and hands them over, with the places where values were missing.

use std::mem;
use std::ops::Range;

use crivo::keys::{KeyBatch, KeyBuffer, KeyKind, KeyRef, KeyScheme, Span};

use super::Verb;
use crate::errors::Result;

/// Where batches go: into a sketch, or to its answers, under its lock.
pub(crate) type Take<'t> = &'t mut (dyn FnMut(Stretch<'_>) -> Result<()> + Send);

/// A batch of keys as they lay among the values.
pub(crate) struct Stretch<'a> {
    pub(crate) keys: KeyBatch<'a>,
    /// For each value that was missing, ascending: how many of the keys came before it.
    gaps: &'a [usize],
}

impl Stretch<'_> {
    /// How many values the stretch covers, missing ones included.
    pub(crate) fn values(&self) -> usize {
        self.keys.len() + self.gaps.len()
    }

    /// For each value that was missing, ascending: how many of the keys came before it.
    pub(crate) fn gaps(&self) -> &[usize] {
        self.gaps
    }

    /// The rows of the keys, replacing what `out` held, if the first value has the row `first`. Returns the row after the
    /// last value.
    pub(crate) fn rows(&self, first: u64, out: &mut Vec<u64>) -> u64 {
        let all: Vec<u64> = (first..).take(self.values()).collect();
        self.gather(&all, out);
        first + self.values() as u64
    }

    /// Appends an answer for every value: those given for the keys, `T::default()` for missing ones.
    pub(crate) fn spread<T: Copy + Default>(&self, answers: &[T], out: &mut Vec<T>) {
        let mut done = 0;
        for &before in self.gaps {
            out.extend_from_slice(&answers[done..before]);
            out.push(T::default());
            done = before;
        }
        out.extend_from_slice(&answers[done..]);
    }

    /// Copies to `out` the entries of `given`, one for each value, without those of missing values.
    /// Replaces what `out` held.
    pub(crate) fn gather<T: Copy>(&self, given: &[T], out: &mut Vec<T>) {
        gather(self.gaps, given, out);
    }
}

/// Copies to `out` the entries of `given`, one for each value, without those of missing values. `gaps` has
/// for each missing value the number of present values before it.
pub(crate) fn gather<T: Copy>(gaps: &[usize], given: &[T], out: &mut Vec<T>) {
    out.clear();
    let mut rest = given;
    for &before in gaps {
        let (present, missing) = rest.split_at(before - out.len());
        out.extend_from_slice(present);
        rest = &missing[1..];
    }
    out.extend_from_slice(rest);
}

/// The way from keys to a sketch. It can be moved to where the GIL is not held.
pub(super) struct Feed<'t> {
    scheme: KeyScheme,
    verb: &'static Verb,
    buffer: KeyBuffer,
    take: Take<'t>,
    /// Those of the coming [`Stretch`].
    gaps: Vec<usize>,
    missing: u64,
}

impl<'t> Feed<'t> {
    /// How many missing values are remembered before they are handed over, with keys or without.
    const MOST_GAPS: usize = KeyBatch::TARGET_LEN;

    pub(super) fn new(scheme: KeyScheme, verb: &'static Verb, take: Take<'t>) -> Self {
        Self { scheme, verb, buffer: KeyBuffer::new(scheme), take, gaps: Vec::new(), missing: 0 }
    }

    pub(super) fn kind(&self) -> KeyKind {
        self.scheme.kind()
    }

    pub(super) fn verb(&self) -> &'static Verb {
        self.verb
    }

    /// How many values were missing.
    pub(super) fn missing(&self) -> u64 {
        self.missing
    }

    /// Hands over the keys that lie at `ranges`, which ascend, of `bytes`. An empty range stands for a
    /// missing value: docs/keys.md counts empty text among what is missing from a column. Spans count
    /// from the first key of their batch, so `bytes` itself may be larger than a batch can address.
    pub(super) fn ranges(
        &mut self,
        bytes: &[u8],
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> Result<()> {
        let mut start = 0;
        for range in ranges {
            if range.is_empty() {
                if self.gaps.len() == Self::MOST_GAPS {
                    self.flush(&bytes[start..])?;
                }
                self.gaps.push(self.buffer.len());
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
                (self.take)(Stretch { keys: self.buffer.hash_offsets(batch, bytes)?, gaps: &[] })?;
            }
            rest = &rest[batch.len() - 1..];
        }
        Ok(())
    }

    /// Hands over keys that lie apart from each other, each read where it is. An empty one stands for a missing
    /// value.
    pub(super) fn slices<'a>(&mut self, slices: impl IntoIterator<Item = &'a [u8]>) -> Result<()> {
        let mut batch: Vec<&[u8]> = Vec::with_capacity(KeyBatch::TARGET_LEN);
        for slice in slices {
            if slice.is_empty() {
                self.gaps.push(batch.len());
            } else {
                batch.push(slice);
            }
            if batch.len() == KeyBatch::TARGET_LEN || self.gaps.len() == Self::MOST_GAPS {
                self.flush_slices(&batch)?;
                batch.clear();
            }
        }
        self.flush_slices(&batch)
    }

    fn flush_slices(&mut self, slices: &[&[u8]]) -> Result<()> {
        (self.take)(Stretch { keys: self.buffer.hash_slices(slices)?, gaps: &self.gaps })?;
        self.forget_gaps();
        Ok(())
    }

    fn flush(&mut self, bytes: &[u8]) -> Result<()> {
        let keys = self.buffer.hash_spans(bytes)?;
        (self.take)(Stretch { keys, gaps: &self.gaps })?;
        self.buffer.clear();
        self.forget_gaps();
        Ok(())
    }

    /// Hands over integer keys, or hashes if that is what the sketch takes. `gaps` says of each missing
    /// value how many integers came before it.
    pub(super) fn integers(&mut self, integers: &[u64], mut gaps: &[usize]) -> Result<()> {
        let mut done = 0;
        // An empty batch at the end has the values that are missing after the last integer.
        for batch in integers.chunks(KeyBatch::TARGET_LEN).chain([&[][..]]) {
            let end = if batch.is_empty() { usize::MAX } else { done + batch.len() };
            let (here, later) = gaps.split_at(gaps.partition_point(|&before| before < end));
            self.gaps.extend(here.iter().map(|before| before - done));
            let keys = match self.kind() {
                KeyKind::Hash => KeyBatch::from_hashes(self.scheme, batch)?,
                KeyKind::Integer | KeyKind::Bytes => self.buffer.hash_integers(batch)?,
            };
            (self.take)(Stretch { keys, gaps: &self.gaps })?;
            self.forget_gaps();
            (done, gaps) = (end, later);
        }
        Ok(())
    }

    /// Counts the gaps that were handed over.
    fn forget_gaps(&mut self) {
        self.missing += self.gaps.len() as u64;
        self.gaps.clear();
    }
}

/// Keys that had to be copied or written out, on their way to a [`Feed`].
///
/// It holds many batches: when the values are Python objects, each delivery releases the GIL,
/// and getting it back from a busy thread takes milliseconds.
pub(super) struct Gathered {
    kind: KeyKind,
    bytes: Vec<u8>,
    ends: Vec<usize>,
    integers: Vec<u64>,
    /// Of text a missing value is an empty range; of integers it is a gap between them.
    gaps: Vec<usize>,
}

impl Gathered {
    const VALUES: usize = 16 * KeyBatch::TARGET_LEN;
    const BYTES: usize = 1 << 20;

    pub(super) fn for_keys_of(feed: &Feed<'_>) -> Self {
        let (bytes, ends, integers, gaps) = Default::default();
        Self { kind: feed.kind(), bytes, ends, integers, gaps }
    }

    pub(super) fn push(&mut self, key: KeyRef<'_>) {
        match key {
            KeyRef::Bytes(key) => {
                self.bytes.extend_from_slice(key);
                self.ends.push(self.bytes.len());
            }
            KeyRef::Integer(key) | KeyRef::Hash(key) => self.integers.push(key),
        }
    }

    pub(super) fn push_missing(&mut self) {
        match self.kind {
            KeyKind::Bytes => self.ends.push(self.bytes.len()),
            KeyKind::Integer | KeyKind::Hash => self.gaps.push(self.integers.len()),
        }
    }

    /// Lets `write` append one key, or nothing if the value is missing.
    #[inline]
    pub(super) fn push_written(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<bool>) -> Result<()> {
        write(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    pub(super) fn is_full(&self) -> bool {
        self.ends.len() + self.integers.len() + self.gaps.len() >= Self::VALUES
            || self.bytes.len() >= Self::BYTES
    }

    /// Hands everything over and keeps the memory.
    pub(super) fn deliver(&mut self, feed: &mut Feed<'_>) -> Result<()> {
        if self.kind == KeyKind::Bytes {
            let mut start = 0;
            let ranges = self.ends.iter().map(|&end| mem::replace(&mut start, end)..end);
            feed.ranges(&self.bytes, ranges)?;
        } else {
            feed.integers(&self.integers, &self.gaps)?;
        }
        self.bytes.clear();
        self.ends.clear();
        self.integers.clear();
        self.gaps.clear();
        Ok(())
    }
}
