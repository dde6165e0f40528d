//! The parts that all sketch classes share.
//!
//! [`Shared`] is a library sketch behind a lock, so that Python threads may use one sketch
//! together. One rule makes deadlocks impossible: the lock is never held while Python code can
//! run, nor while another sketch's lock is taken. So the thread that holds it always finishes,
//! whether or not another thread holds the GIL.
//!
//! [`sketch_methods`] defines the Python methods that are the same for every sketch with keys,
//! [`common_methods`] those that sketches without keys have too. [`insert_batch_method`] and
//! [`insert_hashes_method`] define those that add many keys.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crivo::keys::{KeyBatch, KeyRef, KeyScheme};
use crivo::sketch::{Encode, InsertKeys};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;

use crate::errors::{Failure, Result};
use crate::keys::{self, Stretch, Take, Verb, Weight};

/// The result of `__reduce__`: a callable, and its arguments.
pub(crate) type Reduced<'py, A> = (Bound<'py, PyAny>, A);

/// A sketch that Python threads may share.
#[derive(Debug)]
pub(crate) struct Shared<S>(Mutex<S>);

impl<S: Send> Shared<S> {
    pub(crate) fn new(sketch: S) -> Self {
        Self(Mutex::new(sketch))
    }

    /// Runs work of about a microsecond. Keeps the GIL unless it has to wait for another thread.
    pub(crate) fn quick<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut S) -> R + Send) -> R {
        match self.0.try_lock() {
            Ok(mut sketch) => work(&mut sketch),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => self.detached(py, work),
        }
    }

    /// Runs work that grows with the sketch. Other Python threads run meanwhile.
    pub(crate) fn detached<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut S) -> R + Send) -> R {
        py.detach(|| work(&mut self.lock()))
    }

    /// Runs work for callers that do not hold the GIL.
    pub(crate) fn locked<R>(&self, work: impl FnOnce(&mut S) -> R) -> R {
        work(&mut self.lock())
    }

    /// Locks the sketch. A poisoned lock is used anyway, so that a panic in one thread does not
    /// spread to others.
    fn lock(&self) -> MutexGuard<'_, S> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The methods that add keys.
pub(crate) static INSERT: Verb = Verb {
    one: "insert",
    many: "insert_batch",
    hashes: "insert_hashes",
    so_far: "the values before it were inserted",
};

