//! What a step gets: some records of one file, with the selected fields side by side.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crivo::keys::KeyBatch;

use crate::column::{Cell, Values};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::keyer::{Keyer, RowKeys, not_an_integer};
use crate::parse::{Table, count_lines};
use crate::scan::Counts;
use crate::select::Chosen;

/// Names a record by its place in the input. Ids ascend in input order. They are the same in every
/// pass over the same files with the same settings, whatever the number of threads. An id is not a
/// row number, because there are gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(u64);

impl RowId {
    /// Returns the id as a number, to be stored.
    pub fn to_u64(self) -> u64 {
        self.0
    }

    /// Returns the number of the chunk, and the row within it.
    pub(crate) fn parts(self) -> (usize, u64) {
        ((self.0 >> 32) as usize, self.0 & u64::from(u32::MAX))
    }

    /// Returns the id of a number from [`to_u64`](Self::to_u64).
    pub fn from_u64(id: u64) -> Self {
        Self(id)
    }
}

/// One to about a thousand consecutive records of one file, and the selected fields of each.
///
/// Rows are numbered from 0 within the batch. Columns are numbered from 0 in the order in which
/// they were selected. All references into a batch end with the step.
pub struct RowBatch<'a> {
    pub(crate) file: &'a Arc<str>,
    pub(crate) names: &'a [String],
    /// For each column of the batch, the number of its column in the table.
    pub(crate) columns: &'a [usize],
    /// For each column, whether the elements of its values are items. If empty, no column has
    /// elements.
    pub(crate) elements: &'a [bool],
    /// Whether the columns were found record by record.
    pub(crate) discovers: bool,
    /// Whether the only column is the record itself.
    pub(crate) whole: bool,
    pub(crate) bytes: &'a [u8],
    pub(crate) table: &'a Table,
    /// The number of records before the filter, and the numbers of those that it kept. Without a
    /// filter, all are kept.
    pub(crate) records: usize,
    pub(crate) kept: Option<&'a [u32]>,
    pub(crate) keyer: &'a mut Keyer,
    /// The number of missing values of the first column, or `None` if they are not counted yet.
    pub(crate) first_missing: Option<usize>,
    pub(crate) skip_bad: bool,
    /// The rows with a value that could not be a key.
    pub(crate) bad_rows: BTreeSet<usize>,
    pub(crate) sequence: u64,
    /// The number of the first row within its chunk or row group.
    pub(crate) first: u64,
    pub(crate) origin: Origin,
    /// Where the file's own bytes end. A line end after this position was added.
    pub(crate) limit: usize,
}

/// The bytes that the records of a batch are part of, and how to find their fields.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchSource<'a> {
    pub(crate) file: &'a Arc<str>,
    pub(crate) chosen: &'a Chosen,
    /// Whether the table found the columns itself.
    pub(crate) discovers: bool,
    pub(crate) whole: bool,
    pub(crate) bytes: &'a [u8],
    pub(crate) limit: usize,
    pub(crate) origin: Origin,
    pub(crate) sequence: u64,
    pub(crate) first: u64,
}

/// How the place of a row in the file is found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// By counting the lines of the chunk.
    Chunk,
    /// By counting rows. The number is that of the rows of the file before the row group.
    Rows(u64),
}

impl<'a> RowBatch<'a> {
    /// Creates a batch of the records of a table, without any counts yet.
    pub(crate) fn new(
        source: BatchSource<'a>,
        table: &'a Table,
        records: usize,
        kept: Option<&'a [u32]>,
        keyer: &'a mut Keyer,
        skip_bad: bool,
    ) -> Self {
        let BatchSource { file, chosen, discovers, whole, bytes, limit, origin, sequence, first } = source;
        let (names, columns) = if discovers {
            (table.discovered.names.as_slice(), &table.discovered.columns)
        } else {
            (&*chosen.names, &chosen.columns)
        };
        Self {
            file,
            names,
            columns,
            elements: &chosen.elements,
            discovers,
            whole,
            bytes,
            table,
            records,
            kept,
            keyer,
            first_missing: None,
            skip_bad,
            bad_rows: BTreeSet::new(),
            sequence,
            first,
            origin,
            limit,
        }
    }

    /// Returns the number of records.
    pub fn rows(&self) -> usize {
        self.kept.map_or(self.records, <[u32]>::len)
    }

