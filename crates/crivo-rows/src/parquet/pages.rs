//! Reads the pages of a column chunk. Each page is checked before memory is allocated for it.
//!
//! The numbers in a page's header decide how much the Parquet crate allocates and how many rows it
//! returns. So every header is compared with the declarations of the chunk, with the available
//! bytes, and with the headers before it.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, Type};
use parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::metadata::ColumnChunkMetaData;

use super::stored::Stored;
use super::{codec, delta, told};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::thrift::{Fault, PageHead, Version2};
use crate::foreign::{self, Limits};

/// The number of bytes that are read for a page's header at first. More are read if it is longer.
const HEAD: usize = 256;
const LONGEST_HEAD: usize = 16 << 20;
/// The most bytes for the values of one batch. One long value of a dictionary can occur in every
/// row.
const BATCH_BYTES: usize = 64 << 20;

/// Keeps an error of this crate, because the Parquet crate passes on only its text.
#[derive(Debug, Clone, Default)]
pub(super) struct FailureSlot(Arc<Mutex<Option<Error>>>);

impl FailureSlot {
    /// Keeps the error, and returns an error with its text for the Parquet crate.
    pub(super) fn put(&self, error: Error) -> ParquetError {
        let told = ParquetError::General(error.to_string());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        told
    }

    /// Returns the error that was kept.
    pub(super) fn take(&self) -> Option<Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// An error that requests batches of fewer rows, because values are long or may be.
#[derive(Debug)]
pub(super) struct SmallerBatches(pub(super) usize);

impl fmt::Display for SmallerBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "batches of {} rows are needed", self.0)
    }
}

impl std::error::Error for SmallerBatches {}

/// Returns the most rows of a batch whose values have at most this length.
pub(super) fn rows_for(longest: usize, wanted: usize) -> usize {
    (BATCH_BYTES / longest.max(1)).clamp(1, wanted)
}

/// The pages of one column chunk.
pub(super) struct ColumnPages {
    stored: Arc<Stored>,
    codec: Compression,
    kind: Type,
    /// The bytes of a value, if all values have the same length.
    width: Option<usize>,
    /// Whether every value is one row.
    is_flat: bool,
    /// Whether every row has a value.
    is_required: bool,
    /// Where the next page begins, and where the chunk ends.
    at: u64,
    end: u64,
    /// The number of values that the chunk declares, and the number in its pages so far.
    declared: u64,
    seen: u64,
    has_dictionary: bool,
    /// The header of the next page, if it is already read.
    head: Option<PageHead>,
    batch_rows: usize,
    limits: Limits,
    failure: FailureSlot,
}

impl ColumnPages {
    /// Returns the pages of a chunk. Its place in the file must have been checked.
    pub(super) fn new(
        stored: &Arc<Stored>,
        chunk: &ColumnChunkMetaData,
        (at, end): (u64, u64),
        (batch_rows, limits): (usize, Limits),
        failure: FailureSlot,
    ) -> Self {
        let column = chunk.column_descr();
        Self {
            stored: Arc::clone(stored),
            codec: chunk.compression(),
            kind: chunk.column_type(),
            width: width_of(chunk.column_type(), column.type_length()),
            is_flat: column.max_rep_level() == 0,
            is_required: column.max_def_level() == 0,
            at,
            end,
            declared: chunk.num_values().max(0) as u64,
            seen: 0,
            has_dictionary: false,
            head: None,
            batch_rows,
            limits,
            failure,
        }
    }

    /// Reads the headers of all pages, but no data. Checks that the chunk has as many values as it
    /// declares.
    pub(super) fn check_heads(&mut self) -> Result<()> {
        while let Some(head) = self.next_head()? {
            self.check(&head)?;
            self.pass(&head);
        }
        self.check_end()
    }

    /// Returns the header of the next page, or `None` at the end of the chunk.
    fn next_head(&mut self) -> Result<Option<PageHead>> {
        if let Some(head) = self.head.take() {
            return Ok(Some(head));
        }
        while self.at < self.end {
            let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
            let mut small = [0; HEAD];
            let part = HEAD.min(left);
            let mut read = PageHead::read(self.stored.peek_at(self.at, &mut small[..part])?);
            let mut length = HEAD;
            while read == Err(Fault::Short) && length < left && length < LONGEST_HEAD {
                length *= 16;
                read = PageHead::read(&self.stored.bytes_at(self.at, length.min(left))?);
            }
            let head = read.map_err(|_| damaged("the head of a page is wrong"))?;
            self.at += head.length as u64;
            let left = self.end - self.at;
            if u64::try_from(head.compressed).is_err() || head.compressed as u64 > left {
                return Err(damaged("a page is longer than its column"));
            }
            if head.kind != PageHead::INDEX {
                return Ok(Some(head));
            }
            self.at += head.compressed as u64;
        }
        Ok(None)
    }

