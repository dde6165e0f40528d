//! Temporary files for bytes that are read again: standard input, pipes, or rows on their way to
//! another format.
//!
//! The bytes may be private, and large. So where the system allows it, the file has no name, and
//! the system removes it when the program ends in any way.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::{NamedTempFile, TempPath};

use crate::interrupt::Unfinished;

/// A temporary file that can be read again and again.
#[derive(Debug)]
pub(crate) struct Spool {
    path: PathBuf,
    /// Kept open, because a file without a name exists only as long as it is open.
    file: File,
    /// The name, where files need one. The file is removed with this value, or by a signal.
    _named: Option<(TempPath, Unfinished)>,
}

impl Spool {
    /// Reads a pipe to its end. Without a path, reads standard input.
    pub(crate) fn of_pipe(path: Option<&Path>) -> Result<Self> {
        let name = || path.map_or("standard input".into(), Path::to_string_lossy);
        let mut spool = Self::empty().with_context(|| {
            format!("{} is read more than once, and no temporary file can be made", name())
        })?;
        let copied = match path {
            None => io::copy(&mut io::stdin().lock(), &mut spool.file),
            Some(path) => File::open(path).and_then(|mut pipe| io::copy(&mut pipe, &mut spool.file)),
        };
        copied.and_then(|_| spool.file.flush()).with_context(|| {
            let name = name();
            format!("keeping {name} in a temporary file, which is read more than once; TMPDIR chooses where")
        })?;
        Ok(spool)
    }

    /// Returns a spool with the bytes that `fill` writes.
    pub(crate) fn of(fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<Self> {
        let spool = Self::empty().context("no temporary file can be made")?;
        let mut to = BufWriter::new(&spool.file);
        fill(&mut to)?;
        to.flush().context("writing a temporary file")?;
        drop(to);
        Ok(spool)
    }

    fn empty() -> io::Result<Self> {
        let file = tempfile::tempfile()?;
        if let Some(path) = path_of(&file) {
            return Ok(Self { path, file, _named: None });
        }
        let (file, path) = NamedTempFile::new()?.into_parts();
        let unfinished = Unfinished::new(&path);
        Ok(Self { path: path.to_path_buf(), file, _named: Some((path, unfinished)) })
    }

    /// Returns a path that can be opened any number of times, each time from the beginning.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns a path that reopens a file without a name, if the system has such paths.
fn path_of(file: &File) -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd;
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        File::open(&path).ok().map(|_| path)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = file;
        None
    }
}
