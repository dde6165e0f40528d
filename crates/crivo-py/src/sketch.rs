//! What do all sketches have in common?
//!
//! [`Shared`] is a library sketch behind a lock, so that Python threads may use one sketch
//! together. One rule makes deadlocks impossible: the lock is never held while Python code can
//! run, nor while another sketch's lock is taken. So whoever holds it always gets done, whether
//! or not somebody else holds the GIL.
//!
//! [`sketch_methods`] writes the Python methods that are the same for every sketch.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crivo::keys::{KeyBatch, KeyScheme};
use crivo::sketch::{Encode, InsertHashes, InsertKeys, Merge};
use pyo3::prelude::*;

use crate::errors::Result;
use crate::keys;

/// What `__reduce__` answers: something to call, and its arguments.
pub(crate) type Reduced<'py, A> = (Bound<'py, PyAny>, A);

/// A sketch that Python threads may share.
#[derive(Debug)]
pub(crate) struct Shared<S>(Mutex<S>);

impl<S: Send> Shared<S> {
    pub(crate) fn new(sketch: S) -> Self {
        Self(Mutex::new(sketch))
    }

    /// For work of a microsecond: keeps the GIL unless it has to wait for another thread.
    pub(crate) fn quick<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut S) -> R + Send) -> R {
        match self.0.try_lock() {
            Ok(mut sketch) => work(&mut sketch),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => self.detached(py, work),
        }
    }

    /// For work that grows with the sketch: other Python threads run meanwhile.
    pub(crate) fn detached<R: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut S) -> R + Send) -> R {
        py.detach(|| work(&mut self.lock()))
    }

    /// A panic in the library would be a defect, but not one that spreads to other threads.
    fn lock(&self) -> MutexGuard<'_, S> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Encode + Send> Shared<S> {
    pub(crate) fn scheme(&self, py: Python<'_>) -> KeyScheme {
        self.quick(py, |sketch| sketch.key_scheme())
    }

    /// Inserts every key in `values` and returns how many missing values were skipped.
    pub(crate) fn insert_batch(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> Result<u64>
    where
        S: InsertKeys,
    {
        let take = |batch: &KeyBatch<'_>| self.lock().insert_batch(batch);
        keys::insert_batch(values, self.scheme(py), &take)
    }

    /// Inserts hashes computed by the caller.
    pub(crate) fn insert_hashes(&self, py: Python<'_>, hashes: &Bound<'_, PyAny>) -> Result<u64>
    where
        S: InsertKeys,
    {
        let take = |batch: &KeyBatch<'_>| self.lock().insert_batch(batch);
        keys::insert_hashes(hashes, self.scheme(py), &take)
    }

    /// Inserts one key.
    pub(crate) fn insert(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> Result<()>
    where
        S: InsertHashes,
    {
        let hash = keys::hash_one(key, self.scheme(py))?;
        self.quick(py, |sketch| sketch.insert_hash(hash));
        Ok(())
    }
}

impl<S: Merge + Clone + Send> Shared<S> {
    /// Copies the other sketch first: only one lock at a time, so `a |= b` in one thread and
    /// `b |= a` in another cannot wait for each other, and `a |= a` needs no special case.
    pub(crate) fn merge(&self, py: Python<'_>, other: &Self) -> Result<()> {
        py.detach(|| {
            let theirs = other.lock().clone();
            self.lock().merge(&theirs)
        })?;
        Ok(())
    }

    pub(crate) fn copied(&self, py: Python<'_>) -> Self {
        Self::new(self.detached(py, |sketch| sketch.clone()))
    }

    /// Copies the other sketch first, as [`merge`](Self::merge) does.
    pub(crate) fn equals(&self, py: Python<'_>, other: &Self) -> bool
    where
        S: PartialEq,
    {
        py.detach(|| {
            let theirs = other.lock().clone();
            *self.lock() == theirs
        })
    }
}

/// The Python methods that every sketch has: `sketch_methods!(HyperLogLog)` for a class that is
/// a tuple struct around [`Shared`] of the library's sketch. The file that calls it imports what
/// the methods speak of, as [`distinct`](crate::distinct) does.
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

            /// Whether nothing was inserted. (The sketch itself is always true, as objects are.)
            #[getter]
            fn is_empty(&self, py: Python<'_>) -> bool {
                self.0.quick(py, |sketch| sketch.is_empty())
            }
        }

        $crate::sketch::common_methods!($class, $sketch);
    };
}

/// The Python methods of [`sketch_methods`] that have nothing to do with keys: for counters, which have none.
macro_rules! common_methods {
    ($class:ident, $sketch:ty) => {
        #[pymethods]
        impl $class {
            /// Makes this the sketch of both streams. `IncompatibleError`, and no change, if the
            /// two differ in a way that forbids it.
            fn merge(&self, py: Python<'_>, other: &Bound<'_, Self>) -> Result<()> {
                self.0.merge(py, &other.get().0)
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
                Self(self.0.copied(py))
            }

            fn __copy__(&self, py: Python<'_>) -> Self {
                self.copy(py)
            }

            fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
                self.copy(py)
            }

            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, Self>) -> bool {
                self.0.equals(py, &other.get().0)
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
            #[staticmethod]
            fn from_bytes(py: Python<'_>, data: &Bound<'_, PyAny>) -> Result<Self> {
                let bytes = $crate::keys::bytes_of(data)?;
                let sketch = py.detach(|| <$sketch>::decode(&bytes))?;
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
