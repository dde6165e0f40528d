//! [`DistinctGrowth`]: how the number of different values grows with the rows.

use crivo::Confidence;
use crivo::profile::DistinctGrowth as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::distinct::KMinValues;
use crate::errors::{Result, setting};
use crate::estimate::Estimate;
use crate::keys::{self, Stretch, scheme_of};
use crate::sketch::{INSERT, Reduced, Shared, sketch_methods};

/// How the number of different values grows with the rows: a curve that flattens is a category, one
/// that stays straight is a key.
///
/// Keeps the values with the `k` smallest hashes, each with the first row it came in. Exact while
/// there are fewer than `k` different values. `keys` and `seed` are as for `HyperLogLog`.
///
/// >>> from crivo import DistinctGrowth
/// >>> cities = DistinctGrowth(1024)
/// >>> cities.insert_batch(["Porto", "Lisboa", "Porto", "Faro"])
/// 0
/// >>> [distinct.value for distinct in cities.growth([1, 2, 3, 4])]
/// [1.0, 2.0, 2.0, 3.0]
/// >>> cities.is_repeated()
/// True
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct DistinctGrowth(Shared<Sketch>);

sketch_methods!(DistinctGrowth, Sketch);

#[pymethods]
impl DistinctGrowth {
    #[new]
    #[pyo3(signature = (k, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(k, *, keys='text', seed=0)")]
    fn new(k: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let k = setting("k", k, "2 to 1048576")?;
        Ok(Self(Shared::new(Sketch::with_scheme(k, scheme_of(keys, seed)?)?)))
    }

    /// Takes the value of a row. Rows are numbered from 1.
    fn insert(&self, key: &Bound<'_, PyAny>, row: &Bound<'_, PyAny>) -> Result<()> {
        let row: u64 = setting("row", row, "0 to 2^64 - 1")?;
        self.0.with_hash(key, &INSERT, |sketch, hash| sketch.insert_hashes(&[hash], |_| row))
    }

    /// Takes the values of rows that follow each other, and returns how many of them are missing
    /// (None, NaN, null, empty text). Missing values have rows too.
    #[pyo3(signature = (values, first_row = None))]
    #[pyo3(text_signature = "($self, values, first_row=1)")]
    fn insert_batch(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        first_row: Option<&Bound<'_, PyAny>>,
    ) -> Result<u64> {
        let mut next: u64 = first_row.map_or(Ok(1), |first| setting("first_row", first, "0 to 2^64 - 1"))?;
        let mut rows = Vec::new();
        let mut take = |stretch: Stretch<'_>| {
            next = stretch.rows(next, &mut rows);
            Ok(self.0.locked(|sketch| sketch.insert_batch(&stretch.keys, |at| rows[at]))?)
        };
        keys::take_keys(values, self.0.scheme(py), &INSERT, &mut take)
    }

    /// The number of different values up to each of these rows, with bounds at the given
    /// confidence.
    #[pyo3(signature = (rows, confidence = 0.95))]
    #[allow(clippy::needless_pass_by_value)] // Python hands over a list
    fn growth(&self, py: Python<'_>, rows: Vec<u64>, confidence: f64) -> Result<Vec<Estimate>> {
        let confidence = Confidence::new(confidence)?;
        let curve = self.0.detached(py, |sketch| sketch.growth_at(&rows, confidence));
        Ok(curve.into_iter().map(Estimate::from).collect())
    }

    /// Whether a value certainly came twice.
    fn is_repeated(&self, py: Python<'_>) -> bool {
        self.0.detached(py, |sketch| sketch.is_repeated())
    }

    /// Adds `rows` to the number of every row: a part of a table that counted its rows from 1 gets
    /// their numbers in the whole table before it is merged.
    fn shift_rows(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> Result<()> {
        let rows: u64 = setting("rows", rows, "0 to 2^64 - 1")?;
        self.0.detached(py, |sketch| sketch.renumber(|row| row.saturating_add(rows)));
        Ok(())
    }

    /// The sketch of the different values, which compares columns.
    fn key_set(&self, py: Python<'_>) -> Result<KMinValues> {
        Ok(self.0.detached(py, |sketch| sketch.keys())?.into())
    }

    /// How many of the smallest hashes are kept.
    #[getter]
    fn k(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.k())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (k, keys, seed) = (self.k(py), self.keys(py), self.seed(py));
        format!("<DistinctGrowth k={k}, keys='{keys}', seed={seed}>")
    }
}
