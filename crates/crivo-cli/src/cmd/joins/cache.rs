//! The cache of profiles of files.
//!
//! A profile is stored under the hash of the file's bytes and of all options that change how they
//! are read. So a file that was moved or copied is found again. Computing the hash reads the file.
//! To avoid that in a second run, a small note stores the hash for the path, size and modification
//! time of a file.
//!
//! A note is trusted if the file had not changed for [`SETTLED`] before the note was written. A
//! change within the resolution of the file system's clock would not be visible otherwise. Files in
//! the folder may be deleted at any time. A damaged profile is treated as missing.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use crivo::keys::KeyScheme;
use crivo::profile::TableProfile;
use xxhash_rust::xxh3::Xxh3;

use crate::store::{self, Destination};

/// How long a file must be unchanged before its modification time is trusted.
const SETTLED: Duration = Duration::from_secs(2);
/// Raised when the profile of the same file changes.
const VERSION: u32 = 1;

/// The folder of the cache.
#[derive(Debug)]
pub(super) struct Cache {
    folder: PathBuf,
}

/// The path of the profile of a content, and the file that had this content.
#[derive(Debug)]
pub(super) struct CacheKey {
    profile: PathBuf,
    file: PathBuf,
    /// The size and the modification time of the file before it was hashed.
    stamp: Stamp,
}

/// The size and the modification time of a file.
type Stamp = (u64, SystemTime);

fn stamp_of(path: &Path) -> std::io::Result<Stamp> {
    let metadata = fs::metadata(path)?;
    Ok((metadata.len(), metadata.modified()?))
}

impl Cache {
    /// Opens the folder, which is created if it does not exist.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let name = folder.display();
        fs::create_dir_all(folder).with_context(|| format!("--cache {name}"))?;
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// Returns the key of a file as it is now. Reads the file, unless there is a trusted note about
    /// it.
    pub(super) fn key_of(
        &self,
        path: &Path,
        layout: &str,
        hashes: u32,
        scheme: KeyScheme,
    ) -> Result<CacheKey> {
        let failed = || store::name_of(path);
        let full = path.canonicalize().with_context(failed)?;
        let stamp = stamp_of(&full).with_context(failed)?;
        let (length, changed) = stamp;
        let since = changed.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let named = format!("{length} {since} {}", full.display());
        let note = self.folder.join(format!("{:032x}.note", digest_of(named.as_bytes())));
        let known = fs::read_to_string(&note).ok().and_then(|text| content_of(&text, &named));
        let content = if let Some(known) = known {
            known
        } else {
            let content = format!("{:032x}", digest_of_file(&full).with_context(failed)?);
            let is_settled = SystemTime::now().duration_since(changed).is_ok_and(|age| age >= SETTLED);
            // A file that changed while it was read has another modification time now.
            if is_settled && stamp_of(&full).with_context(failed)? == stamp {
                Destination::new(&note)?.write(note_of(&content, &named).as_bytes())?;
            }
            content
        };
        let asked = format!("{VERSION} {layout} {hashes} {scheme} {content}");
        let profile = self.folder.join(format!("{:032x}.crivo", digest_of(asked.as_bytes())));
        Ok(CacheKey { profile, file: full, stamp })
    }
}

impl CacheKey {
    /// Returns the stored profile, if it exists and is undamaged.
    pub(super) fn get(&self) -> Option<TableProfile> {
        TableProfile::decode(&fs::read(&self.profile).ok()?).ok()
    }

    /// Stores the profile of the file, unless the file has changed since its content was hashed.
    /// The permissions are no wider than those of the file.
    pub(super) fn put(&self, profile: &TableProfile) -> Result<()> {
        if stamp_of(&self.file).with_context(|| store::name_of(&self.file))? != self.stamp {
            return Ok(());
        }
        Destination::new(&self.profile)?.readable_as([self.file.as_path()]).write(&profile.encode())
    }
}

/// Returns the text of a note: the digest of the content, and a digest over that and the stamp. The
/// second detects damage, and notes about other files.
fn note_of(content: &str, stamp: &str) -> String {
    format!("{content} {:032x}\n", digest_of(format!("{content} {stamp}").as_bytes()))
}

fn content_of(note: &str, stamp: &str) -> Option<String> {
    let (content, _) = note.split_once(' ')?;
    (note == note_of(content, stamp)).then(|| content.to_owned())
}

fn digest_of(bytes: &[u8]) -> u128 {
    xxhash_rust::xxh3::xxh3_128(bytes)
}

/// Returns the digest of a file's bytes. It is read in pieces, because it may be larger than
/// memory.
fn digest_of_file(path: &Path) -> std::io::Result<u128> {
    let mut file = File::open(path)?;
    let mut hasher = Xxh3::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.digest128()),
            length => hasher.update(&piece[..length]),
        }
    }
}
