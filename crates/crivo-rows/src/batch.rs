//! What a step is given: some records of one file, with the wanted fields side by side.

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

/// Names a record by its place in the input: ascending in input order, the same in every pass
/// over the same files with the same settings, whatever the number of threads. Not a count: there
/// are gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(u64);

impl RowId {
    /// As a number, to be stored.
    pub fn to_u64(self) -> u64 {
        self.0
    }

    /// The chunk, and the row within it.
    pub(crate) fn parts(self) -> (usize, u64) {
        ((self.0 >> 32) as usize, self.0 & u64::from(u32::MAX))
    }

    /// From [`to_u64`](Self::to_u64).
    pub fn from_u64(id: u64) -> Self {
        Self(id)
    }
}

/// One to about a thousand consecutive records of one file, and the wanted fields of each.
///
/// Rows are numbered from 0 within the batch; columns from 0 in the order they were asked for.
/// Everything borrowed from a batch ends with the step.
pub struct RowBatch<'a> {
    pub(crate) file: &'a Arc<str>,
    pub(crate) names: &'a [String],
    /// For each column of the batch, which column of the table it is.
    pub(crate) columns: &'a [usize],
    /// For each column, whether the elements of its values are items; none are if it is empty.
    pub(crate) elements: &'a [bool],
    /// Whether they were found record by record.
    pub(crate) discovers: bool,
    /// Whether the one column is the record itself.
    pub(crate) whole: bool,
    pub(crate) bytes: &'a [u8],
    pub(crate) table: &'a Table,
    /// How many records there were before the filter, and the numbers of those that it kept;
    /// without a filter all are.
    pub(crate) records: usize,
    pub(crate) kept: Option<&'a [u32]>,
    pub(crate) keyer: &'a mut Keyer,
    /// How many values of the first column are missing; none counted yet.
    pub(crate) first_missing: Option<usize>,
    pub(crate) skip_bad: bool,
    /// Values that could not be keys.
    pub(crate) bad_keys: u64,
    pub(crate) sequence: u64,
    /// The number of the first row within its chunk or row group.
    pub(crate) first: u64,
    pub(crate) origin: Origin,
    /// Where the file's own bytes end: a line end after it was added.
    pub(crate) limit: usize,
}

/// What the records of a batch are cut from, and how.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
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

/// How a row's place in the file is found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Origin {
    /// By counting the lines of the chunk.
    Chunk,
    /// By counting rows: this many of the file came before the row group.
    Rows(u64),
}

