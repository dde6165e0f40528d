//! [`TableProfile`]: the profile of a whole table, and the joins of many tables.

use std::path::PathBuf;

use crivo::profile::drift::{ChangeValue, DriftRule, TableDrift};
use crivo::profile::join_search::{ColumnPlace, FoundPair, JoinRule, JoinSearch};
use crivo::profile::{
    Correlation, Dependency, Outliers, TableColumn, TableColumnSizes, TableProfile as Table, TextPattern,
};
use pyo3::call::PyCallArgs;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyList, PyType};

use super::ProfiledColumn;
use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::keys::{self, Stretch, scheme_of};
use crate::sketch::{INSERT, Reduced, Shared, common_methods};

/// The profile of a table: a `ProfiledColumn` of each column by its name, as a dictionary has them,
/// and the number of rows. `crivo.profile` makes one.
///
/// `save` writes the file that `crivo profile -o` writes, and `load` reads one. `merge` makes this
/// the profile of both tables, the rows of the other after those of this one. `compare` says what
/// changed since another.
///
/// >>> import crivo
/// >>> people = crivo.profile({"name": ["ana", "rui", None], "age": [31, 17, 44]})
/// >>> people.rows, list(people), people["name"].missing
/// (3, ['name', 'age'], 1)
#[pyclass(module = "crivo", frozen, mapping)]
#[derive(Debug)]
pub(crate) struct TableProfile(Shared<Table>);

common_methods!(TableProfile, Table);

/// A column that was left out, and why.
type LeftOut = (String, String);
/// The kind of a change, the value that changed, its old and its new state, the effect, and the
/// probability of the change by chance.
type Change<'py> = (&'static str, Option<String>, Bound<'py, PyAny>, Bound<'py, PyAny>, f64, f64);
/// A table by its number and a column by its name.
type Place = (u32, String);
/// Both columns, both shares, the common values, and whether each column could be a key.
type Join = (Place, Place, Estimate, Estimate, Estimate, bool, bool);
/// The pairs, the number of pairs, the number of undecided pairs, and the first of those.
type Found = (Vec<Join>, u64, u64, Vec<(Place, Place)>);

#[pymethods]
impl TableProfile {
    /// The profile of a table whose columns have these names and values, and the columns that were
    /// left out because a value has no text, with the reason. Each column takes at most `memory`
    /// bytes, from 42 KiB on. Unless told, all share 24 MiB, as they do on the command line.
    /// Profiles that will be merged have different numbers of their `part`, so that they draw
    /// independently.
    #[staticmethod]
    #[pyo3(signature = (columns, *, memory = None, seed = None, part = 0))]
    #[pyo3(text_signature = "(columns, *, memory=None, seed=0, part=0)")]
    #[allow(clippy::needless_pass_by_value)] // Python hands over a list
    fn of_columns(
        columns: Vec<(String, Bound<'_, PyAny>)>,
        memory: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        part: u64,
    ) -> Result<(Self, Vec<LeftOut>)> {
        let least = TableColumnSizes::LEAST_MEMORY;
        let allowed = format!("at least {least} bytes");
        let sizes = match memory {
            None => TableColumnSizes::for_table(TableColumnSizes::TABLE_MEMORY, columns.len()),
            Some(memory) => match setting("memory", memory, &allowed)? {
                memory if memory >= least => TableColumnSizes::for_memory(memory),
                found => {
                    return Err(Failure::Parameter(format!("memory: expected {allowed}, found {found}")));
                }
            },
        };
        let scheme = scheme_of("text", seed)?;
        let (mut profiled, mut left_out) = (Vec::<TableColumn>::new(), Vec::new());
        let mut salt = None;
        for (name, values) in &columns {
            let mut column = TableColumn::new(name, sizes, scheme)?;
            column.reseed(part);
            match fill(&mut column, values, &mut salt) {
                Ok(()) => {}
                Err(Failure::Key(reason)) => {
                    left_out.push((name.clone(), reason));
                    continue;
                }
                Err(failure) => return Err(failure),
            }
            let rows = |column: &TableColumn| column.data().profile.rows();
            if let Some(first) = profiled.first().filter(|first| rows(first) != rows(&column)) {
                let found =
                    format!("{} rows in '{}' and {} in '{name}'", rows(first), first.name(), rows(&column));
                return Err(Failure::Parameter(format!(
                    "table: expected columns of one length, found {found}"
                )));
            }
            profiled.push(column);
        }
        let rows = profiled.first().map_or(0, |column| column.data().profile.rows());
        Ok((Table::new(rows, scheme, profiled)?.into(), left_out))
    }

    /// The number of rows.
    #[getter]
    fn rows(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |table| table.rows())
    }

