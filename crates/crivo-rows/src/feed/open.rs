//! Opens sources and decompresses them. The first bytes of a stream tell its compression.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;

use super::ahead::ReadAhead;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{self, Limits, in_mebibytes};
use crate::input::{InputSource, folder};

/// The number of compressed bytes that are read at once.
const READ: usize = 64 << 10;
/// The most memory for decompressing an xz stream; `xz -9` takes 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// An open source.
pub(crate) struct Stream {
    reader: Box<dyn Read + Send>,
    compression: Option<&'static str>,
    /// Whether bytes may come slowly, so that available bytes should be used at once.
    pub(crate) is_live: bool,
    /// The state of a plain file, if it can grow.
    pub(crate) growing: Option<GrowingFile>,
    pub(crate) file: Arc<str>,
}

/// A file that is read to its end, and may grow or be replaced.
pub(crate) struct GrowingFile {
    path: PathBuf,
    opened: Metadata,
    read: Arc<AtomicU64>,
    /// The bytes read of all files before this one was opened.
    before: u64,
}

/// What happened to a file whose end was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// The file is still there, and may grow.
    Same,
    /// The file is shorter than the part that was read.
    Truncated,
    /// Another file has the name.
    Replaced,
}

impl GrowingFile {
    /// Compares the file of this name with the opened one.
    pub(crate) fn fate(&self) -> Fate {
        let Ok(now) = self.path.metadata() else { return Fate::Same };
        if !is_same(&now, &self.opened) {
            return Fate::Replaced;
        }
        let read = self.read.load(Ordering::Relaxed) - self.before;
        if now.len() < read { Fate::Truncated } else { Fate::Same }
    }

    /// Returns how many bytes of the file are not read yet, by its length when it was opened.
    pub(crate) fn left(&self) -> u64 {
        self.opened.len().saturating_sub(self.read.load(Ordering::Relaxed) - self.before)
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    one.created().ok() == other.created().ok()
}

impl Stream {
    /// Opens a source. `count` counts every byte read from it.
    pub(crate) fn open(source: &InputSource, count: &Arc<AtomicU64>) -> Result<Self> {
        let file = source.name();
        let mut growing = None;
        let (raw, is_live): (Box<dyn Read + Send>, _) = match source.path() {
            None => (Box::new(io::stdin()), true),
            Some(path) => {
                let opened = File::open(path).map_err(|error| cannot_open(error, &file))?;
                let metadata = opened.metadata().map_err(|error| Error::io(error).in_file(&file))?;
                if metadata.is_dir() {
                    return Err(folder(&file));
                }
                let is_live = !metadata.is_file();
                if metadata.is_file() {
                    let (path, read, before) =
                        (path.to_path_buf(), Arc::clone(count), count.load(Ordering::Relaxed));
                    growing = Some(GrowingFile { path, opened: metadata, read, before });
                }
                (Box::new(opened), is_live)
            }
        };
        let (reader, compression) =
            recognised(raw, Arc::clone(count)).map_err(|error| read_error(error, None, &file))?;
        let is_live = is_live && compression.is_none();
        let growing = growing.filter(|_| compression.is_none());
        let reader = if compression.is_some() { Box::new(ReadAhead::new(reader)) } else { reader };
        Ok(Self { reader, compression, is_live, growing, file })
    }

