//! Files that are not whole yet.
//!
//! A file that must appear whole or not at all is written under another name in the same folder and
//! renamed at the end. A process that is killed leaves such a file behind. So each file is locked
//! while its process lives. The next process that writes to that folder removes those files that no
//! process has locked.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::Duration;

use tempfile::{Builder, NamedTempFile, TempDir};

const PREFIX: &str = ".crivo-";
const SUFFIX: &str = ".partial";

/// Younger files are never removed: a process may have created one and not locked it yet.
const YOUNGEST: Duration = Duration::from_secs(60);

/// Creates a temporary file in a folder, with the permissions `mode` minus the process's umask. The
/// file is locked until it is closed. Files that dead processes left in the folder are removed.
///
/// # Errors
/// If the file cannot be created.
pub fn file_in(folder: &Path, mode: u32) -> io::Result<NamedTempFile> {
    remove_abandoned(folder);
    let temporary = builder(mode).tempfile_in(folder)?;
    // Where locks are not supported, the file is written without one.
    let _ = temporary.as_file().try_lock();
    Ok(temporary)
}

/// Creates a temporary folder inside `folder`, as [`file_in`] creates a file, and locks it. The
/// lock is held until the returned file is closed. The file is `None` if the folder cannot be
/// locked.
///
/// # Errors
/// If the folder cannot be created.
pub fn folder_in(folder: &Path, mode: u32) -> io::Result<(TempDir, Option<File>)> {
    remove_abandoned(folder);
    let temporary = builder(mode).tempdir_in(folder)?;
    let lock = File::open(temporary.path()).ok().filter(|file| file.try_lock().is_ok());
    Ok((temporary, lock))
}

#[cfg_attr(not(unix), allow(unused_variables))]
fn builder(mode: u32) -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    builder
}

/// Removes the files and folders that killed processes left in a folder.
fn remove_abandoned(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(io::Result::ok) {
        let name = entry.file_name();
        let is_partial = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        if is_partial {
            let _ = remove_if_abandoned(&entry);
        }
    }
}

fn remove_if_abandoned(entry: &fs::DirEntry) -> io::Result<()> {
    // Links are not followed, because what they point to is not ours.
    let found = entry.metadata()?;
    let age = found.modified()?.elapsed().unwrap_or_default();
    let is_ours = found.is_file() || found.is_dir();
    if !is_ours || age < YOUNGEST {
        return Ok(());
    }
    let held = File::open(entry.path())?;
    if held.try_lock().is_err() {
        return Ok(());
    }
    if found.is_dir() { fs::remove_dir_all(entry.path()) } else { fs::remove_file(entry.path()) }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn age(path: &Path) {
        File::open(path).unwrap().set_modified(SystemTime::now() - 2 * YOUNGEST).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_dead_processes_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [".crivo-dead.partial", ".crivo-young.partial", "data.partial", ".crivo-data"] {
            fs::write(path(name), "x").unwrap();
        }
        fs::create_dir(path(".crivo-folder.partial")).unwrap();
        fs::write(path(".crivo-folder.partial").join("a"), "x").unwrap();
        let (written, (filled, lock)) =
            (file_in(folder.path(), 0o600).unwrap(), folder_in(folder.path(), 0o700).unwrap());
        assert!(lock.is_some());
        for old in [".crivo-dead.partial", ".crivo-folder.partial", "data.partial", ".crivo-data"] {
            age(&path(old));
        }
        age(written.path());
        age(filled.path());
        drop(file_in(folder.path(), 0o600).unwrap());
        let mut left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        let mut expected = vec![
            path(".crivo-young.partial"),
            path("data.partial"),
            path(".crivo-data"),
            written.path().to_path_buf(),
            filled.path().to_path_buf(),
        ];
        expected.sort();
        assert_eq!(left, expected);
    }
}
