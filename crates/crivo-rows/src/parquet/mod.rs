//! Parquet: row groups are the chunks, and only wanted columns are read.
//!
//! Every value becomes the text that docs/keys.md gives it, so that a column has the same keys
//! whatever file it came in. Types are taken from the Parquet schema itself: what Arrow may have
//! noted besides (dictionaries, wider strings) changes how a column is stored, not its values.

mod copy;
mod values;

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::metadata::RowGroupMetaData;

use crate::error::{Error, ErrorKind, Result};
use crate::input::Source;
use crate::parse::Table;
use crate::select::{Chosen, Select};

pub(crate) use self::copy::ParquetCopy;

/// Where the bytes are.
#[derive(Debug, Clone)]
enum Stored {
    /// Each reader opens the file for itself: a shared one would share its position.
    File(PathBuf),
    /// What cannot be read at any position (a pipe, a compressed file) is held in memory.
    Memory(Bytes),
}

/// An open Parquet file.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    pub(crate) file: Arc<str>,
    stored: Stored,
    metadata: ArrowReaderMetadata,
    pub(crate) chosen: Chosen,
    /// For each wanted field, which column of a record batch it is.
    order: Vec<usize>,
    /// Rows of the file before each row group.
    rows_before: Vec<u64>,
    pub(crate) length: u64,
}

impl ParquetFile {
    /// Opens a source. `stream` reads what is not a plain file.
    /// `warnings` are told of columns that are left out.
    pub(crate) fn open(
        source: &Source,
        select: &Select,
        stream: impl FnOnce() -> Result<Vec<u8>>,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        let file = source.name();
        let stored = match source {
            Source::File(path) if is_plain(path) => Stored::File(path.clone()),
            _ => Stored::Memory(stream()?.into()),
        };
        let length = match &stored {
            Stored::File(path) => path.metadata().map_or(0, |metadata| metadata.len()),
            Stored::Memory(bytes) => bytes.len() as u64,
        };
        if length == 0 {
            // Even without a row it has a schema.
            let message = "not a Parquet file: it is empty; fetch or write it again";
            return Err(Error::new(ErrorKind::Damaged, message).in_file(&file));
        }
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = stored.metadata(options).map_err(|error| damaged(&error, &file))?;
        let chosen = choose(&metadata, select, &file, warnings)?;
        check_codecs(&metadata, &file)?;
        let mut sorted = chosen.fields.clone();
        sorted.sort_unstable();
        let order = chosen.fields.iter().filter_map(|field| sorted.binary_search(field).ok()).collect();
        let rows_before = metadata
            .metadata()
            .row_groups()
            .iter()
            .scan(0, |rows, group| {
                let before = *rows;
                *rows += group.num_rows().max(0) as u64;
                Some(before)
            })
            .collect();
        Ok(Self { file, stored, metadata, chosen, order, rows_before, length })
    }

    pub(crate) fn groups(&self) -> usize {
        self.rows_before.len()
    }

    /// Rows of the file before a row group.
    pub(crate) fn rows_before(&self, group: usize) -> u64 {
        self.rows_before.get(group).copied().unwrap_or(0)
    }

    /// The bytes of a row group, all columns of it.
    pub(crate) fn group_bytes(&self, group: usize) -> u64 {
        self.metadata
            .metadata()
            .row_groups()
            .get(group)
            .map_or(0, |group| group.compressed_size().max(0) as u64)
    }

    /// The wanted columns of a row group, batch by batch.
    pub(crate) fn read_group(&self, group: usize) -> Result<ParquetBatches<'_>> {
        let mask = ProjectionMask::roots(self.metadata.parquet_schema(), self.chosen.fields.iter().copied());
        let reader = self
            .stored
            .reader(self.metadata.clone(), Some(mask), group)
            .map_err(|error| damaged(&error, &self.file))?;
        Ok(ParquetBatches { file: self, reader })
    }
}

/// The batches of a row group.
pub(crate) struct ParquetBatches<'a> {
    file: &'a ParquetFile,
    reader: ParquetRecordBatchReader,
}

impl ParquetBatches<'_> {
    /// Fills the table with the next batch; how many rows it has, nothing at the end.
    pub(crate) fn next_batch(&mut self, table: &mut Table) -> Result<Option<usize>> {
        let Some(batch) = self.reader.next() else { return Ok(None) };
        let batch = batch.map_err(|error| damaged(&ParquetError::from(error), &self.file.file))?;
        table.reset(self.file.order.len());
        self.file.fill(&batch, table)?;
        Ok(Some(batch.num_rows()))
    }
}