    /// Reads some bytes. Returns 0 at the end.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            match self.reader.read(into) {
                Ok(length) => return Ok(length),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(read_error(error, self.compression, &self.file)),
            }
        }
    }

    /// Appends all remaining bytes to `bytes`.
    ///
    /// # Errors
    /// If the bytes are more than may be held in memory, or more than there is memory for.
    pub(crate) fn read_to_end(&mut self, mut bytes: Vec<u8>, limits: Limits) -> Result<Vec<u8>> {
        let mut length = bytes.len();
        loop {
            if length == bytes.len() {
                let larger = (length * 2).clamp(READ, limits.held.saturating_add(READ));
                let more = larger.saturating_sub(length);
                foreign::reserve(&mut bytes, more).map_err(|error| error.in_file(&self.file))?;
                bytes.resize(larger, 0);
            }
            match self.read(&mut bytes[length..])? {
                0 => break,
                got => length += got,
            }
            if length > limits.held {
                return Err(self.too_large(limits.held));
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    #[cold]
    fn too_large(&self, limit: usize) -> Error {
        let why = self.compression.map_or("comes through a pipe", |_| "is compressed as a whole");
        let message = format_args!(
            "a Parquet file that {why} is held in memory, and this one is larger than {}: write it to a plain file first",
            in_mebibytes(limit)
        );
        Error::new(ErrorKind::TooLarge, message).in_file(&self.file)
    }
}

#[cold]
fn read_error(error: io::Error, compression: Option<&str>, file: &Arc<str>) -> Error {
    match compression {
        Some(name) if is_out_of_memory(&error) => Error::new(
            ErrorKind::OutOfMemory,
            format_args!("there is not enough memory to decompress the {name} stream ({error})"),
        ),
        Some(name) if error.raw_os_error().is_none() => Error::new(
            ErrorKind::Damaged,
            format_args!("the {name} stream is corrupt or cut short ({error}): fetch the file again"),
        ),
        _ => Error::io(error),
    }
    .in_file(file)
}

/// Returns true if a decoder had too little memory, which says nothing about the stream.
fn is_out_of_memory(error: &io::Error) -> bool {
    use liblzma::stream::Error as Xz;
    if error.kind() == io::ErrorKind::OutOfMemory {
        return true;
    }
    if let Some(xz) = error.get_ref().and_then(|inner| inner.downcast_ref::<Xz>()) {
        return matches!(xz, Xz::Mem | Xz::MemLimit);
    }
    // For zstd errors there is only the text.
    let text = error.to_string();
    text.contains("not enough memory") || text.contains("too much memory")
}

const GZIP: &str = "gzip";
const ZSTD: &str = "zstd";
const BZIP2: &str = "bzip2";
const MAGIC: [(&[u8], &str); 4] =
    [(b"\x1F\x8B\x08", GZIP), (b"\x28\xB5\x2F\xFD", ZSTD), (b"\xFD7zXZ\0", "xz"), (b"BZh", BZIP2)];
/// The longest prefix that is needed to recognise a compression.
const LONGEST_MAGIC: usize = 10;
/// The bytes after the head of a bzip2 stream: the mark of a block, or the mark of the end.
const BZIP2_BLOCKS: [&[u8]; 2] = [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];

/// Returns the bytes of a stream, decompressed if its first bytes are those of gzip, zstd, xz or
/// bzip2.
///
/// ```
/// use std::io::Read;
///
/// let mut text = String::new();
/// crivo_rows::decompressed(&b"plain text"[..])?.read_to_string(&mut text)?;
/// assert_eq!(text, "plain text");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If the stream cannot be read.
pub fn decompressed(stream: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    recognised(stream, Arc::default()).map(|(reader, _)| reader)
}

/// Returns the bytes of a stream like [`decompressed`], and the name of the compression. `count`
/// counts bytes when they are taken by the caller or the decoder, also those that were read to
/// recognise the stream. So a progress hook is told of each chunk when it is used.
fn recognised(
    mut stream: impl Read + Send + 'static,
    count: Arc<AtomicU64>,
) -> io::Result<(Box<dyn Read + Send>, Option<&'static str>)> {
    let mut first = Vec::new();
    let mut piece = vec![0; READ];
    // A pipe may have sent only one line so far, so this waits for no more bytes than needed.
    while first.len() < LONGEST_MAGIC && may_be_compressed(&first) {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => first.extend_from_slice(&piece[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    drop(piece);
    let compression = MAGIC.iter().find(|(magic, _)| first.starts_with(magic)).map(|(_, name)| *name);
    let compression = compression.filter(|name| *name != BZIP2 || is_bzip2(&first));
    let whole = Counted { inner: Cursor::new(first).chain(stream), count };
    let buffered = |whole| BufReader::with_capacity(READ, whole);
    let reader: Box<dyn Read + Send> = match compression {
        Some(GZIP) => Box::new(MultiGzDecoder::new(buffered(whole))),
        Some(ZSTD) => Box::new(zstd::Decoder::with_buffer(buffered(whole))?),
        Some(BZIP2) => Box::new(MultiBzDecoder::new(buffered(whole))),
        Some(_) => {
            let decoder =
                liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY, liblzma::stream::CONCATENATED)?;
            Box::new(XzDecoder::new_stream(buffered(whole), decoder))
        }
        None => Box::new(whole),
    };
    Ok((reader, compression))
}

/// Returns true if these bytes are the beginning of a magic number.
fn may_be_compressed(first: &[u8]) -> bool {
    MAGIC.iter().any(|(magic, _)| {
        let common = magic.len().min(first.len());
        magic[..common] == first[..common]
    })
}

/// Returns true for a bzip2 stream. Text may begin with `BZh` too, so the next bytes must match. A
/// stream that ends within them is taken for damaged bzip2.
fn is_bzip2(first: &[u8]) -> bool {
    let [_, _, _, digit, mark @ ..] = first else { return false };
    let mark = &mark[..mark.len().min(BZIP2_BLOCKS[0].len())];
    digit.is_ascii_digit() && !mark.is_empty() && BZIP2_BLOCKS.iter().any(|block| block.starts_with(mark))
}

pub(crate) fn cannot_open(error: io::Error, file: &Arc<str>) -> Error {
    if error.kind() == io::ErrorKind::NotFound {
        Error::new(ErrorKind::NotFound, "no such file")
    } else {
        Error::io(error)
    }
    .in_file(file)
}

/// Counts bytes as they are read.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(into)?;
        self.count.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}
