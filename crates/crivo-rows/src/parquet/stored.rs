//! The bytes of a Parquet file, which any thread can read at any position.

use std::fs::File;
use std::io;
use std::path::Path;

use bytes::Bytes;

use crate::error::{Error, ErrorKind, Result};
use crate::foreign;

/// The bytes of a file.
#[derive(Debug)]
pub(super) enum Stored {
    /// A file shared by all readers. Each read has its own position.
    File { file: File, length: u64 },
    /// A source that cannot be read at any position (a pipe, a compressed file), held in memory.
    Memory(Bytes),
}

impl Stored {
    /// Opens a file, which must be a plain one.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self::File { file, length })
    }

    pub(super) fn length(&self) -> u64 {
        match self {
            Self::File { length, .. } => *length,
            Self::Memory(bytes) => bytes.len() as u64,
        }
    }

    /// Returns the `length` bytes at `start`. Fewer bytes are an error.
    pub(super) fn bytes_at(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64).filter(|end| *end <= self.length());
        let Some(end) = end else { return Err(ends_early()) };
        match self {
            Self::Memory(bytes) => Ok(bytes.slice(start as usize..end as usize)),
            Self::File { file, .. } => {
                let mut buffer = foreign::buffer(length)?;
                buffer.resize(length, 0);
                read_exact_at(file, &mut buffer, start)?;
                Ok(buffer.into())
            }
        }
    }

    /// Fills a small buffer as far as the file goes. Returns the filled part.
    pub(super) fn peek_at<'b>(&self, start: u64, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
        let left = usize::try_from(self.length().saturating_sub(start)).unwrap_or(usize::MAX);
        let part = buffer.len().min(left);
        let buffer = &mut buffer[..part];
        match self {
            Self::Memory(bytes) => buffer.copy_from_slice(&bytes[start as usize..start as usize + part]),
            Self::File { file, .. } => read_exact_at(file, buffer, start)?,
        }
        Ok(buffer)
    }
}

fn read_exact_at(file: &File, mut buffer: &mut [u8], mut start: u64) -> Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, start) {
            // The file was longer when it was opened.
            Ok(0) => return Err(ends_early()),
            Ok(length) => {
                buffer = &mut buffer[length..];
                start += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io(error)),
        }
    }
    Ok(())
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], start: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, start)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], start: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, start)
}

#[cold]
fn ends_early() -> Error {
    Error::new(ErrorKind::Damaged, super::told("it ends too early"))
}
