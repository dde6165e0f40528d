//! Sketches of keys in the formats of other systems.

use crivo::keys::{KeyKind, KeyRef, KeyScheme};
use crivo_interchange::{Bloom, FrequentItems as Frequent};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{Exchanged, exchange_methods, kind_of, same_keys};
use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::keys::{self, Stretch, bytes_of, name_of, to_python};
use crate::sketch::{INSERT, Reduced, Shared};

type BytesAndKeys<'py> = (Bound<'py, PyBytes>, &'static str);

/// Defines the methods that add keys: `keyed_methods!(FrequentItems)`, for a class with a `sketch`
/// and the kind of its `keys`. The class also has `put_ref`, which adds a key with a weight to the
/// sketch, and `is_same`, which compares two sketches.
macro_rules! keyed_methods {
    ($class:ident, $sketch:ty) => {
        exchange_methods!($class);

        impl Exchanged for $class {
            type Sketch = $sketch;

            fn around(&self, sketch: Shared<$sketch>) -> Self {
                Self { sketch, keys: self.keys }
            }

            fn agree(&self, other: &Self) -> Result<()> {
                same_keys(self.keys, other.keys)
            }

            fn same(mine: &$sketch, theirs: &$sketch) -> bool {
                Self::is_same(mine, theirs)
            }
        }

        #[pymethods]
        impl $class {
            /// What the keys are: "text" or "int".
            #[getter]
            fn keys(&self) -> &'static str {
                name_of(self.keys)
            }

            /// Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
            /// either. Empty text adds nothing, as in other systems.
            fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
                self.put(key, 1)
            }

            /// Adds many keys and returns how many missing values (None, NaN, null, empty text)
            /// were skipped. `values` is whatever `HyperLogLog.insert_batch` takes.
            fn insert_batch(&self, values: &Bound<'_, PyAny>) -> Result<u64> {
                let mut take = |stretch: Stretch<'_>| {
                    self.sketch.locked(|sketch| {
                        stretch.keys.iter().try_for_each(|(key, _)| Self::put_ref(sketch, key, 1))
                    })?;
                    Ok(())
                };
                keys::take_keys(values, KeyScheme::of(self.keys), &INSERT, &mut take)
            }
        }

        impl $class {
            fn put(&self, key: &Bound<'_, PyAny>, weight: u64) -> Result<()> {
                let py = key.py();
                let on_key =
                    |key: KeyRef<'_>| self.sketch.quick(py, |sketch| Self::put_ref(sketch, key, weight));
                Ok(keys::with_one(key, KeyScheme::of(self.keys), &INSERT, on_key)??)
            }
        }
    };
}

fn weight_of(weight: &Bound<'_, PyAny>) -> Result<u64> {
    let expected = "0 to 2^63 - 1";
    let weight: i64 = setting("weight", weight, expected)?;
    u64::try_from(weight)
        .map_err(|_| Failure::Parameter(format!("weight: expected {expected}, found {weight}")))
}

/// The most frequent keys with certain bounds, as Apache DataSketches keeps them: its bytes are
/// those of the `frequent_strings_sketch` of its Python package, of the `ItemsSketch<String>` and,
/// with `keys="int"`, of the `LongsSketch` of Java.
///
/// >>> from crivo.interchange import FrequentItems
/// >>> words = FrequentItems()
/// >>> words.insert_batch("the cat and the dog and the bird".split())
/// 0
/// >>> [(key, int(count.value)) for key, count in words.top(2)]
/// [('the', 3), ('and', 2)]
#[pyclass(module = "crivo.interchange", frozen)]
#[derive(Debug)]
pub(crate) struct FrequentItems {
    sketch: Shared<Frequent>,
    keys: KeyKind,
}

keyed_methods!(FrequentItems, Frequent);

impl FrequentItems {
    fn put_ref(sketch: &mut Frequent, key: KeyRef<'_>, weight: u64) -> crivo_interchange::Result<()> {
        match key {
            KeyRef::Bytes(key) => sketch.add_bytes(key, weight),
            KeyRef::Integer(key) | KeyRef::Hash(key) => sketch.add_integer(key, weight),
        }
    }

