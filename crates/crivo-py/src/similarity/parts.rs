//! The steps of [`near_duplicates`](super::near_duplicates), for callers that distribute them over
//! machines.
//!
//! On one machine the engine does them itself. If the documents are on several machines, each
//! machine signs its own ([`Signer::sign`]). The caller joins documents that share a band key, and
//! sends their sets ([`Signer::sets`]) to the machine whose [`Verifier`] compares them. Each step
//! is the engine's own, so the pairs are the same.

use std::collections::HashMap;

use crivo::similarity::jaccard::at_least;
use crivo::similarity::min_hash::sign;
use crivo::similarity::shingle::Shingles;
use crivo_html::PageText;
use crivo_near::{Settings, TextShingler, pack_signature, signature_similarity};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use xxhash_rust::xxh3::xxh3_128;

use super::Bands;
use super::bands::hashes_of;
use super::texts::Texts;
use crate::errors::{Failure, Result, setting};
use crate::sketch::Shared;

/// Makes of texts what has to travel to find near-duplicates among them. The settings are those of
/// `near_duplicates`, and so are the pairs that come of it.
///
/// >>> from crivo.distributed import Signer
/// >>> signer = Signer(0.8, shingle="words:2")
/// >>> texts = ["the cat sat on the mat", "short", None, "The cat sat on the mat!"]
/// >>> fingerprints, sizes, keys = signer.sign(texts)
/// >>> sizes
/// array([ 5,  0, -1,  5])
/// >>> first, _, _, last = keys
/// >>> bool((first == last).all()), keys.shape, signer.bands
/// (True, (4, 16), Bands(16, 6))
#[pyclass(module = "crivo.distributed", frozen)]
#[derive(Debug)]
pub(crate) struct Signer {
    settings: Settings,
    bands: crivo::similarity::Bands,
    html: bool,
}

/// Two halves of the hash of each text, the number of its shingles, and its band keys.
type Signed<'py> = (Bound<'py, PyArray2<u64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray2<u64>>);

