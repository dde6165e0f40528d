//! The parts of a saved column profile beyond its [`ProfiledColumn`](super::ProfiledColumn): sums
//! of powers, dates, and the values of drawn rows.
//!
//! [`TableColumn`](super::TableColumn) computes these answers from them:
//! [`spread`](super::TableColumn::spread), [`dates`](super::TableColumn::dates),
//! [`patterns`](super::TableColumn::patterns), and with other columns
//! [`relations`](super::relations).

mod date_format;
mod dates;
mod drawn;
mod moments;
mod whole;
mod wide_sum;

pub use self::date_format::DateFormat;
use self::dates::Dates;
pub use self::dates::{DateFacts, DateGaps};
pub use self::drawn::{DrawnRow, DrawnRows, RowDraw};
use self::moments::Moments;
pub use self::moments::Spread;
use super::ColumnProfile;
use super::column_profile::Parsed;
use crate::codec::{Reader, Writer};
use crate::error::{Error, Result};
use crate::keys::KeyBatch;

/// The sizes of the detail of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetailSizes {
    /// The largest number of drawn rows.
    pub drawn: u32,
    /// The largest number of days from the first to the last for which gaps are known; a multiple
    /// of 64.
    pub days: u32,
}

impl DetailSizes {
    /// Returns the largest useful sizes that together take at most `bytes`, with at least 16 drawn
    /// rows.
    pub(super) fn for_memory(bytes: usize) -> Self {
        let days = if bytes >= 64 << 10 { 36_864 } else { 4_096 };
        let left = bytes.saturating_sub(FIXED + Dates::most_memory(days));
        Self { drawn: (left / DrawnRows::BYTES_EACH).clamp(16, 1024) as u32, days }
    }

    /// Returns the most memory that detail of these sizes takes, whatever the values are.
    pub(super) fn most_memory(self) -> usize {
        FIXED + Dates::most_memory(self.days) + self.drawn as usize * DrawnRows::BYTES_EACH
    }
}

/// The memory of the parts of fixed size. It is the same on every machine, because it decides sizes
/// that are stored.
const FIXED: usize = 464 + Moments::MOST_MEMORY;
const _: () = assert!(size_of::<ColumnDetail>() + Moments::MOST_MEMORY <= FIXED);

/// The detail of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ColumnDetail {
    moments: Moments,
    dates: Dates,
    pub(super) drawn: DrawnRows,
}

impl ColumnDetail {
    pub(super) fn new(sizes: DetailSizes) -> Self {
        Self {
            moments: Moments::default(),
            dates: Dates::new(sizes.days),
            drawn: DrawnRows::new(sizes.drawn),
        }
    }

    /// Adds a finite number.
    #[inline]
    pub(super) fn add_number(&mut self, number: f64, weight: u64) {
        self.moments.add(number, weight);
    }

    /// Adds finite numbers, each once.
    pub(super) fn add_numbers(&mut self, numbers: &[f64]) {
        self.moments.add_all(numbers);
    }

    /// Adds a value to the dates, if it is one.
    #[inline]
    pub(super) fn add_value(&mut self, text: &[u8], parsed: Parsed, weight: u64) {
        self.dates.add(text, parsed, weight);
    }

    /// Draws rows of a batch. The values of the batch must be in the detail and in the profile
    /// already.
    pub(super) fn insert_rows(
        &mut self,
        batch: &KeyBatch<'_>,
        profile: &ColumnProfile,
        draw: RowDraw,
        row: impl Fn(usize) -> u64,
    ) {
        self.drawn.insert_batch(batch, draw, row);
        if profile.numbers().is_saturated() {
            self.moments.clear();
        }
    }

    pub(super) fn renumber(&mut self, number: impl Fn(u64) -> u64) {
        self.drawn.renumber(number);
    }

    /// Refuses detail of other sizes.
    pub(super) fn require_same(&self, other: &Self) -> Result<()> {
        let advice = "only profiles of the same sizes can be merged: give both the same --memory";
        let sizes = [
            ("drawn rows", self.drawn.k(), other.drawn.k()),
            ("span of days", self.dates.span(), other.dates.span()),
        ];
        match sizes.into_iter().find(|(_, mine, theirs)| mine != theirs) {
            Some((field, mine, theirs)) => Err(Error::incompatible(field, mine, theirs, advice)),
            None => Ok(()),
        }
    }

    /// Merges the detail of another part of the same column.
    pub(super) fn merge(&mut self, other: &Self, profile: &ColumnProfile) {
        self.moments.merge(&other.moments);
        self.dates.merge(&other.dates);
        self.drawn.merge(&other.drawn);
        if profile.numbers().is_saturated() {
            self.moments.clear();
        }
    }

    /// Returns the standard deviation and the skew of the column's numbers.
    pub(super) fn spread(&self, profile: &ColumnProfile) -> Spread {
        let numbers = profile.numbers();
        numbers.exact_sum(0).map_or_else(Spread::default, |sum| self.moments.spread(&sum, numbers.count()))
    }

    pub(super) fn dates(&self, profile: &ColumnProfile) -> Option<DateFacts> {
        self.dates.facts(profile.values())
    }

    pub(super) fn memory(&self) -> usize {
        size_of::<Self>() + self.moments.memory() + self.dates.memory() + self.drawn.memory()
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        self.moments.encode(writer);
        self.dates.encode(writer);
        self.drawn.encode(writer);
    }

    /// Reads the detail of a column with this profile, whose table has row numbers up to
    /// `last_row`.
    pub(super) fn decode(profile: &ColumnProfile, last_row: u64, reader: &mut Reader<'_>) -> Result<Self> {
        let moments = Moments::decode(reader)?;
        let numbers = profile.numbers();
        let is_possible = match numbers.exact_sum(0) {
            Some(sum) => moments.are_possible(&sum, numbers.count()),
            None => moments == Moments::default(),
        };
        if !is_possible {
            return Err(Error::contents("sum of squares", "one that the numbers can have", "another"));
        }
        let (dates, drawn) = (Dates::decode(reader)?, DrawnRows::decode(profile.values(), last_row, reader)?);
        Ok(Self { moments, dates, drawn })
    }
}
