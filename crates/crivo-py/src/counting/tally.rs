//! [`Tally`]: counts events exactly, and adds up their numbers exactly.

use crivo::counting::Tally as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::events_of;
use crate::errors::Result;
use crate::estimate::Estimate;
use crate::keys::{number_of, take_numbers};
use crate::sketch::{INSERT, Reduced, Shared, common_methods};

/// Counts events, and adds the numbers that some of them carry. Both are exact, so neither depends
/// on the order of events or on how a stream was split. The sum is rounded once, when it is
/// requested.
///
/// >>> from crivo import Tally
/// >>> sales = Tally()
/// >>> sales.insert_batch([0.1] * 10)
/// 0
/// >>> sales.add(2)
/// >>> sales.count, sales.numbers, sales.sum, sales.mean
/// (12, 10, 1.0, 0.1)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct Tally(Shared<Sketch>);

common_methods!(Tally, Sketch);

#[pymethods]
impl Tally {
    #[new]
    fn new() -> Self {
        Self(Shared::new(Sketch::new()))
    }

    /// Counts `events` events without a number.
    fn add(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> Result<()> {
        let events = events_of(events)?;
        self.0.quick(py, |tally| tally.add(events));
        Ok(())
    }

    /// Counts one event with a number. NaN and infinities are counted but not added.
    fn insert(&self, number: &Bound<'_, PyAny>) -> Result<()> {
        let value = number_of(number)?;
        self.0.quick(number.py(), |tally| tally.add_number(value));
        Ok(())
    }

    /// Counts one event for each number, and returns the number of missing values (None, null) that
    /// were skipped.
    ///
    /// `values` is a list or other iterable, a NumPy array, or a column of any library with the
    /// Arrow interface. Columns of floats are read in place and without the GIL.
    fn insert_batch(&self, values: &Bound<'_, PyAny>) -> Result<u64> {
        let mut take = |numbers: &[f64], _: &[usize]| {
            self.0.locked(|tally| numbers.iter().for_each(|number| tally.add_number(*number)));
            Ok(())
        };
        take_numbers(values, INSERT.so_far, &mut take)
    }

    /// The number of events, as an `Estimate` like that of other counters. Exact here.
    fn estimate(&self, py: Python<'_>) -> Estimate {
        self.0.quick(py, |tally| tally.estimate()).into()
    }

    /// The number of events.
    #[getter]
    fn count(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |tally| tally.count())
    }

    /// The number of events that carried a finite number.
    #[getter]
    fn numbers(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |tally| tally.numbers())
    }

    /// The sum of the numbers. None if there were none.
    #[getter]
    fn sum(&self, py: Python<'_>) -> Option<f64> {
        self.0.quick(py, |tally| tally.sum())
    }

    /// The mean of the numbers. None if there were none.
    #[getter]
    fn mean(&self, py: Python<'_>) -> Option<f64> {
        self.0.quick(py, |tally| tally.mean())
    }

    /// True if nothing was counted. (As an object without a length, a sketch itself is always
    /// true.)
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |tally| tally.is_empty())
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |tally| tally.memory())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (count, numbers) = (self.count(py), self.numbers(py));
        let sum = self.sum(py).map_or_else(|| "none".to_owned(), |sum| sum.to_string());
        format!("<Tally: {count} events, {numbers} with a number, sum {sum}>")
    }
}
