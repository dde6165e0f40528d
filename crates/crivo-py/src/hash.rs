//! `crivo.hash`: shows what makes a hash good enough and what a bad one leads to. Also makes
//! vectors of hashed features.

use crivo::hash as library;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Failure, Result, setting, setting_in};
use crate::similarity::bytes_of_text;
use crate::sketch::Reduced;

/// The hash function of textbooks: starting with the seed, h ← 31·h + byte modulo 2^32 for each
/// byte. It is for study, and no sketch uses it.
///
/// >>> from crivo.hash import djb31ma
/// >>> djb31ma("ab"), 31 * 97 + 98
/// (3105, 3105)
/// >>> djb31ma("Aa", seed=5) == djb31ma("BB", seed=5)
/// True
#[pyfunction]
#[pyo3(signature = (data, seed = None))]
#[pyo3(text_signature = "(data, seed=0)")]
pub(crate) fn djb31ma(data: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> Result<u32> {
    let (bytes, seed) = (bytes_of_text(data)?, seed_of(seed)?);
    Ok(data.py().detach(|| library::djb31ma(bytes, seed)))
}

/// Returns another readable text with the same `djb31ma` value as `text` under the seed. It shows
/// that a checksum is no signature. Another `choice` gives another text. None if no sentence has
/// that value, which has never been seen.
///
/// >>> from crivo.hash import djb31ma, forge
/// >>> contract = "Rui owes Ana ten euros."
/// >>> forged = forge(contract, seed=17)
/// >>> forged != contract, djb31ma(forged, 17) == djb31ma(contract, 17)
/// (True, True)
#[pyfunction]
#[pyo3(signature = (text, seed = None, choice = None))]
#[pyo3(text_signature = "(text, seed=0, choice=0)")]
pub(crate) fn forge(
    py: Python<'_>,
    text: &str,
    seed: Option<&Bound<'_, PyAny>>,
    choice: Option<&Bound<'_, PyAny>>,
) -> Result<Option<String>> {
    let (seed, choice) = (seed_of(seed)?, choice_of(choice)?);
    Ok(py.detach(|| library::forge(text, seed, choice)))
}

/// Returns a text that begins with `beginning`, continues with a readable sentence, and has the
/// same `djb31ma` value as `text`.
///
/// >>> from crivo.hash import djb31ma, forge_after
/// >>> contract = "Rui owes Ana ten euros."
/// >>> forged = forge_after("Rui owes Ana ten thousand euros.", contract)
/// >>> forged.startswith("Rui owes Ana ten thousand euros. "), djb31ma(forged) == djb31ma(contract)
/// (True, True)
#[pyfunction]
#[pyo3(signature = (beginning, text, seed = None, choice = None))]
#[pyo3(text_signature = "(beginning, text, seed=0, choice=0)")]
pub(crate) fn forge_after(
    py: Python<'_>,
    beginning: &str,
    text: &str,
    seed: Option<&Bound<'_, PyAny>>,
    choice: Option<&Bound<'_, PyAny>>,
) -> Result<Option<String>> {
    let (seed, choice) = (seed_of(seed)?, choice_of(choice)?);
    Ok(py.detach(|| library::forge_after(beginning, text, seed, choice)))
}

/// The probability that at least two of the items share a place: 1 − Π (1 − i/places).
///
/// >>> from crivo.hash import collision_probability
/// >>> round(collision_probability(23, 365), 6)
/// 0.507297
#[pyfunction]
pub(crate) fn collision_probability(items: &Bound<'_, PyAny>, places: &Bound<'_, PyAny>) -> Result<f64> {
    Ok(library::collision_probability(count_of("items", items)?, count_of("places", places)?))
}

/// Returns the approximation of `collision_probability` in textbooks: 1 − e^(−items²/(2·places)).
///
/// >>> from crivo.hash import approximate_collision_probability
/// >>> round(approximate_collision_probability(23, 365), 4)
/// 0.5155
#[pyfunction]
pub(crate) fn approximate_collision_probability(
    items: &Bound<'_, PyAny>,
    places: &Bound<'_, PyAny>,
) -> Result<f64> {
    Ok(library::approximate_collision_probability(count_of("items", items)?, count_of("places", places)?))
}

/// Returns the least number of items so that two share a place with at least this probability.
///
/// >>> from crivo.hash import items_for_collision
/// >>> items_for_collision(0.5, 365), items_for_collision(0.5, 2**32)
/// (23, 77164)
#[pyfunction]
pub(crate) fn items_for_collision(probability: f64, places: &Bound<'_, PyAny>) -> Result<u64> {
    Ok(library::items_for_collision(probability, count_of("places", places)?)?)
}

fn seed_of(seed: Option<&Bound<'_, PyAny>>) -> Result<u32> {
    seed.map_or(Ok(0), |seed| Ok(setting_in("seed", seed, 0..=u32::MAX.into())? as u32))
}

fn choice_of(choice: Option<&Bound<'_, PyAny>>) -> Result<u64> {
    choice.map_or(Ok(0), |choice| count_of("choice", choice))
}

fn count_of(name: &str, count: &Bound<'_, PyAny>) -> Result<u64> {
    setting(name, count, "0 to 2^64 - 1")
}

/// Maps named features to 2^bits slots, each with a sign, without a dictionary of names. Dot
/// products of hashed vectors are unbiased. For vectors of length 1 they are off by at most about
/// √(2/2^bits).
///
/// Features are a dictionary of weights by name, or pairs of a name and a weight. Names are str or
/// bytes.
///
/// >>> from crivo.hash import FeatureHasher
/// >>> hasher = FeatureHasher(18)
/// >>> slots, weights = hasher.sparse({"sender:ana": 1, "hour:9": 1})
/// >>> subject = hasher.namespace("subject")
/// >>> subject.place("cheap") == hasher.place("cheap")
/// False
/// >>> float(hasher.dense({"cheap": 2}) @ hasher.dense([("cheap", 3), ("watches", 1)]))
/// 6.0
#[pyclass(module = "crivo.hash", frozen, eq)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FeatureHasher {
    hasher: library::FeatureHasher,
    seed: u64,
}

