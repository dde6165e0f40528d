//! The rows of one row group, batch by batch, with as many rows as it declares.
//!
//! Columns are read in blocks, usually of one, so that an error can name the column it is in.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups, RowSelection, RowSelector};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::column::page::PageIterator;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

use super::footer::place_of;
use super::pages::{ColumnPages, FailureSlot, OneChunk, SmallerBatches, rows_for};
use super::stored::Stored;
use super::{ParquetFile, from_crate, told};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{Limits, caught};
use crate::parse::Table;

/// The largest number of readers. Each one costs a walk over the whole schema.
const MOST_BLOCKS: usize = 128;

/// Some columns that are read together.
#[derive(Debug)]
pub(crate) struct Block {
    /// Which fields of the schema, ascending.
    fields: Vec<usize>,
    levels: FieldLevels,
}

impl Block {
    /// Divides fields, ascending, into blocks.
    pub(super) fn divide(metadata: &ParquetMetaData, fields: &[usize]) -> Result<Vec<Self>> {
        let schema = metadata.file_metadata().schema_descr();
        let size = fields.len().div_ceil(MOST_BLOCKS).max(1);
        fields
            .chunks(size)
            .map(|fields| {
                let mask = ProjectionMask::roots(schema, fields.iter().copied());
                let levels = parquet_to_arrow_field_levels(schema, mask, None).map_err(from_crate)?;
                Ok(Self { fields: fields.to_vec(), levels })
            })
            .collect()
    }
}

/// The rows of a row group.
pub(crate) struct GroupRows<'a> {
    file: &'a ParquetFile,
    blocks: &'a [Block],
    group: usize,
    /// For each block a reader. Made again, behind the rows that were read, if batches have to be smaller.
    readers: Vec<ParquetRecordBatchReader>,
    batch_rows: usize,
    rows: u64,
    read: u64,
    failure: FailureSlot,
}

impl<'a> GroupRows<'a> {
    pub(super) fn new(file: &'a ParquetFile, blocks: &'a [Block], group: usize) -> Result<Self> {
        let about = file.group(group)?;
        let widths = about.columns().iter().map(|chunk| usize::try_from(chunk.column_descr().type_length()));
        let widest = widths.filter_map(Result::ok).max().unwrap_or(0);
        let rows = about.num_rows().max(0) as u64;
        let batch_rows = rows_for(widest, Table::ROWS);
        let (readers, failure) = (Vec::new(), FailureSlot::default());
        let mut reader = Self { file, blocks, group, readers, batch_rows, rows, read: 0, failure };
        if blocks.is_empty() {
            file.check_rows(group)?;
        } else {
            reader.open()?;
        }
        Ok(reader)
    }

    /// Makes the batches no larger than this.
    fn shrink_to(&mut self, batch_rows: usize) -> Result<()> {
        if batch_rows < self.batch_rows {
            self.batch_rows = batch_rows;
            self.open()?;
        }
        Ok(())
    }

    fn open(&mut self) -> Result<()> {
        let chunks = GroupChunks {
            stored: Arc::clone(&self.file.stored),
            metadata: Arc::clone(&self.file.footer.metadata),
            group: self.group,
            batch_rows: self.batch_rows,
            limits: self.file.limits,
            failure: self.failure.clone(),
        };
        let selection = (self.read > 0).then(|| {
            RowSelection::from(vec![
                RowSelector::skip(self.read as usize),
                RowSelector::select((self.rows - self.read) as usize),
            ])
        });
        let opened = caught(&self.file.file, || {
            let open = |block: &Block| {
                ParquetRecordBatchReader::try_new_with_row_groups(
                    &block.levels,
                    &chunks,
                    self.batch_rows,
                    selection.clone(),
                )
            };
            self.blocks.iter().map(open).collect::<Result<_, _>>().map_err(from_crate)
        });
        self.readers =
            opened.map_err(|error| self.failure.take().unwrap_or(error).in_file(&self.file.file))?;
        Ok(())
    }