    /// Returns true if two sketches have the same counts. Their bytes cannot be compared, because
    /// the order of keys in them depends on the order of insertions.
    fn is_same(mine: &Frequent, theirs: &Frequent) -> bool {
        let all = |sketch: &Frequent| {
            let items = sketch.top(usize::MAX).into_iter();
            let mut items: Vec<_> = items.map(|item| (item.key, item.lower, item.upper)).collect();
            items.sort();
            (sketch.lg_size(), sketch.total(), sketch.max_error(), items)
        };
        all(mine) == all(theirs)
    }
}

#[pymethods]
impl FrequentItems {
    #[new]
    #[pyo3(signature = (lg_size = None, *, keys = "text"))]
    #[pyo3(text_signature = "(lg_size=15, *, keys='text')")]
    fn new(lg_size: Option<&Bound<'_, PyAny>>, keys: &str) -> Result<Self> {
        let lg_size = lg_size.map_or(Ok(15), |size| setting("lg_size", size, "3 to 16"))?;
        let keys = kind_of(keys)?;
        Ok(Self { sketch: Shared::new(Frequent::new(lg_size, keys == KeyKind::Integer)?), keys })
    }

    /// Adds a weight to one key. All weights together are less than 2^63, as other systems count
    /// them.
    fn add(&self, key: &Bound<'_, PyAny>, weight: &Bound<'_, PyAny>) -> Result<()> {
        self.put(key, weight_of(weight)?)
    }

    /// How often a key came, with certain bounds.
    fn frequency(&self, key: &Bound<'_, PyAny>) -> Result<Estimate> {
        let py = key.py();
        let answer = keys::with_one(key, KeyScheme::of(self.keys), &INSERT, |key: KeyRef<'_>| {
            self.sketch.quick(py, |sketch| match key {
                KeyRef::Bytes(key) => sketch.frequency_bytes(key),
                KeyRef::Integer(key) | KeyRef::Hash(key) => sketch.frequency_integer(key),
            })
        })?;
        Ok(answer.into())
    }

    /// The keys with the highest counts, at most `k` of them, each with certain bounds.
    #[pyo3(signature = (k = 10))]
    fn top<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Vec<(Bound<'py, PyAny>, Estimate)>> {
        let items = self.sketch.detached(py, |sketch| sketch.top(k));
        let pair = |item: crivo_interchange::FrequentItem| {
            let bounds = crivo::Estimate::certain(item.upper as f64, item.lower as f64, item.upper as f64);
            Ok((to_python(py, item.key.as_ref())?, Estimate::from(bounds)))
        };
        items.into_iter().map(pair).collect()
    }

    /// The sum of all weights.
    #[getter]
    fn total(&self, py: Python<'_>) -> u64 {
        self.sketch.quick(py, |sketch| sketch.total())
    }

    /// How often a key that is not listed may have come.
    #[getter]
    fn max_error(&self, py: Python<'_>) -> u64 {
        self.sketch.quick(py, |sketch| sketch.max_error())
    }

    /// The base-2 logarithm of the size of the map, which holds three quarters of that.
    #[getter]
    fn lg_size(&self, py: Python<'_>) -> u8 {
        self.sketch.quick(py, |sketch| sketch.lg_size())
    }

    /// The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch.
    /// Without `keys` it is told from the bytes whether they are texts or integers.
    #[classmethod]
    #[pyo3(signature = (data, *, keys = None))]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>, keys: Option<&str>) -> Result<Self> {
        let (bytes, kind) = (bytes_of(data)?, keys.map(kind_of).transpose()?);
        let sketch = cls.py().detach(|| match kind {
            None => Frequent::decode(&bytes),
            Some(kind) => Frequent::decode_as(&bytes, kind == KeyKind::Integer),
        })?;
        let keys = if sketch.of_integers() { KeyKind::Integer } else { KeyKind::Bytes };
        Ok(Self { sketch: Shared::new(sketch), keys })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, BytesAndKeys<'py>>> {
        let from_bytes = slf.py().import("crivo.interchange")?.getattr("_frequent_items")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py()), slf.get().keys())))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (lg_size, keys, total) = (self.lg_size(py), self.keys(), self.total(py));
        format!("<FrequentItems lg_size={lg_size}, keys='{keys}': {total} counted>")
    }
}

