//! [`NumberQuantiles`]: quantiles with a known error of the rank.

use crivo::Confidence;
use crivo::quantiles::NumberQuantiles as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{accuracy_of, seed_of};
use crate::errors::{Result, setting, setting_in};
use crate::estimate::Estimate;
use crate::keys::{number_of, take_numbers};
use crate::sketch::{INSERT, Reduced, Shared, common_methods};

/// Keeps about 3·`size` numbers of a stream, from which any quantile and rank is answered: with
/// `accuracy` "uniform" to within 1.1/`size` of all ranks, with "tails" to within 0.5/`size` of the
/// distance from the nearer end, both 95 % sure. Few numbers are answered exactly.
///
/// Coins follow from `seed`. Sketches that will be merged need different seeds.
///
/// >>> from crivo import NumberQuantiles
/// >>> prices = NumberQuantiles.for_bound(0.01, seed=7)
/// >>> prices.insert_batch([cents / 100 for cents in range(1, 100_001)])
/// 0
/// >>> median = prices.quantile(0.5)
/// >>> 500.0 in median, prices.count, prices.max
/// (True, 100000, 1000.0)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct NumberQuantiles(Shared<Sketch>);

common_methods!(NumberQuantiles, Sketch);

#[pymethods]
impl NumberQuantiles {
    #[new]
    #[pyo3(signature = (size, *, accuracy = "uniform", seed = None))]
    #[pyo3(text_signature = "(size, *, accuracy='uniform', seed=0)")]
    fn new(size: &Bound<'_, PyAny>, accuracy: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let (least, most) = Sketch::SIZES.into_inner();
        let size = setting_in("size", size, least.into()..=most.into())? as u32;
        Ok(Self(Shared::new(Sketch::new(size, accuracy_of(accuracy)?, seed_of(seed)?)?)))
    }

    /// An empty sketch whose ranks are right to within that share, 95 % sure: of all values, or
    /// with "tails" of the distance from the nearer end.
    #[staticmethod]
    #[pyo3(signature = (error, *, accuracy = "uniform", seed = None))]
    #[pyo3(text_signature = "(error, *, accuracy='uniform', seed=0)")]
    fn for_bound(error: f64, accuracy: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let accuracy = accuracy_of(accuracy)?;
        let size = Sketch::size_for(error, accuracy)?;
        Ok(Self(Shared::new(Sketch::new(size, accuracy, seed_of(seed)?)?)))
    }

    /// Adds a number. NaN is only counted as `not_a_number`.
    fn insert(&self, value: &Bound<'_, PyAny>) -> Result<()> {
        let number = number_of(value)?;
        self.0.quick(value.py(), |sketch| sketch.insert(number));
        Ok(())
    }

    /// Adds a number as often as its weight says.
    fn add(&self, value: &Bound<'_, PyAny>, weight: &Bound<'_, PyAny>) -> Result<()> {
        let (number, weight) = (number_of(value)?, setting("weight", weight, "0 to 2^64 - 1")?);
        self.0.quick(value.py(), |sketch| sketch.add(number, weight));
        Ok(())
    }

    /// Adds many numbers and returns how many missing values (None, null) were skipped. NaN is not
    /// missing here, but `not_a_number`.
    ///
    /// `values` is a list or other iterable, a NumPy array, or a column of anything that speaks the
    /// Arrow interface; columns of floats are read in place and without the GIL.
    fn insert_batch(&self, values: &Bound<'_, PyAny>) -> Result<u64> {
        let mut take = |numbers: &[f64], _: &[usize]| {
            self.0.locked(|sketch| sketch.insert_all(numbers));
            Ok(())
        };
        take_numbers(values, INSERT.so_far, &mut take)
    }

    /// The number at which that share of all numbers is reached, with bounds at 95 %. None if there
    /// are no numbers, or the share is not from 0 to 1.
    fn quantile(&self, py: Python<'_>, share: f64) -> Option<Estimate> {
        self.0.detached(py, |sketch| sketch.quantile(share)).map(Into::into)
    }

    /// Many quantiles, at the cost of one.
    #[allow(clippy::needless_pass_by_value)] // Python's list has no slice to lend
    fn quantiles(&self, py: Python<'_>, shares: Vec<f64>) -> Vec<Option<Estimate>> {
        let quantiles = self.0.detached(py, |sketch| sketch.quantiles(&shares, Confidence::P95));
        quantiles.into_iter().map(|quantile| quantile.map(Into::into)).collect()
    }

    /// Which share of all numbers is at most a limit, with bounds at 95 %. None if there are no
    /// numbers.
    fn rank(&self, py: Python<'_>, limit: f64) -> Option<Estimate> {
        self.0.detached(py, |sketch| sketch.rank(limit)).map(Into::into)
    }

    /// How many numbers are below a limit, with bounds at 95 %.
    fn count_below(&self, py: Python<'_>, limit: f64) -> Estimate {
        self.0.detached(py, |sketch| sketch.count_below(limit)).into()
    }

    /// How many numbers there are, NaN left out; 2^64 - 1 if that many or more.
    #[getter]
    fn count(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.count())
    }

    /// How many NaNs came, which are in no other answer.
    #[getter]
    fn not_a_number(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.not_a_number())
    }

    /// The least number, exactly; None if there are none.
    #[getter]
    fn min(&self, py: Python<'_>) -> Option<f64> {
        self.0.quick(py, |sketch| sketch.min())
    }

    /// The greatest number, exactly; None if there are none.
    #[getter]
    fn max(&self, py: Python<'_>) -> Option<f64> {
        self.0.quick(py, |sketch| sketch.max())
    }

    /// The size that the sketch was built with.
    #[getter]
    fn size(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.size())
    }

    /// Which ranks are to be right: "uniform" or "tails".
    #[getter]
    fn accuracy(&self, py: Python<'_>) -> &'static str {
        self.0.quick(py, |sketch| sketch.accuracy().name())
    }

    /// The standard error of ranks now, as a share of all numbers; with "tails" that in the middle.
    #[getter]
    fn standard_error(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |sketch| sketch.standard_error())
    }

    /// Whether every answer is exact.
    #[getter]
    fn is_exact(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_exact())
    }

    /// Whether there are no numbers. (A sketch without a length is always true, as objects are.)
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_empty())
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |sketch| sketch.memory())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (size, accuracy, count) = (self.size(py), self.accuracy(py), self.count(py));
        format!("<NumberQuantiles size={size}, accuracy='{accuracy}': {count} numbers>")
    }
}