    /// How many bytes were read; 0 of a table that came from memory.
    #[getter]
    fn bytes_read(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |table| table.bytes)
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |table| table.memory())
    }

    /// The seed of the hash.
    #[getter]
    fn seed(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |table| table.scheme().seed())
    }

    /// Forgets a column, if there is one of that name.
    fn discard(&self, py: Python<'_>, name: &str) {
        self.0.quick(py, |table| table.discard(name));
    }

    /// Writes the profile to a file, whole or not at all: the same bytes as `crivo profile -o`.
    #[allow(clippy::needless_pass_by_value)] // Python hands over a path
    fn save(slf: &Bound<'_, Self>, path: PathBuf) -> Result<()> {
        let bytes = slf.get().to_bytes(slf.py());
        slf.py().import("crivo._table")?.call_method1("write_whole", (path, bytes))?;
        Ok(())
    }

    /// The profile in a file that `save` or `crivo profile -o` wrote.
    #[classmethod]
    #[allow(clippy::needless_pass_by_value)] // Python hands over a path
    fn load(cls: &Bound<'_, PyType>, path: PathBuf) -> Result<Self> {
        let bytes = cls.py().detach(|| std::fs::read(&path)).map_err(PyErr::from)?;
        Ok(cls.py().detach(|| Table::decode(&bytes))?.into())
    }

    /// What changed in this table since another, by more than chance: a `TableDrift`, which is true
    /// if anything did. If both come from the same source, anything is reported with a probability
    /// of at most `level`, over all columns and checks together. Changes with an effect below
    /// `min_effect` and columns in `ignore` are left out.
    #[pyo3(signature = (before, *, ignore = Vec::new(), min_effect = 0.0, level = 0.01))]
    #[pyo3(text_signature = "($self, before, *, ignore=(), min_effect=0.0, level=0.01)")]
    #[allow(clippy::needless_pass_by_value)] // Python hands over a list
    fn compare<'py>(
        &self,
        py: Python<'py>,
        before: &Bound<'py, Self>,
        ignore: Vec<String>,
        min_effect: f64,
        level: f64,
    ) -> Result<Bound<'py, PyAny>> {
        if !(0.0..=1.0).contains(&level) || min_effect.is_nan() {
            let found = format!("{level} and {min_effect}");
            return Err(Failure::Parameter(format!("level, min_effect: expected shares, found {found}")));
        }
        let rule = DriftRule { level, min_effect };
        let drift = self.0.with_other(py, &before.get().0, |after, before| {
            TableDrift::between(before, after, &rule, |column| ignore.iter().any(|name| name == column))
        });
        let side = |value: &ChangeValue| -> PyResult<Bound<'py, PyAny>> {
            Ok(match value {
                ChangeValue::Number(number) | ChangeValue::Share(number) => {
                    number.into_pyobject(py)?.into_any()
                }
                ChangeValue::Text(text) => text.into_pyobject(py)?.into_any(),
            })
        };
        let mut columns = Vec::new();
        for column in &drift.columns {
            let mut changes: Vec<Change<'py>> = Vec::new();
            for change in &column.changes {
                let (before, after) = (side(&change.before)?, side(&change.after)?);
                changes.push((
                    change.what.name(),
                    change.about.clone(),
                    before,
                    after,
                    change.effect,
                    change.p,
                ));
            }
            columns.push((column.name.clone(), changes));
        }
        let made = py.import("crivo._table")?;
        Ok(made.call_method1("drift_of", (columns, drift.added, drift.removed, drift.checks))?)
    }

    /// The pairs of columns that could join: of each pair the number of its tables and the names of
    /// its columns, which share of each one's values the other has, the common values, and whether
    /// each could be a key. Then how many pairs were found, how many are undecided, and the first
    /// of those. `crivo.joins` calls it.
    #[staticmethod]
    #[pyo3(signature = (profiles, least, needs_key, most))]
    #[allow(clippy::needless_pass_by_value)] // Python hands over a list
    fn find_joins(
        py: Python<'_>,
        profiles: Vec<Bound<'_, Self>>,
        least: f64,
        needs_key: bool,
        most: usize,
    ) -> Result<Found> {
        let rule = JoinRule { least, needs_key, most, ..JoinRule::default() };
        let mut search = JoinSearch::new(rule)?;
        for profile in &profiles {
            profile.get().0.detached(py, |table| search.add_profile(table))?;
        }
        let found = py.detach(|| search.search());
        let place = |place: ColumnPlace| (place.table, search.name(place).to_owned());
        let join = |pair: &FoundPair| {
            let shares = search.compare(pair);
            (
                place(pair.left),
                place(pair.right),
                shares.left_in_right.into(),
                shares.right_in_left.into(),
                shares.common.into(),
                search.is_key(pair.left),
                search.is_key(pair.right),
            )
        };
        let undecided = found.undecided_pairs.iter().map(|pair| (place(pair.left), place(pair.right)));
        Ok((found.joins.iter().map(join).collect(), found.found, found.undecided, undecided.collect()))
    }

    /// Standard deviation and skew of a column's finite numbers, exactly; each None if there are
    /// too few.
    fn spread<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let spread = self.column(py, name, TableColumn::spread)?;
        made(py, "Spread", (spread.standard_deviation, spread.skew))
    }

    /// How many of a column's finite numbers lie outside of Tukey's fences, which are one and a
    /// half times the distance of the quartiles away from them. None if both quartiles are the
    /// same, or there are no numbers.
    fn outliers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.column(py, name, TableColumn::outliers)?;
        let tuple = |found: Outliers| {
            let (below, above) = (Estimate::from(found.below), Estimate::from(found.above));
            made(py, "Outliers", (found.lower_fence, found.upper_fence, below, above))
        };
        found.map(tuple).transpose()
    }

    /// A column's finite numbers in at most `bars` bars of equal width, with bounds for each, and
    /// how many are below and above all bars: the bars end at the fences of `outliers`. None if
    /// there are no numbers.
    #[pyo3(signature = (name, bars = 20))]
    fn histogram<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        bars: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(found) = self.column(py, name, |column| column.histogram(bars.min(10_000)))? else {
            return Ok(None);
        };
        let bars: Vec<(f64, f64, Estimate)> =
            found.bars.iter().map(|bar| (bar.from, bar.to, bar.count.into())).collect();
        let beside = (Estimate::from(found.below), Estimate::from(found.above));
        Ok(Some(py.import("crivo._table")?.call_method1("histogram_of", (bars, beside.0, beside.1))?))
    }

    /// What the texts of a column look like, the most frequent first: `A` for a capital, `a` for
    /// another letter, `9` for a digit. The share of each is from the drawn rows, with bounds at 95
    /// %.
    #[pyo3(signature = (name, most = 5))]
    fn patterns<'py>(&self, py: Python<'py>, name: &str, most: usize) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let found = self.column(py, name, |column| column.patterns(most))?;
        let pattern = |found: TextPattern| {
            let example = String::from_utf8_lossy(&found.example).into_owned();
            made(py, "TextPattern", (found.pattern, example, Estimate::from(found.share)))
        };
        found.into_iter().map(pattern).collect()
    }

    /// The days in a column, in any of the usual formats: the formats with their counts, the first
    /// and the last day, and what is missing between. Exact. None if more than one value in twenty
    /// is no day.
    fn dates<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(found) = self.column(py, name, TableColumn::dates)? else { return Ok(None) };
        let formats: Vec<(&str, u64)> =
            found.formats.iter().map(|(format, count)| (format.name(), *count)).collect();
        let gaps = found.gaps.map(|gaps| (gaps.missing, gaps.longest));
        let facts = (formats, found.dates, found.others, found.range, gaps);
        Ok(Some(py.import("crivo._table")?.call_method1("dates_of", facts)?))
    }

    /// Pairs of columns of numbers that rise or fall together, the strongest first, by Spearman's
    /// correlation of the ranks in the drawn rows: exact while all rows are drawn, then with bounds
    /// at 95 %. Pearson's correlation of the numbers is told beside it.
    fn correlations<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (names, found) = self.0.detached(py, |table| (names_of(table), table.relations().correlations));
        let correlation = |found: &Correlation| {
            let (left, right) = (&names[found.left], &names[found.right]);
            let (ranks, pearson) =
                (Estimate::from(found.rank_correlation), found.pearson.map(Estimate::from));
            made(py, "Correlation", (left, right, ranks, found.rows, pearson))
        };
        found.iter().map(correlation).collect()
    }

    /// Columns of at most 64 values that decide the value of others, as a country its currency: the
    /// share of rows with the most frequent value of their group, from the drawn rows.
    fn dependencies<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (names, found) = self.0.detached(py, |table| (names_of(table), table.relations().dependencies));
        let dependency = |found: &Dependency| {
            let (from, to) = (&names[found.from], &names[found.to]);
            made(py, "Dependency", (from, to, Estimate::from(found.share), found.rows, found.exceptions))
        };
        found.iter().map(dependency).collect()
    }

    /// The names of the columns.
    fn keys(&self, py: Python<'_>) -> Vec<String> {
        self.0.quick(py, |table| table.columns().iter().map(|column| column.name().to_owned()).collect())
    }

    /// The columns.
    fn values(&self, py: Python<'_>) -> Vec<ProfiledColumn> {
        let columns =
            |table: &mut Table| table.columns().iter().map(|column| column.data().clone()).collect();
        let columns: Vec<_> = self.0.detached(py, columns);
        columns.into_iter().map(ProfiledColumn::from).collect()
    }

    /// The names and the columns.
    fn items(&self, py: Python<'_>) -> Vec<(String, ProfiledColumn)> {
        self.keys(py).into_iter().zip(self.values(py)).collect()
    }

    fn __getitem__(&self, py: Python<'_>, name: &str) -> PyResult<ProfiledColumn> {
        let found = self.0.detached(py, |table| {
            table.columns().iter().find(|column| column.name() == name).map(|column| column.data().clone())
        });
        found.map(ProfiledColumn::from).ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    fn __contains__(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>().is_ok_and(|name| self.keys(py).contains(&name))
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.keys(py))?.try_iter()
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |table| table.columns().len())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<TableProfile: {} rows, {} columns>", self.rows(py), self.__len__(py))
    }

    /// What a notebook shows: a table with a row for each column, in the colours of the notebook.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("crivo._table")?.call_method1("profile_html", (slf,))
    }
}

