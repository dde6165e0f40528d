//! Reads the numbers of Arrow columns, for sketches of numbers, which have no keys.
//!
//! Columns of floats are read in place; other numbers become the nearest floats, or an
//! [`ExactNumber`] if the sketch needs all digits of whole numbers. NaN is a number like any other
//! here, because the sketch counts values that are not finite.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

use crate::error::{Error, ErrorKind, Result};
use crate::picked::PickedValues;
use crate::walk::{is_valid, nulls_of, value_type};

/// A type that numbers of all types are converted to.
pub trait Number: Copy + Send {
    /// Converts a float.
    fn from_float(number: f64) -> Self;

    /// Converts a whole number.
    fn from_whole(number: i64) -> Self;

    /// Converts a whole number that may be above the greatest `i64`.
    fn from_unsigned(number: u64) -> Self;

    /// Returns floats without a conversion, if this is their type.
    fn of_floats(_floats: &[f64]) -> Option<&[Self]> {
        None
    }
}

impl Number for f64 {
    fn from_float(number: f64) -> Self {
        number
    }

    fn from_whole(number: i64) -> Self {
        number as Self
    }

    fn from_unsigned(number: u64) -> Self {
        number as Self
    }

    fn of_floats(floats: &[f64]) -> Option<&[Self]> {
        Some(floats)
    }
}

/// A number with all its digits. A float has those of whole numbers up to 2^53 only.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ExactNumber {
    /// A whole number.
    Whole(i64),
    /// A float, or a whole number above the greatest `i64`, rounded.
    Float(f64),
}

impl Number for ExactNumber {
    fn from_float(number: f64) -> Self {
        Self::Float(number)
    }

    fn from_whole(number: i64) -> Self {
        Self::Whole(number)
    }

    fn from_unsigned(number: u64) -> Self {
        i64::try_from(number).map_or(Self::Float(number as f64), Self::Whole)
    }
}

/// A function that takes numbers and the places of missing values, as in a
/// [`Stretch`](crate::Stretch).
pub type TakeNumbers<'t, E = Error, N = f64> = &'t mut (dyn FnMut(&[N], &[usize]) -> Result<(), E> + Send);

/// The number of numbers that are passed on at once, if they have to be collected.
const AT_ONCE: usize = 16 * 1024;

/// Passes every number of an array to `take`. `name` is the column's name for errors; it may be
/// empty.
///
/// # Errors
/// If the values are not numbers, and the errors of `take`.
pub fn take_numbers<E: From<Error>, N: Number>(
    name: &str,
    array: &dyn Array,
    take: TakeNumbers<'_, E, N>,
) -> Result<(), E> {
    macro_rules! read {
        ($type:ty, $convert:expr) => {
            take_each(array.as_primitive::<$type>().values(), nulls_of(array), $convert, take)
        };
    }
    match array.data_type() {
        DataType::Float64 => take_floats(array.as_primitive::<Float64Type>().values(), nulls_of(array), take),
        DataType::Float32 => read!(Float32Type, |float| N::from_float(float.into())),
        DataType::Float16 => read!(Float16Type, |half| N::from_float(half.to_f32().into())),
        DataType::Int8 => read!(Int8Type, |whole| N::from_whole(whole.into())),
        DataType::Int16 => read!(Int16Type, |whole| N::from_whole(whole.into())),
        DataType::Int32 => read!(Int32Type, |whole| N::from_whole(whole.into())),
        DataType::Int64 => read!(Int64Type, N::from_whole),
        DataType::UInt8 => read!(UInt8Type, |whole| N::from_whole(whole.into())),
        DataType::UInt16 => read!(UInt16Type, |whole| N::from_whole(whole.into())),
        DataType::UInt32 => read!(UInt32Type, |whole| N::from_whole(whole.into())),
        DataType::UInt64 => read!(UInt64Type, N::from_unsigned),
        DataType::Null => {
            let mut gathered = GatheredNumbers::default();
            for _ in 0..array.len() {
                gathered.push(None);
                if gathered.is_full() {
                    gathered.deliver(take)?;
                }
            }
            gathered.deliver(take)
        }
        other => match PickedValues::of(array)? {
            // A number counts as often as it occurs.
            Some(picked) if is_numeric(other) => picked.unfold(|values| take_numbers(name, values, take)),
            _ => {
                let error = Error::new(ErrorKind::UnsupportedType, "a column of numbers", other);
                Err(error.in_column(name).into())
            }
        },
    }
}

fn is_numeric(data_type: &DataType) -> bool {
    let data_type = value_type(data_type);
    data_type.is_integer() || data_type.is_floating() || data_type.is_null()
}

/// Passes every float that is not null to `take`.
///
/// # Errors
/// The errors of `take`.
pub fn take_floats<E, N: Number>(
    floats: &[f64],
    nulls: Option<&NullBuffer>,
    take: TakeNumbers<'_, E, N>,
) -> Result<(), E> {
    let is_full = nulls.is_none_or(|nulls| nulls.null_count() == 0);
    match N::of_floats(floats).filter(|_| is_full) {
        Some(numbers) => numbers.chunks(AT_ONCE).try_for_each(|numbers| take(numbers, &[])),
        None => take_each(floats, nulls, N::from_float, take),
    }
}

/// Converts every value that is not null, and passes it to `take`.
///
/// # Errors
/// The errors of `take`.
pub fn take_each<T: Copy, E, N: Number>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    convert: impl Fn(T) -> N,
    take: TakeNumbers<'_, E, N>,
) -> Result<(), E> {
    let mut gathered = GatheredNumbers::default();
    for (row, &value) in values.iter().enumerate() {
        gathered.push(is_valid(nulls, row).then(|| convert(value)));
        if gathered.is_full() {
            gathered.deliver(take)?;
        }
    }
    gathered.deliver(take)
}

/// Collects numbers before they go to a sketch.
#[derive(Debug)]
pub struct GatheredNumbers<N = f64> {
    numbers: Vec<N>,
    gaps: Vec<usize>,
}

impl<N> Default for GatheredNumbers<N> {
    fn default() -> Self {
        Self { numbers: Vec::new(), gaps: Vec::new() }
    }
}

impl<N: Number> GatheredNumbers<N> {
    /// Adds a number, or a missing value.
    pub fn push(&mut self, number: Option<N>) {
        match number {
            Some(number) => self.numbers.push(number),
            None => self.gaps.push(self.numbers.len()),
        }
    }

    /// Returns true if the numbers should be delivered.
    pub fn is_full(&self) -> bool {
        self.numbers.len() + self.gaps.len() >= AT_ONCE
    }

    /// Passes all numbers to `take`. The memory is kept.
    ///
    /// # Errors
    /// The errors of `take`.
    pub fn deliver<E>(&mut self, take: TakeNumbers<'_, E, N>) -> Result<(), E> {
        take(&self.numbers, &self.gaps)?;
        self.numbers.clear();
        self.gaps.clear();
        Ok(())
    }
}
