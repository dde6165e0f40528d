//! The crate's one error type: what went wrong, in which file, on which line.

use std::fmt;
use std::io;
use std::sync::Arc;

/// What went wrong, for code that has to choose what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No file has this name, or no file matches this pattern.
    NotFound,
    /// A folder was given where a file was expected.
    Folder,
    /// The operating system could not read the input or write the output.
    Io,
    /// A compressed stream or a Parquet file is cut short or corrupt.
    Damaged,
    /// The input has no such field.
    NoSuchField,
    /// A record has another number of fields than the header.
    FieldCount,
    /// A quoted field never ends.
    UnclosedQuote,
    /// A record is longer than [`Input::max_record`](crate::Input::max_record) allows.
    RecordTooLong,
    /// A file has to be held in memory, and is larger than
    /// [`Input::max_held`](crate::Input::max_held) allows.
    TooLarge,
    /// The system has no memory for what the input needs. The input may be whole.
    OutOfMemory,
    /// A line is not JSON, or not an object.
    InvalidJson,
    /// Integer keys were asked for and the value is no 64-bit integer.
    NotInteger,
    /// A column that holds lists, maps or structs was asked for.
    NestedColumn,
    /// The operation or type has no meaning for this format.
    Unsupported,
    /// Settings that contradict each other or mean nothing.
    InvalidOption,
    /// The library refused: see [`Error::sketch`].
    Sketch,
    /// The caller's own error, from [`Error::other`].
    Other,
}

/// What the user could do about an error. The caller knows how that is done: an option, a
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
/// Its text begins with the file and the line (for Parquet the row), where they are known:
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

/// Where in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere in particular.
    File,
    /// Lines into the chunk being parsed; how many came before is known only when the chunks
    /// before it are done, see [`Error::after_lines`].
    LineOfChunk(u64),
    /// A line of the file, from 1.
    Line(u64),
    /// A row of a file that has no lines, from 1.
    Row(u64),
}

/// The crate's results.
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

    /// An error of the caller's own, to stop a fold or a copy with.
    #[cold]
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        let source = error.into();
        let mut wrapped = Self::new(ErrorKind::Other, &source);
        wrapped.0.source = Some(source);
        wrapped
    }

    /// The same error, about this file (if it did not name one already).
    pub(crate) fn in_file(mut self, file: &Arc<str>) -> Self {
        self.0.file.get_or_insert_with(|| Arc::clone(file));
        self
    }

    /// The same error, about this column.
    pub(crate) fn in_column(mut self, column: &str) -> Self {
        self.0.message = format!("column '{column}': {}", self.0.message);
        self
    }

    /// The same error, with what to do about it.
    pub(crate) fn with_remedy(mut self, remedy: Remedy) -> Self {
        self.0.remedy = Some(remedy);
        self
    }

    pub(crate) fn at(mut self, place: Place) -> Self {
        self.0.place = place;
        self
    }

    /// Turns a line of the chunk into a line of the file.
    pub(crate) fn after_lines(mut self, before: u64) -> Self {
        if let Place::LineOfChunk(line) = self.0.place {
            self.0.place = Place::Line(before + line);
        }
        self
    }

    /// The cause.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The file it is about; `standard input` for that.
    pub fn file(&self) -> Option<&str> {
        self.0.file.as_deref()
    }

    /// The line of the file it is about, from 1 (for Parquet the row).
    pub fn line(&self) -> Option<u64> {
        match self.0.place {
            Place::Line(line) | Place::Row(line) => Some(line),
            Place::File | Place::LineOfChunk(_) => None,
        }
    }

    /// What was wrong, without the file and the line.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What could be done about it, if something is known.
    pub fn remedy(&self) -> Option<Remedy> {
        self.0.remedy
    }

    /// The library's error, if it was the cause.
    pub fn sketch(&self) -> Option<&crivo::Error> {
        self.cause()
    }

    /// The cause, if it is of this type.
    pub(crate) fn cause<C: std::error::Error + 'static>(&self) -> Option<&C> {
        self.0.source.as_deref()?.downcast_ref()
    }

    /// The operating system's reason, if it was the cause: so that a closed pipe, which is no
    /// failure, can be told from a full disk.
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
