//! Count-Min over ranges of integers.

use crivo::Confidence;
use crivo::frequency::RangeCountMin as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{ADD, FREQUENCY, add_batch_method, depth_of, total_methods, weight_of, width_of};
use crate::errors::{Result, setting, setting_in};
use crate::estimate::Estimate;
use crate::keys::{Verb, scheme_of};
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, sketch_methods};

/// Counts integers of the universe from 0 to 2^levels - 1. Estimates how many lie in any range that
/// is named later, and finds quantiles. Each sketched level has `depth` rows of `width` counters.
/// An answer is never below the truth. `for_bound` finds the size.
///
/// Negative integers need an offset: `from_signed` adds one that keeps the order. Only sketches
/// with the same sizes and `seed` can be merged.
///
/// >>> from crivo import RangeCountMin
/// >>> latencies = RangeCountMin.for_bound(20, 0.01, 0.01)
/// >>> latencies.insert_batch([i * i % 3_000 for i in range(10_000)])
/// 0
/// >>> slow = latencies.range(2_000, 2_999)
/// >>> sum(i * i % 3_000 >= 2_000 for i in range(10_000)) in slow
/// True
/// >>> 1_000 < latencies.quantile(0.5).value < 1_500
/// True
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct RangeCountMin(Shared<Sketch>);

sketch_methods!(RangeCountMin, Sketch);
insert_batch_method!(RangeCountMin);
add_batch_method!(RangeCountMin, Sketch);
total_methods!(RangeCountMin);

/// The method that returns the number of keys that are at most a given one.
static RANK: Verb = Verb { one: "rank", many: "", hashes: "", so_far: "" };

#[pymethods]
impl RangeCountMin {
    #[new]
    #[pyo3(signature = (levels, width, depth, *, seed = None))]
    #[pyo3(text_signature = "(levels, width, depth, *, seed=0)")]
    fn new(
        levels: &Bound<'_, PyAny>,
        width: &Bound<'_, PyAny>,
        depth: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let (levels, width, depth) = (levels_of(levels)?, width_of(width)?, depth_of(depth)?);
        Ok(Self(Shared::new(Sketch::with_scheme(levels, width, depth, scheme_of("int", seed)?)?)))
    }

    /// Returns an empty sketch of the smallest size with which the answer for any range exceeds the
    /// truth by at most `epsilon` times the total weight with a probability of at least 1 -
    /// `delta`.
    #[staticmethod]
    #[pyo3(signature = (levels, epsilon, delta, *, seed = None))]
    #[pyo3(text_signature = "(levels, epsilon, delta, *, seed=0)")]
    fn for_bound(
        levels: &Bound<'_, PyAny>,
        epsilon: f64,
        delta: f64,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let levels = levels_of(levels)?;
        let scheme = scheme_of("int", seed)?;
        Ok(Self(Shared::new(Sketch::for_bound_with_scheme(levels, epsilon, delta, scheme)?)))
    }

    /// The least width and depth with which the answer for any range exceeds the truth by at most
    /// `epsilon` times the total weight with a probability of at least 1 - `delta`.
    ///
    /// >>> RangeCountMin.size_for(32, 0.01, 0.01)
    /// (8699, 9)
    #[staticmethod]
    fn size_for(levels: &Bound<'_, PyAny>, epsilon: f64, delta: f64) -> Result<(u32, u32)> {
        Ok(Sketch::size_for(levels_of(levels)?, epsilon, delta)?)
    }

    /// The number of levels that are sketched. The others are counted exactly.
    ///
    /// >>> RangeCountMin.sketched_levels(32, 4096, 4), RangeCountMin.sketched_levels(12, 4096, 4)
    /// (18, 0)
    #[staticmethod]
    fn sketched_levels(
        levels: &Bound<'_, PyAny>,
        width: &Bound<'_, PyAny>,
        depth: &Bound<'_, PyAny>,
    ) -> Result<u32> {
        Ok(Sketch::sketched_levels(levels_of(levels)?, width_of(width)?, depth_of(depth)?))
    }

