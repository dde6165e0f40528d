//! Reads the rows of one row group, batch by batch, exactly as many as the group declares.
//!
//! Columns are read in blocks, usually of one column, so that an error can name its column.

use std::sync::Arc;

use arrow_array::{ArrayRef, NullArray, RecordBatch};
use crivo::keys::{KeyKind, KeyScheme};
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups, RowSelection, RowSelector};
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels};
use parquet::column::page::PageIterator;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::footer::place_of;
use super::pages::{ColumnPages, FailureSlot, OneChunk, SmallerBatches, rows_for};
use super::picked::{PickedAs, PickedColumn};
use super::stored::Stored;
use super::{ParquetFile, from_crate, told};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{Limits, caught};
use crate::parse::Table;

/// The most blocks. The reader of each block walks over the whole schema.
const MOST_BLOCKS: usize = 128;

/// Columns that are read together.
#[derive(Debug)]
pub(crate) struct Block {
    /// The numbers of the fields in the schema, ascending.
    fields: Vec<usize>,
    /// The number of the column in the row groups, if the block has only one.
    column: Option<usize>,
    levels: FieldLevels,
}

impl Block {
    /// Divides fields, which are ascending, into blocks.
    pub(super) fn divide(metadata: &ParquetMetaData, fields: &[usize]) -> Result<Vec<Self>> {
        let schema = metadata.file_metadata().schema_descr();
        let size = fields.len().div_ceil(MOST_BLOCKS).max(1);
        fields
            .chunks(size)
            .map(|fields| {
                let mask = ProjectionMask::roots(schema, fields.iter().copied());
                let mut columns = (0..schema.num_columns()).filter(|&leaf| mask.leaf_included(leaf));
                let column = columns.next().filter(|_| columns.next().is_none());
                let levels = parquet_to_arrow_field_levels(schema, mask, None).map_err(from_crate)?;
                Ok(Self { fields: fields.to_vec(), column, levels })
            })
            .collect()
    }
}

