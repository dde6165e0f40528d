//! Kept rows of Parquet files, written as Parquet.
//!
//! A row of a Parquet file has no bytes of its own. So "unchanged" means here that a copy keeps
//! every column with its Parquet type, names and values. It also has the codec of the first file
//! and, byte for byte, its key-value metadata, which includes Arrow's schema.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterProperties;

use super::group::{Block, GroupRows};
use super::{ParquetFile, from_crate, with_filters};
use crate::error::{Error, ErrorKind, Result};
use crate::filters::ColumnFilters;
use crate::foreign::caught;

/// A row group is closed when it takes this many bytes of memory.
const GROUP_BYTES: usize = 16 << 20;

/// A Parquet file being written.
pub(crate) struct ParquetCopy<'o> {
    writer: ArrowWriter<&'o mut (dyn Write + Send)>,
    schema: SchemaRef,
}

impl<'o> ParquetCopy<'o> {
    /// Begins a file with the columns of `like`, and with filters for some of them.
    pub(crate) fn begin(
        output: &'o mut (dyn Write + Send),
        like: &ParquetFile,
        filters: Option<&ColumnFilters>,
    ) -> Result<Self> {
        let metadata = &like.footer.metadata;
        let schema = Arc::clone(&like.footer.schema);
        let codec = metadata.row_groups().first().and_then(|group| group.columns().first());
        let properties = WriterProperties::builder()
            .set_compression(codec.map_or(Compression::SNAPPY, ColumnChunkMetaData::compression))
            .set_key_value_metadata(metadata.file_metadata().key_value_metadata().cloned());
        let properties =
            with_filters(properties, filters, &schema).map_err(|error| error.in_file(&like.file))?;
        // The key-value metadata already has Arrow's schema of the first file.
        let options =
            ArrowWriterOptions::new().with_properties(properties.build()).with_skip_arrow_metadata(true);
        let writer = caught(&like.file, || {
            ArrowWriter::try_new_with_options(output, Arc::clone(&schema), options)
                .map_err(|error| cannot_write(&error))
        })?;
        Ok(Self { writer, schema })
    }

    /// Writes the rows that `keep` flags.
    pub(crate) fn write(&mut self, file: &ParquetFile, rows: &RecordBatch, keep: Vec<bool>) -> Result<()> {
        if rows.schema().fields() != self.schema.fields() {
            let message = "the columns differ from the first file's: rows can be copied together only from \
                           files with the same columns";
            return Err(Error::new(ErrorKind::FieldCount, message).in_file(&file.file));
        }
        caught(&file.file, || {
            let kept = filter_record_batch(rows, &BooleanArray::from(keep))
                .map_err(|error| from_crate(ParquetError::from(error)))?;
            self.writer.write(&kept).map_err(|error| cannot_write(&error))?;
            if self.writer.in_progress_size() > GROUP_BYTES {
                self.writer.flush().map_err(|error| cannot_write(&error))?;
            }
            Ok(())
        })
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.writer.close().map(drop).map_err(|error| cannot_write(&error))
    }
}

/// Reads all columns of a row group, in batches of the same rows as the judged ones.
pub(crate) struct WholeRows<'a> {
    file: &'a ParquetFile,
    rows: GroupRows<'a>,
    /// The rows that were read, but not returned yet.
    ahead: Option<RecordBatch>,
    arrays: Vec<ArrayRef>,
}

impl ParquetFile {
    /// Returns the blocks of all columns.
    pub(crate) fn all_columns(&self) -> Result<Vec<Block>> {
        let all: Vec<usize> = (0..self.footer.schema.fields().len()).collect();
        caught(&self.file, || Block::divide(&self.footer.metadata, &all))
    }

    pub(crate) fn read_whole<'a>(&'a self, blocks: &'a [Block], group: usize) -> Result<WholeRows<'a>> {
        let rows = GroupRows::new(self, blocks, group)?;
        Ok(WholeRows { file: self, rows, ahead: None, arrays: Vec::new() })
    }
}

impl WholeRows<'_> {
    /// Returns the next `rows` rows.
    pub(crate) fn next(&mut self, rows: usize) -> Result<RecordBatch> {
        // Batches of long values are smaller, and here other columns decide which batches these
        // are.
        let mut parts = Vec::new();
        let mut missing = rows;
        while missing > 0 {
            let Some(batch) = self.ahead.take().map_or_else(|| self.read(), |batch| Ok(Some(batch)))? else {
                let error = ParquetError::General("columns of one row group differ in their rows".into());
                return Err(from_crate(error).in_file(&self.file.file));
            };
            let part = batch.num_rows().min(missing);
            if part < batch.num_rows() {
                self.ahead = Some(batch.slice(part, batch.num_rows() - part));
            }
            parts.push(batch.slice(0, part));
            missing -= part;
        }
        match parts.as_slice() {
            [whole] => Ok(whole.clone()),
            parts => caught(&self.file.file, || {
                arrow_select::concat::concat_batches(&self.file.footer.schema, parts)
                    .map_err(|error| from_crate(ParquetError::from(error)))
            }),
        }
    }

    fn read(&mut self) -> Result<Option<RecordBatch>> {
        let Self { file, rows, arrays, .. } = self;
        if rows.next_batch(arrays)?.is_none() {
            return Ok(None);
        }
        let schema = Arc::clone(&file.footer.schema);
        caught(&file.file, || {
            RecordBatch::try_new(schema, std::mem::take(arrays))
                .map(Some)
                .map_err(|error| from_crate(ParquetError::from(error)))
        })
    }
}

pub(crate) fn cannot_write(error: &ParquetError) -> Error {
    use std::error::Error as _;
    // The cause of a closed pipe must stay recognisable.
    match error.source().and_then(|source| source.downcast_ref::<std::io::Error>()) {
        Some(cause) => Error::io(std::io::Error::new(cause.kind(), cause.to_string())),
        None => Error::new(ErrorKind::Io, format_args!("cannot write Parquet: {error}")),
    }
}
