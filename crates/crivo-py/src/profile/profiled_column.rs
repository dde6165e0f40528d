//! [`ProfiledColumn`]: all sketches of one column of a table.

use crivo::profile::{ColumnSizes, ProfiledColumn as Column};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{ColumnProfile, DistinctGrowth, NearDuplicateShare};
use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::keys::{self, Stretch, scheme_of};
use crate::sketch::{INSERT, Reduced, Shared};

/// The result of `joins`: the verdict, the common values, and the share of each column that the
/// other has.
type Join = (&'static str, Estimate, Estimate, Estimate);
/// The bytes of the three parts.
type Parts<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);

/// Methods of a `ColumnProfile` that would change or write a copy of the profile instead of the
/// column.
const NOT_OF_THE_COLUMN: [&str; 6] =
    ["insert", "add_missing", "copy", "to_bytes", "from_bytes", "for_memory"];

/// All that is kept of one column of a table: its `ColumnProfile`, the growth of its different
/// values, and the share of its near-duplicates. `crivo.profile` makes one for each column.
///
/// It has the questions of `ColumnProfile` too: `column.mean()` is `column.profile.mean()`. Takes
/// at most `memory` bytes, from 24 KiB on, 1.25 MiB unless told.
///
/// >>> from crivo import ProfiledColumn
/// >>> city = ProfiledColumn()
/// >>> city.insert_batch(["Porto", "Lisboa", "Porto", None])
/// 1
/// >>> city.distinct().value, city.could_be_key(), city.missing
/// (2.0, False, 1)
/// >>> [point.value for point in city.growth_at([1, 2, 3, 4])]
/// [1.0, 2.0, 2.0, 2.0]
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct ProfiledColumn(Shared<Column>);

impl From<Column> for ProfiledColumn {
    fn from(column: Column) -> Self {
        Self(Shared::new(column))
    }
}

#[pymethods]
impl ProfiledColumn {
    #[new]
    #[pyo3(signature = (*, memory = None, seed = None))]
    #[pyo3(text_signature = "(*, memory=1310720, seed=0)")]
    fn new(memory: Option<&Bound<'_, PyAny>>, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let least = ColumnSizes::LEAST_MEMORY;
        let allowed = format!("at least {least} bytes");
        let memory = match memory {
            Some(memory) => setting("memory", memory, &allowed)?,
            None => ColumnSizes::MOST_MEMORY,
        };
        if memory < least {
            return Err(Failure::Parameter(format!("memory: expected {allowed}, found {memory}")));
        }
        let column = Column::new(ColumnSizes::for_memory(memory), scheme_of("text", seed)?)?;
        Ok(Self(Shared::new(column)))
    }

    /// Takes the values of the next rows and returns how many of them are missing (None, NaN, null,
    /// empty text), which are counted too.
    fn insert_batch(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> Result<u64> {
        let mut rows = Vec::new();
        let mut take = |stretch: Stretch<'_>| {
            let missing = stretch.gaps().len();
            Ok(self.0.locked(|column| {
                stretch.rows(column.profile.rows() + 1, &mut rows);
                column.profile.add_missing(missing as u64);
                column.insert_batch(&stretch.keys, |at| rows[at])
            })?)
        };
        let scheme = self.0.quick(py, |column| column.profile.scheme());
        keys::take_keys(values, scheme, &INSERT, &mut take)
    }

    /// Derives a new random seed for the sample of values from the current one and `part`.
    fn reseed(&self, py: Python<'_>, part: &Bound<'_, PyAny>) -> Result<()> {
        let part = setting("part", part, "0 to 2^64 - 1")?;
        self.0.quick(py, |column| column.reseed(part));
        Ok(())
    }

    /// Makes this the column of both parts of a table. The rows of `other` follow those of this
    /// one.
    fn append(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
        Ok(self.0.with_other(py, &other.get().0, |mine, theirs| mine.append(theirs.clone()))?)
    }

    /// A copy of what is in the column.
    #[getter]
    fn profile(&self, py: Python<'_>) -> ColumnProfile {
        self.0.detached(py, |column| column.profile.clone()).into()
    }

    /// A copy of the growth of its different values.
    #[getter]
    fn growth(&self, py: Python<'_>) -> DistinctGrowth {
        self.0.detached(py, |column| column.growth.clone()).into()
    }

