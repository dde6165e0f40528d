//! What can go wrong, in words that say what to do.

use std::fmt;
use std::path::PathBuf;

pub use crivo_records::Problem;

use crate::store::FORMAT;

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
    /// The store cannot do what was asked for.
    Unsuitable(String),
}

impl Error {
    /// Returns true if the error is that there is no store.
    pub fn is_missing_store(&self) -> bool {
        matches!(self, Self::Store { problem: Problem::Missing, .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store { file, problem } => problem.write(f, file, &FORMAT.words),
            Self::Mail { path, cause } => write!(f, "{}: {cause}", path.display()),
            Self::Label(name) => write!(
                f,
                "{name:?} cannot be a label: expected spam, ham or label:NAME, with a name of 1 to 64 ASCII letters, digits, '-', '_' or '.', for example label:social"
            ),
            Self::Sketch(error) => error.fmt(f),
            Self::Unsuitable(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // Our own messages about mail and stores contain the cause already.
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
