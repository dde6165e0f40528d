//! What can be wrong with an index, in words that say what to do.

use std::fmt;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::error::Error;

/// Why an index could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexError {
    file: PathBuf,
    problem: IndexProblem,
}

/// What is wrong with an index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexProblem {
    /// There is none in the folder.
    Missing,
    /// There is one already, where a new one was to be made.
    Exists,
    /// The file is something else, or was written by a later version.
    Foreign(String),
    /// It was made with another setting.
    Differs {
        /// The setting.
        field: &'static str,
        /// What the index has.
        stored: String,
        /// What was asked for.
        asked: String,
    },
    /// Bytes are not those that were written.
    Damaged(String),
    /// Somebody else writes to it, and did not finish in time.
    Busy,
    /// The system refused to read or write.
    Refused(String),
}

impl IndexError {
    /// The file of the index.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// What is wrong with it.
    pub fn problem(&self) -> &IndexProblem {
        &self.problem
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file.display())?;
        match &self.problem {
            IndexProblem::Missing => f.write_str("there is no index: make one by adding documents to it"),
            IndexProblem::Exists => f.write_str("there is an index already: open it, or name another folder"),
            IndexProblem::Foreign(what) => f.write_str(what),
            IndexProblem::Differs { field, stored, asked } => write!(
                f,
                "{field}: the index has {stored}, asked for was {asked}; settings cannot change: use those of the \
                 index, or make another"
            ),
            IndexProblem::Damaged(what) => {
                write!(f, "the index is damaged: {what}; restore it from a copy, or build it again")
            }
            IndexProblem::Busy => {
                f.write_str("somebody else is writing to the index: try again when that has finished")
            }
            IndexProblem::Refused(what) => {
                write!(f, "{what}; what was committed before is safe")
            }
        }
    }
}

impl std::error::Error for IndexError {}

/// An error about a file.
pub(super) fn trouble(file: &Path, problem: IndexProblem) -> Error {
    Error::Index(IndexError { file: file.to_path_buf(), problem })
}

pub(super) fn damaged(file: &Path, what: impl fmt::Display) -> Error {
    trouble(file, IndexProblem::Damaged(what.to_string()))
}

/// What SQLite says, in our words. Our own statements are right, so that a statement which
/// fails, or a value of another type, means that the file is not what we wrote.
pub(super) fn explain(file: &Path, error: &rusqlite::Error) -> Error {
    let problem = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => IndexProblem::Busy,
        Some(ErrorCode::NotADatabase) => {
            IndexProblem::Damaged("it does not begin as an index does (not a database)".into())
        }
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
        ) => IndexProblem::Refused(error.to_string()),
        _ => IndexProblem::Damaged(error.to_string()),
    };
    trouble(file, problem)
}
