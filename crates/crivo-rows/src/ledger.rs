//! Chunks are parsed in any order; lines are numbered in one.

use std::collections::BTreeMap;

use crate::error::Error;

/// Adds up the lines of finished chunks in input order, so that an error can name its line, and
/// keeps the error that comes first in the input, so that it is the same for any thread count.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    /// The first chunk that is not finished.
    next: u64,
    /// The lines of its file before it.
    lines: u64,
    /// Finished chunks beyond it: as many as there are threads, at most.
    ahead: BTreeMap<u64, ChunkLines>,
    failure: Option<Failure>,
    /// The rows before each chunk, where rows are to be numbered: 8 bytes a chunk.
    rows_before: Option<Vec<u64>>,
    /// The rows before the first chunk that is not finished.
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
    /// A ledger that remembers where each chunk's rows begin, or one that does not.
    pub(crate) fn new(numbers_rows: bool) -> Self {
        Self { rows_before: numbers_rows.then(Vec::new), ..Self::default() }
    }

    /// The rows before each chunk, if they were to be remembered.
    pub(crate) fn take_rows_before(&mut self) -> Vec<u64> {
        self.rows_before.take().unwrap_or_default()
    }

    /// A chunk was finished.
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

    /// A chunk could not be finished.
    pub(crate) fn fail(&mut self, sequence: u64, begins_file: bool, error: Error) {
        if self.failure.as_ref().is_none_or(|first| sequence < first.sequence) {
            self.failure = Some(Failure { sequence, begins_file, error });
        }
    }

    /// The first error, with its line in the file. All chunks before it must be finished.
    pub(crate) fn into_failure(self) -> Option<Error> {
        let Failure { begins_file, error, .. } = self.failure?;
        Some(error.after_lines(if begins_file { 0 } else { self.lines }))
    }
}
