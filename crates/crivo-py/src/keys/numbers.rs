//! Reads numbers from Python values, for sketches of numbers, which have no keys.
//!
//! Arrow columns are read by `crivo-arrow`, arrays of floats in place. NaN is passed on like any
//! other number, because the sketch counts numbers that are not finite.

use arrow_array::ArrayRef;
use crivo_arrow::numbers::{GatheredNumbers, take_floats};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyList, PyTuple};

use super::arrays::{has_foreign_dtype, nulls_of};
use super::{arrow_chunks, is_missing, is_single, objects};
use crate::errors::{Failure, Result, broken_stream};

/// Takes numbers, with the places of missing values as in a [`Stretch`](super::Stretch).
pub(crate) type TakeNumbers<'t> = crivo_arrow::numbers::TakeNumbers<'t, Failure>;

/// Passes every number in `values` to `take`. Returns how many missing values were skipped.
/// `so_far` says in errors what happened to the values before a refused one.
pub(crate) fn take_numbers(values: &Bound<'_, PyAny>, so_far: &str, take: TakeNumbers<'_>) -> Result<u64> {
    let py = values.py();
    let mut missing = 0;
    let mut take = |numbers: &[f64], gaps: &[usize]| {
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
pub(crate) fn number_of(object: &Bound<'_, PyAny>) -> Result<f64> {
    if let Ok(float) = object.cast::<PyFloat>() {
        return Ok(float.value());
    }
    let is_number = !object.is_instance_of::<PyBool>()
        && (object.hasattr("__float__")? || object.hasattr("__index__")?);
    match object.extract() {
        Ok(number) if is_number => Ok(number),
        _ => Err(Failure::key("a number", objects::describe(object), "")),
    }
}

fn from_objects(values: &Bound<'_, PyAny>, so_far: &str, take: TakeNumbers<'_>) -> Result<()> {
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

fn from_array(values: &Bound<'_, PyAny>, so_far: &str, take: TakeNumbers<'_>) -> Result<()> {
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
    match dtype.getattr("kind")?.extract()? {
        'i' | 'u' | 'f' => {}
        'O' => return from_objects(&values.call_method0("tolist")?, so_far, take),
        _ => return Err(Failure::key("an array of numbers", format_args!("dtype {}", dtype.str()?), "")),
    }
    let nulls = nulls_of(values, &numpy)?;
    let plain = numpy.call_method1("ascontiguousarray", (&array, "f8"))?;
    let array = plain.cast::<PyArray1<f64>>().map_err(PyErr::from)?.readonly();
    let numbers = array.as_slice().map_err(PyErr::from)?;
    plain.py().detach(|| take_floats(numbers, nulls.as_ref(), take))
}

/// Passes every number of an Arrow array to `take`.
pub(crate) fn take_numbers_of(array: &ArrayRef, take: TakeNumbers<'_>) -> Result<()> {
    crivo_arrow::numbers::take_numbers("", array, take)
}
