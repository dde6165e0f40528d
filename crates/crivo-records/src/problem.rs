//! The problems with a file, in words that say what to do.
//!
//! SQLite has dozens of errors, but the user can do only a few things: wait, free the disk, restore
//! a copy. So each error becomes the [`Problem`] with that remedy. An error that is not known to
//! come from outside the file counts as damage.

use std::fmt;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::format::Wording;

/// What is wrong with a file of records.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The folder has no such file.
    Missing,
    /// The folder has such a file already, where a new one was to be created.
    Exists,
    /// The file is something else, or was written by a later version.
    Foreign(String),
    /// The file was created with another setting.
    Differs {
        /// The name of the setting.
        field: &'static str,
        /// The value in the file.
        stored: String,
        /// The value that was requested.
        asked: String,
    },
    /// Some bytes are not those that were written.
    Damaged(String),
    /// Another writer has the file locked, and did not finish in time.
    Busy,
    /// The system refused to read or write.
    Refused(String),
}

impl Problem {
    /// Returns the problem behind an SQLite error. Our own statements are correct. So a statement
    /// that fails, or a value of another type, means that the file is not what we wrote.
    pub(crate) fn of(error: &rusqlite::Error, words: &Wording) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::NotADatabase) => {
                let Wording { article, name, .. } = words;
                Self::Damaged(format!("it does not begin as {article} {name} does (not a database)"))
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
            ) => Self::Refused(error.to_string()),
            _ => Self::Damaged(error.to_string()),
        }
    }

    /// Writes what is wrong with a file, and what the user can do about it.
    pub fn write(&self, f: &mut fmt::Formatter<'_>, file: &Path, words: &Wording) -> fmt::Result {
        let Wording { name, article, missing, repair, done, .. } = words;
        write!(f, "{}: ", file.display())?;
        match self {
            Self::Missing => f.write_str(missing),
            Self::Exists => {
                write!(f, "there is {article} {name} already: open it, or name another folder")
            }
            Self::Foreign(what) => f.write_str(what),
            Self::Differs { field, stored, asked } => write!(
                f,
                "{field}: the {name} has {stored}, asked for was {asked}; settings cannot change: use those of the \
                 {name}, or make another"
            ),
            Self::Damaged(what) => write!(f, "the {name} is damaged: {what}; {repair}"),
            Self::Busy => {
                write!(f, "another process is writing to the {name}: try again when that has finished")
            }
            Self::Refused(what) => write!(f, "{what}; what was {done} before is safe"),
        }
    }
}
