//! [`KeyQuantiles`]: quantiles of texts and integers in their order.

use crivo::Confidence;
use crivo::keys::OwnedKey;
use crivo::quantiles::{KeyQuantile, KeyQuantiles as Sketch};
use crivo::sketch::AddWeights;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::{accuracy_of, seed_of};
use crate::errors::{Result, setting, setting_in};
use crate::estimate::Estimate;
use crate::keys::{Verb, scheme_of, to_python};
use crate::sketch::{INSERT, Reduced, Shared, common_methods, insert_batch_method};

/// The method that returns a key's place in the order.
static COUNT_BELOW: Verb = Verb { one: "count_below", many: "", hashes: "", so_far: "" };

/// The key of a quantile, its lower and its upper bound.
type Between<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// Keeps about 3·`size` keys of a stream, from which any quantile of texts or integers is answered,
/// as `NumberQuantiles` does for numbers. Texts are in the order of their bytes, integers in that
/// of their values.
///
/// Coins follow from `seed`. Sketches that will be merged need different seeds. `keys` is as for
/// `HyperLogLog`; `key_seed` is a label.
///
/// >>> from crivo import KeyQuantiles
/// >>> names = KeyQuantiles(200, seed=7)
/// >>> names.insert_batch(["eva", "ana", "zoe"])
/// 0
/// >>> names.quantile(0.5), names.min, names.max
/// (('eva', 'eva', 'eva'), 'ana', 'zoe')
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct KeyQuantiles(Shared<Sketch>);

common_methods!(KeyQuantiles, Sketch);
insert_batch_method!(KeyQuantiles);

fn between<'py>(py: Python<'py>, quantile: &KeyQuantile) -> PyResult<Between<'py>> {
    let of = |key: &OwnedKey| to_python(py, key.as_ref());
    Ok((of(&quantile.value)?, of(&quantile.lower)?, of(&quantile.upper)?))
}

#[pymethods]
impl KeyQuantiles {
    #[new]
    #[pyo3(signature = (size, *, accuracy = "uniform", seed = None, keys = "text", key_seed = None))]
    #[pyo3(text_signature = "(size, *, accuracy='uniform', seed=0, keys='text', key_seed=0)")]
    fn new(
        size: &Bound<'_, PyAny>,
        accuracy: &str,
        seed: Option<&Bound<'_, PyAny>>,
        keys: &str,
        key_seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let (least, most) = Sketch::SIZES.into_inner();
        let size = setting_in("size", size, least.into()..=most.into())? as u32;
        let (accuracy, scheme) = (accuracy_of(accuracy)?, scheme_of(keys, key_seed)?);
        Ok(Self(Shared::new(Sketch::with_scheme(size, accuracy, scheme, seed_of(seed)?)?)))
    }

    /// An empty sketch whose ranks are right to within that share, 95 % sure: of all keys, or with
    /// "tails" of the distance from the nearer end.
    #[staticmethod]
    #[pyo3(signature = (error, *, accuracy = "uniform", seed = None, keys = "text", key_seed = None))]
    #[pyo3(text_signature = "(error, *, accuracy='uniform', seed=0, keys='text', key_seed=0)")]
    fn for_bound(
        error: f64,
        accuracy: &str,
        seed: Option<&Bound<'_, PyAny>>,
        keys: &str,
        key_seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let (accuracy, scheme) = (accuracy_of(accuracy)?, scheme_of(keys, key_seed)?);
        let size = Sketch::size_for(error, accuracy)?;
        Ok(Self(Shared::new(Sketch::with_scheme(size, accuracy, scheme, seed_of(seed)?)?)))
    }

    /// Adds one key. `KeyTypeError` if it is not of the sketch's kind; None is no key either.
    /// Empty text is a key here; `insert_batch` skips it.
    fn insert(&self, key: &Bound<'_, PyAny>) -> Result<()> {
        self.0.with_key(key, &INSERT, |sketch, key| sketch.add_ref(key, 1))
    }

