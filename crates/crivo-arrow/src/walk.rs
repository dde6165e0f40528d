//! Reads the values of an array by its Arrow type. It implements docs/keys.md.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, ByteViewType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, TimeUnit};
use crivo::keys::text::{push_boolean, push_date, push_decimal, push_f32, push_f64};

use crate::error::{Error, ErrorKind, Result};
use crate::picked::PickedValues;
use crate::values::{IntegerValue, Offset, instant_texts, push_time_of_day};

const MILLISECONDS_A_DAY: i64 = 86_400_000;

/// Takes the values of a column in the order of its rows.
///
/// Two methods must be implemented. The others are for visitors that can avoid writing a text; by
/// default they call those two.
pub trait ColumnVisitor: Sized {
    /// The error that stops the walk.
    type Error: From<Error>;

    /// Takes texts that are one after the other. The text of row `i` is between `offsets[i]` and
    /// `offsets[i + 1]` of `bytes`. A null row may have bytes there.
    ///
    /// # Errors
    /// If the visitor refuses.
    fn offsets<O: Offset>(
        &mut self,
        bytes: &[u8],
        offsets: &[O],
        nulls: Option<&NullBuffer>,
    ) -> Result<(), Self::Error>;

    /// Takes values that have to be written. `write` appends the text of a row, or returns false if
    /// the row has none.
    ///
    /// # Errors
    /// If the visitor refuses, or the value of a row has no text.
    fn written(
        &mut self,
        rows: usize,
        write: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
    ) -> Result<(), Self::Error>;

    /// Takes bytes of fixed length.
    ///
    /// # Errors
    /// If the visitor refuses.
    fn fixed_size(&mut self, array: &FixedSizeBinaryArray) -> Result<(), Self::Error> {
        self.written(array.len(), |row, out| {
            Ok(array.is_valid(row) && {
                out.extend_from_slice(array.value(row));
                true
            })
        })
    }

    /// Takes texts that are not in one buffer.
    ///
    /// # Errors
    /// If the visitor refuses.
    fn views<T: ByteViewType>(&mut self, array: &GenericByteViewArray<T>) -> Result<(), Self::Error> {
        self.written(array.len(), |row, out| {
            Ok(array.is_valid(row) && {
                out.extend_from_slice(array.value(row).as_ref());
                true
            })
        })
    }

    /// Takes integers.
    ///
    /// # Errors
    /// If the visitor refuses.
    fn integers<T: IntegerValue>(
        &mut self,
        values: &[T],
        nulls: Option<&NullBuffer>,
    ) -> Result<(), Self::Error> {
        self.written(values.len(), |row, out| {
            Ok(is_valid(nulls, row) && {
                values[row].push_text(out);
                true
            })
        })
    }

    /// Takes rows without a value.
    ///
    /// # Errors
    /// If the visitor refuses.
    fn missing(&mut self, rows: usize) -> Result<(), Self::Error> {
        self.written(rows, |_, _| Ok(false))
    }

    /// Takes rows that refer to values of another array: a dictionary, or runs.
    ///
    /// # Errors
    /// If the visitor refuses.
    fn picked(&mut self, picked: &PickedValues<'_>) -> Result<(), Self::Error> {
        picked.unfold(|values| walk(values, self))
    }
}

/// Returns true if values of this type have a text.
pub fn has_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => has_text(values),
        DataType::RunEndEncoded(_, values) => has_text(values.data_type()),
        DataType::Duration(_) | DataType::Interval(_) => false,
        other => !other.is_nested(),
    }
}

/// Returns the type of the values that rows of this type refer to, or the type itself.
pub(crate) fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => value_type(values),
        DataType::RunEndEncoded(_, values) => value_type(values.data_type()),
        other => other,
    }
}

