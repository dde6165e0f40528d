//! Records whose first column is replaced, everything else as it stands.
//!
//! A replaced value is written as the format wants it: a JSON string, a field of CSV that is quoted if it was or has to be.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BinaryArray, LargeBinaryArray, LargeStringArray, RecordBatch, StringArray,
    StringViewArray,
};
use arrow_schema::DataType;

use crate::error::{Error, ErrorKind, Result};
use crate::layout::{Delimited, Layout, Shape};
use crate::parse::json::Value;
use crate::parse::jsonl::Wanted;
use crate::parse::quotes::{QUOTE, Quoting};
use crate::written::{needs_quotes, push_json_text, push_quoted};

/// What becomes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// It is written as it stands.
    Keep,
    /// It is left out.
    Drop,
    /// The value of its first column is replaced.
    Replace,
}

/// Appends a record of text with another value in its first column.
pub(crate) fn push_replaced(record: &[u8], layout: &Layout, value: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let unsupported = |what: &str| {
        Err(Error::new(ErrorKind::Unsupported, format_args!("{what} cannot be replaced"))
            .in_file(&layout.file))
    };
    if layout.whole {
        out.extend_from_slice(value);
        return Ok(());
    }
    let column = layout.chosen.columns.first().copied().unwrap_or(0);
    match &layout.shape {
        Shape::Lines => out.extend_from_slice(value),
        Shape::Blanks { .. } => return unsupported("fields between blanks"),
        Shape::Delimited(shape) => {
            let Some(&field) = layout.chosen.fields.get(column) else {
                return unsupported("several fields that are one value");
            };
            let range = field_range(record, shape, field);
            out.extend_from_slice(&record[..range.start]);
            push_field(value, shape, record.get(range.start) == Some(&QUOTE), out);
            out.extend_from_slice(&record[range.end..]);
        }
        Shape::Json(Wanted::All) => return unsupported("all fields"),
        Shape::Json(Wanted::Named(fields)) => {
            let found = fields.get(column).and_then(|field| field.value_in(record));
            let range = match found {
                Some(Value::String { text, .. }) => text.start - 1..text.end + 1,
                Some(Value::Plain(text) | Value::Float(text) | Value::Nested(text)) => text,
                Some(Value::Null) | None => return unsupported("a value that is not there"),
            };
            out.extend_from_slice(&record[..range.start]);
            push_json_text(value, out);
            out.extend_from_slice(&record[range.end..]);
        }
    }
    Ok(())
}

/// Where a field of a record stands, quotes included.
fn field_range(record: &[u8], shape: &Delimited, wanted: usize) -> Range<usize> {
    let delimiter = shape.delimiter.as_slice();
    let (mut start, mut number, mut at) = (0, 0, 0);
    let mut quoting = Quoting::Outside;
    while at < record.len() {
        if shape.quotes && quoting.take(record, at, |_| at == start) {
            at += 1;
        } else if !delimiter.is_empty() && record[at..].starts_with(delimiter) {
            if number == wanted {
                return start..at;
            }
            at += delimiter.len();
            (start, number, quoting) = (at, number + 1, Quoting::Outside);
        } else {
            at += 1;
        }
    }
    if number == wanted { start..record.len() } else { record.len()..record.len() }
}

/// Appends a field, between quotes if it was or has to be.
fn push_field(value: &[u8], shape: &Delimited, was_quoted: bool, out: &mut Vec<u8>) {
    if shape.quotes && (was_quoted || needs_quotes(value, &shape.delimiter)) {
        push_quoted(value, out);
    } else {
        out.extend_from_slice(value);
    }
}

