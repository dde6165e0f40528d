//! [`HyperLogLog`]: counts from the highest rank of each register.

use crivo::distinct::HyperLogLog as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::methods::{distinct_methods, precision_methods, precision_of, register_methods};
use crate::errors::Result;
use crate::keys::scheme_of;
use crate::sketch::{Reduced, Shared, sketch_methods};

/// Counts different items in 2^precision bytes, with a standard error of 1.04/√(2^precision). Small
/// counts are exact.
///
/// `keys` says what the items are. With "text", the default, a value is keyed by its text: bytes as
/// they are, integers in decimal, floats as Python writes them, True as true, times in ISO 8601. So
/// a column gives the same sketch from CSV, Parquet, NumPy or a list. With "int" the keys are
/// 64-bit integers and nothing else is accepted. With "hash" they are hashes of the caller's own,
/// given to `insert_hashes`. Only sketches with the same `keys` and `seed` can be merged.
///
/// >>> from crivo import HyperLogLog
/// >>> visitors = HyperLogLog(precision=12)
/// >>> visitors.insert_batch(("ana", "rui", None, "ana"))
/// 1
/// >>> print(visitors.estimate())
/// 2
/// >>> numbers = HyperLogLog(14)
/// >>> numbers.insert_batch(range(100_000))
/// 0
/// >>> estimate = numbers.estimate(confidence=0.99)
/// >>> 100_000 in estimate, estimate.relative_error < 0.03
/// (True, True)
/// >>> orders = HyperLogLog(keys="int")
/// >>> orders.insert(1234)
/// >>> orders.insert("1234")
/// Traceback (most recent call last):
/// ...
/// crivo.errors.KeyTypeError: key: expected an integer, found str '1234' (...)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct HyperLogLog(Shared<Sketch>);

sketch_methods!(HyperLogLog, Sketch);
distinct_methods!(HyperLogLog);
precision_methods!(
    HyperLogLog,
    Sketch,
    ">>> HyperLogLog.for_error(0.01).precision\n14",
    ">>> round(HyperLogLog.standard_error(14), 4)\n0.0081"
);
register_methods!(HyperLogLog, Sketch, ">>> HyperLogLog.exact_up_to(14)\n1536");

/// A precision of 14 takes 16 KiB and has an error of 0.8 %.
const DEFAULT_PRECISION: u8 = 14;

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
        let given = |precision| precision_of(precision, Sketch::PRECISIONS);
        let precision = precision.map_or(Ok(DEFAULT_PRECISION), given)?;
        Ok(Self(Shared::new(Sketch::with_scheme(precision, scheme_of(keys, seed)?)?)))
    }
}
