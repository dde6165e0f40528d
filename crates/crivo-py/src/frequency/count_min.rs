//! The Count-Min sketch.

use crivo::frequency::CountMin as Sketch;
use crivo::keys::KeyScheme;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{
    ADD, FREQUENCY, add_batch_method, add_hashes_method, confidence_of, depth_of, total_methods, weight_of,
    width_of,
};
use crate::errors::Result;
use crate::estimate::Estimate;
use crate::keys::{self, Verb, scheme_of};
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, insert_hashes_method, sketch_methods};

/// Counts the frequency of each key, in `depth` rows of `width` counters. An answer is never below
/// the truth. It exceeds the truth by more than e/width of the total weight with a probability of
/// e^-depth. `for_bound` finds the size.
///
/// Keys may have weights: a number of times, bytes, cents. With `conservative=True` answers are
/// closer to the truth, but such sketches cannot be merged or multiplied. `keys` and `seed` are as
/// for `HyperLogLog`.
///
/// >>> from crivo import CountMin
/// >>> words = CountMin.for_bound(0.001, 0.01)
/// >>> words.insert_batch("the cat and the dog and the bird".split())
/// 0
/// >>> words.frequency("the").value
/// 3.0
/// >>> words.frequencies(["and", "fish", None, "bird"])
/// array([2, 0, 0, 1], dtype=uint64)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct CountMin(Shared<Sketch>);

sketch_methods!(CountMin, Sketch);
insert_batch_method!(CountMin);
insert_hashes_method!(CountMin);
add_batch_method!(CountMin, Sketch);
add_hashes_method!(CountMin, Sketch);
total_methods!(CountMin);

/// The methods that return the frequencies of many keys.
static FREQUENCIES: Verb =
    Verb { one: "frequency", many: "frequencies", hashes: "frequencies_of_hashes", so_far: "" };

#[pymethods]
impl CountMin {
    #[new]
    #[pyo3(signature = (width, depth, *, conservative = false, keys = "text", seed = None))]
    #[pyo3(text_signature = "(width, depth, *, conservative=False, keys='text', seed=0)")]
    fn new(
        width: &Bound<'_, PyAny>,
        depth: &Bound<'_, PyAny>,
        conservative: bool,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        Self::build((width_of(width)?, depth_of(depth)?), conservative, scheme_of(keys, seed)?)
    }

    /// Returns an empty sketch of the smallest size that guarantees an error of at most `epsilon`
    /// times the total weight with a probability of at least 1 - `delta`.
    #[staticmethod]
    #[pyo3(signature = (epsilon, delta, *, conservative = false, keys = "text", seed = None))]
    #[pyo3(text_signature = "(epsilon, delta, *, conservative=False, keys='text', seed=0)")]
    fn for_bound(
        epsilon: f64,
        delta: f64,
        conservative: bool,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        Self::build(Sketch::size_for(epsilon, delta)?, conservative, scheme_of(keys, seed)?)
    }

    /// The least width and depth that guarantee an error of at most `epsilon` times the total
    /// weight with a probability of at least 1 - `delta`.
    ///
    /// >>> CountMin.size_for(0.001, 0.01)
    /// (2719, 5)
    #[staticmethod]
    fn size_for(epsilon: f64, delta: f64) -> Result<(u32, u32)> {
        Ok(Sketch::size_for(epsilon, delta)?)
    }

