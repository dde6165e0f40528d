//! Errors, as the text of an SQL error.

use std::fmt;

/// The result of the extension's functions.
pub(crate) type Result<T, E = SqlError> = std::result::Result<T, E>;

/// The message of an SQL error.
#[derive(Debug)]
pub(crate) struct SqlError(String);

impl SqlError {
    /// Creates an error in the usual form: the field, what was expected, and what was found.
    pub(crate) fn expected(field: &str, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        Self(format!("{field}: expected {expected}, found {found}"))
    }

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for SqlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<crivo::Error> for SqlError {
    fn from(error: crivo::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<crivo_near::Error> for SqlError {
    fn from(error: crivo_near::Error) -> Self {
        Self(error.to_string())
    }
}