impl TableProfile {
    /// Calls `ask` with the first column of a name.
    fn column<T: Send>(
        &self,
        py: Python<'_>,
        name: &str,
        ask: impl FnOnce(&TableColumn) -> T + Send,
    ) -> PyResult<T> {
        let found =
            self.0.detached(py, |table| table.columns().iter().find(|column| column.name() == name).map(ask));
        found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

/// Makes a named tuple of `crivo._table`.
fn made<'py>(py: Python<'py>, class: &str, fields: impl PyCallArgs<'py>) -> PyResult<Bound<'py, PyAny>> {
    py.import("crivo._table")?.getattr(class)?.call1(fields)
}

fn names_of(table: &Table) -> Vec<String> {
    table.columns().iter().map(|column| column.name().to_owned()).collect()
}

/// Adds all values to a column. The salt for the drawing of rows is the hash of the first value of
/// the first column, as on the command line.
fn fill(column: &mut TableColumn, values: &Bound<'_, PyAny>, salt: &mut Option<u64>) -> Result<()> {
    let scheme = column.data().profile.scheme();
    let mut rows = Vec::new();
    let mut take = |stretch: Stretch<'_>| {
        stretch.rows(column.data().profile.rows() + 1, &mut rows);
        column.add_missing(stretch.gaps().len() as u64);
        let salt = *salt.get_or_insert_with(|| match rows.first() {
            Some(1) => stretch.keys.hashes()[0],
            _ => 0,
        });
        Ok(column.insert_batch_salted(&stretch.keys, salt, |at| rows[at])?)
    };
    keys::take_keys(values, scheme, &INSERT, &mut take)?;
    salt.get_or_insert(0);
    Ok(())
}
