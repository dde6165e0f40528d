//! What is the same for every class that counts different items.

/// The Python methods that add keys and count them, besides those of
/// [`sketch_methods`](crate::sketch::sketch_methods).
macro_rules! distinct_methods {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key either.
            fn insert(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<()> {
                self.0.insert(py, key)
            }

            /// Adds many keys and returns how many missing values (None, NaN, null) were skipped.
            ///
            /// `values` is a list or other iterable, a NumPy array, or a column of anything that speaks
            /// the Arrow interface: pyarrow, polars, pandas, and others. Arrow and NumPy columns are read in
            /// place and without the GIL; NumPy arrays of text or objects are read as lists. A column of
            /// a type that holds no keys is refused whole; an iterable is inserted up to the first value
            /// that is no key, and the `KeyTypeError` names its position.
            fn insert_batch(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> Result<u64> {
                self.0.insert_batch(py, values)
            }

            /// Adds hashes of the caller's own, as 64-bit integers, to a sketch with `keys="hash"`, and
            /// returns how many missing values were skipped. They must be uniform over all 64 bits.
            fn insert_hashes(&self, py: Python<'_>, hashes: &Bound<'_, PyAny>) -> Result<u64> {
                self.0.insert_hashes(py, hashes)
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
