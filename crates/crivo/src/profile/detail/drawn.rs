//! A sample of rows with their values. The same rows are drawn in every column of a table.
//!
//! Whether a row is drawn depends only on a hash of its number and of a salt, and on nothing in the
//! column. So all columns draw the same rows although each is read by itself, and two columns can
//! be compared row by row afterwards. Correlation, dependencies and the patterns of texts are
//! computed from these rows, with the bounds that a uniform sample gives. Rows without a value are
//! not kept. So the rows that two columns both have drawn are a uniform sample of the rows in which
//! both have a value.
//!
//! Merging keeps the rows with the smallest hashes of both parts. Parts with the same row numbers
//! would draw the same positions of each, which is a poor sample of files with the same order. The
//! salt is computed from values, so that the parts draw differently.

use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
use crate::hash::split_mix::mix;
use crate::keys::{KeyBatch, KeyKind, KeyRef};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The rows with the smallest hashes, each with its value.
#[derive(Debug, Clone)]
pub struct DrawnRows {
    k: u32,
    /// Every row so far with a hash of at most this is in `rows`.
    threshold: u64,
    rows: Vec<DrawnRow>,
}

/// A drawn row and its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct DrawnRow {
    /// The hash by which the row was drawn.
    pub(crate) hash: u64,
    /// The number of the row.
    pub row: u64,
    /// The value, cut to [`DrawnRows::LONGEST`] bytes.
    pub text: Box<[u8]>,
}

/// Decides which rows of a batch are drawn. It is the same for all columns of a table.
///
/// ```
/// use crivo::profile::RowDraw;
/// let of_these_rows = RowDraw::of_rows(7, 1..=1024);
/// # let _ = of_these_rows;
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RowDraw {
    salt: u64,
    /// No row has a smaller hash, so columns that draw none of the rows need not check them.
    least: u64,
}

impl RowDraw {
    /// Returns the draw of any rows with a salt.
    pub fn new(salt: u64) -> Self {
        Self { salt: mix(salt), least: 0 }
    }

    /// Returns the draw of these rows with a salt.
    pub fn of_rows(salt: u64, rows: impl IntoIterator<Item = u64>) -> Self {
        let draw = Self::new(salt);
        let least = rows.into_iter().map(|row| draw.hash(row)).min().unwrap_or(0);
        Self { least, ..draw }
    }

    #[inline]
    fn hash(self, row: u64) -> u64 {
        mix(row ^ self.salt)
    }
}

/// The most bytes of a row without its text: a hash, a number, and the pointer to the text.
const ROW: usize = 32;
const _: () = assert!(size_of::<DrawnRow>() <= ROW);

impl DrawnRows {
    /// The number of bytes of a value that are kept.
    pub const LONGEST: usize = 48;

    /// The largest number of rows that can be kept.
    pub(super) const MOST: u32 = 1 << 20;

    /// The most bytes for each row, including the overhead of allocating its text, and a quarter
    /// more while collecting. It is the same on every machine, because it decides how many rows are
    /// kept.
    pub(super) const BYTES_EACH: usize = (ROW + Self::LONGEST + 16) * 5 / 4;

    pub(super) fn new(k: u32) -> Self {
        Self { k: k.clamp(1, Self::MOST), threshold: u64::MAX, rows: Vec::new() }
    }

    /// Adds the values of a batch. `row` returns the row of a value by its index in the batch.
    #[inline]
    pub(super) fn insert_batch(&mut self, batch: &KeyBatch<'_>, draw: RowDraw, row: impl Fn(usize) -> u64) {
        if draw.least > self.threshold {
            return;
        }
        for at in 0..batch.len() {
            let number = row(at);
            let hash = draw.hash(number);
            if hash <= self.threshold
                && let Some(KeyRef::Bytes(text)) = batch.get(at)
            {
                self.admit(DrawnRow {
                    hash,
                    row: number,
                    text: text[..text.len().min(Self::LONGEST)].into(),
                });
            }
        }
    }

    #[cold]
    fn admit(&mut self, row: DrawnRow) {
        let most = self.k as usize * 5 / 4 + 1;
        if self.rows.len() == self.rows.capacity() {
            self.rows.reserve_exact(self.rows.len().clamp(4, (most - self.rows.len()).max(4)));
        }
        self.rows.push(row);
        if self.rows.len() >= most {
            self.keep_smallest();
        }
    }