    /// Compares a header with the chunk, and with the pages before it.
    fn check(&mut self, head: &PageHead) -> Result<()> {
        let (Ok(compressed), Ok(uncompressed), Ok(values)) = (
            usize::try_from(head.compressed),
            usize::try_from(head.uncompressed),
            u64::try_from(head.values),
        ) else {
            return Err(damaged("a page declares a negative size"));
        };
        if !head.is_whole {
            return Err(damaged("the head of a page is wrong"));
        }
        if !codec::is_possible(self.codec, compressed, uncompressed) {
            return Err(damaged(format_args!("a page of {compressed} bytes declares {uncompressed}")));
        }
        if head.kind == PageHead::DICTIONARY {
            return self.check_dictionary(uncompressed, values);
        }
        if values > self.declared - self.seen {
            return Err(damaged(format_args!(
                "its pages have more than the {} values it declares",
                self.declared
            )));
        }
        self.seen += values;
        let plain_bytes = self.width.map_or(0, |width| values * width as u64);
        if self.is_required && self.is_flat && head.encoding == 0 && plain_bytes > uncompressed as u64 {
            return Err(damaged(format_args!("a page of {uncompressed} bytes declares {values} values")));
        }
        if let Some(second) = head.version_2 {
            self.check_version_2(second, head)?;
        }
        // A value that shares its prefix with the value before has an unknown length until it is
        // decoded.
        if encoding_of(head.encoding) == Some(Encoding::DELTA_BYTE_ARRAY) {
            self.require_rows_for(uncompressed)?;
        }
        Ok(())
    }

    fn check_dictionary(&mut self, uncompressed: usize, values: u64) -> Result<()> {
        if std::mem::replace(&mut self.has_dictionary, true) || self.seen > 0 {
            return Err(damaged("a dictionary is not at its beginning"));
        }
        // A text takes four bytes for its length alone.
        let least = self.width.unwrap_or(4) as u64;
        if values.saturating_mul(least) > uncompressed as u64 && self.kind != Type::BOOLEAN {
            return Err(damaged(format_args!(
                "a dictionary of {uncompressed} bytes declares {values} values"
            )));
        }
        Ok(())
    }

    fn check_version_2(&self, second: Version2, head: &PageHead) -> Result<()> {
        let levels = i64::from(second.definition_bytes) + i64::from(second.repetition_bytes);
        let is_wrong = second.definition_bytes < 0
            || second.repetition_bytes < 0
            || levels > i64::from(head.uncompressed.min(head.compressed))
            || !(0..=head.values).contains(&second.nulls)
            || !(0..=head.values).contains(&second.rows)
            || self.is_flat && second.rows != head.values;
        if is_wrong { Err(damaged("the parts of a page do not fit it")) } else { Ok(()) }
    }

    /// Requests smaller batches if values of this length would make a batch too large.
    fn require_rows_for(&self, longest: usize) -> Result<()> {
        match rows_for(longest, self.batch_rows) {
            rows if rows < self.batch_rows => Err(Error::other(SmallerBatches(rows))),
            _ => Ok(()),
        }
    }

    fn check_end(&self) -> Result<()> {
        if self.seen == self.declared {
            return Ok(());
        }
        Err(damaged(format_args!("it declares {} values, and its pages have {}", self.declared, self.seen)))
    }

    fn pass(&mut self, head: &PageHead) {
        self.at += head.compressed as u64;
    }

    /// Reads and decompresses the next page.
    fn read_page(&mut self) -> Result<Option<Page>> {
        let Some(head) = self.next_head()? else { return self.check_end().map(|()| None) };
        self.check(&head)?;
        let (uncompressed, compressed) = (head.uncompressed as usize, head.compressed as usize);
        // The crate allocates the values and their positions.
        foreign::require_memory(uncompressed.saturating_mul(3))?;
        let stored = self.stored.bytes_at(self.at, compressed)?;
        self.pass(&head);
        let page = self.decompressed(&head, stored)?;
        let encoding = encoding_of(head.encoding).ok_or_else(|| damaged("a page has an unknown encoding"))?;
        let num_values = head.values as u32;
        self.check_lengths(&head, encoding, &page)?;
        Ok(Some(match (head.kind, head.version_2) {
            (PageHead::DICTIONARY, _) => {
                if self.kind == Type::BYTE_ARRAY {
                    let longest = longest_text(&page, num_values);
                    if longest > self.limits.record {
                        return Err(foreign::record_too_long(self.limits.record));
                    }
                    self.require_rows_for(longest)?;
                }
                Page::DictionaryPage { buf: page, num_values, encoding, is_sorted: false }
            }
            (PageHead::DATA_2, Some(second)) => Page::DataPageV2 {
                buf: page,
                num_values,
                encoding,
                num_nulls: second.nulls as u32,
                num_rows: second.rows as u32,
                def_levels_byte_len: second.definition_bytes as u32,
                rep_levels_byte_len: second.repetition_bytes as u32,
                is_compressed: second.is_compressed,
                statistics: None,
            },
            (PageHead::DATA, _) => {
                let level =
                    |number| encoding_of(number).ok_or_else(|| damaged("a page has an unknown encoding"));
                Page::DataPage {
                    buf: page,
                    num_values,
                    encoding,
                    def_level_encoding: level(head.definition_encoding)?,
                    rep_level_encoding: level(head.repetition_encoding)?,
                    statistics: None,
                }
            }
            _ => return Err(damaged("a page is of no known kind")),
        }))
    }

