//! What does a failure look like from Python?
//!
//! The exception classes are written in Python (`crivo/errors.py`), where they can have two
//! bases, be pickled and be read by type checkers. Only this module chooses among them. Every
//! method returns [`Result`], so `?` passes on a library error, a refused value or a Python
//! exception. Messages of the library are kept as they are.

use std::fmt;
use std::ops::RangeInclusive;

use crivo::ErrorKind;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The reason why a call failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library returned an error.
    Library(crivo::Error),
    /// A setting does not fit the type that the library takes, such as a negative size.
    Parameter(String),
    /// A value is not a key of the sketch's kind.
    Key(String),
    /// Two sketches of another library cannot be combined.
    Incompatible(String),
    /// The bytes are not a sketch of another library.
    Bytes(String),
    /// Python raised an exception: an iterator failed, or an object could not be converted.
    Python(PyErr),
}

pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Panics, so that tests can check what a panic inside an engine leads to.
#[pyfunction(name = "_panic")]
#[allow(clippy::panic)] // its purpose
pub(crate) fn panic_for_tests() {
    panic!("a panic that a test asked for");
}

impl From<crivo::Error> for Failure {
    fn from(error: crivo::Error) -> Self {
        Self::Library(error)
    }
}

impl From<crivo_arrow::Error> for Failure {
    #[cold]
    fn from(error: crivo_arrow::Error) -> Self {
        use crivo_arrow::ErrorKind;
        let advice = match error.kind() {
            ErrorKind::Damaged => return broken_stream(error),
            ErrorKind::UnsupportedType => "choose one column, or convert it",
            ErrorKind::NotIntegers => "convert the column, or build the sketch with keys='text'",
            ErrorKind::NotHashes => "hash the column first, or build the sketch with keys='text'",
            _ => "",
        };
        let found = match error.column() {
            "" => error.found().to_owned(),
            column => format!("{} in column '{column}'", error.found()),
        };
        let refused = Self::key(error.expected(), found, advice);
        error.into_library().map_or(refused, Self::Library)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl Failure {
    /// Returns the failure for a refused value, in the wording of the library's errors.
    #[cold]
    pub(crate) fn key(expected: impl fmt::Display, found: impl fmt::Display, advice: &str) -> Self {
        let advice = if advice.is_empty() { String::new() } else { format!(" ({advice})") };
        Self::Key(format!("key: expected {expected}, found {found}{advice}"))
    }

    /// Returns the same failure with the position of the refused value. `so_far` says what was done
    /// with the values before it.
    #[cold]
    pub(crate) fn at(self, position: usize, so_far: &str) -> Self {
        match self {
            Self::Key(message) if so_far.is_empty() => Self::Key(format!("value {position}: {message}")),
            Self::Key(message) => Self::Key(format!("value {position}: {message}; {so_far}")),
            other => other,
        }
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        let (class, message, kind) = match failure {
            Failure::Python(error) => return error,
            Failure::Parameter(message) => ("InvalidParameterError", message, None),
            Failure::Key(message) => ("KeyTypeError", message, None),
            Failure::Incompatible(message) => ("IncompatibleError", message, None),
            Failure::Bytes(message) => ("DecodeError", message, Some("foreign")),
            Failure::Library(error) => {
                let (class, kind) = class_of(error.kind());
                (class, error.to_string(), kind)
            }
        };
        Python::attach(|py| raise(py, class, message, kind).unwrap_or_else(|error| error))
    }
}

/// Returns the failure for an Arrow stream that failed. Arrow's interface passes on only a text. If
/// the text ends with an exception of crivo that the producer of the stream raised, that exception
/// is raised again.
#[cold]
pub(crate) fn broken_stream(error: impl fmt::Display) -> Failure {
    let text = error.to_string();
    let own = Python::attach(|py| {
        let found = py.import("crivo.errors")?.call_method1("_raised_inside", (&text,))?;
        PyResult::Ok((!found.is_none()).then(|| PyErr::from_value(found)))
    });
    Failure::Python(own.ok().flatten().unwrap_or_else(|| PyRuntimeError::new_err(text)))
}

/// Returns the exception class of an error kind. For bytes that could not be read, also returns the
/// `kind` attribute of the exception.
fn class_of(kind: ErrorKind) -> (&'static str, Option<&'static str>) {
    match kind {
        ErrorKind::InvalidParameter | ErrorKind::InvalidBatch => ("InvalidParameterError", None),
        ErrorKind::Incompatible => ("IncompatibleError", None),
        ErrorKind::Absent => ("AbsentError", None),
        ErrorKind::BudgetExceeded => ("BudgetExceededError", None),
        ErrorKind::OutOfMemory => ("OutOfMemoryError", None),
        ErrorKind::Foreign => ("DecodeError", Some("foreign")),
        ErrorKind::Truncated => ("DecodeError", Some("truncated")),
        ErrorKind::TrailingBytes => ("DecodeError", Some("trailing_bytes")),
        ErrorKind::FutureVersion => ("DecodeError", Some("future_version")),
        ErrorKind::Damaged => ("DecodeError", Some("damaged")),
        ErrorKind::WrongFamily => ("DecodeError", Some("wrong_family")),
        ErrorKind::InvalidContents => ("DecodeError", Some("invalid_contents")),
        _ => ("CrivoError", None),
    }
}

fn raise(py: Python<'_>, class: &str, message: String, kind: Option<&str>) -> PyResult<PyErr> {
    let class = py.import("crivo.errors")?.getattr(class)?.cast_into::<PyType>()?;
    Ok(match kind {
        Some(kind) => PyErr::from_type(class, (message, kind.to_owned())),
        None => PyErr::from_type(class, message),
    })
}

/// Returns an integer setting. A number that does not fit the library's type is refused in the same
/// wording as a number that the library refuses, instead of with Python's bare `OverflowError`.
pub(crate) fn setting<'py, T>(name: &str, value: &Bound<'py, PyAny>, allowed: impl fmt::Display) -> Result<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    value.extract().map_err(|error: PyErr| {
        let overflow = error.is_instance_of::<pyo3::exceptions::PyOverflowError>(value.py());
        match value.str() {
            Ok(found) if overflow => Failure::Parameter(format!("{name}: expected {allowed}, found {found}")),
            _ => Failure::Python(error),
        }
    })
}

/// Returns an integer setting within a range. For formulas that the library defines beyond the
/// range too.
pub(crate) fn setting_in(name: &str, value: &Bound<'_, PyAny>, range: RangeInclusive<u64>) -> Result<u64> {
    let (least, most) = (range.start(), range.end());
    let number = setting(name, value, format_args!("{least} to {most}"))?;
    if range.contains(&number) {
        Ok(number)
    } else {
        Err(Failure::Parameter(format!("{name}: expected {least} to {most}, found {number}")))
    }
}
