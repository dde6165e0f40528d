//! A source's bytes, decompressed: what kind of stream it is, its first bytes tell.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;

use crate::error::{Error, ErrorKind, Result};
use crate::input::{Source, folder};

/// Compressed bytes are read in pieces of this size.
const READ: usize = 64 << 10;

/// An open source.
pub(crate) struct Stream {
    reader: Box<dyn Read + Send>,
    compression: Option<&'static str>,
    /// Whether its bytes may come slowly, so that what is there is better handed on at once.
    pub(crate) is_live: bool,
    pub(crate) file: Arc<str>,
}

impl Stream {
    /// Opens a source; `count` is told of every byte read from it.
    pub(crate) fn open(source: &Source, count: &Arc<AtomicU64>) -> Result<Self> {
        let file = source.name();
        let (raw, is_live): (Box<dyn Read + Send>, _) = match source {
            Source::StandardInput => (Box::new(io::stdin()), true),
            Source::File(path) => {
                let opened = File::open(path).map_err(|error| cannot_open(error, &file))?;
                let metadata = opened.metadata().map_err(|error| Error::io(error).in_file(&file))?;
                if metadata.is_dir() {
                    return Err(folder(&file));
                }
                (Box::new(opened), !metadata.is_file())
            }
        };
        let counted = Counted { inner: raw, count: Arc::clone(count) };
        let (reader, compression) = recognised(counted).map_err(|error| Error::io(error).in_file(&file))?;
        Ok(Self { reader, compression, is_live: is_live && compression.is_none(), file })
    }

    /// Reads some bytes; none at the end.
    pub(crate) fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        loop {
            match self.reader.read(into) {
                Ok(length) => return Ok(length),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.read_error(error)),
            }
        }
    }

    /// Everything that is left.
    pub(crate) fn read_to_end(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        match self.reader.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => Err(self.read_error(error)),
        }
    }

    #[cold]
    fn read_error(&self, error: io::Error) -> Error {
        match self.compression {
            Some(name) if error.raw_os_error().is_none() => Error::new(
                ErrorKind::Damaged,
                format_args!("the {name} stream is corrupt or cut short ({error}): fetch the file again"),
            ),
            _ => Error::io(error),
        }
        .in_file(&self.file)
    }
}

const GZIP: &str = "gzip";
const ZSTD: &str = "zstd";
const MAGIC: [(&[u8], &str); 3] =
    [(b"\x1F\x8B\x08", GZIP), (b"\x28\xB5\x2F\xFD", ZSTD), (b"\xFD7zXZ\0", "xz")];

/// The bytes of a stream, decompressed if they are gzip, zstd or xz: their beginning tells.
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
    recognised(stream).map(|(reader, _)| reader)
}

/// The same, with the name of what it was compressed with.
fn recognised(
    mut stream: impl Read + Send + 'static,
) -> io::Result<(Box<dyn Read + Send>, Option<&'static str>)> {
    let mut first = Vec::new();
    let longest = MAGIC.iter().map(|(magic, _)| magic.len()).max().unwrap_or(0);
    stream.by_ref().take(longest as u64).read_to_end(&mut first)?;
    let compression = MAGIC.iter().find(|(magic, _)| first.starts_with(magic)).map(|(_, name)| *name);
    let whole = Cursor::new(first).chain(stream);
    let buffered = |whole| BufReader::with_capacity(READ, whole);
    let reader: Box<dyn Read + Send> = match compression {
        Some(GZIP) => Box::new(MultiGzDecoder::new(buffered(whole))),
        Some(ZSTD) => Box::new(zstd::Decoder::with_buffer(buffered(whole))?),
        Some(_) => Box::new(XzDecoder::new_multi_decoder(buffered(whole))),
        None => Box::new(whole),
    };
    Ok((reader, compression))
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
struct Counted {
    inner: Box<dyn Read + Send>,
    count: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(into)?;
        self.count.fetch_add(length as u64, Ordering::Relaxed);
        Ok(length)
    }
}
