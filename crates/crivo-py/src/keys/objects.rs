//! Reads Python objects one by one: from lists, tuples and generators, and single keys.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta};
use crivo::keys::text::{push_boolean, push_f32, push_f64, push_i64};
use crivo::keys::{KeyKind, KeyRef};
use crivo_arrow::Gathered;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyString};

use super::text::{write_day, write_instant, write_time_of_day};
use super::{Feed, Verb, arrays};
use crate::errors::{Failure, Result};

/// Reads an iterable. The values before a refused one, or before an exception of the iterator
/// itself, are passed on. So the error message is right about them.
pub(super) fn read(values: &Bound<'_, PyAny>, verb: &Verb, feed: &mut Feed<'_>) -> Result<()> {
    let py = values.py();
    let kind = feed.kind();
    let mut gathered = Gathered::new(kind);
    for (position, item) in iterate(values)?.enumerate() {
        let outcome =
            item.map_err(Failure::from).and_then(|item| with_key(&item, kind, |key| gathered.push(key)));
        match outcome {
            Ok(Some(())) => {}
            Ok(None) => gathered.push_missing(),
            Err(failure) => {
                py.detach(|| gathered.deliver(feed))?;
                return Err(failure.at(position, verb.so_far));
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

/// Calls `work` with `object` as a key of the kind. Returns `None` if the value is missing.
///
/// The common types come first, and need no allocation.
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

/// Appends the text form of an object that is neither `str` nor `bytes`.
fn write_text(object: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<bool> {
    // `bool` is a subclass of `int`, so it is checked first.
    if let Ok(boolean) = object.cast::<PyBool>() {
        push_boolean(out, boolean.is_true());
        return Ok(true);
    }
    if object.is_instance_of::<PyInt>() {
        return write_integer(object, out);
    }
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(push_f64(out, float.value()));
    }
    if let Ok(bytes) = object.cast::<PyByteArray>() {
        out.extend_from_slice(&bytes.to_vec());
        return Ok(true);
    }
    let class = object.get_type();
    let (module, name) = (class.module()?, class.name()?);
    match (module.to_str()?, name.to_str()?) {
        ("datetime", "datetime") => write_datetime(object, 0, out),
        ("datetime", "date") => write_date(object, out),
        ("decimal", "Decimal") => write_decimal(object, out),
        ("numpy", "bool" | "bool_") => {
            push_boolean(out, object.is_truthy()?);
            Ok(true)
        }
        ("numpy", "float32" | "float16") => Ok(push_f32(out, object.extract::<f64>()? as f32)),
        ("numpy", "datetime64") => arrays::write_scalar_time(object, out),
        _ if is_missing(object)? => Ok(false),
        _ if object.hasattr("__index__")? => write_integer(&object.call_method0("__index__")?, out),
        // Subclasses, such as pandas's Timestamp. A `datetime` is also a `date`, so it is checked
        // first.
        _ if is_a(object, "datetime", "datetime")? => {
            write_datetime(object, nanoseconds_beyond(object)?, out)
        }
        _ if is_a(object, "datetime", "date")? => write_date(object, out),
        _ if is_a(object, "datetime", "time")? && object.getattr("tzinfo")?.is_none() => {
            write_time_of_day(object.extract::<NaiveTime>()?, out);
            Ok(true)
        }
        _ if is_a(object, "decimal", "Decimal")? => write_decimal(object, out),
        _ => Err(Failure::key("text, bytes, a number, a boolean or a time", describe(object), ADVICE)),
    }
}

/// Returns true if the object is an instance of a class of the standard library.
fn is_a(object: &Bound<'_, PyAny>, module: &str, class: &str) -> PyResult<bool> {
    object.is_instance(&object.py().import(module)?.getattr(class)?)
}

/// The most digits that Python writes of an integer by default.
const LONGEST_DECIMAL: u64 = 4300;

const ADVICE: &str = "pass columns whole, or convert the values with str";

fn write_integer(integer: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<bool> {
    if let Ok(small) = integer.extract::<i64>() {
        push_i64(out, small);
        return Ok(true);
    }
    let Ok(digits) = integer.str() else {
        let advice = "sys.set_int_max_str_digits allows longer ones";
        return Err(Failure::key("an integer that Python writes out", "one with too many digits", advice));
    };
    out.extend_from_slice(digits.to_str()?.as_bytes());
    Ok(true)
}

fn write_date(date: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<bool> {
    write_day(date.extract::<NaiveDate>()?, out);
    Ok(true)
}

/// Keeps all digits of a decimal number, as Arrow does in columns: 12.50 is not 12.5.
fn write_decimal(decimal: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<bool> {
    if decimal.call_method0("is_nan")?.is_truthy()? {
        return Ok(false);
    }
    if decimal.call_method0("is_infinite")?.is_truthy()? {
        return Err(Failure::key("a decimal number", describe(decimal), "use a float for it"));
    }
    // A number with an exponent of a billion has few bytes, but its text would be huge.
    let magnitude: i64 = decimal.call_method0("adjusted")?.extract()?;
    if magnitude.unsigned_abs() > LONGEST_DECIMAL {
        let expected = format_args!("a decimal number of at most {LONGEST_DECIMAL} digits");
        return Err(Failure::key(expected, describe(decimal), "use a float for it"));
    }
    // Columns have no negative zero.
    let plain = if decimal.is_truthy()? { decimal.clone() } else { decimal.call_method0("copy_abs")? };
    out.extend_from_slice(plain.call_method1("__format__", ("f",))?.str()?.to_str()?.as_bytes());
    Ok(true)
}

/// Writes an instant with a zone in UTC. The offset is subtracted here and not in Python, which
/// cannot represent hours before the year 1.
fn write_datetime(object: &Bound<'_, PyAny>, nanoseconds: i64, out: &mut Vec<u8>) -> Result<bool> {
    let offset: Option<TimeDelta> = object.call_method0("utcoffset")?.extract()?;
    let zone = pyo3::types::PyDict::new(object.py());
    zone.set_item("tzinfo", object.py().None())?;
    let local: NaiveDateTime = object.call_method("replace", (), Some(&zone))?.extract()?;
    let time = offset.map_or(local, |offset| local - offset);
    write_instant(time, nanoseconds, offset.is_some(), out);
    Ok(true)
}

/// Returns the nanoseconds of a pandas time beyond Python's microseconds.
fn nanoseconds_beyond(time: &Bound<'_, PyAny>) -> Result<i64> {
    match time.getattr_opt("nanosecond")? {
        Some(nanoseconds) => Ok(nanoseconds.extract()?),
        None => Ok(0),
    }
}

/// Returns an integer key, or `None` for a missing value or NaN.
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

/// Returns an integer in 64 bits. Negative integers are in two's complement, as the library's rule
/// for signed keys says.
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

/// Returns true for pandas's marks of missing values other than None and NaN.
pub(crate) fn is_missing(object: &Bound<'_, PyAny>) -> Result<bool> {
    let class = object.get_type();
    let name = class.name()?;
    Ok(matches!(name.to_str()?, "NAType" | "NaTType") && class.module()?.to_str()?.starts_with("pandas"))
}

/// Returns the type of an object, and its value if that is short.
pub(super) fn describe(object: &Bound<'_, PyAny>) -> String {
    const LONGEST: usize = 40;
    let class = object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    match object.repr().map(|repr| repr.to_string()) {
        Ok(value) if value.len() <= LONGEST => format!("{class} {value}"),
        _ => class,
    }
}
