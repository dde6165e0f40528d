//! Which keys are in a Python value?
//!
//! Whatever comes in leaves as [`KeyBatch`](crivo::keys::KeyBatch)es, so a sketch never sees where its keys came from:
//!
//! | input | read by | with the GIL |
//! |---|---|---|
//! | list, tuple, any iterable | [`objects`] | while the values are gathered |
//! | NumPy array, or what converts to one | [`arrays`] | no (text and object arrays: as lists) |
//! | Arrow array or stream | [`arrow`] | no |
//!
//! Two modules hold what the three share: [`text`] says which text stands for a value that is
//! not text, and [`feed`] cuts keys into batches.

mod arrays;
mod arrow;
mod columns;
mod feed;
mod objects;
mod text;

use std::borrow::Cow;

use crivo::keys::{KeyKind, KeyScheme};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyString, PyTuple};

use self::feed::{Feed, Take};
use crate::errors::{Failure, Result, setting};

/// The scheme that the constructor arguments `keys` and `seed` ask for.
pub(crate) fn scheme_of(keys: &str, seed: Option<&Bound<'_, PyAny>>) -> Result<KeyScheme> {
    let kind = [KeyKind::Bytes, KeyKind::Integer, KeyKind::Hash]
        .into_iter()
        .find(|kind| name_of(*kind) == keys)
        .ok_or_else(|| {
            Failure::Parameter(format!("keys: expected 'text', 'int' or 'hash', found '{keys}'"))
        })?;
    let seed = seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))?;
    Ok(KeyScheme::of(kind).with_seed(seed))
}

/// What Python calls a kind of key.
pub(crate) fn name_of(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Bytes => "text",
        KeyKind::Integer => "int",
        KeyKind::Hash => "hash",
    }
}

/// Gives `take` every key in `values`; returns how many missing values were skipped.
pub(crate) fn insert_batch(values: &Bound<'_, PyAny>, scheme: KeyScheme, take: Take<'_>) -> Result<u64> {
    if scheme.kind() == KeyKind::Hash {
        return Err(Failure::key("a hash", "a key", "a sketch with keys='hash' takes insert_hashes"));
    }
    let mut feed = Feed::new(scheme, take);
    let missing = read(values, &mut feed)?;
    Ok(missing + feed.empty())
}

/// Gives `take` hashes that the caller computed.
pub(crate) fn insert_hashes(hashes: &Bound<'_, PyAny>, scheme: KeyScheme, take: Take<'_>) -> Result<u64> {
    if scheme.kind() != KeyKind::Hash {
        let advice = "hashes of your own need a sketch built with keys='hash'";
        return Err(Failure::key(format_args!("{} keys", name_of(scheme.kind())), "hashes", advice));
    }
    read(hashes, &mut Feed::new(scheme, take))
}

/// The hash of one key.
pub(crate) fn hash_one(key: &Bound<'_, PyAny>, scheme: KeyScheme) -> Result<u64> {
    if scheme.kind() == KeyKind::Hash {
        return Err(Failure::key("a hash", "a key", "a sketch with keys='hash' takes insert_hashes"));
    }
    match objects::with_key(key, scheme.kind(), |key| feed::hash(key, scheme))? {
        Some(hash) => Ok(hash?),
        None => Err(Failure::key("a value", "a missing one", "insert_batch skips and counts those")),
    }
}

fn read(values: &Bound<'_, PyAny>, feed: &mut Feed<'_>) -> Result<u64> {
    let py = values.py();
    if values.is_instance_of::<PyList>() || values.is_instance_of::<PyTuple>() {
        return objects::read(values, feed);
    }
    if values.is_instance_of::<PyString>() || values.is_instance_of::<PyBytes>() {
        let found = values.get_type().name()?;
        return Err(Failure::key("many keys", found, "put a single key in a list, or use insert"));
    }
    let is_array = values.hasattr(intern!(py, "__array__"))?;
    if values.hasattr(intern!(py, "__arrow_c_array__"))?
        || values.hasattr(intern!(py, "__arrow_c_stream__"))?
    {
        match arrow::open(values) {
            Ok(chunks) => return arrow::read(py, chunks, feed),
            // A pandas column of mixed objects, or without pyarrow installed.
            Err(_) if is_array => {}
            Err(error) => return Err(error),
        }
    }
    if is_array { arrays::read(values, feed) } else { objects::read(values, feed) }
}

/// The contents of a bytes-like object, borrowed if they cannot change.
pub(crate) fn bytes_of<'a>(data: &'a Bound<'_, PyAny>) -> PyResult<Cow<'a, [u8]>> {
    if data.is_instance_of::<PyMemoryView>() {
        let copy = data.call_method0(intern!(data.py(), "tobytes"))?;
        return Ok(Cow::Owned(copy.cast::<PyBytes>()?.as_bytes().to_vec()));
    }
    match data.cast::<PyByteArray>() {
        Ok(changeable) => Ok(Cow::Owned(changeable.to_vec())),
        Err(_) => Ok(Cow::Borrowed(data.cast::<PyBytes>()?.as_bytes())),
    }
}
