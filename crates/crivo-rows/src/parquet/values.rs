//! Arrow columns as text, value by value: docs/keys.md in code.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayAccessor, GenericByteArray};
use arrow_buffer::ArrowNativeType as _;
use arrow_schema::{DataType, TimeUnit};
use crivo::keys::text::{
    push_boolean, push_date, push_decimal, push_f32, push_f64, push_i64, push_time, push_timestamp, push_u64,
};

use crate::column::{Column, ValueKind};
use crate::error::Result;

const MILLISECONDS_A_DAY: i64 = 86_400_000;

/// Whether a column of this type has a text.
pub(crate) fn has_text(data_type: &DataType) -> bool {
    !data_type.is_nested() && !matches!(data_type, DataType::Duration(_) | DataType::Interval(_))
}

/// Appends every value of the array to the column.
pub(crate) fn append(array: &dyn Array, column: &mut Column) -> Result<()> {
    let before = column.len();
    append_texts(array, column)?;
    let data_type = array.data_type();
    if *data_type == DataType::Boolean {
        column.mark_from(before, ValueKind::Boolean);
    } else if data_type.is_numeric() {
        column.mark_from(before, ValueKind::Number);
    }
    Ok(())
}

fn append_texts(array: &dyn Array, column: &mut Column) -> Result<()> {
    match array.data_type() {
        DataType::Utf8 => texts(array.as_string::<i32>(), column),
        DataType::LargeUtf8 => texts(array.as_string::<i64>(), column),
        DataType::Utf8View => bytes(array.as_string_view(), column),
        DataType::Binary => texts(array.as_binary::<i32>(), column),
        DataType::LargeBinary => texts(array.as_binary::<i64>(), column),
        DataType::BinaryView => bytes(array.as_binary_view(), column),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary(), column),
        DataType::Boolean => each(array.as_boolean(), column, push_boolean),
        DataType::Int8 => integers::<Int8Type>(array, column),
        DataType::Int16 => integers::<Int16Type>(array, column),
        DataType::Int32 => integers::<Int32Type>(array, column),
        DataType::Int64 => integers::<Int64Type>(array, column),
        DataType::UInt8 => integers::<UInt8Type>(array, column),
        DataType::UInt16 => integers::<UInt16Type>(array, column),
        DataType::UInt32 => integers::<UInt32Type>(array, column),
        DataType::UInt64 => primitive::<UInt64Type>(array, column, push_u64),
        DataType::Float16 => floats::<Float16Type>(array, column, |out, value| push_f32(out, value.to_f32())),
        DataType::Float32 => floats::<Float32Type>(array, column, push_f32),
        DataType::Float64 => floats::<Float64Type>(array, column, push_f64),
        DataType::Date32 => primitive::<Date32Type>(array, column, |out, days| push_date(out, days.into())),
        DataType::Date64 => primitive::<Date64Type>(array, column, |out, milliseconds| {
            push_date(out, milliseconds.div_euclid(MILLISECONDS_A_DAY));
        }),
        DataType::Time32(TimeUnit::Second) => times::<Time32SecondType>(array, column, 1_000_000_000),
        DataType::Time32(_) => times::<Time32MillisecondType>(array, column, 1_000_000),
        DataType::Time64(TimeUnit::Microsecond) => times::<Time64MicrosecondType>(array, column, 1000),
        DataType::Time64(_) => times::<Time64NanosecondType>(array, column, 1),
        DataType::Timestamp(unit, zone) => {
            let universal = zone.is_some();
            match unit {
                TimeUnit::Second => moments::<TimestampSecondType>(array, column, 1, universal),
                TimeUnit::Millisecond => moments::<TimestampMillisecondType>(array, column, 1000, universal),
                TimeUnit::Microsecond => {
                    moments::<TimestampMicrosecondType>(array, column, 1_000_000, universal)
                }
                TimeUnit::Nanosecond => {
                    moments::<TimestampNanosecondType>(array, column, 1_000_000_000, universal)
                }
            }
        }
        DataType::Decimal128(_, scale) => {
            let scale = i32::from(*scale);
            primitive::<Decimal128Type>(array, column, |out, value| {
                push_decimal(out, &value.to_string(), scale);
            })
        }
        DataType::Decimal256(_, scale) => {
            let scale = i32::from(*scale);
            primitive::<Decimal256Type>(array, column, |out, value| {
                push_decimal(out, &value.to_string(), scale);
            })
        }
        // Nulls, and types that `has_text` has kept out.
        _ => column.fill(column.len() + array.len()),
    }
}

fn each<A: ArrayAccessor + Copy>(
    array: A,
    column: &mut Column,
    mut write: impl FnMut(&mut Vec<u8>, A::Item),
) -> Result<()> {
    for row in 0..array.len() {
        if array.is_null(row) {
            column.push_missing()?;
        } else {
            let value = array.value(row);
            column.push_built(&[], |out| write(out, value))?;
        }
    }
    Ok(())
}

/// Values that lie one after the other are copied at once.
fn texts<T: ByteArrayType>(array: &GenericByteArray<T>, column: &mut Column) -> Result<()> {
    let offsets = array.value_offsets();
    let is_missing = |row: usize| array.is_null(row);
    column.push_texts(
        array.value_data(),
        offsets.windows(2).map(|ends| ends[0].as_usize()..ends[1].as_usize()),
        is_missing,
    )
}

fn bytes<A: ArrayAccessor<Item: AsRef<[u8]>> + Copy>(array: A, column: &mut Column) -> Result<()> {
    each(array, column, |out, value| out.extend_from_slice(value.as_ref()))
}

fn primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    column: &mut Column,
    write: impl FnMut(&mut Vec<u8>, T::Native),
) -> Result<()> {
    each(array.as_primitive::<T>(), column, write)
}

fn integers<T: ArrowPrimitiveType<Native: Into<i64>>>(array: &dyn Array, column: &mut Column) -> Result<()> {
    primitive::<T>(array, column, |out, value| push_i64(out, value.into()))
}

/// What is not a number is missing.
fn floats<T: ArrowPrimitiveType>(
    array: &dyn Array,
    column: &mut Column,
    write: impl Fn(&mut Vec<u8>, T::Native) -> bool,
) -> Result<()> {
    let array = array.as_primitive::<T>();
    let before = column.len();
    for row in 0..array.len() {
        let mut is_number = false;
        if !array.is_null(row) {
            column.push_built(&[], |out| is_number = write(out, array.value(row)))?;
        }
        if !is_number {
            column.truncate(before + row);
            column.push_missing()?;
        }
    }
    Ok(())
}

fn times<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &dyn Array,
    column: &mut Column,
    nanoseconds: u64,
) -> Result<()> {
    primitive::<T>(array, column, |out, value| {
        push_time(out, value.into().unsigned_abs().saturating_mul(nanoseconds));
    })
}

fn moments<T: ArrowPrimitiveType<Native = i64>>(
    array: &dyn Array,
    column: &mut Column,
    per_second: i64,
    universal: bool,
) -> Result<()> {
    primitive::<T>(array, column, |out, value| push_timestamp(out, value, per_second, universal))
}
