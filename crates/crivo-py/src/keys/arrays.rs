//! Reads NumPy arrays, and values that convert to one: pandas columns without the Arrow interface.
//!
//! Numbers, booleans and times are read in place (a strided or byte-swapped array is copied once).
//! Arrays of text, bytes and objects are converted to lists.

use arrow_buffer::NullBuffer;
use arrow_schema::TimeUnit;
use crivo::keys::text::{push_boolean, push_date, push_f32, push_f64};
use crivo_arrow::{ColumnVisitor as _, IntegerValue, push_instant};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use super::{Feed, Verb, objects};
use crate::errors::{Failure, Result};

/// How NumPy stores "not a time".
const NAT: i64 = i64::MIN;

pub(super) fn read(values: &Bound<'_, PyAny>, verb: &Verb, feed: &mut Feed<'_>) -> Result<()> {
    let numpy = values.py().import("numpy")?;
    let converted = if has_foreign_dtype(values, &numpy)? {
        numpy.call_method1("asarray", (values, "O"))
    } else {
        numpy.call_method1("asarray", (values,))
    };
    let array = match converted {
        Ok(array) => array,
        // Polars has integers of 128 bits, which neither Arrow nor NumPy has.
        Err(_) if values.hasattr("to_list")? => {
            return objects::read(&values.call_method0("to_list")?, verb, feed);
        }
        Err(error) => return Err(error.into()),
    };
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        let found = format_args!("{dimensions} dimensions");
        return Err(Failure::key("an array of one dimension", found, "use array.ravel()"));
    }
    let dtype = array.getattr("dtype")?;
    let kind: char = dtype.getattr("kind")?.extract()?;
    let size: usize = dtype.getattr("itemsize")?.extract()?;
    if matches!(kind, 'U' | 'S' | 'O' | 'T') {
        // A masked array writes None where it is masked. `asarray` drops the mask.
        let list = if is_masked(values)? { values } else { &array }.call_method0("tolist")?;
        return objects::read(&list, verb, feed);
    }
    let column = Column { numpy: &numpy, array: &array, nulls: nulls_of(values, &numpy)? };
    match (kind, size) {
        ('i', 1) => column.integers::<i8>("i1", feed),
        ('i', 2) => column.integers::<i16>("i2", feed),
        ('i', 4) => column.integers::<i32>("i4", feed),
        ('i', 8) => column.integers::<i64>("i8", feed),
        ('u', 1) => column.integers::<u8>("u1", feed),
        ('u', 2) => column.integers::<u16>("u2", feed),
        ('u', 4) => column.integers::<u32>("u4", feed),
        ('u', 8) => column.integers::<u64>("u8", feed),
        // A half has no text form of its own. It is read as the equal float.
        ('f', 2 | 4) => column.texts::<f32>("f4", feed, "floats", |value, out| push_f32(out, value)),
        ('f', 8) => column.texts::<f64>("f8", feed, "floats", |value, out| push_f64(out, value)),
        ('b', 1) => column.texts::<bool>("?", feed, "booleans", |value, out| {
            push_boolean(out, value);
            true
        }),
        ('M', _) => times(column, feed),
        _ => Err(Failure::key(
            "an array of text, bytes, numbers, booleans or times",
            format_args!("dtype {}", dtype.str()?),
            "convert it with array.astype",
        )),
    }
}

/// Returns true if the values have a type that NumPy does not know, such as pandas's nullable
/// integers. As an array of numbers they would become floats, and lose digits.
pub(super) fn has_foreign_dtype(values: &Bound<'_, PyAny>, numpy: &Bound<'_, PyModule>) -> PyResult<bool> {
    match values.getattr_opt("dtype")? {
        Some(dtype) => Ok(!dtype.is_instance(&numpy.getattr("dtype")?)?),
        None => Ok(false),
    }
}

fn is_masked(values: &Bound<'_, PyAny>) -> PyResult<bool> {
    values.hasattr("compressed")
}

/// Returns which values a masked array hides, or `None` if the array has no mask.
pub(super) fn nulls_of(values: &Bound<'_, PyAny>, numpy: &Bound<'_, PyModule>) -> Result<Option<NullBuffer>> {
    if !is_masked(values)? {
        return Ok(None);
    }
    let mask = numpy.getattr("ma")?.call_method1("getmaskarray", (values,))?;
    let mask = mask.cast::<PyArray1<bool>>().map_err(PyErr::from)?.readonly();
    Ok(Some(mask.as_array().iter().map(|is_hidden| !is_hidden).collect()))
}

