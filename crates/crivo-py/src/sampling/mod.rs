//! Random samples of a stream.

mod reservoir;
mod row_sample;
mod weighted_reservoir;

pub(crate) use reservoir::Reservoir;
pub(crate) use row_sample::RowSample;
pub(crate) use weighted_reservoir::WeightedReservoir;

use crivo::keys::KeyRef;
use pyo3::prelude::*;

use crate::errors::{Result, setting, setting_in};
use crate::keys::to_python;

/// Reads the number of keys that a sample may keep.
fn capacity_of(capacity: &Bound<'_, PyAny>) -> Result<u64> {
    setting_in("capacity", capacity, 1..=u32::MAX.into())
}

/// Reads the seed of the draws.
fn seed_of(seed: Option<&Bound<'_, PyAny>>) -> Result<u64> {
    seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))
}

/// Returns keys as Python objects.
fn list<'py>(py: Python<'py>, keys: &[crivo::keys::OwnedKey]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    keys.iter().map(|key| to_python(py, key.as_ref())).collect()
}

/// Copies keys, so that they can be used after the lock is released.
fn owned<'a>(keys: impl IntoIterator<Item = KeyRef<'a>>) -> Vec<crivo::keys::OwnedKey> {
    keys.into_iter().map(KeyRef::to_owned).collect()
}

/// Defines the methods of both samples, in addition to `common_methods`.
macro_rules! sample_methods {
    ($class:ident, $sketch:ty) => {
        #[pymethods]
        impl $class {
            /// What the keys are: "text", "int" or "hash".
            #[getter]
            fn keys(&self, py: Python<'_>) -> &'static str {
                $crate::keys::name_of(self.0.scheme(py).kind())
            }

            /// The seed of other sketches of the same keys. Nothing is hashed here: it is a label,
            /// and only samples with the same one can be merged.
            #[getter]
            fn key_seed(&self, py: Python<'_>) -> u64 {
                self.0.scheme(py).seed()
            }

            /// How many keys can be kept.
            #[getter]
            fn capacity(&self, py: Python<'_>) -> u64 {
                self.0.quick(py, |sample| sample.capacity())
            }

            /// Bytes of memory in use.
            #[getter]
            fn memory(&self, py: Python<'_>) -> usize {
                self.0.detached(py, |sample| sample.memory())
            }

            /// Whether nothing was sampled. (A sketch without a length is always true, as objects
            /// are.)
            #[getter]
            fn is_empty(&self, py: Python<'_>) -> bool {
                self.0.quick(py, |sample| sample.is_empty())
            }
        }
    };
}
use sample_methods;
