//! Temporary files that a killed run left behind are removed by the next one.
//!
//! A run holds a lock on each temporary file as long as it lives, and the system gives the lock up when the run is killed.
//! So a file that can be locked belongs to no run. A file younger than a minute may not be locked yet, and stays.

use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

/// Files that were changed within this time are left alone.
const GRACE: Duration = Duration::from_secs(60);

/// Marks a temporary file as one of a run that lives. Where files cannot be locked, [`remove`] cannot lock them either,
/// and leaves them alone.
pub(crate) fn hold(file: &File) {
    let _ = file.try_lock();
}

/// Removes the temporary files of killed runs from a folder, by the beginning and the end of their names.
pub(crate) fn remove(folder: &Path, start: &str, end: &str) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(start) && name.ends_with(end));
        if is_ours && is_abandoned(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_abandoned(path: &Path) -> bool {
    let Ok(found) = fs::symlink_metadata(path) else { return false };
    let age = found.modified().ok().and_then(|time| time.elapsed().ok());
    found.is_file()
        && age.is_some_and(|age| age > GRACE)
        && File::options().write(true).open(path).is_ok_and(|file| file.try_lock().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_files_that_no_run_holds_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let make = |name: &str, old: bool| {
            let file = File::create(folder.path().join(name)).unwrap();
            if old {
                file.set_modified(std::time::SystemTime::now() - 2 * GRACE).unwrap();
            }
            file
        };
        let held = make(".crivo-output-held.partial", true);
        hold(&held);
        drop(make(".crivo-output-dead.partial", true));
        drop(make(".crivo-output-new.partial", false));
        drop(make("crivo-output-mine.partial", true));
        drop(make(".crivo-output-mine.txt", true));
        remove(folder.path(), ".crivo-output-", ".partial");
        let mut left: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort_unstable();
        let expected = [
            ".crivo-output-held.partial",
            ".crivo-output-mine.txt",
            ".crivo-output-new.partial",
            "crivo-output-mine.partial",
        ];
        assert_eq!(left, expected);
    }
}