/// Passes every value of an array to the visitor.
///
/// # Errors
/// If the type has no text, a value is invalid for its type, or the visitor refuses.
pub fn walk<V: ColumnVisitor>(array: &dyn Array, visitor: &mut V) -> Result<(), V::Error> {
    match array.data_type() {
        DataType::Utf8 => offsets(array.as_string::<i32>(), visitor),
        DataType::LargeUtf8 => offsets(array.as_string::<i64>(), visitor),
        DataType::Binary => offsets(array.as_binary::<i32>(), visitor),
        DataType::LargeBinary => offsets(array.as_binary::<i64>(), visitor),
        DataType::Utf8View => visitor.views(array.as_string_view()),
        DataType::BinaryView => visitor.views(array.as_binary_view()),
        DataType::FixedSizeBinary(_) => visitor.fixed_size(array.as_fixed_size_binary()),
        DataType::Int8 => integers::<Int8Type, V>(array, visitor),
        DataType::Int16 => integers::<Int16Type, V>(array, visitor),
        DataType::Int32 => integers::<Int32Type, V>(array, visitor),
        DataType::Int64 => integers::<Int64Type, V>(array, visitor),
        DataType::UInt8 => integers::<UInt8Type, V>(array, visitor),
        DataType::UInt16 => integers::<UInt16Type, V>(array, visitor),
        DataType::UInt32 => integers::<UInt32Type, V>(array, visitor),
        DataType::UInt64 => integers::<UInt64Type, V>(array, visitor),
        // A half-precision float has no text of its own. It gets the text of the `f32` that it
        // equals.
        DataType::Float16 => {
            primitive::<Float16Type, V>(array, visitor, |value, out| Ok(push_f32(out, value.to_f32())))
        }
        DataType::Float32 => {
            primitive::<Float32Type, V>(array, visitor, |value, out| Ok(push_f32(out, value)))
        }
        DataType::Float64 => {
            primitive::<Float64Type, V>(array, visitor, |value, out| Ok(push_f64(out, value)))
        }
        DataType::Boolean => {
            let (values, nulls) = (array.as_boolean().values(), nulls_of(array));
            visitor.written(array.len(), |row, out| {
                Ok(is_valid(nulls, row) && {
                    push_boolean(out, values.value(row));
                    true
                })
            })
        }
        DataType::Date32 => primitive::<Date32Type, V>(array, visitor, |days, out| {
            push_date(out, days.into());
            Ok(true)
        }),
        DataType::Date64 => primitive::<Date64Type, V>(array, visitor, |milliseconds, out| {
            push_date(out, milliseconds.div_euclid(MILLISECONDS_A_DAY));
            Ok(true)
        }),
        DataType::Time32(TimeUnit::Second) => times::<Time32SecondType, V>(array, visitor, TimeUnit::Second),
        DataType::Time32(_) => times::<Time32MillisecondType, V>(array, visitor, TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond) => {
            times::<Time64MicrosecondType, V>(array, visitor, TimeUnit::Microsecond)
        }
        DataType::Time64(_) => times::<Time64NanosecondType, V>(array, visitor, TimeUnit::Nanosecond),
        DataType::Timestamp(unit, zone) => {
            let (unit, zoned) = (*unit, zone.is_some());
            match unit {
                TimeUnit::Second => instants::<TimestampSecondType, V>(array, visitor, unit, zoned),
                TimeUnit::Millisecond => instants::<TimestampMillisecondType, V>(array, visitor, unit, zoned),
                TimeUnit::Microsecond => instants::<TimestampMicrosecondType, V>(array, visitor, unit, zoned),
                TimeUnit::Nanosecond => instants::<TimestampNanosecondType, V>(array, visitor, unit, zoned),
            }
        }
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type, V>(array, visitor, *scale),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type, V>(array, visitor, *scale),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type, V>(array, visitor, *scale),
        DataType::Decimal256(_, scale) => decimals::<Decimal256Type, V>(array, visitor, *scale),
        DataType::Null => visitor.missing(array.len()),
        other => match PickedValues::of(array)? {
            Some(picked) => visitor.picked(&picked),
            None => Err(no_text(other).into()),
        },
    }
}

#[cold]
pub(crate) fn no_text(data_type: &DataType) -> Error {
    let expected = "a column of text, bytes, numbers, booleans or times";
    Error::new(ErrorKind::UnsupportedType, expected, data_type)
}

#[inline]
pub(crate) fn is_valid(nulls: Option<&NullBuffer>, row: usize) -> bool {
    nulls.is_none_or(|nulls| nulls.is_valid(row))
}

/// Returns the null rows, or `None` if there are none.
pub(crate) fn nulls_of(array: &dyn Array) -> Option<&NullBuffer> {
    array.nulls().filter(|nulls| nulls.null_count() > 0)
}

fn offsets<T: ByteArrayType<Offset: Offset>, V: ColumnVisitor>(
    array: &GenericByteArray<T>,
    visitor: &mut V,
) -> Result<(), V::Error> {
    visitor.offsets(array.value_data(), array.value_offsets(), nulls_of(array))
}

fn integers<T: ArrowPrimitiveType<Native: IntegerValue>, V: ColumnVisitor>(
    array: &dyn Array,
    visitor: &mut V,
) -> Result<(), V::Error> {
    visitor.integers(array.as_primitive::<T>().values(), nulls_of(array))
}

fn primitive<T: ArrowPrimitiveType, V: ColumnVisitor>(
    array: &dyn Array,
    visitor: &mut V,
    mut write: impl FnMut(T::Native, &mut Vec<u8>) -> Result<bool>,
) -> Result<(), V::Error> {
    let (values, nulls) = (array.as_primitive::<T>().values(), nulls_of(array));
    visitor.written(
        values.len(),
        |row, out| {
            if is_valid(nulls, row) { write(values[row], out) } else { Ok(false) }
        },
    )
}

fn times<T: ArrowPrimitiveType<Native: Into<i64>>, V: ColumnVisitor>(
    array: &dyn Array,
    visitor: &mut V,
    unit: TimeUnit,
) -> Result<(), V::Error> {
    primitive::<T, V>(array, visitor, |value, out| {
        push_time_of_day(out, value.into(), unit)?;
        Ok(true)
    })
}

fn instants<T: ArrowPrimitiveType<Native = i64>, V: ColumnVisitor>(
    array: &dyn Array,
    visitor: &mut V,
    unit: TimeUnit,
    zoned: bool,
) -> Result<(), V::Error> {
    let mut texts = instant_texts(unit, zoned);
    primitive::<T, V>(array, visitor, |value, out| {
        texts.push(out, value);
        Ok(true)
    })
}

fn decimals<T: ArrowPrimitiveType<Native: ToString>, V: ColumnVisitor>(
    array: &dyn Array,
    visitor: &mut V,
    scale: i8,
) -> Result<(), V::Error> {
    primitive::<T, V>(array, visitor, |value, out| {
        push_decimal(out, &value.to_string(), scale.into());
        Ok(true)
    })
}
