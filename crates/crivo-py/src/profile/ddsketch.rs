//! [`DDSketch`]: quantiles with a guaranteed relative error.

use crivo::profile::DDSketch as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::errors::{Result, setting, setting_in};
use crate::estimate::Estimate;
use crate::keys::{number_of, take_numbers};
use crate::sketch::{INSERT, Reduced, Shared, common_methods};

/// Counts numbers in bins of equal relative width: every quantile is answered within
/// `relative_error` of itself, and no input can break the bounds. Count, sum, mean, least and
/// greatest number are exact.
///
/// If the numbers need more than `max_bins` bins, pairs of them are joined and the error about
/// doubles; `relative_error` says so. `for_bound` chooses bins for eighteen decades. Merging is
/// exact, in any order.
///
/// >>> from crivo import DDSketch
/// >>> latencies = DDSketch.for_bound(0.01)
/// >>> latencies.insert_batch([i / 1000 for i in range(1, 10_001)])
/// 0
/// >>> median = latencies.quantile(0.5)
/// >>> 5.0 in median, median.certain, latencies.max, latencies.sum
/// (True, True, 10.0, 50005.0)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct DDSketch(Shared<Sketch>);

common_methods!(DDSketch, Sketch);

#[pymethods]
impl DDSketch {
    #[new]
    fn new(relative_error: f64, max_bins: &Bound<'_, PyAny>) -> Result<Self> {
        let (least, most) = Sketch::MAX_BINS.into_inner();
        let max_bins = setting_in("max_bins", max_bins, least.into()..=most.into())? as u32;
        Ok(Self(Shared::new(Sketch::new(relative_error, max_bins)?)))
    }

    /// An empty sketch with that relative error for numbers of eighteen decades.
    #[staticmethod]
    fn for_bound(relative_error: f64) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::for_bound(relative_error)?)))
    }

    /// How many bins numbers of eighteen decades take.
    ///
    /// >>> DDSketch.bins_for(0.01)
    /// 2073
    #[staticmethod]
    fn bins_for(relative_error: f64) -> Result<u32> {
        Ok(Sketch::bins_for(relative_error)?)
    }

    /// Counts a number. NaN and infinities are only counted as `not_finite`.
    fn insert(&self, value: &Bound<'_, PyAny>) -> Result<()> {
        let number = number_of(value)?;
        self.0.quick(value.py(), |sketch| sketch.insert(number));
        Ok(())
    }

    /// Counts a number `weight` times.
    fn add(&self, value: &Bound<'_, PyAny>, weight: &Bound<'_, PyAny>) -> Result<()> {
        let (number, weight) = (number_of(value)?, setting("weight", weight, "0 to 2^64 - 1")?);
        self.0.quick(value.py(), |sketch| sketch.add(number, weight));
        Ok(())
    }

    /// Counts many numbers and returns how many missing values (None, null) were skipped. NaN is
    /// not missing here, but `not_finite`.
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

    /// The quantile of a share, with certain bounds: the least number that at least that share of
    /// all is not above. 0.5 is the median, 0 the least and 1 the greatest. None if there are no
    /// numbers, or the share is not from 0 to 1.
    fn quantile(&self, py: Python<'_>, share: f64) -> Option<Estimate> {
        self.0.detached(py, |sketch| sketch.quantile(share)).map(Into::into)
    }

    /// Many quantiles, at the cost of one.
    ///
    /// >>> numbers = DDSketch.for_bound(0.01)
    /// >>> numbers.insert_batch(range(101))
    /// 0
    /// >>> [round(float(quantile)) for quantile in numbers.quantiles([0, 0.25, 0.5, 1])]
    /// [0, 25, 50, 100]
    #[allow(clippy::needless_pass_by_value)] // Python's list has no slice to lend
    fn quantiles(&self, py: Python<'_>, shares: Vec<f64>) -> Vec<Option<Estimate>> {
        let quantiles = self.0.detached(py, |sketch| sketch.quantiles(&shares));
        quantiles.into_iter().map(|quantile| quantile.map(Into::into)).collect()
    }

    /// How many numbers are below a limit, with certain bounds.
    fn count_below(&self, py: Python<'_>, limit: f64) -> Estimate {
        self.0.detached(py, |sketch| sketch.count_below(limit)).into()
    }

    /// How many numbers there are, those that are not finite left out; 2^64 - 1 if that many or
    /// more.
    #[getter]
    fn count(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.count())
    }

    /// How many infinities and NaNs came, which are in no other answer.
    #[getter]
    fn not_finite(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.not_finite())
    }

    /// How many numbers are 0.
    #[getter]
    fn zeros(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.zeros())
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

    /// The sum of all numbers, rounded once; None if the count is saturated.
    #[getter]
    fn sum(&self, py: Python<'_>) -> Option<f64> {
        self.0.quick(py, |sketch| sketch.sum())
    }

    /// The mean of all numbers; None if there are none, or the count is saturated.
    #[getter]
    fn mean(&self, py: Python<'_>) -> Option<f64> {
        self.0.quick(py, |sketch| sketch.mean())
    }

    /// The relative error of quantiles now: what was asked for as long as no bins had to be joined.
    #[getter]
    fn relative_error(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |sketch| sketch.relative_error())
    }

    /// The relative error that was asked for.
    #[getter]
    fn accuracy(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |sketch| sketch.accuracy())
    }

    /// How many bins are in use.
    #[getter]
    fn bins(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |sketch| sketch.bins())
    }

    /// How many bins there may be.
    #[getter]
    fn max_bins(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.max_bins())
    }

    /// Whether bins had to be joined.
    #[getter]
    fn is_collapsed(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_collapsed())
    }

    /// Whether the count has reached 2^64 - 1, where counting stops.
    #[getter]
    fn is_saturated(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_saturated())
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
        let (accuracy, max_bins, count) = (self.accuracy(py), self.max_bins(py), self.count(py));
        format!("<DDSketch relative_error={accuracy}, max_bins={max_bins}: {count} numbers>")
    }
}
