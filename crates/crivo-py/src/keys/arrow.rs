//! Arrow columns: whatever has `__arrow_c_array__` or `__arrow_c_stream__`.
//!
//! Text and binary columns are read where they lie: offsets become spans, views slices, nothing is copied.
//! Dictionaries are unfolded a slice at a time, since a key counts as often as it occurs.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, ByteArrayType, ByteViewType, Date32Type, Date64Type, Decimal32Type, Decimal64Type,
    Decimal128Type, Decimal256Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray, NullArray,
};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, Field, TimeUnit};
use arrow_select::take::take;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3_arrow::ffi::{ArrayIterator, ArrayReader};
use pyo3_arrow::input::AnyArray;

use super::columns::{Whole, integers, require_text, texts};
use super::feed::{Feed, Gathered};
use super::text;
use crate::errors::{Failure, Result, broken_stream};

/// How much of a dictionary column is unfolded at once.
const DICTIONARY_SLICE: usize = 16 * 1024;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// What a column has to be.
const COLUMN: &str = "a column of text, bytes, numbers, booleans or times";

/// The chunks of a column. The only column of a table is one too: that is how a query's result comes.
pub(super) fn open(values: &Bound<'_, PyAny>) -> Result<Box<dyn ArrayReader + Send>> {
    let py = values.py();
    let mut chunks = values.extract::<AnyArray>()?.into_reader()?;
    let mut field = chunks.field();
    if let DataType::Struct(fields) = field.data_type()
        && let [only] = &fields[..]
        && values.hasattr(intern!(py, "__arrow_c_stream__"))?
    {
        let only = only.clone();
        // A table has no rows that are null. A column of structures may, and is then refused as one.
        let columns = chunks.map(|chunk| {
            chunk.map(|rows| if rows.null_count() == 0 { rows.as_struct().column(0).clone() } else { rows })
        });
        chunks = Box::new(ArrayIterator::new(columns, only.clone()));
        field = only;
    }
    require_known(&field)?;
    if field.data_type() == &DataType::Null
        && let Ok(len) = values.len()
    {
        // Polars gives such a column a buffer, which Arrow's importer does not expect.
        let missing: ArrayRef = Arc::new(NullArray::new(len));
        return Ok(Box::new(ArrayIterator::new([Ok(missing)], field)));
    }
    Ok(chunks)
}

/// Refuses extension types of Arrow whose meaning differs from what is stored: the months of pandas are
/// stored as integers, and these would be the wrong keys. Text is accepted under any extension type.
fn require_known(field: &Field) -> Result<()> {
    let text = matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match field.metadata().get("ARROW:extension:name") {
        Some(name) if !text && !matches!(name.as_str(), "arrow.uuid" | "arrow.json") => {
            let found = format_args!("the extension type '{name}' of {}", field.data_type());
            Err(Failure::key(COLUMN, found, "convert it to text, or to what it is stored as"))
        }
        _ => Ok(()),
    }
}

/// What pyarrow makes of a pandas column that does not speak Arrow itself, which columns do since pandas 3,
/// in the same way. Plain numbers and dates are left to NumPy, which has no need to copy them.
pub(super) fn from_pandas<'py>(values: &Bound<'py, PyAny>) -> Result<Option<Bound<'py, PyAny>>> {
    let py = values.py();
    if !values.get_type().module()?.to_str()?.starts_with("pandas") {
        return Ok(None);
    }
    let Some(dtype) = values.getattr_opt("dtype")? else { return Ok(None) };
    let kind: Option<char> = dtype.getattr_opt("kind")?.and_then(|kind| kind.extract().ok());
    if dtype.is_instance(&py.import("numpy")?.getattr("dtype")?)? && kind != Some('O') {
        return Ok(None);
    }
    // Without pyarrow, and where it finds no type for all the values, they are read one by one.
    let array = py.import("pyarrow").and_then(|pyarrow| pyarrow.call_method1("array", (values,)));
    Ok(array.ok())
}

/// Reads every chunk without the GIL; a stream that is Python code takes it as it needs it.
pub(super) fn read(py: Python<'_>, chunks: Box<dyn ArrayReader + Send>, feed: &mut Feed<'_>) -> Result<()> {
    py.detach(|| {
        for chunk in chunks {
            let chunk = chunk.map_err(broken_stream)?;
            column(feed, &chunk)?;
        }
        Ok(())
    })
}