impl ParquetFile {
    fn fill(&self, batch: &RecordBatch, table: &mut Table) -> Result<()> {
        for (&at, column) in self.order.iter().zip(&mut table.columns) {
            if let Some(array) = batch.columns().get(at) {
                values::append(array, column)?;
            }
        }
        Ok(())
    }
}

impl Stored {
    fn metadata(&self, options: ArrowReaderOptions) -> Result<ArrowReaderMetadata, ParquetError> {
        match self {
            Self::File(path) => ArrowReaderMetadata::load(&File::open(path)?, options),
            Self::Memory(bytes) => ArrowReaderMetadata::load(bytes, options),
        }
    }

    /// A reader of one row group, of the columns of `mask` or all.
    fn reader(
        &self,
        metadata: ArrowReaderMetadata,
        mask: Option<ProjectionMask>,
        group: usize,
    ) -> Result<ParquetRecordBatchReader, ParquetError> {
        let mask = mask.unwrap_or_else(ProjectionMask::all);
        match self {
            Self::File(path) => {
                ParquetRecordBatchReaderBuilder::new_with_metadata(File::open(path)?, metadata)
                    .with_projection(mask)
                    .with_row_groups(vec![group])
                    .with_batch_size(Table::ROWS)
                    .build()
            }
            Self::Memory(bytes) => {
                ParquetRecordBatchReaderBuilder::new_with_metadata(bytes.clone(), metadata)
                    .with_projection(mask)
                    .with_row_groups(vec![group])
                    .with_batch_size(Table::ROWS)
                    .build()
            }
        }
    }
}

/// Whether the file can be read where it lies; an empty one can.
fn is_plain(path: &std::path::Path) -> bool {
    let mut first = Vec::new();
    path.metadata().is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|file| file.take(4).read_to_end(&mut first).is_ok())
        && (first.is_empty() || first == b"PAR1")
}

/// The wanted columns, which must have a text.
fn choose(
    metadata: &ArrowReaderMetadata,
    select: &Select,
    file: &Arc<str>,
    warnings: &mut Vec<String>,
) -> Result<Chosen> {
    let fields = metadata.schema().fields();
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let has_text: Vec<bool> = fields.iter().map(|field| values::has_text(field.data_type())).collect();
    match select {
        Select::Row => {
            let message = format!(
                "a row of a Parquet file has no text of its own: choose a field (fields: {})",
                names.join(", ")
            );
            Err(Error::new(ErrorKind::Unsupported, message).in_file(file))
        }
        Select::All => {
            for name in names.iter().zip(&has_text).filter(|(_, has_text)| !**has_text).map(|(name, _)| name)
            {
                warnings.push(format!("{file}: column '{name}' is left out: it is nested"));
            }
            let numbers: Vec<usize> = (0..names.len()).filter(|&at| has_text[at]).collect();
            Ok(Chosen::from_numbers(&numbers, |number| names[number].clone()))
        }
        Select::Fields(_) | Select::Single => {
            let chosen = Chosen::by_name(select, &names).map_err(|error| error.in_file(file))?;
            match chosen.fields.iter().find(|&&field| !has_text[field]) {
                None => Ok(chosen),
                Some(&nested) => {
                    let readable: Vec<_> = names
                        .iter()
                        .zip(&has_text)
                        .filter(|(_, has)| **has)
                        .map(|(n, _)| n.as_str())
                        .collect();
                    let message = format!(
                        "column '{}' is nested ({}): its values have no text; choose one of {}",
                        names[nested],
                        kind_of(fields[nested].data_type()),
                        readable.join(", ")
                    );
                    Err(Error::new(ErrorKind::NestedColumn, message).in_file(file))
                }
            }
        }
    }
}

/// Refuses codecs that are not built in, by name and before anything is read.
fn check_codecs(metadata: &ArrowReaderMetadata, file: &Arc<str>) -> Result<()> {
    let mut columns = metadata.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
    let codec = columns.find_map(|column| match column.compression() {
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    });
    match codec {
        None => Ok(()),
        Some(codec) => {
            let message =
                format_args!("is compressed with {codec}, which is not read: write it with zstd or snappy");
            Err(Error::new(ErrorKind::Unsupported, message).in_file(file))
        }
    }
}

fn kind_of(data_type: &arrow_schema::DataType) -> &'static str {
    use arrow_schema::DataType;
    match data_type {
        DataType::Struct(_) => "a struct",
        DataType::Map(..) => "a map",
        DataType::Duration(_) | DataType::Interval(_) => "a length of time",
        _ => "a list",
    }
}

#[cold]
fn damaged(error: &ParquetError, file: &Arc<str>) -> Error {
    let message = format_args!("not a Parquet file, or damaged ({error}): fetch or write it again");
    Error::new(ErrorKind::Damaged, message).in_file(file)
}
