//! Sketches in the formats of Apache DataSketches. This file has the counts of different values.

mod keyed;
mod quantiles;

pub(crate) use keyed::{BloomFilter, FrequentItems};
pub(crate) use quantiles::{Kll, Req, TDigest};

use crivo::keys::{KeyKind, KeyRef, KeyScheme};
use crivo_interchange::{Cpc as CpcSketch, DEFAULT_LG_K, Error, Hll as HllSketch, Theta as ThetaSketch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::keys::{self, Stretch, bytes_of, name_of, scheme_of};
use crate::sketch::{INSERT, Reduced, Shared};

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Bytes { .. } => Self::Bytes(error.to_string()),
            Error::Incompatible(_) => Self::Incompatible(error.to_string()),
            other => Self::Parameter(other.to_string()),
        }
    }
}

/// Returns the kind of keys: text or integers. Hashes are refused, because those of the caller are
/// not those of DataSketches.
fn kind_of(keys: &str) -> Result<KeyKind> {
    match scheme_of(keys, None)?.kind() {
        KeyKind::Hash => Err(Failure::Parameter(
            "keys: expected 'text' or 'int', since other systems hash for themselves, found 'hash'".into(),
        )),
        kind => Ok(kind),
    }
}

fn lg_k_of(lg_k: Option<&Bound<'_, PyAny>>) -> Result<u8> {
    lg_k.map_or(Ok(DEFAULT_LG_K), |lg_k| setting("lg_k", lg_k, "a size that the sketch can have"))
}

/// Refuses keys of different kinds, because the bytes of sketches do not have the kind.
fn same_keys(mine: KeyKind, theirs: KeyKind) -> Result<()> {
    if mine == theirs {
        return Ok(());
    }
    let (mine, theirs) = (name_of(mine), name_of(theirs));
    Err(Failure::Incompatible(format!("keys: expected '{mine}', found '{theirs}'")))
}

/// Inserts a key into any of the sketches.
macro_rules! insert_key {
    ($sketch:expr, $key:expr) => {
        match $key {
            KeyRef::Bytes(bytes) => $sketch.insert_bytes(bytes),
            KeyRef::Integer(integer) | KeyRef::Hash(integer) => $sketch.insert_integer(integer),
        }
    };
}

/// Defines the methods of all sketches of this file: `interchange_methods!(Hll, HllSketch)`, for a
/// class with a `sketch` and the kind of its `keys`.
macro_rules! interchange_methods {
    ($class:ident, $sketch:ty) => {
        #[pymethods]
        impl $class {
            /// What the keys are: "text" or "int".
            #[getter]
            fn keys(&self) -> &'static str {
                name_of(self.keys)
            }

            /// The base-2 logarithm of the size.
            #[getter]
            fn lg_k(&self, py: Python<'_>) -> u8 {
                self.sketch.quick(py, |sketch| sketch.lg_k())
            }

            /// Whether nothing was inserted.
            #[getter]
            fn is_empty(&self, py: Python<'_>) -> bool {
                self.sketch.quick(py, |sketch| sketch.is_empty())
            }

            /// Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key
            /// either. Empty text adds nothing, as in other systems.
            fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
                let py = key.py();
                let on_key = |key: KeyRef<'_>| self.sketch.quick(py, |sketch| insert_key!(sketch, key));
                keys::with_one(key, KeyScheme::of(self.keys), &INSERT, on_key)
            }

            /// Adds many keys and returns how many missing values (None, NaN, null, empty text)
            /// were skipped. `values` is whatever `HyperLogLog.insert_batch` takes.
            fn insert_batch(&self, values: &Bound<'_, PyAny>) -> Result<u64> {
                let mut take = |stretch: Stretch<'_>| {
                    self.sketch
                        .locked(|sketch| stretch.keys.iter().for_each(|(key, _)| insert_key!(sketch, key)));
                    Ok(())
                };
                keys::take_keys(values, KeyScheme::of(self.keys), &INSERT, &mut take)
            }

            /// How many different keys there are, with bounds at two standard deviations, about 95
            /// %.
            fn estimate(&self, py: Python<'_>) -> Estimate {
                self.sketch.detached(py, |sketch| sketch.estimate()).into()
            }

            /// Merges `other`, so that this is the sketch of both streams. Raises
            /// `IncompatibleError` if one has keys of text and the other integers.
            fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
                let other = other.get();
                same_keys(self.keys, other.keys)?;
                self.sketch.with_other(py, &other.sketch, |mine, theirs| mine.merge(theirs));
                Ok(())
            }

            fn __or__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Self> {
                let joined = self.copy(py);
                joined.merge(py, other)?;
                Ok(joined)
            }

            fn __ior__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
                self.merge(py, other)
            }

            /// An independent copy.
            fn copy(&self, py: Python<'_>) -> Self {
                Self { sketch: self.sketch.copied(py), keys: self.keys }
            }

            fn __copy__(&self, py: Python<'_>) -> Self {
                self.copy(py)
            }

            fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
                self.copy(py)
            }

            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> bool {
                let other = other.get();
                self.keys == other.keys
                    && self.sketch.with_other(py, &other.sketch, |mine, theirs| mine == theirs)
            }

            /// The bytes that other systems read. `bytes(sketch)` does the same.
            fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                PyBytes::new(py, &self.sketch.detached(py, |sketch| sketch.encode()))
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                self.to_bytes(py)
            }

            fn __repr__(&self, py: Python<'_>) -> String {
                let (keys, lg_k) = (self.keys(), self.lg_k(py));
                let estimate = self.sketch.detached(py, |sketch| sketch.estimate());
                format!(concat!("<", stringify!($class), " lg_k={}, keys='{}': {}>"), lg_k, keys, estimate)
            }
        }
    };
}

