//! Python objects, one by one: lists, tuples, generators, and single keys.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use crivo::keys::{KeyKind, KeyRef};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyString};

use super::feed::{Feed, Gathered};
use super::text;
use crate::errors::{Failure, Result};

/// Reads an iterable. What comes before a value that is refused, or before an exception of the
/// iterator itself, is handed over; so what the message says of it is true.
pub(super) fn read(values: &Bound<'_, PyAny>, feed: &mut Feed<'_>) -> Result<()> {
    let py = values.py();
    let kind = feed.kind();
    let mut gathered = Gathered::for_keys_of(feed);
    for (position, item) in iterate(values)?.enumerate() {
        let outcome =
            item.map_err(Failure::from).and_then(|item| with_key(&item, kind, |key| gathered.push(key)));
        match outcome {
            Ok(Some(())) => {}
            Ok(None) => gathered.push_missing(),
            Err(failure) => {
                py.detach(|| gathered.deliver(feed))?;
                return Err(failure.at(position, feed.verb().so_far));
            }
        }
        if gathered.is_full() {
            py.detach(|| gathered.deliver(feed))?;
        }
    }
    py.detach(|| gathered.deliver(feed))
}

fn iterate<'py>(values: &Bound<'py, PyAny>) -> Result<Bound<'py, pyo3::types::PyIterator>> {
    values.try_iter().map_err(|_| {
        Failure::key("many keys: an iterable, a NumPy array or an Arrow column", describe(values), "")
    })
}

/// Lends `object` as a key of the kind to `work`; `None` if it stands for a missing value.
///
/// The common types come first, and for them nothing is allocated.
pub(super) fn with_key<R>(
    object: &Bound<'_, PyAny>,
    kind: KeyKind,
    work: impl FnOnce(KeyRef<'_>) -> R,
) -> Result<Option<R>> {
    if object.is_none() {
        return Ok(None);
    }
    if kind == KeyKind::Bytes {
        if let Ok(string) = object.cast::<PyString>() {
            let text = string.to_str().map_err(|_| {
                Failure::key(
                    "text",
                    "a str with half a surrogate pair",
                    "it has no UTF-8 form: encode it as bytes",
                )
            })?;
            return Ok(Some(work(KeyRef::Bytes(text.as_bytes()))));
        }
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Some(work(KeyRef::Bytes(bytes.as_bytes()))));
        }
        let mut written = Vec::new();
        let exists = write_text(object, &mut written)?;
        return Ok(exists.then(|| work(KeyRef::Bytes(&written))));
    }
    Ok(integer_key(object)?.map(|integer| work(KeyRef::Integer(integer))))
}

/// Appends the text that stands for an object which is neither `str` nor `bytes`.
fn write_text(object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<bool> {
    // `bool` is a subclass of `int` and must be asked for first.
    if let Ok(boolean) = object.cast::<PyBool>() {
        return Ok(text::boolean(boolean.is_true(), out));
    }
    if object.is_instance_of::<PyInt>() {
        return write_integer(object, out);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(text::double(float.value(), out));
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        out.extend_from_slice(&bytes.to_vec());
        return Ok(true);
    }
    let class = object.get_type();
    let (module, name) = (class.module()?, class.name()?);
    match (module.to_str()?, name.to_str()?) {
        ("datetime", "datetime") => write_datetime(object, out),
        ("datetime", "date") => Ok(text::date(object.extract::<NaiveDate>()?, out)),
        ("datetime", "time") if object.getattr("tzinfo")?.is_none() => {
            Ok(text::time(object.extract::<NaiveTime>()?, out))
        }
        ("numpy", "bool" | "bool_") => Ok(text::boolean(object.is_truthy()?, out)),
        ("numpy", "float32" | "float16") => Ok(text::single(object.extract::<f64>()? as f32, out)),
        _ if is_missing(object)? => Ok(false),
        _ if object.hasattr("__index__")? => write_integer(&object.call_method0("__index__")?, out),
        _ => Err(Failure::key("text, bytes, a number, a boolean or a time", describe(object), ADVICE)),
    }
}

const ADVICE: &str = "pass columns whole, or convert the values with str";

fn write_integer(integer: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<bool> {
    if let Ok(small) = integer.extract::<i64>() {
        return Ok(text::signed(small, out));
    }
    out.extend_from_slice(integer.str()?.to_str()?.as_bytes());
    Ok(true)
}

/// An instant with a zone is written in UTC.
fn write_datetime(object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<bool> {
    let offset = object.call_method0("utcoffset")?;
    let zone = pyo3::types::PyDict::new(object.py());
    zone.set_item("tzinfo", object.py().None())?;
    let local = object.call_method("replace", (), Some(&zone))?;
    let utc = !offset.is_none();
    let time = if utc { local.sub(offset)? } else { local };
    Ok(text::datetime(time.extract::<NaiveDateTime>()?, utc, out))
}

/// An integer key; `None` for a missing value, NaN among them.
pub(super) fn integer_key(object: &Bound<'_, PyAny>) -> Result<Option<u64>> {
    if object.is_instance_of::<PyInt>() && !object.is_instance_of::<PyBool>() {
        return integer_in_range(object).map(Some);
    }
    let is_nan = object.cast::<PyFloat>().is_ok_and(|float| float.value().is_nan());
    if is_nan || is_missing(object)? {
        return Ok(None);
    }
    if !object.is_instance_of::<PyBool>() && object.hasattr("__index__")? {
        return integer_in_range(&object.call_method0("__index__")?).map(Some);
    }
    Err(Failure::key("an integer", describe(object), "a sketch for other keys is built with keys='text'"))
}

/// Negative integers in two's complement, as the library's rule for signed keys is.
fn integer_in_range(integer: &Bound<'_, PyAny>) -> Result<u64> {
    if let Ok(signed) = integer.extract::<i64>() {
        return Ok(signed as u64);
    }
    integer.extract::<u64>().map_err(|_| {
        Failure::key(
            "an integer from -2^63 to 2^64 - 1",
            describe(integer),
            "build the sketch with keys='text' for longer numbers",
        )
    })
}

/// What pandas puts where a value is missing, besides None and NaN.
pub(crate) fn is_missing(object: &Bound<'_, PyAny>) -> Result<bool> {
    let class = object.get_type();
    let name = class.name()?;
    Ok(matches!(name.to_str()?, "NAType" | "NaTType") && class.module()?.to_str()?.starts_with("pandas"))
}

/// The type, and the value if it is short.
pub(super) fn describe(object: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 40;
    let class = object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    match object.repr().map(|repr| repr.to_string()) {
        Ok(value) if value.len() <= LONGEST => format!("{class} {value}"),
        _ => class,
    }
}
