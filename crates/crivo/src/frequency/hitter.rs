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

    /// Returns the key.
    pub fn key(&self) -> KeyRef<'_> {
        self.key.as_ref()
    }

    /// Returns the key, owned.
    pub fn into_key(self) -> OwnedKey {
        self.key
    }

    /// Returns the middle between the bounds, rounded down. No other answer has a smaller largest
    /// error.
    pub fn count(&self) -> u64 {
        middle(self.lower, self.upper)
    }

    /// Returns the lower bound: the key occurred at least this often.
    pub fn lower(&self) -> u64 {
        self.lower
    }

    /// Returns the upper bound: the key occurred at most this often. [`u64::MAX`] means that there
    /// is no upper bound.
    pub fn upper(&self) -> u64 {
        self.upper
    }

    /// Returns true if the count is exact.
    pub fn is_exact(&self) -> bool {
        self.lower == self.upper && self.upper < u64::MAX
    }

    /// Returns the count as an estimate.
    pub fn estimate(&self) -> Estimate {
        certain(self.count(), self.lower, self.upper)
    }
}

pub(super) fn middle(lower: u64, upper: u64) -> u64 {
    lower + (upper - lower) / 2
}

/// Converts whole numbers to a certain estimate. Bounds that floats cannot represent are rounded
/// outwards. An upper bound of [`u64::MAX`], where counts saturate, becomes infinite.
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
