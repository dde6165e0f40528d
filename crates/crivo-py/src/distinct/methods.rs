//! Python methods of the classes that count different items: of all of them, of those sized by a
//! precision, and of the register sketches.

use std::ops::RangeInclusive;

use pyo3::prelude::*;

use crate::errors::{Result, setting_in};

/// Returns the precision that a caller gave, if it is in the range.
pub(super) fn precision_of(precision: &Bound<'_, PyAny>, allowed: RangeInclusive<u8>) -> Result<u8> {
    let (least, most) = allowed.into_inner();
    Ok(setting_in("precision", precision, least.into()..=most.into())? as u8)
}

/// Defines the Python methods that add and count keys. The others come from
/// [`sketch_methods`](crate::sketch::sketch_methods).
macro_rules! distinct_methods {
    ($class:ident) => {
        $crate::sketch::insert_batch_method!($class);
        $crate::sketch::insert_hashes_method!($class);

        #[pymethods]
        impl $class {
            /// Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
            /// either. Empty text is a key here, but `insert_batch` skips it.
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

/// Defines the Python methods of a class whose sketch has `2^precision` registers. The last two
/// arguments are the doc examples of `for_error` and of `standard_error`.
macro_rules! precision_methods {
    ($class:ident, $sketch:ty, $for_error:literal, $standard_error:literal) => {
        #[pymethods]
        impl $class {
            /// Returns an empty sketch of the smallest size whose standard error is at most
            /// `error`.
            ///
            #[doc = $for_error]
            #[staticmethod]
            #[pyo3(signature = (error, *, keys = "text", seed = None))]
            #[pyo3(text_signature = "(error, *, keys='text', seed=0)")]
            fn for_error(error: f64, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
                let precision = <$sketch>::precision_for(error)?;
                Ok(Self(Shared::new(<$sketch>::with_scheme(precision, scheme_of(keys, seed)?)?)))
            }

            /// The smallest precision whose standard error is at most `error`.
            #[staticmethod]
            fn precision_for(error: f64) -> Result<u8> {
                Ok(<$sketch>::precision_for(error)?)
            }

            /// The standard error of a large count, as a share of it.
            ///
            #[doc = $standard_error]
            #[staticmethod]
            fn standard_error(precision: &Bound<'_, PyAny>) -> Result<f64> {
                Ok(<$sketch>::standard_error(precision_of(precision, <$sketch>::PRECISIONS)?))
            }

            /// The base-2 logarithm of the number of registers.
            #[getter]
            fn precision(&self, py: Python<'_>) -> u8 {
                self.0.quick(py, |sketch| sketch.precision())
            }

            fn __repr__(&self, py: Python<'_>) -> String {
                let (keys, seed, precision) = (self.keys(py), self.seed(py), self.precision(py));
                let estimate = self.0.detached(py, |sketch| sketch.estimate());
                let class = stringify!($class);
                format!("<{class} precision={precision}, keys='{keys}', seed={seed}: {estimate}>")
            }
        }
    };
}
pub(super) use precision_methods;

/// Defines the Python methods that only register sketches have: about their exact state and their
/// history. The last argument is the doc example of `exact_up_to`.
macro_rules! register_methods {
    ($class:ident, $sketch:ty, $exact_up_to:literal) => {
        #[pymethods]
        impl $class {
            /// The number of different items up to which counts are exact.
            ///
            #[doc = $exact_up_to]
            #[staticmethod]
            fn exact_up_to(precision: &Bound<'_, PyAny>) -> Result<usize> {
                Ok(<$sketch>::exact_up_to(precision_of(precision, <$sketch>::PRECISIONS)?))
            }

            /// The standard error of a large count of a sketch with history, as a share of the
            /// count.
            #[staticmethod]
            fn history_error(precision: &Bound<'_, PyAny>) -> Result<f64> {
                Ok(<$sketch>::history_error(precision_of(precision, <$sketch>::PRECISIONS)?))
            }

            /// Returns a copy that also uses the order in which items arrive. Its error is a fifth
            /// smaller in the same memory, until a merge ends the history. `InvalidParameterError`
            /// if the sketch is past its exact state.
            fn with_history(&self, py: Python<'_>) -> Result<Self> {
                Ok(Self(Shared::new(self.0.quick(py, |sketch| sketch.clone()).with_history()?)))
            }

            /// True if the sketch keeps a history.
            #[getter]
            fn keeps_history(&self, py: Python<'_>) -> bool {
                self.0.quick(py, |sketch| sketch.keeps_history())
            }
        }
    };
}
pub(super) use register_methods;
