//! Makes `crivo.Hitter` records. The class is written in Python, because it need not be fast.

use crivo::frequency::Hitter;
use pyo3::prelude::*;

use crate::keys::to_python;

/// Returns the Python record of a key and its counts.
pub(crate) fn hitter<'py>(py: Python<'py>, hitter: &Hitter) -> PyResult<Bound<'py, PyAny>> {
    let key = to_python(py, hitter.key())?;
    py.import("crivo")?.getattr("Hitter")?.call1((key, hitter.count(), hitter.lower(), hitter.upper()))
}

/// Returns the Python records of many keys.
pub(crate) fn hitters<'py>(py: Python<'py>, hitters: &[Hitter]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    hitters.iter().map(|one| hitter(py, one)).collect()
}
