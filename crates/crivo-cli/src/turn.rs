//! A lock that lets the writers of one file take turns.
//!
//! A command that continues a file reads it, adds to it and writes it back. If two of them did so
//! at once, one would overwrite the rows of the other. So each command first locks a small file
//! beside the file, and holds the lock until it is done. The operating system releases the lock of
//! a process that is killed. So a lock file that is left behind keeps no process waiting.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use clap::Args;

use crate::{clock, interrupt, store};

/// The time between two attempts to take a held lock.
const PAUSE: Duration = Duration::from_millis(10);

/// How long to wait for other writers.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Sketch")]
pub(crate) struct WaitArgs {
    /// How long to wait while another process writes the file: 30s, 5m
    #[arg(long, value_name = "TIME", value_parser = clock::duration, default_value = "30s")]
    wait: u64,
}

impl WaitArgs {
    /// Waits until no other process writes the file. Other processes wait until the returned turn
    /// is dropped.
    pub(crate) fn take_turn(self, path: &Path) -> Result<Turn> {
        Turn::take(path, Duration::from_millis(self.wait))
    }
}

/// The right to write one file, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The open lock file. The lock is held as long as it is open.
    _lock: File,
    path: PathBuf,
}

impl Turn {
    fn take(path: &Path, wait: Duration) -> Result<Self> {
        let name = store::name_of(path);
        let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let lock_path = lock_path_of(&target);
        let failed = |error: &io::Error| anyhow!("{name}: cannot be locked: {}", store::reason(error));
        let deadline = Instant::now() + wait;
        interrupt::watch(false);
        loop {
            let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_path);
            let lock = lock.map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    let folder = target.parent().unwrap_or(Path::new("."));
                    anyhow!("{name}: there is no folder {} to write it in", folder.display())
                }
                _ => failed(&error),
            })?;
            match lock.try_lock() {
                // The previous process may have removed the file that was just locked.
                Ok(()) if is_the_file_at(&lock, &lock_path) => {
                    interrupt::remove_when_leaving(&lock_path);
                    return Ok(Self { _lock: lock, path: lock_path });
                }
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(&error)),
            }
            if Instant::now() >= deadline {
                let seconds = wait.as_secs();
                bail!(
                    "{name}: another process has been writing it for {seconds} s: a larger --wait waits longer"
                );
            }
            if interrupt::is_requested() {
                return Err(interrupt::Interrupted.into());
            }
            thread::sleep(PAUSE);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Removed while it is locked. A process that opened it in the meantime notices that, and
        // opens a new one.
        let _ = fs::remove_file(&self.path);
        interrupt::keep_when_leaving(&self.path);
    }
}

/// Returns the path of the lock file: hidden, in the same folder.
fn lock_path_of(target: &Path) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.lock"))
}

#[cfg(unix)]
fn is_the_file_at(lock: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let inode = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
    match (lock.metadata(), fs::metadata(path)) {
        (Ok(locked), Ok(there)) => inode(locked) == inode(there),
        _ => false,
    }
}

/// Other systems cannot remove an open file, so the locked file still exists.
#[cfg(not(unix))]
fn is_the_file_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.crivo");
        let first = Turn::take(&path, Duration::ZERO).unwrap();
        let error = Turn::take(&path, Duration::ZERO).unwrap_err().to_string();
        assert!(error.contains("counts.crivo: another process") && error.contains("--wait"), "{error}");
        drop(first);
        drop(Turn::take(&path, Duration::ZERO).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "no lock file is left");
    }

    #[test]
    fn a_lock_file_that_was_left_behind_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("counts.crivo");
        fs::write(lock_path_of(&path), "").unwrap();
        assert!(Turn::take(&path, Duration::ZERO).is_ok());
    }

    #[test]
    fn increments_of_many_writers_are_all_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("number");
        fs::write(&path, "0").unwrap();
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let _turn = Turn::take(&path, Duration::from_secs(60)).unwrap();
                        let number: u32 = fs::read_to_string(&path).unwrap().parse().unwrap();
                        fs::write(&path, (number + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&path).unwrap(), "200");
    }
}
