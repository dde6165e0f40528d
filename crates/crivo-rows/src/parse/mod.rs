//! Parses the bytes of a chunk to records and fields, a batch at a time.
//!
//! A chunk begins and ends at the border of a record, so a parser needs no state of the chunk
//! before. It fills a [`Table`] with the next thousand records and returns where to continue.

pub(crate) mod block;
pub(crate) mod delimited;
pub(crate) mod json;
pub(crate) mod jsonl;
pub(crate) mod lines;
pub(crate) mod quotes;

use crivo::keys::{KeyBatch, Span};

use self::json::Value;
use self::jsonl::{Discovered, Wanted};
use crate::batch::RowId;
use crate::column::{Column, Values};
use crate::error::{Error, Place, Result};
use crate::layout::{Layout, Shape};
use crate::scan::NeedsValues;
use crate::select::Chosen;

/// The records of one batch: the position of each in the chunk, and the selected fields.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub(crate) records: Vec<Span>,
    pub(crate) columns: Vec<Column>,
    /// The columns of several values.
    pub(crate) joined: Vec<Column>,
    /// The number of records that were skipped because they were bad.
    pub(crate) bad: u64,
    /// The number of empty lines that are not records.
    pub(crate) blank: u64,
    /// The fields of JSON records, if all fields are selected.
    pub(crate) discovered: Discovered,
    /// The positions of the fields in the current JSON record.
    values: Vec<Value>,
}

impl Table {
    /// The number of records that one batch should have.
    pub(crate) const ROWS: usize = KeyBatch::TARGET_LEN;

    /// Makes room for `columns` fields and removes the last batch.
    pub(crate) fn reset(&mut self, columns: usize) {
        self.records.clear();
        self.columns.resize_with(columns, Column::default);
        self.columns.iter_mut().for_each(Column::clear);
        (self.bad, self.blank) = (0, 0);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.records.len() >= Self::ROWS
    }

    /// Ends a record. Every column without a value for it gets a missing one.
    #[inline]
    pub(crate) fn end_record(&mut self, start: usize, end: usize) -> Result<()> {
        self.records.push(Span::new(start..end)?);
        let rows = self.records.len();
        for column in &mut self.columns {
            if column.len() < rows {
                column.push_missing()?;
            }
        }
        Ok(())
    }

    /// Removes the records without a flag.
    pub(crate) fn keep_only(&mut self, flags: &[bool]) {
        let mut flag = flags.iter();
        self.records.retain(|_| flag.next().is_none_or(|flag| *flag));
        self.columns.iter_mut().chain(&mut self.joined).for_each(|column| column.keep_only(flags));
    }

    /// Joins the columns of several values from those that were read from `chunk`.
    pub(crate) fn join(&mut self, chosen: &Chosen, chunk: &[u8]) -> Result<()> {
        let Self { columns, joined, .. } = self;
        joined.resize_with(chosen.joined.len(), Column::default);
        for (parts, column) in chosen.joined.iter().zip(joined) {
            let parts: Vec<Values<'_>> =
                parts.iter().filter_map(|&part| Some(columns.get(part)?.view(chunk))).collect();
            column.join(&parts)?;
        }
        Ok(())
    }

    /// Removes the values that an unfinished record has added to the columns.
    pub(crate) fn drop_record(&mut self) {
        let rows = self.records.len();
        self.columns.iter_mut().for_each(|column| column.truncate(rows));
    }
}

/// The input of a parser: a chunk's bytes, and their layout.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) layout: &'a Layout,
    /// Whether the chunk has a quote anywhere.
    pub(crate) has_quotes: bool,
    pub(crate) skip_bad: bool,
    /// Decides whether the values of a record are needed. If `None`, all are.
    pub(crate) needs_values: Option<&'a NeedsValues<'a>>,
    /// The id of the first record of the next batch.
    pub(crate) first_id: u64,
}

impl Text<'_> {
    /// Returns true if the values of a record are needed, given by its number in the batch.
    #[inline]
    fn needs_values_of(&self, row: usize) -> bool {
        self.needs_values.is_none_or(|needs| needs(RowId::from_u64(self.first_id + row as u64)))
    }

    /// Parses records from `position` on until the table is full or the chunk ends. Returns the
    /// position after the last record. If it were inlined in its only caller, the loop would have
    /// too few registers.
    #[inline(never)]
    pub(crate) fn next_batch(&self, position: usize, table: &mut Table) -> Result<usize> {
        table.reset(match &self.layout.shape {
            Shape::Json(Wanted::All) => table.discovered.names.len(),
            _ => self.layout.chosen.fields.len(),
        });
        match &self.layout.shape {
            Shape::Json(wanted) => jsonl::parse(self, wanted, position, table),
            Shape::Lines => lines::whole(self.bytes, position, table),
            Shape::Blanks { slots } => lines::between_blanks(self.bytes, slots, position, table),
            Shape::Delimited(shape) if shape.quotes && self.has_quotes => {
                delimited::parse::<true>(self, shape, position, table)
            }
            Shape::Delimited(shape) => delimited::parse::<false>(self, shape, position, table),
        }
    }

    /// Returns the error with the line of the record that begins at `start`. If bad records are
    /// skipped, counts the record instead.
    #[cold]
    pub(crate) fn bad_record(&self, start: usize, table: &mut Table, error: Error) -> Result<()> {
        table.drop_record();
        if self.skip_bad {
            table.bad += 1;
            return Ok(());
        }
        Err(error.in_file(&self.layout.file).at(self.place(start)))
    }

    pub(crate) fn place(&self, start: usize) -> Place {
        Place::LineOfChunk(count_lines(&self.bytes[..start]) + 1)
    }
}

/// Returns the number of newlines.
pub(crate) fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}
