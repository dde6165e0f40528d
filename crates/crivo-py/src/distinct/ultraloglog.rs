//! [`UltraLogLog`]: from registers that remember more than HyperLogLog's.

use crivo::distinct::UltraLogLog as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::methods::distinct_methods;
use crate::errors::{Result, setting};
use crate::keys::scheme_of;
use crate::sketch::{Reduced, Shared, sketch_methods};

/// Counts different items in 2^precision bytes, with a standard error of 0.76/√(2^precision); exactly
/// while they are few.
///
/// The error is three quarters of that of `HyperLogLog` in the same memory, and an insert takes half as
/// long again. `keys` and `seed` are as there.
///
/// >>> from crivo import UltraLogLog
/// >>> visitors = UltraLogLog.for_error(0.01)
/// >>> visitors.insert_batch(range(100_000))
/// 0
/// >>> estimate = visitors.estimate(confidence=0.99)
/// >>> 100_000 in estimate, estimate.relative_error < 0.03
/// (True, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct UltraLogLog(Shared<Sketch>);

sketch_methods!(UltraLogLog, Sketch);
distinct_methods!(UltraLogLog);

#[pymethods]
impl UltraLogLog {
    #[new]
    #[pyo3(signature = (precision, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(precision, *, keys='text', seed=0)")]
    fn new(precision: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let precision = precision_of(precision)?;
        Ok(Self(Shared::new(Sketch::with_scheme(precision, scheme_of(keys, seed)?)?)))
    }

    /// An empty sketch of the smallest size whose standard error is at most `error`.
    ///
    /// >>> UltraLogLog.for_error(0.01).precision
    /// 13
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
    /// >>> round(UltraLogLog.standard_error(14), 4)
    /// 0.0059
    #[staticmethod]
    fn standard_error(precision: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::standard_error(valid_precision(precision)?))
    }

    /// How many different items are counted exactly.
    ///
    /// >>> UltraLogLog.exact_up_to(14)
    /// 1536
    #[staticmethod]
    fn exact_up_to(precision: &Bound<'_, PyAny>) -> Result<usize> {
        Ok(Sketch::exact_up_to(valid_precision(precision)?))
    }

    /// The base-2 logarithm of the number of registers.
    #[getter]
    fn precision(&self, py: Python<'_>) -> u8 {
        self.0.quick(py, |sketch| sketch.precision())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, precision) = (self.keys(py), self.seed(py), self.precision(py));
        let estimate = self.0.detached(py, |sketch| sketch.estimate());
        format!("<UltraLogLog precision={precision}, keys='{keys}', seed={seed}: {estimate}>")
    }
}

fn precision_of(precision: &Bound<'_, PyAny>) -> Result<u8> {
    let (least, most) = Sketch::PRECISIONS.into_inner();
    setting("precision", precision, format_args!("{least} to {most}"))
}

/// For formulas, which the library defines for any number: a precision that a sketch can have.
fn valid_precision(precision: &Bound<'_, PyAny>) -> Result<u8> {
    Ok(Sketch::new(precision_of(precision)?)?.precision())
}
