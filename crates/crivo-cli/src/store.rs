//! Sketch files: read with errors that name the file, written whole or not at all.
//!
//! A file is written under another name in the same folder, forced to the disk, and renamed. So
//! whoever opens it sees the old bytes or the new ones, whatever happens in between: a full disk,
//! Ctrl-C, a power cut. That it can be written at all is tried before the pass begins, because a
//! misspelt folder should not be found out after an hour.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use crivo::codec::AnySketch;
use tempfile::NamedTempFile;

use crate::interrupt::Unfinished;
use crate::leftovers;

/// The first bytes of a sketch file, up to and with the length of what follows, and the checksum at the end.
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

/// As many bytes as the sketch's head declares, and one more if there are more. Only the head if they are not a
/// sketch's: the data may have been named instead, and can be larger than memory.
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
    Replace { folder: PathBuf, permissions: Option<fs::Permissions> },
    Into,
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
                Way::Replace { folder: folder_of(&target), permissions: Some(found.permissions()) }
            }
            Ok(_) => Way::Into,
            Err(_) => Way::Replace { folder: folder_of(&target), permissions: None },
        };
        let destination = Self { name, target, way };
        if let Way::Replace { folder, .. } = &destination.way {
            destination.temporary(folder)?;
        }
        Ok(destination)
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
        let Way::Replace { folder, permissions } = &self.way else {
            let file =
                OpenOptions::new().write(true).open(&self.target).map_err(|error| self.refused(&error))?;
            return self.fill(&file, fill);
        };
        let temporary = self.temporary(folder)?;
        let path = temporary.path().to_path_buf();
        let _unfinished = Unfinished::new(&path);
        self.fill(temporary.as_file(), fill)?;
        self.replace(temporary, permissions.as_ref()).map_err(|error| self.refused(&error))?;
        // The name is on the disk only when the folder is; where that cannot be asked
        // for, the file is still whole.
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    fn fill(&self, file: &File, fill: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
        let mut buffered = BufWriter::new(file);
        fill(&mut buffered).with_context(|| format!("{}: was not written", self.name))?;
        buffered.flush().map_err(|error| self.refused(&error))
    }

    fn replace(&self, temporary: NamedTempFile, permissions: Option<&fs::Permissions>) -> io::Result<()> {
        if let Some(permissions) = permissions {
            temporary.as_file().set_permissions(permissions.clone())?;
        }
        temporary.as_file().sync_all()?;
        temporary.persist(&self.target)?;
        Ok(())
    }

    fn temporary(&self, folder: &Path) -> Result<NamedTempFile> {
        let (start, end) = (".crivo-output-", ".partial");
        leftovers::remove(folder, start, end);
        let mut builder = tempfile::Builder::new();
        builder.prefix(start).suffix(end);
        #[cfg(unix)]
        {
            // As any new file, not the private one that temporary files are by default.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.tempfile_in(folder).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                anyhow!("{}: there is no folder {} to write it in", self.name, folder.display())
            }
            kind => anyhow!("{}: cannot be written: {kind}", self.name),
        })?;
        leftovers::hold(temporary.as_file());
        Ok(temporary)
    }

    fn refused(&self, error: &io::Error) -> anyhow::Error {
        anyhow!("{}: was not written: {}", self.name, reason(error))
    }
}

/// A folder that will appear with all its files, or not at all.
#[derive(Debug)]
pub(crate) struct NewFolder {
    target: PathBuf,
}

impl NewFolder {
    /// Makes sure that there is no such folder, and one can be made.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        if path.exists() {
            bail!("{}: is there already: name a new folder", path.display());
        }
        let folder = Self { target: path.to_path_buf() };
        folder.temporary()?;
        Ok(folder)
    }

    /// Fills it, and gives it its name when that has succeeded.
    pub(crate) fn fill(&self, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let temporary = self.temporary()?;
        let path = temporary.path().to_path_buf();
        let _unfinished = Unfinished::new(&path);
        fill(&path)?;
        fs::rename(&path, &self.target)
            .with_context(|| format!("{}: was not written", self.target.display()))?;
        // Its name is the final one now.
        let _ = temporary.keep();
        Ok(())
    }

    fn temporary(&self) -> Result<tempfile::TempDir> {
        let parent = folder_of(&self.target);
        let mut builder = tempfile::Builder::new();
        builder.prefix(".crivo-").suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o777));
        }
        builder
            .tempdir_in(&parent)
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
    fs::create_dir_all(folder).with_context(|| format!("{}: cannot be created", folder.display()))
}
