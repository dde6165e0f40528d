//! The crate's one error type: which column, what was expected, what was found.

use std::fmt;

/// What went wrong, for code that has to choose what to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The type of the column has no text, or no numbers if those were asked for.
    UnsupportedType,
    /// The sketch takes integers, and the column has other values.
    NotIntegers,
    /// The sketch takes hashes of 64 bits, and the column has other values.
    NotHashes,
    /// The type of the column does not have such a value.
    InvalidValue,
    /// Arrow could not read the array.
    Damaged,
    /// The library refused: see [`std::error::Error::source`].
    Library,
}

/// The crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate: see [`ErrorKind`] for the causes.
///
/// Its text names the column if that has a name: `column 'tags': expected a column of numbers,
/// found List(Utf8)`.
#[derive(Debug)]
pub struct Error(Box<Detail>);

#[derive(Debug)]
struct Detail {
    kind: ErrorKind,
    column: String,
    expected: String,
    found: String,
    source: Option<crivo::Error>,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, expected: impl fmt::Display, found: impl fmt::Display) -> Self {
        let (expected, found) = (expected.to_string(), found.to_string());
        Self(Box::new(Detail { kind, column: String::new(), expected, found, source: None }))
    }

    /// The same error, about a column, if it does not name one already.
    #[must_use]
    pub fn in_column(mut self, name: &str) -> Self {
        if self.0.column.is_empty() {
            name.clone_into(&mut self.0.column);
        }
        self
    }

    /// Returns the cause.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the name of the column; empty if it has none.
    pub fn column(&self) -> &str {
        &self.0.column
    }

    /// Returns what would have been right.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// Returns what was there instead: a type, or a value.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// Returns the library's error, if it is one.
    pub fn into_library(self) -> Option<crivo::Error> {
        self.0.source
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Detail { column, expected, found, source, .. } = &*self.0;
        if !column.is_empty() {
            write!(f, "column '{column}': ")?;
        }
        match source {
            Some(source) => write!(f, "{source}"),
            None => write!(f, "expected {expected}, found {found}"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|source| source as _)
    }
}

impl From<crivo::Error> for Error {
    #[cold]
    fn from(error: crivo::Error) -> Self {
        let mut wrapped = Self::new(ErrorKind::Library, error.expected(), error.found());
        wrapped.0.source = Some(error);
        wrapped
    }
}

impl From<arrow_schema::ArrowError> for Error {
    #[cold]
    fn from(error: arrow_schema::ArrowError) -> Self {
        Self::new(ErrorKind::Damaged, "an array that Arrow can read", error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_names_the_first_column_it_is_told() {
        let error = Error::new(ErrorKind::InvalidValue, "a time of day", -1);
        assert_eq!(error.to_string(), "expected a time of day, found -1");
        let error = error.in_column("at").in_column("table");
        assert_eq!(error.to_string(), "column 'at': expected a time of day, found -1");
    }

    #[test]
    fn message_of_the_library_is_kept() {
        let refused = crivo::keys::Span::new(0..usize::MAX).unwrap_err();
        let text = refused.to_string();
        let error = Error::from(refused);
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Library, text));
        assert!(error.into_library().is_some());
    }
}
