//! Similarity of sets and texts.

mod bands;
mod edits;
mod lsh_index;
mod min_hash;
mod near;
mod overlap;
mod parts;
mod passage_finder;
mod passages;
mod texts;

pub(crate) use bands::Bands;
pub(crate) use lsh_index::{LshIndex, Similar, SimilarPair};
pub(crate) use min_hash::MinHash;
pub(crate) use near::{NearDuplicates, near_duplicates};
pub(crate) use overlap::{BenchmarkOverlap, OverlapFinder, benchmark_overlap};
pub(crate) use parts::{Signer, Verifier};
pub(crate) use passage_finder::PassageFinder;
pub(crate) use passages::{RepeatedPassages, repeated_passages};
pub(crate) use texts::bytes_of_text;

use crivo::keys::KeyKind;
use crivo::similarity::MinHash as Sketch;
use crivo::similarity::jaccard::overlap_unsorted;
use crivo::similarity::shingle::{Shingler, Shingles};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::errors::{Failure, Result, setting, setting_in};
use crate::keys::{self, Stretch, Verb, scheme_of};

/// The method that errors of comparing functions point to.
static COMPARE: Verb = Verb { one: "", many: "", hashes: "jaccard with keys='hash'", so_far: "" };

/// The Jaccard similarity of two sets, exactly: what is in both as a share of what is in either.
/// None if both are empty.
///
/// Each is a list, set or other iterable, a NumPy array or an Arrow column, in any order; what is
/// repeated counts once, and what is missing not at all. `keys` is as for `HyperLogLog`: with
/// "hash" the elements are 64-bit hashes, such as those of `shingles`.
///
/// >>> from crivo import jaccard, shingles
/// >>> jaccard({"ana", "rui", "eva"}, ["rui", "eva", "zé", "rui"])
/// 0.5
/// >>> cat, other = (shingles(text, "words:2") for text in ("the cat sat on it", "A cat sat on it."))
/// >>> round(jaccard(cat, other, keys="hash"), 3)
/// 0.6
#[pyfunction]
#[pyo3(signature = (a, b, *, keys = "text"))]
pub(crate) fn jaccard(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>, keys: &str) -> Result<Option<f64>> {
    let (a_hashes, b_hashes) = (hashes_of(a, keys)?, hashes_of(b, keys)?);
    Ok(a.py().detach(|| overlap_unsorted(&a_hashes, &b_hashes).jaccard()))
}

fn hashes_of(values: &Bound<'_, PyAny>, kind: &str) -> Result<Vec<u64>> {
    let scheme = scheme_of(kind, None)?;
    if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
        let advice = "jaccard(shingles(a), shingles(b), keys='hash') compares texts";
        return Err(Failure::key("many keys", values.get_type().name()?, advice));
    }
    let read = if scheme.kind() == KeyKind::Hash { keys::take_hashes } else { keys::take_keys };
    let mut hashes = Vec::new();
    let mut take = |stretch: Stretch<'_>| {
        hashes.extend_from_slice(stretch.keys.hashes());
        Ok(())
    };
    read(values, scheme, &COMPARE, &mut take)?;
    Ok(hashes)
}

/// The set of a text's shingles, as hashes: ascending, each once. `kind` is "words:N" or "chars:N"
/// for runs of N words or characters, or "stopwords" for a frequent English word and the two after
/// it.
///
/// Only shingles of the same kind and seed can be compared. A text with fewer than N words has
/// none.
///
/// >>> from crivo import MinHash, shingles
/// >>> len(shingles("To be, or not to be?", "words:2"))
/// 4
/// >>> text = MinHash(128, keys="hash")
/// >>> text.insert_hashes(shingles("To be, or not to be?", "words:2"))
/// 0
#[pyfunction]
#[pyo3(signature = (text, kind = "words:5", *, seed = None))]
#[pyo3(text_signature = "(text, kind='words:5', *, seed=0)")]
pub(crate) fn shingles<'py>(
    text: &Bound<'py, PyAny>,
    kind: &str,
    seed: Option<&Bound<'py, PyAny>>,
) -> Result<Bound<'py, PyArray1<u64>>> {
    let kind: Shingles = kind.parse()?;
    let seed = seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))?;
    let bytes = texts::bytes_of_text(text)?;
    let set = text.py().detach(|| Shingler::with_seed(kind, seed).set(bytes).to_vec());
    Ok(PyArray1::from_vec(text.py(), set))
}

/// Reads the number of slots of a signature.
fn k_of(k: &Bound<'_, PyAny>) -> Result<u32> {
    let (least, most) = Sketch::SIZES.into_inner();
    Ok(setting_in("k", k, least.into()..=most.into())? as u32)
}