    /// A copy of the sample of its documents. None if there was no memory for enough of them.
    #[getter]
    fn near_duplicates(&self, py: Python<'_>) -> Option<NearDuplicateShare> {
        self.0.detached(py, |column| column.near_duplicates.clone()).map(NearDuplicateShare::from)
    }

    /// The number of different values, with bounds at 95 %. The interval of a column that could be
    /// a key reaches the number of its rows.
    fn distinct(&self, py: Python<'_>) -> Estimate {
        self.0.detached(py, |column| column.distinct()).into()
    }

    /// Whether all rows may have values that are all different.
    fn could_be_key(&self, py: Python<'_>) -> bool {
        self.0.detached(py, |column| column.could_be_key())
    }

    /// The number of different values up to each of these rows, numbered from 1, with bounds at 95
    /// %.
    #[allow(clippy::needless_pass_by_value)] // Python hands over a list
    fn growth_at(&self, py: Python<'_>, rows: Vec<u64>) -> Vec<Estimate> {
        let curve = self.0.detached(py, |column| column.growth.growth(&rows));
        curve.into_iter().map(Estimate::from).collect()
    }

    /// The share of documents with a near-duplicate, with bounds at 95 %. None without documents.
    fn near_duplicate_share(&self, py: Python<'_>) -> Option<Estimate> {
        self.0.detached(py, |column| column.near_duplicate_share()).map(Estimate::from)
    }

    /// Whether this column and another could join: "joins", "undecided" or "no", how many different
    /// values both have, which share of this column's values the other has, and which share of the
    /// other's this one has. None if the pair is not worth comparing: values of different kinds, or
    /// neither could be a key and the names differ.
    #[pyo3(signature = (other, *, same_name = false))]
    fn joins(&self, py: Python<'_>, other: &Bound<'_, Self>, same_name: bool) -> Result<Option<Join>> {
        let found = self.0.with_other(py, &other.get().0, |mine, theirs| {
            mine.join_column()?.compare(&theirs.join_column()?, same_name)
        })?;
        Ok(found.map(|found| {
            let [common, forth, back] = [found.common, found.left_in_right, found.right_in_left];
            (found.verdict.name(), common.into(), forth.into(), back.into())
        }))
    }

    /// The bytes of the three parts, each the contents of a `.crivo` file.
    fn to_parts<'py>(&self, py: Python<'py>) -> Parts<'py> {
        let (profile, growth, documents) = self.0.detached(py, |column| {
            let documents = column.near_duplicates.as_ref().map(crivo::profile::NearDuplicateShare::encode);
            (column.profile.encode(), column.growth.encode(), documents)
        });
        let bytes = |bytes: &Vec<u8>| PyBytes::new(py, bytes);
        (bytes(&profile), bytes(&growth), documents.as_ref().map(bytes))
    }

    /// The column that the bytes of its parts hold.
    #[classmethod]
    #[pyo3(signature = (profile, growth, near_duplicates = None))]
    fn from_parts(
        _cls: &Bound<'_, PyType>,
        profile: &Bound<'_, PyAny>,
        growth: &Bound<'_, PyAny>,
        near_duplicates: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let decode = |data: &Bound<'_, PyAny>| -> Result<_> {
            Ok(crivo::profile::NearDuplicateShare::decode(&keys::bytes_of(data)?)?)
        };
        Ok(Self(Shared::new(Column {
            profile: crivo::profile::ColumnProfile::decode(&keys::bytes_of(profile)?)?,
            growth: crivo::profile::DistinctGrowth::decode(&keys::bytes_of(growth)?)?,
            near_duplicates: near_duplicates.map(decode).transpose()?,
        })))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, Parts<'py>>> {
        Ok((slf.get_type().getattr("from_parts")?, slf.get().to_parts(slf.py())))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> bool {
        self.0.with_other(py, &other.get().0, |mine, theirs| mine == theirs)
    }

    /// The questions of the profile.
    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        if name.starts_with('_') || NOT_OF_THE_COLUMN.contains(&name) {
            return Err(PyAttributeError::new_err(format!("a ProfiledColumn has no '{name}'")));
        }
        Bound::new(slf.py(), slf.get().profile(slf.py()))?.into_any().getattr(name)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let facts = self.0.quick(py, |column| {
            let profile = &column.profile;
            (profile.column_type().name(), profile.rows(), profile.missing())
        });
        format!("<ProfiledColumn {}: {} rows, {} missing>", facts.0, facts.1, facts.2)
    }
}
