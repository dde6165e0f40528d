//! The crate's one error type.

use std::fmt;

/// The result of the crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why groups could not be computed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A sketch refused an operation.
    Sketch(crivo::Error),
    /// The temporary file could not be read or written.
    Spill(crivo_spill::Error),
    /// The temporary file does not contain what was written to it.
    Changed,
    /// The caller's own error.
    Caller(Box<dyn std::error::Error + Send + Sync>),
    /// The caller asked to stop.
    Stopped,
}

impl Error {
    /// Wraps an error of the caller.
    pub fn caller(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Caller(error.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sketch(error) => error.fmt(f),
            Self::Spill(error) => error.fmt(f),
            Self::Changed => f.write_str("a temporary file was changed while it was in use: run again"),
            Self::Caller(error) => error.fmt(f),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sketch(error) => Some(error),
            Self::Spill(error) => Some(error),
            Self::Caller(error) => Some(&**error),
            Self::Changed | Self::Stopped => None,
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
        Self::Spill(error)
    }
}
