//! The results of a query.

use crate::estimate::{Confidence, Estimate};
use crate::similarity::min_hash::share_of_equal;

/// A set that is similar to the set of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Similar {
    pub(super) id: u64,
    pub(super) slots: EqualSlots,
}

/// Two sets that are similar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimilarPair {
    pub(super) ids: (u64, u64),
    pub(super) slots: EqualSlots,
}

/// How many slots of two signatures are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EqualSlots {
    pub(super) equal: u32,
    pub(super) k: u32,
}

impl EqualSlots {
    pub(super) fn similarity(self) -> f64 {
        f64::from(self.equal) / f64::from(self.k)
    }

    fn estimate_at(self, confidence: Confidence) -> Estimate {
        share_of_equal(self.equal, self.k, confidence)
    }
}

impl Similar {
    /// The id of the set.
    pub fn id(self) -> u64 {
        self.id
    }

    /// The estimated similarity: the share of equal slots.
    pub fn similarity(self) -> f64 {
        self.slots.similarity()
    }

    /// Returns the similarity with bounds at 95 %.
    pub fn estimate(self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// Returns the similarity with bounds at the given confidence.
    pub fn estimate_at(self, confidence: Confidence) -> Estimate {
        self.slots.estimate_at(confidence)
    }
}

impl SimilarPair {
    /// The ids of the two sets, the smaller one first.
    pub fn ids(self) -> (u64, u64) {
        self.ids
    }

    /// The estimated similarity: the share of equal slots.
    pub fn similarity(self) -> f64 {
        self.slots.similarity()
    }

    /// Returns the similarity with bounds at 95 %.
    pub fn estimate(self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// Returns the similarity with bounds at the given confidence.
    pub fn estimate_at(self, confidence: Confidence) -> Estimate {
        self.slots.estimate_at(confidence)
    }
}
