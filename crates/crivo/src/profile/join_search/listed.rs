//! The results of a search, with the best pairs listed.

use core::cmp::Ordering;

#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A column of one of several tables. Both numbers count from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnPlace {
    /// The number of the table, in the order in which tables were added.
    pub table: u32,
    /// The number of the column in its table.
    pub column: u32,
}

/// A pair of columns. The left one is of the earlier table.
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
    /// The best pairs first: pairs with a key, then pairs with the same name, then pairs with the
    /// largest common share.
    pub joins: Vec<FoundPair>,
    /// The number of pairs, listed or not.
    pub found: u64,
    /// The number of pairs that the samples cannot decide.
    pub undecided: u64,
    /// Some of the undecided pairs, those with common values first.
    pub undecided_pairs: Vec<FoundPair>,
}

/// The evidence by which pairs are sorted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rank {
    pub(super) has_key: bool,
    pub(super) is_named_alike: bool,
    /// The larger of the two shares.
    pub(super) share: f64,
    /// The number of sampled values that are common.
    pub(super) common: f64,
}

/// The best pairs so far, and the number of all pairs.
#[derive(Debug)]
pub(super) struct Best {
    most: usize,
    count: u64,
    pairs: Vec<(Rank, FoundPair)>,
    /// The worst pair that is still listed, once there were too many pairs.
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

    /// Returns the number of all pairs, and the best pairs, sorted.
    pub(super) fn finish(mut self) -> (u64, Vec<FoundPair>) {
        self.pairs.sort_unstable_by(in_front);
        self.pairs.truncate(self.most);
        (self.count, self.pairs.into_iter().map(|(_, pair)| pair).collect())
    }
}

/// Compares two pairs, the better one first. Places decide between equal ones, so that the list
/// does not depend on the order of the search.
fn in_front(one: &(Rank, FoundPair), other: &(Rank, FoundPair)) -> Ordering {
    let evidence = |rank: &Rank| (rank.common > 0.0, rank.has_key, rank.is_named_alike);
    let (a, b) = (&one.0, &other.0);
    evidence(b)
        .cmp(&evidence(a))
        .then(b.share.total_cmp(&a.share))
        .then(b.common.total_cmp(&a.common))
        .then(one.1.cmp(&other.1))
}
