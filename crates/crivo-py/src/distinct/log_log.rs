//! [`LogLog`]: from the mean of many longest runs of zeros.

use crivo::distinct::LogLog as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::methods::distinct_methods;
use crate::errors::{Result, setting};
use crate::keys::scheme_of;
use crate::sketch::{Reduced, Shared, sketch_methods};

/// Counts different items in 2^precision bytes, with a standard error of 1.3/√(2^precision) from
/// 5·2^precision items on; below, the value is too high and the bounds are wide enough to hold.
///
/// It is for study; to count, take `HyperLogLog`, which has the same registers, a smaller error and no
/// bias, and explains `keys`.
///
/// >>> from crivo import LogLog
/// >>> visitors = LogLog.for_error(0.02)
/// >>> visitors.insert_batch(range(100_000))
/// 0
/// >>> estimate = visitors.estimate(confidence=0.99)
/// >>> 100_000 in estimate, estimate.relative_error < 0.07
/// (True, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct LogLog(Shared<Sketch>);

sketch_methods!(LogLog, Sketch);
distinct_methods!(LogLog);

#[pymethods]
impl LogLog {
    #[new]
    #[pyo3(signature = (precision, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(precision, *, keys='text', seed=0)")]
    fn new(precision: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let precision = precision_of(precision)?;
        Ok(Self(Shared::new(Sketch::with_scheme(precision, scheme_of(keys, seed)?)?)))
    }

    /// An empty sketch of the smallest size whose standard error is at most `error`.
    ///
    /// >>> LogLog.for_error(0.01).precision
    /// 15
    #[staticmethod]
    #[pyo3(signature = (error, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(error, *, keys='text', seed=0)")]
    fn for_error(error: f64, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let precision = Sketch::precision_for(error)?;
        Ok(Self(Shared::new(Sketch::with_scheme(precision, scheme_of(keys, seed)?)?)))
    }

    /// The smallest precision whose standard error is at most `error`.
    #[staticmethod]
    fn precision_for(error: f64) -> Result<u8> {
        Ok(Sketch::precision_for(error)?)
    }

    /// The standard error of a large count, as a share of it.
    ///
    /// >>> round(LogLog.standard_error(14), 4)
    /// 0.0101
    #[staticmethod]
    fn standard_error(precision: &Bound<'_, PyAny>) -> Result<f64> {
        // The library has the formula for any number; this asks for a precision that a sketch can have.
        let precision = Sketch::new(precision_of(precision)?)?.precision();
        Ok(Sketch::standard_error(precision))
    }

    /// The base-2 logarithm of the number of registers.
    #[getter]
    fn precision(&self, py: Python<'_>) -> u8 {
        self.0.quick(py, |sketch| sketch.precision())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, precision) = (self.keys(py), self.seed(py), self.precision(py));
        let estimate = self.0.detached(py, |sketch| sketch.estimate());
        format!("<LogLog precision={precision}, keys='{keys}', seed={seed}: {estimate}>")
    }
}

fn precision_of(precision: &Bound<'_, PyAny>) -> Result<u8> {
    let (least, most) = Sketch::PRECISIONS.into_inner();
    setting("precision", precision, format_args!("{least} to {most}"))
}
