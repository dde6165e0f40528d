//! Parses lines, as whole records or split at blanks.

use crivo::keys::Span;

use super::Table;
use super::block::{BLOCK, Block};
use crate::error::Result;
use crate::layout::Slots;

/// Parses every line as a record.
pub(crate) fn whole(bytes: &[u8], position: usize, table: &mut Table) -> Result<usize> {
    let mut start = position;
    let mut base = position;
    while base < bytes.len() {
        let mut newlines = Block::load(&bytes[base..]).equal(b'\n');
        while newlines != 0 {
            let at = base + newlines.trailing_zeros() as usize;
            newlines &= newlines - 1;
            table.records.push(Span::new(start..line_end(bytes, start, at))?);
            start = at + 1;
        }
        // A block has at most 64 lines, so the batch is at most that much longer than planned.
        base += BLOCK;
        if table.is_full() {
            break;
        }
    }
    Ok(start)
}

/// Parses fields as runs of bytes between blanks and tabs, as awk does. A line with fewer fields
/// than selected has missing values.
pub(crate) fn between_blanks(
    bytes: &[u8],
    slots: &Slots,
    position: usize,
    table: &mut Table,
) -> Result<usize> {
    let mut start = position;
    while start < bytes.len() && !table.is_full() {
        let newline = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        let end = line_end(bytes, start, newline);
        let mut at = start;
        for slot in slots.iter() {
            while at < end && is_blank(bytes[at]) {
                at += 1;
            }
            let field = at;
            while at < end && !is_blank(bytes[at]) {
                at += 1;
            }
            match slot.map(|slot| &mut table.columns[slot]) {
                Some(column) if field < at => column.push(bytes, field, at)?,
                Some(column) => column.push_missing()?,
                None => {}
            }
        }
        table.end_record(start, end)?;
        start = newline + 1;
    }
    Ok(start)
}

fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns the end of a line with its newline at `newline`. A carriage return before it is not part
/// of the line.
#[inline]
pub(crate) fn line_end(bytes: &[u8], start: usize, newline: usize) -> usize {
    if newline > start && bytes[newline - 1] == b'\r' { newline - 1 } else { newline }
}