/// Reads a column as keys ([`keys::take_keys`]) or as hashes ([`keys::take_hashes`]).
pub(crate) type Reader = fn(&Bound<'_, PyAny>, KeyScheme, &'static Verb, Take<'_>) -> Result<u64>;

impl<S: Encode + Send> Shared<S> {
    pub(crate) fn scheme(&self, py: Python<'_>) -> KeyScheme {
        self.quick(py, |sketch| sketch.key_scheme())
    }

    /// Inserts all values, and returns how many missing values were skipped.
    pub(crate) fn insert_all(&self, py: Python<'_>, read: Reader, values: &Bound<'_, PyAny>) -> Result<u64>
    where
        S: InsertKeys,
    {
        let mut take = |stretch: Stretch<'_>| Ok(self.lock().insert_batch(&stretch.keys)?);
        read(values, self.scheme(py), &INSERT, &mut take)
    }

    /// Looks up all values with `answer`. Returns an answer for each value, in their order; for a
    /// missing value it is `T::default()`.
    pub(crate) fn ask_all<'py, T: Element + Copy + Default>(
        &self,
        py: Python<'py>,
        read: Reader,
        values: &Bound<'_, PyAny>,
        verb: &'static Verb,
        answer: impl Fn(&S, &KeyBatch<'_>, &mut Vec<T>) -> crivo::Result<()> + Sync,
    ) -> Result<Bound<'py, PyArray1<T>>> {
        let (mut answers, mut of_batch) = (Vec::new(), Vec::new());
        let mut take = |stretch: Stretch<'_>| {
            answer(&self.lock(), &stretch.keys, &mut of_batch)?;
            stretch.spread(&of_batch, &mut answers);
            Ok(())
        };
        read(values, self.scheme(py), verb, &mut take)?;
        Ok(PyArray1::from_vec(py, answers))
    }

    /// Calls `work` with the hash of one key.
    pub(crate) fn with_hash<R: Send>(
        &self,
        key: &Bound<'_, PyAny>,
        verb: &'static Verb,
        work: impl FnOnce(&mut S, u64) -> R + Send,
    ) -> Result<R> {
        let py = key.py();
        let hash = keys::hash_one(key, self.scheme(py), verb)?;
        Ok(self.quick(py, |sketch| work(sketch, hash)))
    }

    /// Calls `work` with one hash computed by the caller.
    pub(crate) fn with_given_hash<R: Send>(
        &self,
        hash: &Bound<'_, PyAny>,
        verb: &'static Verb,
        work: impl FnOnce(&mut S, u64) -> R + Send,
    ) -> Result<R> {
        let py = hash.py();
        let hash = keys::given_hash(hash, self.scheme(py), verb)?;
        Ok(self.quick(py, |sketch| work(sketch, hash)))
    }

    /// Calls `work` with one integer, for sketches that take no other keys.
    pub(crate) fn with_integer<R: Send>(
        &self,
        key: &Bound<'_, PyAny>,
        verb: &'static Verb,
        work: impl FnOnce(&mut S, u64) -> crivo::Result<R> + Send,
    ) -> Result<R> {
        let integer = keys::integer_one(key, verb)?;
        Ok(self.quick(key.py(), |sketch| work(sketch, integer))?)
    }

    /// Calls `work` with one key, for sketches that need the key itself.
    pub(crate) fn with_key<R: Send>(
        &self,
        key: &Bound<'_, PyAny>,
        verb: &'static Verb,
        work: impl FnOnce(&mut S, KeyRef<'_>) -> crivo::Result<R> + Send,
    ) -> Result<R> {
        let py = key.py();
        let on_key = |key: KeyRef<'_>| self.quick(py, |sketch| work(sketch, key));
        Ok(keys::with_one(key, self.scheme(py), verb, on_key)??)
    }

    /// Adds all values with `add`, each with the weight at its place. Returns how many missing
    /// values were skipped.
    pub(crate) fn add_all<W: Weight>(
        &self,
        py: Python<'_>,
        read: Reader,
        values: &Bound<'_, PyAny>,
        weights: &Bound<'_, PyAny>,
        verb: &'static Verb,
        add: impl Fn(&mut S, &KeyBatch<'_>, &[W]) -> crivo::Result<()> + Sync,
    ) -> Result<u64> {
        let weights = keys::weights_of::<W>(weights)?;
        let mismatch = |values: &dyn Display| {
            let expected = format!("{values}, one for each value");
            Failure::Parameter(format!("number of weights: expected {expected}, found {}", weights.len()))
        };
        // If the values have a length, a mismatch is refused before anything is added.
        if let Ok(length) = values.len()
            && length != weights.len()
        {
            return Err(mismatch(&length));
        }
        let (mut used, mut present) = (0, Vec::new());
        let mut take = |stretch: Stretch<'_>| {
            let end = used + stretch.values();
            let here = weights.get(used..end).ok_or_else(|| mismatch(&"more"))?;
            stretch.gather(here, &mut present);
            add(&mut self.lock(), &stretch.keys, &present)?;
            used = end;
            Ok(())
        };
        let missing = read(values, self.scheme(py), verb, &mut take)?;
        if used == weights.len() { Ok(missing) } else { Err(mismatch(&used)) }
    }
}

impl<S: Clone + Send> Shared<S> {
    /// Calls `work` with two sketches. The other one is copied first, so that only one lock is held
    /// at a time. So `a |= b` in one thread and `b |= a` in another cannot deadlock, and `a |= a`
    /// needs no special case.
    pub(crate) fn with_other<R: Send>(
        &self,
        py: Python<'_>,
        other: &Self,
        work: impl FnOnce(&mut S, &S) -> R + Send,
    ) -> R {
        py.detach(|| {
            let theirs = other.lock().clone();
            work(&mut self.lock(), &theirs)
        })
    }

    pub(crate) fn copied(&self, py: Python<'_>) -> Self {
        Self::new(self.detached(py, |sketch| sketch.clone()))
    }
}

