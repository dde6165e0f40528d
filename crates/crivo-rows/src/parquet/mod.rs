//! Reads Parquet: row groups are the chunks, and only selected columns are read.
//!
//! Every value becomes the text that docs/keys.md defines for it, so that a column has the same
//! keys in every file format. Types are those of the Parquet schema. The types that Arrow stores
//! besides (dictionaries, wider strings) change how a column is stored, not its values.
//!
//! The numbers in a file are checked before memory or answers depend on them: those of the footer
//! in [`footer`], those of each page in [`pages`], and the numbers of rows in [`group`].

mod codec;
mod copy;
mod delta;
mod filters;
mod footer;
mod group;
mod pages;
mod picked;
mod replace;
mod runs;
mod stored;
mod value_bytes;
mod values;

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray as _;
use arrow_schema::SchemaRef;
use crivo::keys::KeyScheme;
use parquet::errors::ParquetError;

use self::footer::Footer;
use self::group::{Block, GroupRows};
use self::stored::Stored;
use self::values::Booleans;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{Limits, caught, record_too_long};
use crate::input::InputSource;
use crate::parse::Table;
use crate::select::{Chosen, Select};

pub(crate) use self::copy::{ParquetCopy, cannot_write};
pub use self::filters::ParquetFilters;
pub(crate) use self::filters::with_filters;
pub(crate) use self::replace::with_column;

/// An open Parquet file.
#[derive(Debug)]
pub(crate) struct ParquetFile {
    pub(crate) file: Arc<str>,
    stored: Arc<Stored>,
    footer: Footer,
    pub(crate) chosen: Chosen,
    /// The selected fields, in blocks that are read together.
    blocks: Vec<Block>,
    /// For each selected field, the number of its column among those that are read.
    order: Vec<usize>,
    /// The rows of the file before each row group.
    rows_before: Vec<u64>,
    limits: Limits,
}

impl ParquetFile {
    /// Opens a source. `stream` reads a source that is not a plain file. Adds a warning for each
    /// column that is left out.
    pub(crate) fn open(
        source: &InputSource,
        select: &Select,
        limits: Limits,
        stream: impl FnOnce() -> Result<Vec<u8>>,
        warnings: &mut Vec<String>,
    ) -> Result<Self> {
        let file = source.name();
        Self::read(source, select, limits, stream, warnings, &file).map_err(|error| error.in_file(&file))
    }

    fn read(
        source: &InputSource,
        select: &Select,
        limits: Limits,
        stream: impl FnOnce() -> Result<Vec<u8>>,
        warnings: &mut Vec<String>,
        file: &Arc<str>,
    ) -> Result<Self> {
        let stored = match source.path() {
            Some(path) if is_plain(path) => Stored::open(path).map_err(Error::io)?,
            _ => Stored::Memory(stream()?.into()),
        };
        if stored.length() == 0 {
            // Even a Parquet file without rows has a schema.
            let message = "not a Parquet file: it is empty; fetch or write it again";
            return Err(Error::new(ErrorKind::Damaged, message));
        }
        let footer = Footer::read(&stored, file, limits)?;
        let chosen = choose(&footer.schema, select, file, warnings)?;
        let mut sorted = chosen.fields.clone();
        sorted.sort_unstable();
        let order = chosen.fields.iter().filter_map(|field| sorted.binary_search(field).ok()).collect();
        let blocks = caught(file, || Block::divide(&footer.metadata, &sorted))?;
        let mut rows = 0;
        let rows_before = footer
            .metadata
            .row_groups()
            .iter()
            .map(|group| {
                let before = rows;
                rows += group.num_rows().max(0) as u64;
                before
            })
            .collect();
        let (file, stored) = (Arc::clone(file), Arc::new(stored));
        Ok(Self { file, stored, footer, chosen, blocks, order, rows_before, limits })
    }

    pub(crate) fn groups(&self) -> usize {
        self.rows_before.len()
    }

