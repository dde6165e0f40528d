//! CSV and its relatives: fields between delimiters, some of them quoted.
//!
//! The rules are those of RFC 4180, read generously:
//!
//! - a field is quoted if its first byte is a quote; then delimiters and line ends in it are data,
//!   and a doubled quote is one quote; what follows the closing quote up to the delimiter is data;
//! - a quote anywhere else is data;
//! - a delimiter can be longer than one byte;
//! - a record with another number of fields than the header is bad;
//! - an empty line is no record, unless records have one field: then it is an empty one.
//!
//! Each block of 64 bytes is classified once; then every delimiter, newline and quote is visited
//! in order. That counts the fields of every record and costs little more than looking for the
//! wanted ones alone. Chunks without a quote, which the feed knows, take a copy of the loop from
//! which all quote handling is compiled away.

use super::block::{BLOCK, Block};
use super::lines::line_end;
use super::{Table, Text};
use crate::column::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Delimited;

const QUOTE: u8 = b'"';

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
    let mut field = Field { start: position, number: 0, quoted: Quoted::No };
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
            if QUOTES && field.takes_quote(bytes, at) {
                continue;
            }
            if newlines >> bit & 1 == 0 {
                // A longer delimiter can hold its own first byte again, or be only begun.
                if !rest.is_empty() && (at < field.start || !bytes[at + 1..].starts_with(rest)) {
                    continue;
                }
                if let Some(slot) = shape.slots.of(field.number) {
                    field.push::<QUOTES>(bytes, at, &mut table.columns[slot])?;
                }
                field = Field { start: at + delimiter.len(), number: field.number + 1, quoted: Quoted::No };
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
            field = Field { start: record, number: 0, quoted: Quoted::No };
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
    let advice = "skip such records with --skip-bad, or check the delimiter";
    Error::new(ErrorKind::FieldCount, format_args!("expected {expected} fields, found {found} ({advice})"))
}

/// The field being read.
#[derive(Clone, Copy)]
struct Field {
    start: usize,
    number: usize,
    quoted: Quoted,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoted {
    No,
    /// Between the quotes; a quote before `resume` is the second of a doubled pair.
    Open {
        resume: usize,
        doubled: bool,
    },
    /// After the closing quote, which ended at `end`.
    Closed {
        end: usize,
        doubled: bool,
    },
}

impl Field {
    /// Whether the byte at `at` is about quoting, or inside quotes, and so ends nothing.
    #[inline]
    fn takes_quote(&mut self, bytes: &[u8], at: usize) -> bool {
        let is_quote = bytes[at] == QUOTE;
        match &mut self.quoted {
            Quoted::Open { resume, doubled } => {
                if is_quote && at >= *resume {
                    if bytes.get(at + 1) == Some(&QUOTE) {
                        (*resume, *doubled) = (at + 2, true);
                    } else {
                        self.quoted = Quoted::Closed { end: at + 1, doubled: *doubled };
                    }
                }
                true
            }
            Quoted::No if is_quote && at == self.start => {
                self.quoted = Quoted::Open { resume: at + 1, doubled: false };
                true
            }
            Quoted::No | Quoted::Closed { .. } => is_quote,
        }
    }

    /// Adds the field, which ends at `end`, to its column.
    #[inline]
    fn push<const QUOTES: bool>(&self, bytes: &[u8], end: usize, column: &mut Column) -> Result<()> {
        match self.quoted {
            Quoted::Closed { end: closed, doubled } if QUOTES => {
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

/// Appends what a field says that begins with a quote.
fn unquote(field: &[u8], out: &mut Vec<u8>) {
    let mut rest = field.get(1..).unwrap_or_default();
    while let Some(at) = memchr::memchr(QUOTE, rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.split_first() {
            Some((&QUOTE, others)) => {
                out.push(QUOTE);
                rest = others;
            }
            _ => break,
        }
    }
    out.extend_from_slice(rest);
}

/// The first record of a file.
pub(crate) struct FirstRecord {
    pub(crate) start: usize,
    /// After its line end.
    pub(crate) end: usize,
    pub(crate) fields: Vec<Vec<u8>>,
}

/// Reads the first record that is no empty line, all fields of it; slow and once a file.
pub(crate) fn first_record(text: &[u8], delimiter: &[u8], quotes: bool) -> FirstRecord {
    let mut start = 0;
    while let Some(length) = [&b"\n"[..], b"\r\n"].iter().find(|end| text[start..].starts_with(end)) {
        start += length.len();
    }
    let mut first = FirstRecord { start, end: text.len(), fields: Vec::new() };
    let mut field = start;
    let mut at = start;
    loop {
        if quotes && at == field && text.get(at) == Some(&QUOTE) {
            at = closing_quote(text, at + 1).map_or(text.len(), |closing| closing + 1);
        }
        let rest = &text[at..];
        let ends_line = rest.is_empty() || rest[0] == b'\n';
        if ends_line || rest.starts_with(delimiter) {
            let end = if ends_line { line_end(text, field, at) } else { at };
            first.fields.push(if quotes && text[field..end].first() == Some(&QUOTE) {
                let mut value = Vec::new();
                unquote(&text[field..end], &mut value);
                value
            } else {
                text[field..end].to_vec()
            });
            if ends_line {
                first.end = (at + 1).min(text.len());
                return first;
            }
            at += delimiter.len();
            field = at;
        } else {
            at += 1;
        }
    }
}

/// Where the quoted field ends whose text begins at `from`: at its closing quote, if that is in
/// `text`.
fn closing_quote(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr::memchr(QUOTE, text.get(from..)?)?;
        match text.get(at + 1) {
            Some(&QUOTE) => from = at + 2,
            Some(_) => return Some(at),
            None => return None,
        }
    }
}
