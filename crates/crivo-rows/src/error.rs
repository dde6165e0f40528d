//! The crate's one error type: what went wrong, in which file, on which line.

use std::fmt;
use std::io;
use std::sync::Arc;

/// The cause of an error, for code that handles causes differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No file has this name, or no file matches this pattern.
    NotFound,
    /// An argument is a folder instead of a file.
    Folder,
    /// The operating system could not read the input or write the output.
    Io,
    /// A compressed stream or a Parquet file is truncated or corrupt.
    Damaged,
    /// The input has no such field.
    NoSuchField,
    /// A record has another number of fields than the header.
    FieldCount,
    /// A quoted field never ends.
    UnclosedQuote,
    /// A record is longer than [`Input::max_record`](crate::Input::max_record) allows.
    RecordTooLong,
    /// A file must be held in memory, and is larger than
    /// [`Input::max_held`](crate::Input::max_held) allows.
    TooLarge,
    /// The system has too little memory for the input. The input may be undamaged.
    OutOfMemory,
    /// A line is not JSON, or not an object.
    InvalidJson,
    /// Keys are integers and the value is not a 64-bit integer.
    NotInteger,
    /// The selected column has lists, maps or structs.
    NestedColumn,
    /// The operation or type has no meaning for this format.
    Unsupported,
    /// Settings contradict each other or mean nothing.
    InvalidOption,
    /// A sketch refused an operation: see [`Error::sketch`].
    Sketch,
    /// The caller's own error, from [`Error::other`].
    Other,
}

/// What the user could do about an error. The caller knows how to say it: by an option or a
/// parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Remedy {
    /// Skip bad records, or name another delimiter.
    SkipBad,
    /// Name one of the fields.
    ChooseField,
    /// Name the format: lines have no field names.
    NameFormat,
    /// Allow longer records.
    LongerRecords,
}

/// An error of this crate: see [`ErrorKind`] for the causes.
///
/// Its text begins with the file and the line (the row for Parquet), if they are known:
/// `sales.csv, line 17: expected 5 fields, found 4`.
pub struct Error(Box<Detail>);

#[derive(Debug)]
struct Detail {
    kind: ErrorKind,
    file: Option<Arc<str>>,
    place: Place,
    message: String,
    remedy: Option<Remedy>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// A place in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The file as a whole.
    File,
    /// The line of the chunk being parsed, from 1. The number of lines before the chunk is known
    /// only when the earlier chunks are done; see [`Error::after_lines`].
    LineOfChunk(u64),
    /// A line of the file, from 1.
    Line(u64),
    /// A row of a file that has no lines, from 1.
    Row(u64),
}

/// The result of the crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, message: impl fmt::Display) -> Self {
        let message = message.to_string();
        let (file, place, remedy, source) = (None, Place::File, None, None);
        Self(Box::new(Detail { kind, file, place, message, remedy, source }))
    }

    #[cold]
    pub(crate) fn io(error: io::Error) -> Self {
        let mut wrapped = Self::new(ErrorKind::Io, &error);
        wrapped.0.source = Some(Box::new(error));
        wrapped
    }

    /// Wraps an error of the caller, which ends a fold or a copy.
    #[cold]
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let source = error.into();
        let mut wrapped = Self::new(ErrorKind::Other, &source);
        wrapped.0.source = Some(source);
        wrapped
    }

    /// Sets the file of the error, unless it has one already.
    pub(crate) fn in_file(mut self, file: &Arc<str>) -> Self {
        self.0.file.get_or_insert_with(|| Arc::clone(file));
        self
    }

    /// Adds the column to the message.
    pub(crate) fn in_column(mut self, column: &str) -> Self {
        self.0.message = format!("column '{column}': {}", self.0.message);
        self
    }

    /// Adds what the user can do about the error.
    pub(crate) fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    pub(crate) fn at(mut self, place: Place) -> Self {
        self.0.place = place;
        self
    }

    /// Replaces a line of the chunk by a line of the file. `before` is the number of lines before
    /// the chunk.
    pub(crate) fn after_lines(mut self, before: u64) -> Self {
        if let Place::LineOfChunk(line) = self.0.place {
            self.0.place = Place::Line(before + line);
        }
        self
    }

    /// Returns the cause.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the name of the file, which can be `standard input`.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// Returns the line of the file, from 1 (the row for Parquet).
    pub fn line(&self) -> Option<u64> {
        match self.0.place {
            Place::Line(line) | Place::Row(line) => Some(line),
            Place::File | Place::LineOfChunk(_) => None,
        }
    }

    /// Returns the message without the file and the line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns what the user could do about the error, if something is known.
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }

    /// Returns the error of the library, if it was the cause.
    pub fn sketch(&self) -> Option<&crivo::Error> {
        self.cause()
    }

    /// Returns the underlying error, if it is of this type.
    pub(crate) fn cause<C: std::error::Error + 'static>(&self) -> Option<&C> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// Returns the kind of the operating system's error, if it was the cause. So the caller can
    /// distinguish a closed pipe, which is not a failure, from a full disk.
    pub fn io_kind(&self) -> Option<io::ErrorKind> {
        self.0.source.as_deref()?.downcast_ref::<io::Error>().map(io::Error::kind)
    }
}

#[cfg(feature = "parquet")]
impl From<crivo_arrow::Error> for Error {
    #[cold]
    fn from(error: crivo_arrow::Error) -> Self {
        let kind = match error.kind() {
            crivo_arrow::ErrorKind::UnsupportedType => ErrorKind::Unsupported,
            crivo_arrow::ErrorKind::InvalidValue | crivo_arrow::ErrorKind::Damaged => ErrorKind::Damaged,
            _ => ErrorKind::Sketch,
        };
        Self::new(kind, &error)
    }
}

impl From<crivo::Error> for Error {
    #[cold]
    fn from(error: crivo::Error) -> Self {
        let mut wrapped = Self::new(ErrorKind::Sketch, &error);
        wrapped.0.source = Some(Box::new(error));
        wrapped
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Detail { file, place, message, .. } = &*self.0;
        if let Some(file) = file {
            write!(f, "{file}")?;
            match place {
                Place::Line(line) => write!(f, ", line {line}")?,
                Place::Row(row) => write!(f, ", row {row}")?,
                Place::File | Place::LineOfChunk(_) => {}
            }
            f.write_str(": ")?;
        }
        f.write_str(message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {self})", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
