// This file is long because it contains the docstrings that Python shows.

//! [`near_duplicates`]: from texts to verified pairs and clusters, in one call.

use std::sync::{Mutex, PoisonError};

use crivo::similarity::shingle::Shingles;
use crivo_html::PageText;
use crivo_near::{
    Clusters, Documents, Keep, Linking, Measure, Outcome, Settings, Stage, Watch, thread_count,
};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PySet, PyType};

use super::Bands;
use super::bands::hashes_of;
use super::texts::Texts;
use crate::errors::{Failure, Result, setting};
use crate::estimate::Estimate;
use crate::sketch::Reduced;

/// Finds the near-duplicates among texts: documents whose shingles have a Jaccard similarity of at
/// least `threshold`. Every similarity is exact, unless `fast` trusts signatures. `expected_missed`
/// estimates how many pairs were not found.
///
/// `texts` is a list or other iterable of str or bytes, or an Arrow column of text, which is read
/// in place and without the GIL. A missing or empty text is similar to no other. `ids` names the
/// texts in `pairs`, and must be different for each. Without `ids`, texts are named by their
/// positions.
///
/// With the `measure` "containment", the similarity is the share of the shorter text's shingles
/// that the longer one has too. A text is then removed if that share reaches `threshold` for a text
/// that is kept, and the longest text of a cluster is kept.
///
/// `keep` says which text of a cluster is kept, the "first" or the "longest". `linking` says what a
/// cluster is: with "kept", the texts that are similar to the kept one; with "chains", all texts
/// that a chain of near-duplicates connects. `removed` lists why each text is not kept. Of very
/// large clusters not all pairs are listed, unless `all_pairs` is true; `not_listed` estimates how
/// many are left out. With `html` the texts are pages, and only what a reader sees of them is
/// compared. With `nfc` texts are converted to normal form C first. About `memory` bytes are used,
/// and a temporary file if that is too little. 0 `threads` are as many as there are processors.
/// Without `bands`, those are chosen that find 99 % of the pairs at the threshold, with signatures
/// of `hashes` hashes.
///
/// >>> from crivo import near_duplicates
/// >>> texts = ["the cat sat on the mat", "a dog barked at it", "The cat sat on the mat!"]
/// >>> found = near_duplicates(texts, shingle="words:2")
/// >>> found.pairs
/// [(0, 2, 1.0)]
/// >>> found.clusters, found.kept
/// (array([0, 1, 0], dtype=uint32), array([0, 1], dtype=uint32))
/// >>> found.removed
/// [(2, 0, 1.0)]
#[pyfunction]
#[pyo3(signature = (
    texts, threshold = 0.8, *, shingle = "words:5", ids = None, measure = "jaccard", keep = None, linking = "kept", html = false,
    fast = false, all_pairs = false, nfc = false, memory = None, threads = None, hashes = None, bands = None, seed = None
))]
#[pyo3(
    text_signature = "(texts, threshold=0.8, *, shingle='words:5', ids=None, measure='jaccard', keep=None, \
    linking='kept', html=False, fast=False, all_pairs=False, nfc=False, memory=2147483648, threads=0, hashes=128, bands=None, seed=0)"
)]
#[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)] // they are named by the caller
pub(crate) fn near_duplicates(
    texts: &Bound<'_, PyAny>,
    threshold: f64,
    shingle: &str,
    ids: Option<&Bound<'_, PyAny>>,
    measure: &str,
    keep: Option<&str>,
    linking: &str,
    html: bool,
    fast: bool,
    all_pairs: bool,
    nfc: bool,
    memory: Option<&Bound<'_, PyAny>>,
    threads: Option<&Bound<'_, PyAny>>,
    hashes: Option<&Bound<'_, PyAny>>,
    bands: Option<&Bound<'_, Bands>>,
    seed: Option<&Bound<'_, PyAny>>,
) -> Result<NearDuplicates> {
    let py = texts.py();
    let (measure, linking) = (measure_of(measure)?, linking_of(linking)?);
    let keep = keep.map_or(Ok(Keep::default_for(measure)), keep_of)?;
    measure.require(linking, keep)?;
    let defaults = Settings::default();
    let settings = Settings {
        threshold,
        measure,
        shingles: shingle.parse::<Shingles>()?,
        seed: seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))?,
        hashes: hashes_of(hashes)?,
        bands: bands.map(|bands| bands.get().0),
        fast,
        all_pairs,
        nfc,
        memory: memory.map_or(Ok(defaults.memory), |bytes| setting("memory", bytes, "at least 16 MiB"))?,
        threads: thread_count(threads.map_or(Ok(0), |threads| setting("threads", threads, "0 or more"))?),
        ..defaults
    };
    settings.bands()?;
    let texts = Texts::of(texts)?;
    let slices = texts.slices()?;
    let ids = ids.map(|ids| ids_of(ids, slices.len())).transpose()?;
    let watch = Signals::default();
    let found = py.detach(|| Found::search(&slices, html, &settings, linking, keep, &watch));
    if let Some(raised) = watch.into_raised() {
        return Err(raised.into());
    }
    Ok(NearDuplicates { found: found?, ids })
}

