//! Documents that are files in folders.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

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
    args: &'a CorpusArgs,
    out: &'a Output,
    skipped: AtomicU64,
    bad: AtomicU64,
    bytes_read: AtomicU64,
}

impl<'a> FolderCorpus<'a> {
    pub(super) fn new(folders: &[PathBuf], args: &'a CorpusArgs, out: &'a Output) -> Result<Self> {
        let mut paths = Vec::new();
        for folder in folders {
            let start = paths.len();
            collect(folder, &mut paths)?;
            paths[start..].sort_unstable();
        }
        if paths.is_empty() {
            bail!("{}: there is no file in it", folders[0].display());
        }
        Ok(Self {
            paths,
            args,
            out,
            skipped: AtomicU64::new(0),
            bad: AtomicU64::new(0),
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

    /// Copies the kept files to `to`, each under its path relative to its folder.
    pub(super) fn copy_to(&self, keep: &(dyn Fn(u64) -> bool + Sync), to: &Path) -> Result<()> {
        for (path, _) in self.paths.iter().zip(0_u64..).filter(|(_, place)| keep(*place)) {
            let target = self.target(path, to)?;
            fs::copy(path, &target).map_err(|error| about(path, &error))?;
        }
        Ok(())
    }

    /// Writes the files to `to`, each under its path relative to its folder. `edit` decides which
    /// of them get another text.
    pub(super) fn edit_to(&self, edit: &EditText<'_>, to: &Path) -> Result<()> {
        let mut new = Vec::new();
        for (path, place) in self.paths.iter().zip(0_u64..) {
            let text = fs::read(path).map_err(|error| about(path, &error))?;
            new.clear();
            let edited = if text.is_empty() { Edit::Keep } else { edit(place, &text, &mut new)? };
            if edited == Edit::Drop {
                continue;
            }
            let target = self.target(path, to)?;
            let bytes = if edited == Edit::Replace { &new } else { &text };
            fs::write(&target, bytes).map_err(|error| about(&target, &error))?;
        }
        Ok(())
    }

    /// Returns the path of a file in another folder, and creates the folders above it.
    fn target(&self, path: &Path, to: &Path) -> Result<PathBuf> {
        let root = self.args.layout.files.iter().find(|folder| path.starts_with(folder));
        let below = root.and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        // Several folders may have files of the same name.
        let target = match root.and_then(|root| root.file_name()) {
            Some(name) if self.args.layout.files.len() > 1 => to.join(name).join(below),
            _ => to.join(below),
        };
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
                if self.bad.fetch_add(1, Ordering::Relaxed) == 0 {
                    self.out.warn(about(&self.paths[place], &error));
                }
                Ok(())
            }
            Err(error) => Err(NearError::Documents(about(&self.paths[place], &error).into())),
        }
    }
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
