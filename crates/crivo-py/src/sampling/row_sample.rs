//! The sample of rows by their position.

use crivo::sampling::RowSample as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{capacity_of, seed_of};
use crate::errors::{Result, setting};
use crate::keys::bytes_of;
use crate::sketch::{Reduced, Shared, common_methods};

/// Keeps `capacity` rows of a table, the same ones however the table was read: rows are drawn by
/// place.
///
/// Every set of that many rows is as likely as any other; with `weighted` a row of twice the weight
/// is twice as likely to be drawn next. Merging the samples of parts gives the sample of the whole,
/// if no two rows have the same place.
///
/// >>> from crivo import RowSample
/// >>> sample = RowSample(2, seed=7)
/// >>> for place in range(1000):
/// ...     sample.insert(place, f"row {place}".encode())
/// >>> sample.seen, len(sample.rows())
/// (1000, 2)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct RowSample(Shared<Sketch>);

common_methods!(RowSample, Sketch);

#[pymethods]
impl RowSample {
    #[new]
    #[pyo3(signature = (capacity, *, seed = None, weighted = false))]
    #[pyo3(text_signature = "(capacity, *, seed=0, weighted=False)")]
    fn new(capacity: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>, weighted: bool) -> Result<Self> {
        let build = if weighted { Sketch::weighted } else { Sketch::new };
        Ok(Self(Shared::new(build(capacity_of(capacity)?, seed_of(seed)?)?)))
    }

    /// Shows the row at a place, as bytes; to a weighted sample with its weight.
    #[pyo3(signature = (place, row, weight = None))]
    fn insert(
        &self,
        py: Python<'_>,
        place: &Bound<'_, PyAny>,
        row: &Bound<'_, PyAny>,
        weight: Option<f64>,
    ) -> Result<()> {
        let place = setting("place", place, "0 to 2^64 - 1")?;
        let row = bytes_of(row)?;
        Ok(self.0.quick(py, |sample| match weight {
            None if sample.is_weighted() => sample.insert_weighted(place, 1.0, || &row),
            None => sample.insert(place, &row),
            Some(weight) => sample.insert_weighted(place, weight, || &row),
        })?)
    }

    /// The sampled rows with their places, in the order of these.
    fn rows<'py>(&self, py: Python<'py>) -> Vec<(u64, Bound<'py, PyBytes>)> {
        let rows: Vec<(u64, Vec<u8>)> = self.0.detached(py, |sample| {
            sample.rows().iter().map(|sampled| (sampled.place, sampled.row.to_vec())).collect()
        });
        rows.iter().map(|(place, row)| (*place, PyBytes::new(py, row))).collect()
    }

    /// How many rows were shown, those of weight 0 left out.
    #[getter]
    fn seen(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sample| sample.seen())
    }

    /// How many rows can be kept.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sample| sample.capacity())
    }

    /// Whether rows are drawn by weight.
    #[getter]
    fn weighted(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sample| sample.is_weighted())
    }

    /// The seed of the draws.
    #[getter]
    fn seed(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sample| sample.scheme().seed())
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |sample| sample.memory())
    }

    /// Whether no row was shown. (A sketch without a length is always true, as objects are.)
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sample| sample.is_empty())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (capacity, seen) = (self.capacity(py), self.seen(py));
        format!("<RowSample capacity={capacity}: {} of {seen}>", seen.min(capacity))
    }
}
