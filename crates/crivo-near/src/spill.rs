// This file is long because writers, partitions and merges share the layout of pieces, as do their tests.

//! Records grouped by partition, held in memory while they fit and in a file beyond that.
//!
//! Grouping equal keys needs all records of a key next to each other. Records go to a partition by
//! their key. A writer that holds more than its share of memory appends its records to the file,
//! partition by partition. Later, one partition at a time is read and sorted. A partition too large
//! for memory is merged from its sorted pieces, in buffers of a few kilobytes each.
//!
//! The file is a spill of `crivo-spill`. Without a work folder it has no name, so the system always
//! removes it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

pub(crate) use crivo_spill::{Extent, Spill};

use crate::error::Result;

/// The number of partitions for records with evenly distributed keys.
pub(crate) const PARTITIONS: usize = 256;

/// The bytes that one piece of a partition buffers while pieces are merged.
const MERGE_BUFFER: usize = 16 << 10;

/// The most records of a group in a piece, if the group's partition does not fit in memory.
const GROUP_PIECE: usize = 1024;

/// A value of fixed size that can be written to a file.
pub(crate) trait Record: Copy + Ord + Send + Sync {
    /// The number of bytes of a record.
    const SIZE: usize;
    /// Appends the bytes of the record.
    fn write(self, out: &mut Vec<u8>);
    /// Returns the record of exactly [`SIZE`](Self::SIZE) bytes.
    fn read(bytes: &[u8]) -> Self;
}

impl Record for u64 {
    const SIZE: usize = 8;

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        bytes.first_chunk().map_or(0, |bytes| Self::from_le_bytes(*bytes))
    }
}

impl Record for (u64, u64) {
    const SIZE: usize = 16;

    fn write(self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }

    fn read(bytes: &[u8]) -> Self {
        let (first, second) = bytes.split_at(8);
        (u64::read(first), u64::read(second))
    }
}

impl Record for (u64, u64, u64) {
    const SIZE: usize = 24;

    fn write(self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
        self.2.write(out);
    }

    fn read(bytes: &[u8]) -> Self {
        let (first, rest) = bytes.split_at(8);
        let (second, third) = <(u64, u64)>::read(rest);
        (u64::read(first), second, third)
    }
}

impl Record for (u64, u64, u64, u64) {
    const SIZE: usize = 32;

    fn write(self, out: &mut Vec<u8>) {
        (self.0, self.1).write(out);
        (self.2, self.3).write(out);
    }

    fn read(bytes: &[u8]) -> Self {
        let (front, back) = bytes.split_at(16);
        let ((first, second), (third, fourth)) = (<(u64, u64)>::read(front), <(u64, u64)>::read(back));
        (first, second, third, fourth)
    }
}

// ---- writing ----

/// The order of records in a writer's pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// In the order of insertion. The partition must be small enough to be sorted as a whole.
    Any,
    /// Each piece is sorted, so that pieces can be merged.
    Sorted,
    /// Each piece is sorted and has each record once.
    Once,
}

/// Collects the records of one thread.
#[derive(Debug)]
pub(crate) struct Writer<R> {
    spill: Arc<Spill>,
    buffers: Vec<Vec<R>>,
    extents: Vec<(u32, Extent)>,
    held: usize,
    /// The number of records that may be held before they are written to the file.
    limit: usize,
    order: Order,
}

impl<R: Record> Writer<R> {
    /// Returns a writer of the given number of partitions that holds about `memory` bytes.
    pub(crate) fn new(spill: &Arc<Spill>, partitions: usize, memory: u64, order: Order) -> Self {
        let buffers = (0..partitions.max(1)).map(|_| Vec::new()).collect();
        // A growing vector may have twice the capacity it needs.
        let limit = (memory as usize / R::SIZE / 2).max(partitions);
        Self { spill: Arc::clone(spill), buffers, extents: Vec::new(), held: 0, limit, order }
    }

    #[inline]
    pub(crate) fn push(&mut self, partition: usize, record: R) -> Result<()> {
        let partition = partition.min(self.buffers.len() - 1);
        self.buffers[partition].push(record);
        self.held += 1;
        if self.held > self.limit { self.make_room() } else { Ok(()) }
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        if self.order == Order::Once {
            self.held = 0;
            for records in &mut self.buffers {
                records.sort_unstable();
                records.dedup();
                self.held += records.len();
            }
            // If the duplicates were more than half of the records, the others stay in memory.
            if self.held < self.limit / 2 {
                return Ok(());
            }
        }
        self.flush()
    }