/// The rows of a row group.
pub(crate) struct GroupRows<'a> {
    file: &'a ParquetFile,
    blocks: &'a [Block],
    group: usize,
    /// A reader for each block. If batches must be smaller, new readers begin after the rows that
    /// were read.
    readers: Vec<ParquetRecordBatchReader>,
    /// For each block, the column if it is read by indexes into a dictionary. Empty if no block is.
    picked: Vec<Option<PickedColumn>>,
    scheme: KeyScheme,
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
        let mut reader = Self {
            file,
            blocks,
            group,
            readers: Vec::new(),
            picked: Vec::new(),
            scheme: KeyScheme::bytes(),
            batch_rows,
            rows,
            read: 0,
            failure: FailureSlot::default(),
        };
        if blocks.is_empty() {
            file.check_rows(group)?;
        } else {
            reader.readers = blocks.iter().map(|block| reader.open(block)).collect::<Result<_>>()?;
        }
        Ok(reader)
    }

    /// Reads columns that are stored as dictionaries by indexes into them; see
    /// [`picked`](Self::picked). The keys of the dictionaries are hashed under the scheme. This has
    /// no effect if keys are not bytes.
    pub(super) fn with_dictionaries(mut self, scheme: KeyScheme) -> Result<Self> {
        // A reader of several columns cannot leave out one that is read by indexes.
        let are_alone = self.blocks.iter().all(|block| block.fields.len() == 1);
        if scheme.kind() != KeyKind::Bytes || !are_alone {
            return Ok(self);
        }
        let about = self.file.group(self.group)?;
        let chunks = self.chunks();
        let picked = |block: &Block| {
            let column =
                about.columns().get(block.column?).filter(|chunk| PickedColumn::is_possible(chunk))?;
            Some(PickedColumn::new(chunks.pages(column, place_of(column)?), column))
        };
        (self.picked, self.scheme) = (self.blocks.iter().map(picked).collect(), scheme);
        Ok(self)
    }

    /// Returns the column of block `at` for the last batch, if it is read by indexes into a
    /// dictionary. Its array is then only a placeholder.
    pub(super) fn picked(&self, at: usize) -> Option<&PickedColumn> {
        self.picked.get(at)?.as_ref()
    }

    /// Limits the number of rows of later batches.
    fn shrink_to(&mut self, batch_rows: usize) -> Result<()> {
        if batch_rows < self.batch_rows {
            self.batch_rows = batch_rows;
            // Only the crate's readers can begin after the rows that were read.
            self.picked.clear();
            self.readers = self.blocks.iter().map(|block| self.open(block)).collect::<Result<_>>()?;
        }
        Ok(())
    }

    fn chunks(&self) -> GroupChunks {
        GroupChunks {
            stored: Arc::clone(&self.file.stored),
            metadata: Arc::clone(&self.file.footer.metadata),
            group: self.group,
            batch_rows: self.batch_rows,
            limits: self.file.limits,
            failure: self.failure.clone(),
        }
    }

    /// Returns the reader of a block, which begins after the rows that were read.
    fn open(&self, block: &Block) -> Result<ParquetRecordBatchReader> {
        let chunks = self.chunks();
        let selection = (self.read > 0).then(|| {
            RowSelection::from(vec![
                RowSelector::skip(self.read as usize),
                RowSelector::select((self.rows - self.read) as usize),
            ])
        });
        let opened = caught(&self.file.file, || {
            let (levels, rows) = (&block.levels, self.batch_rows);
            ParquetRecordBatchReader::try_new_with_row_groups(levels, &chunks, rows, selection)
                .map_err(from_crate)
        });
        opened.map_err(|error| self.failure.take().unwrap_or(error).in_file(&self.file.file))
    }

    /// Reads the next batch: the values of each field, in the order of the schema. Returns its
    /// number of rows, or `None` at the end, after all declared rows.
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
        for (at, block) in self.blocks.iter().enumerate() {
            if let Some(found) = self.next_places(at, block)? {
                if *rows.get_or_insert(found) != found {
                    return Err(Error::new(ErrorKind::Damaged, told("its columns differ in their rows")));
                }
                arrays.push(Arc::new(NullArray::new(0)));
                continue;
            }
            let Some(reader) = self.readers.get_mut(at) else { continue };
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

    /// Reads the next batch of a block by indexes into its dictionary. Returns `None` if the crate
    /// must read it.
    fn next_places(&mut self, at: usize, block: &Block) -> Result<Option<usize>> {
        let Some(Some(picked)) = self.picked.get_mut(at) else { return Ok(None) };
        let read_as = PickedAs {
            levels: &block.levels,
            metadata: &self.file.footer.metadata,
            group: self.file.group(self.group)?,
            scheme: self.scheme,
            limits: self.file.limits,
        };
        let found = caught(&self.file.file, || picked.next_batch(self.batch_rows, &read_as))
            .map_err(|error| self.file.in_columns(self.failure.take().unwrap_or(error), &block.fields))?;
        if found.is_none() {
            self.picked[at] = None;
            self.readers[at] = self.open(block)?;
        }
        Ok(found)
    }

    fn check_end(&self) -> Result<()> {
        if self.read == self.rows {
            return Ok(());
        }
        let what = format_args!("a row group declares {} rows, and has {}", self.rows, self.read);
        Err(Error::new(ErrorKind::Damaged, told(what)).in_file(&self.file.file))
    }
}

/// The column chunks of a row group, in the form that the crate requires.
struct GroupChunks {
    stored: Arc<Stored>,
    metadata: Arc<ParquetMetaData>,
    group: usize,
    batch_rows: usize,
    limits: Limits,
    failure: FailureSlot,
}

impl GroupChunks {
    fn pages(&self, chunk: &ColumnChunkMetaData, place: (u64, u64)) -> ColumnPages {
        let settings = (self.batch_rows, self.limits);
        ColumnPages::new(&self.stored, chunk, place, settings, self.failure.clone())
    }
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
        Ok(Box::new(OneChunk(Some(self.pages(chunk, place)))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.metadata.row_group(self.group)))
    }

    fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }
}

impl ParquetFile {
    /// Checks that a row group has the rows it declares, by the page headers of its smallest
    /// column.
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
