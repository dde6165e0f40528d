//! Documents that are files in folders.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Result, bail};
use crivo_html::PageText;
use crivo_near::{Documents, Error as NearError, TakeText, deal, thread_count};

use crivo_rows::Edit;

use super::{CorpusArgs, EditText, Id, about};
use crate::interrupt;
use crate::output::Output;

/// All files below the given folders, sorted by path within each folder.
pub(crate) struct FolderCorpus<'a> {
    paths: Vec<PathBuf>,
    /// The folders, each with the place after its last file.
    folders: Vec<(&'a Path, usize)>,
    args: &'a CorpusArgs,
    out: &'a Output,
    skipped: AtomicU64,
    /// The places of files that could not be read in any reading so far.
    bad: Mutex<BTreeSet<u64>>,
    bytes_read: AtomicU64,
}

impl<'a> FolderCorpus<'a> {
    pub(super) fn new(names: &'a [PathBuf], args: &'a CorpusArgs, out: &'a Output) -> Result<Self> {
        let (mut paths, mut folders) = (Vec::new(), Vec::new());
        for folder in names {
            let start = paths.len();
            collect(folder, &mut paths)?;
            paths[start..].sort_unstable();
            folders.push((folder.as_path(), paths.len()));
        }
        if paths.is_empty() {
            bail!("{}: there is no file in it", names[0].display());
        }
        Ok(Self {
            paths,
            folders,
            args,
            out,
            skipped: AtomicU64::new(0),
            bad: Mutex::default(),
            bytes_read: AtomicU64::new(0),
        })
    }

    pub(super) fn skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// The bytes read so far, over all readings.
    pub(super) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// The files. Each of them is a document.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Returns the id of a document: its path.
    pub(super) fn id(&self, place: u64) -> Option<Vec<u8>> {
        let path = self.paths.get(usize::try_from(place).ok()?)?;
        Some(path.to_string_lossy().into_owned().into_bytes())
    }

    pub(super) fn ids(&self, wanted: &(dyn Fn(u64) -> bool + Sync)) -> Vec<Id> {
        let numbered = self.paths.iter().zip(0_u64..).filter(|(_, place)| wanted(*place));
        numbered.map(|(path, place)| (place, path.to_string_lossy().into_owned().into_bytes())).collect()
    }

    pub(super) fn list(
        &self,
        keep: &(dyn Fn(u64) -> bool + Sync),
        to: &mut (dyn Write + Send),
    ) -> Result<()> {
        for (path, _) in self.paths.iter().zip(0_u64..).filter(|(_, place)| keep(*place)) {
            writeln!(to, "{}", path.display())?;
        }
        Ok(())
    }

    /// Copies the kept files to `to`, each under its path relative to its folder. Files that could
    /// not be read are left out.
    pub(super) fn copy_to(&self, keep: &(dyn Fn(u64) -> bool + Sync), to: &Path) -> Result<()> {
        for (path, place) in self.readable_paths().filter(|(_, place)| keep(*place)) {
            let target = self.target(place, to)?;
            fs::copy(path, &target).map_err(|error| about(path, &error))?;
        }
        Ok(())
    }

    /// Writes the files to `to`, each under its path relative to its folder. `edit` decides which
    /// of them get another text. Files that could not be read are left out.
    pub(super) fn edit_to(&self, edit: &EditText<'_>, to: &Path) -> Result<()> {
        let mut new = Vec::new();
        for (path, place) in self.readable_paths() {
            let text = fs::read(path).map_err(|error| about(path, &error))?;
            new.clear();
            let edited = if text.is_empty() { Edit::Keep } else { edit(place, &text, &mut new)? };
            if edited == Edit::Drop {
                continue;
            }
            let target = self.target(place, to)?;
            let bytes = if edited == Edit::Replace { &new } else { &text };
            fs::write(&target, bytes).map_err(|error| about(&target, &error))?;
        }
        Ok(())
    }