#[pymethods]
impl Signer {
    #[new]
    #[pyo3(signature = (
        threshold = 0.8, *, shingle = "words:5", html = false, hashes = None, bands = None, seed = None,
        fast = false, nfc = false
    ))]
    #[pyo3(
        text_signature = "(threshold=0.8, *, shingle='words:5', html=False, hashes=128, bands=None, seed=0, fast=False, nfc=False)"
    )]
    #[allow(clippy::too_many_arguments)] // the settings, each by its name
    fn new(
        threshold: f64,
        shingle: &str,
        html: bool,
        hashes: Option<&Bound<'_, PyAny>>,
        bands: Option<&Bound<'_, Bands>>,
        seed: Option<&Bound<'_, PyAny>>,
        fast: bool,
        nfc: bool,
    ) -> Result<Self> {
        let settings = Settings {
            threshold,
            fast,
            nfc,
            shingles: shingle.parse::<Shingles>()?,
            seed: seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))?,
            hashes: hashes_of(hashes)?,
            bands: bands.map(|bands| bands.get().0),
            ..Settings::default()
        };
        let bands = settings.bands()?;
        Ok(Self { settings, bands, html })
    }

    /// How signatures are cut.
    #[getter]
    fn bands(&self) -> Bands {
        Bands(self.bands)
    }

    /// For each text a fingerprint (two halves of 128 bits, equal for equal content), the number of
    /// its shingles (0 if it is too short for one, -1 if it is missing), and its band keys, one for
    /// each band: those that share one are candidates. Texts without a shingle have keys of 0,
    /// which mean nothing.
    ///
    /// `texts` is a list or other iterable of str or bytes, or an Arrow column of text, which is
    /// read in place and without the GIL.
    fn sign<'py>(&self, py: Python<'py>, texts: &Bound<'py, PyAny>) -> Result<Signed<'py>> {
        let texts = Texts::of(texts)?;
        let slices = texts.slices()?;
        let bands = self.bands.bands() as usize;
        let (fingerprints, sizes, keys) = py.detach(|| {
            let (mut shingler, mut page) = (self.shingler(), PageText::default());
            let mut fingerprints = Vec::with_capacity(2 * slices.len());
            let mut sizes = Vec::with_capacity(slices.len());
            let mut keys = Vec::with_capacity(bands * slices.len());
            let (mut slots, mut of_text) = (vec![0; self.settings.hashes as usize], Vec::new());
            for slice in &slices {
                let Some(text) = slice.map(|text| if self.html { page.of(text) } else { text }) else {
                    fingerprints.extend([0, 0]);
                    sizes.push(-1);
                    keys.resize(keys.len() + bands, 0);
                    continue;
                };
                let fingerprint = xxh3_128(text);
                fingerprints.extend([(fingerprint >> 64) as u64, fingerprint as u64]);
                let shingles = shingler.shingles(text);
                sizes.push(shingles.len() as i64);
                if shingles.is_empty() {
                    keys.resize(keys.len() + bands, 0);
                    continue;
                }
                sign(shingles, &mut slots)?;
                self.bands.keys(&slots, &mut of_text)?;
                keys.extend_from_slice(&of_text);
            }
            Ok::<_, crivo::Error>((fingerprints, sizes, keys))
        })?;
        Ok((
            PyArray1::from_vec(py, fingerprints).reshape([slices.len(), 2])?,
            PyArray1::from_vec(py, sizes),
            PyArray1::from_vec(py, keys).reshape([slices.len(), bands])?,
        ))
    }

    /// The sets of shingles of all texts, one after the other, each ascending and every hash once;
    /// and where they begin, with the end of the last. A missing text has none. With `fast` they
    /// are signatures, packed two slots a word; a text too short for a shingle has none.
    ///
    /// >>> from crivo.distributed import Signer
    /// >>> starts, hashes = Signer(shingle="words:2").sets(["one two three", None, "one two"])
    /// >>> starts, len(hashes)
    /// (array([0, 2, 2, 3]), 3)
    fn sets<'py>(&self, py: Python<'py>, texts: &Bound<'py, PyAny>) -> Result<Sets<'py>> {
        let texts = Texts::of(texts)?;
        let slices = texts.slices()?;
        let (starts, hashes) = py.detach(|| {
            let (mut shingler, mut page) = (self.shingler(), PageText::default());
            let (mut slots, mut short_slots) = (vec![0; self.settings.hashes as usize], Vec::new());
            let mut starts = Vec::with_capacity(slices.len() + 1);
            let mut hashes = Vec::new();
            starts.push(0);
            for slice in &slices {
                if let Some(text) = slice.map(|text| if self.html { page.of(text) } else { text }) {
                    let set = shingler.set(text);
                    if !self.settings.fast {
                        hashes.extend_from_slice(set);
                    } else if !set.is_empty() {
                        sign(set, &mut slots)?;
                        pack_signature(&slots, &mut short_slots, &mut hashes);
                    }
                }
                starts.push(hashes.len() as i64);
            }
            Ok::<_, crivo::Error>((starts, hashes))
        })?;
        Ok((PyArray1::from_vec(py, starts), PyArray1::from_vec(py, hashes)))
    }

    fn __repr__(&self) -> String {
        let Settings { threshold, shingles, .. } = &self.settings;
        let (bands, rows) = (self.bands.bands(), self.bands.rows());
        format!("<Signer threshold={threshold}, shingle='{shingles}': {bands} bands of {rows}>")
    }
}

impl Signer {
    fn shingler(&self) -> TextShingler {
        let Settings { shingles, seed, nfc, .. } = &self.settings;
        TextShingler::new(shingles.clone(), *seed, *nfc)
    }
}

/// Compares candidates exactly, as the sets they are. They come in groups: first the sets of a
/// group, each with the id it goes by, then the pairs of ids. Only the sets of one group are held.
/// `signatures` is the number of hashes of a `Signer` with `fast`, whose signatures are compared in
/// the place of sets.
///
/// >>> import numpy as np
/// >>> from crivo.distributed import Signer, Verifier
/// >>> starts, hashes = Signer(shingle="words:2").sets(["a b c d e", "a b c d f", "g h i"])
/// >>> _, *sets, _ = np.split(hashes, starts)
/// >>> rows, similarities = Verifier(0.5).verify(
/// ...     groups=np.array([1, 1, 1, 1, 1]),
/// ...     ones=["x", "y", "z", "x", "x"],
/// ...     others=[None, None, None, "y", "z"],
/// ...     sets=[*map(np.ndarray.tobytes, sets), None, None],
/// ... )
/// >>> int(*rows), float(*similarities)
/// (3, 0.6)
#[pyclass(module = "crivo.distributed", frozen)]
#[derive(Debug)]
pub(crate) struct Verifier {
    threshold: f64,
    /// The slots of signatures, if those are compared in the place of sets.
    slots: Option<u32>,
    state: Shared<Group>,
}

/// The sets of the current group.
#[derive(Debug, Default)]
struct Group {
    number: Option<i64>,
    sets: HashMap<Box<[u8]>, Vec<u64>>,
}

