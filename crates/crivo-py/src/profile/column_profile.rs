//! [`ColumnProfile`]: the profile of a column, made in one pass.

use crivo::Confidence;
use crivo::keys::{KeyRef, KeyScheme};
use crivo::profile::{ColumnProfile as Sketch, Kind, ProfileConfig, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::DDSketch;
use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::frequency::HeavyHitters;
use crate::frequency::hitter::{hitter, hitters};
use crate::keys::{self, Stretch, scheme_of, to_python};
use crate::sketch::{INSERT, Reduced, Shared, common_methods};

/// What is in a column, in one pass and a fixed amount of memory: its type, what is missing, how
/// many different values, which most often, the least, greatest and mean, quantiles, a sample, and
/// whether it could be a key.
///
/// `for_memory` chooses sizes that stay within `memory` bytes. Profiles of parts merge to that of
/// the whole, if their sizes and `seed` are the same; give each part another `sample_seed`. Values
/// are taken by their texts: the integer 12 and the text "12" are the same.
///
/// >>> from crivo import ColumnProfile
/// >>> ages = ColumnProfile.for_memory(64 * 1024)
/// >>> ages.insert_batch([31, 17, None, 44, 31, 8, None])
/// 2
/// >>> ages.column_type, ages.rows, ages.missing, ages.min(), ages.mean()
/// ('integer', 7, 2, 8, 26.2)
/// >>> (most,) = ages.top(1)
/// >>> ages.distinct().value, most.key, ages.could_be_key()
/// (4.0, '31', False)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct ColumnProfile(Shared<Sketch>);

common_methods!(ColumnProfile, Sketch);

#[pymethods]
impl ColumnProfile {
    #[new]
    #[pyo3(signature = (
        *, precision = None, counters = None, sample = None, accuracy = None, bins = None, longest = None,
        seed = None, sample_seed = None
    ))]
    #[pyo3(text_signature = "(*, precision=12, counters=666, sample=100, accuracy=0.01, bins=2048, \
        longest=128, seed=0, sample_seed=0)")]
    #[allow(clippy::too_many_arguments)] // they are named by the caller
    fn new(
        precision: Option<&Bound<'_, PyAny>>,
        counters: Option<&Bound<'_, PyAny>>,
        sample: Option<&Bound<'_, PyAny>>,
        accuracy: Option<f64>,
        bins: Option<&Bound<'_, PyAny>>,
        longest: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        sample_seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let usual = ProfileConfig::default();
        let size = |name, given: Option<&Bound<'_, PyAny>>, usual| {
            given.map_or(Ok(usual), |given| setting(name, given, "a size that the part can have"))
        };
        let precision = size("precision", precision, usual.precision.into())?;
        let config = ProfileConfig {
            precision: u8::try_from(precision).unwrap_or(u8::MAX),
            counters: size("counters", counters, usual.counters)?,
            sample: size("sample", sample, usual.sample)?,
            accuracy: accuracy.unwrap_or(usual.accuracy),
            bins: size("bins", bins, usual.bins)?,
            longest: size("longest", longest, usual.longest)?,
        };
        build(config, seed, sample_seed)
    }

    /// An empty profile that never takes more than `memory` bytes, from 16 KiB on, with the largest
    /// parts for that.
    #[staticmethod]
    #[pyo3(signature = (memory, *, seed = None, sample_seed = None))]
    #[pyo3(text_signature = "(memory, *, seed=0, sample_seed=0)")]
    fn for_memory(
        memory: &Bound<'_, PyAny>,
        seed: Option<&Bound<'_, PyAny>>,
        sample_seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let memory = setting("memory", memory, "at least 16384 bytes")?;
        build(ProfileConfig::for_memory(memory)?, seed, sample_seed)
    }

    /// Takes one value, which is not missing. Empty text is a value here; in
    /// `insert_batch` it is missing.
    fn insert(&self, value: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_key(value, &INSERT, |profile, key| match key {
            KeyRef::Bytes(text) => profile.insert_bytes(text),
            _ => Ok(()),
        })
    }

    /// Takes many values and returns how many of them are missing (None, NaN, null, empty text),
    /// which are counted too.
    ///
    /// `values` is a list or other iterable, a NumPy array, or a column of anything that speaks the
    /// Arrow interface, which is read in place and without the GIL.
    fn insert_batch(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> Result<u64> {
        let mut take = |stretch: Stretch<'_>| {
            let missing = stretch.values() - stretch.keys.len();
            Ok(self.0.locked(|profile| {
                profile.add_missing(missing as u64);
                profile.insert_batch(&stretch.keys)
            })?)
        };
        keys::take_keys(values, self.0.scheme(py), &INSERT, &mut take)
    }

    /// Counts rows without a value.
    fn add_missing(&self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> Result<()> {
        let rows = setting("rows", rows, "0 to 2^64 - 1")?;
        self.0.quick(py, |profile| profile.add_missing(rows));
        Ok(())
    }

    /// How many rows there were, with a value or without.
    #[getter]
    fn rows(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |profile| profile.rows())
    }

    /// How many rows had no value.
    #[getter]
    fn missing(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |profile| profile.missing())
    }

    /// How many rows had a value.
    #[getter]
    fn values(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |profile| profile.values())
    }

    /// How many values are of a kind: "boolean", "integer", "float", "date", "timestamp" or "text".
    fn count_of(&self, py: Python<'_>, kind: &str) -> Result<u64> {
        let kind = kind_of(kind)?;
        Ok(self.0.quick(py, |profile| profile.count_of(kind)))
    }

    /// The type that all values have: "boolean", "integer", "float", "date", "timestamp", "text",
    /// or "empty" if there are none.
    #[getter]
    fn column_type(&self, py: Python<'_>) -> &'static str {
        self.0.quick(py, |profile| profile.column_type().name())
    }

    /// How many values were longer than `longest` bytes: they are in every answer but the most
    /// frequent values.
    #[getter]
    fn long(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |profile| profile.long())
    }

    /// The length of the shortest value in characters, the mean length, and that of the longest.
    /// None if there are no values.
    fn lengths(&self, py: Python<'_>) -> Option<(u64, f64, u64)> {
        let lengths = self.0.quick(py, |profile| profile.lengths())?;
        Some((lengths.min, lengths.mean, lengths.max))
    }

    /// How many different values there are, with bounds at the given confidence; exact while they
    /// are few.
    #[pyo3(signature = (confidence = 0.95))]
    fn distinct(&self, py: Python<'_>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        Ok(self.0.detached(py, |profile| profile.distinct_at(confidence)).into())
    }

    /// Whether all rows may have values that are all different.
    fn could_be_key(&self, py: Python<'_>) -> bool {
        self.0.detached(py, |profile| profile.could_be_key())
    }

    /// The most frequent values, with certain bounds for each.
    fn top<'py>(&self, py: Python<'py>, count: &Bound<'_, PyAny>) -> Result<Vec<Bound<'py, PyAny>>> {
        let count = setting("count", count, "0 or more")?;
        let top = self.0.detached(py, |profile| profile.top(count));
        Ok(hitters(py, &top)?)
    }

    /// The only value that can be more than half of all, with certain bounds; None if there is
    /// none.
    fn majority<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let majority = self.0.detached(py, |profile| profile.majority());
        Ok(majority.map(|majority| hitter(py, &majority)).transpose()?)
    }

    /// A uniform sample of the values, in no order, as text, each cut to `longest` bytes.
    fn sample<'py>(&self, py: Python<'py>) -> Result<Vec<Bound<'py, PyAny>>> {
        let keys: Vec<_> = self.0.detached(py, |profile| profile.sample().map(KeyRef::to_owned).collect());
        Ok(keys.iter().map(|key| to_python(py, key.as_ref())).collect::<PyResult<_>>()?)
    }

    /// Returns the least value. In a column of numbers it is the least finite number, otherwise the
    /// first value in byte order, cut to `longest` bytes. Returns None if there is no such value.
    fn min<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let least = self.0.quick(py, |profile| profile.min());
        Ok(least.map(|value| value_to_python(py, &value)).transpose()?)
    }

    /// The greatest value, as `min`.
    fn max<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let greatest = self.0.quick(py, |profile| profile.max());
        Ok(greatest.map(|value| value_to_python(py, &value)).transpose()?)
    }

    /// The sum of all numbers in the column, rounded once. None if there is no number.
    fn sum(&self, py: Python<'_>) -> Option<f64> {
        self.0.quick(py, |profile| profile.sum())
    }

    /// The mean of all numbers in the column. None if there is no number.
    fn mean(&self, py: Python<'_>) -> Option<f64> {
        self.0.quick(py, |profile| profile.mean())
    }

    /// A quantile of the numbers in the column, with certain bounds: see `DDSketch.quantile`.
    fn quantile(&self, py: Python<'_>, share: f64) -> Option<Estimate> {
        self.0.detached(py, |profile| profile.quantile(share)).map(Into::into)
    }

    /// The sketch of all numbers in the column, also if there are other values.
    fn numbers(&self, py: Python<'_>) -> DDSketch {
        self.0.detached(py, |profile| profile.numbers().clone()).into()
    }

    /// The sketch of the most frequent values.
    fn heavy_hitters(&self, py: Python<'_>) -> HeavyHitters {
        self.0.detached(py, |profile| profile.heavy_hitters().clone()).into()
    }

    /// The sizes of the parts, by the names that the constructor has for them.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> Result<Bound<'py, pyo3::types::PyDict>> {
        let config = self.0.quick(py, |profile| profile.config());
        let sizes = pyo3::types::PyDict::new(py);
        sizes.set_item("precision", config.precision)?;
        sizes.set_item("counters", config.counters)?;
        sizes.set_item("sample", config.sample)?;
        sizes.set_item("accuracy", config.accuracy)?;
        sizes.set_item("bins", config.bins)?;
        sizes.set_item("longest", config.longest)?;
        Ok(sizes)
    }

    /// The seed of the hash.
    #[getter]
    fn seed(&self, py: Python<'_>) -> u64 {
        self.0.scheme(py).seed()
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |profile| profile.memory())
    }

    /// Whether there were no rows. (A sketch without a length is always true, as objects are.)
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |profile| profile.is_empty())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (kind, rows, missing) = (self.column_type(py), self.rows(py), self.missing(py));
        format!("<ColumnProfile {kind}: {rows} rows, {missing} missing>")
    }
}

