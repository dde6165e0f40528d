//! Temporary storage for what does not fit in memory: a file that is appended to, and read
//! anywhere.
//!
//! A [`Spill`] creates its file when it is first needed. The file has no name unless one is given.
//! So nothing of it stays behind, whatever happens to the process. Threads append and read at the
//! same time.
//!
//! [`partial`] is for results: files that appear under their name when they are whole.

#![forbid(unsafe_code)]

pub mod partial;

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The result of the crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a file could not be used.
#[derive(Debug)]
pub struct Error {
    doing: &'static str,
    path: Option<PathBuf>,
    cause: std::io::Error,
}

impl Error {
    /// Returns the operation that failed.
    pub fn doing(&self) -> &'static str {
        self.doing
    }

    /// Returns the path of the file, if it has a name.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the error of the operating system.
    pub fn into_cause(self) -> std::io::Error {
        self.cause
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { doing, path, cause } = self;
        match path {
            Some(path) => write!(f, "{}: {doing}: {cause}", path.display()),
            None => write!(f, "{doing}: {cause}; TMPDIR chooses where temporary files are kept"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.cause)
    }
}

/// A file that is appended to, created when it is first needed.
#[derive(Debug, Default)]
pub struct Spill {
    file: Mutex<Option<Arc<File>>>,
    /// The path of the file, if it has a name.
    path: Option<PathBuf>,
    end: AtomicU64,
}

/// A range of bytes in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The position of the first byte.
    pub start: u64,
    /// The number of bytes.
    pub len: u64,
}

impl Spill {
    /// Creates a spill whose file has a name. Its first write replaces any file of that name.
    pub fn named(path: &Path) -> Self {
        Self { path: Some(path.to_path_buf()), ..Self::default() }
    }

    /// Opens a named file that an earlier run has filled up to `end`.
    ///
    /// # Errors
    /// If the file cannot be opened, or is shorter than `end`.
    pub fn reopened(path: &Path, end: u64) -> Result<Self> {
        let file = File::options().read(true).write(true).open(path);
        // A spill to which nothing was written has no file.
        let file = match file {
            Err(error) if end == 0 && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::named(path));
            }
            file => file.map_err(|cause| named(path, cause))?,
        };
        let length = file.metadata().map_err(|cause| named(path, cause))?.len();
        if length < end {
            return Err(named(path, std::io::Error::other("is shorter than the run that wrote it says")));
        }
        Ok(Self {
            file: Mutex::new(Some(Arc::new(file))),
            path: Some(path.to_path_buf()),
            end: AtomicU64::new(end),
        })
    }

    /// Returns the number of bytes written so far.
    pub fn bytes(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    fn file(&self) -> Result<Arc<File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*file {
            return Ok(Arc::clone(file));
        }
        let made = match &self.path {
            Some(path) => File::options().read(true).write(true).create(true).truncate(true).open(path),
            None => tempfile::tempfile(),
        };
        let made = Arc::new(made.map_err(|error| self.failed("making a temporary file", error))?);
        Ok(Arc::clone(file.insert(made)))
    }

    /// Appends bytes, and returns their place in the file.
    ///
    /// # Errors
    /// If the file cannot be created or written.
    pub fn append(&self, bytes: &[u8]) -> Result<Extent> {
        let file = self.file()?;
        let start = self.end.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        write_at(&file, bytes, start).map_err(|error| self.failed("writing to a temporary file", error))?;
        Ok(Extent { start, len: bytes.len() as u64 })
    }

    /// Replaces the content of `bytes` by a range of the file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self, extent: Extent, bytes: &mut Vec<u8>) -> Result<()> {
        bytes.clear();
        bytes.resize(extent.len as usize, 0);
        read_at(&*self.file()?, bytes, extent.start)
            .map_err(|error| self.failed("reading a temporary file", error))
    }

    /// Returns the error of an operation on the file, with the file's name if it has one.
    fn failed(&self, doing: &'static str, cause: std::io::Error) -> Error {
        Error { doing, path: self.path.clone(), cause }
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// If the system cannot write it.
    pub fn sync(&self) -> Result<()> {
        match &*self.file.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(file) => file.sync_data().map_err(|error| self.failed("writing to a temporary file", error)),
            None => Ok(()),
        }
    }
}

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], start: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, start)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, start)
}

/// Serializes the threads that move the file's one position.
#[cfg(not(unix))]
static POSITION: Mutex<()> = Mutex::new(());

#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], start: u64) -> std::io::Result<()> {
    use std::io::{Seek, SeekFrom, Write};
    let _alone = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(start))?;
    file.write_all(bytes)
}

#[cfg(not(unix))]
fn read_at(mut file: &File, bytes: &mut [u8], start: u64) -> std::io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    let _alone = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(SeekFrom::Start(start))?;
    file.read_exact(bytes)
}

fn named(path: &Path, cause: std::io::Error) -> Error {
    Error { doing: "opening a temporary file", path: Some(path.to_path_buf()), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_appended_is_read_again() {
        let spill = Spill::default();
        let first = spill.append(b"first").unwrap();
        let second = spill.append(b"and second").unwrap();
        let mut bytes = Vec::new();
        spill.read(second, &mut bytes).unwrap();
        assert_eq!(bytes, b"and second");
        spill.read(first, &mut bytes).unwrap();
        assert_eq!((&*bytes, spill.bytes()), (&b"first"[..], 15));
        assert!(spill.read(Extent { start: 10, len: 6 }, &mut bytes).is_err());
    }
}