/// The slots that are not zero, and their weights.
type Sparse<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>);

#[pymethods]
impl FeatureHasher {
    #[new]
    #[pyo3(signature = (slot_bits, seed = None))]
    #[pyo3(text_signature = "(slot_bits, seed=0)")]
    fn new(slot_bits: &Bound<'_, PyAny>, seed: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        let (least, most) = library::FeatureHasher::SLOT_BITS.into_inner();
        let slot_bits = setting_in("slot bits", slot_bits, least.into()..=most.into())? as u8;
        let seed = seed.map_or(Ok(0), |seed| count_of("seed", seed))?;
        Ok(Self { hasher: library::FeatureHasher::new(slot_bits)?.with_seed(seed), seed })
    }

    /// Returns a hasher with the same slots for a separate set of features. A word in the subject
    /// becomes another feature than the same word in the body.
    fn namespace(&self, name: &Bound<'_, PyAny>) -> Result<Self> {
        let name = bytes_of_text(name)?;
        let seed = crivo::keys::KeyScheme::bytes().with_seed(self.seed).hash(name)?;
        Ok(Self { hasher: self.hasher.namespace(name), seed })
    }

    /// The base-2 logarithm of the number of slots.
    #[getter]
    fn slot_bits(&self) -> u8 {
        self.hasher.slot_bits()
    }

    /// The number of slots.
    #[getter]
    fn slots(&self) -> u32 {
        self.hasher.slots()
    }

    /// The seed of the hash.
    #[getter]
    fn seed(&self) -> u64 {
        self.seed
    }

    /// The slot of a feature, and its weight with the sign of the feature.
    #[pyo3(signature = (name, weight = 1.0))]
    fn place(&self, name: &Bound<'_, PyAny>, weight: f32) -> Result<(u32, f32)> {
        Ok(self.hasher.place(bytes_of_text(name)?, weight))
    }

    /// The slots of the features in ascending order, and in the same order the sums of their
    /// weights.
    fn sparse<'py>(&self, features: &Bound<'py, PyAny>) -> Result<Sparse<'py>> {
        let pairs = pairs_of(features)?;
        let entries = with_names(&pairs, |features| Ok(self.hasher.sparse(features)))?;
        let (slots, weights) = entries.entries().iter().copied().unzip();
        Ok((PyArray1::from_vec(features.py(), slots), PyArray1::from_vec(features.py(), weights)))
    }

    /// A vector of all slots with the sums of the features' weights.
    fn dense<'py>(&self, features: &Bound<'py, PyAny>) -> Result<Bound<'py, PyArray1<f32>>> {
        let pairs = pairs_of(features)?;
        let mut dense = self.hasher.dense()?;
        with_names(&pairs, |features| self.hasher.add_dense(features, &mut dense))?;
        Ok(PyArray1::from_vec(features.py(), dense))
    }

    /// Adds features in place to a vector of all slots, which is an array of float32.
    fn add_dense<'py>(&self, features: &Bound<'py, PyAny>, dense: &Bound<'py, PyArray1<f32>>) -> Result<()> {
        let pairs = pairs_of(features)?;
        let mut dense = dense.try_readwrite().map_err(PyErr::from)?;
        let dense = dense.as_slice_mut().map_err(PyErr::from)?;
        with_names(&pairs, |features| self.hasher.add_dense(features, dense))
    }

    fn __repr__(&self) -> String {
        format!("FeatureHasher({}, {})", self.slot_bits(), self.seed)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Reduced<'py, (u8, u64)> {
        (slf.get_type().into_any(), (slf.get().slot_bits(), slf.get().seed))
    }
}

type Pairs<'py> = Vec<(Bound<'py, PyAny>, f32)>;

fn pairs_of<'py>(features: &Bound<'py, PyAny>) -> Result<Pairs<'py>> {
    if let Ok(dictionary) = features.cast::<PyDict>() {
        return dictionary.iter().map(|(name, weight)| Ok((name, weight.extract()?))).collect();
    }
    let pair = |item: PyResult<Bound<'py, PyAny>>| {
        let found = item?;
        found.extract().map_err(|_: PyErr| {
            let kind = found.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
            Failure::key("pairs of a name and a weight", kind, "or a dictionary of weights by name")
        })
    };
    features.try_iter()?.map(pair).collect()
}

/// Passes the features to `work`, with each name as bytes.
fn with_names<R>(pairs: &Pairs<'_>, work: impl FnOnce(Vec<(&[u8], f32)>) -> crivo::Result<R>) -> Result<R> {
    let named: Result<Vec<_>> =
        pairs.iter().map(|(name, weight)| Ok((bytes_of_text(name)?, *weight))).collect();
    Ok(work(named?)?)
}
