//! [`KMinValues`]: counts and compares sets by their k smallest hashes.

use crivo::Confidence;
use crivo::distinct::KMinValues as Sketch;
use crivo::distinct::k_min_values::Comparison as Compared;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::methods::distinct_methods;
use crate::errors::{Result, setting};
use crate::estimate::Estimate;
use crate::keys::scheme_of;
use crate::sketch::{Reduced, Shared, sketch_methods};

/// Keeps the k smallest hashes of a set. It estimates the number of different items, and the number
/// that the set has in common with another.
///
/// Below k different items every answer is exact. From k items on the standard error of the count
/// is 1/√(k − 2), and 8·k bytes are kept. `compare` estimates the union, intersection, difference
/// and similarity of two sets. To count only, `HyperLogLog` has the same error in a sixteenth of
/// the memory. Its documentation explains `keys`.
///
/// >>> from crivo import KMinValues
/// >>> monday, tuesday = KMinValues(1024), KMinValues(1024)
/// >>> monday.insert_batch(["ana", "rui", "eva"])
/// 0
/// >>> tuesday.insert_batch(["rui", "zé"])
/// 0
/// >>> compared = monday.compare(tuesday)
/// >>> compared.union().value, compared.intersection().value, compared.jaccard().value
/// (4.0, 1.0, 0.25)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct KMinValues(Shared<Sketch>);

sketch_methods!(KMinValues, Sketch);
distinct_methods!(KMinValues);

#[pymethods]
impl KMinValues {
    #[new]
    #[pyo3(signature = (k, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(k, *, keys='text', seed=0)")]
    fn new(k: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::with_scheme(k_of(k)?, scheme_of(keys, seed)?)?)))
    }

    /// An empty sketch of the smallest size whose standard error is at most `error`.
    ///
    /// >>> KMinValues.for_error(0.02).k
    /// 2502
    #[staticmethod]
    #[pyo3(signature = (error, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(error, *, keys='text', seed=0)")]
    fn for_error(error: f64, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::for_error_with_scheme(error, scheme_of(keys, seed)?)?)))
    }

    /// The smallest k whose standard error is at most `error`.
    ///
    /// >>> KMinValues.k_for(0.01)
    /// 10002
    #[staticmethod]
    fn k_for(error: f64) -> Result<u32> {
        Ok(Sketch::k_for(error)?)
    }

    /// The standard error of a large count, as a share of it; infinite for k up to 2.
    #[staticmethod]
    fn standard_error(k: &Bound<'_, PyAny>) -> Result<f64> {
        // The library's formula accepts any number. This accepts only a size that a sketch can
        // have.
        let k = Sketch::new(k_of(k)?)?.k();
        Ok(Sketch::standard_error(k))
    }

    /// The number of smallest hashes that are kept.
    #[getter]
    fn k(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.k())
    }

    /// Compares this set with another. Sketches of different k can be compared too; the smaller k
    /// decides the error. `IncompatibleError` if their `keys` or `seed` differ.
    fn compare(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Comparison> {
        // Copied first, so that only one lock is held at a time.
        let theirs = other.get().0.detached(py, |sketch| sketch.clone());
        Ok(Comparison(self.0.detached(py, |sketch| sketch.compare(&theirs))?))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, k) = (self.keys(py), self.seed(py), self.k(py));
        let estimate = self.0.detached(py, |sketch| sketch.estimate());
        format!("<KMinValues k={k}, keys='{keys}', seed={seed}: {estimate}>")
    }
}

fn k_of(k: &Bound<'_, PyAny>) -> Result<u32> {
    let (least, most) = Sketch::SIZES.into_inner();
    setting("k", k, format_args!("{least} to {most}"))
}

/// The comparison of two sets, made by `KMinValues.compare`.
///
/// Each answer has bounds at the requested confidence. While both sketches hold all hashes of their
/// sets, every answer is exact.
///
/// >>> from crivo import KMinValues
/// >>> evens, threes = (KMinValues(4096, keys="int", seed=1) for _ in range(2))
/// >>> evens.insert_batch(range(0, 600_000, 2)), threes.insert_batch(range(0, 600_000, 3))
/// (0, 0)
/// >>> compared = evens.compare(threes)
/// >>> 400_000 in compared.union(), 100_000 in compared.intersection()
/// (True, True)
/// >>> 200_000 in compared.difference(), 0.25 in compared.jaccard()
/// (True, True)
#[pyclass(module = "crivo", frozen, eq)]
#[derive(Debug, PartialEq)]
pub(crate) struct Comparison(Compared);

#[pymethods]
impl Comparison {
    /// The number of different items in either set.
    #[pyo3(signature = (confidence = 0.95))]
    fn union(&self, confidence: f64) -> Result<Estimate> {
        Ok(self.0.union_at(Confidence::new(confidence)?).into())
    }

    /// The number of different items in both sets.
    #[pyo3(signature = (confidence = 0.95))]
    fn intersection(&self, confidence: f64) -> Result<Estimate> {
        Ok(self.0.intersection_at(Confidence::new(confidence)?).into())
    }

    /// The number of different items that are in the first set but not in the second.
    #[pyo3(signature = (confidence = 0.95))]
    fn difference(&self, confidence: f64) -> Result<Estimate> {
        Ok(self.0.difference_at(Confidence::new(confidence)?).into())
    }

    /// The Jaccard similarity: the intersection as a share of the union. It is 1 for two empty
    /// sets, because they are equal.
    #[pyo3(signature = (confidence = 0.95))]
    fn jaccard(&self, confidence: f64) -> Result<Estimate> {
        Ok(self.0.jaccard_at(Confidence::new(confidence)?).into())
    }

    fn __repr__(&self) -> String {
        let (both, either) = (self.0.intersection(), self.0.union());
        format!("<Comparison {both} of {either} in common>")
    }
}
