//! The files that are read. A change between two readings is detected.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Result, bail};

use super::about;

/// Files with their sizes and modification times.
#[derive(Debug, Default)]
pub(crate) struct InputFiles(Vec<InputFile>);

#[derive(Debug, PartialEq, Eq)]
struct InputFile {
    path: PathBuf,
    bytes: u64,
    changed: Option<SystemTime>,
}

impl InputFile {
    fn of(path: &Path) -> Result<Self> {
        let found = fs::metadata(path).map_err(|error| about(path, &error))?;
        // Pipes and devices have neither size nor modification time.
        let changed = found.modified().ok().filter(|_| found.is_file());
        Ok(Self { path: path.to_path_buf(), bytes: if found.is_file() { found.len() } else { 0 }, changed })
    }
}

impl InputFiles {
    pub(super) fn of<'a>(paths: impl Iterator<Item = &'a Path>) -> Result<Self> {
        paths.map(InputFile::of).collect::<Result<_>>().map(Self)
    }

    /// Returns the total size of all files in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|file| file.bytes).sum()
    }

    /// Checks that no file has changed.
    ///
    /// # Errors
    /// Names the first file that has changed.
    pub(super) fn check(&self) -> Result<()> {
        for file in &self.0 {
            if InputFile::of(&file.path)? != *file {
                bail!(
                    "{}: changed while it was read: run again when nothing writes to it",
                    file.path.display()
                );
            }
        }
        Ok(())
    }
}

impl fmt::Display for InputFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for InputFile { path, bytes, changed } in &self.0 {
            let since = changed.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
            writeln!(f, "file {} {bytes} {}", path.display(), since.unwrap_or_default().as_nanos())?;
        }
        Ok(())
    }
}
