//! Arrow columns of every type have the keys of the same values in CSV, by the rules of
//! docs/keys.md.

use std::sync::Arc;

use arrow_array::builder::{StringDictionaryBuilder, StringRunBuilder};
use arrow_array::types::{Float16Type, Int8Type, Int16Type, Int32Type};
use arrow_array::*;
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, IntervalUnit, TimeUnit, UnionFields, UnionMode};
use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;
use crivo_arrow::{Feed, Stretch, has_text};
use crivo_rows::{Scan, Select};

use crate::parquet_files::columns_of_every_type;
use crate::support::Folder;

type TypedColumn = (&'static str, ArrayRef, [&'static str; 3]);

/// Returns columns of the types that Parquet does not have, or converts to others.
#[allow(clippy::too_many_lines)] // a table
fn columns_of_arrow_alone() -> Vec<TypedColumn> {
    let dictionary: DictionaryArray<Int8Type> =
        DictionaryArray::new(vec![Some(1), None, Some(0)].into(), Arc::new(Int64Array::from(vec![-7, 42])));
    let mut words = StringDictionaryBuilder::<Int16Type>::new();
    words.append_value("maçã");
    words.append_value("");
    words.append_value("maçã");
    let mut runs = StringRunBuilder::<Int16Type>::new();
    runs.append_value("run");
    runs.append_value("run");
    runs.append_null();
    let moments = Int32Array::from(vec![1, 3]);
    let moments = RunArray::<Int32Type>::try_new(
        &moments,
        &TimestampSecondArray::from(vec![Some(0), Some(1)]).with_timezone("+05:30"),
    );
    vec![
        (
            "f16",
            Arc::new(Float16Array::from(vec![Some(half(0.5)), None, Some(half(2048.0))])),
            ["0.5", "", "2048.0"],
        ),
        (
            "large binary",
            Arc::new(LargeBinaryArray::from(vec![Some(&b"ab"[..]), None, Some(b"")])),
            ["ab", "", ""],
        ),
        (
            "binary view",
            Arc::new(BinaryViewArray::from(vec![Some(&b"longer than twelve bytes"[..]), None, Some(b"z")])),
            ["longer than twelve bytes", "", "z"],
        ),
        (
            "date64",
            Arc::new(Date64Array::from(vec![Some(-1), None, Some(86_400_000)])),
            ["1969-12-31", "", "1970-01-02"],
        ),
        (
            "time32 s",
            Arc::new(Time32SecondArray::from(vec![Some(86_399), None, Some(86_400)])),
            ["23:59:59", "", "24:00:00"],
        ),
        (
            "time64 ns",
            Arc::new(Time64NanosecondArray::from(vec![Some(1), None, Some(1_000)])),
            ["00:00:00.000000001", "", "00:00:00.000001"],
        ),
        (
            "timestamp s",
            Arc::new(TimestampSecondArray::from(vec![Some(253_402_300_800), None, Some(-1)])),
            ["+010000-01-01T00:00:00", "", "1969-12-31T23:59:59"],
        ),
        (
            "decimal32",
            Arc::new(
                Decimal32Array::from(vec![Some(1250), None, Some(-5)])
                    .with_precision_and_scale(9, 2)
                    .unwrap(),
            ),
            ["12.50", "", "-0.05"],
        ),
        (
            "decimal64",
            Arc::new(
                Decimal64Array::from(vec![Some(3), None, Some(0)]).with_precision_and_scale(18, -2).unwrap(),
            ),
            ["300", "", "0"],
        ),
        (
            "decimal256",
            Arc::new(
                Decimal256Array::from(vec![Some(i256::from_i128(i128::MIN)), None, Some(i256::ONE)])
                    .with_precision_and_scale(40, 1)
                    .unwrap(),
            ),
            ["-17014118346046923173168730371588410572.8", "", "0.1"],
        ),
        ("dictionary of integers", Arc::new(dictionary), ["42", "", "-7"]),
        ("dictionary with an empty text", Arc::new(words.finish()), ["maçã", "", "maçã"]),
        ("runs of text", Arc::new(runs.finish()), ["run", "run", ""]),
        (
            "runs of times with a zone",
            Arc::new(moments.unwrap()),
            ["1970-01-01T00:00:00Z", "1970-01-01T00:00:01Z", "1970-01-01T00:00:01Z"],
        ),
    ]
}

/// The half that equals a float.
fn half(value: f32) -> <Float16Type as ArrowPrimitiveType>::Native {
    <Float16Type as ArrowPrimitiveType>::Native::from_f32(value)
}

fn sketch_of_arrow(name: &str, array: &dyn Array) -> (Vec<u8>, u64) {
    let mut sketch = HyperLogLog::with_scheme(12, KeyScheme::bytes()).unwrap();
    let mut insert = |stretch: Stretch<'_>| Ok::<(), crivo_arrow::Error>(sketch.insert_batch(&stretch.keys)?);
    let mut feed = Feed::new(KeyScheme::bytes(), &mut insert);
    feed.column(name, array).unwrap();
    let missing = feed.missing();
    (sketch.encode(), missing)
}

fn sketch_of_csv(folder: &Folder, texts: &[&str]) -> Vec<u8> {
    let quoted = |text: &&str| format!("\"{}\"\n", text.replace('"', "\"\""));
    let csv: String = std::iter::once("value\n".to_owned()).chain(texts.iter().map(quoted)).collect();
    // Bytes that are not UTF-8 are written as Latin-1 in the table.
    let csv: Vec<u8> =
        if csv.contains('\u{FF}') { csv.chars().map(|c| c as u8).collect() } else { csv.into() };
    let input = folder.input("t.csv", csv);
    let empty = HyperLogLog::with_scheme(12, KeyScheme::bytes()).unwrap();
    let folded = Scan::of(&input).select(Select::field("value")).keys(empty.scheme()).fold(
        || empty.clone(),
        |sketch, batch| Ok(sketch.insert_batch(&batch.keys(0)?)?),
        |sketch, other| Ok(sketch.merge(&other)?),
    );
    folded.unwrap().state.encode()
}

