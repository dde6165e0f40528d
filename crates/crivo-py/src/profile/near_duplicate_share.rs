//! [`NearDuplicateShare`]: the share of a column's texts that have a near-duplicate.

use crivo::keys::KeyRef;
use crivo::profile::NearDuplicateShare as Sketch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::errors::{Result, setting};
use crate::estimate::Estimate;
use crate::keys::scheme_of;
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, sketch_methods};

/// The share of documents, which are texts of 32 bytes or more with three blanks, that have a
/// near-duplicate: another that shares at least four fifths of all their runs of eight bytes.
///
/// Keeps up to `capacity` texts. While all different texts fit, all pairs are compared.
///
/// >>> from crivo import NearDuplicateShare
/// >>> letters = NearDuplicateShare(512)
/// >>> letter = "Dear {}, thank you for the parcel that came on Monday, unharmed and in time"
/// >>> other = "No two words of this one are shared with any of the letters above"
/// >>> letters.insert_batch([letter.format("Ana"), letter.format("Eva"), other, "a name"])
/// 0
/// >>> letters.documents, round(letters.share(), 3)
/// (3, 0.667)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct NearDuplicateShare(Shared<Sketch>);

sketch_methods!(NearDuplicateShare, Sketch);
insert_batch_method!(NearDuplicateShare);

#[pymethods]
impl NearDuplicateShare {
    #[new]
    #[pyo3(signature = (capacity, *, seed = None))]
    #[pyo3(text_signature = "(capacity, *, seed=0)")]
    fn new(capacity: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let capacity = setting("capacity", capacity, "64 to 8192")?;
        Ok(Self(Shared::new(Sketch::with_scheme(capacity, scheme_of("text", seed)?)?)))
    }

    /// Takes a text, if it is a document.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_key(key, &INSERT, |sketch, key| {
            if let KeyRef::Bytes(text) = key {
                sketch.insert_bytes(text);
            }
            Ok(())
        })
    }

    /// The share of documents with a near-duplicate, with bounds at 95 %. None without documents.
    fn share(&self, py: Python<'_>) -> Option<Estimate> {
        self.0.detached(py, |sketch| sketch.share()).map(Estimate::from)
    }

    /// How many documents there were.
    #[getter]
    fn documents(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.documents())
    }

    /// How many texts can be kept.
    #[getter]
    fn capacity(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.capacity())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (capacity, documents) = (self.capacity(py), self.documents(py));
        format!("<NearDuplicateShare capacity={capacity}: {documents} documents>")
    }
}
