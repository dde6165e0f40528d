//! Sorted runs of groups in the temporary file, and how they are merged.
//!
//! A run is cut into [`PARTS`] by the hash of the key. Each part of all runs is merged on its own,
//! so that threads share the work.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crivo::groups::{GroupKind, GroupSketch, PackedGroup};
use crivo::window::Pane;
use crivo_spill::{Extent, Spill};

use crate::error::{Error, Result};

/// The number of parts of the range of hashes.
pub(crate) const PARTS: usize = 64;

/// The number of bytes that are written at once.
pub(crate) const PIECE: usize = 1 << 20;

/// Returns the part that a hash belongs to.
pub(crate) fn part_of(hash: u64) -> usize {
    ((u128::from(hash) * PARTS as u128) >> 64) as usize
}

/// A run in the temporary file: the pieces of each part, in order.
#[derive(Debug)]
pub(crate) struct Run {
    parts: Vec<Vec<Extent>>,
}

/// Writes a run.
pub(crate) struct RunWriter<'a> {
    spill: &'a Arc<Spill>,
    run: Run,
    buffer: Vec<u8>,
    part: usize,
}

impl<'a> RunWriter<'a> {
    pub(crate) fn new(spill: &'a Arc<Spill>) -> Self {
        Self { spill, run: Run { parts: vec![Vec::new(); PARTS] }, buffer: Vec::new(), part: 0 }
    }

    /// Adds a group. `pack` appends it to the buffer and returns the hash of its key.
    pub(crate) fn push(&mut self, pack: impl FnOnce(&mut Vec<u8>) -> Result<u64>) -> Result<()> {
        let before = self.buffer.len();
        let part = part_of(pack(&mut self.buffer)?);
        if part != self.part || before > PIECE {
            self.flush(before)?;
            self.part = part;
        }
        Ok(())
    }

    /// Writes the first `bytes` bytes of the buffer as a piece of the current part.
    fn flush(&mut self, bytes: usize) -> Result<()> {
        if bytes > 0 {
            self.run.parts[self.part].push(self.spill.append(&self.buffer[..bytes])?);
            self.buffer.drain(..bytes);
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Run> {
        self.flush(self.buffer.len())?;
        Ok(self.run)
    }
}

/// Reads the records of several pieces one after the other.
pub(crate) struct Cursor<'a> {
    spill: &'a Spill,
    pieces: &'a [Extent],
    /// The bytes of the current piece that are not read yet.
    rest: Extent,
    buffer: Cow<'a, [u8]>,
    at: usize,
    /// The number of bytes to read at once.
    step: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(spill: &'a Spill, pieces: &'a [Extent], step: usize) -> Self {
        let rest = Extent { start: 0, len: 0 };
        Self { spill, pieces, rest, buffer: Cow::Borrowed(&[]), at: 0, step }
    }

    /// Returns a cursor over records in memory.
    pub(crate) fn in_memory(spill: &'a Spill, bytes: &'a [u8]) -> Self {
        Self { buffer: Cow::Borrowed(bytes), ..Self::new(spill, &[], PIECE) }
    }

    /// Returns the current record and its length, if [`load`](Self::load) has read it.
    fn record(&self) -> Option<(PackedGroup<'_>, usize)> {
        PackedGroup::read(&self.buffer[self.at..])
    }

    pub(crate) fn current(&self) -> Result<PackedGroup<'_>> {
        self.record().map(|(record, _)| record).ok_or(Error::Changed)
    }

    /// Moves to the next record. Returns false at the end.
    pub(crate) fn advance(&mut self) -> Result<bool> {
        let length = self.record().map_or(0, |(_, length)| length);
        self.at += length;
        self.load()
    }

    /// Reads until the current record is whole. Returns false at the end.
    pub(crate) fn load(&mut self) -> Result<bool> {
        loop {
            if self.record().is_some() {
                return Ok(true);
            }
            let held = self.buffer.len() - self.at;
            if self.rest.len == 0 {
                match (held, self.pieces.split_first()) {
                    (0, None) => return Ok(false),
                    (0, Some((next, others))) => (self.rest, self.pieces) = (*next, others),
                    _ => return Err(Error::Changed),
                }
            }
            let needed = PackedGroup::needed(&self.buffer[self.at..]).unwrap_or(0).saturating_sub(held);
            let len = (needed.max(self.step) as u64).min(self.rest.len);
            let mut more = Vec::new();
            self.spill.read(Extent { start: self.rest.start, len }, &mut more)?;
            self.rest = Extent { start: self.rest.start + len, len: self.rest.len - len };
            let mut buffer = std::mem::take(&mut self.buffer).into_owned();
            buffer.drain(..self.at);
            buffer.append(&mut more);
            (self.buffer, self.at) = (Cow::Owned(buffer), 0);
        }
    }
}

/// Passes every merged group of one part of the runs to `each`, in the order in which groups are
/// stored.
pub(crate) fn merge_part<S: Pane>(
    kind: &GroupKind<S>,
    (spill, runs): (&Spill, &[Run]),
    part: usize,
    step: usize,
    mut each: impl FnMut(&[u8], &GroupSketch<S>) -> Result<()>,
) -> Result<()> {
    let mut cursors = Vec::new();
    let mut next = BinaryHeap::new();
    for run in runs {
        let mut cursor = Cursor::new(spill, &run.parts[part], step);
        if cursor.load()? {
            next.push(Reverse((kind.hash(cursor.current()?.key()), cursors.len())));
            cursors.push(cursor);
        }
    }
    let (mut same, mut key) = (Vec::new(), Vec::new());
    while let Some(Reverse((hash, first))) = next.pop() {
        same.clear();
        same.push(first);
        while let Some(Reverse((_, other))) = next.peek().filter(|other| other.0.0 == hash).copied() {
            next.pop();
            same.push(other);
        }
        key.clear();
        key.extend_from_slice(cursors[first].current()?.key());
        for &number in &same[1..] {
            let other = cursors[number].current()?.key();
            if other < key.as_slice() {
                key.clear();
                key.extend_from_slice(other);
            }
        }
        let mut group = None;
        for &number in &same {
            let packed = cursors[number].current()?;
            if packed.key() == key {
                let content = kind.unpack(&packed)?;
                match &mut group {
                    None => group = Some(content),
                    Some(group) => kind.merge(group, content)?,
                }
                if !cursors[number].advance()? {
                    continue;
                }
            }
            next.push(Reverse((kind.hash(cursors[number].current()?.key()), number)));
        }
        if let Some(group) = group {
            each(&key, &group)?;
        }
    }
    Ok(())
}
