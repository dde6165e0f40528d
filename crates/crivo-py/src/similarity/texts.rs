//! Borrowed texts: for a list, the objects are held and their bytes borrowed; for an Arrow column,
//! the buffers are. Only a pointer and a length are copied for each text.

use arrow_array::{Array, ArrayRef};
use crivo_arrow::texts_of;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyString};

use crate::errors::{Failure, Result, broken_stream};
use crate::keys;

/// Texts that stay valid while the GIL is released.
pub(super) enum Texts<'py> {
    Objects(Vec<Bound<'py, PyAny>>),
    Chunks(Vec<ArrayRef>),
}

impl<'py> Texts<'py> {
    /// Borrows the texts of a list or other iterable, a NumPy array or an Arrow column.
    pub(super) fn of(values: &Bound<'py, PyAny>) -> Result<Self> {
        if keys::is_single(values)? {
            return Err(Failure::key("many texts", values.get_type().name()?, "put a single text in a list"));
        }
        if let Some(chunks) = keys::arrow_chunks(values)? {
            let chunks: std::result::Result<Vec<_>, _> = values.py().detach(|| chunks.collect());
            return Ok(Self::Chunks(chunks.map_err(broken_stream)?));
        }
        let objects = values
            .try_iter()
            .map_err(|_| {
                let found = values.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
                Failure::key("many texts: an iterable, a NumPy array or an Arrow column", found, "")
            })?
            .collect::<PyResult<_>>()?;
        Ok(Self::Objects(objects))
    }

    /// Returns the bytes of each text; `None` for a missing one.
    pub(super) fn slices(&self) -> Result<Vec<Option<&[u8]>>> {
        match self {
            Self::Objects(objects) => objects
                .iter()
                .enumerate()
                .map(|(position, object)| {
                    if is_missing(object)? {
                        return Ok(None);
                    }
                    bytes_of_text(object).map(Some).map_err(|failure| failure.at(position, ""))
                })
                .collect(),
            Self::Chunks(chunks) => {
                let mut slices = Vec::with_capacity(chunks.iter().map(Array::len).sum());
                chunks.iter().try_for_each(|chunk| texts_of(chunk, &mut slices))?;
                Ok(slices)
            }
        }
    }
}

/// Returns the UTF-8 of a `str`, or the contents of `bytes`.
pub(crate) fn bytes_of_text<'a>(text: &'a Bound<'_, PyAny>) -> Result<&'a [u8]> {
    if let Ok(string) = text.cast::<PyString>() {
        return string.to_str().map(str::as_bytes).map_err(|_| {
            let advice = "it has no UTF-8 form: encode it as bytes";
            Failure::key("text", "a str with half a surrogate pair", advice)
        });
    }
    match text.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes()),
        Err(_) => Err(Failure::key("text: str or bytes", text.get_type().name()?, "")),
    }
}

/// Returns true for None, NaN, and pandas's marks of missing values.
fn is_missing(object: &Bound<'_, PyAny>) -> Result<bool> {
    let is_nan = || object.cast::<PyFloat>().is_ok_and(|float| float.value().is_nan());
    Ok(object.is_none() || is_nan() || keys::is_missing(object)?)
}