/// Defines the Python methods that every sketch has: `sketch_methods!(HyperLogLog)`, for a class
/// that is a tuple struct around [`Shared`] of the library's sketch. The calling file imports the
/// types that the methods use, as [`distinct`](crate::distinct) does.
macro_rules! sketch_methods {
    ($class:ident, $sketch:ty) => {
        #[pymethods]
        impl $class {
            /// What the keys are: "text", "int" or "hash".
            #[getter]
            fn keys(&self, py: Python<'_>) -> &'static str {
                $crate::keys::name_of(self.0.scheme(py).kind())
            }

            /// The seed of the hash.
            #[getter]
            fn seed(&self, py: Python<'_>) -> u64 {
                self.0.scheme(py).seed()
            }

            /// Bytes of memory in use.
            #[getter]
            fn memory(&self, py: Python<'_>) -> usize {
                self.0.quick(py, |sketch| sketch.memory())
            }

            /// Whether nothing was inserted. (A sketch without a length is always true, as objects
            /// are.)
            #[getter]
            fn is_empty(&self, py: Python<'_>) -> bool {
                self.0.detached(py, |sketch| sketch.is_empty())
            }
        }

        $crate::sketch::common_methods!($class, $sketch);
    };
}

/// Defines the Python methods of [`sketch_methods`] that do not depend on keys, for counters, which
/// have none.
macro_rules! common_methods {
    ($class:ident, $sketch:ty) => {
        impl From<$sketch> for $class {
            fn from(sketch: $sketch) -> Self {
                Self($crate::sketch::Shared::new(sketch))
            }
        }

        #[pymethods]
        impl $class {
            /// Makes this the sketch of both streams. `IncompatibleError`, and no change, if the
            /// two differ in a way that forbids it.
            fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
                Ok(self.0.with_other(py, &other.get().0, <$sketch>::merge)?)
            }

            fn __or__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<Self> {
                let joined = self.copy(py);
                joined.merge(py, other)?;
                Ok(joined)
            }

            fn __ior__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
                self.merge(py, other)
            }

            /// Derives a new random seed from the current one and `part`, so that sketches of
            /// separate parts of a stream draw independently. No effect on sketches that draw
            /// nothing.
            fn reseed(&self, py: Python<'_>, part: &Bound<'_, PyAny>) -> Result<()> {
                let part = $crate::errors::setting("part", part, "0 to 2^64 - 1")?;
                self.0.quick(py, |sketch| crivo::sketch::Merge::reseed(sketch, part));
                Ok(())
            }

            /// An independent copy.
            fn copy(&self, py: Python<'_>) -> Self {
                Self(self.0.copied(py))
            }

            fn __copy__(&self, py: Python<'_>) -> Self {
                self.copy(py)
            }

            fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
                self.copy(py)
            }

            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> bool {
                self.0.with_other(py, &other.get().0, |mine, theirs| mine == theirs)
            }

            /// The sketch as bytes: the contents of a `.crivo` file, the same from every
            /// language. `bytes(sketch)` does the same.
            fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                PyBytes::new(py, &self.0.detached(py, |sketch| sketch.encode()))
            }

            fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
                self.to_bytes(py)
            }

            /// The sketch that the bytes hold. `DecodeError`, whose `kind` tells why, if they are
            /// not the whole and undamaged bytes of such a sketch.
            #[classmethod]
            fn from_bytes(cls: &Bound<'_, PyType>, data: &Bound<'_, PyAny>) -> Result<Self> {
                let bytes = $crate::keys::bytes_of(data)?;
                let sketch = cls.py().detach(|| <$sketch>::decode(&bytes))?;
                Ok(Self(Shared::new(sketch)))
            }

            fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py, (Bound<'py, PyBytes>,)>> {
                let from_bytes = slf.get_type().getattr("from_bytes")?;
                Ok((from_bytes, (slf.get().to_bytes(slf.py()),)))
            }
        }
    };
}
pub(crate) use common_methods;
pub(crate) use sketch_methods;

/// Defines `insert_batch`, for a class whose sketch takes batches of keys.
macro_rules! insert_batch_method {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Adds many keys and returns how many missing values (None, NaN, null, empty text)
            /// were skipped.
            ///
            /// `values` is a list or other iterable, a NumPy array, or a column of anything that
            /// speaks the Arrow interface: pyarrow, polars, pandas, and others. Arrow and NumPy
            /// columns are read in place and without the GIL; NumPy arrays of text or objects are
            /// read as lists. A column of a type that holds no keys is refused whole; an iterable
            /// is inserted up to the first value that is no key, and the `KeyTypeError` names its
            /// position.
            fn insert_batch(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> Result<u64> {
                self.0.insert_all(py, $crate::keys::take_keys, values)
            }
        }
    };
}
pub(crate) use insert_batch_method;

/// Defines `insert_hashes`, for a class whose sketch also takes hashes computed by the caller.
macro_rules! insert_hashes_method {
    ($class:ident) => {
        #[pymethods]
        impl $class {
            /// Adds hashes of the caller's own, as 64-bit integers, to a sketch with `keys="hash"`,
            /// and returns how many missing values were skipped. They must be uniform over all 64
            /// bits.
            fn insert_hashes(&self, py: Python<'_>, hashes: &Bound<'_, PyAny>) -> Result<u64> {
                self.0.insert_all(py, $crate::keys::take_hashes, hashes)
            }
        }
    };
}
pub(crate) use insert_hashes_method;
