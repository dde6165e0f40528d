//! [`LshIndex`]: finds similar sets among many.

use crivo::Confidence;
use crivo::similarity::LshIndex as Index;
use crivo::similarity::lsh_index::{LshContents, Similar as LibrarySimilar, SimilarPair as LibraryPair};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyType;

use super::{Bands, MinHash, k_of};
use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::keys::{name_of, scheme_of};
use crate::sketch::{Reduced, Shared};

/// An index of `MinHash` sketches by their bands, under ids of the caller's own: it finds those
/// that are alike without comparing all. It lives in memory and is not stored, since it keeps only
/// 16 bits of each slot: store the sketches. It can be pickled, to go to another process of the
/// same version, and copied.
///
/// A pair of similarity J is found with probability `bands.probability(J)`. Of more than
/// `all_pairs_up_to` sets that share a bucket only the pairs with the smallest id are named, which
/// still connect all of them.
///
/// >>> from crivo import LshIndex, MinHash
/// >>> index = LshIndex.for_threshold(0.5)
/// >>> for id, text in enumerate(["a b c d e f g", "a b c d e f h", "x y z"]):
/// ...     words = MinHash(128)
/// ...     missing = words.insert_batch(text.split())
/// ...     index.insert(id, words)
/// >>> (pair,) = index.similars(0.5)
/// >>> pair.ids, 0.75 in pair.estimate()
/// ((0, 1), True)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct LshIndex(Shared<Index>);

/// The state in a pickle: sizes, keys, seed, the limit of crowds, and the contents.
type State<'py> = (
    u32,
    Bands,
    &'static str,
    u64,
    usize,
    Bound<'py, PyArray1<u64>>,
    Bound<'py, PyArray1<u16>>,
    Bound<'py, PyArray1<u32>>,
);

#[pymethods]
impl LshIndex {
    #[new]
    #[pyo3(signature = (k, bands, *, keys = "text", seed = None, all_pairs_up_to = Index::ALL_PAIRS_UP_TO))]
    #[pyo3(text_signature = "(k, bands, *, keys='text', seed=0, all_pairs_up_to=100)")]
    fn new(
        k: &Bound<'_, PyAny>,
        bands: &Bound<'_, Bands>,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
        all_pairs_up_to: usize,
    ) -> Result<Self> {
        let index = Index::with_scheme(k_of(k)?, bands.get().0, scheme_of(keys, seed)?)?;
        Ok(Self(Shared::new(index.with_all_pairs_up_to(all_pairs_up_to))))
    }

    /// An empty index for sketches of k slots, in bands that find at least 99 % of the pairs at the
    /// threshold.
    #[staticmethod]
    #[pyo3(signature = (threshold, k = None, *, keys = "text", seed = None))]
    #[pyo3(text_signature = "(threshold, k=128, *, keys='text', seed=0)")]
    fn for_threshold(
        threshold: f64,
        k: Option<&Bound<'_, PyAny>>,
        keys: &str,
        seed: Option<&Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let k = k.map_or(Ok(128), k_of)?;
        let bands = crivo::similarity::Bands::for_threshold(threshold, k)?;
        Ok(Self(Shared::new(Index::with_scheme(k, bands, scheme_of(keys, seed)?)?)))
    }

    /// Adds a set under an id. `InvalidParameterError` if the id is in the index already;
    /// `IncompatibleError` if the set is empty, or its k, `keys` or `seed` is not the index's.
    fn insert(&self, py: Python<'_>, id: &Bound<'_, PyAny>, sketch: &Bound<'_, MinHash>) -> Result<()> {
        let (id, sketch) = (id_of(id)?, sketch.get().sketch(py));
        Ok(self.0.quick(py, |index| index.insert(id, &sketch))?)
    }

