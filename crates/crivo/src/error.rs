//! The library's one error type.
//!
//! Every failure names the field it is about, what was expected and what was
//! found, and where it helps, what to do next. The [`ErrorKind`] is what code
//! matches on; the text is what a person reads. Constructors are private to the
//! crate, one for each cause, so that a cause is worded the same everywhere.

use std::fmt;

use crate::codec::Family;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::Capability;

/// The cause of an error, for code that handles different causes differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A size, probability or other setting lies outside its range.
    InvalidParameter,
    /// Two sketches, or a sketch and its keys, differ in a way that forbids combining them.
    Incompatible,
    /// The key to remove is certainly not in the sketch.
    Absent,
    /// A report would spend more privacy than its budget has left.
    BudgetExceeded,
    /// The memory that the parameters need could not be allocated.
    OutOfMemory,
    /// A key lies outside the bytes of its batch, or a batch is too large to address.
    InvalidBatch,
    /// The bytes do not start like those of a crivo file.
    Foreign,
    /// The bytes end before the length their header states.
    Truncated,
    /// There are bytes after the end of the sketch.
    TrailingBytes,
    /// A newer version of crivo wrote the bytes.
    FutureVersion,
    /// The checksum does not match: the bytes were changed after they were written.
    Damaged,
    /// The bytes hold another kind of sketch than the one requested.
    WrongFamily,
    /// The sketch does not support the requested operation.
    Unsupported,
    /// The checksum is right but the contents break a rule of the format.
    InvalidContents,
}

/// An error of the library: see [`ErrorKind`] for the causes.
///
/// ```
/// use crivo::{ErrorKind, distinct::HyperLogLog};
///
/// let error = HyperLogLog::new(30).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::InvalidParameter);
/// assert_eq!(error.to_string(), "precision: expected 4 to 18, found 30");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Detail>);

/// Boxed so that `Result<(), Error>` stays one word wide on hot paths.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Detail {
    kind: ErrorKind,
    field: &'static str,
    expected: String,
    found: String,
    advice: &'static str,
}

/// The result of the library's functions that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// The cause of the error.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The parameter, header field or part of the payload that the error is about.
    pub fn field(&self) -> &'static str {
        self.0.field
    }

    /// Returns what was expected.
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// Returns what was found instead.
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// Returns advice on what to do about the error. It may be empty.
    pub(crate) fn advice(&self) -> &'static str {
        self.0.advice
    }

    #[cold]
    pub(crate) fn new(
        kind: ErrorKind,
        field: &'static str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
        advice: &'static str,
    ) -> Self {
        Self(Box::new(Detail {
            kind,
            field,
            expected: expected.to_string(),
            found: found.to_string(),
            advice,
        }))
    }

    #[cold]
    pub(crate) fn parameter(
        name: &'static str,
        allowed: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        Self::new(ErrorKind::InvalidParameter, name, allowed, found, "")
    }

    #[cold]
    pub(crate) fn incompatible(
        field: &'static str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
        advice: &'static str,
    ) -> Self {
        Self::new(ErrorKind::Incompatible, field, expected, found, advice)
    }

    #[cold]
    pub(crate) fn truncated(field: &'static str, needed: u64, left: usize) -> Self {
        Self::new(
            ErrorKind::Truncated,
            field,
            format_args!("{needed} bytes"),
            format_args!("{left}"),
            "the file is incomplete: copy or write it again",
        )
    }

    #[cold]
    pub(crate) fn trailing(extra: usize) -> Self {
        Self::new(
            ErrorKind::TrailingBytes,
            "end",
            "nothing after the sketch",
            format_args!("{extra} more bytes"),
            "one file holds one sketch: combine several with merge, not by appending",
        )
    }

    #[cold]
    pub(crate) fn unsupported(capability: Capability, family: Family) -> Self {
        let expected = format_args!("one that {capability}").to_string();
        let found = format_args!("a {family}, which tells {}", family.question()).to_string();
        Self::new(ErrorKind::Unsupported, "sketch", expected, found, capability.had_by())
    }

    #[cold]
    pub(crate) fn contents(
        field: &'static str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        Self::new(ErrorKind::InvalidContents, field, expected, found, "")
    }

    /// Returns the error about a parameter as an error about stored contents that break its rule.
    #[cold]
    pub(crate) fn into_contents(mut self) -> Self {
        (self.0.kind, self.0.advice) = (ErrorKind::InvalidContents, "");
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Detail { field, expected, found, advice, .. } = &*self.0;
        write!(f, "{field}: expected {expected}, found {found}")?;
        if !advice.is_empty() {
            write!(f, " ({advice})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({:?}: {self})", self.0.kind)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_names_field_expected_found_and_advice() {
        let error = Error::incompatible("seed", 1, 2, "build both with the same seed");
        assert_eq!(error.to_string(), "seed: expected 1, found 2 (build both with the same seed)");
        assert_eq!((error.field(), error.expected(), error.found()), ("seed", "1", "2"));
    }

    #[test]
    fn result_of_nothing_is_one_word() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}
