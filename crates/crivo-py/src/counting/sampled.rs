//! [`SampledCounter`]: counts each event with a fixed probability.

use crivo::Confidence;
use crivo::counting::SampledCounter as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{events_of, seed_of};
use crate::errors::Result;
use crate::estimate::Estimate;
use crate::sketch::{Reduced, Shared, common_methods};

/// Counts each event with a fixed probability p: after k events the standard error is √((1 −
/// p)/(p·k)).
///
/// Random draws follow from the seed, so the same events give the same counter. Counters that will
/// be merged need different seeds, or their errors add up.
///
/// >>> from crivo import SampledCounter
/// >>> requests = SampledCounter(1 / 64, seed=7)
/// >>> requests.add(1_000_000)
/// >>> requests.value < 20_000, 1_000_000 in requests.estimate()
/// (True, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct SampledCounter(Shared<Sketch>);

common_methods!(SampledCounter, Sketch);

#[pymethods]
impl SampledCounter {
    #[new]
    #[pyo3(signature = (probability, *, seed = None))]
    #[pyo3(text_signature = "(probability, *, seed=0)")]
    fn new(probability: f64, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::new(probability, seed_of(seed)?)?)))
    }

    /// Returns a counter whose standard error after `events` events is `error`.
    #[staticmethod]
    #[pyo3(signature = (error, events, *, seed = None))]
    #[pyo3(text_signature = "(error, events, *, seed=0)")]
    fn for_error(error: f64, events: f64, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::for_error(error, events, seed_of(seed)?)?)))
    }

    /// The probability with which the standard error after `events` events is `error`.
    ///
    /// >>> SampledCounter.probability_for(0.5, 12)
    /// 0.25
    #[staticmethod]
    fn probability_for(error: f64, events: f64) -> Result<f64> {
        Ok(Sketch::probability_for(error, events)?)
    }

    /// The standard error after `events` events, as a share of them.
    ///
    /// >>> round(SampledCounter.standard_error(1 / 64, 10_000), 3)
    /// 0.079
    #[staticmethod]
    fn standard_error(probability: f64, events: f64) -> Result<f64> {
        let probability = Sketch::new(probability, 0)?.probability();
        Ok(Sketch::standard_error(probability, events))
    }

    /// Counts one event.
    fn increment(&self, py: Python<'_>) {
        self.0.quick(py, Sketch::increment);
    }

    /// Counts many events. Same result as one by one, at the cost of the events that are sampled.
    fn add(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> Result<()> {
        let events = events_of(events)?;
        self.0.detached(py, |counter| counter.add(events));
        Ok(())
    }

    /// The number of events, with bounds at the given confidence. If every event is sampled, it is
    /// exact and certain.
    #[pyo3(signature = (confidence = 0.95))]
    fn estimate(&self, py: Python<'_>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        Ok(self.0.quick(py, |counter| counter.estimate_at(confidence)).into())
    }

    /// The probability with which an event is sampled.
    #[getter]
    fn probability(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |counter| counter.probability())
    }

    /// The number of events that were sampled.
    #[getter]
    fn value(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |counter| counter.value())
    }

    /// True if no event was sampled yet.
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |counter| counter.is_empty())
    }

    /// True if the value is the largest that can be stored. It stays there, and only a lower bound
    /// is known.
    #[getter]
    fn is_saturated(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |counter| counter.is_saturated())
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |counter| counter.memory())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (probability, value) = (self.probability(py), self.value(py));
        let estimate = self.0.quick(py, |counter| counter.estimate());
        format!("<SampledCounter probability={probability}, value={value}: {estimate}>")
    }
}
