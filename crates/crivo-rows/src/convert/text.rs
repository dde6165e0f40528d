//! Records as lines: CSV, TSV and JSONL.

use super::cell;
use super::columns::Columns;
use crate::column::{Cell, ValueKind, Values};
use crate::written::{needs_quotes, push_json_text, push_quoted};

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
        // A record of one empty field would be an empty line, which is not a record.
        if needs_quotes(field, &[separator]) || (count == 1 && field.is_empty()) {
            push_quoted(field, text);
        } else {
            text.extend_from_slice(field);
        }
    }
    text.push(b'\n');
}

/// Adds an object. Otherwise returns the name of a field that is not UTF-8.
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
        push_json_text(name.as_bytes(), text);
        text.push(b':');
        match (cell(values.as_ref(), row), values.map_or(ValueKind::Text, |values| values.kind(row))) {
            (Cell::Missing, _) => text.extend_from_slice(b"null"),
            (Cell::Empty, _) => text.extend_from_slice(b"\"\""),
            (Cell::Value(value), ValueKind::Boolean | ValueKind::Nested) => text.extend_from_slice(value),
            (Cell::Value(value), ValueKind::Number) if is_finite(value) => text.extend_from_slice(value),
            (Cell::Value(value), _) => {
                let value = std::str::from_utf8(value).map_err(|_| name.as_str())?;
                push_json_text(value.as_bytes(), text);
            }
        }
    }
    text.extend_from_slice(b"}\n");
    Ok(())
}

/// Returns true if a number is finite. JSON has no infinite numbers; their texts begin with a
/// letter.
fn is_finite(number: &[u8]) -> bool {
    number.strip_prefix(b"-").unwrap_or(number).first().is_some_and(u8::is_ascii_digit)
}
