//! The binary fuse filter.

use crivo::membership::BinaryFuse as Sketch;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{CONTAINS, contains_each};
use crate::errors::{Result, setting};
use crate::estimate::Estimate;
use crate::keys::{self, Stretch, Verb, scheme_of};
use crate::sketch::{Reader, Reduced, Shared, sketch_methods};

/// The filter of a finished set: "no" is certain, and "yes" is wrong for 0.39 % of absent keys, in
/// 9 bits a key. It is built from all keys at once; none can be added, and `merge` is refused:
/// `Bloom` can do both.
///
/// `values` is whatever `insert_batch` of other sketches takes; missing values are skipped and
/// equal ones count once. With `keys="hash"` they are hashes. `keys` and `seed` are as for
/// `HyperLogLog`.
///
/// >>> from crivo import BinaryFuse
/// >>> customers = BinaryFuse(["ana", "rui", "eva", "rui", None])
/// >>> customers
/// <BinaryFuse keys='text', seed=0: 3>
/// >>> "rui" in customers, "gil" in customers
/// (True, False)
/// >>> customers.contains_batch(["eva", "gil", None])
/// array([ True, False, False])
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct BinaryFuse(Shared<Sketch>);

sketch_methods!(BinaryFuse, Sketch);

/// The method that builds the filter.
static BUILD: Verb =
    Verb { one: "", many: "BinaryFuse", hashes: "BinaryFuse", so_far: "no filter was built" };

#[pymethods]
impl BinaryFuse {
    #[new]
    #[pyo3(signature = (values, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(values, *, keys='text', seed=0)")]
    fn new(values: &Bound<'_, PyAny>, keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let scheme = scheme_of(keys, seed)?;
        let read: Reader = if keys == "hash" { keys::take_hashes } else { keys::take_keys };
        let mut hashes = Vec::new();
        let mut take = |stretch: Stretch<'_>| {
            hashes.extend_from_slice(stretch.keys.hashes());
            Ok(())
        };
        read(values, scheme, &BUILD, &mut take)?;
        let sketch = values.py().detach(|| Sketch::of_hashes(&hashes, scheme))?;
        Ok(Self(Shared::new(sketch)))
    }

    /// How many bytes the table for that many different keys has.
    ///
    /// >>> BinaryFuse.table_bytes_for(1_000_000)
    /// 1130496
    #[staticmethod]
    fn table_bytes_for(items: &Bound<'_, PyAny>) -> Result<u64> {
        Ok(Sketch::table_bytes_for(setting("items", items, "0 to 2^64 - 1")?))
    }

    /// Whether the key may be in the set; False is certain. `key in filter` asks the same.
    fn contains(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
        self.0.with_hash(key, &CONTAINS, |sketch, hash| sketch.contains_hash(hash))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
        self.contains(key)
    }

    /// Whether each of many keys may be in the set, as an array with an answer for every value, in
    /// their order. `values` is whatever the constructor takes; missing values are not in there.
    fn contains_batch<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'_, PyAny>,
    ) -> Result<Bound<'py, PyArray1<bool>>> {
        self.0.ask_all(py, keys::take_keys, values, &CONTAINS, contains_each::<Sketch>)
    }

    /// Whether the key of each of many hashes may be in the set, in a filter with `keys="hash"`.
    fn contains_hashes<'py>(
        &self,
        py: Python<'py>,
        hashes: &Bound<'_, PyAny>,
    ) -> Result<Bound<'py, PyArray1<bool>>> {
        self.0.ask_all(py, keys::take_hashes, hashes, &CONTAINS, contains_each::<Sketch>)
    }

    /// The number of different keys, which is known.
    fn items(&self, py: Python<'_>) -> Estimate {
        self.0.quick(py, |sketch| sketch.items()).into()
    }

    /// The number of keys as a share of the table's bytes.
    #[getter]
    fn fill(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |sketch| sketch.fill())
    }

    /// The chance that a key which is not in the set is taken for a member: 1/256, and 0 for the
    /// empty set.
    #[getter]
    fn false_positive_rate(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |sketch| sketch.false_positive_rate())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed) = (self.keys(py), self.seed(py));
        let items = self.0.quick(py, |sketch| sketch.items());
        format!("<BinaryFuse keys='{keys}', seed={seed}: {items}>")
    }
}
