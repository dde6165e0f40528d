//! The counting Bloom filter.

use crivo::Confidence;
use crivo::membership::{CounterBits, CountingBloom as Sketch};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{any_number_of, cells_of, filter_methods, hashes_of, items_of};
use crate::errors::{Result, setting};
use crate::estimate::Estimate;
use crate::keys::{self, Stretch, Verb, scheme_of};
use crate::sketch::{
    INSERT, Reader, Reduced, Shared, insert_batch_method, insert_hashes_method, sketch_methods,
};

/// Remembers keys as `Bloom` does, counts them and lets them be removed again: `cells` counters of
/// `counter_bits` bits (4, 8, 16 or 32), `hashes` of them for each key. `for_items` finds the size.
///
/// Only remove what was inserted: removing a key that never was is refused where it can be noticed,
/// and otherwise does harm to other keys. A counter at its largest value is saturated and never
/// lowered again. `|` adds the counts of two filters, `-` takes them out and `&` keeps the lower
/// ones.
///
/// `keys` and `seed` are as for `HyperLogLog`.
///
/// >>> from crivo import CountingBloom
/// >>> senders = CountingBloom.for_items(100_000, 0.001)
/// >>> senders.insert_batch(["ana", "rui", None, "ana"])
/// 1
/// >>> senders.count("ana").value
/// 2.0
/// >>> senders.remove("rui")
/// >>> "ana" in senders, "rui" in senders
/// (True, False)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct CountingBloom(Shared<Sketch>);

sketch_methods!(CountingBloom, Sketch);
insert_batch_method!(CountingBloom);
insert_hashes_method!(CountingBloom);
filter_methods!(CountingBloom, Sketch);

/// The methods that remove keys.
static REMOVE: Verb =
    Verb { one: "remove", many: "remove_batch", hashes: "remove_hashes", so_far: "nothing was removed" };

/// The methods that count keys.
static COUNT: Verb = Verb { one: "count", many: "", hashes: "count_hash", so_far: "" };

#[pymethods]
impl CountingBloom {
    #[new]
    #[pyo3(signature = (cells, hashes, counter_bits = None, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(cells, hashes, counter_bits=8, *, keys='text', seed=0)")]
    fn new(
        cells: &Bound<'_, PyAny>,
        hashes: &Bound<'_, PyAny>,
        counter_bits: Option<&Bound<'_, PyAny>>,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let (cells, hashes, width) = (cells_of("cells", cells)?, hashes_of(hashes)?, width_of(counter_bits)?);
        Ok(Self(Shared::new(Sketch::with_scheme(cells, hashes, width, scheme_of(keys, seed)?)?)))
    }

    /// An empty filter of the smallest size that has the wanted false-positive rate with `items`
    /// different keys.
    ///
    /// >>> senders = CountingBloom.for_items(1_000_000, 0.01, counter_bits=4)
    /// >>> senders.cells, senders.hashes, senders.counter_bits, senders.capacity
    /// (9592955, 7, 4, 1000000)
    #[staticmethod]
    #[pyo3(signature = (items, rate, *, counter_bits = None, keys = "text", seed = None))]
    #[pyo3(text_signature = "(items, rate, *, counter_bits=8, keys='text', seed=0)")]
    fn for_items(
        items: &Bound<'_, PyAny>,
        rate: f64,
        counter_bits: Option<&Bound<'_, PyAny>>,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let (items, width) = (items_of(items)?, width_of(counter_bits)?);
        Ok(Self(Shared::new(Sketch::for_items_with_scheme(items, rate, width, scheme_of(keys, seed)?)?)))
    }

    /// The fewest cells, and how many of them a key has, for `items` different keys at the wanted
    /// false-positive rate.
    ///
    /// >>> CountingBloom.size_for(1_000_000, 0.01)
    /// (9592955, 7)
    #[staticmethod]
    fn size_for(items: &Bound<'_, PyAny>, rate: f64) -> Result<(u64, u32)> {
        Ok(Sketch::size_for(items_of(items)?, rate)?)
    }

    /// The false-positive rate that `items` different keys are expected to give.
    #[staticmethod]
    fn expected_rate(
        cells: &Bound<'_, PyAny>,
        hashes: &Bound<'_, PyAny>,
        items: &Bound<'_, PyAny>,
    ) -> Result<f64> {
        Ok(Sketch::expected_rate(cells_of("cells", cells)?, hashes_of(hashes)?, any_number_of(items)?))
    }

    /// Adds one key many times: the same as inserting it that often.
    ///
    /// >>> stock = CountingBloom.for_items(1000, 0.001, counter_bits=16)
    /// >>> stock.add("tea", 250)
    /// >>> stock.count("tea").value
    /// 250.0
    fn add(&self, key: &Bound<'_, PyAny>, times: &Bound<'_, PyAny>) -> Result<()> {
        let times = setting("times", times, "0 to 2^64 - 1")?;
        self.0.with_hash(key, &INSERT, |sketch, hash| sketch.add_hash(hash, times))?;
        Ok(())
    }

