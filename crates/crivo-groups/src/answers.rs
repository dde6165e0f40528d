//! The answers of all groups in the order of their keys. They are held in memory while they fit,
//! and in the temporary file beyond that.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crivo::groups::PackedGroup;
use crivo_spill::{Extent, Spill};

use crate::error::Result;
use crate::runs::{Cursor, PIECE};

/// The number of bytes read at once from each sorted piece while pieces are merged.
const STEP: usize = 32 << 10;

/// The answer of each group, in ascending order of the groups' keys.
#[derive(Debug)]
pub struct Answers {
    spill: Arc<Spill>,
    sorted: Vec<Sorted>,
    count: u64,
}

/// Answers in ascending order of their keys.
#[derive(Debug)]
enum Sorted {
    Memory(Vec<u8>),
    File(Vec<Extent>),
}

impl Answers {
    pub(crate) fn new(spill: Arc<Spill>, parts: impl IntoIterator<Item = AnswerSorter>) -> Self {
        let (mut sorted, mut count) = (Vec::new(), 0);
        for part in parts {
            sorted.extend(part.sorted);
            count += part.count;
        }
        Self { spill, sorted, count }
    }

    /// Returns the number of answers.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns true if there are no answers.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Passes the key and the answer of each group to `each`, in ascending order of the keys.
    ///
    /// # Errors
    /// The errors of `each`, and an error if a temporary file cannot be read.
    pub fn for_each(&self, mut each: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let mut cursors = Vec::new();
        let mut next = BinaryHeap::new();
        for sorted in &self.sorted {
            let mut cursor = match sorted {
                Sorted::Memory(bytes) => Cursor::in_memory(&self.spill, bytes),
                Sorted::File(pieces) => Cursor::new(&self.spill, pieces, STEP),
            };
            if cursor.load()? {
                next.push(Reverse((cursor.current()?.key().to_vec(), cursors.len())));
                cursors.push(cursor);
            }
        }
        while let Some(Reverse((mut key, number))) = next.pop() {
            let cursor: &mut Cursor<'_> = &mut cursors[number];
            each(&key, cursor.current()?.content())?;
            if cursor.advance()? {
                key.clear();
                key.extend_from_slice(cursor.current()?.key());
                next.push(Reverse((key, number)));
            }
        }
        Ok(())
    }
}

/// Collects answers in any order, and sorts them by key.
#[derive(Debug)]
pub(crate) struct AnswerSorter {
    /// The encoded records, not sorted. `starts` has the first byte of each.
    records: Vec<u8>,
    starts: Vec<usize>,
    sorted: Vec<Sorted>,
    /// The number of bytes that may be held before they are written to the file.
    limit: usize,
    count: u64,
}

impl AnswerSorter {
    pub(crate) fn new(limit: usize) -> Self {
        Self { records: Vec::new(), starts: Vec::new(), sorted: Vec::new(), limit, count: 0 }
    }

    pub(crate) fn push(&mut self, key: &[u8], answer: &[u8], spill: &Spill) -> Result<()> {
        self.starts.push(self.records.len());
        PackedGroup::write(key, answer, &mut self.records);
        self.count += 1;
        if self.records.len() + self.starts.len() * size_of::<usize>() > self.limit {
            let sorted = self.take_sorted();
            let pieces = sorted.chunks_to(PIECE, |piece| Ok(spill.append(piece)?))?;
            self.sorted.push(Sorted::File(pieces));
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self) {
        if !self.starts.is_empty() {
            let sorted = self.take_sorted();
            self.sorted.push(Sorted::Memory(sorted.0));
        }
        (self.records, self.starts) = (Vec::new(), Vec::new());
    }

    fn take_sorted(&mut self) -> Records {
        let Self { records, starts, .. } = self;
        let record = |start: usize| PackedGroup::read(&records[start..]);
        starts.sort_by_key(|&start| record(start).map(|(record, _)| record.key()));
        let mut sorted = Vec::with_capacity(records.len());
        for &start in &*starts {
            let length = record(start).map_or(0, |(_, length)| length);
            sorted.extend_from_slice(&records[start..start + length]);
        }
        records.clear();
        starts.clear();
        Records(sorted)
    }
}

/// Encoded records, one after the other.
struct Records(Vec<u8>);

impl Records {
    /// Passes the records to `take` in chunks of whole records, of about `bytes` bytes each.
    fn chunks_to<T>(&self, bytes: usize, mut take: impl FnMut(&[u8]) -> Result<T>) -> Result<Vec<T>> {
        let (mut start, mut end) = (0, 0);
        let mut taken = Vec::new();
        while let Some(length) = PackedGroup::needed(&self.0[end..]) {
            end += length;
            if end - start >= bytes {
                taken.push(take(&self.0[start..end])?);
                start = end;
            }
        }
        if start < self.0.len() {
            taken.push(take(&self.0[start..])?);
        }
        Ok(taken)
    }
}
