//! Which numbers are in a Python value? For sketches of numbers, which have no keys.
//!
//! Columns of floats are read where they lie; other numbers become the nearest floats. NaN is a number like
//! any other here: the sketch counts what is not finite.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyList, PyTuple};

use super::arrays::{has_foreign_dtype, nulls_of};
use super::{arrow_chunks, is_missing, is_single, objects};
use crate::errors::{Failure, Result, broken_stream};

/// Where numbers go, with the places of missing values as in a [`Stretch`](super::Stretch).
pub(crate) type TakeNumbers<'t> = &'t mut (dyn FnMut(&[f64], &[usize]) -> Result<()> + Send);

/// How many numbers are handed over at once, where they have to be gathered.
const AT_ONCE: usize = 16 * 1024;

/// Gives `take` every number in `values`; returns how many missing values were skipped. `so_far` says what
/// was done with those before one that is refused.
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
        py.detach(|| {
            for chunk in chunks {
                let chunk = chunk.map_err(broken_stream)?;
                take_numbers_of(&chunk, &mut take)?;
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

/// One number.
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
    let mut gathered = Gathered::default();
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
    plain.py().detach(|| floats(numbers, nulls.as_ref(), take))
}

/// Gives `take` every number of an Arrow array.
pub(crate) fn take_numbers_of(array: &ArrayRef, take: TakeNumbers<'_>) -> Result<()> {
    macro_rules! read {
        ($type:ty, $convert:expr) => {{
            let array = array.as_primitive::<$type>();
            each(array.values(), array.nulls(), $convert, take)
        }};
    }
    match array.data_type() {
        DataType::Float64 => {
            let array = array.as_primitive::<Float64Type>();
            floats(array.values(), array.nulls(), take)
        }
        DataType::Float32 => read!(Float32Type, f64::from),
        DataType::Float16 => read!(Float16Type, |half| f64::from(half.to_f32())),
        DataType::Int8 => read!(Int8Type, f64::from),
        DataType::Int16 => read!(Int16Type, f64::from),
        DataType::Int32 => read!(Int32Type, f64::from),
        DataType::Int64 => read!(Int64Type, |number| number as f64),
        DataType::UInt8 => read!(UInt8Type, f64::from),
        DataType::UInt16 => read!(UInt16Type, f64::from),
        DataType::UInt32 => read!(UInt32Type, f64::from),
        DataType::UInt64 => read!(UInt64Type, |number| number as f64),
        DataType::Null => {
            each(&vec![0.0; array.len()], Some(&NullBuffer::new_null(array.len())), |x| x, take)
        }
        DataType::Dictionary(..) => dictionary(array, take),
        other => {
            Err(Failure::key("a column of numbers", format_args!("{other}"), "choose one, or convert it"))
        }
    }
}

/// Unfolded a slice at a time, since a number counts as often as it occurs.
fn dictionary(array: &ArrayRef, take: TakeNumbers<'_>) -> Result<()> {
    let dictionary = array.as_any_dictionary();
    for start in (0..array.len()).step_by(AT_ONCE) {
        let indexes = dictionary.keys().slice(start, AT_ONCE.min(array.len() - start));
        let slice = arrow_select::take::take(dictionary.values(), &indexes, None).map_err(broken_stream)?;
        take_numbers_of(&slice, take)?;
    }
    Ok(())
}

fn floats(numbers: &[f64], nulls: Option<&NullBuffer>, take: TakeNumbers<'_>) -> Result<()> {
    if nulls.is_some_and(|nulls| nulls.null_count() > 0) {
        return each(numbers, nulls, |number| number, take);
    }
    numbers.chunks(AT_ONCE).try_for_each(|numbers| take(numbers, &[]))
}

/// Gathers every value that is not null, as a float.
fn each<T: Copy>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    to_float: impl Fn(T) -> f64,
    take: TakeNumbers<'_>,
) -> Result<()> {
    let mut gathered = Gathered::default();
    for (index, &value) in values.iter().enumerate() {
        let is_valid = nulls.is_none_or(|nulls| nulls.is_valid(index));
        gathered.push(is_valid.then(|| to_float(value)));
        if gathered.is_full() {
            gathered.deliver(take)?;
        }
    }
    gathered.deliver(take)
}

/// Numbers on their way to a sketch.
#[derive(Default)]
struct Gathered {
    numbers: Vec<f64>,
    gaps: Vec<usize>,
}

impl Gathered {
    fn push(&mut self, number: Option<f64>) {
        match number {
            Some(number) => self.numbers.push(number),
            None => self.gaps.push(self.numbers.len()),
        }
    }

    fn is_full(&self) -> bool {
        self.numbers.len() + self.gaps.len() >= AT_ONCE
    }

    fn deliver(&mut self, take: TakeNumbers<'_>) -> Result<()> {
        take(&self.numbers, &self.gaps)?;
        self.numbers.clear();
        self.gaps.clear();
        Ok(())
    }
}
