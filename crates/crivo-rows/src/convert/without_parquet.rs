//! Writing Parquet in a build without the feature `parquet`. To begin a file is an error that says
//! what to do.

#![allow(clippy::pedantic)] // signatures are those of the build with Parquet

use std::io::Write;

use super::columns::Columns;
use crate::column::Values;
use crate::error::Result;
use crate::filters::ColumnFilters;
use crate::parquet::left_out;

/// A Parquet file that is never written.
pub(super) enum ParquetTarget<'o> {
    Unused(#[allow(dead_code)] &'o mut (dyn Write + Send)), // as in the build that writes it
}

impl ParquetTarget<'_> {
    pub(super) fn begin(&mut self, _: &Columns, _: Option<&ColumnFilters>) -> Result<()> {
        Err(left_out())
    }

    pub(super) fn write(&mut self, _: Rows) -> Result<()> {
        Err(left_out())
    }

    pub(super) fn finish(self) -> Result<()> {
        Err(left_out())
    }
}

/// Rows that are discarded.
pub(super) struct Rows;

impl Rows {
    pub(super) fn of(_: &Columns) -> Self {
        Self
    }

    pub(super) fn bytes(&self) -> usize {
        0
    }

    pub(super) fn push(&mut self, _: &[Option<Values<'_>>], _: usize) -> Result<(), usize> {
        Ok(())
    }
}
