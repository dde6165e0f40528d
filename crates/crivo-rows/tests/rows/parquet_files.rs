//! Parquet columns of every type have the text of docs/keys.md.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder, StringDictionaryBuilder};
use arrow_array::types::Int32Type;
use arrow_array::*;
use arrow_schema::{DataType, Field, Schema};
use crivo_rows::{ErrorKind, Input, Predicate, RowBatch, Scan, Select};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::support::{Folder, Row, read};

pub(crate) fn parquet_bytes(columns: Vec<(&str, ArrayRef)>, rows_a_group: usize) -> Vec<u8> {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), columns.into_iter().map(|(_, array)| array).collect())
            .unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows_a_group)).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn column_of(input: &Input, field: &str) -> Vec<Option<String>> {
    let rows = read(&Scan::of(input).select(Select::field(field)).threads(2)).unwrap().0;
    rows.into_iter().map(|mut row| row.remove(0)).collect()
}

/// Returns a column of every type, and the text of its three values.
#[allow(clippy::too_many_lines)] // a table
pub(crate) fn columns_of_every_type() -> Vec<(&'static str, ArrayRef, [&'static str; 3])> {
    let dictionary = {
        let mut builder = StringDictionaryBuilder::<Int32Type>::new();
        builder.append_value("red");
        builder.append_null();
        builder.append_value("red");
        builder.finish()
    };
    vec![
        ("bool", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])), ["true", "", "false"]),
        ("i8", Arc::new(Int8Array::from(vec![Some(-128), None, Some(7)])), ["-128", "", "7"]),
        ("i16", Arc::new(Int16Array::from(vec![Some(-300), None, Some(7)])), ["-300", "", "7"]),
        ("i32", Arc::new(Int32Array::from(vec![Some(i32::MIN), None, Some(0)])), ["-2147483648", "", "0"]),
        (
            "i64",
            Arc::new(Int64Array::from(vec![Some(i64::MIN), None, Some(1)])),
            ["-9223372036854775808", "", "1"],
        ),
        ("u8", Arc::new(UInt8Array::from(vec![Some(255), None, Some(0)])), ["255", "", "0"]),
        ("u16", Arc::new(UInt16Array::from(vec![Some(65535), None, Some(0)])), ["65535", "", "0"]),
        ("u32", Arc::new(UInt32Array::from(vec![Some(u32::MAX), None, Some(0)])), ["4294967295", "", "0"]),
        (
            "u64",
            Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)])),
            ["18446744073709551615", "", "0"],
        ),
        ("f32", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(1.0)])), ["0.1", "", "1.0"]),
        ("f64", Arc::new(Float64Array::from(vec![Some(1e16), None, Some(f64::NAN)])), ["1e+16", "", ""]),
        ("utf8", Arc::new(StringArray::from(vec![Some("a,\"b"), None, Some("")])), ["a,\"b", "", ""]),
        ("large", Arc::new(LargeStringArray::from(vec![Some("x"), None, Some("y")])), ["x", "", "y"]),
        (
            "view",
            Arc::new(StringViewArray::from(vec![Some("a longer text than twelve"), None, Some("y")])),
            ["a longer text than twelve", "", "y"],
        ),
        (
            "binary",
            Arc::new(BinaryArray::from(vec![Some(&b"\x01\xFF"[..]), None, Some(b"z")])),
            ["\u{1}\u{FF}", "", "z"],
        ),
        (
            "fixed",
            Arc::new(
                FixedSizeBinaryArray::try_from_sparse_iter_with_size(
                    [Some(b"ab"), None, Some(b"cd")].into_iter(),
                    2,
                )
                .unwrap(),
            ),
            ["ab", "", "cd"],
        ),
        ("dictionary", Arc::new(dictionary), ["red", "", "red"]),
        (
            "date",
            Arc::new(Date32Array::from(vec![Some(19_782), None, Some(-1)])),
            ["2024-02-29", "", "1969-12-31"],
        ),
        (
            "time",
            Arc::new(Time64MicrosecondArray::from(vec![Some(1_500_000), None, Some(0)])),
            ["00:00:01.500000", "", "00:00:00"],
        ),
        (
            "seconds",
            Arc::new(Time32MillisecondArray::from(vec![Some(86_399_000), None, Some(1)])),
            ["23:59:59", "", "00:00:00.001000"],
        ),
        (
            "milli",
            Arc::new(TimestampMillisecondArray::from(vec![Some(1_500), None, Some(0)])),
            ["1970-01-01T00:00:01.500000", "", "1970-01-01T00:00:00"],
        ),
        (
            "micro",
            Arc::new(TimestampMicrosecondArray::from(vec![Some(-1), None, Some(0)])),
            ["1969-12-31T23:59:59.999999", "", "1970-01-01T00:00:00"],
        ),
        (
            "nano",
            Arc::new(TimestampNanosecondArray::from(vec![Some(1), None, Some(0)])),
            ["1970-01-01T00:00:00.000000001", "", "1970-01-01T00:00:00"],
        ),
        (
            "zoned",
            Arc::new(
                TimestampMicrosecondArray::from(vec![Some(0), None, Some(1)])
                    .with_timezone("America/Sao_Paulo"),
            ),
            ["1970-01-01T00:00:00Z", "", "1970-01-01T00:00:00.000001Z"],
        ),
        (
            "decimal",
            Arc::new(
                Decimal128Array::from(vec![Some(1250), None, Some(-5)])
                    .with_precision_and_scale(10, 2)
                    .unwrap(),
            ),
            ["12.50", "", "-0.05"],
        ),
        ("null", Arc::new(NullArray::new(3)), ["", "", ""]),
    ]
}

