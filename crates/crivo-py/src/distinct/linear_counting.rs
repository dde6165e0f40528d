//! [`LinearCounting`]: counts from the share of bits that are still 0.

use crivo::distinct::LinearCounting as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::methods::distinct_methods;
use crate::errors::{Result, setting};
use crate::keys::scheme_of;
use crate::sketch::{Reduced, Shared, sketch_methods};

/// Counts different items with a table of bits, for when their approximate number is known
/// beforehand.
///
/// With n items in L bits and t = n/L the standard error is √(L·(e^t − t − 1))/n: for a million
/// items 1 % in 19 KiB. It grows without limit as the table fills. A full table gives only a lower
/// bound. `HyperLogLog` needs no expected number; its documentation explains `keys`.
///
/// >>> from crivo import LinearCounting
/// >>> visitors = LinearCounting.for_items(100_000, 0.01)
/// >>> visitors.insert_batch(range(100_000))
/// 0
/// >>> estimate = visitors.estimate(confidence=0.99)
/// >>> 100_000 in estimate, estimate.relative_error < 0.04, visitors.memory < 4000
/// (True, True, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct LinearCounting(Shared<Sketch>);

sketch_methods!(LinearCounting, Sketch);
distinct_methods!(LinearCounting);

#[pymethods]
impl LinearCounting {
    #[new]
    #[pyo3(signature = (bits, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(bits, *, keys='text', seed=0)")]
    fn new(bits: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::with_scheme(bits_of(bits)?, scheme_of(keys, seed)?)?)))
    }

    /// Returns an empty sketch with the fewest bits for which a count of up to `items` has a
    /// standard error of at most `error`.
    #[staticmethod]
    #[pyo3(signature = (items, error, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(items, error, *, keys='text', seed=0)")]
    fn for_items(
        items: &Bound<'_, PyAny>,
        error: f64,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let bits = Sketch::bits_for(items_of(items)?, error)?;
        Ok(Self(Shared::new(Sketch::with_scheme(bits, scheme_of(keys, seed)?)?)))
    }

    /// The fewest bits for which a count of up to `items` has a standard error of at most `error`,
    /// and the table is full with a probability of less than 1 %.
    ///
    /// >>> LinearCounting.bits_for(1_000_000, 0.01)
    /// 154171
    #[staticmethod]
    fn bits_for(items: &Bound<'_, PyAny>, error: f64) -> Result<u64> {
        Ok(Sketch::bits_for(items_of(items)?, error)?)
    }

    /// The standard error of a count of `items` with that number of bits, as a share of the count.
    ///
    /// >>> round(LinearCounting.standard_error(154_171, 1_000_000), 4)
    /// 0.01
    #[staticmethod]
    fn standard_error(bits: &Bound<'_, PyAny>, items: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::standard_error(bits_of(bits)?, items_of(items)?))
    }

    /// The number of bits.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.bits())
    }

    /// True if every bit is set. From then on more items change nothing.
    #[getter]
    fn is_full(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_full())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, bits) = (self.keys(py), self.seed(py), self.bits(py));
        let estimate = self.0.detached(py, |sketch| sketch.estimate());
        format!("<LinearCounting bits={bits}, keys='{keys}', seed={seed}: {estimate}>")
    }
}

fn bits_of(bits: &Bound<'_, PyAny>) -> Result<u64> {
    let (least, most) = Sketch::BITS.into_inner();
    setting("bits", bits, format_args!("{least} to {most}"))
}

fn items_of(items: &Bound<'_, PyAny>) -> Result<u64> {
    setting("items", items, "at least 1")
}
