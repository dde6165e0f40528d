//! What can go wrong, in words that say what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// The crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why mail could not be read, judged or learned.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Something about the store.
    Store {
        /// The file of the store.
        file: PathBuf,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A file or folder of mail could not be read.
    Mail {
        /// Where it is.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
    /// A name that cannot be a label.
    Label(String),
    /// The library refused a parameter.
    Sketch(crivo::Error),
    /// What was asked for is not what this store can do.
    Unsuitable(String),
}

/// What is wrong with a store.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// There is none.
    Missing,
    /// The file is something else, or was written by a later version.
    Foreign(String),
    /// Bytes are not those that were written.
    Damaged(String),
    /// Somebody else writes to it, and did not finish in time.
    Busy,
    /// The system refused to read or write.
    Refused(String),
}

impl Error {
    pub(crate) fn store(file: &Path, problem: Problem) -> Self {
        Self::Store { file: file.to_path_buf(), problem }
    }

    pub(crate) fn damaged(file: &Path, what: impl fmt::Display) -> Self {
        Self::store(file, Problem::Damaged(what.to_string()))
    }

    /// What SQLite says, in our words. Our own statements are right, so that a statement which fails, or a value
    /// of another type, means that the file is not what we wrote.
    pub(crate) fn sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        let problem = match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Problem::Busy,
            Some(
                ErrorCode::CannotOpen
                | ErrorCode::DiskFull
                | ErrorCode::FileLockingProtocolFailed
                | ErrorCode::NoLargeFileSupport
                | ErrorCode::OperationInterrupted
                | ErrorCode::OutOfMemory
                | ErrorCode::PermissionDenied
                | ErrorCode::ReadOnly
                | ErrorCode::SystemIoFailure
                | ErrorCode::TooBig,
            ) => Problem::Refused(error.to_string()),
            _ => Problem::Damaged(error.to_string()),
        };
        Self::store(file, problem)
    }

    /// Whether the trouble is that there is no store.
    pub fn is_missing_store(&self) -> bool {
        matches!(self, Self::Store { problem: Problem::Missing, .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store { file, problem } => {
                write!(f, "{}: ", file.display())?;
                match problem {
                    Problem::Missing => f.write_str(
                        "there is no store of learned mail: make one with crivo mail train or learn",
                    ),
                    Problem::Foreign(what) => f.write_str(what),
                    Problem::Damaged(what) => write!(
                        f,
                        "the store is damaged: {what}; restore it from a copy or an export, or train it again"
                    ),
                    Problem::Busy => {
                        f.write_str("somebody else is writing to the store: try again when that has finished")
                    }
                    Problem::Refused(what) => write!(f, "{what}; what was learned before is safe"),
                }
            }
            Self::Mail { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::Label(name) => write!(
                f,
                "{name:?} cannot be a label: expected 1 to 64 letters, digits, '-', '_' or '.', for example label:social"
            ),
            Self::Sketch(error) => error.fmt(f),
            Self::Unsuitable(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // What the system said about mail is in our own words already.
        match self {
            Self::Sketch(error) => Some(error),
            _ => None,
        }
    }
}

impl From<crivo::Error> for Error {
    fn from(error: crivo::Error) -> Self {
        Self::Sketch(error)
    }
}
