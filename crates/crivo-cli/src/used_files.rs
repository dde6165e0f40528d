//! The files of a run: those that are read, and those that are written.
//!
//! An output replaces an older file of its name. So each output is compared with the files that the
//! run reads and with its other outputs, before any work begins.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use crivo_rows::Input;

use crate::store::{Destination, NewFolder};

/// The files that a run reads, and the outputs that it has so far.
#[derive(Debug)]
pub(crate) struct UsedFiles {
    read: Vec<PathBuf>,
    /// The outputs, as [`resolved`] returns them.
    written: Vec<PathBuf>,
}

impl UsedFiles {
    /// Begins with the files that are read. Names may be globs, or folders with all files in them.
    pub(crate) fn reading(names: &[PathBuf]) -> Self {
        Self { read: matching_files(names), written: Vec::new() }
    }

    /// Adds files that are read.
    pub(crate) fn and_reading<'a>(mut self, names: impl IntoIterator<Item = &'a PathBuf>) -> Self {
        let names: Vec<PathBuf> = names.into_iter().cloned().collect();
        self.read.extend(matching_files(&names));
        self
    }

    /// Adds the files of a database in a folder. Other files in the folder are not read.
    pub(crate) fn and_reading_database(mut self, folder: &Path) -> Self {
        let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        // The database is a file .sqlite; SQLite appends the names of the files beside it.
        let of_database = files.filter(|file| file.file_name().to_string_lossy().contains(".sqlite"));
        self.read.extend(of_database.map(|file| file.path()));
        self
    }

    /// Returns a destination for a result. It must be neither a file that is read nor an earlier
    /// output. A new file is readable by no more users than the files that are read.
    pub(crate) fn output(&mut self, path: &Path) -> Result<Destination> {
        let destination = Destination::new(path)?.readable_as(&self.read);
        self.claim(path)?;
        Ok(destination)
    }

    /// Returns the destination of a result, if the user named one.
    pub(crate) fn optional_output(&mut self, path: Option<&PathBuf>) -> Result<Option<Destination>> {
        path.map(|path| self.output(path)).transpose()
    }

    /// Returns a new folder for results. It must not be an earlier output.
    pub(crate) fn new_folder(&mut self, path: &Path) -> Result<NewFolder> {
        let folder = NewFolder::new(path)?.readable_as(&self.read);
        self.claim(path)?;
        Ok(folder)
    }

    fn claim(&mut self, path: &Path) -> Result<()> {
        // Writing to a device or a pipe replaces nothing.
        if path.exists() && !path.is_file() {
            return Ok(());
        }
        let target = resolved(path);
        let is_read = |read: &&PathBuf| {
            let read = resolved(read);
            read == target || target.is_file() && read.is_dir() && target.starts_with(read)
        };
        if let Some(read) = self.read.iter().find(is_read) {
            let name = if read.is_dir() { path } else { read.as_path() };
            bail!("{}: is read, and would be replaced: write to another file", name.display());
        }
        if self.written.contains(&target) {
            bail!("{}: is the name of two outputs: write them to different files", path.display());
        }
        self.written.push(target);
        Ok(())
    }
}

/// Returns one path for all names of a file, also of a file that does not exist yet.
fn resolved(path: &Path) -> PathBuf {
    let of_new_file = || {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(folder.canonicalize().ok()?.join(path.file_name()?))
    };
    path.canonicalize().ok().or_else(of_new_file).unwrap_or_else(|| path.to_path_buf())
}

/// Returns the files that match the names and globs, or the names themselves if one is a folder.
fn matching_files(names: &[PathBuf]) -> Vec<PathBuf> {
    Input::from_args(names)
        .map_or_else(|_| names.to_vec(), |input| input.paths().map(Path::to_path_buf).collect())
}