/// The rows with other values in one column, where there are some.
pub(crate) fn with_column(
    rows: &RecordBatch,
    column: usize,
    values: &[Option<Vec<u8>>],
    file: &Arc<str>,
) -> Result<RecordBatch> {
    let failed = |message: String| Error::new(ErrorKind::Unsupported, message).in_file(file);
    let old = rows.columns().get(column).ok_or_else(|| failed("there is no such column".into()))?;
    let text = |row: usize| values.get(row).and_then(Option::as_deref);
    let utf8 = |bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|error| failed(format!("a text that is no UTF-8: {error}")))
    };
    macro_rules! texts {
        ($array:ty, $old:expr) => {{
            let old = $old;
            let new = (0..old.len()).map(|row| match text(row) {
                Some(bytes) => utf8(bytes).map(Some),
                None => Ok(old.is_valid(row).then(|| old.value(row).to_owned())),
            });
            Arc::new(<$array>::from_iter(new.collect::<Result<Vec<Option<String>>>>()?)) as ArrayRef
        }};
    }
    macro_rules! bytes {
        ($array:ty, $old:expr) => {{
            let old = $old;
            let new = (0..old.len()).map(|row| {
                text(row)
                    .map_or_else(|| old.is_valid(row).then(|| old.value(row).to_vec()), |b| Some(b.to_vec()))
            });
            Arc::new(<$array>::from_iter(new.collect::<Vec<Option<Vec<u8>>>>())) as ArrayRef
        }};
    }
    let new = match old.data_type() {
        DataType::Utf8 => texts!(StringArray, old.as_string::<i32>()),
        DataType::LargeUtf8 => texts!(LargeStringArray, old.as_string::<i64>()),
        DataType::Utf8View => texts!(StringViewArray, old.as_string_view()),
        DataType::Binary => bytes!(BinaryArray, old.as_binary::<i32>()),
        DataType::LargeBinary => bytes!(LargeBinaryArray, old.as_binary::<i64>()),
        other => {
            return Err(failed(format!(
                "values of type {other} cannot be replaced: expected a column of text"
            )));
        }
    };
    let mut columns = rows.columns().to_vec();
    columns[column] = new;
    RecordBatch::try_new(rows.schema(), columns).map_err(|error| failed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use crate::{Edit, Input, Scan, Select};

    /// The file with `b` instead of each text that has an `a`, without those that are `drop`.
    fn edited(name: &str, content: &str, field: Select) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        let mut out = Vec::new();
        let edit = |text: Option<&[u8]>, new: &mut Vec<u8>| {
            let text = String::from_utf8_lossy(text.unwrap_or_default()).into_owned();
            if text == "drop" {
                return Edit::Drop;
            }
            new.extend_from_slice(text.replace('a', "b").as_bytes());
            if text.contains('a') { Edit::Replace } else { Edit::Keep }
        };
        let input = Input::file(&path);
        let scan = Scan::of(&input).select(field);
        scan.edit_rows(&|batch, row, new| Ok(edit(batch.value(0, row), new)), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_value_is_replaced_and_every_other_byte_stays() {
        assert_eq!(
            edited(
                "t.jsonl",
                "{\"id\": 1, \"text\" :\"a\\n\\\"a\\u0001é\\\\\", \"z\":[1]}\n{\"text\":\"drop\"}\n{ \"text\":\"\\u00e9\" }",
                Select::field("text"),
            ),
            "{\"id\": 1, \"text\" :\"b\\n\\\"b\\u0001é\\\\\", \"z\":[1]}\n{ \"text\":\"\\u00e9\" }"
        );
        assert_eq!(
            edited("t.jsonl", "{\"m\":{\"t\":\"xa\",\"u\":2}}\n", Select::field("m.t")),
            "{\"m\":{\"t\":\"xb\",\"u\":2}}\n"
        );
        assert_eq!(
            edited(
                "t.csv",
                "id,text,n\r\n1,\"a,\"\"q\"\" a\",3\r\n2,xx a,4\r\n3,drop,5\r\n\"x,y\",a,\"\"\n",
                Select::field("text")
            ),
            "id,text,n\r\n1,\"b,\"\"q\"\" b\",3\r\n2,xx b,4\r\n\"x,y\",b,\"\"\n"
        );
        assert_eq!(edited("t.txt", "a a\nx\ndrop\nla", Select::Single), "b b\nx\nlb");
    }
}
