//! What can go wrong, in one type.

use std::fmt;

/// The crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a search for near-duplicates ended.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A setting is out of its range.
    Setting {
        /// The setting.
        name: &'static str,
        /// What is allowed.
        allowed: String,
        /// What was given.
        found: String,
    },
    /// The library refused a parameter.
    Sketch(crivo::Error),
    /// The temporary file could not be read or written.
    Storage {
        /// What was being done.
        doing: &'static str,
        /// What the system said.
        cause: std::io::Error,
    },
    /// The index on disk cannot be used.
    #[cfg(feature = "index")]
    Index(crate::index::IndexError),
    /// The documents could not be read.
    Documents(Box<dyn std::error::Error + Send + Sync>),
    /// There are more documents than can be numbered.
    TooMany,
    /// A second reading did not bring what the first one did.
    Changed,
    /// Whoever watches asked to stop.
    Stopped,
}

impl Error {
    pub(crate) fn setting(name: &'static str, allowed: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self::Setting { name, allowed: allowed.to_string(), found: found.to_string() }
    }

    pub(crate) fn storage(doing: &'static str) -> impl FnOnce(std::io::Error) -> Self {
        move |cause| Self::Storage { doing, cause }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { name, allowed, found } => write!(f, "{name}: expected {allowed}, found {found}"),
            Self::Sketch(error) => error.fmt(f),
            Self::Storage { doing, cause } => {
                write!(f, "{doing}: {cause}; TMPDIR chooses where temporary files are kept")
            }
            #[cfg(feature = "index")]
            Self::Index(error) => error.fmt(f),
            Self::Documents(error) => error.fmt(f),
            Self::TooMany => f.write_str("more than 4,294,967,295 documents: split the collection"),
            Self::Changed => f.write_str(
                "the documents changed while they were read: run again when nobody writes to them",
            ),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sketch(error) => Some(error),
            Self::Storage { cause, .. } => Some(cause),
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