    /// Takes a set out, and says whether it was in.
    fn remove(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> Result<bool> {
        let id = id_of(id)?;
        Ok(self.0.detached(py, |index| index.remove(id)))
    }

    /// All pairs that share a bucket: the smaller ids, and in the same order the larger ones.
    fn candidates<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<u64>>, Bound<'py, PyArray1<u64>>) {
        let (smaller, larger) = self.0.detached(py, |index| index.candidates().into_iter().unzip());
        (PyArray1::from_vec(py, smaller), PyArray1::from_vec(py, larger))
    }

    /// The ids of the sets that share a bucket with this one, its own among them if it is in the
    /// index.
    fn candidates_to<'py>(
        &self,
        py: Python<'py>,
        sketch: &Bound<'py, MinHash>,
    ) -> Result<Bound<'py, PyArray1<u64>>> {
        let sketch = sketch.get().sketch(py);
        let ids = self.0.detached(py, |index| index.candidates_to(&sketch))?;
        Ok(PyArray1::from_vec(py, ids))
    }

    /// `candidates_to` as a list, as datasketch calls it.
    fn query(&self, py: Python<'_>, sketch: &Bound<'_, MinHash>) -> Result<Vec<u64>> {
        let sketch = sketch.get().sketch(py);
        Ok(self.0.detached(py, |index| index.candidates_to(&sketch))?)
    }

    /// The pairs whose estimated similarity is at least the threshold, in the order of their ids.
    fn similars(&self, py: Python<'_>, threshold: f64) -> Result<Vec<SimilarPair>> {
        let pairs = self.0.detached(py, |index| index.similars(threshold))?;
        Ok(pairs.into_iter().map(SimilarPair).collect())
    }

    /// The sets like this one, whose estimated similarity is at least the threshold, in the order
    /// of their ids; itself among them if it is in the index.
    fn similars_to(
        &self,
        py: Python<'_>,
        sketch: &Bound<'_, MinHash>,
        threshold: f64,
    ) -> Result<Vec<Similar>> {
        let sketch = sketch.get().sketch(py);
        let similars = self.0.detached(py, |index| index.similars_to(&sketch, threshold))?;
        Ok(similars.into_iter().map(Similar).collect())
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

    /// What `__reduce__` wrote.
    #[classmethod]
    #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // as `__reduce__` lists them
    fn _restored(
        cls: &Bound<'_, PyType>,
        k: &Bound<'_, PyAny>,
        bands: &Bound<'_, Bands>,
        keys: &str,
        seed: &Bound<'_, PyAny>,
        all_pairs_up_to: usize,
        ids: PyReadonlyArray1<'_, u64>,
        signatures: PyReadonlyArray1<'_, u16>,
        buckets: PyReadonlyArray1<'_, u32>,
    ) -> Result<Self> {
        let (k, bands, scheme) = (k_of(k)?, bands.get().0, scheme_of(keys, Some(seed))?);
        let contents = LshContents {
            ids: ids.as_array().to_vec(),
            signatures: signatures.as_array().to_vec(),
            buckets: buckets.as_array().to_vec(),
        };
        let index = cls.py().detach(|| Index::from_contents(k, bands, scheme, &contents));
        let index =
            index.map_err(|error| Failure::Bytes(format!("LshIndex: {error} (the pickle is damaged)")))?;
        Ok(Self(Shared::new(index.with_all_pairs_up_to(all_pairs_up_to))))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Reduced<'py, State<'py>>> {
        let (py, this) = (slf.py(), slf.get());
        let (contents, limit) = this.0.detached(py, |index| (index.contents(), index.all_pairs_up_to()));
        let state = (
            this.k(py),
            this.bands(py),
            this.keys(py),
            this.seed(py),
            limit,
            PyArray1::from_vec(py, contents.ids),
            PyArray1::from_vec(py, contents.signatures),
            PyArray1::from_vec(py, contents.buckets),
        );
        Ok((slf.get_type().getattr("_restored")?, state))
    }

    /// What the sketches' keys are: "text", "int" or "hash".
    #[getter]
    fn keys(&self, py: Python<'_>) -> &'static str {
        name_of(self.0.quick(py, |index| index.scheme().kind()))
    }

    /// The seed of the sketches' hash.
    #[getter]
    fn seed(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |index| index.scheme().seed())
    }

    /// The number of slots of the sketches.
    #[getter]
    fn k(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |index| index.k())
    }

    /// How signatures are cut.
    #[getter]
    fn bands(&self, py: Python<'_>) -> Bands {
        Bands(self.0.quick(py, |index| index.bands()))
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |index| index.memory())
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.0.quick(py, |index| index.len())
    }

    fn __contains__(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> Result<bool> {
        let id = id_of(id)?;
        Ok(self.0.quick(py, |index| index.contains(id)))
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (keys, seed, k, bands) = (self.keys(py), self.seed(py), self.k(py), self.bands(py));
        let (bands, sets) = (bands.0, self.__len__(py));
        let (count, rows) = (bands.bands(), bands.rows());
        format!("<LshIndex k={k}, bands=Bands({count}, {rows}), keys='{keys}', seed={seed}: {sets} sets>")
    }
}

