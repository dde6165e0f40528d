//! Which columns of a table depend on each other?
//!
//! **Question.** Which columns of numbers rise and fall together? Which column decides the value of
//! another, as a country decides its currency?
//!
//! **Guarantee.** Both are computed from the drawn rows ([`DrawnRows`](super::detail::DrawnRows)),
//! which are the same rows in every column. So a long table costs no more than a short one. While
//! all rows are drawn, answers are exact. Beyond that they are estimates with intervals at 95 %,
//! for the rows in which both columns have a value.
//!
//! **Idea.** *Correlation* is Spearman's, the correlation of the ranks. Ranks are bounded, so the
//! drawn rows represent all rows well. Its interval is computed by leaving out one of 32 groups of
//! rows at a time (the jackknife), on the scale of Fisher's z. It holds for ties and any
//! distribution.
//!
//! *Pearson's correlation* of the numbers themselves is reported beside it, with an interval
//! computed in the same way. A single large number can decide it, and a sample may lack that
//! number. The variance of each column is known exactly, which reveals such a lack. If the drawn
//! rows lack more of the variance than chance explains, Pearson's correlation is not reported.
//!
//! *Dependency* of one column on another is the share of rows whose value is the most frequent one
//! of its group. For the lower bound, one row of each group is not counted, because a group of one
//! row proves nothing. Dependencies that would exist by chance, because one value has nearly all
//! rows, are not reported.
//!
//! **Limits.** Columns are compared in pairs. So only the first [`MOST_NUMBERS`] columns of numbers
//! and the first [`MOST_CATEGORIES`] columns of few values are compared. [`Relations`] has the
//! numbers of columns left out.

mod correlation;
mod dependency;
mod pearson;

use super::detail::DrawnRow;
use super::{TableColumn, TableProfile};
use crate::estimate::Estimate;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The largest number of columns of numbers that are compared.
pub const MOST_NUMBERS: usize = 32;
/// The largest number of columns of few values that are compared.
pub const MOST_CATEGORIES: usize = 32;
/// A column has few values if it has at most this many different ones.
pub const FEW_VALUES: usize = 64;
/// The least number of common rows for two columns to be compared, unless these are all rows.
const LEAST_SAMPLE: usize = 100;

/// The relations between the columns of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Relations {
    /// Pairs of columns of numbers whose ranks are correlated, the strongest first.
    pub correlations: Vec<Correlation>,
    /// The numbers of columns of numbers that were compared, and that were left out.
    pub compared_numbers: (usize, usize),
    /// Columns that decide others, the most certain first.
    pub dependencies: Vec<Dependency>,
    /// The numbers of columns of few values that were compared, and that were left out.
    pub compared_categories: (usize, usize),
}

/// Two columns of numbers, by their places in the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// The first column.
    pub left: usize,
    /// The second column.
    pub right: usize,
    /// Spearman's correlation of the ranks, from −1 to 1.
    pub rank_correlation: Estimate,
    /// Pearson's correlation of the numbers, from −1 to 1. `None` if the drawn rows lack numbers
    /// that decide it.
    pub pearson: Option<Estimate>,
    /// The number of rows from which both correlations were computed.
    pub rows: usize,
}

/// A column that decides another, by their places in the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependency {
    /// The column that decides.
    pub from: usize,
    /// The column that is decided.
    pub to: usize,
    /// The share of rows that have the most frequent value of their group.
    pub share: Estimate,
    /// The number of rows from which the share was computed.
    pub rows: usize,
    /// The number of these rows that are exceptions.
    pub exceptions: usize,
}

impl TableProfile {
    /// Returns the relations between the columns; see the [module](self).
    pub fn relations(&self) -> Relations {
        let mut relations = Relations::default();
        correlation::find(self.columns(), &mut relations);
        dependency::find(self.columns(), &mut relations);
        relations
    }
}

/// The drawn rows of a column, with the converted values.
struct Drawn<T> {
    place: usize,
    /// The hash, the number and the value of each row, in ascending order.
    rows: Vec<((u64, u64), T)>,
    /// All rows with a value and a hash up to this are drawn.
    limit: u64,
    /// True if all rows with a value are drawn.
    are_all: bool,
}

impl<T: Copy> Drawn<T> {
    /// Returns the drawn rows of a column, without the rows for which `value` returns `None`.
    fn new(
        place: usize,
        column: &TableColumn,
        mut value: impl FnMut(&DrawnRow) -> Option<T>,
    ) -> Option<Self> {
        let (rows, limit) = column.drawn()?.drawn();
        let are_all = rows.len() as u64 == column.data().profile.values();
        let rows = rows.iter().filter_map(|row| Some(((row.hash, row.row), value(row)?))).collect();
        Some(Self { place, rows, limit, are_all })
    }

    /// Returns the values of the rows that both columns have, or `None` if there are too few.
    fn paired<U: Copy>(&self, other: &Drawn<U>) -> Option<Vec<(T, U)>> {
        let limit = self.limit.min(other.limit);
        let mut theirs = other.rows.iter().peekable();
        let mut pairs = Vec::with_capacity(self.rows.len().min(other.rows.len()));
        for (row, value) in self.rows.iter().take_while(|((hash, _), _)| *hash <= limit) {
            while theirs.next_if(|(other, _)| other < row).is_some() {}
            if let Some((_, found)) = theirs.peek().filter(|(other, _)| other == row) {
                pairs.push((*value, *found));
            }
        }
        (pairs.len() >= LEAST_SAMPLE || self.are_all && other.are_all).then_some(pairs)
    }
}
