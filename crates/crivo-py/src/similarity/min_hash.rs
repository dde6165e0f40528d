//! [`MinHash`]: estimates the similarity of two sets from a few hundred numbers each.

use crivo::Confidence;
use crivo::similarity::MinHash as Sketch;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::k_of;
use crate::errors::Result;
use crate::estimate::Estimate;
use crate::keys::scheme_of;
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, insert_hashes_method, sketch_methods};

/// Keeps k numbers of a set by which its Jaccard similarity to others is told, within 1/√k with a
/// confidence of about 95 %: 0.09 for k = 128. Merging gives the sketch of both sets together.
///
/// `keys` and `seed` are as for `HyperLogLog`; of hashes of the caller's own any different integers
/// will do. Two empty sets have no similarity, and are refused.
///
/// >>> from crivo import MinHash
/// >>> ana, rui = MinHash.for_bound(0.05), MinHash.for_bound(0.05)
/// >>> ana.insert_batch(range(600)), rui.insert_batch(range(200, 800))
/// (0, 0)
/// >>> alike = ana.similarity(rui)
/// >>> 0.5 in alike, alike.upper - alike.lower < 0.11
/// (True, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct MinHash(Shared<Sketch>);

sketch_methods!(MinHash, Sketch);
insert_batch_method!(MinHash);
insert_hashes_method!(MinHash);

impl MinHash {
    /// Returns a copy of the library's sketch, for use while another lock is held.
    pub(super) fn sketch(&self, py: Python<'_>) -> Sketch {
        self.0.detached(py, |sketch| sketch.clone())
    }
}

#[pymethods]
impl MinHash {
    #[new]
    #[pyo3(signature = (k, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(k, *, keys='text', seed=0)")]
    fn new(k: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::with_scheme(k_of(k)?, scheme_of(keys, seed)?)?)))
    }

    /// The sketch of an empty set, of the size at which similarities are off by less than `bound`
    /// with about 95 % confidence.
    ///
    /// >>> MinHash.for_bound(0.05).k
    /// 400
    #[staticmethod]
    #[pyo3(signature = (bound, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(bound, *, keys='text', seed=0)")]
    fn for_bound(bound: f64, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::for_bound_with_scheme(bound, scheme_of(keys, seed)?)?)))
    }

    /// The number of slots at which similarities are off by less than `bound` with about 95 %
    /// confidence.
    #[staticmethod]
    fn k_for(bound: f64) -> Result<u32> {
        Ok(Sketch::k_for(bound)?)
    }

    /// By how much a similarity is off, at most, with about 95 % confidence: 1/√k.
    ///
    /// >>> MinHash.bound(400)
    /// 0.05
    #[staticmethod]
    fn bound(k: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::bound(k_of(k)?))
    }

    /// The number of slots.
    #[getter]
    fn k(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.k())
    }

    /// Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key either.
    /// Empty text is a key here; `insert_batch` skips it.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_hash(key, &INSERT, Sketch::insert_hash)
    }

    /// The Jaccard similarity of the two sets, with bounds at the given confidence; 0, and certain,
    /// if one is empty. `IncompatibleError` if both are, or if they differ in k, `keys` or `seed`.
    #[pyo3(signature = (other, confidence = 0.95))]
    fn similarity(&self, py: Python<'_>, other: &Bound<'_, Self>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        let compare = |mine: &mut Sketch, theirs: &Sketch| mine.similarity_at(theirs, confidence);
        Ok(self.0.with_other(py, &other.get().0, compare)?.into())
    }

    /// How many different elements the set has, to about 1/√k, with bounds at the given confidence.
    ///
    /// >>> numbers = MinHash(400)
    /// >>> numbers.insert_batch(range(10_000))
    /// 0
    /// >>> 10_000 in numbers.items(confidence=0.999)
    /// True
    #[pyo3(signature = (confidence = 0.95))]
    fn items(&self, py: Python<'_>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        Ok(self.0.detached(py, |sketch| sketch.items_at(confidence)).into())
    }

    /// `insert`, as datasketch calls it.
    fn update(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.insert(key)
    }

    /// `insert_batch`, as datasketch calls it.
    fn update_batch(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> Result<u64> {
        self.insert_batch(py, values)
    }

    /// The value of `similarity` alone, as datasketch calls it.
    fn jaccard(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<f64> {
        Ok(self.0.with_other(py, &other.get().0, |mine, theirs| mine.similarity(theirs))?.value())
    }

    /// The value of `items` alone, as datasketch calls it.
    fn count(&self, py: Python<'_>) -> f64 {
        self.0.detached(py, |sketch| sketch.items()).value()
    }

    /// The slots: k of them, or none if the set is empty. The share of equal slots of two sketches
    /// is their similarity.
    fn slots<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_vec(py, self.0.quick(py, |sketch| sketch.slots().to_vec()))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, k) = (self.keys(py), self.seed(py), self.k(py));
        let items = self.0.quick(py, |sketch| sketch.items());
        format!("<MinHash k={k}, keys='{keys}', seed={seed}: {items}>")
    }
}