    /// Adds a key as often as its weight says.
    fn add(&self, key: &Bound<'_, PyAny>, weight: &Bound<'_, PyAny>) -> Result<()> {
        let weight = setting("weight", weight, "0 to 2^64 - 1")?;
        self.0.with_key(key, &INSERT, |sketch, key| sketch.add_ref(key, weight))
    }

    /// The key at which that share of all keys is reached, its lower and its upper bound at 95 %.
    /// None if there are no keys, or the share is not from 0 to 1.
    fn quantile<'py>(&self, py: Python<'py>, share: f64) -> Result<Option<Between<'py>>> {
        let quantile = self.0.detached(py, |sketch| sketch.quantile(share));
        Ok(quantile.map(|quantile| between(py, &quantile)).transpose()?)
    }

    /// Many quantiles, at the cost of one.
    #[allow(clippy::needless_pass_by_value)] // Python's list has no slice to lend
    fn quantiles<'py>(&self, py: Python<'py>, shares: Vec<f64>) -> Result<Vec<Option<Between<'py>>>> {
        let quantiles = self.0.detached(py, |sketch| sketch.quantiles(&shares, Confidence::P95));
        let of = |quantile: &Option<KeyQuantile>| quantile.as_ref().map(|one| between(py, one)).transpose();
        Ok(quantiles.iter().map(of).collect::<PyResult<_>>()?)
    }

    /// How many keys come before one, with bounds at 95 %.
    fn count_below(&self, key: &Bound<'_, PyAny>) -> Result<Estimate> {
        Ok(self.0.with_key(key, &COUNT_BELOW, |sketch, key| sketch.count_below_ref(key))?.into())
    }

    /// What the keys are: "text", "int" or "hash".
    #[getter]
    fn keys(&self, py: Python<'_>) -> &'static str {
        crate::keys::name_of(self.0.scheme(py).kind())
    }

    /// The seed of other sketches of the same keys. Nothing is hashed here: it is a label, and only
    /// sketches with the same one can be merged.
    #[getter]
    fn key_seed(&self, py: Python<'_>) -> u64 {
        self.0.scheme(py).seed()
    }

    /// How many keys there are; 2^64 - 1 if that many or more.
    #[getter]
    fn count(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |sketch| sketch.count())
    }

    /// The first key in order; None if there are none.
    #[getter]
    fn min<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let key = self.0.quick(py, |sketch| sketch.min().map(crivo::keys::KeyRef::to_owned));
        Ok(key.map(|key| to_python(py, key.as_ref())).transpose()?)
    }

    /// The last key in order; None if there are none.
    #[getter]
    fn max<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyAny>>> {
        let key = self.0.quick(py, |sketch| sketch.max().map(crivo::keys::KeyRef::to_owned));
        Ok(key.map(|key| to_python(py, key.as_ref())).transpose()?)
    }

    /// The size that the sketch was built with.
    #[getter]
    fn size(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |sketch| sketch.size())
    }

    /// Which ranks are to be right: "uniform" or "tails".
    #[getter]
    fn accuracy(&self, py: Python<'_>) -> &'static str {
        self.0.quick(py, |sketch| sketch.accuracy().name())
    }

    /// The standard error of ranks now, as a share of all keys; with "tails" that in the middle.
    #[getter]
    fn standard_error(&self, py: Python<'_>) -> f64 {
        self.0.quick(py, |sketch| sketch.standard_error())
    }

    /// Whether every answer is exact.
    #[getter]
    fn is_exact(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_exact())
    }

    /// Whether there are no keys. (A sketch without a length is always true, as objects are.)
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |sketch| sketch.is_empty())
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.detached(py, |sketch| sketch.memory())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (size, accuracy) = (self.size(py), self.accuracy(py));
        let (keys, count) = (self.keys(py), self.count(py));
        format!("<KeyQuantiles size={size}, accuracy='{accuracy}', keys='{keys}': {count} keys>")
    }
}