    /// The upper bound of an answer's error, as a share of the total weight: e/width.
    #[staticmethod]
    fn epsilon(width: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::epsilon(width_of(width)?))
    }

    /// The probability that an answer exceeds this error: e^-depth.
    #[staticmethod]
    fn delta(depth: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::delta(depth_of(depth)?))
    }

    /// Counts one key once. `KeyTypeError` if it is not of the sketch's kind; None is no key
    /// either. Empty text is a key here, but `insert_batch` skips it.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_hash(key, &INSERT, Sketch::insert_hash)
    }

    /// Adds a weight to one key.
    fn add(&self, key: &Bound<'_, PyAny>, weight: &Bound<'_, PyAny>) -> Result<()> {
        let weight = weight_of(weight)?;
        self.0.with_hash(key, &ADD, |sketch, hash| sketch.add_hash(hash, weight))
    }

    /// The frequency of the key. It is never less than the truth, and exceeds it by at most
    /// `margin(confidence)` with that confidence, or with 1 - delta if none is given. An answer of
    /// 0 is certain.
    ///
    /// >>> sales = CountMin(272, 5, keys="int")
    /// >>> sales.insert_batch(range(100_000))
    /// 0
    /// >>> sales.add(7, 4_999)
    /// >>> sold = sales.frequency(7)
    /// >>> 5_000 in sold, sold.upper == sold.value
    /// (True, True)
    #[pyo3(signature = (key, confidence = None))]
    fn frequency(&self, key: &Bound<'_, PyAny>, confidence: Option<f64>) -> Result<Estimate> {
        let frequency = frequency_at(confidence)?;
        Ok(self.0.with_hash(key, &FREQUENCY, frequency)?.into())
    }

    /// The frequency of the key with this hash, in a sketch with `keys="hash"`.
    #[pyo3(signature = (hash, confidence = None))]
    fn frequency_of_hash(&self, hash: &Bound<'_, PyAny>, confidence: Option<f64>) -> Result<Estimate> {
        let frequency = frequency_at(confidence)?;
        Ok(self.0.with_given_hash(hash, &FREQUENCY, frequency)?.into())
    }

    /// The frequencies of many keys, as an array with one answer for each value, in their order.
    /// The true frequency is at most the answer, and at least the answer minus `margin()` with a
    /// probability of 1 - delta. `values` is whatever `insert_batch` takes; missing values have 0.
    fn frequencies<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'_, PyAny>,
    ) -> Result<Bound<'py, PyArray1<u64>>> {
        self.0.ask_all(py, keys::take_keys, values, &FREQUENCIES, Sketch::frequencies)
    }

    /// The frequencies of the keys with these hashes, in a sketch with `keys="hash"`.
    fn frequencies_of_hashes<'py>(
        &self,
        py: Python<'py>,
        hashes: &Bound<'_, PyAny>,
    ) -> Result<Bound<'py, PyArray1<u64>>> {
        self.0.ask_all(py, keys::take_hashes, hashes, &FREQUENCIES, Sketch::frequencies)
    }

    /// The upper bound of an answer's error, with the given confidence, or with 1 - delta if none
    /// is given.
    #[pyo3(signature = (confidence = None))]
    fn margin(&self, py: Python<'_>, confidence: Option<f64>) -> Result<u64> {
        let confidence = confidence_of(confidence)?;
        Ok(self.0.quick(py, |sketch| confidence.map_or_else(|| sketch.margin(), |at| sketch.margin_at(at))))
    }

    /// The inner product of the frequencies of two streams: the number of rows of their join. Never
    /// below the truth. `IncompatibleError` if the two differ in size, `keys` or `seed`, or one is
    /// conservative.
    ///
    /// >>> orders, visits = CountMin(1000, 5), CountMin(1000, 5)
    /// >>> orders.insert_batch(["ana", "ana", "rui"]), visits.insert_batch(["ana", "eva", "ana"])
    /// (0, 0)
    /// >>> orders.inner_product(visits).value
    /// 4.0
    #[pyo3(signature = (other, confidence = None))]
    fn inner_product(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Self>,
        confidence: Option<f64>,
    ) -> Result<Estimate> {
        let confidence = confidence_of(confidence)?;
        let product = self.0.with_other(py, &other.get().0, |mine, theirs| match confidence {
            Some(confidence) => mine.inner_product_at(theirs, confidence),
            None => mine.inner_product(theirs),
        })?;
        Ok(product.into())
    }

    /// The confidence of answers for which none is given: 1 - delta.
    #[getter]
    fn confidence(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |sketch| sketch.confidence().level())
    }

    /// True if updates are conservative.
    #[getter]
    fn is_conservative(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_conservative())
    }

    /// The number of counters in a row.
    #[getter]
    fn width(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.width())
    }

    /// The number of rows.
    #[getter]
    fn depth(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.depth())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, width, depth) = (self.keys(py), self.seed(py), self.width(py), self.depth(py));
        let update = if self.is_conservative(py) { ", conservative=True" } else { "" };
        let total = self.total(py);
        format!(
            "<CountMin width={width}, depth={depth}{update}, keys='{keys}', seed={seed}: {total} counted>"
        )
    }
}

impl CountMin {
    fn build((width, depth): (u32, u32), conservative: bool, scheme: KeyScheme) -> Result<Self> {
        let build = if conservative { Sketch::conservative_with_scheme } else { Sketch::with_scheme };
        Ok(Self(Shared::new(build(width, depth, scheme)?)))
    }
}

/// Returns the frequency of a key, at the given confidence or else at the sketch's own.
fn frequency_at(
    level: Option<f64>,
) -> crivo::Result<impl FnOnce(&mut Sketch, u64) -> crivo::Estimate + Send> {
    let confidence = confidence_of(level)?;
    Ok(move |sketch: &mut Sketch, hash| match confidence {
        Some(confidence) => sketch.frequency_of_hash_at(hash, confidence),
        None => sketch.frequency_of_hash(hash),
    })
}
