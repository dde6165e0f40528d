//! [`Estimate`]: a number with the interval that holds the true value.

use crivo::Confidence;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyString};

use crate::errors::Result;
use crate::sketch::Reduced;

/// A number with the interval that holds the true value.
///
/// `certain` distinguishes bounds that no input can break from bounds that hold with the stated
/// confidence. `truth in estimate` is True if a number lies in the interval. Where a number is
/// expected, `float`, `int`, `round` and formats such as `f"{estimate:,.0f}"` use the value.
///
/// >>> from crivo import Estimate
/// >>> visitors = Estimate(1702788, 1689000, 1716000, confidence=0.95)
/// >>> print(visitors)
/// 1 702 788 ± 0.8 %
/// >>> 1_700_000 in visitors, visitors.certain
/// (True, False)
/// >>> round(visitors, -3), f"{visitors:,.0f}"
/// (1703000.0, '1,702,788')
#[pyclass(module = "crivo", frozen, eq)]
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Estimate(pub(crate) crivo::Estimate);

impl From<crivo::Estimate> for Estimate {
    fn from(estimate: crivo::Estimate) -> Self {
        Self(estimate)
    }
}

impl Estimate {
    /// Returns the value as a Python float, which can round and format itself.
    fn number<'py>(&self, py: Python<'py>) -> Bound<'py, PyFloat> {
        PyFloat::new(py, self.0.value())
    }
}

#[pymethods]
impl Estimate {
    #[new]
    #[pyo3(signature = (value, lower, upper, confidence = 0.95))]
    fn new(value: f64, lower: f64, upper: f64, confidence: f64) -> Result<Self> {
        Ok(Self(if confidence == 1.0 {
            crivo::Estimate::certain(value, lower, upper)
        } else {
            crivo::Estimate::probable(value, lower, upper, Confidence::new(confidence)?)
        }))
    }

    /// The estimated value.
    #[getter]
    fn value(&self) -> f64 {
        self.0.value()
    }

    /// The lower end of the interval.
    #[getter]
    fn lower(&self) -> f64 {
        self.0.lower()
    }

    /// The upper end of the interval.
    #[getter]
    fn upper(&self) -> f64 {
        self.0.upper()
    }

    /// The probability with which the interval holds the true value; 1.0 if certain.
    #[getter]
    fn confidence(&self) -> f64 {
        self.0.confidence().level()
    }

    /// True if the bounds hold for every input.
    #[getter]
    fn certain(&self) -> bool {
        self.0.is_certain()
    }

    /// The distance from the value to the farther bound, as a share of the value.
    #[getter]
    fn relative_error(&self) -> f64 {
        self.0.relative_error()
    }

    fn __contains__(&self, truth: f64) -> bool {
        self.0.covers(truth)
    }

    fn __float__(&self) -> f64 {
        self.0.value()
    }

    fn __int__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.number(py).call_method0("__int__")
    }

    #[pyo3(signature = (ndigits = None))]
    fn __round__<'py>(
        &self,
        py: Python<'py>,
        ndigits: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.number(py).call_method1("__round__", (ndigits,))
    }

    fn __format__<'py>(
        &self,
        py: Python<'py>,
        format_spec: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if format_spec.is_empty()? {
            return Ok(PyString::new(py, &self.__str__()).into_any());
        }
        self.number(py).call_method1("__format__", (format_spec,))
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!(
            "Estimate({:?}, {:?}, {:?}, confidence={:?})",
            self.value(),
            self.lower(),
            self.upper(),
            self.confidence()
        )
    }

    /// Returns what a notebook shows: the value and its error, with the bounds as a tooltip.
    fn _repr_html_(&self) -> String {
        let sure = if self.certain() {
            "certain".to_owned()
        } else {
            format!("{} % sure", self.confidence() * 100.0)
        };
        let bounds = format!("{} to {}, {sure}", self.lower(), self.upper());
        format!("<span class=\"crivo-estimate\" title=\"{bounds}\">{}</span>", self.0)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (f64, f64, f64, f64)> {
        let Self(estimate) = slf.get();
        let level = estimate.confidence().level();
        (slf.get_type().into_any(), (estimate.value(), estimate.lower(), estimate.upper(), level))
    }
}
