//! Reads columns that are stored as a dictionary by their indexes: each distinct value is converted
//! to text and hashed once, and a row has only the index of its value.
//!
//! The Parquet crate decodes the values of a dictionary, so that they are read like those of any
//! page. The indexes are decoded here. If a chunk is not as expected, the crate reads the column
//! from the first row of the batch on. That happens if pages without a dictionary come after others
//! with it, and for nested columns and damage.

use std::sync::Arc;

use arrow_array::RecordBatch;
use bytes::Bytes;
use crivo::keys::{KeyDictionary, KeyScheme, Span};
use parquet::arrow::FieldLevels;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, RowGroups};
use parquet::basic::{Encoding, PageType, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};

use super::pages::ColumnPages;
use super::runs::Runs;
use super::{from_crate, values};
use crate::column::{Column, TextDictionary};
use crate::error::Result;
use crate::foreign::{self, Limits, record_too_long};

/// A column of a row group, as indexes into its dictionary.
pub(super) struct PickedColumn {
    pages: ColumnPages,
    /// Whether values may be missing.
    has_levels: bool,
    dictionary: Option<Arc<TextDictionary>>,
    /// The number of rows left in the current page.
    rows: usize,
    levels: Runs,
    numbers: Runs,
    /// The levels of a batch, and the indexes of the values that are not missing.
    present: Vec<u32>,
    found: Vec<u32>,
    /// The index of each row of the last batch.
    places: Vec<u32>,
}

/// How a column is read, and how its keys are hashed.
pub(super) struct PickedAs<'a> {
    pub(super) levels: &'a FieldLevels,
    pub(super) metadata: &'a ParquetMetaData,
    pub(super) group: &'a RowGroupMetaData,
    pub(super) scheme: KeyScheme,
    pub(super) limits: Limits,
}

impl PickedColumn {
    /// Returns true if all pages of a chunk may be indexes into a dictionary.
    pub(super) fn is_possible(chunk: &ColumnChunkMetaData) -> bool {
        let column = chunk.column_descr();
        let is_flat = column.max_rep_level() == 0 && column.max_def_level() <= 1;
        // A page could declare any number of values that take no bytes.
        let takes_bytes = match chunk.column_type() {
            Type::BOOLEAN => false,
            Type::FIXED_LEN_BYTE_ARRAY => column.type_length() > 0,
            _ => true,
        };
        // The metadata may list the encodings of the pages. If it does, the list is reliable.
        let are_all = match (chunk.page_encoding_stats(), chunk.page_encoding_stats_mask()) {
            (Some(stats), _) => stats
                .iter()
                .filter(|stats| matches!(stats.page_type, PageType::DATA_PAGE | PageType::DATA_PAGE_V2))
                .all(|stats| is_of_places(stats.encoding)),
            (None, Some(mask)) => mask.encodings().all(is_of_places),
            (None, None) => true,
        };
        is_flat && takes_bytes && are_all && chunk.encodings().any(is_of_places)
    }

