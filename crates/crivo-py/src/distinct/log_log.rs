//! [`LogLog`]: counts from the mean of the longest runs of zeros of many registers.

use crivo::distinct::LogLog as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::methods::{distinct_methods, precision_methods, precision_of};
use crate::errors::Result;
use crate::keys::scheme_of;
use crate::sketch::{Reduced, Shared, sketch_methods};

/// Counts different items in 2^precision bytes, with a standard error of 1.3/√(2^precision) from
/// 5·2^precision items on. Smaller counts are estimated too high, and their bounds are wide enough
/// to hold.
///
/// It is for study. To count, use `HyperLogLog`, which has the same registers, a smaller error and
/// no bias. Its documentation explains `keys`.
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
precision_methods!(
    LogLog,
    Sketch,
    ">>> LogLog.for_error(0.01).precision\n15",
    ">>> round(LogLog.standard_error(14), 4)\n0.0101"
);

#[pymethods]
impl LogLog {
    #[new]
    #[pyo3(signature = (precision, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(precision, *, keys='text', seed=0)")]
    fn new(precision: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let precision = precision_of(precision, Sketch::PRECISIONS)?;
        Ok(Self(Shared::new(Sketch::with_scheme(precision, scheme_of(keys, seed)?)?)))
    }
}
