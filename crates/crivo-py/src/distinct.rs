//! How many different?

mod exact;
mod k_min_values;
mod linear_counting;
mod log_log;
mod methods;
mod probabilistic_counting;
mod ultraloglog;

pub(crate) use self::exact::ExactDistinct;
pub(crate) use self::k_min_values::{Comparison, KMinValues};
pub(crate) use self::linear_counting::LinearCounting;
pub(crate) use self::log_log::LogLog;
pub(crate) use self::probabilistic_counting::ProbabilisticCounting;
pub(crate) use self::ultraloglog::UltraLogLog;

use crivo::Confidence;
use crivo::distinct::HyperLogLog as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::errors::{Result, setting_in};
use crate::estimate::Estimate;
use crate::keys::scheme_of;
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, insert_hashes_method, sketch_methods};

/// Counts different items in 2^precision bytes, with a standard error of 1.04/√(2^precision);
/// exactly while they are few.
///
/// `keys` says what the items are. With "text", the default, a value is keyed by its text (bytes
/// as they are, integers in decimal, floats as Python writes them, True as true, times in ISO
/// 8601), so that a column gives the same sketch from CSV, Parquet, NumPy or a list. With "int" the keys are
/// 64-bit integers and nothing else is accepted. With "hash" they are hashes of the caller's
/// own, given to `insert_hashes`. Only sketches with the same `keys` and `seed` can be merged.
///
/// >>> from crivo import HyperLogLog
/// >>> visitors = HyperLogLog(precision=12)
/// >>> visitors.insert_batch(("ana", "rui", None, "ana"))
/// 1
/// >>> print(visitors.estimate())
/// 2
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct HyperLogLog(Shared<Sketch>);

sketch_methods!(HyperLogLog, Sketch);
insert_batch_method!(HyperLogLog);
insert_hashes_method!(HyperLogLog);

#[pymethods]
impl HyperLogLog {
    #[new]
    #[pyo3(signature = (precision = None, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(precision=14, *, keys='text', seed=0)")]
    fn new(
        precision: Option<&Bound<'_, PyAny>>,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let precision = precision.map_or(Ok(DEFAULT_PRECISION), precision_of)?;
        Ok(Self(Shared::new(Sketch::with_scheme(precision, scheme_of(keys, seed)?)?)))
    }

    /// An empty sketch of the smallest size whose standard error is at most `error`.
    ///
    /// >>> HyperLogLog.for_error(0.01).precision
    /// 14
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
    /// >>> round(HyperLogLog.standard_error(14), 4)
    /// 0.0081
    #[staticmethod]
    fn standard_error(precision: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::standard_error(precision_of(precision)?))
    }

    /// How many different items are counted exactly.
    ///
    /// >>> HyperLogLog.exact_up_to(14)
    /// 1536
    #[staticmethod]
    fn exact_up_to(precision: &Bound<'_, PyAny>) -> Result<usize> {
        Ok(Sketch::exact_up_to(precision_of(precision)?))
    }

    /// The base-2 logarithm of the number of registers.
    #[getter]
    fn precision(&self, py: Python<'_>) -> u8 {
        self.0.quick(py, |sketch| sketch.precision())
    }

    /// Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key either.
    /// Empty text is a key here; `insert_batch` skips it.
    ///
    /// >>> orders = HyperLogLog(keys="int")
    /// >>> orders.insert(1234)
    /// >>> orders.insert("1234")
    /// Traceback (most recent call last):
    /// ...
    /// crivo.errors.KeyTypeError: key: expected an integer, found str '1234' (...)
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_hash(key, &INSERT, Sketch::insert_hash)
    }

    /// The number of different items, with bounds at the given confidence; exact, and certain,
    /// up to `exact_up_to(precision)`.
    ///
    /// >>> numbers = HyperLogLog(14)
    /// >>> numbers.insert_batch(range(100_000))
    /// 0
    /// >>> estimate = numbers.estimate(confidence=0.99)
    /// >>> 100_000 in estimate, estimate.relative_error < 0.03
    /// (True, True)
    #[pyo3(signature = (confidence = 0.95))]
    fn estimate(&self, py: Python<'_>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        Ok(self.0.quick(py, |sketch| sketch.estimate_at(confidence)).into())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, precision) = (self.keys(py), self.seed(py), self.precision(py));
        let estimate = self.0.quick(py, |sketch| sketch.estimate());
        format!("<HyperLogLog precision={precision}, keys='{keys}', seed={seed}: {estimate}>")
    }
}

/// 16 KiB and 0.8 %.
const DEFAULT_PRECISION: u8 = 14;

fn precision_of(precision: &Bound<'_, PyAny>) -> Result<u8> {
    let (least, most) = Sketch::PRECISIONS.into_inner();
    Ok(setting_in("precision", precision, least.into()..=most.into())? as u8)
}
