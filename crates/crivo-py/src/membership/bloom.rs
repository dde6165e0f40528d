//! The Bloom filter.

use crivo::Confidence;
use crivo::membership::Bloom as Sketch;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{any_number_of, cells_of, filter_methods, hashes_of, items_of};
use crate::errors::Result;
use crate::estimate::Estimate;
use crate::keys::scheme_of;
use crate::sketch::{Reduced, Shared, insert_batch_method, insert_hashes_method, sketch_methods};

/// Remembers keys in `bits` bits, `hashes` of them for each key: "no" is certain, and "yes" is
/// wrong at a known rate. 9.6 bits a key give a rate of 1 %: `for_items` finds the size.
///
/// `keys` and `seed` are as for `HyperLogLog`.
///
/// >>> from crivo import Bloom
/// >>> seen = Bloom.for_items(10_000, 0.01)
/// >>> seen.insert("ana")
/// True
/// >>> seen.insert_batch(["rui", "eva", None])
/// 1
/// >>> "rui" in seen, "zoe" in seen
/// (True, False)
/// >>> seen.contains_batch(["eva", "zoe", None, "ana"])
/// array([ True, False, False,  True])
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct Bloom(Shared<Sketch>);

sketch_methods!(Bloom, Sketch);
insert_batch_method!(Bloom);
insert_hashes_method!(Bloom);
filter_methods!(Bloom, Sketch);

#[pymethods]
impl Bloom {
    #[new]
    #[pyo3(signature = (bits, hashes, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(bits, hashes, *, keys='text', seed=0)")]
    fn new(
        bits: &Bound<'_, PyAny>,
        hashes: &Bound<'_, PyAny>,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let (bits, hashes) = (cells_of("bits", bits)?, hashes_of(hashes)?);
        Ok(Self(Shared::new(Sketch::with_scheme(bits, hashes, scheme_of(keys, seed)?)?)))
    }

    /// An empty filter of the smallest size that has the wanted false-positive rate with `items`
    /// different keys.
    ///
    /// >>> seen = Bloom.for_items(1_000_000, 0.01)
    /// >>> seen.bits, seen.hashes, seen.capacity
    /// (9592955, 7, 1000000)
    #[staticmethod]
    #[pyo3(signature = (items, rate, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(items, rate, *, keys='text', seed=0)")]
    fn for_items(
        items: &Bound<'_, PyAny>,
        rate: f64,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let sketch = Sketch::for_items_with_scheme(items_of(items)?, rate, scheme_of(keys, seed)?)?;
        Ok(Self(Shared::new(sketch)))
    }

    /// The fewest bits, and how many of them a key sets, for `items` different keys at the wanted
    /// false-positive rate.
    ///
    /// >>> Bloom.size_for(1_000_000, 0.001)
    /// (14377640, 10)
    #[staticmethod]
    fn size_for(items: &Bound<'_, PyAny>, rate: f64) -> Result<(u64, u32)> {
        Ok(Sketch::size_for(items_of(items)?, rate)?)
    }

    /// The false-positive rate that `items` different keys are expected to give.
    ///
    /// >>> round(Bloom.expected_rate(9_592_955, 7, 2_000_000), 3)
    /// 0.157
    #[staticmethod]
    fn expected_rate(
        bits: &Bound<'_, PyAny>,
        hashes: &Bound<'_, PyAny>,
        items: &Bound<'_, PyAny>,
    ) -> Result<f64> {
        Ok(Sketch::expected_rate(cells_of("bits", bits)?, hashes_of(hashes)?, any_number_of(items)?))
    }

    /// How many bits there are.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.bits())
    }

    /// How many bits a key sets.
    #[getter]
    fn hashes(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.hashes())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, bits, hashes) = (self.keys(py), self.seed(py), self.bits(py), self.hashes(py));
        let items = self.0.detached(py, |sketch| sketch.items());
        format!("<Bloom bits={bits}, hashes={hashes}, keys='{keys}', seed={seed}: {items}>")
    }
}