    /// The upper bound of the error of the answer for any range, as a share of the total weight, at
    /// the given confidence.
    #[staticmethod]
    #[pyo3(signature = (levels, width, depth, confidence = 0.95))]
    fn epsilon(
        levels: &Bound<'_, PyAny>,
        width: &Bound<'_, PyAny>,
        depth: &Bound<'_, PyAny>,
        confidence: f64,
    ) -> Result<f64> {
        let confidence = Confidence::new(confidence)?;
        Ok(Sketch::epsilon(levels_of(levels)?, width_of(width)?, depth_of(depth)?, confidence))
    }

    /// Returns a key for a signed integer. The keys have the order of the integers. Ranges over
    /// such keys need all 64 levels.
    ///
    /// >>> degrees = RangeCountMin(64, 500, 4)
    /// >>> degrees.insert_batch([RangeCountMin.from_signed(degree) for degree in (-12, -3, 0, 4, 19)])
    /// 0
    /// >>> degrees.range(RangeCountMin.from_signed(-100), RangeCountMin.from_signed(-1)).value
    /// 2.0
    #[staticmethod]
    fn from_signed(integer: &Bound<'_, PyAny>) -> Result<u64> {
        Ok(Sketch::from_signed(setting("integer", integer, "-2^63 to 2^63 - 1")?))
    }

    /// Counts one integer once. `InvalidParameterError` if it is outside the universe;
    /// `KeyTypeError` if it is no integer.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_integer(key, &INSERT, |sketch, key| sketch.insert(&key))
    }

    /// Adds a weight to one integer.
    fn add(&self, key: &Bound<'_, PyAny>, weight: &Bound<'_, PyAny>) -> Result<()> {
        let weight = weight_of(weight)?;
        self.0.with_integer(key, &ADD, |sketch, key| sketch.add(&key, weight))
    }

    /// The number of integers from `first` to `last`, both included. It is never less than the
    /// truth. The lower bound holds with the given confidence.
    #[pyo3(signature = (first, last, confidence = 0.95))]
    fn range(
        &self,
        py: Python<'_>,
        first: &Bound<'_, PyAny>,
        last: &Bound<'_, PyAny>,
        confidence: f64,
    ) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        let greatest = format!("0 to {}", self.greatest(py));
        let range = setting("first", first, &greatest)?..=setting("last", last, &greatest)?;
        Ok(self.0.quick(py, |sketch| sketch.range_at(range, confidence))?.into())
    }

    /// The frequency of one integer, with bounds at 95 %.
    fn frequency(&self, key: &Bound<'_, PyAny>) -> Result<Estimate> {
        Ok(self.0.with_integer(key, &FREQUENCY, |sketch, key| sketch.frequency(&key))?.into())
    }

    /// The number of integers that are at most this one, with bounds at 95 %.
    fn rank(&self, key: &Bound<'_, PyAny>) -> Result<Estimate> {
        Ok(self.0.with_integer(key, &RANK, |sketch, key| sketch.rank(&key))?.into())
    }

    /// The quantile of a share, with bounds at the given confidence: the least integer such that at
    /// least that share of all integers are at most it. 0.5 is the median.
    #[pyo3(signature = (share, confidence = 0.95))]
    fn quantile(&self, py: Python<'_>, share: f64, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        Ok(self.0.quick(py, |sketch| sketch.quantile_at(share, confidence))?.into())
    }

    /// The greatest integer of the universe.
    #[getter]
    fn greatest(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.greatest())
    }

    /// The base-2 logarithm of the size of the universe.
    #[getter]
    fn levels(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.levels())
    }

    /// The number of counters in a row of a sketched level.
    #[getter]
    fn width(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.width())
    }

    /// The number of rows of a sketched level.
    #[getter]
    fn depth(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.depth())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (seed, levels, width, depth) = (self.seed(py), self.levels(py), self.width(py), self.depth(py));
        let total = self.total(py);
        format!("<RangeCountMin levels={levels}, width={width}, depth={depth}, seed={seed}: {total} counted>")
    }
}

fn levels_of(levels: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(setting_in("levels", levels, 1..=64)? as u32)
}
