//! Reads the filters that a Parquet file has for its columns, and configures the writing of
//! filters.
//!
//! For each column, a row group has one split-block Bloom filter of the XXH64 hashes of the values
//! as Parquet stores them. So a key is first converted to a value of the column's type. Filters are
//! read one at a time, because a file can have thousands.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Schema};
use parquet::bloom_filter::Sbbf;
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::properties::WriterPropertiesBuilder;
use parquet::schema::types::ColumnPath;

use super::footer::Footer;
use super::stored::Stored;
use super::value_bytes::{self, StoredAs};
use super::{is_plain, told};
use crate::error::{Error, ErrorKind, Result};
use crate::filters::{ColumnFilters, FilterAnswers};
use crate::foreign::thrift::{Fault, FilterHead};
use crate::foreign::{Limits, caught};
use crate::select::{Chosen, Select, no_such_field};

/// A block has eight words of 32 bits, and a value sets one bit in each.
const BLOCK: usize = 32;

/// The largest filter that is written, which is the limit of the format.
const MOST_BYTES: usize = 128 << 20;

/// A bound on the length of a filter's header.
const HEAD: usize = 64;

/// The filters of one column of a Parquet file.
///
/// ```
/// use crivo_rows::{ColumnFilters, Format, Input, ParquetFilters, Predicate, Scan};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = |name: &str| folder.path().join(name);
/// std::fs::write(path("visits.csv"), "user,page\nana,/\nrui,/about\n")?;
/// let filters = ColumnFilters { columns: vec!["user".into()], rate: 0.01 };
/// let mut file = Vec::new();
/// let input = Input::file(path("visits.csv"));
/// Scan::of(&input).column_filters(&filters).convert_rows(Predicate::All, Format::Parquet, &mut file)?;
/// std::fs::write(path("visits.parquet"), file)?;
///
/// let users = ParquetFilters::open(&path("visits.parquet"), Some("user"))?.expect("a Parquet file");
/// assert_eq!(users.ask(&["ana", "eva"])?.members, [true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ParquetFilters {
    file: Arc<str>,
    stored: Stored,
    column: String,
    data_type: DataType,
    stored_as: StoredAs,
    /// The position of each row group's filter in the file.
    places: Vec<u64>,
}

impl ParquetFilters {
    /// Opens the filters of a column, or of the only column with filters if `column` is `None`.
    /// Returns `None` if the file is not a Parquet file.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged, or if it has no such column. It is also an error
    /// if the column has no filter in some row group, because then no key can be excluded.
    pub fn open(path: &Path, column: Option<&str>) -> Result<Option<Self>> {
        if !path.is_file() || !is_plain(path) {
            return Ok(None);
        }
        let file: Arc<str> = path.to_string_lossy().into();
        let stored = Stored::open(path).map_err(Error::io)?;
        if stored.length() == 0 {
            return Ok(None);
        }
        Self::of(stored, column, &file).map(Some).map_err(|error| error.in_file(&file))
    }

    fn of(stored: Stored, column: Option<&str>, file: &Arc<str>) -> Result<Self> {
        let footer = Footer::read(&stored, file, Limits::default())?;
        let leaves = footer.metadata.file_metadata().schema_descr();
        let groups: Vec<&RowGroupMetaData> =
            footer.metadata.row_groups().iter().filter(|group| group.num_rows() > 0).collect();
        let has_filter = |leaf: usize| {
            groups.iter().any(|group| {
                group.columns().get(leaf).is_some_and(|chunk| chunk.bloom_filter_offset().is_some())
            })
        };
        let filtered: Vec<String> = (0..leaves.num_columns())
            .filter(|&leaf| has_filter(leaf))
            .map(|leaf| leaves.column(leaf).path().string())
            .collect();
        let column = chosen(column, &filtered, &footer.schema)?;
        let leaf = (0..leaves.num_columns()).find(|&leaf| leaves.column(leaf).path().parts() == [&*column]);
        let (Some(leaf), Ok(field)) = (leaf, footer.schema.field_with_name(&column)) else {
            let message = format_args!("column '{column}' is nested: its filter cannot be asked");
            return Err(Error::new(ErrorKind::NestedColumn, message));
        };
        let (described, data_type) = (leaves.column(leaf), field.data_type().clone());
        let length = usize::try_from(described.type_length()).unwrap_or(0);
        let stored_as = StoredAs { physical: described.physical_type(), length };
        let mut places = Vec::with_capacity(groups.len());
        for (number, group) in groups.iter().enumerate() {
            let Some(place) = group.columns().get(leaf).and_then(ColumnChunkMetaData::bloom_filter_offset)
            else {
                return Err(lacks_filter(&column, number + 1, groups.len(), &filtered));
            };
            places.push(u64::try_from(place).map_err(|_| damaged("a filter begins before the file"))?);
        }
        Ok(Self { file: Arc::clone(file), stored, column, data_type, stored_as, places })
    }

    /// Returns the name of the column.
    pub fn column(&self) -> &str {
        &self.column
    }

