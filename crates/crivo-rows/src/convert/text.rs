//! Records as lines: CSV, TSV and JSONL.

use super::cell;
use super::columns::Columns;
use crate::column::{Cell, ValueKind, Values};

/// Adds a record of CSV or TSV.
pub(super) fn put_delimited<'v>(
    text: &mut Vec<u8>,
    separator: u8,
    fields: impl ExactSizeIterator<Item = &'v [u8]>,
) {
    let count = fields.len();
    for (at, field) in fields.enumerate() {
        if at > 0 {
            text.push(separator);
        }
        let has_special = memchr::memchr3(separator, b'"', b'\n', field).is_some()
            || memchr::memchr(b'\r', field).is_some();
        // A record of one empty field would be an empty line, which is none.
        if has_special || (count == 1 && field.is_empty()) {
            text.push(b'"');
            for byte in field {
                if *byte == b'"' {
                    text.push(b'"');
                }
                text.push(*byte);
            }
            text.push(b'"');
        } else {
            text.extend_from_slice(field);
        }
    }
    text.push(b'\n');
}

/// Adds an object; the name of a field that is no text otherwise.
pub(super) fn put_json<'n>(
    text: &mut Vec<u8>,
    columns: &'n Columns,
    values: &[Option<Values<'_>>],
    row: usize,
) -> Result<(), &'n str> {
    text.push(b'{');
    for (at, (name, values)) in columns.names.iter().zip(values).enumerate() {
        if at > 0 {
            text.push(b',');
        }
        put_json_text(text, name);
        text.push(b':');
        match (cell(values.as_ref(), row), values.map_or(ValueKind::Text, |values| values.kind(row))) {
            (Cell::Missing, _) => text.extend_from_slice(b"null"),
            (Cell::Empty, _) => text.extend_from_slice(b"\"\""),
            (Cell::Value(value), ValueKind::Boolean | ValueKind::Nested) => text.extend_from_slice(value),
            (Cell::Value(value), ValueKind::Number) if is_finite(value) => text.extend_from_slice(value),
            (Cell::Value(value), _) => {
                put_json_text(text, std::str::from_utf8(value).map_err(|_| name.as_str())?);
            }
        }
    }
    text.extend_from_slice(b"}\n");
    Ok(())
}

/// JSON has no infinite numbers, whose texts begin with a letter.
fn is_finite(number: &[u8]) -> bool {
    number.strip_prefix(b"-").unwrap_or(number).first().is_some_and(u8::is_ascii_digit)
}

fn put_json_text(text: &mut Vec<u8>, value: &str) {
    text.push(b'"');
    for byte in value.bytes() {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\t' => text.extend_from_slice(b"\\t"),
            0..0x20 => text.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => text.push(byte),
        }
    }
    text.push(b'"');
}
