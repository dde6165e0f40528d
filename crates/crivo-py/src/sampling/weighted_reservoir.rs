//! The weighted sample.

use crivo::sampling::WeightedReservoir as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{capacity_of, list, owned, sample_methods, seed_of};
use crate::errors::Result;
use crate::keys::{self, scheme_of};
use crate::sketch::{INSERT, Reduced, Shared, common_methods};

/// Keeps a sample of `capacity` keys, drawn by weight without replacement: a key of twice the
/// weight is twice as likely to be drawn first. Merging two samples gives that of both streams.
///
/// Draws follow from `seed`, so the same keys in the same order give the same sample. Samples that
/// will be merged need different seeds, or they choose the same positions of both streams. `keys`
/// is as for `HyperLogLog`; `key_seed` is a label.
///
/// >>> from crivo import WeightedReservoir
/// >>> winners = WeightedReservoir(2, seed=7)
/// >>> winners.insert("rui", 1e9)
/// >>> winners.insert_batch(["ana", "eva", None, "zoe"], [1, 0, 5, 1])
/// 1
/// >>> "rui" in winners.sample(), winners.seen, winners.weightless
/// (True, 3, 1)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct WeightedReservoir(Shared<Sketch>);

common_methods!(WeightedReservoir, Sketch);
sample_methods!(WeightedReservoir, Sketch);

#[pymethods]
impl WeightedReservoir {
    #[new]
    #[pyo3(signature = (capacity, *, seed = None, keys = "text", key_seed = None))]
    #[pyo3(text_signature = "(capacity, *, seed=0, keys='text', key_seed=0)")]
    fn new(
        capacity: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
        keys: &str,
        key_seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let (capacity, scheme) = (capacity_of(capacity)?, scheme_of(keys, key_seed)?);
        Ok(Self(Shared::new(Sketch::with_scheme(capacity, scheme, seed_of(seed)?)?)))
    }

    /// Shows one key with its weight, a finite number not below 0. A key of weight 0 is counted as
    /// weightless and never sampled. Empty text is a key here; `insert_batch` skips it.
    fn insert(&self, key: &Bound<'_, PyAny>, weight: f64) -> Result<()> {
        self.0.with_key(key, &INSERT, |sample, key| sample.insert_ref(key, weight))
    }

    /// Shows many keys, each with the weight at its place, and returns how many missing values
    /// (None, NaN, null, empty text) were skipped, with their weights.
    ///
    /// `values` is a list or other iterable, a NumPy array, or a column of anything that speaks the
    /// Arrow interface; `weights` is an array or an iterable of numbers, as many as there are
    /// values.
    fn insert_batch(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
    ) -> Result<u64> {
        self.0.add_all(py, keys::take_keys, values, weights, &INSERT, Sketch::insert_batch)
    }

    /// Shows keys by hashes of the caller's own, in a sample with `keys="hash"`: as `insert_batch`
    /// does.
    fn insert_hashes(
        &self,
        py: Python<'_>,
        hashes: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
    ) -> Result<u64> {
        self.0.add_all(py, keys::take_hashes, hashes, weights, &INSERT, Sketch::insert_batch)
    }

    /// The sampled keys, in the order in which draws without replacement would have found them:
    /// text as str (as bytes if it is not UTF-8), integers with their sign, hashes without one.
    fn sample<'py>(&self, py: Python<'py>) -> Result<Vec<Bound<'py, PyAny>>> {
        Ok(list(py, &self.0.detached(py, |sample| owned(sample.sample())))?)
    }

    /// How many keys with a weight above 0 were shown.
    #[getter]
    fn seen(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sample| sample.seen())
    }

    /// How many keys of weight 0 were shown.
    #[getter]
    fn weightless(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sample| sample.weightless())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (capacity, keys, seen) = (self.capacity(py), self.keys(py), self.seen(py));
        let kept = self.0.detached(py, |sample| sample.sample().len());
        format!("<WeightedReservoir capacity={capacity}, keys='{keys}': {kept} of {seen}>")
    }
}
