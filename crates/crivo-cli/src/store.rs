//! Sketch files: read with errors that name the file, written whole or not at all.
//!
//! A file is written under another name in the same folder, forced to the disk, and renamed. So
//! a reader sees the old bytes or the new ones, whatever happens in between: a full disk,
//! Ctrl-C, a power cut. That it can be written at all is tried before the pass begins, because a
//! misspelt folder should not be found out after an hour. Several files of one command are all
//! [filled](Destination::fill) before the first gets its name.
//!
//! A file that is replaced keeps its permissions, and its temporary twin has no others. A new file
//! is readable by no more users than the files it was made from.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use crivo::codec::AnySketch;
use crivo_spill::partial;
use tempfile::NamedTempFile;

use crate::interrupt::{Unfinished, undisturbed};

/// The first bytes of a sketch file, up to and with the length of what follows, and the checksum at
/// the end.
const HEAD_LEN: u64 = 28;
const CHECKSUM_LEN: u64 = 4;

/// A sketch and the size of its file.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) sketch: AnySketch,
    pub(crate) file_bytes: usize,
}

/// The sketch in a file, or in standard input for `-`.
pub(crate) fn read(path: &Path) -> Result<Stored> {
    let name = name_of(path);
    let bytes = if path == Path::new("-") {
        read_sketch(&mut io::stdin().lock())
    } else {
        File::open(path).and_then(|mut file| read_sketch(&mut file))
    }
    .map_err(|error| anyhow!("{name}: {}", reason(&error)))?;
    let sketch = AnySketch::decode(&bytes).map_err(|error| anyhow!("{name}: {error}"))?;
    Ok(Stored { sketch, file_bytes: bytes.len() })
}

/// As many bytes as the sketch's head declares, and one more if there are more. Only the head if
/// they are not a sketch's: the data may have been named instead, and can be larger than memory.
fn read_sketch(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(HEAD_LEN).read_to_end(&mut bytes)?;
    let declared = bytes.last_chunk::<8>().map_or(0, |length| u64::from_le_bytes(*length));
    if bytes.starts_with(b"CRVO") && bytes.len() as u64 == HEAD_LEN {
        // What is not declared must not be there; the decoder says so.
        let rest = declared.saturating_add(CHECKSUM_LEN + 1);
        from.take(rest).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// How a file is called in messages.
pub(crate) fn name_of(path: &Path) -> String {
    if path == Path::new("-") { "standard input".into() } else { path.display().to_string() }
}

/// A place that a sketch will be written to.
#[derive(Debug)]
pub(crate) struct Destination {
    name: String,
    /// Links are followed, so that what is replaced is the file and not the link.
    target: PathBuf,
    /// What to put the bytes into: a new file, or a device or pipe that is there already.
    way: Way,
}

#[derive(Debug)]
enum Way {
    Replace { folder: PathBuf, permissions: Option<fs::Permissions>, mode: u32 },
    Into,
}

/// As any new file, less what the process masks.
const NEW_FILE: u32 = 0o666;

/// A file that is written, and has its final name only after [`publish`].
#[derive(Debug)]
pub(crate) struct Filled<'a> {
    destination: &'a Destination,
    temporary: Option<(NamedTempFile, Unfinished)>,
}

impl Destination {
    /// Makes sure that the file can be written, and changes nothing yet.
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

    /// Lets no user read a new file who may not read all of these. A file that is replaced keeps
    /// its permissions.
    pub(crate) fn readable_as<P: AsRef<Path>>(mut self, inputs: impl IntoIterator<Item = P>) -> Self {
        if let Way::Replace { permissions: None, mode, .. } = &mut self.way {
            *mode = readable_as(*mode, inputs);
        }
        self
    }

    /// How the file is called in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes the file, whole or not at all.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write_with(|file| Ok(file.write_all(bytes)?))
    }

    /// Writes the file piece by piece; it appears, whole, when `fill` has succeeded.
    pub(crate) fn write_with(&self, fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
        publish([self.fill(fill)?])
    }

    /// Writes the file piece by piece under a temporary name, which [`publish`] replaces by its
    /// own.
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

/// Gives files that were filled their names, one right after the other and the last one last. A
/// signal comes before all of them or after; a power cut or SIGKILL may come between.
pub(crate) fn publish<'a>(files: impl IntoIterator<Item = Filled<'a>>) -> Result<()> {
    let mut files: Vec<Filled<'a>> = files.into_iter().collect();
    // Kept until the end: dropping them takes the lock that is held meanwhile.
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
        // The name is on the disk only when the folder is; where that cannot be asked
        // for, the file is still whole.
        if let Way::Replace { folder, .. } = &destination.way
            && let Ok(folder) = File::open(folder)
        {
            let _ = folder.sync_all();
        }
    }
    Ok(())
}

/// Takes from `mode` what users other than the owner may not do with every one of the files.
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

/// A folder that will appear with all its files, or not at all.
#[derive(Debug)]
pub(crate) struct NewFolder {
    target: PathBuf,
    mode: u32,
}

impl NewFolder {
    /// Makes sure that there is no such folder, and one can be made.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        if path.exists() {
            bail!("{}: is there already: name a new folder", path.display());
        }
        let folder = Self { target: path.to_path_buf(), mode: 0o777 };
        folder.temporary()?;
        Ok(folder)
    }

    /// Lets no user look into it who may not look into all of these.
    pub(crate) fn readable_as<P: AsRef<Path>>(mut self, inputs: impl IntoIterator<Item = P>) -> Self {
        self.mode = readable_as(self.mode, inputs);
        self
    }

    /// Fills it, and gives it its name when that has succeeded.
    pub(crate) fn fill(&self, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let (temporary, _lock) = self.temporary()?;
        let path = temporary.path().to_path_buf();
        let _unfinished = Unfinished::new(&path);
        fill(&path)?;
        fs::rename(&path, &self.target)
            .with_context(|| format!("{}: was not written", self.target.display()))?;
        // Its name is the final one now.
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

/// The operating system's reason, in words shared with the messages about input.
pub(crate) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::IsADirectory => "is a folder: name a sketch file".into(),
        _ => error.to_string(),
    }
}

/// Creates a folder and those above it, if it is not there.
pub(crate) fn make_folder(folder: &Path) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        bail!("{}: is a file: name a folder", folder.display());
    }
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))
}
