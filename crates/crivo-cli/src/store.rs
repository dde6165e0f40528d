//! Sketch files: read with errors that name the file, written whole or not at all.
//!
//! A file is written under another name in the same folder, synced to disk, and renamed. So a
//! reader sees the old bytes or the new ones, even after a full disk, Ctrl-C or a power cut.
//! Whether the file can be written is checked before the pass begins, so that a misspelt folder is
//! not reported after an hour. If a command writes several files, all of them are
//! [filled](Destination::fill) before the first gets its name.
//!
//! A file that is replaced keeps its permissions, and its temporary file has the same. A new file
//! is readable by no more users than the files it was made from.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use crivo::codec::AnySketch;
use crivo_spill::partial;
use tempfile::NamedTempFile;

use crate::interrupt::{Unfinished, undisturbed};

/// The length of the head of a sketch file, which ends with the length of the body, and the length
/// of the checksum at the end.
const HEAD_LEN: u64 = 28;
const CHECKSUM_LEN: u64 = 4;

/// A sketch and the size of its file.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) sketch: AnySketch,
    pub(crate) file_bytes: usize,
}

/// Reads the sketch in a file, or in standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Stored> {
    if path == Path::new("-") {
        return read_from(io::stdin().lock(), path);
    }
    let file = File::open(path).map_err(|error| anyhow!("{}: {}", name_of(path), reason(&error)))?;
    read_from(file, path)
}

/// Reads the sketch in a file that is open.
pub(crate) fn read_from(mut file: impl Read, path: &Path) -> Result<Stored> {
    let name = name_of(path);
    let bytes = read_sketch(&mut file).map_err(|error| anyhow!("{name}: {}", reason(&error)))?;
    let sketch = AnySketch::decode(&bytes).map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(Stored { sketch, file_bytes: bytes.len() })
}

/// Reads the number of bytes that the head of a sketch declares, and one more if there are more.
/// Reads only the head if the bytes are no sketch, because the user may have named the data by
/// mistake, and it can be larger than memory.
fn read_sketch(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(HEAD_LEN).read_to_end(&mut bytes)?;
    let declared = bytes.last_chunk::<8>().map_or(0, |length| u64::from_le_bytes(*length));
    if bytes.starts_with(b"CRVO") && bytes.len() as u64 == HEAD_LEN {
        // The decoder reports bytes beyond the declared length.
        let rest = declared.saturating_add(CHECKSUM_LEN + 1);
        from.take(rest).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Returns the name of a file in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// A place that a sketch will be written to.
#[derive(Debug)]
pub(crate) struct Destination {
    name: String,
    /// The path after following links, so that the file is replaced and not the link.
    target: PathBuf,
    /// How to write: replace a file, or write into a device or pipe.
    way: Way,
}

#[derive(Debug)]
enum Way {
    Replace { folder: PathBuf, permissions: Option<fs::Permissions>, mode: u32 },
    Into,
}

/// The mode of a new file, before the process's umask.
const NEW_FILE: u32 = 0o666;

/// A file that is written, and gets its final name from [`publish`].
#[derive(Debug)]
pub(crate) struct Filled<'a> {
    destination: &'a Destination,
    temporary: Option<(NamedTempFile, Unfinished)>,
}

impl Destination {
    /// Checks that the file can be written. Changes nothing yet.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let name = name_of(path);
        if path == Path::new("-") {
            bail!("- is no file: name the file to be written");
        }
        let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let way = match fs::metadata(&target) {
            Ok(found) if found.is_dir() => bail!("{name}: is a folder: name a file in it"),
            Ok(found) if found.permissions().readonly() => bail!("{name}: is read-only"),
            Ok(found) if found.is_file() => {
                let permissions = found.permissions();
                let mode = mode_of(&permissions);
                Way::Replace { folder: folder_of(&target), permissions: Some(permissions), mode }
            }
            Ok(_) => Way::Into,
            Err(_) => Way::Replace { folder: folder_of(&target), permissions: None, mode: NEW_FILE },
        };
        let destination = Self { name, target, way };
        if let Way::Replace { folder, mode, .. } = &destination.way {
            destination.temporary(folder, *mode)?;
        }
        Ok(destination)
    }

    /// Restricts a new file to users who may read all of these files. A file that is replaced keeps
    /// its permissions.
    pub(crate) fn readable_as<P: AsRef<Path>>(mut self, inputs: impl IntoIterator<Item = P>) -> Self {
        if let Way::Replace { permissions: None, mode, .. } = &mut self.way {
            *mode = readable_as(*mode, inputs);
        }
        self
    }

    /// The name of the file in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write_with(|file| Ok(file.write_all(bytes)?))
    }

    /// Writes the file piece by piece. It appears as a whole when `fill` has succeeded.
    pub(crate) fn write_with(&self, fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
        publish([self.fill(fill)?])
    }

    /// Writes the file piece by piece under a temporary name. [`publish`] renames it.
    pub(crate) fn fill(
        &self,
        fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>,
    ) -> Result<Filled<'_>> {
        let Way::Replace { folder, permissions, mode } = &self.way else {
            let file =
                OpenOptions::new().write(true).open(&self.target).map_err(|error| self.refused(&error))?;
            self.write_to(&file, fill)?;
            return Ok(Filled { destination: self, temporary: None });
        };
        let temporary = self.temporary(folder, *mode)?;
        let unfinished = Unfinished::new(temporary.path());
        self.write_to(temporary.as_file(), fill)?;
        let file = temporary.as_file();
        let ready = match permissions {
            Some(permissions) => file.set_permissions(permissions.clone()),
            None => Ok(()),
        };
        ready.and_then(|()| file.sync_all()).map_err(|error| self.refused(&error))?;
        Ok(Filled { destination: self, temporary: Some((temporary, unfinished)) })
    }

    fn write_to(&self, file: &File, fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
        let mut buffered = BufWriter::new(file);
        fill(&mut buffered).with_context(|| format!("{}: was not written", self.name))?;
        buffered.flush().map_err(|error| self.refused(&error))
    }

    fn temporary(&self, folder: &Path, mode: u32) -> Result<NamedTempFile> {
        partial::file_in(folder, mode).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                anyhow!("{}: there is no folder {} to write it in", self.name, folder.display())
            }
            kind => anyhow!("{}: cannot be written: {kind}", self.name),
        })
    }

    fn refused(&self, error: &io::Error) -> anyhow::Error {
        anyhow!("{}: was not written: {}", self.name, reason(error))
    }
}