/// The start of each set, with the end of the last, and the hashes of all sets.
type Sets<'py> = (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u64>>);

/// The rows of pairs that are near-duplicates, and their similarities.
type Verified<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f64>>);

#[pymethods]
impl Verifier {
    #[new]
    #[pyo3(signature = (threshold, *, signatures = None))]
    fn new(threshold: f64, signatures: Option<&Bound<'_, PyAny>>) -> Result<Self> {
        Settings { threshold, ..Settings::default() }.bands()?;
        let slots = signatures.map(|slots| hashes_of(Some(slots))).transpose()?;
        Ok(Self { threshold, slots, state: Shared::new(Group::default()) })
    }

    /// The rows whose pairs are at least as similar as the threshold, and how similar they are.
    ///
    /// A row is a set (`ones` has its id, `others` nothing, and `sets` its hashes as little-endian
    /// bytes, ascending) or a pair (`ones` and `others` have the ids). Rows of one group stand
    /// together, sets before pairs; a group may go on in the next call. Ids are texts.
    /// `InvalidParameterError` if an id has two sets, or a pair one that did not come.
    #[allow(clippy::needless_pass_by_value)] // how PyO3 hands over arrays
    fn verify<'py>(
        &self,
        py: Python<'py>,
        groups: PyReadonlyArray1<'py, i64>,
        ones: &Bound<'py, PyAny>,
        others: &Bound<'py, PyAny>,
        sets: &Bound<'py, PyAny>,
    ) -> Result<Verified<'py>> {
        let (ones, others, sets) = (Texts::of(ones)?, Texts::of(others)?, Texts::of(sets)?);
        let (ones, others, sets) = (ones.slices()?, others.slices()?, sets.slices()?);
        let groups = groups
            .as_slice()
            .map_err(|_| Failure::Parameter("groups: expected a contiguous array".into()))?;
        if [ones.len(), others.len(), sets.len()] != [groups.len(); 3] {
            return Err(Failure::Parameter(format!(
                "number of ones, others and sets: expected {} each, one for each group, found {}, {} and {}",
                groups.len(),
                ones.len(),
                others.len(),
                sets.len()
            )));
        }
        let (rows, similarities) = self.state.detached(py, |state| {
            let (mut rows, mut similarities) = (Vec::new(), Vec::new());
            for (row, &group) in (0..).zip(groups) {
                let at = row as usize;
                let one = ones[at].ok_or_else(|| Failure::Parameter(format!("row {row}: has no id")))?;
                match (others[at], sets[at]) {
                    (None, Some(set)) => state.put(group, one, set)?,
                    (Some(other), None) => {
                        let (one, other) = (state.get(group, one)?, state.get(group, other)?);
                        let similarity = match self.slots {
                            None => at_least(one, other, self.threshold),
                            Some(slots) => signature_similarity(one, other, slots, self.threshold),
                        };
                        if let Some(similarity) = similarity {
                            rows.push(row);
                            similarities.push(similarity);
                        }
                    }
                    _ => return Err(Failure::Parameter(format!("row {row}: expected a set or a pair"))),
                }
            }
            Ok((rows, similarities))
        })?;
        Ok((PyArray1::from_vec(py, rows), PyArray1::from_vec(py, similarities)))
    }

    fn __repr__(&self) -> String {
        format!("<Verifier threshold={}>", self.threshold)
    }
}

impl Group {
    fn put(&mut self, group: i64, id: &[u8], bytes: &[u8]) -> Result<()> {
        if self.number != Some(group) {
            self.number = Some(group);
            self.sets.clear();
        }
        let hash = |eight: &[u8]| eight.iter().rev().fold(0, |hash, &byte| hash << 8 | u64::from(byte));
        let set: Vec<u64> = bytes.chunks(8).map(hash).collect();
        if self.sets.insert(id.into(), set).is_some() {
            let id = String::from_utf8_lossy(id);
            let message = format!("id: expected one document for each, found two with '{id}'");
            return Err(Failure::Parameter(message));
        }
        Ok(())
    }

    fn get(&self, group: i64, id: &[u8]) -> Result<&[u64]> {
        let set = if self.number == Some(group) { self.sets.get(id) } else { None };
        set.map(Vec::as_slice).ok_or_else(|| {
            let id = String::from_utf8_lossy(id);
            Failure::Parameter(format!(
                "id: expected the set of '{id}' before its pairs, found none: the documents may have changed between \
                 two readings"
            ))
        })
    }
}
