//! What a column of weights holds: one number for each value of the column beside it.

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::errors::{Failure, Result, setting};

/// A number that can be a weight, and how an array or a list gives it.
pub(crate) trait Weight: Element + Copy + Send + Sync {
    /// What many of this type are called, for messages.
    const NAME: &'static str = "weights";
    /// What weights of this type are, for messages.
    const EXPECTED: &'static str;
    /// The array's type that holds them.
    const DTYPE: &'static str;
    /// The kinds of array that can be converted without loss.
    const KINDS: &'static str;
    /// Whether it can be below 0.
    const IS_SIGNED: bool = false;

    fn from_python(number: &Bound<'_, PyAny>) -> Result<Self>;
}

impl Weight for u64 {
    const EXPECTED: &'static str = "whole numbers from 0 to 2^64 - 1";
    const DTYPE: &'static str = "u8";
    const KINDS: &'static str = "iu";

    fn from_python(number: &Bound<'_, PyAny>) -> Result<Self> {
        setting("weight", number, "0 to 2^64 - 1")
    }
}

impl Weight for f64 {
    const EXPECTED: &'static str = "numbers";
    const DTYPE: &'static str = "f8";
    const KINDS: &'static str = "iuf";

    fn from_python(number: &Bound<'_, PyAny>) -> Result<Self> {
        Ok(number.extract()?)
    }
}

/// Times, which lie beside columns as weights do.
impl Weight for i64 {
    const NAME: &'static str = "times";
    const EXPECTED: &'static str = "whole numbers of 64 bits";
    const DTYPE: &'static str = "i8";
    const KINDS: &'static str = "i";
    const IS_SIGNED: bool = true;

    fn from_python(number: &Bound<'_, PyAny>) -> Result<Self> {
        setting("time", number, "-2^63 to 2^63 - 1")
    }
}

/// The weights in a list or other iterable, a NumPy array, or what converts to one.
pub(crate) fn weights_of<W: Weight>(weights: &Bound<'_, PyAny>) -> Result<Vec<W>> {
    let is_list = weights.is_instance_of::<PyList>() || weights.is_instance_of::<PyTuple>();
    if !is_list && weights.hasattr("__array__")? {
        return from_array(weights);
    }
    weights.try_iter()?.map(|weight| W::from_python(&weight?)).collect()
}

fn from_array<W: Weight>(weights: &Bound<'_, PyAny>) -> Result<Vec<W>> {
    let numpy = weights.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (weights,))?;
    let dtype = array.getattr("dtype")?;
    let (kind, dimensions): (char, usize) =
        (dtype.getattr("kind")?.extract()?, array.getattr("ndim")?.extract()?);
    let size: usize = array.getattr("size")?.extract()?;
    let fits = W::KINDS.contains(kind) || size == 0;
    if !fits || dimensions != 1 {
        let found = format!("{dimensions} dimensions of dtype {}", dtype.str()?);
        return Err(Failure::Parameter(format!("{}: expected {}, found {found}", W::NAME, W::EXPECTED)));
    }
    if kind == 'i' && size > 0 && !W::IS_SIGNED {
        let least: i64 = array.call_method0("min")?.extract()?;
        if least < 0 {
            return Err(Failure::Parameter(format!("weight: expected 0 or more, found {least}")));
        }
    }
    let plain = numpy.call_method1("ascontiguousarray", (array, W::DTYPE))?;
    Ok(plain.cast::<PyArray1<W>>().map_err(PyErr::from)?.to_vec().map_err(PyErr::from)?)
}
