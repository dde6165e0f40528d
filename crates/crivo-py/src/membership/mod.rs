//! Filters: approximate sets that answer whether a key is a member.

mod binary_fuse;
mod blocked_bloom;
mod bloom;
mod combined_filter;
mod counting_bloom;
mod direct_table;

pub(crate) use binary_fuse::BinaryFuse;
pub(crate) use blocked_bloom::BlockedBloom;
pub(crate) use bloom::Bloom;
pub(crate) use combined_filter::CombinedFilter;
pub(crate) use counting_bloom::CountingBloom;
pub(crate) use direct_table::DirectTable;

use crivo::keys::KeyBatch;
use crivo::sketch::{ContainsHashes, Encode};
use pyo3::prelude::*;

use crate::errors::{Result, setting, setting_in};
use crate::keys::Verb;

/// The methods that look keys up.
static CONTAINS: Verb =
    Verb { one: "contains", many: "contains_batch", hashes: "contains_hashes", so_far: "" };

fn contains_each<S: ContainsHashes + Encode>(
    filter: &S,
    batch: &KeyBatch<'_>,
    found: &mut Vec<bool>,
) -> crivo::Result<()> {
    filter.key_scheme().require_same(batch.scheme())?;
    filter.contains_hashes(batch.hashes(), found);
    Ok(())
}

/// Reads the number of different keys that a filter is sized for.
fn items_of(items: &Bound<'_, PyAny>) -> Result<u64> {
    setting_in("items", items, 1..=1 << 42)
}

/// Reads the number of different keys for which a rate is computed.
fn any_number_of(items: &Bound<'_, PyAny>) -> Result<u64> {
    setting("items", items, "0 to 2^64 - 1")
}

/// Reads the number of bits or counters of a filter.
fn cells_of(name: &str, cells: &Bound<'_, PyAny>) -> Result<u64> {
    setting_in(name, cells, 1..=1 << 43)
}

/// Reads the number of bits or counters of each key.
fn hashes_of(hashes: &Bound<'_, PyAny>) -> Result<u32> {
    Ok(setting_in("hashes", hashes, 1..=64)? as u32)
}

/// Defines the Python methods of filters: `filter_methods!(Bloom, Sketch)`, used together with
/// `sketch_methods`.
macro_rules! filter_methods {
    ($class:ident, $sketch:ty) => {
        #[pymethods]
        impl $class {
            /// Adds one key; True if it was certainly not there before. `KeyTypeError` if it is not
            /// of the filter's kind; None is no key either. Empty text is a key here;
            /// `insert_batch` skips it.
            fn insert(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
                self.0.with_hash(key, &$crate::sketch::INSERT, <$sketch>::insert_hash)
            }

            /// Whether the key may be in there; False is certain. `key in filter` asks the same.
            fn contains(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
                let contains = |sketch: &mut $sketch, hash| sketch.contains_hash(hash);
                self.0.with_hash(key, &$crate::membership::CONTAINS, contains)
            }

            fn __contains__(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
                self.contains(key)
            }

            /// Whether each of many keys may be in there, as an array with an answer for every
            /// value, in their order. `values` is whatever `insert_batch` takes; missing values are
            /// not in there.
            fn contains_batch<'py>(
                &self,
                py: Python<'py>,
                values: &Bound<'_, PyAny>,
            ) -> Result<Bound<'py, PyArray1<bool>>> {
                let answer = $crate::membership::contains_each::<$sketch>;
                self.0.ask_all(py, $crate::keys::take_keys, values, &$crate::membership::CONTAINS, answer)
            }

            /// Whether the key of each of many hashes may be in there, in a filter with
            /// `keys="hash"`.
            fn contains_hashes<'py>(
                &self,
                py: Python<'py>,
                hashes: &Bound<'_, PyAny>,
            ) -> Result<Bound<'py, PyArray1<bool>>> {
                let answer = $crate::membership::contains_each::<$sketch>;
                self.0.ask_all(py, $crate::keys::take_hashes, hashes, &$crate::membership::CONTAINS, answer)
            }

            /// The number of different keys, with bounds at the given confidence.
            #[pyo3(signature = (confidence = 0.95))]
            fn items(&self, py: Python<'_>, confidence: f64) -> Result<Estimate> {
                let confidence = Confidence::new(confidence)?;
                Ok(self.0.detached(py, |sketch| sketch.items_at(confidence)).into())
            }

            /// The number of different keys that both filters hold, with bounds at the given
            /// confidence. `IncompatibleError` if the filters differ in size, `keys` or `seed`.
            #[pyo3(signature = (other, confidence = 0.95))]
            fn shared_items(
                &self,
                py: Python<'_>,
                other: &Bound<'_, Self>,
                confidence: f64,
            ) -> Result<Estimate> {
                let confidence = Confidence::new(confidence)?;
                let shared = self.0.with_other(py, &other.get().0, |mine, theirs| {
                    mine.shared_items_at(theirs, confidence)
                })?;
                Ok(shared.into())
            }

            /// The filter of what is in both sets, whatever the sizes of their filters; `a & b`
            /// makes the same. It knows that it is an intersection, and how many keys are shared.
            /// `IncompatibleError` if the filters differ in `keys` or `seed`.
            fn intersection(
                &self,
                py: Python<'_>,
                other: &Bound<'_, Self>,
            ) -> Result<$crate::membership::CombinedFilter> {
                let both = self.0.with_other(py, &other.get().0, |mine, theirs| mine.intersection(theirs))?;
                Ok(both.into())
            }

            fn __and__(
                &self,
                py: Python<'_>,
                other: &Bound<'_, Self>,
            ) -> Result<$crate::membership::CombinedFilter> {
                self.intersection(py, other)
            }

            /// How many different keys the filter was made for; with more its rate exceeds what was
            /// asked for.
            #[getter]
            fn capacity(&self, py: Python<'_>) -> u64 {
                self.0.quick(py, |sketch| sketch.capacity())
            }

            /// The share of the filter that is in use.
            #[getter]
            fn fill(&self, py: Python<'_>) -> f64 {
                self.0.detached(py, |sketch| sketch.fill())
            }

            /// The chance that a key which was not inserted is taken for one that was, at the
            /// present fill.
            #[getter]
            fn false_positive_rate(&self, py: Python<'_>) -> f64 {
                self.0.detached(py, |sketch| sketch.false_positive_rate())
            }
        }
    };
}
use filter_methods;
