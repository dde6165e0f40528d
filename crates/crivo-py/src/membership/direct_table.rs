//! The direct table.

use crivo::membership::DirectTable as Sketch;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyType};

use super::CONTAINS;
use crate::errors::{Result, setting_in};
use crate::estimate::Estimate;
use crate::keys::{self, Verb, scheme_of};
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, sketch_methods};

/// A set of integers from 0 to below `universe`, one bit for each that there could be: exact, and
/// without false positives. `|`, `&` and `-` unite, intersect and subtract.
///
/// Nothing is hashed: `seed` is only a label, and sets with different ones cannot be combined.
///
/// >>> from crivo import DirectTable
/// >>> ana, rui = DirectTable(1682), DirectTable(1682)
/// >>> ana.insert_batch([3, 50, 181, 1681]), rui.insert_batch([50, 181])
/// (0, 0)
/// >>> ana.jaccard(rui)
/// 0.5
/// >>> list(ana - rui), len(ana), 50 in rui
/// ([3, 1681], 4, True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct DirectTable(Shared<Sketch>);

sketch_methods!(DirectTable, Sketch);
insert_batch_method!(DirectTable);

/// The method that removes one integer. Many are removed as a set.
static REMOVE: Verb = Verb { one: "remove", many: "", hashes: "", so_far: "" };

#[pymethods]
impl DirectTable {
    #[new]
    #[pyo3(signature = (universe, *, seed = None))]
    #[pyo3(text_signature = "(universe, *, seed=0)")]
    fn new(universe: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let universe = setting_in("universe", universe, Sketch::UNIVERSES)?;
        Ok(Self(Shared::new(Sketch::with_scheme(universe, scheme_of("int", seed)?)?)))
    }

    /// Adds one integer; True if it is new. `IncompatibleError` if it is not below the universe;
    /// `KeyTypeError` if it is no integer.
    ///
    /// >>> ports = DirectTable(65_536)
    /// >>> ports.insert(443), ports.insert(443)
    /// (True, False)
    /// >>> ports.insert(-1)
    /// Traceback (most recent call last):
    /// ...
    /// crivo.errors.IncompatibleError: key: expected an integer of the universe, 0 to 65535, ...
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
        self.0.with_integer(key, &INSERT, |sketch, integer| sketch.insert(&integer))
    }

    /// Takes one integer out. `AbsentError` if it is not in the set.
    fn remove(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_integer(key, &REMOVE, |sketch, integer| sketch.remove(&integer))
    }

    /// Whether the integer is in the set; `key in table` asks the same. One outside the universe is
    /// not.
    fn contains(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
        self.0.with_integer(key, &CONTAINS, |sketch, integer| sketch.contains(&integer))
    }

    fn __contains__(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
        self.contains(key)
    }

    /// Whether each of many integers is in the set, as an array with an answer for every value, in
    /// their order. `values` is whatever `insert_batch` takes; missing values are not in there.
    fn contains_batch<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'_, PyAny>,
    ) -> Result<Bound<'py, PyArray1<bool>>> {
        self.0.ask_all(py, keys::take_keys, values, &CONTAINS, Sketch::contains_batch)
    }

    /// Keeps what is in both sets. `IncompatibleError`, and no change, if universe or seed differ.
    fn intersect(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
        Ok(self.0.with_other(py, &other.get().0, Sketch::intersect)?)
    }

    /// Takes out what is in the other set, which may hold more than that. `IncompatibleError`, and
    /// no change, if universe or seed differ.
    fn subtract(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
        Ok(self.0.with_other(py, &other.get().0, Sketch::subtract)?)
    }

    /// The Jaccard similarity, |A ∩ B| / |A ∪ B|: 1.0 for equal sets, two empty ones among them,
    /// and 0.0 for sets that share nothing.
    fn jaccard(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<f64> {
        Ok(self.0.with_other(py, &other.get().0, |mine, theirs| mine.jaccard(theirs))?)
    }

    fn __and__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Self> {
        let shared = self.copy(py);
        shared.intersect(py, other)?;
        Ok(shared)
    }

    fn __iand__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
        self.intersect(py, other)
    }

    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Self> {
        let rest = self.copy(py);
        rest.subtract(py, other)?;
        Ok(rest)
    }

    fn __isub__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
        self.subtract(py, other)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |sketch| sketch.len()) as usize
    }

    /// The integers as they are now, ascending: the set may change while they are used.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_numpy(py).call_method0("tolist")?.try_iter()
    }

    /// The integers of the set, ascending, as an array.
    fn to_numpy<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_vec(py, self.0.detached(py, |sketch| sketch.iter().collect()))
    }

    /// The number of integers in the set, as every sketch says it: exact here.
    fn items(&self, py: Python<'_>) -> Estimate {
        self.0.quick(py, |sketch| sketch.items()).into()
    }

    /// The integers that can be in the set are those below this.
    #[getter]
    fn universe(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.universe())
    }

    /// The share of the universe that is in the set.
    #[getter]
    fn fill(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |sketch| sketch.fill())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (universe, seed) = (self.universe(py), self.seed(py));
        let items = self.0.quick(py, |sketch| sketch.items());
        format!("<DirectTable universe={universe}, seed={seed}: {items}>")
    }
}