fn measure_of(measure: &str) -> Result<Measure> {
    match measure {
        "jaccard" => Ok(Measure::Jaccard),
        "containment" => Ok(Measure::Containment),
        _ => Err(Failure::Parameter(format!(
            "measure: expected 'jaccard' or 'containment', found '{measure}'"
        ))),
    }
}

fn keep_of(keep: &str) -> Result<Keep> {
    match keep {
        "first" => Ok(Keep::First),
        "longest" => Ok(Keep::Longest),
        _ => Err(Failure::Parameter(format!("keep: expected 'first' or 'longest', found '{keep}'"))),
    }
}

fn linking_of(linking: &str) -> Result<Linking> {
    match linking {
        "kept" | "representative" => Ok(Linking::Kept),
        "chains" => Ok(Linking::Chains),
        _ => Err(Failure::Parameter(format!("linking: expected 'kept' or 'chains', found '{linking}'"))),
    }
}

/// Returns one id for each text. All ids must be different.
fn ids_of(ids: &Bound<'_, PyAny>, texts: usize) -> Result<Vec<Py<PyAny>>> {
    let py = ids.py();
    // Elements of a column would be its own scalars. A list has Python objects.
    let ids = match ["to_pylist", "tolist"].into_iter().find(|name| ids.hasattr(*name).unwrap_or(false)) {
        Some(as_list) => ids.call_method0(as_list)?,
        None => ids.clone(),
    };
    let ids: Vec<Py<PyAny>> = ids.try_iter()?.map(|id| id.map(Bound::unbind)).collect::<PyResult<_>>()?;
    if ids.len() != texts {
        let found = ids.len();
        let expected = format_args!("{texts}, one for each text");
        return Err(Failure::Parameter(format!("number of ids: expected {expected}, found {found}")));
    }
    let seen = PySet::empty(py)?;
    for (position, id) in ids.iter().enumerate() {
        let id = id.bind(py);
        if let Err(error) = seen.add(id) {
            if !error.is_instance_of::<PyTypeError>(py) {
                return Err(error.into());
            }
            let found = id.get_type().name()?;
            let expected = "what can be a key of a dict";
            return Err(Failure::Parameter(format!("ids: expected {expected}, found {found} at {position}")));
        }
        if seen.len() == position {
            let id = id.repr()?;
            return Err(Failure::Parameter(format!(
                "ids: expected a different one for each text, found {id} again at {position}"
            )));
        }
    }
    Ok(ids)
}

impl From<crivo_near::Error> for Failure {
    fn from(error: crivo_near::Error) -> Self {
        use crivo_near::Error;
        match error {
            Error::Sketch(error) => error.into(),
            Error::Setting { .. } | Error::TooMany => Self::Parameter(error.to_string()),
            Error::Storage { cause, .. } => Self::Python(cause.into()),
            other => Self::Python(pyo3::exceptions::PyRuntimeError::new_err(other.to_string())),
        }
    }
}