    /// Writes all held records to the file.
    pub(crate) fn flush(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        for (partition, buffer) in (0..).zip(&mut self.buffers) {
            // The memory of the partition is freed, because the next round may need it for another
            // one.
            let mut records = std::mem::take(buffer);
            match self.order {
                Order::Any => {}
                Order::Sorted => records.sort_unstable(),
                Order::Once => {
                    records.sort_unstable();
                    records.dedup();
                }
            }
            bytes.clear();
            records.into_iter().for_each(|record| record.write(&mut bytes));
            if !bytes.is_empty() {
                self.extents.push((partition, self.spill.append(&bytes)?));
            }
        }
        self.held = 0;
        Ok(())
    }
}

// ---- reading ----

/// The records that all threads have collected.
#[derive(Debug)]
pub(crate) struct Partitions<R> {
    spill: Arc<Spill>,
    parts: Vec<Partition<R>>,
}

#[derive(Debug)]
struct Partition<R> {
    memory: Vec<Vec<R>>,
    extents: Vec<Extent>,
}

impl<R: Record> Partitions<R> {
    /// Collects the records of the writers of one spill.
    pub(crate) fn new(partitions: usize, writers: Vec<Writer<R>>) -> Self {
        let spill = writers.first().map(|writer| Arc::clone(&writer.spill)).unwrap_or_default();
        let mut parts: Vec<Partition<R>> =
            (0..partitions).map(|_| Partition { memory: Vec::new(), extents: Vec::new() }).collect();
        for writer in writers {
            for (part, mut records) in parts.iter_mut().zip(writer.buffers) {
                if !records.is_empty() {
                    if writer.order != Order::Any {
                        records.sort_unstable();
                    }
                    part.memory.push(records);
                }
            }
            for (partition, extent) in writer.extents {
                parts[partition as usize].extents.push(extent);
            }
        }
        Self { spill, parts }
    }

    /// Returns the partitions that an earlier run has written to a named file.
    pub(crate) fn reopened(spill: Arc<Spill>, extents: Vec<Vec<Extent>>) -> Self {
        let parts = extents.into_iter().map(|extents| Partition { memory: Vec::new(), extents }).collect();
        Self { spill, parts }
    }

    /// Returns the extents of each partition in the file. Records that are still in memory are not
    /// included.
    pub(crate) fn extents(&self) -> impl Iterator<Item = &[Extent]> {
        self.parts.iter().map(|part| part.extents.as_slice())
    }

    pub(crate) fn spill(&self) -> &Spill {
        &self.spill
    }

    /// Writes everything to the file, and waits until it is on the disk.
    pub(crate) fn persist(&mut self) -> Result<()> {
        let mut bytes = Vec::new();
        for part in &mut self.parts {
            for records in std::mem::take(&mut part.memory) {
                bytes.clear();
                records.into_iter().for_each(|record| record.write(&mut bytes));
                part.extents.push(self.spill.append(&bytes)?);
            }
        }
        Ok(self.spill.sync()?)
    }

    /// Returns the number of partitions.
    pub(crate) fn count(&self) -> usize {
        self.parts.len()
    }

    /// Returns the number of records of a partition.
    pub(crate) fn len(&self, partition: usize) -> u64 {
        let Some(part) = self.parts.get(partition) else { return 0 };
        let in_memory: usize = part.memory.iter().map(Vec::len).sum();
        in_memory as u64 + part.extents.iter().map(|extent| extent.len / R::SIZE as u64).sum::<u64>()
    }

    /// Replaces the content of `records` by the records of a partition, ascending.
    pub(crate) fn sorted(&self, partition: usize, records: &mut Vec<R>) -> Result<()> {
        records.clear();
        self.for_each_piece(partition, u64::MAX, |piece| {
            records.extend_from_slice(piece);
            Ok(())
        })?;
        records.sort_unstable();
        Ok(())
    }

    /// Passes the records of a partition to `take`, in no particular order. Records from the file
    /// come in pieces of at most `bytes` bytes.
    pub(crate) fn for_each_piece(
        &self,
        partition: usize,
        bytes: u64,
        mut take: impl FnMut(&[R]) -> Result<()>,
    ) -> Result<()> {
        let Some(part) = self.parts.get(partition) else { return Ok(()) };
        part.memory.iter().try_for_each(|records| take(records))?;
        let (mut buffer, mut records) = (Vec::new(), Vec::new());
        let step = (bytes / R::SIZE as u64).max(1) * R::SIZE as u64;
        for extent in &part.extents {
            let mut start = extent.start;
            let end = extent.start + extent.len;
            while start < end {
                let len = step.min(end - start);
                self.spill.read(Extent { start, len }, &mut buffer)?;
                records.clear();
                records.extend(buffer.chunks_exact(R::SIZE).map(R::read));
                take(&records)?;
                start += len;
            }
        }
        Ok(())
    }

