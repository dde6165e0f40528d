//! Kept rows of Parquet files, written as Parquet.
//!
//! A row of a Parquet file has no bytes of its own, so "unchanged" means here: every column, with
//! its type, names, and values; the schema as Arrow noted it; the codec of the first file.

use std::io::Write;
use std::sync::Arc;

use arrow_array::{BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::properties::WriterProperties;

use super::{ParquetFile, damaged};
use crate::error::{Error, ErrorKind, Result};

/// A row group is closed when it has taken this many bytes of memory.
const GROUP_BYTES: usize = 16 << 20;

/// A Parquet file being written.
pub(crate) struct ParquetCopy<'o> {
    writer: ArrowWriter<&'o mut (dyn Write + Send)>,
    schema: SchemaRef,
}

impl<'o> ParquetCopy<'o> {
    /// Begins a file with the columns of this one.
    pub(crate) fn begin(output: &'o mut (dyn Write + Send), like: &ParquetFile) -> Result<Self> {
        let schema = Arc::clone(like.full_metadata()?.schema());
        let codec = like.metadata.metadata().row_groups().first().and_then(|group| group.columns().first());
        let properties = WriterProperties::builder()
            .set_compression(codec.map_or(Compression::SNAPPY, ColumnChunkMetaData::compression))
            .build();
        let writer = ArrowWriter::try_new(output, Arc::clone(&schema), Some(properties))
            .map_err(|error| cannot_write(&error))?;
        Ok(Self { writer, schema })
    }

    /// Writes the rows that are kept.
    pub(crate) fn write(&mut self, file: &ParquetFile, rows: &RecordBatch, keep: Vec<bool>) -> Result<()> {
        if rows.schema().fields() != self.schema.fields() {
            let message = "the columns differ from the first file's: rows can be copied together only from \
                           files with the same columns";
            return Err(Error::new(ErrorKind::FieldCount, message).in_file(&file.file));
        }
        let kept = filter_record_batch(rows, &BooleanArray::from(keep))
            .map_err(|error| damaged(&error.into(), &file.file))?;
        self.writer.write(&kept).map_err(|error| cannot_write(&error))?;
        if self.writer.in_progress_size() > GROUP_BYTES {
            self.writer.flush().map_err(|error| cannot_write(&error))?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.writer.close().map(drop).map_err(|error| cannot_write(&error))
    }
}

impl ParquetFile {
    fn full_metadata(&self) -> Result<ArrowReaderMetadata> {
        ArrowReaderMetadata::try_new(Arc::clone(self.metadata.metadata()), ArrowReaderOptions::new())
            .map_err(|error| damaged(&error, &self.file))
    }

    /// All columns of a row group, in batches of the same rows as [`ParquetFile::read_group`].
    pub(crate) fn read_all_columns(&self, group: usize) -> Result<ParquetRecordBatchReader> {
        self.stored.reader(self.full_metadata()?, None, group).map_err(|error| damaged(&error, &self.file))
    }

    /// The batch of all columns that belongs to `rows` judged rows.
    pub(crate) fn next_whole(
        &self,
        reader: &mut ParquetRecordBatchReader,
        rows: usize,
    ) -> Result<RecordBatch> {
        let batch = reader.next().transpose().map_err(|error| damaged(&error.into(), &self.file))?;
        batch.filter(|batch| batch.num_rows() == rows).ok_or_else(|| {
            let error = ParquetError::General("columns of one row group differ in their rows".into());
            damaged(&error, &self.file)
        })
    }
}

fn cannot_write(error: &ParquetError) -> Error {
    use std::error::Error as _;
    // A closed pipe must stay recognisable.
    match error.source().and_then(|source| source.downcast_ref::<std::io::Error>()) {
        Some(cause) => Error::io(std::io::Error::new(cause.kind(), cause.to_string())),
        None => Error::new(ErrorKind::Io, format_args!("cannot write Parquet: {error}")),
    }
}
