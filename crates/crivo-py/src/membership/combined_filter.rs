//! The combination of several filters.

use crivo::membership::CombinedFilter as Sketch;
use crivo::sketch::{InsertHashes, Membership};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::CONTAINS;
use crate::any::from_python;
use crate::errors::Result;
use crate::estimate::Estimate;
use crate::keys::{take_hashes, take_keys};
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, insert_hashes_method, sketch_methods};

/// The union or the intersection of sets, from their filters: of any sizes, and of any of the kinds
/// `Bloom`, `BlockedBloom` and `CountingBloom`. Made by `union`, by `intersection`, and by `&`
/// between filters.
///
/// The filters are kept side by side, so that an intersection knows how many keys its sets share.
/// Filters of a union that have the same sizes are joined into one.
///
/// >>> from crivo import Bloom, CombinedFilter
/// >>> few, many = Bloom.for_items(10, 1e-6), Bloom.for_items(10_000, 1e-6)
/// >>> few.insert_batch(["ana", "rui"]), many.insert_batch(["rui", "eva"])
/// (0, 0)
/// >>> either, both = CombinedFilter.union(few, many), CombinedFilter.intersection(few, many)
/// >>> [name in either for name in ("ana", "rui", "gil")], [name in both for name in ("ana", "rui")]
/// ([True, True, False], [False, True])
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct CombinedFilter(Shared<Sketch>);

sketch_methods!(CombinedFilter, Sketch);
insert_batch_method!(CombinedFilter);
insert_hashes_method!(CombinedFilter);

#[pymethods]
impl CombinedFilter {
    /// The filter of what is in one set or the other, whatever their filters are.
    /// `IncompatibleError` if their `keys` or `seed` differ.
    #[staticmethod]
    fn union(py: Python<'_>, first: &Bound<'_, PyAny>, second: &Bound<'_, PyAny>) -> Result<Self> {
        let (first, second) = (from_python(first)?, from_python(second)?);
        Ok(py.detach(|| Sketch::union(first, second))?.into())
    }

    /// The filter of what is in both sets, whatever their filters are. `IncompatibleError` if their
    /// `keys` or `seed` differ.
    #[staticmethod]
    fn intersection(py: Python<'_>, first: &Bound<'_, PyAny>, second: &Bound<'_, PyAny>) -> Result<Self> {
        let (first, second) = (from_python(first)?, from_python(second)?);
        Ok(py.detach(|| Sketch::intersection(first, second))?.into())
    }

    fn __and__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Self> {
        let both = self.0.with_other(py, &other.get().0, |mine, theirs| {
            Sketch::intersection(mine.clone().into(), theirs.clone().into())
        })?;
        Ok(both.into())
    }

    /// Adds one key: to the largest filter of a union, to all filters of an intersection.
    /// `KeyTypeError` if it is not of the filter's kind; None is no key either. Empty text is a key
    /// here; `insert_batch` skips it.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_hash(key, &INSERT, InsertHashes::insert_hash)
    }

    /// Whether the key may be in there; False is certain. `key in filter` asks the same.
    fn contains(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
        self.0.with_hash(key, &CONTAINS, |sketch, hash| sketch.contains_hash(hash))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
        self.contains(key)
    }

    /// Whether each of many keys may be in there, as an array with an answer for every value, in
    /// their order. `values` is whatever `insert_batch` takes; missing values are not in there.
    fn contains_batch<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'_, PyAny>,
    ) -> Result<Bound<'py, PyArray1<bool>>> {
        self.0.ask_all(py, take_keys, values, &CONTAINS, Membership::contains_batch)
    }

    /// Whether the key of each of many hashes may be in there, in a filter with `keys="hash"`.
    fn contains_hashes<'py>(
        &self,
        py: Python<'py>,
        hashes: &Bound<'_, PyAny>,
    ) -> Result<Bound<'py, PyArray1<bool>>> {
        self.0.ask_all(py, take_hashes, hashes, &CONTAINS, Membership::contains_batch)
    }

    /// The number of different keys, with bounds at 95 %: of a union from the largest of its sets
    /// to all of them together, of an intersection of two filters of one size the number that they
    /// share.
    fn items(&self, py: Python<'_>) -> Estimate {
        self.0.detached(py, |sketch| sketch.items()).into()
    }

    /// The most that the chance can be that a key which is in none of the sets is taken for a
    /// member.
    #[getter]
    fn false_positive_rate(&self, py: Python<'_>) -> f64 {
        self.0.detached(py, |sketch| sketch.false_positive_rate())
    }

    /// The chance that a key which is in some sets of an intersection, but not in all, is taken for
    /// a member; None if there is no intersection.
    #[getter]
    fn rate_for_some(&self, py: Python<'_>) -> Option<f64> {
        self.0.detached(py, |sketch| sketch.rate_for_some())
    }

    /// How many filters there are.
    #[getter]
    fn filters(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |sketch| sketch.filters())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (filters, keys, seed) = (self.filters(py), self.keys(py), self.seed(py));
        let items = self.0.detached(py, |sketch| sketch.items());
        format!("<CombinedFilter filters={filters}, keys='{keys}', seed={seed}: {items}>")
    }
}
