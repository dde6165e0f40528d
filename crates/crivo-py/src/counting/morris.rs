//! [`MorrisCounter`]: the order of magnitude in a few bits.

use crivo::Confidence;
use crivo::counting::MorrisCounter as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{events_of, seed_of};
use crate::errors::{Result, setting};
use crate::estimate::Estimate;
use crate::sketch::{Reduced, Shared, common_methods};

/// Counts events on a logarithmic scale: in 4 to 16 bits, with a standard error of √((base − 1)/2)
/// at any count.
///
/// Random draws follow from the seed, so the same events give the same counter. Counters that will
/// be merged need different seeds, or their errors add up.
///
/// >>> from crivo import MorrisCounter
/// >>> views = MorrisCounter.for_reach(1e10, counter_bits=8, seed=7)
/// >>> views.add(3_000_000)
/// >>> views.value < 256, 3_000_000 in views.estimate()
/// (True, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct MorrisCounter(Shared<Sketch>);

common_methods!(MorrisCounter, Sketch);

#[pymethods]
impl MorrisCounter {
    #[new]
    #[pyo3(signature = (base, counter_bits, *, seed = None))]
    #[pyo3(text_signature = "(base, counter_bits, *, seed=0)")]
    fn new(base: f64, counter_bits: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::new(base, bits_of(counter_bits)?, seed_of(seed)?)?)))
    }

    /// Returns the most precise counter of `counter_bits` bits that counts up to `reach` events.
    #[staticmethod]
    #[pyo3(signature = (reach, counter_bits, *, seed = None))]
    #[pyo3(text_signature = "(reach, counter_bits, *, seed=0)")]
    fn for_reach(
        reach: f64,
        counter_bits: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::for_reach(reach, bits_of(counter_bits)?, seed_of(seed)?)?)))
    }

    /// Returns a counter with a standard error of `error`. Its width decides its reach.
    #[staticmethod]
    #[pyo3(signature = (error, counter_bits, *, seed = None))]
    #[pyo3(text_signature = "(error, counter_bits, *, seed=0)")]
    fn for_error(
        error: f64,
        counter_bits: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::for_error(error, bits_of(counter_bits)?, seed_of(seed)?)?)))
    }

    /// The smallest base with which a counter of `counter_bits` bits counts up to `reach` events.
    ///
    /// >>> round(MorrisCounter.base_for(1e10, 8), 3)
    /// 1.084
    #[staticmethod]
    fn base_for(reach: f64, counter_bits: &Bound<'_, PyAny>) -> Result<f64> {
        Ok(Sketch::base_for(reach, bits_of(counter_bits)?)?)
    }

    /// The base whose standard error is `error`.
    ///
    /// >>> MorrisCounter.base_for_error(0.5)
    /// 1.5
    #[staticmethod]
    fn base_for_error(error: f64) -> Result<f64> {
        Ok(Sketch::base_for_error(error)?)
    }

    /// The standard error of a large count, as a share of it.
    ///
    /// >>> MorrisCounter.standard_error(1.5)
    /// 0.5
    #[staticmethod]
    fn standard_error(base: f64) -> Result<f64> {
        // The library's formula accepts any number. This accepts only a base that a counter can
        // have.
        let base = Sketch::new(base, *Sketch::COUNTER_BITS.end(), 0)?.base();
        Ok(Sketch::standard_error(base))
    }

    /// Counts one event.
    fn increment(&self, py: Python<'_>) {
        self.0.quick(py, Sketch::increment);
    }

    /// Counts many events. Same result as one by one, at the cost of the steps by which the value
    /// rises.
    fn add(&self, py: Python<'_>, events: &Bound<'_, PyAny>) -> Result<()> {
        let events = events_of(events)?;
        self.0.quick(py, |counter| counter.add(events));
        Ok(())
    }

    /// The number of events, with bounds at the given confidence. Zero events are exact. A
    /// saturated counter has no upper bound.
    #[pyo3(signature = (confidence = 0.95))]
    fn estimate(&self, py: Python<'_>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        Ok(self.0.quick(py, |counter| counter.estimate_at(confidence)).into())
    }

    /// The base of the scale.
    #[getter]
    fn base(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |counter| counter.base())
    }

    /// The width in bits.
    #[getter]
    fn counter_bits(&self, py: Python<'_>) -> u8 {
        self.0.quick(py, |counter| counter.counter_bits())
    }

    /// The counter's value: the number of times that it was raised.
    #[getter]
    fn value(&self, py: Python<'_>) -> u16 {
        self.0.quick(py, |counter| counter.value())
    }

    /// The highest value, at which the counter stays.
    #[getter]
    fn highest(&self, py: Python<'_>) -> u16 {
        self.0.quick(py, |counter| counter.highest())
    }

    /// The largest estimate: the estimate at the highest value.
    #[getter]
    fn reach(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |counter| counter.reach())
    }

    /// True if nothing was counted.
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |counter| counter.is_empty())
    }

    /// True if the value is at its highest. It stays there, and only a lower bound is known.
    #[getter]
    fn is_saturated(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |counter| counter.is_saturated())
    }

    /// Bytes of memory in use. The value takes few of them: see `CounterArray`.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |counter| counter.memory())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (base, bits, value) = (self.base(py), self.counter_bits(py), self.value(py));
        let estimate = self.0.quick(py, |counter| counter.estimate());
        format!("<MorrisCounter base={base}, counter_bits={bits}, value={value}: {estimate}>")
    }
}

fn bits_of(counter_bits: &Bound<'_, PyAny>) -> Result<u8> {
    let (least, most) = Sketch::COUNTER_BITS.into_inner();
    setting("counter bits", counter_bits, format_args!("{least} to {most}"))
}