/// Reads one array.
pub(super) fn column(feed: &mut Feed<'_>, array: &ArrayRef) -> Result<()> {
    match array.data_type() {
        DataType::Utf8 if array.null_count() == 0 => {
            require_text(feed, "text or bytes")?;
            let array = array.as_string::<i32>();
            feed.offsets(array.value_data(), array.value_offsets())
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
        DataType::Null => all_missing(feed, array.len()),
        other => Err(Failure::key(COLUMN, format_args!("{other}"), "choose one column, or convert it")),
    }
}

/// The offsets are the spans; a null may have bytes, so it is left out by its bit.
fn ranges<T: ByteArrayType>(feed: &mut Feed<'_>, array: &GenericByteArray<T>) -> Result<()> {
    require_text(feed, "text or bytes")?;
    let range = |pair: &[T::Offset]| pair[0].as_usize()..pair[1].as_usize();
    let ranges = array.value_offsets().windows(2).map(range);
    match array.nulls() {
        None => feed.ranges(array.value_data(), ranges),
        Some(nulls) => feed.ranges(array.value_data(), ranges.zip(nulls).map(empty_if_null)),
    }
}

fn fixed_size(feed: &mut Feed<'_>, array: &FixedSizeBinaryArray) -> Result<()> {
    require_text(feed, "bytes")?;
    let width = array.value_length() as usize;
    let ranges = (0..array.len()).map(|index| (index * width..(index + 1) * width, array.is_valid(index)));
    feed.ranges(array.value_data(), ranges.map(empty_if_null))
}

/// An empty range is how a [`Feed`] is told of a missing value.
fn empty_if_null((range, is_valid): (Range<usize>, bool)) -> Range<usize> {
    if is_valid { range } else { 0..0 }
}

/// Views point into several buffers, and short ones into themselves.
fn views<T: ByteViewType>(feed: &mut Feed<'_>, array: &GenericByteViewArray<T>) -> Result<()> {
    require_text(feed, "text or bytes")?;
    let bytes = |index: usize| -> &[u8] { array.value(index).as_ref() };
    match array.nulls() {
        None => feed.slices((0..array.len()).map(bytes)),
        Some(nulls) => {
            let empty: &[u8] = &[];
            let slices = nulls.iter().enumerate();
            feed.slices(slices.map(|(index, is_valid)| if is_valid { bytes(index) } else { empty }))
        }
    }
}

fn all_missing(feed: &mut Feed<'_>, count: usize) -> Result<()> {
    let mut gathered = Gathered::for_keys_of(feed);
    for _ in 0..count {
        gathered.push_missing();
        if gathered.is_full() {
            gathered.deliver(feed)?;
        }
    }
    gathered.deliver(feed)
}

fn whole<T: ArrowPrimitiveType<Native: Whole>>(feed: &mut Feed<'_>, array: &ArrayRef) -> Result<()> {
    let array = array.as_primitive::<T>();
    integers(feed, array.values(), array.nulls())
}

fn as_text<T: ArrowPrimitiveType>(
    feed: &mut Feed<'_>,
    array: &ArrayRef,
    write: impl Fn(T::Native, &mut Vec<u8>) -> Result<bool>,
) -> Result<()> {
    let array = array.as_primitive::<T>();
    texts(feed, &array.data_type().to_string(), array.values(), array.nulls(), write)
}

fn booleans(feed: &mut Feed<'_>, array: &BooleanArray) -> Result<()> {
    let values: Vec<bool> = array.values().iter().collect();
    texts(feed, "booleans", &values, array.nulls(), |value, out| Ok(text::boolean(value, out)))
}

fn decimals<T: ArrowPrimitiveType<Native: ToString>>(
    feed: &mut Feed<'_>,
    array: &ArrayRef,
    scale: i8,
) -> Result<()> {
    as_text::<T>(feed, array, |value, out| Ok(text::decimal(&value.to_string(), scale, out)))
}

fn timestamps(feed: &mut Feed<'_>, array: &ArrayRef, unit: TimeUnit, utc: bool) -> Result<()> {
    let write = |value, out: &mut Vec<u8>| Ok(text::timestamp(value, unit, utc, out));
    match unit {
        TimeUnit::Second => as_text::<TimestampSecondType>(feed, array, write),
        TimeUnit::Millisecond => as_text::<TimestampMillisecondType>(feed, array, write),
        TimeUnit::Microsecond => as_text::<TimestampMicrosecondType>(feed, array, write),
        TimeUnit::Nanosecond => as_text::<TimestampNanosecondType>(feed, array, write),
    }
}

fn times(feed: &mut Feed<'_>, array: &ArrayRef) -> Result<()> {
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

fn dictionary(feed: &mut Feed<'_>, array: &ArrayRef) -> Result<()> {
    let dictionary = array.as_any_dictionary();
    for start in (0..array.len()).step_by(DICTIONARY_SLICE) {
        let indexes = dictionary.keys().slice(start, DICTIONARY_SLICE.min(array.len() - start));
        let slice = take(dictionary.values(), &indexes, None).map_err(broken_stream)?;
        column(feed, &slice)?;
    }
    Ok(())
}
