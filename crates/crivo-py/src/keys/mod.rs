//! Reads keys from Python values.
//!
//! Every input becomes [`KeyBatch`](crivo::keys::KeyBatch)es, so a sketch does not depend on the
//! source of its keys:
//!
//! | input | read by | with the GIL |
//! |---|---|---|
//! | list, tuple, any iterable | [`objects`] | while the values are gathered |
//! | NumPy array, or what converts to one | [`arrays`] | no (text and object arrays: as lists) |
//! | Arrow array or stream | [`arrow`] | no |
//!
//! `crivo-arrow` defines the text of each value of a column and divides keys into batches. [`text`]
//! writes times that are Python objects. Columns of [`weights`] accompany columns of keys.
//! [`numbers`] are for sketches that have no keys.

mod arrays;
mod arrow;
mod numbers;
mod objects;
mod text;
mod weights;

use std::borrow::Cow;

use arrow_array::ArrayRef;
use crivo::keys::{KeyKind, KeyRef, KeyScheme};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyList, PyMemoryView, PyString, PyTuple};
use pyo3_arrow::ffi::ArrayReader;

pub(crate) use self::numbers::{number_of, take_numbers, take_numbers_of};
pub(crate) use self::objects::is_missing;
pub(crate) use self::weights::{Weight, weights_of};
use crate::errors::{Failure, Result, setting};

pub(crate) use crivo_arrow::{Stretch, gather};

/// Takes batches of keys: inserts them into a sketch, or looks them up, under the sketch's lock.
pub(crate) type Take<'t> = crivo_arrow::Take<'t, Failure>;

/// Passes keys to a sketch. It can be moved to a place where the GIL is not held.
type Feed<'t> = crivo_arrow::Feed<'t, Failure>;

/// Returns the scheme of the constructor arguments `keys` and `seed`.
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

/// Returns Python's name of a kind of key.
pub(crate) fn name_of(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Bytes => "text",
        KeyKind::Integer => "int",
        KeyKind::Hash => "hash",
    }
}

/// The names of the methods that do the same with keys in different forms. Errors use them to point
/// from one method to another.
#[derive(Debug)]
pub(crate) struct Verb {
    /// The method that takes one key; empty if there is none.
    pub(crate) one: &'static str,
    /// The method that takes many keys; empty if there is none.
    pub(crate) many: &'static str,
    /// The method that takes hashes computed by the caller.
    pub(crate) hashes: &'static str,
    /// What happened to the values before a refused one, for errors.
    pub(crate) so_far: &'static str,
}

/// Passes every key in `values` to `take`. Returns how many missing values were skipped.
pub(crate) fn take_keys(
    values: &Bound<'_, PyAny>,
    scheme: KeyScheme,
    verb: &'static Verb,
    take: Take<'_>,
) -> Result<u64> {
    require_keys(scheme, verb)?;
    let mut feed = Feed::new(scheme, take);
    read(values, verb, &mut feed)?;
    Ok(feed.missing())
}

/// Passes every key of an Arrow array to `take`. Returns how many missing values were skipped.
pub(crate) fn take_keys_of(
    array: &ArrayRef,
    scheme: KeyScheme,
    verb: &'static Verb,
    take: Take<'_>,
) -> Result<u64> {
    require_keys(scheme, verb)?;
    let mut feed = Feed::new(scheme, take);
    feed.column("", array)?;
    Ok(feed.missing())
}

/// Passes hashes computed by the caller to `take`. Returns how many missing values were skipped.
pub(crate) fn take_hashes(
    hashes: &Bound<'_, PyAny>,
    scheme: KeyScheme,
    verb: &'static Verb,
    take: Take<'_>,
) -> Result<u64> {
    require_hashes(scheme)?;
    let mut feed = Feed::new(scheme, take);
    read(hashes, verb, &mut feed)?;
    Ok(feed.missing())
}