/// Counts different items in `2^lg_k` bytes, as Apache DataSketches does: its bytes are what
/// Spark's `hll_sketch_agg` and `hll_union_agg`, Druid and others write and read (`HLL_8`; of
/// others `HLL_4` and `HLL_6` too).
///
/// DataSketches hashes differently, so that a `HyperLogLog` cannot be converted: this is built from
/// the keys. With `keys="text"` they are text or bytes, with "int" integers, which are other keys
/// than their texts: use it where the other side counts an integer column.
///
/// >>> from crivo.interchange import Hll
/// >>> visitors = Hll()
/// >>> visitors.insert_batch(["ana", "rui", None, "ana"])
/// 1
/// >>> round(visitors.estimate().value), len(bytes(visitors))
/// (2, 16)
/// >>> Hll.from_bytes(bytes(visitors)) == visitors
/// True
#[pyclass(module = "crivo.interchange", frozen)]
#[derive(Debug)]
pub(crate) struct Hll {
    sketch: Shared<HllSketch>,
    keys: KeyKind,
}

interchange_methods!(Hll, HllSketch);

#[pymethods]
impl Hll {
    #[new]
    #[pyo3(signature = (lg_k = None, *, keys = "text"))]
    #[pyo3(text_signature = "(lg_k=12, *, keys='text')")]
    fn new(lg_k: Option<&Bound<'_, PyAny>>, keys: &str) -> Result<Self> {
        Ok(Self { sketch: Shared::new(HllSketch::new(lg_k_of(lg_k)?)?), keys: kind_of(keys)? })
    }

    /// The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch; they
    /// have no checksum, so that a change inside goes unnoticed. Nor do they say what the keys are.
    #[classmethod]
    #[pyo3(signature = (data, *, keys = "text"))]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>, keys: &str) -> Result<Self> {
        let (bytes, keys) = (bytes_of(data)?, kind_of(keys)?);
        let sketch = cls.py().detach(|| HllSketch::decode(&bytes))?;
        Ok(Self { sketch: Shared::new(sketch), keys })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>, &'static str)>> {
        let from_bytes = slf.py().import("crivo.interchange")?.getattr("_hll")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py()), slf.get().keys())))
    }
}

/// Counts different items by the `2^lg_k` smallest of their hashes, exactly while they are fewer,
/// as Apache DataSketches does: its bytes are what Spark's `theta_sketch_agg` and
/// `theta_union_agg`, Druid and others write and read, and they can be intersected and subtracted
/// there.
///
/// It is built from the keys, as `Hll` is.
///
/// >>> from crivo.interchange import Theta
/// >>> monday, tuesday = Theta(), Theta()
/// >>> monday.insert_batch(range(3000)), tuesday.insert_batch(range(2000, 4000))
/// (0, 0)
/// >>> print((monday | tuesday).estimate())
/// 4 000
#[pyclass(module = "crivo.interchange", frozen)]
#[derive(Debug)]
pub(crate) struct Theta {
    sketch: Shared<ThetaSketch>,
    keys: KeyKind,
}

interchange_methods!(Theta, ThetaSketch);

#[pymethods]
impl Theta {
    #[new]
    #[pyo3(signature = (lg_k = None, *, keys = "text"))]
    #[pyo3(text_signature = "(lg_k=12, *, keys='text')")]
    fn new(lg_k: Option<&Bound<'_, PyAny>>, keys: &str) -> Result<Self> {
        Ok(Self { sketch: Shared::new(ThetaSketch::new(lg_k_of(lg_k)?)?), keys: kind_of(keys)? })
    }

