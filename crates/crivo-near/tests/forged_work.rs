//! A work folder with changed files gives an error or a result, never a panic or a large
//! allocation.

#![allow(clippy::unwrap_used)] // this is how a test fails

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crivo_near::{
    Documents, Error, Outcome, PassageSettings, Passages, Result, Settings, Stage, TakeText, Texts, Watch,
    WorkFolder, near_duplicates, repeated_passages,
};
use xxhash_rust::xxh3::xxh3_64;

/// Documents that can be read a limited number of times, so that a search stops halfway.
struct ReadSomeTimes<'a> {
    texts: Texts<'a, String>,
    left: AtomicU32,
}

impl Documents for ReadSomeTimes<'_> {
    fn read<S: Send>(&self, make: &(dyn Fn() -> S + Sync), take: &TakeText<'_, S>) -> Result<Vec<S>> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(Error::Stopped);
        }
        self.texts.read(make, take)
    }
}

fn search(folder: &Path, readings: u32) -> Result<Outcome> {
    let text = |number: u32| {
        let words: Vec<String> = (0..12).map(|word| format!("word{}", word * (number % 7 + 1))).collect();
        format!("{} end{}", words.join(" "), number % 11)
    };
    let texts: Vec<String> = (0..40).map(text).collect();
    let documents = ReadSomeTimes { texts: Texts::new(&texts, 1), left: AtomicU32::new(readings) };
    let work = Some(WorkFolder { path: folder.to_path_buf(), identity: "a test".into() });
    let settings = Settings { threshold: 0.5, threads: 1, memory: 16 << 20, work, ..Settings::default() };
    near_duplicates(&documents, &settings, &())
}

/// Returns the files of a folder.
fn files(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Returns the bytes with a changed value. If the file has a checksum at its end, the checksum is
/// made correct again.
fn changed(bytes: &[u8], at: usize, value: u64) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let end = (at + 8).min(bytes.len());
    bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
    if bytes.starts_with(b"CRVWORK1") && bytes.len() > 16 {
        let body = bytes.len() - 8;
        let checksum = xxh3_64(&bytes[..body]);
        bytes[body..].copy_from_slice(&checksum.to_le_bytes());
    }
    bytes
}

/// Runs `search` in a copy of each folder with a few bytes changed, once for every fourth byte of
/// every file.
fn try_changes(folder: &Path, kept: &[&Path], search: impl Fn(&Path) -> Result<()>) {
    let (mut refused, mut believed) = (0, 0);
    for kept in kept {
        let kept = files(kept);
        let forged = folder.join("forged");
        for (name, bytes) in kept.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            let values = [0, 1, 39, 40, u64::from(u32::MAX), 1 << 31, 1 << 62, u64::MAX];
            for (at, value) in (0..bytes.len()).step_by(4).zip(values.iter().cycle()) {
                let _ = fs::remove_dir_all(&forged);
                fs::create_dir(&forged).unwrap();
                kept.iter().for_each(|(name, bytes)| fs::write(forged.join(name), bytes).unwrap());
                fs::write(forged.join(name), changed(bytes, at, *value)).unwrap();
                *(if search(&forged).is_ok() { &mut believed } else { &mut refused }) += 1;
            }
        }
    }
    assert!(refused > 100 && believed > 0, "{refused} refused, {believed} believed");
}

#[test]
fn changed_files_of_a_work_folder_are_refused_or_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (stopped, whole) = (folder.path().join("stopped"), folder.path().join("whole"));
    assert!(search(&stopped, 1).is_err());
    let pairs = search(&whole, u32::MAX).unwrap().pairs();
    assert!(pairs > 0);
    try_changes(folder.path(), &[&stopped, &whole], |forged| {
        search(forged, u32::MAX).and_then(|found| found.for_each_pair(|_, _, _| Ok(())))
    });
}

/// Stops a search when a stage begins.
struct StopAt(Stage);

impl Watch for StopAt {
    fn begin(&self, stage: Stage) {
        // A search calls `stopped` after it has reported a stage.
        STAGE_BEGAN.with(|began| began.set(stage == self.0));
    }

    fn stopped(&self) -> bool {
        STAGE_BEGAN.with(std::cell::Cell::get)
    }
}

thread_local! {
    static STAGE_BEGAN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

fn search_passages(folder: &Path, watch: &dyn Watch) -> Result<Passages> {
    let words = |name: &str| (0..9).map(|word| format!("{name}{word}")).collect::<Vec<_>>().join(" ") + " ";
    let text = |number: usize| format!("{}own{number} {}", words(&format!("p{}", number % 2)), words("same"));
    let texts: Vec<String> = (0..5).map(text).collect();
    let work = Some(WorkFolder { path: folder.to_path_buf(), identity: "a test".into() });
    let settings =
        PassageSettings { min_words: 8, threads: 1, memory: 16 << 20, work, ..PassageSettings::default() };
    repeated_passages(&Texts::new(&texts, 1), &settings, watch)
}

#[test]
fn changed_files_of_a_search_for_passages_are_refused_or_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (stored, extended) = (folder.path().join("stored"), folder.path().join("extended"));
    assert!(search_passages(&stored, &StopAt(Stage::Pairing)).is_err());
    assert!(search_passages(&extended, &StopAt(Stage::Gathering)).is_err());
    assert!(stored.join("stored").exists() && extended.join("extended").exists());
    // Each folder continues to the same passages as a run without a stop.
    let all = |found: Passages| {
        let mut passages = Vec::new();
        found.for_each(|passage| {
            passages.push(passage);
            Ok(())
        })?;
        Ok::<_, Error>(passages)
    };
    let expected = search_passages(&folder.path().join("whole"), &()).and_then(all).unwrap();
    assert_eq!(expected.len(), 7);
    for kept in [&stored, &extended] {
        let copy = folder.path().join("copy");
        fs::create_dir(&copy).unwrap();
        files(kept).iter().for_each(|(name, bytes)| fs::write(copy.join(name), bytes).unwrap());
        assert_eq!(search_passages(&copy, &()).and_then(all).unwrap(), expected);
        fs::remove_dir_all(&copy).unwrap();
    }
    try_changes(folder.path(), &[&stored, &extended], |forged| {
        search_passages(forged, &()).and_then(all).map(drop)
    });
}
