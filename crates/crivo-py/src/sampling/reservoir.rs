//! The uniform sample.

use crivo::sampling::Reservoir as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{capacity_of, list, owned, sample_methods, seed_of};
use crate::errors::Result;
use crate::keys::scheme_of;
use crate::sketch::{INSERT, Reduced, Shared, common_methods, insert_batch_method, insert_hashes_method};

/// Keeps a fair sample of `capacity` keys of a stream of any length: every set of that many is as
/// likely as any other. Merging two samples gives a fair sample of both streams.
///
/// Draws follow from `seed`, so the same keys in the same order give the same sample. Samples that
/// will be merged need different seeds, or they choose the same positions of both streams. `keys`
/// is as for `HyperLogLog`; `key_seed` is a label.
///
/// >>> from crivo import Reservoir
/// >>> sample = Reservoir(100, seed=7, keys="int")
/// >>> sample.insert_batch(range(100_000))
/// 0
/// >>> sample.seen, len(sample.sample())
/// (100000, 100)
/// >>> 25 < sum(number < 50_000 for number in sample.sample()) < 75
/// True
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct Reservoir(Shared<Sketch>);

common_methods!(Reservoir, Sketch);
sample_methods!(Reservoir, Sketch);
insert_batch_method!(Reservoir);
insert_hashes_method!(Reservoir);

#[pymethods]
impl Reservoir {
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

    /// Shows one key to the sample. `KeyTypeError` if it is not of the sample's kind; None is no
    /// key either. Empty text is a key here; `insert_batch` skips it.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_key(key, &INSERT, Sketch::insert_ref)
    }

    /// The sampled keys: text as str (as bytes if it is not UTF-8), integers with their sign,
    /// hashes without one. Their order means nothing.
    fn sample<'py>(&self, py: Python<'py>) -> Result<Vec<Bound<'py, PyAny>>> {
        Ok(list(py, &self.0.detached(py, |sample| owned(sample.sample())))?)
    }

    /// How many keys were shown.
    #[getter]
    fn seen(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sample| sample.seen())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (capacity, keys, seen) = (self.capacity(py), self.keys(py), self.seen(py));
        let kept = self.0.quick(py, |sample| sample.sample().len());
        format!("<Reservoir capacity={capacity}, keys='{keys}': {kept} of {seen}>")
    }
}