/// Calls `work` with one key.
pub(crate) fn with_one<R>(
    key: &Bound<'_, PyAny>,
    scheme: KeyScheme,
    verb: &Verb,
    work: impl FnOnce(KeyRef<'_>) -> R,
) -> Result<R> {
    require_keys(scheme, verb)?;
    objects::with_key(key, scheme.kind(), work)?.ok_or_else(|| missing(verb))
}

/// Returns the hash of one key.
pub(crate) fn hash_one(key: &Bound<'_, PyAny>, scheme: KeyScheme, verb: &Verb) -> Result<u64> {
    Ok(with_one(key, scheme, verb, |key| scheme.hash_ref(key))??)
}

/// Returns one integer, for sketches that take no other keys.
pub(crate) fn integer_one(key: &Bound<'_, PyAny>, verb: &Verb) -> Result<u64> {
    objects::integer_key(key)?.ok_or_else(|| missing(verb))
}

/// Returns one hash computed by the caller.
pub(crate) fn given_hash(hash: &Bound<'_, PyAny>, scheme: KeyScheme, verb: &Verb) -> Result<u64> {
    require_hashes(scheme)?;
    integer_one(hash, verb)
}

#[cold]
fn missing(verb: &Verb) -> Failure {
    let advice = if verb.many.is_empty() { "" } else { "takes columns with missing values" };
    Failure::key("a value", "a missing one", format!("{} {advice}", verb.many).trim())
}

fn require_hashes(scheme: KeyScheme) -> Result<()> {
    if scheme.kind() == KeyKind::Hash {
        return Ok(());
    }
    let advice = "hashes of your own need a sketch built with keys='hash'";
    Err(Failure::key(format_args!("{} keys", name_of(scheme.kind())), "hashes", advice))
}

fn require_keys(scheme: KeyScheme, verb: &Verb) -> Result<()> {
    if scheme.kind() == KeyKind::Hash {
        let advice = format!("a sketch with keys='hash' takes {}", verb.hashes);
        return Err(Failure::key("a hash", "a key", &advice));
    }
    Ok(())
}

fn read(values: &Bound<'_, PyAny>, verb: &Verb, feed: &mut Feed<'_>) -> Result<()> {
    let py = values.py();
    if values.is_instance_of::<PyList>() || values.is_instance_of::<PyTuple>() {
        return objects::read(values, verb, feed);
    }
    if is_single(values)? {
        let found = values.get_type().name()?;
        let advice = format!("put a single key in a list, or use {}", verb.one);
        return Err(Failure::key("many keys", found, &advice));
    }
    if let Some(chunks) = arrow_chunks(values)? {
        return arrow::read(py, chunks, feed);
    }
    let is_array = values.hasattr(intern!(py, "__array__"))?;
    if is_array { arrays::read(values, verb, feed) } else { objects::read(values, verb, feed) }
}

/// Returns true if the value is a single text or byte string. These can be iterated over, but their
/// elements are not meant as keys.
pub(crate) fn is_single(values: &Bound<'_, PyAny>) -> Result<bool> {
    if values.is_instance_of::<PyMemoryView>() {
        let format: String = values.getattr(intern!(values.py(), "format"))?.extract()?;
        return Ok(matches!(format.as_str(), "B" | "b" | "c"));
    }
    Ok(values.is_instance_of::<PyString>()
        || values.is_instance_of::<PyBytes>()
        || values.is_instance_of::<PyByteArray>())
}

/// Returns the chunks of a column that has the Arrow interface, or that pyarrow can read.
pub(crate) fn arrow_chunks(values: &Bound<'_, PyAny>) -> Result<Option<Box<dyn ArrayReader + Send>>> {
    let py = values.py();
    require_collected(values)?;
    let speaks_arrow = values.hasattr(intern!(py, "__arrow_c_array__"))?
        || values.hasattr(intern!(py, "__arrow_c_stream__"))?;
    if !speaks_arrow {
        return match arrow::from_pandas(values)? {
            Some(array) => arrow::open(&array).map(Some),
            None => Ok(None),
        };
    }
    if is_polars_objects(values)? {
        return Ok(None);
    }
    match arrow::open(values) {
        Ok(chunks) => Ok(Some(chunks)),
        // A key that was read and refused stays refused.
        Err(failure @ Failure::Key(_)) => Err(failure),
        // A pandas column of mixed objects, or without pyarrow installed.
        Err(_) if values.hasattr(intern!(py, "__array__"))? => Ok(None),
        Err(error) => Err(error),
    }
}

/// Refuses lazy frames, such as those of polars, because reading their rows would run the query.
fn require_collected(values: &Bound<'_, PyAny>) -> Result<()> {
    let py = values.py();
    if values.hasattr(intern!(py, "collect"))? && values.hasattr(intern!(py, "collect_schema"))? {
        let found = format!("a {}, which has none yet", values.get_type().name()?);
        return Err(Failure::key("rows", found, "collect it first"));
    }
    Ok(())
}

/// Returns true for a polars column of Python objects, because its Arrow form has only their
/// addresses.
fn is_polars_objects(values: &Bound<'_, PyAny>) -> Result<bool> {
    let module = values.get_type().module()?;
    if !module.to_str()?.starts_with("polars") {
        return Ok(false);
    }
    match values.getattr_opt("dtype")? {
        Some(dtype) => Ok(dtype.str()?.to_str()? == "Object"),
        None => Ok(false),
    }
}

/// Returns a key from a sketch as a Python object: text as `str` if it is UTF-8 and as `bytes`
/// otherwise, an integer with its sign, a hash without one.
pub(crate) fn to_python<'py>(py: Python<'py>, key: KeyRef<'_>) -> PyResult<Bound<'py, PyAny>> {
    Ok(match key {
        KeyRef::Bytes(bytes) => match str::from_utf8(bytes) {
            Ok(text) => PyString::new(py, text).into_any(),
            Err(_) => PyBytes::new(py, bytes).into_any(),
        },
        KeyRef::Integer(integer) => integer.cast_signed().into_pyobject(py)?.into_any(),
        KeyRef::Hash(hash) => hash.into_pyobject(py)?.into_any(),
    })
}

/// Returns the contents of a bytes-like object, borrowed if they are immutable.
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
