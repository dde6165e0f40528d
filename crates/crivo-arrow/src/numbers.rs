//! Reads the numbers of Arrow columns, for sketches of numbers, which have no keys.
//!
//! Columns of floats are read in place; other numbers become the nearest floats. NaN is a number
//! like any other here, because the sketch counts values that are not finite.

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

/// A function that takes numbers and the places of missing values, as in a
/// [`Stretch`](crate::Stretch).
pub type TakeNumbers<'t, E = Error> = &'t mut (dyn FnMut(&[f64], &[usize]) -> Result<(), E> + Send);

/// The number of numbers that are passed on at once, if they have to be collected.
const AT_ONCE: usize = 16 * 1024;

/// Passes every number of an array to `take`. `name` is the column's name for errors; it may be
/// empty.
///
/// # Errors
/// If the values are not numbers, and the errors of `take`.
pub fn take_numbers<E: From<Error>>(
    name: &str,
    array: &dyn Array,
    take: TakeNumbers<'_, E>,
) -> Result<(), E> {
    macro_rules! read {
        ($type:ty, $convert:expr) => {
            each(array.as_primitive::<$type>().values(), nulls_of(array), $convert, take)
        };
    }
    match array.data_type() {
        DataType::Float64 => take_floats(array.as_primitive::<Float64Type>().values(), nulls_of(array), take),
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
pub fn take_floats<E>(
    numbers: &[f64],
    nulls: Option<&NullBuffer>,
    take: TakeNumbers<'_, E>,
) -> Result<(), E> {
    if nulls.is_some_and(|nulls| nulls.null_count() > 0) {
        return each(numbers, nulls, |number| number, take);
    }
    numbers.chunks(AT_ONCE).try_for_each(|numbers| take(numbers, &[]))
}

/// Passes every value that is not null to `take`, as a float.
fn each<T: Copy, E>(
    values: &[T],
    nulls: Option<&NullBuffer>,
    to_float: impl Fn(T) -> f64,
    take: TakeNumbers<'_, E>,
) -> Result<(), E> {
    let mut gathered = GatheredNumbers::default();
    for (row, &value) in values.iter().enumerate() {
        gathered.push(is_valid(nulls, row).then(|| to_float(value)));
        if gathered.is_full() {
            gathered.deliver(take)?;
        }
    }
    gathered.deliver(take)
}

/// Collects numbers before they go to a sketch.
#[derive(Debug, Default)]
pub struct GatheredNumbers {
    numbers: Vec<f64>,
    gaps: Vec<usize>,
}

impl GatheredNumbers {
    /// Adds a number, or a missing value.
    pub fn push(&mut self, number: Option<f64>) {
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
    pub fn deliver<E>(&mut self, take: TakeNumbers<'_, E>) -> Result<(), E> {
        take(&self.numbers, &self.gaps)?;
        self.numbers.clear();
        self.gaps.clear();
        Ok(())
    }
}