    pub(super) fn new(pages: ColumnPages, chunk: &ColumnChunkMetaData) -> Self {
        Self {
            pages,
            has_levels: chunk.column_descr().max_def_level() > 0,
            dictionary: None,
            rows: 0,
            levels: Runs::default(),
            numbers: Runs::default(),
            present: Vec::new(),
            found: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Reads the indexes of the next batch. Returns their number, or `None` if the crate must read
    /// the column.
    pub(super) fn next_batch(&mut self, rows: usize, read_as: &PickedAs<'_>) -> Result<Option<usize>> {
        self.places.clear();
        while self.places.len() < rows {
            if self.rows == 0 {
                match self.pages.get_next_page().map_err(from_crate)? {
                    None => break,
                    Some(page) => {
                        if self.open(page, read_as)?.is_none() {
                            return Ok(None);
                        }
                        continue;
                    }
                }
            }
            let part = self.rows.min(rows - self.places.len());
            self.rows -= part;
            if self.read_places(part).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(self.places.len()))
    }

    /// Replaces the values of a column by those of the last batch.
    pub(super) fn append_to(&self, column: &mut Column) -> Result<()> {
        self.dictionary.as_ref().map_or(Ok(()), |dictionary| column.pick(dictionary, &self.places))
    }

    /// Begins a data page, or reads the dictionary. Returns `None` if the page is not as expected.
    fn open(&mut self, page: Page, read_as: &PickedAs<'_>) -> Result<Option<()>> {
        let (encoding, rows) = (page.encoding(), page.num_values() as usize);
        let (levels, values) = match page {
            Page::DictionaryPage { buf, num_values, .. } => {
                self.dictionary = Some(Arc::new(read_as.dictionary(buf, num_values, self.has_levels)?));
                return Ok(Some(()));
            }
            Page::DataPage { buf, .. } if !self.has_levels => (Bytes::new(), buf),
            Page::DataPage { buf, def_level_encoding: Encoding::RLE, .. } => {
                let Some(length) = buf.first_chunk::<4>().map(|length| u32::from_le_bytes(*length) as usize)
                else {
                    return Ok(None);
                };
                if length > buf.len() - 4 {
                    return Ok(None);
                }
                (buf.slice(4..4 + length), buf.slice(4 + length..))
            }
            Page::DataPageV2 { buf, def_levels_byte_len, rep_levels_byte_len: 0, .. } => {
                let length = def_levels_byte_len as usize;
                if length > buf.len() {
                    return Ok(None);
                }
                (buf.slice(..length), buf.slice(length..))
            }
            Page::DataPage { .. } | Page::DataPageV2 { .. } => return Ok(None),
        };
        // A page whose values are all missing may have no indexes, not even their width.
        let width = values.first().copied().unwrap_or(0);
        if self.dictionary.is_none() || !is_of_places(encoding) || width > Runs::WIDEST {
            return Ok(None);
        }
        self.rows = rows;
        self.levels = Runs::new(levels, 1);
        self.numbers = Runs::new(values.slice(1.min(values.len())..), width);
        Ok(Some(()))
    }

    /// Appends the indexes of some rows of the page. Returns `None` if the page does not have them.
    fn read_places(&mut self, rows: usize) -> Option<()> {
        let Self { dictionary, levels, numbers, present, found, places, .. } = self;
        let values = dictionary.as_ref()?.len();
        let are_places = |places: &[u32]| places.iter().all(|&place| (place as usize) < values);
        if !self.has_levels || levels.pass_all(1, rows) {
            let before = places.len();
            numbers.read(rows, places)?;
            return are_places(&places[before..]).then_some(());
        }
        present.clear();
        found.clear();
        levels.read(rows, present)?;
        numbers.read(present.iter().filter(|&&level| level == 1).count(), found)?;
        let mut next = found.iter().copied();
        let place = |&level: &u32| if level == 1 { next.next() } else { None };
        places.extend(present.iter().map(place).map(|place| place.unwrap_or(TextDictionary::MISSING)));
        are_places(found).then_some(())
    }
}

fn is_of_places(encoding: Encoding) -> bool {
    matches!(encoding, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY)
}

impl PickedAs<'_> {
    /// Returns the texts of a dictionary, in the order of their indexes.
    fn dictionary(&self, page: Bytes, count: u32, has_levels: bool) -> Result<TextDictionary> {
        // The memory for two spans and a hash for each value.
        foreign::require_memory((count as usize).saturating_mul(24))?;
        let mut column = Column::default();
        if count > 0 {
            let page = DictionaryAsRows { page, count, has_levels, read_as: self };
            let mut reader =
                ParquetRecordBatchReader::try_new_with_row_groups(self.levels, &page, count as usize, None)
                    .map_err(from_crate)?;
            let batch: Option<RecordBatch> =
                reader.next().transpose().map_err(|error| from_crate(ParquetError::from(error)))?;
            if let Some(array) = batch.as_ref().and_then(|batch| batch.columns().first()) {
                values::append(array, &mut column)?;
            }
        }
        if column.longest() > self.limits.record {
            return Err(record_too_long(self.limits.record));
        }
        let (spans, bytes, kind) = column.into_texts();
        // A float that is NaN has no text, and is not a key.
        let is_there = |span: &Span| span.range().end <= bytes.len();
        let nothing = Span::new(0..0)?;
        let texts: Vec<Span> =
            spans.iter().map(|span| if is_there(span) { *span } else { nothing }).collect();
        let keys = KeyDictionary::new(self.scheme, texts, bytes)?;
        Ok(TextDictionary { keys, spans, kind })
    }
}

/// The page of a dictionary, presented as the only data page of its column.
struct DictionaryAsRows<'a> {
    page: Bytes,
    count: u32,
    has_levels: bool,
    read_as: &'a PickedAs<'a>,
}

impl RowGroups for DictionaryAsRows<'_> {
    fn num_rows(&self) -> usize {
        self.count as usize
    }

    fn column_chunks(&self, _: usize) -> Result<Box<dyn PageIterator>, ParquetError> {
        let levels = if self.has_levels { all_present(self.count) } else { Vec::new() };
        let buf = if levels.is_empty() { self.page.clone() } else { [&levels, &*self.page].concat().into() };
        let page = Page::DataPage {
            buf,
            num_values: self.count,
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        Ok(Box::new(OnePage(Some(page))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(std::iter::once(self.read_as.group))
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.read_as.metadata
    }
}

/// Returns levels that mark all values as present: their length, and one run.
fn all_present(count: u32) -> Vec<u8> {
    let mut run = Vec::new();
    let mut head = u64::from(count) << 1;
    while head >= 0x80 {
        run.push(head as u8 | 0x80);
        head >>= 7;
    }
    run.extend_from_slice(&[head as u8, 1]);
    [&(run.len() as u32).to_le_bytes()[..], &run].concat()
}

/// The only page of the only chunk.
struct OnePage(Option<Page>);

impl Iterator for OnePage {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|page| Ok(Box::new(OnePageReader(Some(page))) as _))
    }
}

impl PageIterator for OnePage {}

struct OnePageReader(Option<Page>);

impl PageReader for OnePageReader {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        Ok(self.0.take())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        let about = |page: &Page| PageMetadata {
            num_rows: None,
            num_levels: Some(page.num_values() as usize),
            is_dict: false,
        };
        Ok(self.0.as_ref().map(about))
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.0 = None;
        Ok(())
    }
}

impl Iterator for OnePageReader {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}