/// An array whose values are read in place.
struct Column<'a, 'py> {
    numpy: &'a Bound<'py, PyModule>,
    array: &'a Bound<'py, PyAny>,
    nulls: Option<NullBuffer>,
}

impl Column<'_, '_> {
    fn integers<T: Element + IntegerValue + Sync>(self, dtype: &str, feed: &mut Feed<'_>) -> Result<()> {
        self.on_slice::<T>(dtype, |values, nulls| feed.integers(values, nulls))
    }

    fn texts<T: Element + Copy + Sync>(
        self,
        dtype: &str,
        feed: &mut Feed<'_>,
        what: &str,
        write: impl Fn(T, &mut Vec<u8>) -> bool + Send + Sync,
    ) -> Result<()> {
        feed.require_text(what)?;
        self.on_slice::<T>(dtype, |values, nulls| {
            feed.written(values.len(), |row, out| {
                let is_valid = nulls.is_none_or(|nulls| nulls.is_valid(row));
                Ok(is_valid && write(values[row], out))
            })
        })
    }

    /// Runs `work` on the values without the GIL. Copies them only if the array is strided,
    /// byte-swapped or of another type.
    fn on_slice<T: Element + Sync>(
        self,
        dtype: &str,
        work: impl FnOnce(&[T], Option<&NullBuffer>) -> Result<()> + Send,
    ) -> Result<()> {
        let plain = self.numpy.call_method1("ascontiguousarray", (self.array, dtype))?;
        let array = plain.cast::<PyArray1<T>>().map_err(PyErr::from)?.readonly();
        let values = array.as_slice().map_err(PyErr::from)?;
        plain.py().detach(|| work(values, self.nulls.as_ref()))
    }
}

/// Reads days, and instants without a zone. NumPy has more units than a calendar needs: weeks,
/// months and years are read as days, hours and minutes as seconds.
fn times(column: Column<'_, '_>, feed: &mut Feed<'_>) -> Result<()> {
    let Column { numpy, array, nulls } = column;
    let (stored, unit) = unit_of(array, numpy)?;
    let counts = numpy.call_method1("ascontiguousarray", (array, stored))?.call_method1("view", ("i8",))?;
    let column = Column { numpy, array: &counts, nulls };
    column.texts::<i64>("i8", feed, "times", move |value, out| write_time(value, unit, out))
}

/// Appends the text of a single NumPy time, as lists contain them.
pub(super) fn write_scalar_time(time: &Bound<'_, PyAny>, out: &mut Vec<u8>) -> Result<bool> {
    let counted = |time: &Bound<'_, PyAny>| time.call_method1("astype", ("i8",))?.extract::<i64>();
    if counted(time)? == NAT {
        return Ok(false); // whatever its unit, or without one
    }
    let (stored, unit) = unit_of(time, &time.py().import("numpy")?)?;
    Ok(write_time(counted(&time.call_method1("astype", (stored,))?)?, unit, out))
}

/// Returns the type to convert times to, and their unit. The unit is `None` for days.
fn unit_of(
    times: &Bound<'_, PyAny>,
    numpy: &Bound<'_, PyModule>,
) -> Result<(&'static str, Option<TimeUnit>)> {
    let dtype = times.getattr("dtype")?;
    let (unit, _): (String, u64) = numpy.call_method1("datetime_data", (&dtype,))?.extract()?;
    Ok(match unit.as_str() {
        "Y" | "M" | "W" | "D" => ("datetime64[D]", None),
        "h" | "m" | "s" => ("datetime64[s]", Some(TimeUnit::Second)),
        "ms" => ("datetime64[ms]", Some(TimeUnit::Millisecond)),
        "us" => ("datetime64[us]", Some(TimeUnit::Microsecond)),
        "ns" => ("datetime64[ns]", Some(TimeUnit::Nanosecond)),
        _ => {
            let found = format_args!("dtype {}", dtype.str()?);
            return Err(Failure::key("times in nanoseconds or coarser", found, ""));
        }
    })
}

fn write_time(count: i64, unit: Option<TimeUnit>, out: &mut Vec<u8>) -> bool {
    match unit {
        _ if count == NAT => return false,
        None => push_date(out, count),
        Some(unit) => push_instant(out, count, unit, false),
    }
    true
}
