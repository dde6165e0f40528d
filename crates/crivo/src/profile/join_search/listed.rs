//! What a search found, the best pairs of it.

use core::cmp::Ordering;

#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A column of one of several tables, both counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnPlace {
    /// The number of the table, in the order they were added.
    pub table: u32,
    /// The number of the column in its table.
    pub column: u32,
}

/// Two columns, the left one of the earlier table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FoundPair {
    /// A column.
    pub left: ColumnPlace,
    /// A column of another table.
    pub right: ColumnPlace,
}

/// The pairs of columns that could join.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundJoins {
    /// The best pairs first: those with a key, then those of one name, then those that share most.
    pub joins: Vec<FoundPair>,
    /// How many pairs there are, listed or not.
    pub found: u64,
    /// How many pairs the samples cannot tell of.
    pub undecided: u64,
    /// Some of them, those with common values first.
    pub undecided_pairs: Vec<FoundPair>,
}

/// How far in front a pair is listed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rank {
    pub(super) has_key: bool,
    pub(super) is_named_alike: bool,
    /// The larger of the two shares.
    pub(super) share: f64,
    /// How many of the sampled values are common.
    pub(super) common: f64,
}

/// The best pairs so far, and the number of all.
#[derive(Debug)]
pub(super) struct Best {
    most: usize,
    count: u64,
    pairs: Vec<(Rank, FoundPair)>,
    /// The least that a pair must be to be listed, once there were too many.
    worst: Option<(Rank, FoundPair)>,
}

impl Best {
    pub(super) fn new(most: usize) -> Self {
        Self { most, count: 0, pairs: Vec::new(), worst: None }
    }

    pub(super) fn push(&mut self, pair: FoundPair, rank: impl FnOnce() -> Rank) {
        self.count += 1;
        let ranked = (rank(), pair);
        if self.most == 0 || self.worst.is_some_and(|worst| in_front(&worst, &ranked) == Ordering::Less) {
            return;
        }
        self.pairs.push(ranked);
        if self.pairs.len() >= 2 * self.most {
            let (_, worst, _) = self.pairs.select_nth_unstable_by(self.most - 1, in_front);
            self.worst = Some(*worst);
            self.pairs.truncate(self.most);
        }
    }

    /// Returns the number of all pairs and the best of them, sorted.
    pub(super) fn finish(mut self) -> (u64, Vec<FoundPair>) {
        self.pairs.sort_unstable_by(in_front);
        self.pairs.truncate(self.most);
        (self.count, self.pairs.into_iter().map(|(_, pair)| pair).collect())
    }
}

/// The order of pairs. Places decide between equal ones, so that the list does not depend on the
/// order of the search.
fn in_front(one: &(Rank, FoundPair), other: &(Rank, FoundPair)) -> Ordering {
    let evidence = |rank: &Rank| (rank.common > 0.0, rank.has_key, rank.is_named_alike);
    let (a, b) = (&one.0, &other.0);
    evidence(b)
        .cmp(&evidence(a))
        .then(b.share.total_cmp(&a.share))
        .then(b.common.total_cmp(&a.common))
        .then(one.1.cmp(&other.1))
}
