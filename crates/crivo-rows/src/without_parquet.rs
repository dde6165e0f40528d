//! Parquet in a build without the feature `parquet`. To open a file is an error that says what to
//! do.
//!
//! All other items have the names and signatures of `parquet/mod.rs`, so that the readers and
//! writers of rows have the same code in both builds. Values of these types come only from opening
//! a file. So there are none, and the compiler knows it.

#![allow(dead_code)] // no value of these types is ever made
#![allow(clippy::pedantic)] // signatures are those of the build with Parquet

use std::convert::Infallible;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use crivo::keys::KeyScheme;

use crate::error::{Error, ErrorKind, Result};
use crate::filters::{ColumnFilters, FilterAnswers};
use crate::foreign::Limits;
use crate::input::InputSource;
use crate::parse::Table;
use crate::select::{Chosen, Select};

/// An open Parquet file. No value of this type exists.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    pub(crate) file: Arc<str>,
    pub(crate) chosen: Chosen,
    none: Infallible,
}

/// A Parquet file being written.
pub(crate) enum ParquetCopy<'o> {
    Never(Infallible, &'o ()),
}

/// The data that is read from a Parquet file.
pub(crate) enum Block {}
pub(crate) enum ParquetBatches {}
pub(crate) enum WholeRows {}
pub(crate) enum RecordBatch {}

impl ParquetFile {
    pub(crate) fn open(
        source: &InputSource,
        _: &Select,
        _: Limits,
        _: impl FnOnce() -> Result<Vec<u8>>,
        _: &mut Vec<String>,
    ) -> Result<Self> {
        Err(left_out().in_file(&source.name()))
    }

    pub(crate) fn groups(&self) -> usize {
        match self.none {}
    }

    pub(crate) fn length(&self) -> u64 {
        match self.none {}
    }

    pub(crate) fn rows_before(&self, _: usize) -> u64 {
        match self.none {}
    }

    pub(crate) fn group_bytes(&self, _: usize) -> u64 {
        match self.none {}
    }

    pub(crate) fn read_group(&self, _: usize, _: KeyScheme) -> Result<ParquetBatches> {
        match self.none {}
    }

    pub(crate) fn all_columns(&self) -> Result<Vec<Block>> {
        match self.none {}
    }

    pub(crate) fn read_whole(&self, _: &[Block], _: usize) -> Result<WholeRows> {
        match self.none {}
    }
}

impl ParquetBatches {
    pub(crate) fn next_batch(&mut self, _: &mut Table) -> Result<Option<usize>> {
        match *self {}
    }
}

impl WholeRows {
    pub(crate) fn next(&mut self, _: usize) -> Result<RecordBatch> {
        match *self {}
    }
}

impl<'o> ParquetCopy<'o> {
    pub(crate) fn begin(
        _: &'o mut (dyn Write + Send),
        like: &ParquetFile,
        _: Option<&ColumnFilters>,
    ) -> Result<Self> {
        match like.none {}
    }

    pub(crate) fn write(&mut self, file: &ParquetFile, _: &RecordBatch, _: Vec<bool>) -> Result<()> {
        match file.none {}
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self {
            Self::Never(none, _) => match none {},
        }
    }
}

/// The filters of a column of a Parquet file, which this build cannot read.
#[derive(Debug)]
pub struct ParquetFilters {
    none: Infallible,
}

impl ParquetFilters {
    /// Returns an error for a Parquet file, which this build cannot read, and `None` for any other
    /// file.
    ///
    /// # Errors
    /// If the file is a Parquet file.
    pub fn open(path: &Path, _: Option<&str>) -> Result<Option<Self>> {
        let mut first = [0; 4];
        let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut first));
        if read.is_ok() && first == *b"PAR1" {
            return Err(left_out().in_file(&path.to_string_lossy().into()));
        }
        Ok(None)
    }

    /// Returns the name of the column.
    pub fn column(&self) -> &str {
        match self.none {}
    }

    /// Returns whether the column may contain these keys.
    ///
    /// # Errors
    /// Never, because there is no such value.
    pub fn ask<K: AsRef<[u8]>>(&self, _: &[K]) -> Result<FilterAnswers> {
        match self.none {}
    }
}

pub(crate) fn with_column(
    rows: &RecordBatch,
    _: usize,
    _: &[Option<Vec<u8>>],
    _: &Arc<str>,
) -> Result<RecordBatch> {
    match *rows {}
}

/// Returns the error for reading or writing a Parquet file.
#[cold]
pub(crate) fn left_out() -> Error {
    let message = "this build cannot read or write Parquet: build crivo with its feature `parquet`";
    Error::new(ErrorKind::Unsupported, message)
}

#[cfg(test)]
mod tests {
    use crate::{ErrorKind, Format, Input, Predicate, Scan};

    #[test]
    fn reading_and_writing_say_what_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("t.csv"), "a,b\n1,2\n").unwrap();
        // Parquet files are recognised by name, and by their first bytes.
        for (name, content) in [("t.parquet", &b""[..]), ("t", b"PAR1xxxxPAR1")] {
            std::fs::write(path(name), content).unwrap();
            let error = Scan::of(&Input::file(path(name))).copy_rows(Predicate::All, &mut Vec::new());
            let error = error.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(
                error.to_string().contains(name) && error.to_string().contains("feature `parquet`"),
                "{error}"
            );
        }
        let input = Input::file(path("t.csv"));
        let mut output = Vec::new();
        let error = Scan::of(&input).convert_rows(Predicate::All, Format::Parquet, &mut output).unwrap_err();
        assert_eq!((error.kind(), output.len()), (ErrorKind::Unsupported, 0));
        Scan::of(&input).convert_rows(Predicate::All, Format::Jsonl, &mut output).unwrap();
        assert_eq!(output, b"{\"a\":\"1\",\"b\":\"2\"}\n");
    }
}
