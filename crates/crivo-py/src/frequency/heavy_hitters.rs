//! The most frequent keys.

use crivo::frequency::{HeavyHitters as Sketch, Reading};
use crivo::keys::KeyRef;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::hitter::hitters;
use super::{ADD, FREQUENCY, add_batch_method, add_hashes_method, total_methods, weight_of};
use crate::errors::{Failure, Result, setting, setting_in};
use crate::estimate::Estimate;
use crate::keys::scheme_of;
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, insert_hashes_method, sketch_methods};

/// Finds the most frequent keys with `capacity` counters. Each count has bounds that no input can
/// break: no count is wrong by more than about 4/3 of the total weight, divided by the capacity.
/// Counts are exact while there are at most `capacity` different keys. `for_share` finds the
/// capacity.
///
/// `keys` and `seed` are as for `HyperLogLog`. Texts of more than 4096 bytes are refused.
///
/// >>> from crivo import HeavyHitters
/// >>> pages = HeavyHitters.for_share(0.01)
/// >>> pages.insert_batch(["/home", "/about", "/home", None, "/home"])
/// 1
/// >>> pages.top(1)
/// [Hitter(key='/home', count=3, lower=3, upper=3)]
/// >>> [page.key for page in pages.above(0.2, "no_false_negatives")]
/// ['/home', '/about']
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct HeavyHitters(Shared<Sketch>);

sketch_methods!(HeavyHitters, Sketch);
insert_batch_method!(HeavyHitters);
insert_hashes_method!(HeavyHitters);
add_batch_method!(HeavyHitters, Sketch);
add_hashes_method!(HeavyHitters, Sketch);
total_methods!(HeavyHitters);

#[pymethods]
impl HeavyHitters {
    #[new]
    #[pyo3(signature = (capacity, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(capacity, *, keys='text', seed=0)")]
    fn new(capacity: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::with_scheme(capacity_of(capacity)?, scheme_of(keys, seed)?)?)))
    }

    /// Returns an empty sketch that is certain to find every key above a share of the total weight.
    /// No count is wrong by more than that share.
    #[staticmethod]
    #[pyo3(signature = (share, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(share, *, keys='text', seed=0)")]
    fn for_share(share: f64, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::for_share_with_scheme(share, scheme_of(keys, seed)?)?)))
    }

    /// The fewest counters that find every key above a share of the total weight.
    ///
    /// >>> HeavyHitters.capacity_for(0.001)
    /// 1331
    #[staticmethod]
    fn capacity_for(share: f64) -> Result<u64> {
        Ok(Sketch::capacity_for(share)?)
    }

    /// The share of the total weight that no error exceeds.
    #[staticmethod]
    fn guaranteed_share(capacity: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::guaranteed_share(capacity_of(capacity)?))
    }

    /// Counts one key once. `KeyTypeError` if it is not of the sketch's kind; None is no key
    /// either. Empty text is a key here, but `insert_batch` skips it.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_key(key, &INSERT, |sketch, key| sketch.add_ref(key, 1))
    }

    /// Adds a weight to one key.
    fn add(&self, key: &Bound<'_, PyAny>, weight: &Bound<'_, PyAny>) -> Result<()> {
        let weight = weight_of(weight)?;
        self.0.with_key(key, &ADD, |sketch, key| sketch.add_ref(key, weight))
    }

    /// The frequency of a key, with certain bounds.
    fn frequency(&self, key: &Bound<'_, PyAny>) -> Result<Estimate> {
        Ok(self.0.with_key(key, &FREQUENCY, |sketch, key| sketch.frequency_ref(key))?.into())
    }

    /// The frequency of the key with this hash, in a sketch with `keys="hash"`.
    fn frequency_of_hash(&self, hash: &Bound<'_, PyAny>) -> Result<Estimate> {
        let frequency = |sketch: &mut Sketch, hash| sketch.frequency_ref(KeyRef::Hash(hash));
        Ok(self.0.with_given_hash(hash, &FREQUENCY, frequency)??.into())
    }

    /// The most frequent keys, at most `count` of them, the most frequent first. A key without a
    /// counter is not listed; its frequency is at most `max_error`.
    fn top<'py>(&self, py: Python<'py>, count: &Bound<'_, PyAny>) -> Result<Vec<Bound<'py, PyAny>>> {
        let count = setting("count", count, "0 or more")?;
        let top = self.0.detached(py, |sketch| sketch.top(count));
        Ok(hitters(py, &top)?)
    }

    /// The keys above a share of the total weight, the most frequent first. If the bounds leave
    /// open whether a key is above the share, `reading` decides. `"no_false_positives"` leaves the
    /// key out. `"no_false_negatives"` lists it, so that no key above the share is missing. It
    /// raises `InvalidParameterError` if the sketch is too small to guarantee that.
    fn above<'py>(&self, py: Python<'py>, share: f64, reading: &str) -> Result<Vec<Bound<'py, PyAny>>> {
        let reading = match reading {
            "no_false_positives" => Reading::NoFalsePositives,
            "no_false_negatives" => Reading::NoFalseNegatives,
            other => {
                let expected = "'no_false_positives' or 'no_false_negatives'";
                return Err(Failure::Parameter(format!("reading: expected {expected}, found '{other}'")));
            }
        };
        let above = self.0.detached(py, |sketch| sketch.above(share, reading))?;
        Ok(hitters(py, &above)?)
    }

    /// The upper bound of the frequency of a key without a counter; 0 while every key has one.
    #[getter]
    fn max_error(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.max_error())
    }

    /// The number of keys that have a counter.
    #[getter]
    fn counters(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |sketch| sketch.counters())
    }

    /// The largest number of counters.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.capacity())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, capacity) = (self.keys(py), self.seed(py), self.capacity(py));
        let (counters, total) = (self.counters(py), self.total(py));
        format!(
            "<HeavyHitters capacity={capacity}, keys='{keys}', seed={seed}: {counters} counters, {total} counted>"
        )
    }
}

fn capacity_of(capacity: &Bound<'_, PyAny>) -> Result<u64> {
    setting_in("capacity", capacity, Sketch::CAPACITIES)
}
