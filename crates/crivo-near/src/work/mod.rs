//! A folder that keeps the stages of a search, so that a killed run can continue.
//!
//! Each stage leaves its spills and a file that describes them: `signed`, `paired`, `gathered`.
//! That file is written last, and gets its final name only when it is complete. Comparing appends
//! to `found.log` after every block. A run continues after the last stage that it finds. Its result
//! depends on nothing else, so it is the same byte for byte. A search for passages keeps `stored`
//! and `extended` in the same way. The file `run` names the run that the folder belongs to; another
//! run is refused.

mod log;
mod stage;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use self::log::{FoundLog, PAIRS_OF_A_FRAME};
pub(crate) use self::stage::{StageReader, StageWriter};
use crate::error::{Error, Result};
use crate::spill::Spill;

/// Every file that a work folder may have, in the order of removal. If a run is killed while it
/// removes them, the next run accepts the files that are left.
const FILES: [&str; 17] = [
    "found.log",
    "gathered",
    "paired",
    "signed",
    "extended",
    "stored",
    "keys.spill",
    "prints.spill",
    "signatures.spill",
    "pairs.spill",
    "samples.spill",
    "sets.spill",
    "words.spill",
    "anchors.spill",
    "runs.spill",
    "run",
    "lock",
];

/// The folder of a search's stages, and the collection it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkFolder {
    /// The folder, which is created if it does not exist.
    pub path: PathBuf,
    /// A text that distinguishes the collection from others, such as its files with their sizes and
    /// times.
    pub identity: String,
}

impl WorkFolder {
    /// Removes the files of a search from the folder, and then the folder if it is empty.
    ///
    /// # Errors
    /// If a file cannot be removed.
    pub fn clear(&self) -> Result<()> {
        for name in FILES {
            remove(&self.path.join(name))?;
            remove(&self.path.join(format!("{name}.new")))?;
        }
        // The folder may have other files, which are not removed.
        let _ = fs::remove_dir(&self.path);
        Ok(())
    }
}

/// A work folder that this run has locked.
pub(crate) struct Work {
    path: PathBuf,
    /// The lock, held until the run ends. The system releases it if the run is killed.
    _lock: File,
}

impl Work {
    /// Opens or creates the folder, and checks that it belongs to this run. `settings` has all
    /// settings that decide the result, one on each line. Memory and threads are not among them.
    ///
    /// # Errors
    /// If the folder cannot be used, another run uses it, or it has the stages of another
    /// collection or of other settings.
    pub(crate) fn open(folder: &WorkFolder, settings: &str) -> Result<Self> {
        let path = folder.path.clone();
        let unusable = |error: std::io::Error| Error::work(&path, error);
        fs::create_dir_all(&path).map_err(unusable)?;
        let lock = File::options().write(true).create(true).truncate(false).open(path.join("lock"));
        let lock = lock.map_err(unusable)?;
        take_lock(&lock, &path)?;
        let own = format!("{settings}{}", folder.identity);
        let run = path.join("run");
        match fs::read_to_string(&run) {
            Ok(stored) if stored == own => {}
            Ok(stored) => {
                let differs = stored.lines().zip(own.lines()).find(|(stored, own)| stored != own);
                let (stored, own) = differs.unwrap_or(("other files", "these"));
                return Err(Error::work(
                    &path,
                    format_args!(
                        "keeps another run, with `{stored}`, where this one has `{own}`: name another folder, or empty it"
                    ),
                ));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let stages = FILES.iter().take_while(|name| **name != "run");
                if let Some(name) = stages.into_iter().find(|name| path.join(name).exists()) {
                    return Err(Error::work(
                        &path.join(name),
                        "is there without a run it belongs to: empty the folder",
                    ));
                }
                let temporary = path.join("run.new");
                fs::write(&temporary, own)
                    .and_then(|()| fs::rename(&temporary, &run))
                    .map_err(|error| Error::work_not_written(&run, &error))?;
            }
            Err(error) => return Err(Error::work(&run, error)),
        }
        Ok(Self { path, _lock: lock })
    }

    /// Returns the path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates a spill with this name.
    pub(crate) fn spill(&self, name: &str) -> Arc<Spill> {
        Arc::new(Spill::named(&self.path(name)))
    }

    /// Writes the description of a finished stage. The stage counts as finished only when the file
    /// has its final name.
    pub(crate) fn save(&self, name: &str, fill: impl FnOnce(&mut StageWriter) -> Result<()>) -> Result<()> {
        let temporary = self.path(&format!("{name}.new"));
        let mut writer = StageWriter::create(&temporary)?;
        fill(&mut writer)?;
        writer.finish()?;
        let target = self.path(name);
        fs::rename(&temporary, &target).map_err(|error| Error::work(&target, error))
    }

    /// Loads a stage, or returns `None` if it was not finished.
    pub(crate) fn load<T>(
        &self,
        name: &str,
        read: impl FnOnce(&mut StageReader) -> Result<T>,
    ) -> Result<Option<T>> {
        let path = self.path(name);
        let Some(mut reader) = StageReader::open(&path)? else { return Ok(None) };
        let found = read(&mut reader)?;
        reader.finish()?;
        Ok(Some(found))
    }

    /// Removes files that later stages do not need.
    pub(crate) fn remove(&self, names: &[&str]) -> Result<()> {
        names.iter().try_for_each(|name| remove(&self.path(name)))
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::work(path, error)),
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn take_lock(lock: &File, path: &Path) -> Result<()> {
    match rustix::fs::flock(lock, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            Err(Error::work(path, "another run uses it: wait for its end, or name another folder"))
        }
        Err(error) => Err(Error::work(path, std::io::Error::from(error))),
    }
}

#[cfg(not(unix))]
fn take_lock(_: &File, _: &Path) -> Result<()> {
    Ok(())
}
