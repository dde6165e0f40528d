//! The majority vote.

use crivo::frequency::Majority as Sketch;
use crivo::keys::KeyRef;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::hitter::hitter;
use super::{ADD, FREQUENCY, add_batch_method, add_hashes_method, total_methods, weight_of};
use crate::errors::{Result, setting};
use crate::estimate::Estimate;
use crate::keys::scheme_of;
use crate::sketch::{INSERT, Reduced, Shared, insert_batch_method, insert_hashes_method, sketch_methods};

/// Finds the one key that may have more than half of all votes, in the memory of one key. If a key
/// has the majority, it is the candidate. Often it is certain that the candidate has the majority.
/// Otherwise a second pass over the votes that counts the candidate decides.
///
/// `keys` and `seed` are as for `HyperLogLog`; nothing is hashed.
///
/// >>> from crivo import Majority
/// >>> votes = Majority()
/// >>> votes.insert_batch(["ana", "ana", "rui", "ana", "eva", "ana"])
/// 0
/// >>> votes.candidate()
/// Hitter(key='ana', count=4, lower=4, upper=4)
/// >>> votes.is_certain
/// True
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct Majority(Shared<Sketch>);

sketch_methods!(Majority, Sketch);
insert_batch_method!(Majority);
insert_hashes_method!(Majority);
add_batch_method!(Majority, Sketch);
add_hashes_method!(Majority, Sketch);
total_methods!(Majority);

#[pymethods]
impl Majority {
    #[new]
    #[pyo3(signature = (*, keys = "text", seed = None))]
    #[pyo3(text_signature = "(*, keys='text', seed=0)")]
    fn new(keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Ok(Self(Shared::new(Sketch::with_scheme(scheme_of(keys, seed)?))))
    }

    /// Adds one vote for a key. `KeyTypeError` if it is not of the sketch's kind; None is no key
    /// either. Empty text is a key here, but `insert_batch` skips it.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_key(key, &INSERT, |sketch, key| sketch.add_ref(key, 1))
    }

    /// Adds the given number of votes for a key.
    fn add(&self, key: &Bound<'_, PyAny>, weight: &Bound<'_, PyAny>) -> Result<()> {
        let weight = weight_of(weight)?;
        self.0.with_key(key, &ADD, |sketch, key| sketch.add_ref(key, weight))
    }

    /// The only key that can have a majority, with certain bounds of its votes. None if it is
    /// certain that no key has one.
    fn candidate<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let candidate = self.0.quick(py, |sketch| sketch.candidate());
        Ok(candidate.map(|candidate| hitter(py, &candidate)).transpose()?)
    }

    /// True if it is certain that the candidate has more than half of all votes.
    #[getter]
    fn is_certain(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_certain())
    }

    /// Returns True if `count` votes are more than half of all. For a second pass that counts the
    /// candidate.
    fn is_majority(&self, py: Python<'_>, count: &Bound<'_, PyAny>) -> Result<bool> {
        let count = setting("count", count, "0 to 2^64 - 1")?;
        Ok(self.0.quick(py, |sketch| sketch.is_majority(count)))
    }

    /// The number of votes for a key, with certain bounds.
    ///
    /// >>> votes = Majority()
    /// >>> votes.insert_batch(["ana", "rui", "ana"])
    /// 0
    /// >>> votes.frequency("rui")
    /// Estimate(0.0, 0.0, 1.0, confidence=1.0)
    fn frequency(&self, key: &Bound<'_, PyAny>) -> Result<Estimate> {
        Ok(self.0.with_key(key, &FREQUENCY, |sketch, key| sketch.frequency_ref(key))?.into())
    }

    /// The number of votes for the key with this hash, in a sketch with `keys="hash"`.
    fn frequency_of_hash(&self, hash: &Bound<'_, PyAny>) -> Result<Estimate> {
        let frequency = |sketch: &mut Sketch, hash| sketch.frequency_ref(KeyRef::Hash(hash));
        Ok(self.0.with_given_hash(hash, &FREQUENCY, frequency)??.into())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, total) = (self.keys(py), self.seed(py), self.total(py));
        let candidate = self.0.quick(py, |sketch| sketch.candidate());
        let candidate = candidate.map_or("no candidate".to_owned(), |leader| format!("'{}'", leader.key()));
        format!("<Majority keys='{keys}', seed={seed}: {candidate} of {total} votes>")
    }
}
