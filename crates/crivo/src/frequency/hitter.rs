//! A key with the bounds of its count.

use crate::estimate::Estimate;
use crate::keys::{KeyRef, OwnedKey};

/// A key that may be frequent, with bounds of its true count that no input can break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hitter {
    key: OwnedKey,
    lower: u64,
    upper: u64,
}

impl Hitter {
    pub(super) fn new(key: OwnedKey, lower: u64, upper: u64) -> Self {
        Self { key, lower, upper }
    }

    /// The key.
    pub fn key(&self) -> KeyRef<'_> {
        self.key.as_ref()
    }

    /// The key, given away.
    pub fn into_key(self) -> OwnedKey {
        self.key
    }

    /// The middle between the bounds, rounded down: no other answer can be wrong by less.
    pub fn count(&self) -> u64 {
        middle(self.lower, self.upper)
    }

    /// The key came at least so often.
    pub fn lower(&self) -> u64 {
        self.lower
    }

    /// The key came at most so often; [`u64::MAX`] stands for any number above it too.
    pub fn upper(&self) -> u64 {
        self.upper
    }

    /// Returns true if the count is exact.
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper && self.upper < u64::MAX
    }

    /// The count as an answer like any other.
    pub fn estimate(&self) -> Estimate {
        certain(self.count(), self.lower, self.upper)
    }
}

pub(super) fn middle(lower: u64, upper: u64) -> u64 {
    lower + (upper - lower) / 2
}

/// Whole numbers as a certain estimate: where floats are too coarse for them the bounds are rounded
/// outwards, and an upper bound of [`u64::MAX`], which is where counts stop, is none.
pub(crate) fn certain(value: u64, lower: u64, upper: u64) -> Estimate {
    let below = |count: u64| {
        let float = count as f64;
        if float as u128 > u128::from(count) { float.next_down() } else { float }
    };
    let above = |count: u64| {
        let float = count as f64;
        if (float as u128) < u128::from(count) { float.next_up() } else { float }
    };
    let upper = if upper == u64::MAX { f64::INFINITY } else { above(upper) };
    Estimate::certain(value as f64, below(lower), upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_floats_cannot_hold_are_rounded_outwards() {
        for count in [(1 << 53) + 1, (1 << 60) + 1, (1 << 60) - 1, u64::MAX - 1] {
            let estimate = certain(count, count, count);
            assert!(estimate.lower() as u128 <= u128::from(count), "{count}");
            assert!(estimate.upper() as u128 >= u128::from(count), "{count}");
        }
        assert!(certain(3, 3, 3).is_exact());
        assert_eq!(certain(u64::MAX, 1, u64::MAX).upper(), f64::INFINITY);
    }

    #[test]
    fn the_middle_does_not_overflow() {
        assert_eq!(middle(u64::MAX - 1, u64::MAX), u64::MAX - 1);
        assert_eq!(middle(2, 5), 3);
    }
}