/// Gives filled files their final names, one right after the other and in this order. A signal
/// takes effect before all renames or after all. A power cut or SIGKILL may come between two.
pub(crate) fn publish<'a>(files: impl IntoIterator<Item = Filled<'a>>) -> Result<()> {
    let mut files: Vec<Filled<'a>> = files.into_iter().collect();
    // The files are dropped at the end, because dropping them takes the lock that is held during
    // the renames.
    let mut finished = Vec::new();
    undisturbed(|| {
        for Filled { destination, temporary } in &mut files {
            if let Some((temporary, unfinished)) = temporary.take() {
                finished.push(unfinished);
                let renamed = temporary.persist(&destination.target);
                renamed.map_err(|refusal| destination.refused(&refusal.error))?;
            }
        }
        Ok::<_, anyhow::Error>(())
    })?;
    for Filled { destination, .. } in &files {
        // The rename is durable only when the folder is synced. If the system cannot do that, the
        // file is still whole.
        if let Way::Replace { folder, .. } = &destination.way
            && let Ok(folder) = File::open(folder)
        {
            let _ = folder.sync_all();
        }
    }
    Ok(())
}

/// Clears the permissions in `mode` that users other than the owner lack for any of the files.
fn readable_as<P: AsRef<Path>>(mode: u32, inputs: impl IntoIterator<Item = P>) -> u32 {
    inputs.into_iter().fold(mode, |mode, input| match fs::metadata(input) {
        Ok(found) if found.is_file() || found.is_dir() => mode & (0o700 | mode_of(&found.permissions())),
        _ => mode,
    })
}

#[cfg(unix)]
fn mode_of(permissions: &fs::Permissions) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    permissions.mode() & 0o777
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Permissions) -> u32 {
    0o777
}

/// A folder that appears with all its files, or not at all.
#[derive(Debug)]
pub(crate) struct NewFolder {
    target: PathBuf,
    mode: u32,
}

impl NewFolder {
    /// Checks that the folder does not exist and can be created.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        if path.exists() {
            bail!("{}: is there already: name a new folder", path.display());
        }
        let folder = Self { target: path.to_path_buf(), mode: 0o777 };
        folder.temporary()?;
        Ok(folder)
    }

    /// Restricts the folder to users who may read all of these files.
    pub(crate) fn readable_as<P: AsRef<Path>>(mut self, inputs: impl IntoIterator<Item = P>) -> Self {
        self.mode = readable_as(self.mode, inputs);
        self
    }

    /// Calls `fill` with a temporary folder, and renames the folder if that succeeds.
    pub(crate) fn fill(&self, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let (temporary, _lock) = self.temporary()?;
        let path = temporary.path().to_path_buf();
        let _unfinished = Unfinished::new(&path);
        fill(&path)?;
        fs::rename(&path, &self.target)
            .with_context(|| format!("{}: was not written", self.target.display()))?;
        // The rename gave it its final name.
        let _ = temporary.keep();
        Ok(())
    }

    fn temporary(&self) -> Result<(tempfile::TempDir, Option<File>)> {
        let parent = folder_of(&self.target);
        partial::folder_in(&parent, self.mode)
            .with_context(|| format!("{}: cannot be made in {}", self.target.display(), parent.display()))
    }
}

fn folder_of(target: &Path) -> PathBuf {
    match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.into(),
        _ => ".".into(),
    }
}

/// Returns the operating system's reason, in the words that messages about input also use.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::IsADirectory => "is a folder: name a sketch file".into(),
        _ => error.to_string(),
    }
}

/// Creates a folder and its parents, if it does not exist.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        bail!("{}: is a file: name a folder", folder.display());
    }
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))
}