fn build(
    config: ProfileConfig,
    seed: Option<&Bound<'_, PyAny>>,
    sample_seed: Option<&Bound<'_, PyAny>>,
) -> Result<ColumnProfile> {
    let scheme: KeyScheme = scheme_of("text", seed)?;
    let draws = sample_seed.map_or(Ok(0), |seed| setting("sample_seed", seed, "0 to 2^64 - 1"))?;
    Ok(ColumnProfile(Shared::new(Sketch::with_scheme(config, scheme, draws)?)))
}

fn kind_of(name: &str) -> Result<Kind> {
    match name {
        "boolean" => Ok(Kind::Boolean),
        "integer" => Ok(Kind::Integer),
        "float" => Ok(Kind::Float),
        "date" => Ok(Kind::Date),
        "timestamp" => Ok(Kind::Timestamp),
        "text" => Ok(Kind::Text),
        _ => {
            let kinds = "'boolean', 'integer', 'float', 'date', 'timestamp' or 'text'";
            Err(Failure::Parameter(format!("kind: expected {kinds}, found '{name}'")))
        }
    }
}

fn value_to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Integer(integer) => integer.into_pyobject(py)?.into_any(),
        Value::Float(float) => float.into_pyobject(py)?.into_any(),
        Value::Text(text) => to_python(py, KeyRef::Bytes(text))?,
    })
}