    /// Returns the name of each column, or its number from 1 if fields have no names.
    pub fn names(&self) -> &'a [String] {
        self.names
    }

    /// Returns true if the columns are those of the records read so far, and later batches may have
    /// more. This holds for all fields of JSONL.
    pub fn discovers_columns(&self) -> bool {
        self.discovers
    }

    /// Returns the name of the file that the records are from.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// Returns the values of a column, one for each row, or no values if there is no such column.
    pub fn column(&self, column: usize) -> Values<'a> {
        if self.whole && column == 0 {
            return Values { bytes: self.bytes, spans: &self.table.records, kinds: &[], picked: None };
        }
        let Table { columns, joined, .. } = self.table;
        let place = self.columns.get(column);
        match place.and_then(|&at| columns.get(at).or_else(|| joined.get(at.checked_sub(columns.len())?))) {
            Some(column) => column.view(self.bytes),
            None => Values { bytes: &[], spans: &[], kinds: &[], picked: None },
        }
    }

    /// Returns the content of a field: a value, nothing, or an empty text.
    pub fn cell(&self, column: usize, row: usize) -> Cell<'a> {
        self.column(column).cell(row)
    }

    /// Returns one value, or `None` if it is empty or missing.
    #[inline]
    pub fn value(&self, column: usize, row: usize) -> Option<&'a [u8]> {
        self.column(column).get(row)
    }

    /// Returns the keys of a column, hashed under the scan's scheme. There is one for each value
    /// that is neither empty nor null, in order, or its word n-grams if the scan is set to words.
    ///
    /// # Errors
    /// If keys are integers and a value is not one. If bad records are skipped, such values are
    /// counted instead.
    pub fn keys(&mut self, column: usize) -> Result<KeyBatch<'_>> {
        Ok(self.make_keys(column, false)?.keys)
    }

    /// Returns the keys like [`keys`](Self::keys), with the row of each, for weights, times, and
    /// decisions about rows by key.
    ///
    /// # Errors
    /// The errors of [`keys`](Self::keys).
    pub fn keys_with_rows(&mut self, column: usize) -> Result<RowKeys<'_>> {
        self.make_keys(column, true)
    }

    fn make_keys(&mut self, column: usize, with_rows: bool) -> Result<RowKeys<'_>> {
        let values = self.column(column);
        let missing = if column == 0 { self.missing() } else { values.missing() };
        let name = self.column_name(column);
        let Self { keyer, table, bytes, file, skip_bad, bad_rows, origin, first, kept, elements, .. } = self;
        if elements.get(column) == Some(&true) {
            return keyer.keys_of_elements(values);
        }
        keyer.keys(values, missing == 0, with_rows, |row, value| {
            if *skip_bad {
                bad_rows.insert(row);
                return Ok(());
            }
            let place = place_of(*origin, *first + number_of(*kept, row), table, bytes, row);
            let error = not_an_integer(value).in_file(file).at(place);
            Err(match name {
                Some(name) => error.in_column(name),
                None => error,
            })
        })
    }

    /// Returns true if a row may have several keys in a column, which are the elements of an array.
    pub fn has_elements(&self, column: usize) -> bool {
        self.elements.get(column) == Some(&true)
    }

    /// Returns the number of missing values of the first column.
    fn missing(&mut self) -> usize {
        let values = self.column(0);
        *self.first_missing.get_or_insert_with(|| values.missing())
    }

    /// Returns what the batch adds to the counts, after the step.
    pub(crate) fn counts(&mut self) -> Counts {
        let bad = self.bad_rows.len() as u64;
        Counts {
            rows: (self.records as u64).saturating_sub(bad),
            skipped: self.missing() as u64,
            left_out: (self.records - self.rows()) as u64,
            bad: self.table.bad + bad,
            ..Counts::default()
        }
    }

    /// Returns the bytes of the record in the file, without its line end, or `None` if the format
    /// is not text.
    pub fn record(&self, row: usize) -> Option<&'a [u8]> {
        self.table.records.get(row).map(|span| &self.bytes[span.range()])
    }

    /// Returns the record with its line end, unless the file ends without one. Returns `None` if
    /// the format is not text.
    pub fn line(&self, row: usize) -> Option<&'a [u8]> {
        let record = self.table.records.get(row)?.range();
        Some(with_line_end(self.bytes, record, self.limit))
    }

    /// Returns the number of a row among all records before the filter.
    pub(crate) fn record_number(&self, row: usize) -> usize {
        number_of(self.kept, row) as usize
    }

    /// Converts flags of the rows to flags of all records before the filter.
    pub(crate) fn unfiltered(&self, flags: &[bool]) -> Vec<bool> {
        let mut all = vec![false; self.records];
        for (row, _) in flags.iter().enumerate().filter(|(_, flag)| **flag) {
            all[self.record_number(row)] = true;
        }
        all
    }

    /// Returns the id of a record, for a later pass.
    pub fn id(&self, row: usize) -> RowId {
        RowId(self.sequence << 32 | (self.first + number_of(self.kept, row)))
    }

    /// Returns an error about a record, with its file and line. It is for steps that find a bad
    /// value.
    pub fn error(&self, row: usize, message: impl fmt::Display) -> Error {
        let number = self.first + number_of(self.kept, row);
        let place = place_of(self.origin, number, self.table, self.bytes, row);
        Error::new(ErrorKind::Other, message).in_file(self.file).at(place)
    }

    /// Returns an error about a value, with its file, line and column.
    pub fn value_error(&self, column: usize, row: usize, message: impl fmt::Display) -> Error {
        let error = self.error(row, message);
        match self.column_name(column) {
            Some(name) => error.in_column(name),
            None => error,
        }
    }

    /// Returns the name of a column, or `None` if it is the whole record.
    fn column_name(&self, column: usize) -> Option<&'a str> {
        self.names.get(column).filter(|_| !self.whole).map(String::as_str)
    }
}

/// Returns a record of a chunk with its line end, as far as it is before the limit.
pub(crate) fn with_line_end(chunk: &[u8], record: Range<usize>, limit: usize) -> &[u8] {
    let Range { start, mut end } = record;
    for line_end in [b'\r', b'\n'] {
        if end < limit && chunk[end] == line_end {
            end += 1;
        }
    }
    &chunk[start..end]
}

impl fmt::Debug for RowBatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowBatch")
            .field("file", &self.file)
            .field("rows", &self.rows())
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

/// Returns the number of a row among the records before the filter.
fn number_of(kept: Option<&[u32]>, row: usize) -> u64 {
    kept.and_then(|kept| kept.get(row)).map_or(row as u64, |number| u64::from(*number))
}

/// Returns the place of a row which has this number in its chunk or row group.
fn place_of(origin: Origin, number: u64, table: &Table, bytes: &[u8], row: usize) -> Place {
    match (origin, table.records.get(row)) {
        (Origin::Rows(before), _) => Place::Row(before + number + 1),
        (Origin::Chunk, Some(record)) => Place::LineOfChunk(count_lines(&bytes[..record.range().start]) + 1),
        (Origin::Chunk, None) => Place::File,
    }
}
