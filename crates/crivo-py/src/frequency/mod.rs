//! How often does a key occur, and which keys are the most frequent?

mod bounds;
mod count_min;
mod heavy_hitters;
pub(crate) mod hitter;
mod majority;
mod private;
mod range_count_min;

pub(crate) use bounds::frequency_bounds;
pub(crate) use count_min::CountMin;
pub(crate) use heavy_hitters::HeavyHitters;
pub(crate) use majority::Majority;
pub(crate) use private::{PrivateClient, PrivateCountMean, Protocol};
pub(crate) use range_count_min::RangeCountMin;

use crivo::Confidence;
use pyo3::prelude::*;

use crate::errors::{Result, setting, setting_in};
use crate::keys::Verb;

/// The methods that add keys with weights.
static ADD: Verb =
    Verb { one: "add", many: "add_batch", hashes: "add_hashes", so_far: "the values before it were added" };

/// The methods that return the frequency of one key.
static FREQUENCY: Verb = Verb { one: "frequency", many: "", hashes: "frequency_of_hash", so_far: "" };

fn weight_of(weight: &Bound<'_, PyAny>) -> Result<u64> {
    setting("weight", weight, "0 to 2^64 - 1")
}

/// The sizes of a table of counters; the library says the same of those beyond.
fn width_of(width: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(setting_in("width", width, 1..=1 << 30)? as u32)
}

fn depth_of(depth: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(setting_in("depth", depth, 1..=32)? as u32)
}

fn confidence_of(level: Option<f64>) -> crivo::Result<Option<Confidence>> {
    level.map(Confidence::new).transpose()
}

/// Defines `add_batch` for a class whose sketch takes batches with weights.
macro_rules! add_batch_method {
    ($class:ident, $sketch:ty) => {
        #[pymethods]
        impl $class {
            /// Adds many keys, each with the weight at its position. Returns the number of missing
            /// values, which are skipped with their weights. `values` is whatever `insert_batch`
            /// takes. `weights` is an array or an iterable of whole numbers, one for each value.
            fn add_batch(
                &self,
                py: Python<'_>,
                values: &Bound<'_, PyAny>,
                weights: &Bound<'_, PyAny>,
            ) -> Result<u64> {
                let (read, verb) = ($crate::keys::take_keys, &$crate::frequency::ADD);
                self.0.add_all(py, read, values, weights, verb, <$sketch>::add_batch)
            }
        }
    };
}
use add_batch_method;

/// Defines `add_hashes` for a class whose sketch also takes hashes of the caller's own.
macro_rules! add_hashes_method {
    ($class:ident, $sketch:ty) => {
        #[pymethods]
        impl $class {
            /// Adds keys by hashes of the caller's own, each with a weight, to a sketch with
            /// `keys="hash"`. Otherwise like `add_batch`.
            fn add_hashes(
                &self,
                py: Python<'_>,
                hashes: &Bound<'_, PyAny>,
                weights: &Bound<'_, PyAny>,
            ) -> Result<u64> {
                let (read, verb) = ($crate::keys::take_hashes, &$crate::frequency::ADD);
                self.0.add_all(py, read, hashes, weights, verb, <$sketch>::add_batch)
            }
        }
    };
}
use add_hashes_method;

/// Defines the methods about the total weight, which every sketch of frequencies has.
macro_rules! total_methods {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// The total weight of everything that was counted; 2^64 - 1 if it is that or more.
            #[getter]
            fn total(&self, py: Python<'_>) -> u64 {
                self.0.quick(py, |sketch| sketch.total())
            }

            /// True if the total has reached 2^64 - 1, where counting stops.
            #[getter]
            fn is_saturated(&self, py: Python<'_>) -> bool {
                self.0.quick(py, |sketch| sketch.is_saturated())
            }
        }
    };
}
use total_methods;