#[test]
fn every_type_has_its_text_and_nulls_are_missing() {
    let columns = columns_of_every_type();
    let folder = Folder::new();
    for rows_a_group in [1, 2, 100] {
        let bytes =
            parquet_bytes(columns.iter().map(|(n, a, _)| (*n, Arc::clone(a))).collect(), rows_a_group);
        let input = folder.input("types.parquet", bytes);
        for (name, _, expected) in &columns {
            let expected = expected.map(|text| Some(text.to_owned()).filter(|text| !text.is_empty()));
            assert_eq!(column_of(&input, name), expected, "{name}");
        }
        let (rows, counts) = read(&Scan::of(&input).select(Select::All).threads(4)).unwrap();
        assert_eq!((rows.len(), rows[0].len(), counts.rows), (3, columns.len(), 3));
    }
}

#[test]
fn only_rows_are_counted_where_no_column_is_asked_for() {
    let folder = Folder::new();
    let numbers: ArrayRef = Arc::new((0..5000_i64).collect::<Int64Array>());
    let input = folder.input("n.parquet", parquet_bytes(vec![("n", numbers)], 700));
    let (rows, counts) = read(&Scan::of(&input).select(Select::Fields(vec![])).threads(3)).unwrap();
    assert_eq!((rows.len(), counts.rows, counts.skipped), (5000, 5000, 0));
    assert_eq!(counts.bytes, std::fs::metadata(folder.path("n.parquet")).unwrap().len());
}

fn with_list() -> Vec<u8> {
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("a"), Some("b")]);
    lists.append_null();
    let names: ArrayRef = Arc::new(StringArray::from(vec!["ana", "rui"]));
    parquet_bytes(vec![("tags", Arc::new(lists.finish())), ("name", names)], 10)
}