    /// Returns the files that could be read, each with its place. Warns if there are others.
    fn readable_paths(&self) -> impl Iterator<Item = (&Path, u64)> {
        let bad = self.bad().clone();
        if !bad.is_empty() {
            self.out.warn(format_args!("{} files could not be read, and are not copied", bad.len()));
        }
        let places = self.paths.iter().map(PathBuf::as_path).zip(0_u64..);
        places.filter(move |(_, place)| !bad.contains(place))
    }

    fn bad(&self) -> MutexGuard<'_, BTreeSet<u64>> {
        self.bad.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the path of a file in another folder, and creates the folders above it.
    fn target(&self, place: u64, to: &Path) -> Result<PathBuf> {
        let place = place as usize;
        let (path, number) = (&self.paths[place], self.folders.partition_point(|(_, end)| *end <= place));
        let (folder, _) = self.folders[number];
        let below = path.strip_prefix(folder).unwrap_or(path);
        // Several folders may have files of the same name.
        let target =
            if self.folders.len() > 1 { to.join(output_name(folder)).join(below) } else { to.join(below) };
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| about(folder, &error))?;
        }
        Ok(target)
    }

    fn take_file<S>(
        &self,
        place: usize,
        state: &mut (S, PageText),
        take: &TakeText<'_, S>,
    ) -> crivo_near::Result<()> {
        let (state, page) = state;
        match fs::read(&self.paths[place]) {
            Ok(bytes) => {
                self.bytes_read.fetch_add(bytes.len() as u64, Ordering::Relaxed);
                let text = if self.args.html { page.of(&bytes) } else { &bytes };
                if text.is_empty() {
                    self.skipped.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                take(state, place as u64, text)
            }
            Err(error) if self.args.layout.skip_bad => {
                self.skipped.fetch_add(1, Ordering::Relaxed);
                let mut bad = self.bad();
                if bad.is_empty() {
                    self.out.warn(about(&self.paths[place], &error));
                }
                bad.insert(place as u64);
                Ok(())
            }
            Err(error) => Err(NearError::Documents(about(&self.paths[place], &error).into())),
        }
    }
}

/// Returns the name that a folder gets beside others in an output folder.
fn output_name(folder: &Path) -> OsString {
    // A path like `.` has no last name of its own.
    let whole = if folder.file_name().is_none() { folder.canonicalize().ok() } else { None };
    whole.as_deref().unwrap_or(folder).file_name().unwrap_or_default().to_owned()
}

/// Makes sure that no two folders get the same name in an output folder, because files of one would
/// replace those of the other.
pub(super) fn ensure_different_names(folders: &[PathBuf]) -> Result<()> {
    let names: Vec<OsString> = folders.iter().map(|folder| output_name(folder)).collect();
    for (at, name) in names.iter().enumerate() {
        if let Some(first) = names[..at].iter().position(|earlier| earlier == name) {
            bail!(
                "{} and {}: their files would be written to the same folder {}: name a folder above both, or use folders of different names",
                folders[first].display(),
                folders[at].display(),
                name.display()
            );
        }
    }
    Ok(())
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).map_err(|error| about(folder, &error))? {
        let entry = entry.map_err(|error| about(folder, &error))?;
        let kind = entry.file_type().map_err(|error| about(&entry.path(), &error))?;
        if kind.is_dir() {
            collect(&entry.path(), paths)?;
        } else if kind.is_file() || entry.path().is_file() {
            paths.push(entry.path());
        }
    }
    Ok(())
}

impl Documents for FolderCorpus<'_> {
    fn read<S: Send>(
        &self,
        make: &(dyn Fn() -> S + Sync),
        take: &TakeText<'_, S>,
    ) -> crivo_near::Result<Vec<S>> {
        interrupt::watch(false);
        self.skipped.store(0, Ordering::Relaxed);
        let states = deal(
            thread_count(self.args.threads()),
            self.paths.len(),
            || (make(), PageText::default()),
            |state, place| {
                if interrupt::is_requested() {
                    return Err(NearError::Stopped);
                }
                self.take_file(place, state, take)
            },
        )?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}
