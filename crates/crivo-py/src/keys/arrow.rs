//! Arrow columns: whatever has `__arrow_c_array__` or `__arrow_c_stream__`.
//!
//! Text and binary columns are read where they lie: offsets become spans, nothing is copied.
//! Dictionaries are unfolded a slice at a time, since a key counts as often as it occurs.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, ByteViewType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, TimeUnit};
use arrow_select::take::take;
use crivo::keys::KeyRef;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3_arrow::ffi::ArrayReader;
use pyo3_arrow::input::AnyArray;

use super::columns::{Whole, integers, require_text, texts};
use super::feed::{Feed, Gathered};
use super::text;
use crate::errors::{Failure, Result};

/// How much of a dictionary column is unfolded at once.
const DICTIONARY_SLICE: usize = 16 * 1024;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The chunks of a column.
pub(super) fn open(values: &Bound<'_, PyAny>) -> Result<Box<dyn ArrayReader + Send>> {
    Ok(values.extract::<AnyArray>()?.into_reader()?)
}

/// Reads every chunk without the GIL; a stream that is Python code takes it as it needs it.
pub(super) fn read(py: Python<'_>, chunks: Box<dyn ArrayReader + Send>, feed: &mut Feed<'_>) -> Result<u64> {
    py.detach(|| {
        let mut skipped = 0;
        for chunk in chunks {
            let chunk = chunk.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
            skipped += column(feed, &chunk)?;
        }
        Ok(skipped)
    })
}

/// Reads one array; returns how many nulls, and NaNs, it has.
fn column(feed: &mut Feed<'_>, array: &ArrayRef) -> Result<u64> {
    match array.data_type() {
        DataType::Utf8 if array.null_count() == 0 => {
            require_text(feed, "text or bytes")?;
            let array = array.as_string::<i32>();
            feed.offsets(array.value_data(), array.value_offsets())?;
            Ok(0)
        }
        DataType::Utf8 => ranges(feed, array.as_string::<i32>()),
        DataType::LargeUtf8 => ranges(feed, array.as_string::<i64>()),
        DataType::Binary => ranges(feed, array.as_binary::<i32>()),
        DataType::LargeBinary => ranges(feed, array.as_binary::<i64>()),
        DataType::Utf8View => views(feed, array.as_string_view()),
        DataType::BinaryView => views(feed, array.as_binary_view()),
        DataType::FixedSizeBinary(_) => fixed_size(feed, array.as_fixed_size_binary()),
        DataType::Int8 => whole::<Int8Type>(feed, array),
        DataType::Int16 => whole::<Int16Type>(feed, array),
        DataType::Int32 => whole::<Int32Type>(feed, array),
        DataType::Int64 => whole::<Int64Type>(feed, array),
        DataType::UInt8 => whole::<UInt8Type>(feed, array),
        DataType::UInt16 => whole::<UInt16Type>(feed, array),
        DataType::UInt32 => whole::<UInt32Type>(feed, array),
        DataType::UInt64 => whole::<UInt64Type>(feed, array),
        DataType::Float16 => {
            as_text::<Float16Type>(feed, array, |value, out| Ok(text::single(value.to_f32(), out)))
        }
        DataType::Float32 => as_text::<Float32Type>(feed, array, |value, out| Ok(text::single(value, out))),
        DataType::Float64 => as_text::<Float64Type>(feed, array, |value, out| Ok(text::double(value, out))),
        DataType::Boolean => booleans(feed, array.as_boolean()),
        DataType::Date32 => as_text::<Date32Type>(feed, array, |days, out| Ok(text::days(days.into(), out))),
        DataType::Date64 => as_text::<Date64Type>(feed, array, |millis, out| {
            Ok(text::days(millis.div_euclid(MILLIS_PER_DAY), out))
        }),
        DataType::Time32(_) | DataType::Time64(_) => times(feed, array),
        DataType::Timestamp(unit, zone) => timestamps(feed, array, *unit, zone.is_some()),
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(feed, array, *scale),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(feed, array, *scale),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(feed, array, *scale),
        DataType::Decimal256(_, scale) => decimals::<Decimal256Type>(feed, array, *scale),
        DataType::Dictionary(..) => dictionary(feed, array),
        DataType::Null => Ok(array.len() as u64),
        other => Err(Failure::key(
            "a column of text, bytes, numbers, booleans or times",
            format_args!("{other}"),
            "choose one column, or convert it",
        )),
    }
}

