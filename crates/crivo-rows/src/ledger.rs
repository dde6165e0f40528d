//! Numbers lines in input order, although chunks are parsed in any order.

use std::collections::BTreeMap;

use crate::error::Error;

/// Adds up the lines of finished chunks in input order, so that an error can name its line. Keeps
/// the error that comes first in the input, so that it is the same for any number of threads.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The first chunk that is not finished.
    next: u64,
    /// The number of lines of its file before it.
    lines: u64,
    /// Finished chunks after it: at most as many as there are threads.
    ahead: BTreeMap<u64, ChunkLines>,
    failure: Option<Failure>,
    /// The number of rows before each chunk, if rows are numbered. It takes 8 bytes for each chunk.
    rows_before: Option<Vec<u64>>,
    /// The number of rows before the first chunk that is not finished.
    rows: u64,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkLines {
    pub(crate) begins_file: bool,
    pub(crate) lines: u64,
    pub(crate) rows: u64,
}

#[derive(Debug)]
struct Failure {
    sequence: u64,
    begins_file: bool,
    error: Error,
}

impl Ledger {
    /// Creates a ledger, which remembers the rows before each chunk if `numbers_rows` is set.
    pub(crate) fn new(numbers_rows: bool) -> Self {
        Self { rows_before: numbers_rows.then(Vec::new), ..Self::default() }
    }

    /// Returns the number of rows before each chunk, or none if rows are not numbered.
    pub(crate) fn take_rows_before(&mut self) -> Vec<u64> {
        self.rows_before.take().unwrap_or_default()
    }

    /// Records a finished chunk.
    pub(crate) fn finish(&mut self, sequence: u64, lines: ChunkLines) {
        self.ahead.insert(sequence, lines);
        while let Some(ChunkLines { begins_file, lines, rows }) = self.ahead.remove(&self.next) {
            self.lines = if begins_file { lines } else { self.lines + lines };
            if let Some(rows_before) = &mut self.rows_before {
                rows_before.push(self.rows);
            }
            self.rows += rows;
            self.next += 1;
        }
    }

    /// Records the error of a chunk. Keeps only the first error in input order.
    pub(crate) fn fail(&mut self, sequence: u64, begins_file: bool, error: Error) {
        if self.failure.as_ref().is_none_or(|first| sequence < first.sequence) {
            self.failure = Some(Failure { sequence, begins_file, error });
        }
    }

    /// Returns the first error, with its line in the file. All chunks before it must be finished.
    pub(crate) fn into_failure(self) -> Option<Error> {
        let Failure { begins_file, error, .. } = self.failure?;
        Some(error.after_lines(if begins_file { 0 } else { self.lines }))
    }
}
