//! Records put aside by partition, in memory while they fit and in a temporary file beyond.
//!
//! Grouping equal keys needs all records of a key side by side. Records go to one of [`PARTITIONS`] by
//! their key; when a writer holds more than its share of memory it appends what it has to the file,
//! partition by partition. Later one partition at a time is brought together, which takes a
//! 256th of the memory. The file has no name, so nothing of it stays behind, whatever happens.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, Result};

/// Into how many parts the records are divided.
pub(crate) const PARTITIONS: usize = 256;

/// Something of fixed size that can be written down.
pub(crate) trait Record: Copy + Ord + Send + Sync {
    const SIZE: usize;
    fn write(self, out: &mut Vec<u8>);
    /// From exactly [`SIZE`](Self::SIZE) bytes.
    fn read(bytes: &[u8]) -> Self;
}

impl Record for u64 {
    const SIZE: usize = 8;

    fn write(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        bytes.iter().rev().fold(0, |value, &byte| value << 8 | Self::from(byte))
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

/// The temporary file, made when it is first needed.
#[derive(Debug, Default)]
pub(crate) struct Spill(Mutex<Option<File>>);

/// A stretch of the file with records of one partition.
#[derive(Debug, Clone, Copy)]
struct Extent {
    start: u64,
    len: usize,
}

impl Spill {
    /// Appends, and says where.
    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let failed = Error::storage("writing to a temporary file");
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let written = (|| {
            let file = match &mut *file {
                Some(file) => file,
                none => none.insert(tempfile::tempfile()?),
            };
            let start = file.seek(SeekFrom::End(0))?;
            file.write_all(bytes)?;
            Ok(start)
        })();
        written.map_err(failed)
    }

    fn read(&self, extent: Extent, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        bytes.resize(extent.len, 0);
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = &mut *file else { return Ok(()) };
        file.seek(SeekFrom::Start(extent.start))
            .and_then(|_| file.read_exact(bytes))
            .map_err(Error::storage("reading a temporary file"))
    }
}

/// Where one thread puts its records.
#[derive(Debug)]
pub(crate) struct Writer<R> {
    spill: Arc<Spill>,
    parts: Vec<Part<R>>,
    held: usize,
    /// How many records may be held before they go to the file.
    limit: usize,
    /// Whether of equal records one is enough.
    once: bool,
}

#[derive(Debug)]
struct Part<R> {
    records: Vec<R>,
    extents: Vec<Extent>,
}

impl<R: Record> Writer<R> {
    pub(crate) fn new(spill: &Arc<Spill>, memory: u64, once: bool) -> Self {
        let parts = (0..PARTITIONS).map(|_| Part { records: Vec::new(), extents: Vec::new() }).collect();
        // A growing vector has up to twice the room it needs.
        let limit = (memory as usize / R::SIZE / 2).max(PARTITIONS);
        Self { spill: Arc::clone(spill), parts, held: 0, limit, once }
    }

    #[inline]
    pub(crate) fn push(&mut self, partition: usize, record: R) -> Result<()> {
        self.parts[partition % PARTITIONS].records.push(record);
        self.held += 1;
        if self.held > self.limit { self.make_room() } else { Ok(()) }
    }

    #[cold]
    fn make_room(&mut self) -> Result<()> {
        if self.once {
            self.held = 0;
            for part in &mut self.parts {
                part.records.sort_unstable();
                part.records.dedup();
                self.held += part.records.len();
            }
            // Worth another round in memory only if it made much room.
            if self.held < self.limit / 2 {
                return Ok(());
            }
        }
        let mut bytes = Vec::new();
        for part in &mut self.parts {
            bytes.clear();
            part.records.drain(..).for_each(|record| record.write(&mut bytes));
            if !bytes.is_empty() {
                let start = self.spill.append(&bytes)?;
                part.extents.push(Extent { start, len: bytes.len() });
            }
        }
        self.held = 0;
        Ok(())
    }
}

/// What all threads have put aside.
#[derive(Debug)]
pub(crate) struct Partitions<R>(Vec<Writer<R>>);

impl<R: Record> Partitions<R> {
    pub(crate) fn new(writers: Vec<Writer<R>>) -> Self {
        Self(writers)
    }

    /// How many records a partition has.
    pub(crate) fn len(&self, partition: usize) -> usize {
        let parts = self.0.iter().map(|writer| &writer.parts[partition]);
        parts
            .map(|part| part.records.len() + part.extents.iter().map(|e| e.len / R::SIZE).sum::<usize>())
            .sum()
    }

    /// The records of a partition that are wanted, ascending, replacing what `records` held.
    pub(crate) fn sorted(
        &self,
        partition: usize,
        wanted: impl Fn(&R) -> bool,
        records: &mut Vec<R>,
    ) -> Result<()> {
        records.clear();
        let mut bytes = Vec::new();
        for writer in &self.0 {
            let part = &writer.parts[partition];
            records.extend(part.records.iter().filter(|record| wanted(record)));
            for &extent in &part.extents {
                writer.spill.read(extent, &mut bytes)?;
                records.extend(bytes.chunks_exact(R::SIZE).map(R::read).filter(&wanted));
            }
        }
        records.sort_unstable();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_sorted_whether_they_fit_or_not() {
        for memory in [1, 1 << 20] {
            let spill = Arc::new(Spill::default());
            let mut writers = vec![Writer::new(&spill, memory, false), Writer::new(&spill, memory, false)];
            let mut expected = vec![Vec::new(); PARTITIONS];
            for number in 0..5000_u64 {
                let record = (number.wrapping_mul(0x9E37_79B9_7F4A_7C15), number % 7);
                let partition = (record.0 >> 56) as usize;
                writers[number as usize % 2].push(partition, record).unwrap();
                expected[partition].push(record);
            }
            assert_eq!(spill.0.lock().unwrap().is_some(), memory == 1, "spilled with {memory} bytes");
            let partitions = Partitions::new(writers);
            let mut records = Vec::new();
            for (partition, mut expected) in expected.into_iter().enumerate() {
                assert_eq!(partitions.len(partition), expected.len());
                partitions.sorted(partition, |_| true, &mut records).unwrap();
                expected.sort_unstable();
                assert_eq!(records, expected);
                partitions.sorted(partition, |record| record.1 == 3, &mut records).unwrap();
                assert!(records.iter().all(|record| record.1 == 3));
            }
        }
    }

    #[test]
    fn repeated_records_are_dropped_before_they_are_written() {
        let spill = Arc::new(Spill::default());
        let mut writer = Writer::new(&spill, 1, true);
        for number in 0..100_000_u64 {
            writer.push(0, number % 50).unwrap();
        }
        assert!(spill.0.lock().unwrap().is_none(), "50 different records fit in any memory");
        let mut records = Vec::new();
        Partitions::new(vec![writer]).sorted(0, |_| true, &mut records).unwrap();
        records.dedup();
        assert_eq!(records, (0..50).collect::<Vec<_>>());
    }
}