/// Without nulls the offsets are the spans; a null may have bytes, so it is left out by its bit.
fn ranges<T: ByteArrayType>(feed: &mut Feed<'_>, array: &GenericByteArray<T>) -> Result<u64> {
    require_text(feed, "text or bytes")?;
    let offsets = array.value_offsets();
    let range = |index: usize| offsets[index].as_usize()..offsets[index + 1].as_usize();
    match array.nulls() {
        None => feed.ranges(array.value_data(), (0..array.len()).map(range))?,
        Some(nulls) => feed.ranges(array.value_data(), nulls.valid_indices().map(range))?,
    }
    Ok(array.null_count() as u64)
}

fn fixed_size(feed: &mut Feed<'_>, array: &FixedSizeBinaryArray) -> Result<u64> {
    require_text(feed, "bytes")?;
    let width = array.value_length() as usize;
    let valid = (0..array.len()).filter(|&index| array.is_valid(index));
    feed.ranges(array.value_data(), valid.map(|index| index * width..(index + 1) * width))?;
    Ok(array.null_count() as u64)
}

/// Views point into several buffers, and short ones into themselves: their bytes are copied.
fn views<T: ByteViewType>(feed: &mut Feed<'_>, array: &GenericByteViewArray<T>) -> Result<u64> {
    require_text(feed, "text or bytes")?;
    let mut gathered = Gathered::default();
    for value in array.iter().flatten() {
        gathered.push(KeyRef::Bytes(value.as_ref()));
        if gathered.is_full() {
            gathered.deliver(feed)?;
        }
    }
    gathered.deliver(feed)?;
    Ok(array.null_count() as u64)
}

fn whole<T: ArrowPrimitiveType<Native: Whole>>(feed: &mut Feed<'_>, array: &ArrayRef) -> Result<u64> {
    let array = array.as_primitive::<T>();
    integers(feed, array.values(), array.nulls())
}

fn as_text<T: ArrowPrimitiveType>(
    feed: &mut Feed<'_>,
    array: &ArrayRef,
    write: impl Fn(T::Native, &mut Vec<u8>) -> Result<bool>,
) -> Result<u64> {
    let array = array.as_primitive::<T>();
    texts(feed, &array.data_type().to_string(), array.values(), array.nulls(), write)
}

fn booleans(feed: &mut Feed<'_>, array: &BooleanArray) -> Result<u64> {
    let values: Vec<bool> = array.values().iter().collect();
    texts(feed, "booleans", &values, array.nulls(), |value, out| Ok(text::boolean(value, out)))
}

fn decimals<T: ArrowPrimitiveType<Native: ToString>>(
    feed: &mut Feed<'_>,
    array: &ArrayRef,
    scale: i8,
) -> Result<u64> {
    as_text::<T>(feed, array, |value, out| Ok(text::decimal(&value.to_string(), scale, out)))
}

fn timestamps(feed: &mut Feed<'_>, array: &ArrayRef, unit: TimeUnit, utc: bool) -> Result<u64> {
    let write = |value, out: &mut Vec<u8>| Ok(text::timestamp(value, unit, utc, out));
    match unit {
        TimeUnit::Second => as_text::<TimestampSecondType>(feed, array, write),
        TimeUnit::Millisecond => as_text::<TimestampMillisecondType>(feed, array, write),
        TimeUnit::Microsecond => as_text::<TimestampMicrosecondType>(feed, array, write),
        TimeUnit::Nanosecond => as_text::<TimestampNanosecondType>(feed, array, write),
    }
}

fn times(feed: &mut Feed<'_>, array: &ArrayRef) -> Result<u64> {
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => as_text::<Time32SecondType>(feed, array, |value, out| {
            text::time_of_day(value.into(), TimeUnit::Second, out)
        }),
        DataType::Time32(_) => as_text::<Time32MillisecondType>(feed, array, |value, out| {
            text::time_of_day(value.into(), TimeUnit::Millisecond, out)
        }),
        DataType::Time64(TimeUnit::Microsecond) => {
            as_text::<Time64MicrosecondType>(feed, array, |value, out| {
                text::time_of_day(value, TimeUnit::Microsecond, out)
            })
        }
        _ => as_text::<Time64NanosecondType>(feed, array, |value, out| {
            text::time_of_day(value, TimeUnit::Nanosecond, out)
        }),
    }
}

fn dictionary(feed: &mut Feed<'_>, array: &ArrayRef) -> Result<u64> {
    let dictionary = array.as_any_dictionary();
    let mut skipped = 0;
    for start in (0..array.len()).step_by(DICTIONARY_SLICE) {
        let indexes = dictionary.keys().slice(start, DICTIONARY_SLICE.min(array.len() - start));
        let slice = take(dictionary.values(), &indexes, None)
            .map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        skipped += column(feed, &slice)?;
    }
    Ok(skipped)
}
