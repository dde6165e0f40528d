//! A work folder whose files were changed gives an error or an outcome, never a panic or a large allocation.

#![allow(clippy::unwrap_used)] // this is how a test fails

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crivo_near::{Documents, Error, Outcome, Result, Settings, TakeText, Texts, WorkFolder, near_duplicates};
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

/// The files of a folder.
fn files(folder: &Path) -> Vec<(std::ffi::OsString, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// The checksum is made to fit again where the file has one at its end.
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

#[test]
fn changed_files_of_a_work_folder_are_refused_or_believed() {
    let folder = tempfile::tempdir().unwrap();
    let (stopped, whole) = (folder.path().join("stopped"), folder.path().join("whole"));
    assert!(search(&stopped, 1).is_err());
    let pairs = search(&whole, u32::MAX).unwrap().pairs();
    assert!(pairs > 0);
    let (mut refused, mut believed) = (0, 0);
    for kept in [stopped, whole] {
        let kept = files(&kept);
        let forged = folder.path().join("forged");
        for (name, bytes) in kept.iter().filter(|(_, bytes)| !bytes.is_empty()) {
            let values = [0, 1, 39, 40, u64::from(u32::MAX), 1 << 31, 1 << 62, u64::MAX];
            for (at, value) in (0..bytes.len()).step_by(4).zip(values.iter().cycle()) {
                let _ = fs::remove_dir_all(&forged);
                fs::create_dir(&forged).unwrap();
                kept.iter().for_each(|(name, bytes)| fs::write(forged.join(name), bytes).unwrap());
                fs::write(forged.join(name), changed(bytes, at, *value)).unwrap();
                let found = search(&forged, u32::MAX).and_then(|found| found.for_each_pair(|_, _, _| Ok(())));
                *(if found.is_ok() { &mut believed } else { &mut refused }) += 1;
            }
        }
    }
    assert!(refused > 100 && believed > 0, "{refused} refused, {believed} believed");
}
