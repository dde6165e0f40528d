//! Rows of counters: the table that the Count-Min sketches share.
//!
//! A table is `depth` rows of `width` counters, one row after the other in one array. A hash has
//! one counter in each row, `index(remix(hash, row), width)`. [`Rows`] is the shape alone, so that
//! one array can hold many tables. Counters saturate at their highest value and do not wrap around.
//! Saturated sums, like sums, do not depend on the order of additions and merges.

mod loops;

use std::ops::RangeInclusive;

use crate::codec::{Reader, Writer};
use crate::error::{Error, ErrorKind, Result};

/// The most rows of a table.
const MOST_ROWS: usize = 32;

/// The shape of a table: `depth` rows of `width` counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    pub(super) width: u32,
    pub(super) depth: u32,
}

impl Rows {
    /// The possible widths: up to 8 GiB for each row.
    pub(super) const WIDTHS: RangeInclusive<u32> = 1..=1 << 30;

    /// The possible depths. Beyond 32 rows the probability that all rows fail is below 10⁻¹⁴.
    pub(super) const DEPTHS: RangeInclusive<u32> = 1..=MOST_ROWS as u32;

    /// Creates a shape, if both sizes are in their range.
    pub(super) fn new(width: u32, depth: u32) -> Result<Self> {
        for (name, size, range) in [("width", width, Self::WIDTHS), ("depth", depth, Self::DEPTHS)] {
            if !range.contains(&size) {
                let (least, most) = range.into_inner();
                return Err(Error::parameter(name, format_args!("{least} to {most}"), size));
            }
        }
        Ok(Self { width, depth })
    }

    /// Returns how many counters a table has.
    pub(super) fn cells(self) -> u64 {
        u64::from(self.width) * u64::from(self.depth)
    }

    /// Returns the rows of a table.
    pub(super) fn of(self, table: &[u64]) -> impl Iterator<Item = &[u64]> {
        table.chunks_exact(self.width as usize)
    }

    pub(super) fn require_same(self, other: Self) -> Result<()> {
        for (field, mine, theirs) in [("width", self.width, other.width), ("depth", self.depth, other.depth)]
        {
            if mine != theirs {
                let advice = "counters of different tables do not correspond: build both with the same size";
                return Err(Error::incompatible(field, mine, theirs, advice));
            }
        }
        Ok(())
    }

    pub(super) fn write(self, writer: &mut Writer) {
        writer.u32(self.width);
        writer.u8(self.depth as u8);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let (width, depth) = (reader.u32("width")?, reader.u8("depth")?);
        Self::new(width, depth.into())
            .map_err(|error| Error::contents(error.field(), error.expected(), error.found()))
    }

    /// Returns an error for a table that additions could not have produced. Each addition raises
    /// one counter of every row by its weight. So each row adds up to the total, or to more if the
    /// total is saturated.
    pub(super) fn check_sums(self, table: &[u64], total: u64) -> Result<()> {
        match self.of(table).map(sum).find(|&sum| sum.min(u64::MAX.into()) != u128::from(total)) {
            None => Ok(()),
            Some(sum) => {
                let expected = format_args!("rows that add up to the total, {total}");
                Err(Error::contents("counters", expected, format_args!("a row of {sum}")))
            }
        }
    }
}

/// Adds each counter of `theirs` to its counterpart.
pub(super) fn add_tables(mine: &mut [u64], theirs: &[u64]) {
    for (mine, theirs) in mine.iter_mut().zip(theirs) {
        *mine = mine.saturating_add(*theirs);
    }
}

pub(super) fn sum(row: &[u64]) -> u128 {
    row.iter().map(|&counter| u128::from(counter)).sum()
}

/// Returns an error if there is not one weight for each key.
pub(super) fn require_weights(keys: usize, weights: &[u64]) -> Result<()> {
    if weights.len() == keys {
        return Ok(());
    }
    let expected = format_args!("{keys}, one for each key");
    Err(Error::new(ErrorKind::InvalidBatch, "weights", expected, weights.len(), ""))
}
