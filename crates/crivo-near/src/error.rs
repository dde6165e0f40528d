//! The crate's one error type.

use std::fmt;
use std::io::ErrorKind;

/// The result of the crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a search for near-duplicates ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A setting is out of its range.
    Setting {
        /// The name of the setting.
        name: &'static str,
        /// The allowed values.
        allowed: String,
        /// The value that was given.
        found: String,
    },
    /// The library refused a parameter.
    Sketch(crivo::Error),
    /// The temporary file could not be read or written.
    Storage {
        /// The operation that failed.
        doing: &'static str,
        /// The error of the operating system.
        cause: std::io::Error,
    },
    /// The index on disk cannot be used.
    #[cfg(feature = "index")]
    Index(crate::index::IndexError),
    /// The documents could not be read.
    Documents(Box<dyn std::error::Error + Send + Sync>),
    /// There are more documents than can be numbered.
    TooMany,
    /// The data kept for each document does not fit in the memory.
    Memory {
        /// The number of documents when the error occurred.
        members: u64,
        /// The memory that was given, in bytes.
        given: u64,
        /// The least memory that would be enough, in bytes.
        least: u64,
    },
    /// A work folder cannot be used.
    Work {
        /// The folder, or a file in it.
        path: std::path::PathBuf,
        /// The problem.
        what: String,
    },
    /// The second reading gave other documents than the first one.
    Changed,
    /// The watcher requested a stop.
    Stopped,
}

impl Error {
    pub(crate) fn setting(name: &'static str, allowed: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::Setting { name, allowed: allowed.to_string(), found: found.to_string() }
    }

    pub(crate) fn work(path: &std::path::Path, what: impl fmt::Display) -> Self {
        Self::Work { path: path.to_path_buf(), what: what.to_string() }
    }

    /// Returns the error for a file of a work folder that could not be written.
    pub(crate) fn work_not_written(path: &std::path::Path, cause: &std::io::Error) -> Self {
        Self::work(
            path,
            format_args!("was not written: {cause}; what is done stays: make room and run again"),
        )
    }
}

/// Returns true if a file could not be written because there is no room for it.
fn lacks_room(cause: &std::io::Error) -> bool {
    matches!(cause.kind(), ErrorKind::StorageFull | ErrorKind::FileTooLarge | ErrorKind::QuotaExceeded)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { name, allowed, found } => write!(f, "{name}: expected {allowed}, found {found}"),
            Self::Sketch(error) => error.fmt(f),
            Self::Storage { doing, cause } => {
                let folder = std::env::temp_dir();
                let advice = if lacks_room(cause) {
                    "make room there, or name another folder with TMPDIR"
                } else {
                    "TMPDIR chooses where temporary files are kept"
                };
                write!(f, "{doing} in {}: {cause}; {advice}", folder.display())
            }
            #[cfg(feature = "index")]
            Self::Index(error) => error.fmt(f),
            Self::Documents(error) => error.fmt(f),
            Self::TooMany => f.write_str("more than 4,294,967,295 documents: split the collection"),
            Self::Memory { members, given, least } => {
                let mebibytes = |bytes: u64| bytes.div_ceil(1 << 20);
                let (given, least) = (mebibytes(*given), mebibytes(*least));
                write!(f, "memory: {members} documents need at least {least} MiB, and {given} MiB were given")
            }
            Self::Work { path, what } => write!(f, "{}: {what}", path.display()),
            Self::Changed => f.write_str(
                "the documents changed while they were read: run again when nothing writes to them",
            ),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sketch(error) => Some(error),
            Self::Documents(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<crivo::Error> for Error {
    fn from(error: crivo::Error) -> Self {
        Self::Sketch(error)
    }
}

impl From<crivo_spill::Error> for Error {
    fn from(error: crivo_spill::Error) -> Self {
        let (doing, path) = (error.doing(), error.path().map(std::path::Path::to_path_buf));
        let cause = error.into_cause();
        match path {
            Some(path) if lacks_room(&cause) => Self::work_not_written(&path, &cause),
            Some(path) => Self::work(&path, format_args!("{doing}: {cause}")),
            None => Self::Storage { doing, cause },
        }
    }
}
