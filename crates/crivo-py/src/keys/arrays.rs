//! NumPy arrays, and what converts to one: pandas columns that do not speak Arrow.
//!
//! Numbers, booleans and times are read where they lie (a strided or byte-swapped array is
//! copied once); arrays of text, bytes and objects are turned into lists.

use arrow_schema::TimeUnit;
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use super::columns::{Whole, integers, texts};
use super::feed::Feed;
use super::{objects, text};
use crate::errors::{Failure, Result};

/// How NumPy stores "not a time".
const NAT: i64 = i64::MIN;

pub(super) fn read(values: &Bound<'_, PyAny>, feed: &mut Feed<'_>) -> Result<u64> {
    let py = values.py();
    if values.hasattr("compressed")? {
        // A masked array: `asarray` would bring the masked values back.
        let shown = values.call_method0("compressed")?;
        let hidden = values.getattr("size")?.extract::<u64>()? - shown.getattr("size")?.extract::<u64>()?;
        return Ok(hidden + read(&shown, feed)?);
    }
    let numpy = py.import("numpy")?;
    let array = if has_foreign_dtype(values, &numpy)? {
        numpy.call_method1("asarray", (values, "O"))?
    } else {
        numpy.call_method1("asarray", (values,))?
    };
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        let found = format_args!("{dimensions} dimensions");
        return Err(Failure::key("an array of one dimension", found, "use array.ravel()"));
    }
    let dtype = array.getattr("dtype")?;
    // Copies only what is strided, byte-swapped or of another type.
    let plain = |dtype| numpy.call_method1("ascontiguousarray", (&array, dtype));
    let kind: char = dtype.getattr("kind")?.extract()?;
    let size: usize = dtype.getattr("itemsize")?.extract()?;
    match (kind, size) {
        ('i', 1) => whole::<i8>(&plain("i1")?, feed),
        ('i', 2) => whole::<i16>(&plain("i2")?, feed),
        ('i', 4) => whole::<i32>(&plain("i4")?, feed),
        ('i', 8) => whole::<i64>(&plain("i8")?, feed),
        ('u', 1) => whole::<u8>(&plain("u1")?, feed),
        ('u', 2) => whole::<u16>(&plain("u2")?, feed),
        ('u', 4) => whole::<u32>(&plain("u4")?, feed),
        ('u', 8) => whole::<u64>(&plain("u8")?, feed),
        // A half has no text of its own: it is read as the float it equals.
        ('f', 2 | 4) => {
            as_text::<f32>(&plain("f4")?, feed, "floats", |value, out| Ok(text::single(value, out)))
        }
        ('f', 8) => as_text::<f64>(&plain("f8")?, feed, "floats", |value, out| Ok(text::double(value, out))),
        ('b', 1) => {
            as_text::<bool>(&plain("?")?, feed, "booleans", |value, out| Ok(text::boolean(value, out)))
        }
        ('M', _) => times(&array, feed),
        ('U' | 'S' | 'O' | 'T', _) => objects::read(&array.call_method0("tolist")?, feed),
        _ => Err(Failure::key(
            "an array of text, bytes, numbers, booleans or times",
            format_args!("dtype {}", dtype.str()?),
            "convert it with array.astype",
        )),
    }
}

/// Whether the values have a type that NumPy does not know, as pandas's nullable integers: as an
/// array of numbers they would become floats, and lose digits.
fn has_foreign_dtype(values: &Bound<'_, PyAny>, numpy: &Bound<'_, PyModule>) -> PyResult<bool> {
    match values.getattr_opt("dtype")? {
        Some(dtype) => Ok(!dtype.is_instance(&numpy.getattr("dtype")?)?),
        None => Ok(false),
    }
}

fn whole<T: Element + Whole + Sync>(array: &Bound<'_, PyAny>, feed: &mut Feed<'_>) -> Result<u64> {
    on_slice::<T>(array, |values| integers(feed, values, None))
}

fn as_text<T: Element + Copy + Sync>(
    array: &Bound<'_, PyAny>,
    feed: &mut Feed<'_>,
    what: &str,
    write: impl Fn(T, &mut Vec<u8>) -> Result<bool> + Send,
) -> Result<u64> {
    on_slice::<T>(array, |values| texts(feed, what, values, None, write))
}

/// Runs `work` on the values without the GIL.
fn on_slice<T: Element + Sync>(
    array: &Bound<'_, PyAny>,
    work: impl FnOnce(&[T]) -> Result<u64> + Send,
) -> Result<u64> {
    let array = array.cast::<PyArray1<T>>().map_err(PyErr::from)?.readonly();
    let values = array.as_slice().map_err(PyErr::from)?;
    array.py().detach(|| work(values))
}

/// Days, and instants without a zone. NumPy has more units than a calendar needs: weeks, months
/// and years are days, hours and minutes are seconds.
fn times(array: &Bound<'_, PyAny>, feed: &mut Feed<'_>) -> Result<u64> {
    let numpy = array.py().import("numpy")?;
    let dtype = array.getattr("dtype")?;
    let (unit, _): (String, u64) = numpy.call_method1("datetime_data", (&dtype,))?.extract()?;
    let (stored, unit) = match unit.as_str() {
        "Y" | "M" | "W" | "D" => ("datetime64[D]", None),
        "h" | "m" | "s" => ("datetime64[s]", Some(TimeUnit::Second)),
        "ms" => ("datetime64[ms]", Some(TimeUnit::Millisecond)),
        "us" => ("datetime64[us]", Some(TimeUnit::Microsecond)),
        "ns" => ("datetime64[ns]", Some(TimeUnit::Nanosecond)),
        _ => {
            let found = format_args!("dtype {}", dtype.str()?);
            return Err(Failure::key("times in nanoseconds or coarser", found, ""));
        }
    };
    let counts = numpy.call_method1("ascontiguousarray", (array, stored))?.call_method1("view", ("i8",))?;
    as_text::<i64>(&counts, feed, "times", move |value, out| match unit {
        _ if value == NAT => Ok(false),
        None => Ok(text::days(value, out)),
        Some(unit) => Ok(text::timestamp(value, unit, false, out)),
    })
}