    /// Passes the records of a partition to `take`, in ascending order. A partition of more than
    /// `memory` bytes is merged from its pieces, which must have been written in
    /// [order](Order::Sorted).
    pub(crate) fn for_each_sorted(
        &self,
        partition: usize,
        memory: u64,
        buffer: &mut Vec<R>,
        mut take: impl FnMut(R) -> Result<()>,
    ) -> Result<()> {
        if self.len(partition).saturating_mul(R::SIZE as u64) <= memory {
            self.sorted(partition, buffer)?;
            return buffer.iter().try_for_each(|&record| take(record));
        }
        buffer.clear();
        buffer.shrink_to_fit();
        let Some(part) = self.parts.get(partition) else { return Ok(()) };
        let in_memory = part.memory.iter().map(|records| Piece::Memory(records));
        let in_file = part.extents.iter().map(|&rest| Piece::File { rest, records: Vec::new(), at: 0 });
        let mut pieces: Vec<Piece<'_, R>> = in_memory.chain(in_file).collect();
        let mut next = BinaryHeap::with_capacity(pieces.len());
        for (number, piece) in pieces.iter_mut().enumerate() {
            next.extend(piece.next(&self.spill)?.map(|record| Reverse((record, number))));
        }
        while let Some(Reverse((record, number))) = next.pop() {
            take(record)?;
            next.extend(pieces[number].next(&self.spill)?.map(|record| Reverse((record, number))));
        }
        Ok(())
    }
}

/// Some consecutive records of a group, which has the same key: usually the whole group.
pub(crate) struct GroupPiece<'a, R> {
    pub(crate) records: &'a [R],
    /// Whether this is the first piece of its group.
    pub(crate) begins: bool,
    /// Whether this is the last piece of its group.
    pub(crate) ends: bool,
}

impl<R> GroupPiece<'_, R> {
    /// Returns true if the group has no other record.
    pub(crate) fn is_single(&self) -> bool {
        self.begins && self.ends && self.records.len() == 1
    }
}

