//! The file that describes a stage: a sequence of numbers, and a checksum at the end.

use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Error, Result};
use crate::spill::Extent;

/// The first bytes of every such file.
const MAGIC: [u8; 8] = *b"CRVWORK1";

/// Writes the description of a stage.
pub(crate) struct StageWriter {
    file: BufWriter<File>,
    hash: Xxh3,
    path: PathBuf,
}

impl StageWriter {
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = File::create(path).map_err(|error| Error::work_not_written(path, &error))?;
        let mut writer = Self { file: BufWriter::new(file), hash: Xxh3::new(), path: path.to_path_buf() };
        writer.put(&MAGIC)?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.hash.update(bytes);
        self.file.write_all(bytes).map_err(|error| Error::work_not_written(&self.path, &error))
    }

    pub(crate) fn number(&mut self, number: u64) -> Result<()> {
        self.put(&number.to_le_bytes())
    }

    pub(crate) fn numbers(&mut self, numbers: &[u32]) -> Result<()> {
        self.number(numbers.len() as u64)?;
        numbers.iter().try_for_each(|number| self.put(&number.to_le_bytes()))
    }

    /// Writes the end of a spill, and the extents of its partitions.
    pub(crate) fn extents<'a>(&mut self, end: u64, parts: impl Iterator<Item = &'a [Extent]>) -> Result<()> {
        let parts: Vec<_> = parts.collect();
        self.number(end)?;
        self.number(parts.len() as u64)?;
        for extents in parts {
            self.number(extents.len() as u64)?;
            for extent in extents {
                self.number(extent.start)?;
                self.number(extent.len)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        let sum = self.hash.digest();
        let failed = |error: std::io::Error| Error::work_not_written(&self.path, &error);
        self.file.write_all(&sum.to_le_bytes()).map_err(failed)?;
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        file.sync_data().map_err(failed)
    }
}

/// Reads the description of a stage.
pub(crate) struct StageReader {
    file: BufReader<File>,
    hash: Xxh3,
    path: PathBuf,
    left: u64,
}

impl StageReader {
    /// Opens the description of a stage. Returns `None` if the file does not exist.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::work(path, error)),
        };
        let left = file.metadata().map_err(|error| Error::work(path, error))?.len();
        let mut reader =
            Self { file: BufReader::new(file), hash: Xxh3::new(), path: path.to_path_buf(), left };
        if reader.take::<8>()? != MAGIC {
            return Err(reader.damaged());
        }
        Ok(Some(reader))
    }

    /// Returns the error for a file that no run wrote in this form.
    pub(crate) fn damaged(&self) -> Error {
        Error::work(&self.path, "is damaged: empty the folder and run again")
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(|_| self.damaged())?;
        self.left = self.left.saturating_sub(N as u64);
        self.hash.update(&bytes);
        Ok(bytes)
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        self.take().map(u64::from_le_bytes)
    }

    /// Reads a number that was written as 64 bits and must fit in 32.
    pub(crate) fn number32(&mut self) -> Result<u32> {
        self.number()?.try_into().map_err(|_| self.damaged())
    }

    /// Reads a count, and then as many records of at least `bytes` bytes. A count that needs more
    /// bytes than the file has left is reported as damage.
    pub(crate) fn list<T>(
        &mut self,
        bytes: u64,
        mut read: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.number()?;
        if count.saturating_mul(bytes) > self.left {
            return Err(self.damaged());
        }
        let mut records = Vec::with_capacity(count as usize);
        for _ in 0..count {
            records.push(read(self)?);
        }
        Ok(records)
    }

    pub(crate) fn numbers(&mut self) -> Result<Vec<u32>> {
        self.list(4, |from| from.take().map(u32::from_le_bytes))
    }

    /// Reads the end of a spill, and the extents of its partitions.
    pub(crate) fn extents(&mut self) -> Result<(u64, Vec<Vec<Extent>>)> {
        let end = self.number()?;
        let extent = |from: &mut Self| {
            let extent = Extent { start: from.number()?, len: from.number()? };
            let is_inside = extent.start.checked_add(extent.len).is_some_and(|extent_end| extent_end <= end);
            if is_inside { Ok(extent) } else { Err(from.damaged()) }
        };
        Ok((end, self.list(8, |from| from.list(16, extent))?))
    }

    pub(super) fn finish(mut self) -> Result<()> {
        let sum = self.hash.digest();
        if self.number()? == sum && self.left == 0 { Ok(()) } else { Err(self.damaged()) }
    }
}