    /// The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch; they
    /// have no checksum, so that a change inside may go unnoticed. Nor do they say what the keys
    /// are, or how many hashes to keep of what comes later: `keys` and `lg_k` do.
    #[classmethod]
    #[pyo3(signature = (data, lg_k = None, *, keys = "text"))]
    #[pyo3(text_signature = "($cls, data, lg_k=12, *, keys='text')")]
    fn from_bytes(
        cls: &Bound<'_, PyType>,
        data: &Bound<'_, PyAny>,
        lg_k: Option<&Bound<'_, PyAny>>,
        keys: &str,
    ) -> Result<Self> {
        let (bytes, lg_k, keys) = (bytes_of(data)?, lg_k_of(lg_k)?, kind_of(keys)?);
        let sketch = cls.py().detach(|| ThetaSketch::decode(&bytes, lg_k))?;
        Ok(Self { sketch: Shared::new(sketch), keys })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>, u8, &'static str)>> {
        let from_bytes = slf.py().import("crivo.interchange")?.getattr("_theta")?;
        let theta = slf.get();
        Ok((from_bytes, (theta.to_bytes(slf.py()), theta.lg_k(slf.py()), theta.keys())))
    }
}

/// Counts different items as Apache DataSketches does, in about half of the bytes that an `Hll` of
/// the same error takes: its bytes are what the project's libraries and Druid read and write.
///
/// It is built from the keys, as `Hll` is.
///
/// >>> from crivo.interchange import Cpc
/// >>> visitors = Cpc()
/// >>> visitors.insert_batch(["ana", "rui", None, "ana"])
/// 1
/// >>> round(Cpc.from_bytes(bytes(visitors)).estimate().value)
/// 2
#[pyclass(module = "crivo.interchange", frozen)]
#[derive(Debug)]
pub(crate) struct Cpc {
    sketch: Shared<CpcSketch>,
    keys: KeyKind,
}

interchange_methods!(Cpc, CpcSketch);

#[pymethods]
impl Cpc {
    #[new]
    #[pyo3(signature = (lg_k = None, *, keys = "text"))]
    #[pyo3(text_signature = "(lg_k=12, *, keys='text')")]
    fn new(lg_k: Option<&Bound<'_, PyAny>>, keys: &str) -> Result<Self> {
        Ok(Self { sketch: Shared::new(CpcSketch::new(lg_k_of(lg_k)?)?), keys: kind_of(keys)? })
    }

    /// The sketch that the bytes of any system hold. `DecodeError` if they are no such sketch. They
    /// do not say what the keys are.
    #[classmethod]
    #[pyo3(signature = (data, *, keys = "text"))]
    fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>, keys: &str) -> Result<Self> {
        let (bytes, keys) = (bytes_of(data)?, kind_of(keys)?);
        let sketch = cls.py().detach(|| CpcSketch::decode(&bytes))?;
        Ok(Self { sketch: Shared::new(sketch), keys })
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>, &'static str)>> {
        let from_bytes = slf.py().import("crivo.interchange")?.getattr("_cpc")?;
        Ok((from_bytes, (slf.get().to_bytes(slf.py()), slf.get().keys())))
    }
}

/// A class around a sketch whose merge may fail.
trait Exchanged: Sized {
    type Sketch;

    /// Returns an object with the same settings around another sketch.
    fn around(&self, sketch: Shared<Self::Sketch>) -> Self;

    /// Returns an error if the two objects differ in a setting that is not in their sketches.
    fn agree(&self, _other: &Self) -> Result<()> {
        Ok(())
    }

    /// Returns true if two sketches have the same content.
    fn same(mine: &Self::Sketch, theirs: &Self::Sketch) -> bool;
}

/// Defines the methods of [`Exchanged`] classes: `exchange_methods!(Kll)` for a class with a
/// `sketch`.
macro_rules! exchange_methods {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Merges `other`, so that this is the sketch of both streams. Raises
            /// `IncompatibleError` if the two sketches differ in a setting that must be the same.
            fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
                self.agree(other.get())?;
                Ok(self.sketch.with_other(py, &other.get().sketch, |mine, theirs| mine.merge(theirs))?)
            }

            fn __or__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Self> {
                let joined = self.copy(py);
                joined.merge(py, other)?;
                Ok(joined)
            }

            fn __ior__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
                self.merge(py, other)
            }

            /// An independent copy.
            fn copy(&self, py: Python<'_>) -> Self {
                self.around(self.sketch.copied(py))
            }

            fn __copy__(&self, py: Python<'_>) -> Self {
                self.copy(py)
            }

            fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
                self.copy(py)
            }

            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> bool {
                let other = other.get();
                self.agree(other).is_ok()
                    && self.sketch.with_other(py, &other.sketch, |mine, theirs| Self::same(mine, theirs))
            }

            /// The bytes that other systems read. `bytes(sketch)` does the same.
            fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                PyBytes::new(py, &self.sketch.detached(py, |sketch| sketch.encode()))
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                self.to_bytes(py)
            }
        }
    };
}
use exchange_methods;
