//! What is the same for every class that counts different items.

/// The Python methods that add keys and count them, besides those of
/// [`sketch_methods`](crate::sketch::sketch_methods).
macro_rules! distinct_methods {
    ($class:ident) => {
        $crate::sketch::insert_batch_method!($class);
        $crate::sketch::insert_hashes_method!($class);

        #[pymethods]
        impl $class {
            /// Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key either.
            /// Empty text is a key here; `insert_batch` skips it.
            fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
                self.0.with_hash(key, &$crate::sketch::INSERT, crivo::sketch::InsertHashes::insert_hash)
            }

            /// The number of different items, with bounds at the given confidence.
            #[pyo3(signature = (confidence = 0.95))]
            fn estimate(&self, py: Python<'_>, confidence: f64) -> Result<$crate::estimate::Estimate> {
                let confidence = crivo::Confidence::new(confidence)?;
                Ok(self.0.detached(py, |sketch| sketch.estimate_at(confidence)).into())
            }
        }
    };
}
pub(super) use distinct_methods;
