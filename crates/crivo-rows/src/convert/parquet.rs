//! Records as columns of a Parquet file.

use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::basic::Compression;
use ::parquet::file::properties::WriterProperties;
use arrow_array::builder::{BooleanBuilder, Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::cell;
use super::columns::{ColumnType, Columns};
use crate::column::{Cell, Values};
use crate::error::{Error, ErrorKind, Result};
use crate::filters::ColumnFilters;
use crate::parquet::{cannot_write, with_filters};

/// A row group is closed when it takes this many bytes of memory.
const GROUP_BYTES: usize = 64 << 20;

/// A Parquet file that is being written.
pub(super) enum ParquetTarget<'o> {
    Unused(&'o mut (dyn Write + Send)),
    Open {
        writer: Box<ArrowWriter<&'o mut (dyn Write + Send)>>,
        schema: SchemaRef,
    },
    /// Only while one variant is replaced by another.
    Nothing,
}

impl ParquetTarget<'_> {
    /// Begins a file with these columns, and with filters for some of them.
    pub(super) fn begin(&mut self, columns: &Columns, filters: Option<&ColumnFilters>) -> Result<()> {
        let Self::Unused(output) = std::mem::replace(self, Self::Nothing) else { return Ok(()) };
        let fields: Vec<Field> = columns
            .names
            .iter()
            .zip(&columns.types)
            .map(|(name, column)| Field::new(name, column.data_type(), true))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let properties = with_filters(properties, filters, &schema)?.build();
        let writer = ArrowWriter::try_new(output, Arc::clone(&schema), Some(properties))
            .map_err(|error| cannot_write(&error))?;
        *self = Self::Open { writer: Box::new(writer), schema };
        Ok(())
    }

    pub(super) fn write(&mut self, rows: Rows) -> Result<()> {
        let Self::Open { writer, schema } = self else { return Ok(()) };
        if rows.columns.is_empty() {
            return Ok(());
        }
        let arrays = rows.columns.into_iter().map(ColumnBuilder::finish).collect();
        let batch = RecordBatch::try_new(Arc::clone(schema), arrays)
            .map_err(|error| Error::new(ErrorKind::Io, format_args!("cannot write Parquet: {error}")))?;
        writer.write(&batch).map_err(|error| cannot_write(&error))?;
        if writer.in_progress_size() > GROUP_BYTES {
            writer.flush().map_err(|error| cannot_write(&error))?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            Self::Open { writer, .. } => writer.close().map(drop).map_err(|error| cannot_write(&error)),
            _ => Ok(()),
        }
    }
}

impl ColumnType {
    fn data_type(self) -> DataType {
        match self {
            Self::Text => DataType::Utf8,
            Self::Integer => DataType::Int64,
            Self::Float => DataType::Float64,
            Self::Boolean => DataType::Boolean,
        }
    }
}

/// Rows that are not written yet, by column.
pub(super) struct Rows {
    columns: Vec<ColumnBuilder>,
    bytes: usize,
}

enum ColumnBuilder {
    Text(StringBuilder),
    Integer(Int64Builder),
    Float(Float64Builder),
    Boolean(BooleanBuilder),
}

impl Rows {
    pub(super) fn of(columns: &Columns) -> Self {
        let builder = |column: &ColumnType| match column {
            ColumnType::Text => ColumnBuilder::Text(StringBuilder::new()),
            ColumnType::Integer => ColumnBuilder::Integer(Int64Builder::new()),
            ColumnType::Float => ColumnBuilder::Float(Float64Builder::new()),
            ColumnType::Boolean => ColumnBuilder::Boolean(BooleanBuilder::new()),
        };
        Self { columns: columns.types.iter().map(builder).collect(), bytes: 0 }
    }

    /// Returns the approximate memory of the rows in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a row. Otherwise returns the number of a column whose type does not fit its value.
    pub(super) fn push(&mut self, values: &[Option<Values<'_>>], row: usize) -> Result<(), usize> {
        for (at, (column, values)) in self.columns.iter_mut().zip(values).enumerate() {
            let text = match cell(values.as_ref(), row) {
                Cell::Missing => None,
                Cell::Empty => Some(""),
                Cell::Value(value) => Some(std::str::from_utf8(value).map_err(|_| at)?),
            };
            self.bytes += 8 + text.map_or(0, str::len);
            column.push(text).ok_or(at)?;
        }
        Ok(())
    }
}

impl ColumnBuilder {
    /// Adds a value. Returns `None` if it is of another type.
    fn push(&mut self, text: Option<&str>) -> Option<()> {
        match (self, text) {
            (Self::Text(builder), text) => builder.append_option(text),
            (Self::Integer(builder), None) => builder.append_null(),
            (Self::Float(builder), None) => builder.append_null(),
            (Self::Boolean(builder), None) => builder.append_null(),
            (Self::Integer(builder), Some(text)) => builder.append_value(text.parse().ok()?),
            (Self::Float(builder), Some(text)) => builder.append_value(text.parse().ok()?),
            (Self::Boolean(builder), Some(text)) => builder.append_value(text.parse().ok()?),
        }
        Some(())
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Text(mut builder) => Arc::new(builder.finish()),
            Self::Integer(mut builder) => Arc::new(builder.finish()),
            Self::Float(mut builder) => Arc::new(builder.finish()),
            Self::Boolean(mut builder) => Arc::new(builder.finish()),
        }
    }
}
