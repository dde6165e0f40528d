//! The history of a sketch: a count from the order of arrival, sharper than any count that the
//! registers alone give.
//!
//! The more different items came before, the less often a hash changes a register. A hash that
//! changed a register when the probability of any change was `p` stands for `1/p` items on average.
//! So the sum of `1/p` over all changes is an unbiased count. Its variance is the expectation of
//! the sum of `(1 − p)/p²`, which is kept too. For many items and registers that remember `d`
//! levels below their highest, the standard error tends to `√(ln 2 (1 + 2^−d)/2 / m)`.
//!
//! The probability is kept as the number of the 2^64 hashes that would change a register. It is an
//! integer, so it never drifts.
//!
//! Only a sketch that saw its whole stream has a history. Two streams share items, and their
//! histories do not tell which. So a merge of sketches that are not exact ends it.
//!
//! **Sources.** Cohen: *All-distances sketches, revisited: HIP estimators for massive graphs
//! analysis* (2014). Ting: *Streamed approximate counting of distinct elements* (2014). The limit:
//! Ertl, *UltraLogLog* (VLDB 2024), section 2.5.

use super::kind::RegisterArray;
use crate::estimate::{Confidence, Estimate};
use crate::math::{Point, exp2};

/// The count of a sketch since the exact state ended, updated whenever a register changes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct History {
    count: f64,
    /// The estimated variance of the count.
    variance: f64,
    /// The number of the 2^64 hashes that would change a register.
    chance: u64,
}

/// No field is ever NaN.
impl Eq for History {}

impl History {
    /// Begins a history with registers that saw a known number of different hashes, at least one.
    pub(super) fn begin<R: RegisterArray>(count: usize, registers: &R, precision: u8) -> Self {
        Self { count: count as f64, variance: 0.0, chance: chance_of_all(registers, precision) }
    }

    /// Restores a stored history. Returns `None` if the count or the variance is not possible: the
    /// count must be at least `least`, the variance at least 0, and both finite.
    pub(super) fn from_stored<R: RegisterArray>(
        (count, variance): (f64, f64),
        least: usize,
        registers: &R,
        precision: u8,
    ) -> Option<Self> {
        let is_possible =
            count.is_finite() && count >= least as f64 && variance.is_finite() && variance >= 0.0;
        is_possible.then(|| Self { count, variance, chance: chance_of_all(registers, precision) })
    }

    /// Returns what is stored: the count and its variance.
    pub(super) fn stored(&self) -> (f64, f64) {
        (self.count, self.variance)
    }

    /// Adds a hash to the registers. If a register changes, the count grows by the number of items
    /// that the change stands for.
    #[inline]
    pub(super) fn insert<R: RegisterArray>(&mut self, registers: &mut R, precision: u8, hash: u64) {
        let index = (hash >> (64 - precision)) as usize;
        let before = registers.values()[index];
        registers.insert(hash);
        let after = registers.values()[index];
        if before != after {
            let stands_for = exp2(64) / self.chance as f64;
            self.count += stands_for;
            self.variance += stands_for * (stands_for - 1.0);
            self.chance -= chance_of::<R>(before, precision) - chance_of::<R>(after, precision);
        }
    }

    /// Returns the count, with bounds at the given confidence.
    ///
    /// Just past the exact state few changes were counted. Their variance is then often too small by
    /// chance, and the count has few possible values. So half an item is added to the variance,
    /// which does not matter later.
    pub(super) fn estimate_at(&self, confidence: Confidence) -> Estimate {
        let deviation = libm::sqrt(self.variance + 0.5);
        Point::new(self.count, deviation / self.count).with_bounds(confidence)
    }
}

/// Returns how many of the hashes that choose a register of this value would change it.
///
/// Of the `2^q` hashes of one register, with `q = 64 − precision`, `2^(q − k)` have level `k`. The
/// highest level has a single hash.
fn chance_of<R: RegisterArray>(value: u8, precision: u8) -> u64 {
    let (news, highest) = (R::news(value), 64 - precision);
    (news.reverse_bits() >> precision) + (news >> highest & 1)
}

/// Returns how many of the 2^64 hashes would change a register. The number is below 2^64, because
/// at least one register saw a hash.
fn chance_of_all<R: RegisterArray>(registers: &R, precision: u8) -> u64 {
    let all: u128 =
        registers.values().iter().map(|&value| u128::from(chance_of::<R>(value, precision))).sum();
    u64::try_from(all).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::distinct::hyperloglog::HighestRank;
    use crate::distinct::register_sketch::kind::RegisterKind;
    use crate::distinct::ultraloglog::ThreeLevels;

    /// Returns the expected result of [`chance_of`], from trying every level with its number of
    /// hashes.
    fn tried<R: RegisterArray>(value: u8, precision: u8) -> u64 {
        let (highest, mut chance) = (64 - u32::from(precision), 0);
        for level in 1..=highest + 1 {
            let mut values = vec![0; 1 << precision];
            values[0] = value;
            let mut registers = R::from_values(precision, &values).unwrap();
            registers.insert(if level <= highest { 1 << (level - 1) } else { 0 });
            if registers.values()[0] != value {
                chance += if level <= highest { 1_u64 << (highest - level) } else { 1 };
            }
        }
        chance
    }

    fn chances_are_those_of_the_hashes<R: RegisterArray>() {
        for precision in [4, 5, 12, 18] {
            for value in 0..=u8::MAX {
                let mut values = vec![0; 1 << precision];
                values[0] = value;
                if R::from_values(precision, &values).is_some() {
                    assert_eq!(chance_of::<R>(value, precision), tried::<R>(value, precision), "{value}");
                }
            }
        }
    }

    /// Compares the updated chance with one counted anew after each insert, until all registers are
    /// full.
    fn chance_never_drifts<R: RegisterArray>() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut registers = R::new(4);
        registers.insert(1);
        let mut history = History::begin(1, &registers, 4);
        for _ in 0..20_000 {
            history.insert(&mut registers, 4, random.next_u64() << (random.next_u64() % 60));
            assert_eq!(history.chance, chance_of_all(&registers, 4));
        }
        assert!(registers.are_full() && history.chance == 0 && history.count.is_finite());
    }

    #[test]
    fn hyperloglog_knows_its_chances() {
        chances_are_those_of_the_hashes::<<HighestRank as RegisterKind>::Registers>();
        chance_never_drifts::<<HighestRank as RegisterKind>::Registers>();
    }

    #[test]
    fn ultraloglog_knows_its_chances() {
        chances_are_those_of_the_hashes::<<ThreeLevels as RegisterKind>::Registers>();
        chance_never_drifts::<<ThreeLevels as RegisterKind>::Registers>();
    }
}
