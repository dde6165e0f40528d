//! A Parquet file's metadata, checked against the file's size and against itself.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{Compression, Type};
use parquet::file::metadata::{
    ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData,
};

use super::stored::Stored;
use super::{from_crate, told};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{self, Limits, caught, thrift};

/// The footer's length and the magic number after it.
const TAIL: u64 = 8;
const MAGIC: &[u8; 4] = b"PAR1";
const ENCRYPTED: &[u8; 4] = b"PARE";
/// The most memory that the crate's metadata takes for each byte of a footer.
const MEMORY_PER_BYTE: usize = 64;

/// The metadata of a file.
#[derive(Debug)]
pub(super) struct Footer {
    pub(super) metadata: Arc<ParquetMetaData>,
    /// The columns by their Parquet types. The schema that Arrow stores besides is not read.
    pub(super) schema: SchemaRef,
}

impl Footer {
    /// Reads the metadata, and checks it against the file's bytes.
    pub(super) fn read(stored: &Stored, file: &Arc<str>, limits: Limits) -> Result<Self> {
        let (bytes, start) = footer_bytes(stored)?;
        thrift::check_footer(&bytes).map_err(|_| wrong("its footer is no metadata"))?;
        foreign::require_memory(bytes.len().saturating_mul(MEMORY_PER_BYTE))?;
        let footer = caught(file, || {
            let metadata = ParquetMetaDataReader::decode_metadata(&bytes).map_err(from_crate)?;
            let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
            let arrow = ArrowReaderMetadata::try_new(Arc::new(metadata), options).map_err(from_crate)?;
            Ok(Self { metadata: Arc::clone(arrow.metadata()), schema: Arc::clone(arrow.schema()) })
        })?;
        check(&footer.metadata, start, limits)?;
        Ok(footer)
    }
}

/// Returns the footer, and where it begins.
fn footer_bytes(stored: &Stored) -> Result<(bytes::Bytes, u64)> {
    let length = stored.length();
    if length < TAIL + MAGIC.len() as u64 {
        return Err(wrong("it is too short"));
    }
    let tail = stored.bytes_at(length - TAIL, TAIL as usize)?;
    match tail.last_chunk::<4>() {
        Some(MAGIC) => {}
        Some(ENCRYPTED) => {
            let message = "is an encrypted Parquet file, which is not read: write it without encryption";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        _ => return Err(wrong("it does not end as one")),
    }
    let footer = tail.first_chunk::<4>().map_or(0, |bytes| u64::from(u32::from_le_bytes(*bytes)));
    let start = (length - TAIL).checked_sub(footer).filter(|start| *start >= MAGIC.len() as u64);
    let Some(start) = start else { return Err(wrong("its footer is longer than the file")) };
    Ok((stored.bytes_at(start, footer as usize)?, start))
}

/// Checks that the numbers of rows agree, and that the columns are before the footer.
fn check(metadata: &ParquetMetaData, data_end: u64, limits: Limits) -> Result<()> {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    let mut rows = 0_i64;
    for group in metadata.row_groups() {
        if group.num_columns() != columns {
            return Err(wrong("a row group lacks columns"));
        }
        if group.num_rows() < 0 || group.num_rows() > i64::from(u32::MAX) {
            return Err(wrong(format_args!("a row group declares {} rows", group.num_rows())));
        }
        rows = rows.checked_add(group.num_rows()).ok_or_else(|| wrong("it declares too many rows"))?;
        for chunk in group.columns() {
            check_chunk(chunk, group, data_end, limits).map_err(|error| in_column(error, chunk))?;
        }
    }
    let declared = metadata.file_metadata().num_rows();
    if rows == declared {
        return Ok(());
    }
    Err(wrong(format_args!("it declares {declared} rows, and its row groups {rows}")))
}

fn check_chunk(
    chunk: &ColumnChunkMetaData,
    group: &RowGroupMetaData,
    data_end: u64,
    limits: Limits,
) -> Result<()> {
    if chunk.file_path().is_some() {
        let message = "has columns in other files, which is not read: write it as one file";
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let codec = match chunk.compression() {
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
        _ => None,
    };
    if let Some(codec) = codec {
        let message =
            format_args!("is compressed with {codec}, which is not read: write it with zstd or snappy");
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let is_inside = place_of(chunk).is_some_and(|(_, end)| end <= data_end);
    if !is_inside {
        return Err(wrong("its place is not in the file"));
    }
    let column = chunk.column_descr();
    let (values, rows) = (chunk.num_values(), group.num_rows());
    if values < 0 || column.max_rep_level() == 0 && values != rows {
        return Err(wrong(format_args!("it declares {values} values, and its row group {rows} rows")));
    }
    if column.max_rep_level() > 0 && values < rows {
        return Err(wrong(format_args!("it declares {values} values in {rows} rows")));
    }
    // Even a missing value of such a column takes the whole length in memory.
    let length = usize::try_from(column.type_length()).unwrap_or(0);
    if column.physical_type() == Type::FIXED_LEN_BYTE_ARRAY && length > limits.record {
        return Err(foreign::record_too_long(limits.record));
    }
    Ok(())
}

/// Returns where a chunk begins and ends, or `None` if that is impossible.
pub(super) fn place_of(chunk: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    // A chunk without pages may have any position.
    if chunk.compressed_size() == 0 {
        return Some((MAGIC.len() as u64, MAGIC.len() as u64));
    }
    let dictionary = chunk.dictionary_page_offset().filter(|offset| *offset > 0);
    let start = u64::try_from(dictionary.unwrap_or_else(|| chunk.data_page_offset())).ok()?;
    let end = start.checked_add(u64::try_from(chunk.compressed_size()).ok()?)?;
    Some((start, end)).filter(|(start, _)| *start >= MAGIC.len() as u64)
}

fn in_column(error: Error, chunk: &ColumnChunkMetaData) -> Error {
    // The compression of the whole file does not concern a single column.
    if error.kind() == ErrorKind::Unsupported {
        error
    } else {
        error.in_column(&chunk.column_path().string())
    }
}

#[cold]
fn wrong(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Damaged, told(what))
}