impl<'a> RowBatch<'a> {
    /// The records of a table, nothing known about them yet.
    pub(crate) fn new(
        source: Source<'a>,
        table: &'a Table,
        records: usize,
        kept: Option<&'a [u32]>,
        keyer: &'a mut Keyer,
        skip_bad: bool,
    ) -> Self {
        let Source { file, chosen, discovers, whole, bytes, limit, origin, sequence, first } = source;
        let (names, columns) = if discovers {
            (table.discovered.names.as_slice(), &table.discovered.columns)
        } else {
            (&*chosen.names, &chosen.columns)
        };
        let (first_missing, bad_keys) = (None, 0);
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
            first_missing,
            skip_bad,
            bad_keys,
            sequence,
            first,
            origin,
            limit,
        }
    }

    /// How many records there are.
    pub fn rows(&self) -> usize {
        self.kept.map_or(self.records, <[u32]>::len)
    }

    /// The name of each column; numbers, from 1, where fields have no names.
    pub fn names(&self) -> &'a [String] {
        self.names
    }

    /// Whether the columns are those of the records seen so far, and may be more in the next batch:
    /// all fields of JSONL.
    pub fn discovers_columns(&self) -> bool {
        self.discovers
    }

    /// The file the records are from.
    pub fn file(&self) -> &'a str {
        self.file
    }

    /// The values of a column, one a row; no values if there is no such column.
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

    /// What a field holds: a value, nothing, or an empty text.
    pub fn cell(&self, column: usize, row: usize) -> Cell<'a> {
        self.column(column).cell(row)
    }

    /// One value; `None` if it is empty or missing.
    #[inline]
    pub fn value(&self, column: usize, row: usize) -> Option<&'a [u8]> {
        self.column(column).get(row)
    }

    /// The keys of a column, hashed under the scan's scheme: one for each value that is neither
    /// empty nor null, in order (or its word n-grams, if the scan says so).
    ///
    /// # Errors
    /// If integer keys are wanted and a value is no integer; where bad records are skipped it is
    /// counted instead.
    pub fn keys(&mut self, column: usize) -> Result<KeyBatch<'_>> {
        Ok(self.make_keys(column, false)?.keys)
    }

    /// The same, with the row of each key: for weights, times, and deciding about rows by key.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn keys_with_rows(&mut self, column: usize) -> Result<RowKeys<'_>> {
        self.make_keys(column, true)
    }

    fn make_keys(&mut self, column: usize, with_rows: bool) -> Result<RowKeys<'_>> {
        let values = self.column(column);
        let missing = if column == 0 { self.missing() } else { values.missing() };
        let Self { keyer, table, bytes, file, skip_bad, bad_keys, origin, first, kept, elements, .. } = self;
        if elements.get(column) == Some(&true) {
            return keyer.keys_of_elements(values);
        }
        keyer.keys(values, missing == 0, with_rows, |row, value| {
            if *skip_bad {
                *bad_keys += 1;
                return Ok(());
            }
            let place = place_of(*origin, *first + number_of(*kept, row), table, bytes, row);
            Err(not_an_integer(value).in_file(file).at(place))
        })
    }

    /// Returns true if a row may have several keys in a column: the elements of an array.
    pub fn has_elements(&self, column: usize) -> bool {
        self.elements.get(column) == Some(&true)
    }

    /// How many values of the first column are missing.
    fn missing(&mut self) -> usize {
        let values = self.column(0);
        *self.first_missing.get_or_insert_with(|| values.missing())
    }

    /// What the batch adds to the counts, once the step has seen it.
    pub(crate) fn counts(&mut self) -> Counts {
        Counts {
            rows: (self.records as u64).saturating_sub(self.bad_keys),
            skipped: self.missing() as u64,
            left_out: (self.records - self.rows()) as u64,
            bad: self.table.bad + self.bad_keys,
            ..Counts::default()
        }
    }

    /// The record as it stands in the file, without its line end; `None` for formats whose
    /// records are not text.
    pub fn record(&self, row: usize) -> Option<&'a [u8]> {
        self.table.records.get(row).map(|span| &self.bytes[span.range()])
    }

    /// The record with its line end, as far as the file itself goes; `None` for formats whose
    /// records are not text.
    pub fn line(&self, row: usize) -> Option<&'a [u8]> {
        let record = self.table.records.get(row)?.range();
        Some(with_line_end(self.bytes, record, self.limit))
    }

    /// Flags of the rows as flags of all records before the filter.
    pub(crate) fn unfiltered(&self, flags: &[bool]) -> Vec<bool> {
        let mut all = vec![false; self.records];
        for (row, _) in flags.iter().enumerate().filter(|(_, flag)| **flag) {
            all[number_of(self.kept, row) as usize] = true;
        }
        all
    }

    /// Names a record for a later pass.
    pub fn id(&self, row: usize) -> RowId {
        RowId(self.sequence << 32 | (self.first + number_of(self.kept, row)))
    }

    /// An error about a record, with its file and line: for steps that find a value wanting.
    pub fn error(&self, row: usize, message: impl fmt::Display) -> Error {
        let number = self.first + number_of(self.kept, row);
        let place = place_of(self.origin, number, self.table, self.bytes, row);
        Error::new(ErrorKind::Other, message).in_file(self.file).at(place)
    }
}

/// A record of a chunk with its line end, as far as the limit.
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

/// The number of a row among the records it was filtered from.
fn number_of(kept: Option<&[u32]>, row: usize) -> u64 {
    kept.and_then(|kept| kept.get(row)).map_or(row as u64, |number| u64::from(*number))
}

/// Where a row stands that is the `number`th of its chunk or row group.
fn place_of(origin: Origin, number: u64, table: &Table, bytes: &[u8], row: usize) -> Place {
    match (origin, table.records.get(row)) {
        (Origin::Rows(before), _) => Place::Row(before + number + 1),
        (Origin::Chunk, Some(record)) => Place::LineOfChunk(count_lines(&bytes[..record.range().start]) + 1),
        (Origin::Chunk, None) => Place::File,
    }
}
