//! Parses CSV and similar formats: fields between delimiters, some of them quoted.
//!
//! The rules are those of RFC 4180, applied leniently:
//!
//! - a field is quoted if its first byte is a quote; then delimiters and line ends in it are data,
//!   and a doubled quote is one quote; bytes between the closing quote and the delimiter are data;
//! - a quote anywhere else is data;
//! - a delimiter can be longer than one byte;
//! - a record with another number of fields than the header is bad;
//! - an empty line is not a record, unless records have one field: then it is an empty record.
//!
//! Each block of 64 bytes is classified once. Then every delimiter, newline and quote is visited in
//! order. That counts the fields of every record, and costs little more than a search for the
//! selected fields alone. Chunks without a quote, as reported by the feed, use a version of the
//! loop without any quote handling.

use super::block::{BLOCK, Block};
use super::lines::line_end;
use super::quotes::{QUOTE, Quoting, unquote};
use super::{Table, Text};
use crate::column::Column;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::layout::Delimited;

/// Parses records from `position` until the table is full or the chunk ends.
pub(crate) fn parse<const QUOTES: bool>(
    text: &Text<'_>,
    shape: &Delimited,
    position: usize,
    table: &mut Table,
) -> Result<usize> {
    let bytes = text.bytes;
    let delimiter = shape.delimiter.as_slice();
    let [first_byte, rest @ ..] = delimiter else { return Ok(bytes.len()) };
    let mut record = position;
    let mut field = Field { start: position, number: 0, quoting: Quoting::Outside };
    let mut base = position;
    while base < bytes.len() {
        let block = Block::load(&bytes[base..]);
        let newlines = block.equal(b'\n');
        let mut marks = newlines | block.equal(*first_byte);
        if QUOTES {
            marks |= block.equal(QUOTE);
        }
        while marks != 0 {
            let bit = marks.trailing_zeros();
            let at = base + bit as usize;
            marks &= marks - 1;
            if QUOTES && field.quoting.take(bytes, at, |_| at == field.start) {
                continue;
            }
            if newlines >> bit & 1 == 0 {
                // The position may be inside a longer delimiter, or only the first byte of one may
                // be here.
                if !rest.is_empty() && (at < field.start || !bytes[at + 1..].starts_with(rest)) {
                    continue;
                }
                if let Some(slot) = shape.slots.of(field.number) {
                    field.push::<QUOTES>(bytes, at, &mut table.columns[slot])?;
                }
                field = Field {
                    start: at + delimiter.len(),
                    number: field.number + 1,
                    quoting: Quoting::Outside,
                };
                continue;
            }
            let end = line_end(bytes, field.start, at);
            let is_blank = end == record && shape.fields.is_some_and(|fields| fields > 1);
            if is_blank {
                table.blank += 1;
            } else {
                if let Some(slot) = shape.slots.of(field.number) {
                    field.push::<QUOTES>(bytes, end, &mut table.columns[slot])?;
                }
                match shape.fields {
                    Some(fields) if fields != field.number + 1 => {
                        let error = wrong_number(fields, field.number + 1);
                        text.bad_record(record, table, error)?;
                    }
                    Some(_) => table.records.push(crivo::keys::Span::new(record..end)?),
                    None => table.end_record(record, end)?,
                }
            }
            record = at + 1;
            field = Field { start: record, number: 0, quoting: Quoting::Outside };
            if table.is_full() {
                return Ok(record);
            }
        }
        base += BLOCK;
    }
    if QUOTES && record < bytes.len() {
        // The feed cuts chunks at borders, so only the end of the file can be inside quotes.
        let message = "a quoted field begins in this record and never ends: is a quote missing?";
        text.bad_record(record, table, Error::new(ErrorKind::UnclosedQuote, message))?;
    }
    Ok(bytes.len())
}

#[cold]
fn wrong_number(expected: usize, found: usize) -> Error {
    let error = Error::new(ErrorKind::FieldCount, format_args!("expected {expected} fields, found {found}"));
    error.with_remedy(Remedy::SkipBad)
}

/// The field being read.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    number: usize,
    quoting: Quoting,
}

impl Field {
    /// Adds the field, which ends at `end`, to its column.
    #[inline]
    fn push<const QUOTES: bool>(&self, bytes: &[u8], end: usize, column: &mut Column) -> Result<()> {
        match self.quoting {
            Quoting::Closed { end: closed, doubled } if QUOTES => {
                if closed == end && !doubled {
                    column.push(bytes, self.start + 1, end - 1)
                } else {
                    column.push_built(bytes, |out| unquote(&bytes[self.start..end], out))
                }
            }
            _ => column.push(bytes, self.start, end),
        }
    }
}

/// The first record of a file.
pub(crate) struct FirstRecord {
    pub(crate) start: usize,
    /// The position after its line end.
    pub(crate) end: usize,
    pub(crate) fields: Vec<Vec<u8>>,
}

/// Returns how many bytes of empty lines a text begins with.
pub(crate) fn blank_lines(text: &[u8]) -> usize {
    let mut start = 0;
    while let Some(length) = [&b"\n"[..], b"\r\n"].iter().find(|end| text[start..].starts_with(end)) {
        start += length.len();
    }
    start
}

/// Reads all fields of the first record that is not an empty line. It is slow, but is called once
/// for each file.
pub(crate) fn first_record(text: &[u8], delimiter: &[u8], quotes: bool) -> FirstRecord {
    let start = blank_lines(text);
    let mut first = FirstRecord { start, end: text.len(), fields: Vec::new() };
    let mut field = start;
    let mut quoting = Quoting::Outside;
    let mut at = start;
    loop {
        if quotes && at < text.len() && quoting.take(text, at, |_| at == field) {
            at += 1;
            continue;
        }
        let rest = &text[at..];
        let ends_line = rest.is_empty() || rest[0] == b'\n';
        if !ends_line && !rest.starts_with(delimiter) {
            at += 1;
            continue;
        }
        let end = if ends_line { line_end(text, field, at) } else { at };
        let mut value = Vec::new();
        match quoting {
            Quoting::Outside => value.extend_from_slice(&text[field..end]),
            Quoting::Inside { .. } | Quoting::Closed { .. } => unquote(&text[field..end], &mut value),
        }
        first.fields.push(value);
        if ends_line {
            first.end = (at + 1).min(text.len());
            return first;
        }
        at += delimiter.len();
        (field, quoting) = (at, Quoting::Outside);
    }
}