impl<R: Record> Partitions<R> {
    /// Passes the records of a partition to `take`, grouped by their keys and ascending. The order
    /// of records must be that of their keys. A partition of more than `memory` bytes is sorted in
    /// another file, and its groups come in pieces.
    pub(crate) fn for_each_group<K: PartialEq>(
        &self,
        partition: usize,
        memory: u64,
        buffer: &mut Vec<R>,
        key: impl Fn(&R) -> K,
        mut take: impl FnMut(GroupPiece<'_, R>) -> Result<()>,
    ) -> Result<()> {
        if self.len(partition).saturating_mul(R::SIZE as u64) <= memory {
            self.sorted(partition, buffer)?;
            let mut groups = buffer.chunk_by(|one, other| key(one) == key(other));
            return groups.try_for_each(|records| take(GroupPiece { records, begins: true, ends: true }));
        }
        buffer.clear();
        buffer.shrink_to_fit();
        let sorted = self.sorted_on_disk(partition, memory)?;
        let mut begins = true;
        sorted.for_each_sorted(0, 0, &mut Vec::new(), |record| {
            let ends = buffer.last().is_some_and(|last| key(last) != key(&record));
            if ends || buffer.len() == GROUP_PIECE {
                take(GroupPiece { records: buffer, begins, ends })?;
                begins = ends;
                buffer.clear();
            }
            buffer.push(record);
            Ok(())
        })?;
        if buffer.is_empty() { Ok(()) } else { take(GroupPiece { records: buffer, begins, ends: true }) }
    }

    /// Returns the records of a partition as the only partition of another file, in sorted pieces.
    fn sorted_on_disk(&self, partition: usize, memory: u64) -> Result<Self> {
        let mut writer = Writer::new(&Arc::new(Spill::default()), 1, memory / 2, Order::Sorted);
        self.for_each_piece(partition, MERGE_BUFFER as u64, |records| {
            records.iter().try_for_each(|&record| writer.push(0, record))
        })?;
        Ok(Self::new(1, vec![writer]))
    }
}

/// A sorted piece of a partition that is being merged.
enum Piece<'a, R> {
    Memory(&'a [R]),
    File { rest: Extent, records: Vec<R>, at: usize },
}

impl<R: Record> Piece<'_, R> {
    fn next(&mut self, spill: &Spill) -> Result<Option<R>> {
        match self {
            Self::Memory(records) => Ok(records.split_off_first().copied()),
            Self::File { rest, records, at } => {
                if *at == records.len() {
                    let step = (MERGE_BUFFER / R::SIZE * R::SIZE) as u64;
                    let len = step.min(rest.len);
                    let mut bytes = Vec::new();
                    spill.read(Extent { start: rest.start, len }, &mut bytes)?;
                    records.clear();
                    records.extend(bytes.chunks_exact(R::SIZE).map(R::read));
                    *rest = Extent { start: rest.start + len, len: rest.len - len };
                    *at = 0;
                }
                let record = records.get(*at).copied();
                *at += 1;
                Ok(record)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_sorted_whether_they_fit_or_not() {
        for memory in [1, 1 << 20] {
            let spill = Arc::new(Spill::default());
            let writer = || Writer::new(&spill, PARTITIONS, memory, Order::Sorted);
            let mut writers = vec![writer(), writer()];
            let mut expected = vec![Vec::new(); PARTITIONS];
            for number in 0..5000_u64 {
                let record = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number % 7);
                let partition = (record.0 >> 56) as usize;
                writers[number as usize % 2].push(partition, record).unwrap();
                expected[partition].push(record);
            }
            assert_eq!(spill.bytes() > 0, memory == 1, "spilled with {memory} bytes");
            let partitions = Partitions::new(PARTITIONS, writers);
            let mut records = Vec::new();
            for (partition, mut expected) in expected.into_iter().enumerate() {
                assert_eq!(partitions.len(partition), expected.len() as u64);
                expected.sort_unstable();
                partitions.sorted(partition, &mut records).unwrap();
                assert_eq!(records, expected);
                let mut merged = Vec::new();
                let take = |record| {
                    merged.push(record);
                    Ok(())
                };
                partitions.for_each_sorted(partition, 0, &mut records, take).unwrap();
                assert_eq!(merged, expected);
            }
        }
    }

    #[test]
    fn groups_are_the_same_whether_they_fit_or_not() {
        let spill = Arc::new(Spill::default());
        let mut writer = Writer::new(&spill, 2, 4096, Order::Any);
        // Groups of one record, of three, and of more than fit in a piece.
        for number in (0..9000_u64).rev() {
            let key = if number < 5001 { 7 } else { 10 + number / 3 };
            writer.push(1, (key, number)).unwrap();
        }
        writer.push(1, (8, 1)).unwrap();
        let partitions = Partitions::new(2, vec![writer]);
        let groups = |memory| {
            let (mut groups, mut pieces, mut is_open) = (Vec::<Vec<(u64, u64)>>::new(), 0, false);
            let mut buffer = Vec::new();
            let take = |piece: GroupPiece<'_, (u64, u64)>| {
                assert_eq!(piece.begins, !is_open);
                assert_eq!(piece.is_single(), piece.records == [(8, 1)]);
                if piece.begins {
                    groups.push(Vec::new());
                }
                groups.last_mut().unwrap().extend_from_slice(piece.records);
                is_open = !piece.ends;
                pieces += 1;
                Ok(())
            };
            partitions.for_each_group(1, memory, &mut buffer, |record| record.0, take).unwrap();
            assert!(!is_open);
            (groups, pieces)
        };
        let (whole, pieces) = groups(1 << 20);
        assert_eq!((whole.len(), whole[0].len(), pieces), (1335, 5001, 1335));
        let (merged, pieces) = groups(32 << 10);
        assert_eq!((merged == whole, pieces), (true, 1339));
    }

    #[test]
    fn repeated_records_are_dropped_before_they_are_written() {
        let spill = Arc::new(Spill::default());
        let mut writer = Writer::new(&spill, PARTITIONS, 1, Order::Once);
        for number in 0..100_000_u64 {
            writer.push(0, number % 50).unwrap();
        }
        assert_eq!(spill.bytes(), 0, "50 different records fit in any memory");
        let mut records = Vec::new();
        Partitions::new(PARTITIONS, vec![writer]).sorted(0, &mut records).unwrap();
        records.dedup();
        assert_eq!(records, (0..50).collect::<Vec<_>>());
    }
}
