//! [`ExactDistinct`]: counts exactly, from a hash of each item.

use crivo::distinct::ExactDistinct as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::methods::distinct_methods;
use crate::errors::Result;
use crate::keys::scheme_of;
use crate::sketch::{Reduced, Shared, sketch_methods};

/// Counts different items exactly, in 11 to 21 bytes for each.
///
/// It keeps a 64-bit hash of each item, not the item. Among n different items, two share a hash and
/// count as one with a probability of at most n²/2^65. `keys` and `seed` are those of
/// `HyperLogLog`, which takes a few kilobytes for any number of items.
///
/// >>> from crivo import ExactDistinct
/// >>> visitors = ExactDistinct()
/// >>> visitors.insert_batch(("ana", "rui", None, "ana"))
/// 1
/// >>> visitors.estimate().value, visitors.estimate().certain
/// (2.0, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct ExactDistinct(Shared<Sketch>);

sketch_methods!(ExactDistinct, Sketch);
distinct_methods!(ExactDistinct);

#[pymethods]
impl ExactDistinct {
    #[new]
    #[pyo3(signature = (*, keys = "text", seed = None))]
    #[pyo3(text_signature = "(*, keys='text', seed=0)")]
    fn new(keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::with_scheme(scheme_of(keys, seed)?))))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed) = (self.keys(py), self.seed(py));
        let estimate = self.0.quick(py, |sketch| sketch.estimate());
        format!("<ExactDistinct keys='{keys}', seed={seed}: {estimate}>")
    }
}