/// Checks between two stages whether the user pressed Ctrl-C.
#[derive(Default)]
pub(super) struct Signals {
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    /// Returns the exception that stopped the work, if any.
    pub(super) fn into_raised(self) -> Option<PyErr> {
        self.raised.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Signals {
    fn begin(&self, _: Stage) {
        #[allow(clippy::redundant_closure_for_method_calls)] // the method is of one lifetime only
        let checked = Python::attach(|py| py.check_signals());
        if let Err(raised) = checked {
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
        }
    }

    fn stopped(&self) -> bool {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// The texts that are not missing, each with its position.
struct Present<'a> {
    texts: Vec<&'a [u8]>,
    positions: Vec<u32>,
    html: bool,
    threads: usize,
}

impl Documents for Present<'_> {
    fn read<S: Send>(
        &self,
        make: &(dyn Fn() -> S + Sync),
        take: &(dyn Fn(&mut S, u64, &[u8]) -> crivo_near::Result<()> + Sync),
    ) -> crivo_near::Result<Vec<S>> {
        let texts = crivo_near::Texts::new(&self.texts, self.threads);
        if !self.html {
            return texts.read(make, take);
        }
        let states = texts.read(&|| (make(), PageText::default()), &|(state, page), place, text| {
            take(state, place, page.of(text))
        })?;
        Ok(states.into_iter().map(|(state, _)| state).collect())
    }
}

/// The result of a search, in positions of the texts.
#[derive(Debug)]
struct Found {
    pairs: Vec<[u32; 2]>,
    similarities: Vec<f64>,
    clusters: Vec<u32>,
    /// Each text that is not kept, with the one that is kept in its place.
    removed: Vec<[u32; 2]>,
    removed_similarities: Vec<f64>,
    documents: u32,
    missing: usize,
    too_short: u64,
    compared: u64,
    bands: crivo::similarity::Bands,
    expected_missed: crivo::Estimate,
    not_listed: crivo::Estimate,
}

impl Found {
    fn search(
        slices: &[Option<&[u8]>],
        html: bool,
        settings: &Settings,
        linking: Linking,
        keep: Keep,
        watch: &Signals,
    ) -> crivo_near::Result<Self> {
        u32::try_from(slices.len()).map_err(|_| crivo_near::Error::TooMany)?;
        let (positions, texts) = (0..)
            .zip(slices)
            .filter_map(|(position, text)| Some((position, (*text)?)))
            .filter(|(_, text)| !text.is_empty())
            .unzip();
        let present = Present { texts, positions, html, threads: settings.threads };
        let outcome = crivo_near::near_duplicates(&present, settings, watch)?;
        let clusters = Clusters::of(&outcome, linking, keep)?;
        Self::of(&outcome, &clusters, &present.positions, slices.len())
    }

    fn of(
        outcome: &Outcome,
        clusters: &Clusters,
        positions: &[u32],
        texts: usize,
    ) -> crivo_near::Result<Self> {
        let position = |member: u32| positions[member as usize];
        let count = usize::try_from(outcome.pairs()).unwrap_or(0);
        let (mut pairs, mut similarities) = (Vec::with_capacity(count), Vec::with_capacity(count));
        outcome.for_each_pair(|one, other, similarity| {
            pairs.push([position(one), position(other)]);
            similarities.push(similarity);
            Ok(())
        })?;
        let (mut removed, mut removed_similarities) = (Vec::new(), Vec::new());
        clusters.for_each_removed(outcome, |member, kept, similarity| {
            removed.push([position(member), position(kept)]);
            removed_similarities.push(similarity);
            Ok(())
        })?;
        // Each missing text is kept, in a cluster of its own.
        let mut kept: Vec<u32> = (0..texts as u32).collect();
        for (&of, member) in clusters.kept().iter().zip(0..) {
            kept[position(member) as usize] = position(of);
        }
        Ok(Self {
            pairs,
            similarities,
            clusters: kept,
            removed,
            removed_similarities,
            documents: outcome.documents(),
            missing: texts - positions.len(),
            too_short: outcome.too_short(),
            compared: outcome.compared(),
            bands: outcome.bands(),
            expected_missed: outcome.expected_missed(),
            not_listed: outcome.not_listed(),
        })
    }
}

impl Found {
    /// Returns true if the parts are consistent with each other. A pickle may contain anything.
    fn is_consistent(&self) -> bool {
        let kept = |position: u32| self.clusters.get(position as usize).copied();
        let mut similarities = self.similarities.iter().chain(&self.removed_similarities);
        self.documents as usize <= self.clusters.len()
            && self.similarities.len() == self.pairs.len()
            && self.removed_similarities.len() == self.removed.len()
            && similarities.all(|similarity| (0.0..=1.0).contains(similarity))
            && self.removed.is_sorted_by(|[one, _], [next, _]| one < next)
            && self.removed.iter().all(|&[gone, stays]| gone != stays && kept(gone) == Some(stays))
            && self.pairs.as_flattened().iter().all(|&position| kept(position).is_some())
            && self.clusters.iter().all(|&position| kept(position) == Some(position))
    }
}

/// The near-duplicates of a collection: made by `near_duplicates`.
///
/// >>> from crivo import near_duplicates
/// >>> found = near_duplicates(["one two three"] * 2 + [None, "four"], shingle="words:2", ids="abcd")
/// >>> found
/// <NearDuplicates 1 pairs among 3 documents>
/// >>> found.pairs, found.missing, found.too_short
/// ([('a', 'b', 1.0)], 1, 1)
/// >>> found.pair_positions, found.similarities
/// (array([[0, 1]], dtype=uint32), array([1.]))
/// >>> found.removed, found.not_listed.value
/// ([('b', 'a', 1.0)], 0.0)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct NearDuplicates {
    found: Found,
    ids: Option<Vec<Py<PyAny>>>,
}

/// The state in a pickle: pairs, similarities, clusters, three counts, bands, the estimate of
/// missed pairs, ids, removed texts, their similarities, and the estimate of pairs not listed.
type State<'py> = (
    Bound<'py, PyArray2<u32>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u32>>,
    (u32, u64, u64),
    Bands,
    Estimate,
    Option<Bound<'py, PyList>>,
    Bound<'py, PyArray2<u32>>,
    Bound<'py, PyArray1<f64>>,
    Estimate,
);

