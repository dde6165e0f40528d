//! Reads numbers from Python values, for sketches of numbers, which have no keys.
//!
//! Arrow columns are read by `crivo-arrow`, arrays of floats in place. NaN is passed on like any
//! other number, because the sketch counts numbers that are not finite.

use arrow_array::ArrayRef;
use crivo_arrow::numbers::{GatheredNumbers, Number, take_each, take_floats};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyList, PyTuple};

use super::arrays::{has_foreign_dtype, nulls_of};
use super::{arrow_chunks, is_missing, is_single, objects};
use crate::errors::{Failure, Result, broken_stream};

/// Takes numbers, with the places of missing values as in a [`Stretch`](super::Stretch).
pub(crate) type TakeNumbers<'t, N = f64> = crivo_arrow::numbers::TakeNumbers<'t, Failure, N>;

/// Passes every number in `values` to `take`. Returns how many missing values were skipped.
/// `so_far` says in errors what happened to the values before a refused one.
pub(crate) fn take_numbers<N: Number>(
    values: &Bound<'_, PyAny>,
    so_far: &str,
    take: TakeNumbers<'_, N>,
) -> Result<u64> {
    let py = values.py();
    let mut missing = 0;
    let mut take = |numbers: &[N], gaps: &[usize]| {
        missing += gaps.len() as u64;
        take(numbers, gaps)
    };
    if values.is_instance_of::<PyList>() || values.is_instance_of::<PyTuple>() {
        from_objects(values, so_far, &mut take)?;
    } else if is_single(values)? {
        let found = values.get_type().name()?;
        return Err(Failure::key("many numbers", found, "put a single number in a list, or use insert"));
    } else if let Some(chunks) = arrow_chunks(values)? {
        let field = chunks.field();
        py.detach(|| {
            for chunk in chunks {
                let chunk = chunk.map_err(broken_stream)?;
                crivo_arrow::numbers::take_numbers(field.name(), &chunk, &mut take)?;
            }
            Ok::<(), Failure>(())
        })?;
    } else if values.hasattr(intern!(py, "__array__"))? {
        from_array(values, so_far, &mut take)?;
    } else {
        from_objects(values, so_far, &mut take)?;
    }
    Ok(missing)
}

/// Returns one number.
pub(crate) fn number_of<N: Number>(object: &Bound<'_, PyAny>) -> Result<N> {
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(N::from_float(float.value()));
    }
    let is_bool = object.is_instance_of::<PyBool>();
    if !is_bool && object.hasattr("__index__")? {
        if let Ok(number) = object.extract() {
            return Ok(N::from_whole(number));
        }
        if let Ok(number) = object.extract() {
            return Ok(N::from_unsigned(number));
        }
    }
    let is_number = !is_bool && (object.hasattr("__float__")? || object.hasattr("__index__")?);
    match object.extract() {
        Ok(number) if is_number => Ok(N::from_float(number)),
        _ => Err(Failure::key("a number", objects::describe(object), "")),
    }
}

fn from_objects<N: Number>(values: &Bound<'_, PyAny>, so_far: &str, take: TakeNumbers<'_, N>) -> Result<()> {
    let py = values.py();
    let iterator = values.try_iter().map_err(|_| {
        let expected = "many numbers: an iterable, a NumPy array or an Arrow column";
        Failure::key(expected, objects::describe(values), "")
    })?;
    let mut gathered = GatheredNumbers::default();
    for (position, item) in iterator.enumerate() {
        let number = item.map_err(Failure::from).and_then(|item| {
            if item.is_none() || is_missing(&item)? { Ok(None) } else { number_of(&item).map(Some) }
        });
        match number {
            Ok(number) => gathered.push(number),
            Err(failure) => {
                py.detach(|| gathered.deliver(take))?;
                return Err(failure.at(position, so_far));
            }
        }
        if gathered.is_full() {
            py.detach(|| gathered.deliver(take))?;
        }
    }
    py.detach(|| gathered.deliver(take))
}

fn from_array<N: Number>(values: &Bound<'_, PyAny>, so_far: &str, take: TakeNumbers<'_, N>) -> Result<()> {
    let numpy = values.py().import("numpy")?;
    if has_foreign_dtype(values, &numpy)? {
        return from_objects(&numpy.call_method1("asarray", (values, "O"))?, so_far, take);
    }
    let array = numpy.call_method1("asarray", (values,))?;
    let dimensions: usize = array.getattr("ndim")?.extract()?;
    if dimensions != 1 {
        let found = format_args!("{dimensions} dimensions");
        return Err(Failure::key("an array of one dimension", found, "use array.ravel()"));
    }
    let dtype = array.getattr("dtype")?;
    let nulls = nulls_of(values, &numpy)?;
    /// Calls `$read` with the numbers as a slice of a type, after NumPy has converted them to it.
    macro_rules! read_as {
        ($type:ty, $name:literal, $read:expr) => {{
            let plain = numpy.call_method1("ascontiguousarray", (&array, $name))?;
            let plain = plain.cast::<PyArray1<$type>>().map_err(PyErr::from)?.readonly();
            let numbers = plain.as_slice().map_err(PyErr::from)?;
            values.py().detach(|| $read(numbers))
        }};
    }
    match dtype.getattr("kind")?.extract()? {
        'f' => read_as!(f64, "f8", |numbers| take_floats(numbers, nulls.as_ref(), take)),
        'i' => read_as!(i64, "i8", |numbers| take_each(numbers, nulls.as_ref(), N::from_whole, take)),
        'u' => read_as!(u64, "u8", |numbers| take_each(numbers, nulls.as_ref(), N::from_unsigned, take)),
        'O' => from_objects(&values.call_method0("tolist")?, so_far, take),
        _ => Err(Failure::key("an array of numbers", format_args!("dtype {}", dtype.str()?), "")),
    }
}

/// Passes every number of an Arrow array to `take`.
pub(crate) fn take_numbers_of(array: &ArrayRef, take: TakeNumbers<'_>) -> Result<()> {
    crivo_arrow::numbers::take_numbers("", array, take)
}