    /// The next batch: for each field the values, in the order of the schema. Nothing at the end, when all rows that
    /// are declared have come.
    pub(crate) fn next_batch(&mut self, arrays: &mut Vec<ArrayRef>) -> Result<Option<usize>> {
        arrays.clear();
        if self.blocks.is_empty() {
            let rows = (self.rows - self.read).min(Table::ROWS as u64);
            self.read += rows;
            return Ok(Some(rows as usize).filter(|rows| *rows > 0));
        }
        loop {
            match self.next_of_every_block(arrays) {
                Ok(rows) => {
                    self.read += rows as u64;
                    return if rows > 0 { Ok(Some(rows)) } else { self.check_end().map(|()| None) };
                }
                Err(error) => match error.cause::<SmallerBatches>() {
                    Some(SmallerBatches(rows)) if *rows < self.batch_rows => {
                        let rows = *rows;
                        self.shrink_to(rows)?;
                        arrays.clear();
                    }
                    _ => return Err(error.in_file(&self.file.file)),
                },
            }
        }
    }

    fn next_of_every_block(&mut self, arrays: &mut Vec<ArrayRef>) -> Result<usize> {
        let mut rows = None;
        for (block, reader) in self.blocks.iter().zip(&mut self.readers) {
            let batch = caught(&self.file.file, || {
                reader.next().transpose().map_err(|error| from_crate(ParquetError::from(error)))
            });
            let batch: Option<RecordBatch> = batch
                .map_err(|error| self.file.in_columns(self.failure.take().unwrap_or(error), &block.fields))?;
            let found = batch.as_ref().map_or(0, RecordBatch::num_rows);
            if *rows.get_or_insert(found) != found {
                return Err(Error::new(ErrorKind::Damaged, told("its columns differ in their rows")));
            }
            arrays.extend(batch.iter().flat_map(RecordBatch::columns).cloned());
        }
        Ok(rows.unwrap_or(0))
    }

    fn check_end(&self) -> Result<()> {
        if self.read == self.rows {
            return Ok(());
        }
        let what = format_args!("a row group declares {} rows, and has {}", self.rows, self.read);
        Err(Error::new(ErrorKind::Damaged, told(what)).in_file(&self.file.file))
    }
}

/// The column chunks of a row group, as the crate asks for them.
struct GroupChunks {
    stored: Arc<Stored>,
    metadata: Arc<ParquetMetaData>,
    group: usize,
    batch_rows: usize,
    limits: Limits,
    failure: FailureSlot,
}

impl RowGroups for GroupChunks {
    fn num_rows(&self) -> usize {
        self.metadata.row_group(self.group).num_rows().max(0) as usize
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let chunk = self.metadata.row_group(self.group).columns().get(column);
        let (chunk, place) = chunk.and_then(|chunk| Some((chunk, place_of(chunk)?))).ok_or_else(|| {
            self.failure.put(Error::new(ErrorKind::Damaged, told("a row group lacks columns")))
        })?;
        let settings = (self.batch_rows, self.limits);
        let pages = ColumnPages::new(&self.stored, chunk, place, settings, self.failure.clone());
        Ok(Box::new(OneChunk(Some(pages))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.metadata.row_group(self.group)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

impl ParquetFile {
    /// Makes sure that a row group has the rows it declares, by the heads of its smallest column's pages.
    fn check_rows(&self, group: usize) -> Result<()> {
        let columns = self.group(group)?.columns().iter();
        let flat = columns.filter(|chunk| chunk.column_descr().max_rep_level() == 0);
        let Some(chunk) = flat.min_by_key(|chunk| chunk.compressed_size()) else { return Ok(()) };
        let Some(place) = place_of(chunk) else { return Ok(()) };
        ColumnPages::new(&self.stored, chunk, place, (Table::ROWS, self.limits), FailureSlot::default())
            .check_heads()
            .map_err(|error| error.in_column(&chunk.column_path().string()).in_file(&self.file))
    }

    fn in_columns(&self, error: Error, fields: &[usize]) -> Error {
        match fields {
            [field] if error.cause::<SmallerBatches>().is_none() => {
                error.in_column(self.footer.schema.field(*field).name())
            }
            _ => error,
        }
    }

    fn group(&self, group: usize) -> Result<&RowGroupMetaData> {
        self.footer.metadata.row_groups().get(group).ok_or_else(|| {
            Error::new(ErrorKind::Damaged, told("a row group is not there")).in_file(&self.file)
        })
    }
}