    /// Checks the lengths of texts before the crate allocates memory for the declared number of
    /// them.
    fn check_lengths(&self, head: &PageHead, encoding: Encoding, page: &[u8]) -> Result<()> {
        let streams = match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
            Encoding::DELTA_BYTE_ARRAY => 2,
            _ => return Ok(()),
        };
        let most = head.values.max(0) as u64;
        // A page without values has no lengths.
        let fits = self
            .values_of(head, page)
            .is_some_and(|values| values.is_empty() || delta::has_at_most(values, streams, most));
        let memory = usize::try_from(most).unwrap_or(usize::MAX).saturating_mul(8);
        if !fits || memory > self.limits.held {
            return Err(damaged(format_args!("a page of {} bytes does not have {most} lengths", page.len())));
        }
        foreign::require_memory(memory)
    }

    /// Returns the values of a page, which come after its levels.
    fn values_of<'p>(&self, head: &PageHead, page: &'p [u8]) -> Option<&'p [u8]> {
        if let Some(second) = head.version_2 {
            return page.get((second.definition_bytes + second.repetition_bytes) as usize..);
        }
        let levels =
            [(!self.is_flat, head.repetition_encoding), (!self.is_required, head.definition_encoding)];
        levels.iter().filter(|(has_levels, _)| *has_levels).try_fold(page, |page, (_, number)| {
            // Levels of the older encoding have no length. No program writes them in a page with
            // delta encoding.
            let (length, rest) =
                page.split_first_chunk::<4>().filter(|_| encoding_of(*number) == Some(Encoding::RLE))?;
            rest.get(u32::from_le_bytes(*length) as usize..)
        })
    }

    /// Decompresses a page. The levels of version 2 are never compressed.
    fn decompressed(&self, head: &PageHead, page: Bytes) -> Result<Bytes> {
        let uncompressed = head.uncompressed as usize;
        let levels = head.version_2.map_or(0, |v2| (v2.definition_bytes + v2.repetition_bytes) as usize);
        let is_plain =
            self.codec == Compression::UNCOMPRESSED || head.version_2.is_some_and(|v2| !v2.is_compressed);
        if is_plain {
            return Ok(page);
        }
        let mut whole = foreign::buffer(uncompressed)?;
        whole.extend_from_slice(&page[..levels]);
        // A page without values may have no data at all.
        if uncompressed > levels {
            codec::decompress(self.codec, &page[levels..], uncompressed - levels, &mut whole)?;
        }
        Ok(whole.into())
    }

    fn peek(&mut self) -> Result<Option<PageMetadata>> {
        let Some(head) = self.next_head()? else { return Ok(None) };
        let is_dict = head.kind == PageHead::DICTIONARY;
        let num_levels = usize::try_from(head.values).ok().filter(|_| !is_dict);
        let num_rows = head.version_2.and_then(|second| usize::try_from(second.rows).ok());
        self.head = Some(head);
        Ok(Some(PageMetadata { num_rows, num_levels, is_dict }))
    }

    fn skip(&mut self) -> Result<()> {
        if let Some(head) = self.next_head()? {
            self.check(&head)?;
            self.pass(&head);
        }
        Ok(())
    }
}

impl PageReader for ColumnPages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        self.read_page().map_err(|error| self.failure.put(error))
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        self.peek().map_err(|error| self.failure.put(error))
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.skip().map_err(|error| self.failure.put(error))
    }
}

impl Iterator for ColumnPages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

/// The only chunk that a reader of one row group requests.
pub(super) struct OneChunk(pub(super) Option<ColumnPages>);

impl Iterator for OneChunk {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|pages| Ok(Box::new(pages) as _))
    }
}

impl PageIterator for OneChunk {}

#[cold]
fn damaged(what: impl fmt::Display) -> Error {
    Error::new(ErrorKind::Damaged, told(what))
}

/// Returns the length of a value in bytes, if the type determines it.
fn width_of(kind: Type, length: i32) -> Option<usize> {
    match kind {
        Type::INT32 | Type::FLOAT => Some(4),
        Type::INT64 | Type::DOUBLE => Some(8),
        Type::INT96 => Some(12),
        Type::FIXED_LEN_BYTE_ARRAY => usize::try_from(length).ok(),
        Type::BYTE_ARRAY | Type::BOOLEAN => None,
    }
}

/// Returns the length of the longest text of a dictionary. Each text has a prefix of four bytes
/// with its length.
fn longest_text(mut page: &[u8], count: u32) -> usize {
    let mut longest = 0;
    for _ in 0..count {
        let Some((length, rest)) = page.split_first_chunk::<4>() else { break };
        let length = u32::from_le_bytes(*length) as usize;
        let Some(rest) = rest.get(length..) else { break };
        longest = longest.max(length);
        page = rest;
    }
    longest
}

fn encoding_of(number: i32) -> Option<Encoding> {
    Some(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        #[allow(deprecated)] // old files have it
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return None,
    })
}