    fn keep_smallest(&mut self) {
        let k = self.k as usize;
        if self.rows.len() > k {
            let (_, largest, _) = self.rows.select_nth_unstable(k - 1);
            self.threshold = largest.hash;
            self.rows.truncate(k);
        }
    }

    /// Gives every row another number.
    pub(super) fn renumber(&mut self, number: impl Fn(u64) -> u64) {
        self.rows.iter_mut().for_each(|drawn| drawn.row = number(drawn.row));
    }

    pub(super) fn merge(&mut self, other: &Self) {
        // If more rows were collected than are drawn, the row numbers decide between equal hashes.
        // Renumbering could change them, so reduce both sides to the drawn rows first.
        self.keep_smallest();
        self.rows.reserve_exact(other.rows.len());
        self.rows.extend(other.drawn().0.iter().cloned());
        self.threshold = self.threshold.min(other.threshold);
        self.keep_smallest();
        self.rows.shrink_to(self.k as usize * 5 / 4 + 1);
    }

    /// The largest number of rows that are drawn.
    pub fn k(&self) -> u32 {
        self.k
    }

    /// Returns the drawn rows in the order of their hashes, and the largest hash up to which all
    /// rows are drawn. This is [`u64::MAX`] as long as all rows with a value are drawn.
    pub(crate) fn drawn(&self) -> (Vec<DrawnRow>, u64) {
        let mut rows = self.rows.clone();
        rows.sort_unstable();
        let is_full = rows.len() > self.k as usize || self.threshold < u64::MAX;
        rows.truncate(self.k as usize);
        let limit = if is_full { rows.last().map_or(u64::MAX, |row| row.hash) } else { u64::MAX };
        (rows, limit)
    }

    /// Returns the drawn rows with their values. Their order has no meaning.
    pub fn rows(&self) -> Vec<DrawnRow> {
        self.drawn().0
    }

    pub(super) fn memory(&self) -> usize {
        self.rows.capacity() * size_of::<DrawnRow>()
            + self.rows.iter().map(|row| row.text.len() + 16).sum::<usize>()
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        let (rows, limit) = self.drawn();
        writer.u32(self.k);
        writer.u8(u8::from(limit < u64::MAX));
        writer.u32(rows.len() as u32);
        for DrawnRow { hash, row, text } in &rows {
            writer.u64(*hash);
            writer.u64(*row);
            writer.key(KeyRef::Bytes(text));
        }
    }

    /// Reads the drawn rows of a column with this many values, whose table has row numbers up to
    /// `last_row`.
    pub(super) fn decode(values: u64, last_row: u64, reader: &mut Reader<'_>) -> Result<Self> {
        let (k, is_full, count) =
            (reader.u32("drawn rows")?, reader.u8("drawn rows")?, reader.u32("drawn rows")?);
        if k == 0 || k > Self::MOST || is_full > 1 {
            return Err(Error::contents("drawn rows", format_args!("1 to {}", Self::MOST), k));
        }
        // All values are drawn, or as many as the sample can have.
        let expected = if is_full == 1 { k.into() } else { values };
        if u64::from(count) != expected || values < expected || is_full == 0 && count > k {
            return Err(Error::contents("drawn rows", expected, count));
        }
        let mut rows: Vec<DrawnRow> = Vec::with_capacity((count as usize).min(reader.left() / 17));
        for _ in 0..count {
            let (hash, row) = (reader.u64("drawn rows")?, reader.u64("drawn rows")?);
            let KeyRef::Bytes(text) = reader.key("drawn rows", KeyKind::Bytes)? else {
                return Err(Error::contents("drawn rows", KeyKind::Bytes, "another kind of key"));
            };
            let next = DrawnRow { hash, row, text: text.into() };
            let follows = rows.last().is_none_or(|last| *last <= next);
            if !follows || !(1..=last_row).contains(&row) || text.len() > Self::LONGEST {
                let expected = format!("rows 1 to {last_row} in ascending order, with short texts");
                return Err(Error::contents("drawn rows", expected, format_args!("row {row}")));
            }
            rows.push(next);
        }
        let threshold = if is_full == 1 { rows.last().map_or(u64::MAX, |row| row.hash) } else { u64::MAX };
        if is_full == 1 && threshold == u64::MAX {
            return Err(Error::contents("drawn rows", "a smaller largest hash", threshold));
        }
        Ok(Self { k, threshold, rows })
    }
}

impl PartialEq for DrawnRows {
    fn eq(&self, other: &Self) -> bool {
        self.k == other.k && self.drawn() == other.drawn()
    }
}