#[test]
fn every_type_of_arrow_has_the_keys_of_its_text_in_csv() {
    let folder = Folder::new();
    let columns: Vec<TypedColumn> =
        columns_of_every_type().into_iter().chain(columns_of_arrow_alone()).collect();
    for (name, array, texts) in &columns {
        let missing = texts.iter().filter(|text| text.is_empty()).count() as u64;
        let (found, skipped) = sketch_of_arrow(name, array);
        assert!(found == sketch_of_csv(&folder, texts), "{name}");
        assert_eq!(skipped, missing, "{name}");
        // A slice has the keys of its own rows only.
        let (found, _) = sketch_of_arrow(name, &array.slice(1, 2));
        assert!(found == sketch_of_csv(&folder, &texts[1..]), "{name}, sliced");
    }
    let seen: Vec<String> = columns.iter().map(|(_, array, _)| name_of(array.data_type())).collect();
    for data_type in every_type() {
        let name = name_of(&data_type);
        assert_eq!(has_text(&data_type), has_text_by_the_rules(&data_type), "{data_type}");
        assert_eq!(seen.contains(&name), has_text(&data_type), "{name} is in the table if it has a text");
    }
}

/// Implements the table of docs/keys.md. If Arrow adds a type, this does not compile until the type
/// is decided.
fn has_text_by_the_rules(data_type: &DataType) -> bool {
    match data_type {
        DataType::Null
        | DataType::Boolean
        | DataType::Int8
        | DataType::Int16
        | DataType::Int32
        | DataType::Int64
        | DataType::UInt8
        | DataType::UInt16
        | DataType::UInt32
        | DataType::UInt64
        | DataType::Float16
        | DataType::Float32
        | DataType::Float64
        | DataType::Timestamp(..)
        | DataType::Date32
        | DataType::Date64
        | DataType::Time32(_)
        | DataType::Time64(_)
        | DataType::Binary
        | DataType::FixedSizeBinary(_)
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..)
        | DataType::Dictionary(..)
        | DataType::RunEndEncoded(..) => true,
        DataType::Duration(_)
        | DataType::Interval(_)
        | DataType::List(_)
        | DataType::ListView(_)
        | DataType::FixedSizeList(..)
        | DataType::LargeList(_)
        | DataType::LargeListView(_)
        | DataType::Struct(_)
        | DataType::Union(..)
        | DataType::Map(..) => false,
    }
}

/// Returns one of each type, and of each unit of times.
fn every_type() -> Vec<DataType> {
    let item = || Arc::new(Field::new("item", DataType::Int8, true));
    let ends = Arc::new(Field::new("run_ends", DataType::Int16, false));
    let units = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
    let mut types = vec![
        DataType::Null,
        DataType::Boolean,
        DataType::Int8,
        DataType::Int16,
        DataType::Int32,
        DataType::Int64,
        DataType::UInt8,
        DataType::UInt16,
        DataType::UInt32,
        DataType::UInt64,
        DataType::Float16,
        DataType::Float32,
        DataType::Float64,
        DataType::Date32,
        DataType::Date64,
        DataType::Time32(TimeUnit::Second),
        DataType::Time32(TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond),
        DataType::Time64(TimeUnit::Nanosecond),
        DataType::Interval(IntervalUnit::DayTime),
        DataType::Binary,
        DataType::FixedSizeBinary(2),
        DataType::LargeBinary,
        DataType::BinaryView,
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Utf8View,
        DataType::List(item()),
        DataType::ListView(item()),
        DataType::FixedSizeList(item(), 2),
        DataType::LargeList(item()),
        DataType::LargeListView(item()),
        DataType::Struct(vec![item()].into()),
        DataType::Union(UnionFields::empty(), UnionMode::Sparse),
        DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8)),
        DataType::Decimal32(9, 2),
        DataType::Decimal64(18, 2),
        DataType::Decimal128(38, 2),
        DataType::Decimal256(76, 2),
        DataType::Map(item(), false),
        DataType::RunEndEncoded(ends, item()),
    ];
    types.extend(units.map(|unit| DataType::Timestamp(unit, None)));
    types.extend(units.map(DataType::Duration));
    types
}

/// Returns the type without the parts that change no text: zones, scales and the types inside.
fn name_of(data_type: &DataType) -> String {
    match data_type {
        DataType::Timestamp(unit, _) => format!("timestamp {unit:?}"),
        DataType::Time32(unit) | DataType::Time64(unit) => format!("time {unit:?}"),
        other => format!("{other:?}").chars().take_while(|c| c.is_alphanumeric()).collect(),
    }
}

#[test]
fn negative_time_of_day_is_an_error_that_names_file_and_column() {
    let folder = Folder::new();
    let times: ArrayRef = Arc::new(Time64MicrosecondArray::from(vec![Some(0), Some(-1)]));
    let input = folder.input("times.parquet", crate::parquet_files::parquet_bytes(vec![("at", times)], 10));
    let error = crate::support::read(&Scan::of(&input).select(Select::field("at"))).unwrap_err();
    assert_eq!(error.kind(), crivo_rows::ErrorKind::Damaged);
    let text = error.to_string();
    assert!(text.contains("times.parquet") && text.contains("column 'at': expected a time of day"), "{text}");
}
