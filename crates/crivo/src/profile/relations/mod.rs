//! Which columns of a table go together?
//!
//! **Question.** Which columns of numbers rise and fall together, and which column decides the
//! value of another, as a country decides its currency?
//!
//! **Guarantee.** Both are answered from the drawn rows ([`DrawnRows`](super::detail::DrawnRows)),
//! the same rows in every column, so that a table of any length costs no more than a short one.
//! While all rows are drawn, answers are exact. Beyond that they are estimates with intervals at 95
//! %, of the rows in which both columns have a value.
//!
//! **Idea.** *Correlation* is Spearman's: that of the ranks. Ranks are bounded, so that what is
//! drawn stands for the rest. Its interval is made by leaving out one of 32 groups of rows after
//! another (the jackknife), on the scale of Fisher's z, and holds for ties and any distribution.
//!
//! *Pearson's correlation* of the numbers themselves is told beside it, with an interval made in
//! the same way. A single large number can decide it, and a sample may lack that number. The
//! variance of each column is known exactly, so that this is noticed: if the drawn rows lack more
//! of it than chance explains, Pearson's correlation is not told.
//!
//! *Dependency* of one column on another: the share of rows whose value is the most frequent one of
//! its group. One row of each group is not counted below, because a group of one row depends on
//! nothing. Dependencies that would be there by chance, because one value has nearly all rows, are
//! not told.
//!
//! **Limits.** Columns are compared in pairs, so that only the first [`MOST_NUMBERS`] columns of
//! numbers and the first [`MOST_CATEGORIES`] columns of few values are. [`Relations`] says how many
//! are left out.

mod correlation;
mod dependency;
mod pearson;

use super::detail::DrawnRow;
use super::{TableColumn, TableProfile};
use crate::estimate::Estimate;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The most columns of numbers that are compared.
pub const MOST_NUMBERS: usize = 32;
/// The most columns of few values that are compared.
pub const MOST_CATEGORIES: usize = 32;
/// A column has few values if it has at most this many different ones.
pub const FEW_VALUES: usize = 64;
/// With fewer rows in common, of all that there are, nothing is told of two columns.
const LEAST_SAMPLE: usize = 100;

/// What columns of a table have to do with each other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Relations {
    /// Pairs of columns of numbers whose ranks are correlated, the strongest first.
    pub correlations: Vec<Correlation>,
    /// How many columns of numbers were compared, and how many were not because there are too many.
    pub compared_numbers: (usize, usize),
    /// Columns that decide others, the surest first.
    pub dependencies: Vec<Dependency>,
    /// How many columns of few values were compared, and how many were not.
    pub compared_categories: (usize, usize),
}

/// Two columns of numbers, by their places in the table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// The first of them.
    pub left: usize,
    /// The other.
    pub right: usize,
    /// Spearman's correlation of the ranks, from −1 to 1.
    pub rank_correlation: Estimate,
    /// Pearson's correlation of the numbers, from −1 to 1. None if the drawn rows lack numbers that
    /// decide it.
    pub pearson: Option<Estimate>,
    /// How many rows both were computed from.
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
    /// How many rows it was computed from, and how many of them are exceptions.
    pub rows: usize,
    /// How many of them are exceptions.
    pub exceptions: usize,
}

impl TableProfile {
    /// Returns which columns go together; see the [module](self).
    pub fn relations(&self) -> Relations {
        let mut relations = Relations::default();
        correlation::find(self.columns(), &mut relations);
        dependency::find(self.columns(), &mut relations);
        relations
    }
}

/// The drawn rows of a column, with what each value became.
struct Drawn<T> {
    place: usize,
    /// The hash and the number of each row, in ascending order, and its value.
    rows: Vec<((u64, u64), T)>,
    /// All rows with a value up to this hash are drawn.
    limit: u64,
    /// Whether all rows with a value are drawn.
    are_all: bool,
}

impl<T: Copy> Drawn<T> {
    /// The drawn rows of a column, without those whose value is nothing.
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

    /// The values of rows that both columns have; none if they are too few to tell.
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