/// The ids of two texts, and their similarity.
type NamedPair<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, f64);

impl NearDuplicates {
    /// Returns pairs of positions with their similarities, as pairs of ids.
    fn named<'py>(
        &self,
        py: Python<'py>,
        pairs: &[[u32; 2]],
        similarities: &[f64],
    ) -> Result<Vec<NamedPair<'py>>> {
        let id = |position: u32| match &self.ids {
            Some(ids) => Ok(ids[position as usize].bind(py).clone()),
            None => Ok::<_, PyErr>(position.into_pyobject(py)?.into_any()),
        };
        let with_ids =
            |(&[one, other], &similarity): (&[u32; 2], &f64)| Ok((id(one)?, id(other)?, similarity));
        pairs.iter().zip(similarities).map(with_ids).collect()
    }
}

/// Returns pairs as an array with one row for each.
fn rows_of<'py>(py: Python<'py>, pairs: &[[u32; 2]]) -> PyResult<Bound<'py, PyArray2<u32>>> {
    PyArray1::from_slice(py, pairs.as_flattened()).reshape([pairs.len(), 2])
}

/// Returns the rows of an array as pairs. An array of another width has none.
fn pairs_of(rows: &PyReadonlyArray2<'_, u32>) -> Vec<[u32; 2]> {
    let rows = rows.as_array();
    match rows.dim() {
        (_, 2) => rows.rows().into_iter().map(|pair| [pair[0], pair[1]]).collect(),
        _ => Vec::new(),
    }
}