/// A set that takes a few of the absent keys for members, as Apache DataSketches keeps it: its
/// bytes are what the project's Java, C++ and Rust libraries read and write.
///
/// >>> from crivo.interchange import BloomFilter
/// >>> seen = BloomFilter(1000)
/// >>> seen.insert_batch(["ana", "rui"])
/// 0
/// >>> "ana" in seen, "eva" in seen
/// (True, False)
#[pyclass(module = "crivo.interchange", frozen)]
#[derive(Debug)]
pub(crate) struct BloomFilter {
    sketch: Shared<Bloom>,
    keys: KeyKind,
}

keyed_methods!(BloomFilter, Bloom);

impl BloomFilter {
    #[allow(clippy::unnecessary_wraps)] // as the other one, which may refuse
    fn put_ref(filter: &mut Bloom, key: KeyRef<'_>, _weight: u64) -> crivo_interchange::Result<()> {
        match key {
            KeyRef::Bytes(key) => filter.insert_bytes(key),
            KeyRef::Integer(key) | KeyRef::Hash(key) => filter.insert_integer(key),
        }
        Ok(())
    }

    fn is_same(mine: &Bloom, theirs: &Bloom) -> bool {
        mine.encode() == theirs.encode()
    }
}

#[pymethods]
impl BloomFilter {
    #[new]
    #[pyo3(signature = (items, false_positive_rate = 0.01, *, keys = "text"))]
    fn new(items: &Bound<'_, PyAny>, false_positive_rate: f64, keys: &str) -> Result<Self> {
        let items = setting("items", items, "1 to 2^64 - 1")?;
        Ok(Self { sketch: Shared::new(Bloom::for_items(items, false_positive_rate)?), keys: kind_of(keys)? })
    }

    /// Whether a key may be in the filter; False is certain.
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> Result<bool> {
        let py = key.py();
        keys::with_one(key, KeyScheme::of(self.keys), &INSERT, |key: KeyRef<'_>| {
            self.sketch.quick(py, |filter| match key {
                KeyRef::Bytes(key) => filter.contains_bytes(key),
                KeyRef::Integer(key) | KeyRef::Hash(key) => filter.contains_integer(key),
            })
        })
    }

    /// How many different keys there are, with bounds at 95 %.
    fn items(&self, py: Python<'_>) -> Estimate {
        self.sketch.detached(py, |filter| filter.items()).into()
    }

    /// The chance that an absent key is taken for a member, at the present fill.
    #[getter]
    fn false_positive_rate(&self, py: Python<'_>) -> f64 {
        self.sketch.quick(py, |filter| filter.false_positive_rate())
    }

    /// The number of bits.
    #[getter]
    fn bits(&self, py: Python<'_>) -> u64 {
        self.sketch.quick(py, |filter| filter.bits())
    }

    /// The number of bits of a key.
    #[getter]
    fn hashes(&self, py: Python<'_>) -> u16 {
        self.sketch.quick(py, |filter| filter.hashes())
    }

    /// The filter that the bytes of any system hold. `DecodeError` if they are no such filter. They
    /// do not say what the keys are.
    #[classmethod]
    #[pyo3(signature = (data, *, keys = "text"))]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>, keys: &str) -> Result<Self> {
        let (bytes, keys) = (bytes_of(data)?, kind_of(keys)?);
        Ok(Self { sketch: Shared::new(cls.py().detach(|| Bloom::decode(&bytes))?), keys })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, BytesAndKeys<'py>>> {
        let from_bytes = slf.py().import("crivo.interchange")?.getattr("_bloom")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py()), slf.get().keys())))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (bits, hashes, keys) = (self.bits(py), self.hashes(py), self.keys());
        format!("<BloomFilter bits={bits}, hashes={hashes}, keys='{keys}': {}>", self.items(py).0)
    }
}