#[test]
fn nested_column_is_refused_if_asked_for_and_else_left_out_with_a_warning() {
    let folder = Folder::new();
    let input = folder.input("nested.parquet", with_list());
    assert_eq!(column_of(&input, "name"), [Some("ana".to_owned()), Some("rui".to_owned())]);
    let error = read(&Scan::of(&input).select(Select::field("tags"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NestedColumn);
    assert!(error.to_string().contains("column 'tags' is nested (a list)"), "{error}");
    let folded = Scan::of(&input).select(Select::All).fold(
        Vec::new,
        |names: &mut Vec<String>, batch| {
            names.extend_from_slice(batch.names());
            Ok(())
        },
        |names, others| {
            names.extend(others);
            Ok(())
        },
    );
    let folded = folded.unwrap();
    assert_eq!(folded.state, ["name"]);
    assert!(folded.warnings[0].contains("column 'tags' is left out"), "{:?}", folded.warnings);
    let error = read(&Scan::of(&input)).unwrap_err();
    assert!(error.to_string().contains("choose a field (fields: tags, name)"), "{error}");
}

#[test]
fn damaged_file_is_an_error_and_never_a_panic() {
    let folder = Folder::new();
    let text: ArrayRef =
        Arc::new((0..2000).map(|n| Some(format!("value {}", n % 300))).collect::<StringArray>());
    let whole = parquet_bytes(vec![("t", text)], 500);
    for cut in (1..whole.len()).step_by(97) {
        let input = folder.input("cut.parquet", &whole[..cut]);
        let error = read(&Scan::of(&input).select(Select::field("t"))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    }
    for at in (4..whole.len() - 8).step_by(53) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x5A;
        let input = folder.input("changed.parquet", &bytes);
        if let Err(error) = read(&Scan::of(&input).select(Select::field("t")).threads(2)) {
            assert!(error.to_string().contains("changed.parquet"), "{error}");
        }
    }
}

#[test]
fn kept_rows_are_written_as_parquet_with_every_column() {
    let folder = Folder::new();
    let numbers: ArrayRef = Arc::new((0..3000_i64).collect::<Int64Array>());
    let mut lists = ListBuilder::new(StringBuilder::new());
    (0..3000).for_each(|n| lists.append_value([Some(format!("tag {n}"))]));
    let bytes = parquet_bytes(vec![("n", numbers), ("tags", Arc::new(lists.finish()))], 800);
    let input = folder.input("in.parquet", &bytes);
    let judge = |batch: &mut RowBatch<'_>, flags: &mut [bool]| {
        for (flag, value) in flags.iter_mut().zip(batch.column(0).iter()) {
            *flag = value.is_some_and(|value| value.ends_with(b"7"));
        }
        Ok(())
    };
    let mut output = Vec::new();
    let scan = Scan::of(&input).select(Select::field("n")).threads(3);
    let copied = scan.copy_rows(Predicate::Each(&judge), &mut output).unwrap();
    assert_eq!((copied.kept, copied.counts.rows), (300, 3000));
    let expected: Vec<Option<String>> =
        (0..3000).filter(|n| n % 10 == 7).map(|n| Some(n.to_string())).collect();
    let written = folder.input("out.parquet", output);
    assert_eq!(column_of(&written, "n"), expected);
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReader::try_new(
        std::fs::File::open(folder.path("out.parquet")).unwrap(),
        1000,
    );
    let batch = reader.unwrap().next().unwrap().unwrap();
    assert!(matches!(batch.schema().field(1).data_type(), DataType::List(_)));

    // A filter leaves out rows before they are judged: whole batches, and single rows.
    let filter = |batch: &RowBatch<'_>, flags: &mut [bool]| {
        for (flag, value) in flags.iter_mut().zip(batch.column(0).iter()) {
            *flag = value.is_some_and(|value| value.len() == 4 && !value.ends_with(b"17"));
        }
        Ok(())
    };
    let mut output = Vec::new();
    let copied = scan.only(&filter).copy_rows(Predicate::Each(&judge), &mut output).unwrap();
    assert_eq!((copied.kept, copied.counts.rows, copied.counts.left_out), (180, 3000, 1020));
    let expected: Vec<Option<String>> =
        (1000..3000).filter(|n| n % 10 == 7 && n % 100 != 17).map(|n| Some(n.to_string())).collect();
    assert_eq!(column_of(&folder.input("filtered.parquet", output), "n"), expected);

    folder.write("z.csv", "n\n1\n");
    let both =
        [folder.path("in.parquet"), folder.path("z.csv")].map(|path| path.to_string_lossy().into_owned());
    let mixed = Input::from_args(both).unwrap();
    let error =
        Scan::of(&mixed).select(Select::field("n")).copy_rows(Predicate::Each(&judge), &mut Vec::new());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
}

/// Returns a file whose only row group has no rows. Arrow for C++ and Python writes an empty table
/// in this form.
fn with_an_empty_row_group() -> Vec<u8> {
    let schema = parse_message_type("message table { optional binary value (UTF8); }").unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(WriterProperties::default()))
            .unwrap();
    let mut group = writer.next_row_group().unwrap();
    while let Some(column) = group.next_column().unwrap() {
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn copy_of_an_empty_row_group_is_a_parquet_file_with_its_columns() {
    let folder = Folder::new();
    let input = folder.input("in.parquet", with_an_empty_row_group());
    for threads in [1, 2] {
        let mut output = Vec::new();
        let scan = Scan::of(&input).select(Select::field("value")).threads(threads);
        let copied = scan.copy_rows(Predicate::All, &mut output).unwrap();
        assert_eq!((copied.kept, copied.counts.rows), (0, 0));
        assert!(column_of(&folder.input("out.parquet", output), "value").is_empty());
    }
}

#[test]
fn compressed_parquet_is_read_from_memory() {
    let folder = Folder::new();
    let input = folder.input("nested.parquet.gz", crate::compressed::gzip(&with_list()));
    let rows: Vec<Row> = read(&Scan::of(&input).select(Select::field("2"))).unwrap().0;
    assert_eq!(rows.len(), 2);
}