    /// Returns the length of the file in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.stored.length()
    }

    /// Returns the rows of the file before a row group.
    pub(crate) fn rows_before(&self, group: usize) -> u64 {
        self.rows_before.get(group).copied().unwrap_or(0)
    }

    /// Returns the bytes of all columns of a row group.
    pub(crate) fn group_bytes(&self, group: usize) -> u64 {
        let groups = self.footer.metadata.row_groups();
        groups
            .get(group)
            .map_or(0, |group| group.columns().iter().map(|c| c.compressed_size().max(0) as u64).sum())
    }

    /// Reads the selected columns of a row group, batch by batch. The values of dictionaries are
    /// hashed under the scheme.
    pub(crate) fn read_group(&self, group: usize, scheme: KeyScheme) -> Result<ParquetBatches<'_>> {
        let rows = GroupRows::new(self, &self.blocks, group)?.with_dictionaries(scheme)?;
        let booleans = Booleans::new(scheme)?;
        Ok(ParquetBatches { file: self, rows, arrays: Vec::new(), booleans })
    }
}

/// The batches of a row group.
pub(crate) struct ParquetBatches<'a> {
    file: &'a ParquetFile,
    rows: GroupRows<'a>,
    arrays: Vec<ArrayRef>,
    booleans: Option<Booleans>,
}

impl ParquetBatches<'_> {
    /// Fills the table with the next batch. Returns its number of rows, or `None` at the end.
    pub(crate) fn next_batch(&mut self, table: &mut Table) -> Result<Option<usize>> {
        let Self { file, rows, arrays, booleans } = self;
        let Some(count) = rows.next_batch(arrays)? else { return Ok(None) };
        table.reset(file.order.len());
        for (place, (&at, column)) in file.order.iter().zip(&mut table.columns).enumerate() {
            if let Some(picked) = rows.picked(at) {
                picked.append_to(column)?;
                continue;
            }
            let Some(array) = arrays.get(at) else { continue };
            if let (Some(booleans), Some(array)) = (&mut *booleans, array.as_boolean_opt()) {
                booleans.append(array, column)?;
                continue;
            }
            caught(&file.file, || {
                let field = || file.footer.schema.field(file.chosen.fields[place]);
                values::append(array, column).map_err(|error| error.in_column(field().name()))?;
                if column.longest_possible() > file.limits.record && column.longest() > file.limits.record {
                    return Err(record_too_long(file.limits.record));
                }
                Ok(())
            })?;
        }
        Ok(Some(count))
    }
}

/// Returns true if the file can be read directly: it is a Parquet file that is not compressed as a
/// whole, or it is empty.
fn is_plain(path: &std::path::Path) -> bool {
    let mut first = Vec::new();
    path.metadata().is_ok_and(|metadata| metadata.is_file())
        && File::open(path).is_ok_and(|file| file.take(4).read_to_end(&mut first).is_ok())
        && (first.is_empty() || first == b"PAR1")
}

/// Returns the selected columns, whose values must have a text.
fn choose(
    schema: &SchemaRef,
    select: &Select,
    file: &Arc<str>,
    warnings: &mut Vec<String>,
) -> Result<Chosen> {
    let fields = schema.fields();
    let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
    let has_text: Vec<bool> = fields.iter().map(|field| crivo_arrow::has_text(field.data_type())).collect();
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

fn kind_of(data_type: &arrow_schema::DataType) -> &'static str {
    use arrow_schema::DataType;
    match data_type {
        DataType::Struct(_) => "a struct",
        DataType::Map(..) => "a map",
        DataType::Duration(_) | DataType::Interval(_) => "a length of time",
        _ => "a list",
    }
}

/// Returns the message about a damaged file.
fn told(what: impl std::fmt::Display) -> String {
    format!("not a Parquet file, or damaged ({what}): fetch or write it again")
}

/// Converts an error of the Parquet crate.
#[cold]
#[allow(clippy::needless_pass_by_value)] // as `map_err` gives it
fn from_crate(error: ParquetError) -> Error {
    Error::new(ErrorKind::Damaged, told(error))
}