    /// Takes one key out, once. `AbsentError`, and no change, if it is certainly not in there.
    ///
    /// >>> senders = CountingBloom(1000, 4)
    /// >>> senders.remove("ana")
    /// Traceback (most recent call last):
    /// ...
    /// crivo.errors.AbsentError: key: expected one whose counters are all above 0, found 0 ...
    fn remove(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        Ok(self.0.with_hash(key, &REMOVE, Sketch::remove_hash)??)
    }

    /// Takes many keys out, each as often as it occurs, and returns how many missing values were
    /// skipped. `values` is whatever `insert_batch` takes. All are taken out, or none:
    /// `AbsentError` if one of them is certainly not in there, `KeyTypeError` if one is no key.
    fn remove_batch(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> Result<u64> {
        self.remove_all(py, keys::take_keys, values)
    }

    /// Takes keys out by their hashes, in a filter with `keys="hash"`: as `remove_batch` does.
    fn remove_hashes(&self, py: Python<'_>, hashes: &Bound<'_, PyAny>) -> Result<u64> {
        self.remove_all(py, keys::take_hashes, hashes)
    }

    /// How often the key is in there. It is never more often than the upper bound, which is
    /// infinite if the counters are saturated; the lower bound holds with the given confidence.
    #[pyo3(signature = (key, confidence = 0.95))]
    fn count(&self, key: &Bound<'_, PyAny>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        let count = |sketch: &mut Sketch, hash| sketch.count_hash_at(hash, confidence);
        Ok(self.0.with_hash(key, &COUNT, count)?.into())
    }

    /// How often the key of this hash is in there, in a filter with `keys="hash"`.
    #[pyo3(signature = (hash, confidence = 0.95))]
    fn count_hash(&self, hash: &Bound<'_, PyAny>, confidence: f64) -> Result<Estimate> {
        let confidence = Confidence::new(confidence)?;
        let count = |sketch: &mut Sketch, hash| sketch.count_hash_at(hash, confidence);
        Ok(self.0.with_given_hash(hash, &COUNT, count)?.into())
    }

    /// Takes out everything that the other filter holds. `AbsentError`, and no change, if that
    /// certainly holds something that this one does not, as often; `IncompatibleError` if the
    /// filters differ in size, `keys` or `seed`.
    ///
    /// >>> week, monday = CountingBloom(1000, 4), CountingBloom(1000, 4)
    /// >>> week.insert_batch(["ana", "rui"]), monday.insert_batch(["ana"])
    /// (0, 0)
    /// >>> rest = week - monday
    /// >>> "ana" in rest, "rui" in rest
    /// (False, True)
    fn subtract(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
        Ok(self.0.with_other(py, &other.get().0, Sketch::subtract)?)
    }

    fn __sub__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Self> {
        let rest = self.copy(py);
        rest.subtract(py, other)?;
        Ok(rest)
    }

    fn __isub__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
        self.subtract(py, other)
    }

    /// How many counters there are.
    #[getter]
    fn cells(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.cells())
    }

    /// How many counters a key has.
    #[getter]
    fn hashes(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.hashes())
    }

    /// How wide a counter is.
    #[getter]
    fn counter_bits(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.counter_bits().bits())
    }

    /// How many counters are at their largest value, and so no longer know what they count.
    #[getter]
    fn saturated(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.saturated())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, cells, hashes) = (self.keys(py), self.seed(py), self.cells(py), self.hashes(py));
        let (bits, items) = (self.counter_bits(py), self.0.quick(py, |sketch| sketch.items()));
        format!(
            "<CountingBloom cells={cells}, hashes={hashes}, counter_bits={bits}, keys='{keys}', seed={seed}: \
             {items}>"
        )
    }
}

impl CountingBloom {
    /// Collects the hashes of all keys first, so that either all or none are removed.
    fn remove_all(&self, py: Python<'_>, read: Reader, values: &Bound<'_, PyAny>) -> Result<u64> {
        let mut hashes = Vec::new();
        let mut take = |stretch: Stretch<'_>| {
            hashes.extend_from_slice(stretch.keys.hashes());
            Ok(())
        };
        let missing = read(values, self.0.scheme(py), &REMOVE, &mut take)?;
        self.0.detached(py, |sketch| sketch.remove_hashes(&hashes))?;
        Ok(missing)
    }
}

/// Returns the width of counters, by default eight bits.
fn width_of(bits: Option<&Bound<'_, PyAny>>) -> Result<CounterBits> {
    let Some(bits) = bits else { return Ok(CounterBits::Eight) };
    Ok(CounterBits::of(setting("counter bits", bits, "4, 8, 16 or 32")?)?)
}
