//! Reads a column of weights: one number for each value of the column of keys.

use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::errors::{Failure, Result, setting};

/// A type of weight, and how to read it from an array or a list.
pub(crate) trait Weight: Element + Copy + Send + Sync {
    /// The plural name of this type, for messages.
    const NAME: &'static str = "weights";
    /// The description of valid weights of this type, for messages.
    const EXPECTED: &'static str;
    /// NumPy's type code of an array of these weights.
    const DTYPE: &'static str;
    /// NumPy's kinds of array that convert to this type without loss.
    const KINDS: &'static str;
    /// Whether weights of this type may be negative.
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

/// Times, which accompany columns as weights do.
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

/// Returns the weights in a list or other iterable, a NumPy array, or a value that converts to one.
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
