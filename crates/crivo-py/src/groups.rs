//! [`Groups`]: one sketch for each group.

use crivo::codec::AnySketch;
use crivo::groups::Groups as LibraryGroups;
use crivo::keys::KeyRef;
use crivo::sketch::InsertKeys as _;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyString, PyType};

use crate::any;
use crate::errors::{Failure, Result, setting_in};
use crate::keys::{Stretch, bytes_of, take_keys, take_numbers, to_python};
use crate::sketch::{INSERT, Reduced, Shared, sketch_methods};

type Sketch = LibraryGroups<AnySketch>;

/// One sketch for each group, all of the same kind: what `crivo count --by` writes. A small group
/// takes a few words of memory, a large one as much as its sketch.
///
/// Every group begins as the given empty sketch. The key of a group is a text, or bytes; `fields`
/// is the number of values that the key is made of. Merging merges group by group.
///
/// >>> from crivo import Groups, HyperLogLog
/// >>> visitors = Groups(HyperLogLog(12))
/// >>> visitors.insert_batch("/", ["ana", "rui", "ana"]), visitors.insert_batch("/help", ["ana"])
/// (0, 0)
/// >>> len(visitors), "/" in visitors, visitors.get("/"), visitors.get("/none")
/// (2, True, <HyperLogLog precision=12, keys='text', seed=0: 2>, None)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct Groups(Shared<Sketch>);

sketch_methods!(Groups, Sketch);

/// Returns the key of a group: text as UTF-8, or bytes.
fn group_of(group: &Bound<'_, PyAny>) -> Result<Vec<u8>> {
    if let Ok(text) = group.cast::<PyString>() {
        return Ok(text.to_str()?.as_bytes().to_vec());
    }
    match bytes_of(group) {
        Ok(bytes) => Ok(bytes.into_owned()),
        Err(_) => Err(Failure::key("a group, as text or bytes", group.get_type().name()?, "")),
    }
}

#[pymethods]
impl Groups {
    #[new]
    #[pyo3(signature = (sketch, *, fields = None))]
    #[pyo3(text_signature = "(sketch, *, fields=1)")]
    fn new(sketch: &Bound<'_, PyAny>, fields: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let fields = fields.map_or(Ok(1), |fields| setting_in("fields", fields, 1..=255))? as u8;
        Ok(Self(Shared::new(Sketch::new(any::from_python(sketch)?, fields)?)))
    }

    /// Adds many keys, or numbers to sketches of numbers, to a group. Creates the group if there is
    /// none. Returns the number of missing values that were skipped. `values` is whatever the
    /// sketch's own `insert_batch` takes.
    fn insert_batch(
        &self,
        py: Python<'_>,
        group: &Bound<'_, PyAny>,
        values: &Bound<'_, PyAny>,
    ) -> Result<u64> {
        let group = group_of(group)?;
        let takes_numbers = self.0.quick(py, |groups| groups.kind().empty().clone().numbers_mut().is_ok());
        if takes_numbers {
            let mut take = |numbers: &[f64], _: &[usize]| {
                let insert = |sketch: &mut AnySketch| {
                    sketch.numbers_mut()?.insert_numbers(numbers);
                    Ok(())
                };
                Ok(self.0.locked(|groups| groups.update(&group, insert))?)
            };
            return take_numbers(values, INSERT.so_far, &mut take);
        }
        let mut take = |stretch: Stretch<'_>| {
            let insert = |sketch: &mut AnySketch| sketch.insert_batch(&stretch.keys);
            Ok(self.0.locked(|groups| groups.update(&group, insert))?)
        };
        take_keys(values, self.0.scheme(py), &INSERT, &mut take)
    }

    /// The current sketch of a group. None if there is no such group.
    fn get<'py>(&self, py: Python<'py>, group: &Bound<'_, PyAny>) -> Result<Option<Bound<'py, PyAny>>> {
        let group = group_of(group)?;
        let sketch = self.0.detached(py, |groups| groups.get(&group));
        sketch.map(|sketch| any::to_python(py, sketch)).transpose()
    }

    fn __contains__(&self, py: Python<'_>, group: &Bound<'_, PyAny>) -> Result<bool> {
        let group = group_of(group)?;
        Ok(self.0.quick(py, |groups| groups.get(&group).is_some()))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |groups| groups.len())
    }

    /// Iterates over the keys of the current groups, in the order in which they are stored: text as
    /// str, or as bytes if it is not UTF-8.
    fn __iter__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyIterator>> {
        let copies = |groups: &mut Sketch| -> Vec<Vec<u8>> {
            groups.iter().map(|(group, _)| group.to_vec()).collect()
        };
        let groups = self.0.detached(py, copies);
        let of = |group: &Vec<u8>| to_python(py, KeyRef::Bytes(group));
        let groups = groups.iter().map(of).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, groups)?.try_iter()?)
    }

    /// The empty sketch that every group begins as.
    #[getter]
    fn sketch<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        any::to_python(py, self.0.quick(py, |groups| groups.kind().empty().clone()))
    }

    /// The number of values that the key of a group is made of.
    #[getter]
    fn fields(&self, py: Python<'_>) -> u8 {
        self.0.quick(py, |groups| groups.kind().fields())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (family, groups) = self.0.quick(py, |groups| (groups.kind().empty().family(), groups.len()));
        format!("<Groups of {family}: {groups}>")
    }
}