    /// Returns whether the column may contain each of these keys. Write a key as docs/keys.md
    /// writes values of its type; integers and floats may be written in any usual way.
    ///
    /// # Errors
    /// If a key is not a value of the column's type, if the type of the column has no filter
    /// values, or if a filter is damaged.
    pub fn ask<K: AsRef<[u8]>>(&self, keys: &[K]) -> Result<FilterAnswers> {
        let named = |error: Error| error.in_file(&self.file);
        let values: Vec<Vec<Vec<u8>>> = keys
            .iter()
            .map(|key| {
                value_bytes::of_text(key.as_ref(), &self.data_type, self.stored_as)
                    .map_err(|error| named(error.in_column(&self.column)))
            })
            .collect::<Result<_>>()?;
        let mut answers =
            FilterAnswers { members: vec![false; keys.len()], false_positive_rate: 0.0, bytes: 0 };
        let mut spared = 1.0;
        for &place in &self.places {
            let bits = self.bits_at(place).map_err(|error| named(error.in_column(&self.column)))?;
            answers.bytes += bits.len() as u64;
            spared *= 1.0 - rate_of(&bits);
            caught(&self.file, || {
                let filter = Sbbf::new(&bits);
                for (member, forms) in answers.members.iter_mut().zip(&values) {
                    *member = *member || forms.iter().any(|value| filter.check(value.as_slice()));
                }
                Ok(())
            })?;
        }
        answers.false_positive_rate = 1.0 - spared;
        Ok(answers)
    }

    /// Returns the bits of the filter that begins at `place` of the file.
    fn bits_at(&self, place: u64) -> Result<bytes::Bytes> {
        if place >= self.stored.length() {
            return Err(damaged("a filter begins behind the end of the file"));
        }
        let mut head = [0; HEAD];
        let head = match FilterHead::read(self.stored.peek_at(place, &mut head)?) {
            Ok(head) => head,
            Err(Fault::Short) => return Err(damaged("the head of a filter does not end")),
            Err(Fault::Wrong) => return Err(damaged("the head of a filter is none")),
        };
        if head.kinds != FilterHead::KNOWN {
            let message = "has a filter of another kind than split blocks of XXH64 hashes, which is not read";
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let length = usize::try_from(head.bytes)
            .ok()
            .filter(|bytes| *bytes >= BLOCK && bytes.is_multiple_of(BLOCK) && *bytes <= MOST_BYTES);
        let Some(length) = length else {
            return Err(damaged(format_args!("a filter declares {} bytes", head.bytes)));
        };
        self.stored.bytes_at(place + head.length as u64, length)
    }
}

/// Returns the share of absent values that find all of their bits set. It is the mean over the
/// blocks; in a block, a value selects one random bit of each word.
fn rate_of(bits: &[u8]) -> f64 {
    let in_block = |block: &[u8]| -> f64 {
        let ones = |word: &[u8]| f64::from(word.iter().map(|byte| byte.count_ones()).sum::<u32>());
        block.chunks_exact(4).map(|word| ones(word) / 32.0).product()
    };
    let blocks = bits.chunks_exact(BLOCK);
    let count = blocks.len().max(1) as f64;
    blocks.map(in_block).sum::<f64>() / count
}

/// Returns the name of the given column, or of the only one with filters.
fn chosen(column: Option<&str>, filtered: &[String], schema: &Schema) -> Result<String> {
    match (column, filtered) {
        (Some(column), _) if schema.field_with_name(column).is_ok() => Ok(column.to_owned()),
        (Some(column), _) => Err(no_such_field(column, &names(schema))),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Error::new(
            ErrorKind::Unsupported,
            "is a Parquet file without filters: write a copy that has some, or make a set of a column",
        )),
        (None, several) => {
            let message = format_args!("name the column to ask about (filters: {})", several.join(", "));
            Err(Error::new(ErrorKind::NoSuchField, message))
        }
    }
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

#[cold]
fn lacks_filter(column: &str, number: usize, groups: usize, filtered: &[String]) -> Error {
    let with = if filtered.is_empty() { "none".to_owned() } else { filtered.join(", ") };
    let message = format_args!(
        "column '{column}' has no filter in row group {number} of {groups}, so that nothing can be ruled out \
         (columns with filters: {with})"
    );
    Error::new(ErrorKind::Unsupported, message)
}

#[cold]
fn damaged(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Damaged, told(what))
}

/// Adds the requested filters to the properties of a file with these columns.
pub(crate) fn with_filters(
    mut properties: WriterPropertiesBuilder,
    filters: Option<&ColumnFilters>,
    schema: &Schema,
) -> Result<WriterPropertiesBuilder> {
    let Some(filters) = filters else { return Ok(properties) };
    filters.check()?;
    let chosen = Chosen::by_name(&Select::Fields(filters.columns.clone()), &names(schema))?;
    for &field in &chosen.fields {
        let field = schema.field(field);
        let name = field.name();
        if field.data_type().is_nested() {
            let message = format_args!("column '{name}' is nested: a filter is of plain values");
            return Err(Error::new(ErrorKind::NestedColumn, message));
        }
        if *field.data_type() == DataType::Boolean {
            let message = format_args!("column '{name}' holds truth values, for which Parquet has no filter");
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        // The writer begins with a filter for a whole row group, and folds it to the size that its
        // values need.
        properties =
            properties.set_column_bloom_filter_fpp(ColumnPath::new(vec![name.clone()]), filters.rate);
    }
    Ok(properties)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_that_of_absent_values() {
        let mut filter = Sbbf::new_with_num_of_bytes(4096);
        for value in 0..5000_i64 {
            filter.insert(&value);
        }
        let mut bits = Vec::new();
        filter.write_bitset(&mut bits).unwrap();
        let found = (0..200_000_i64).filter(|value| filter.check(&(value + 1_000_000))).count();
        let (rate, measured) = (rate_of(&bits), found as f64 / 200_000.0);
        // Six standard errors of the measured share.
        assert!((rate - measured).abs() < 6.0 * (rate / 200_000.0).sqrt(), "{rate} {measured}");
        assert!(rate > 0.01 && rate < 0.2, "{rate}");
        assert!(rate_of(&[0; 64]) == 0.0 && rate_of(&[255; 64]) == 1.0);
    }
}
