//! Records whose first column is replaced. All other bytes stay unchanged.
//!
//! A replaced value is written as its format requires: as a JSON string, or as a CSV field that is
//! quoted if it was quoted before or must be.

use std::ops::Range;

use crate::error::{Error, ErrorKind, Result};
use crate::layout::{Delimited, Layout, Shape};
use crate::parse::json::Value;
use crate::parse::jsonl::Wanted;
use crate::parse::quotes::{QUOTE, Quoting};
use crate::written::{needs_quotes, push_json_text, push_quoted};

/// What to do with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edit {
    /// Write the record unchanged.
    Keep,
    /// Leave the record out.
    Drop,
    /// Replace the value of the record's first column.
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

/// Returns the range of a field of a record, quotes included.
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

/// Appends a field, quoted if it was quoted before or must be.
fn push_field(value: &[u8], shape: &Delimited, was_quoted: bool, out: &mut Vec<u8>) {
    if shape.quotes && (was_quoted || needs_quotes(value, &shape.delimiter)) {
        push_quoted(value, out);
    } else {
        out.extend_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use crate::{Edit, Input, RowBatch, RowId, Scan, Select};

    /// Returns the file with `b` instead of each text that has an `a`, without the records whose
    /// text is `drop`.
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

    #[test]
    fn values_that_are_not_needed_change_no_other_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        let line = |n: u32| match n % 5 {
            0 => "\r\n".to_owned(),
            1 => format!("  {{\"text\": \"a\\n{n}\"}}\r\n"),
            2 => "\n".to_owned(),
            _ => format!("{{\"id\": {n}, \"text\": \"é\\u0041 {n}\"}}\n"),
        };
        let content: String = (0..500).map(line).collect();
        std::fs::write(&path, content.trim_end()).unwrap();
        let input = Input::file(&path);
        let needed = |id: RowId| id.to_u64().is_multiple_of(3);
        for chunk_size in [1, 100, 1 << 20] {
            let scan = Scan::of(&input).select(Select::field("text")).chunk_size(chunk_size).threads(1);
            let read = |scan: Scan<'_>| {
                let (seen, mut out) = (Mutex::new(Vec::new()), Vec::new());
                let edit = |batch: &RowBatch<'_>, row: usize, new: &mut Vec<u8>| {
                    let (id, value) = (batch.id(row), batch.value(0, row));
                    seen.lock().unwrap().push((id, value.map(<[u8]>::to_vec)));
                    new.extend_from_slice(b"new");
                    Ok(if value.is_some() && needed(id) { Edit::Replace } else { Edit::Keep })
                };
                scan.edit_rows(&edit, &mut out).unwrap();
                (seen.into_inner().unwrap(), out)
            };
            let (mut all, written) = read(scan.clone());
            assert!(all.len() == 300 && all.iter().all(|(_, value)| value.is_some()));
            all.iter_mut().filter(|(id, _)| !needed(*id)).for_each(|(_, value)| *value = None);
            assert_eq!(read(scan.values_of(&needed)), (all, written));
        }
    }
}
