//! The crate's one error type: the column, what was expected, and what was found.

use std::fmt;

/// The kind of an error, for code that handles errors in different ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The values of the column's type have no text, or are not numbers if numbers were requested.
    UnsupportedType,
    /// The sketch takes integers, and the column has values of another type.
    NotIntegers,
    /// The sketch takes hashes of 64 bits, and the column has values of another type.
    NotHashes,
    /// A value is invalid for the type of the column.
    InvalidValue,
    /// Arrow could not read the array.
    Damaged,
    /// The library returned an error: see [`std::error::Error::source`].
    Library,
}

/// The result of the crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate. See [`ErrorKind`] for the kinds.
///
/// Its text names the column if the column has a name: `column 'tags': expected a column of
/// numbers, found List(Utf8)`.
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

    /// Returns the same error with the name of a column, unless it names a column already.
    #[must_use]
    pub fn in_column(mut self, name: &str) -> Self {
        if self.0.column.is_empty() {
            name.clone_into(&mut self.0.column);
        }
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the name of the column, which is empty if it has none.
    pub fn column(&self) -> &str {
        &self.0.column
    }

    /// Returns what was expected.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// Returns what was found instead: a type, or a value.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// Returns the library's error, if that is the cause.
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