#[pymethods]
impl NearDuplicates {
    /// The pairs, in the order of their positions: the ids of both texts, and their similarity.
    #[getter]
    fn pairs<'py>(&self, py: Python<'py>) -> Result<Vec<NamedPair<'py>>> {
        self.named(py, &self.found.pairs, &self.found.similarities)
    }

    /// The positions of both texts of each pair, one row a pair.
    #[getter]
    fn pair_positions<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyArray2<u32>>> {
        Ok(rows_of(py, &self.found.pairs)?)
    }

    /// The similarity of each pair.
    #[getter]
    fn similarities<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.found.similarities)
    }

    /// For each text the position of the one that is kept in its place: its own, if it is kept.
    #[getter]
    fn clusters<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, &self.found.clusters)
    }

    /// The positions of the texts that are kept.
    #[getter]
    fn kept<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let clusters = self.found.clusters.iter().zip(0..);
        let kept = clusters.filter(|&(&kept, position)| kept == position).map(|(&kept, _)| kept);
        PyArray1::from_vec(py, kept.collect())
    }

    /// The certificate: the id of each text that is not kept, the id of the text that is kept in its
    /// place, and their similarity, in the order of the texts. Where chains link texts, one that was
    /// not compared with the kept one is left out. `crivo dedup --removed` and
    /// `crivo.spark.removed` list the same.
    #[getter]
    fn removed<'py>(&self, py: Python<'py>) -> Result<Vec<NamedPair<'py>>> {
        self.named(py, &self.found.removed, &self.found.removed_similarities)
    }

    /// How many pairs at or above the threshold were probably not found.
    #[getter]
    fn expected_missed(&self) -> Estimate {
        self.found.expected_missed.into()
    }

    /// How many pairs at or above the threshold are not in `pairs`, because very large clusters have
    /// too many. With `all_pairs` it is 0.
    #[getter]
    fn not_listed(&self) -> Estimate {
        self.found.not_listed.into()
    }

    /// How many texts there are, missing ones left out.
    #[getter]
    fn documents(&self) -> u32 {
        self.found.documents
    }

    /// How many texts are missing.
    #[getter]
    fn missing(&self) -> usize {
        self.found.missing
    }

    /// How many texts are too short for one shingle: they are alike only if they are the same.
    #[getter]
    fn too_short(&self) -> u64 {
        self.found.too_short
    }

    /// How many pairs of candidates were compared.
    #[getter]
    fn compared(&self) -> u64 {
        self.found.compared
    }

    /// How signatures were cut.
    #[getter]
    fn bands(&self) -> Bands {
        Bands(self.found.bands)
    }

    /// What `__reduce__` wrote.
    #[classmethod]
    #[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // as `__reduce__` lists them
    fn _restored(
        _cls: &Bound<'_, PyType>,
        pairs: PyReadonlyArray2<'_, u32>,
        similarities: PyReadonlyArray1<'_, f64>,
        clusters: PyReadonlyArray1<'_, u32>,
        counts: (u32, u64, u64),
        bands: &Bound<'_, Bands>,
        expected_missed: &Bound<'_, Estimate>,
        ids: Option<&Bound<'_, PyAny>>,
        removed: PyReadonlyArray2<'_, u32>,
        removed_similarities: PyReadonlyArray1<'_, f64>,
        not_listed: &Bound<'_, Estimate>,
    ) -> Result<Self> {
        let (documents, too_short, compared) = counts;
        let clusters = clusters.as_array().to_vec();
        let found = Found {
            missing: clusters.len().saturating_sub(documents as usize),
            pairs: pairs_of(&pairs),
            similarities: similarities.as_array().to_vec(),
            clusters,
            removed: pairs_of(&removed),
            removed_similarities: removed_similarities.as_array().to_vec(),
            documents,
            too_short,
            compared,
            bands: bands.get().0,
            expected_missed: expected_missed.get().0,
            not_listed: not_listed.get().0,
        };
        if !found.is_consistent() {
            let message = "NearDuplicates: expected positions, similarities and clusters that fit together";
            return Err(Failure::Bytes(format!("{message}, found others (the pickle is damaged)")));
        }
        let ids = ids.map(|ids| ids_of(ids, found.clusters.len())).transpose()?;
        Ok(Self { found, ids })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Reduced<'py, State<'py>>> {
        let (py, this) = (slf.py(), slf.get());
        let Found { documents, too_short, compared, .. } = this.found;
        let state = (
            this.pair_positions(py)?,
            this.similarities(py),
            this.clusters(py),
            (documents, too_short, compared),
            this.bands(),
            this.expected_missed(),
            this.ids.as_ref().map(|ids| PyList::new(py, ids)).transpose()?,
            rows_of(py, &this.found.removed)?,
            PyArray1::from_slice(py, &this.found.removed_similarities),
            this.not_listed(),
        );
        Ok((slf.get_type().getattr("_restored")?, state))
    }

    fn __repr__(&self) -> String {
        format!("<NearDuplicates {} pairs among {} documents>", self.found.pairs.len(), self.found.documents)
    }
}