/// Reads an id. If it is no integer, the error says what to do.
fn id_of(id: &Bound<'_, PyAny>) -> Result<u64> {
    if !id.hasattr("__index__")? {
        let found = id.get_type().name()?;
        let advice = "keep keys of other types in a list, and give their places";
        return Err(Failure::Key(format!("id: expected an integer, found {found} ({advice})")));
    }
    setting("id", id, "0 to 2^64 - 1")
}

/// A set that is like the one asked for: made by `LshIndex.similars_to`.
///
/// >>> from crivo import LshIndex, MinHash
/// >>> index, letters = LshIndex.for_threshold(0.8), MinHash(128)
/// >>> letters.insert_batch(list("abc"))
/// 0
/// >>> index.insert(7, letters)
/// >>> (found,) = index.similars_to(letters, 0.9)
/// >>> found.id, found.similarity
/// (7, 1.0)
#[pyclass(module = "crivo", frozen, eq)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Similar(LibrarySimilar);

#[pymethods]
impl Similar {
    /// The id of the set.
    #[getter]
    fn id(&self) -> u64 {
        self.0.id()
    }

    /// The estimated similarity: the share of equal slots.
    #[getter]
    fn similarity(&self) -> f64 {
        self.0.similarity()
    }

    /// The similarity with bounds at the given confidence.
    #[pyo3(signature = (confidence = 0.95))]
    fn estimate(&self, confidence: f64) -> Result<Estimate> {
        Ok(self.0.estimate_at(Confidence::new(confidence)?).into())
    }

    fn __repr__(&self) -> String {
        format!("<Similar id={}, similarity={}>", self.id(), self.similarity())
    }
}

/// Two sets that are alike: made by `LshIndex.similars`.
///
/// >>> from crivo import LshIndex, MinHash
/// >>> index, one, other = LshIndex.for_threshold(0.8), MinHash(128), MinHash(128)
/// >>> for id, sketch in enumerate((one, other)):
/// ...     missing = sketch.insert_batch(range(50))
/// ...     index.insert(id, sketch)
/// >>> index.similars(0.8)
/// [<SimilarPair ids=(0, 1), similarity=1>]
#[pyclass(module = "crivo", frozen, eq)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SimilarPair(LibraryPair);

#[pymethods]
impl SimilarPair {
    /// The ids of the two sets, the smaller one first.
    #[getter]
    fn ids(&self) -> (u64, u64) {
        self.0.ids()
    }

    /// The estimated similarity: the share of equal slots.
    #[getter]
    fn similarity(&self) -> f64 {
        self.0.similarity()
    }

    /// The similarity with bounds at the given confidence.
    #[pyo3(signature = (confidence = 0.95))]
    fn estimate(&self, confidence: f64) -> Result<Estimate> {
        Ok(self.0.estimate_at(Confidence::new(confidence)?).into())
    }

    fn __repr__(&self) -> String {
        format!("<SimilarPair ids={:?}, similarity={}>", self.ids(), self.similarity())
    }
}
