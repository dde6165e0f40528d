//! Registers, one byte each, that keep the highest rank. [`HyperLogLog`](super::HyperLogLog) and
//! [`LogLog`](super::LogLog) share them.
//!
//! One insert loads a byte and stores it, whether it was raised or not. There is no branch, because
//! the processor cannot predict whether a hash raises its register while the sketch fills. The
//! [histogram] that estimators read is counted on request.

use std::num::NonZeroU64;

use super::register_sketch::histogram::histogram;
use super::register_sketch::kind::RegisterArray;
use crate::cpu::without_bits;
use crate::math::exp2;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The number of counters of a histogram. Register values fit in 0..=61, because at most 60
/// trailing zeros are counted, plus one.
const HISTOGRAM_LEN: usize = 64;

/// The number of hashes that are filtered together: one for each bit of a word.
const CHUNK: usize = 64;

/// Registers that keep the highest rank of their hashes.
#[derive(Debug, Clone)]
pub struct RankRegisters {
    precision: u8,
    /// The top `precision` bits of a hash, shifted down by this, are the register's index.
    shift: u32,
    /// The lowest of those bits, set in a word: counting of trailing zeros stops there.
    limit: NonZeroU64,
    values: Box<[u8]>,
    /// No register is below this rank. Only batch inserts use it, and only they bring it up to
    /// date.
    floor: u8,
    /// The index of a register that was at the floor when last checked. All registers before it are
    /// above the floor.
    witness: usize,
}

impl RankRegisters {
    fn from_boxed(precision: u8, values: Box<[u8]>) -> Self {
        let shift = 64 - u32::from(precision);
        let limit = NonZeroU64::new(1 << shift).unwrap_or(NonZeroU64::MIN);
        Self { precision, shift, limit, values, floor: 0, witness: 0 }
    }

    /// Returns the value of a register that saw a hash whose low bits are all zero.
    pub(super) const fn highest(precision: u8) -> u8 {
        64 - precision + 1
    }

    /// Returns how many registers have each value from 0 to [`highest`](Self::highest). The entries
    /// above are 0.
    pub(super) fn histogram(&self) -> [u32; HISTOGRAM_LEN] {
        histogram(&self.values)
    }

    /// Returns the index of a hash's register and the hash's rank. The top bits choose the
    /// register. The rank is the number of trailing zeros of the rest, plus one. Counting from the
    /// low end needs one instruction less than from the high end.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u8) {
        let rank = (self.limit | hash).trailing_zeros() as u8 + 1;
        ((hash >> self.shift) as usize, rank)
    }

    /// Brings the floor up to date. A register above the floor never returns to it, so each
    /// register is checked once for each rank.
    #[inline]
    fn raise_floor(&mut self) {
        while self.values[self.witness] > self.floor {
            self.witness += 1;
            if self.witness == self.values.len() {
                self.find_floor();
            }
        }
    }

    #[cold]
    fn find_floor(&mut self) {
        self.floor = self.values.iter().copied().min().unwrap_or(0);
        self.witness = 0;
    }
}

impl RegisterArray for RankRegisters {
    fn new(precision: u8) -> Self {
        Self::from_boxed(precision, vec![0; 1 << precision].into())
    }

    /// Creates registers from stored values, or returns `None` if one is higher than a hash can
    /// make it.
    fn from_values(precision: u8, values: &[u8]) -> Option<Self> {
        let highest = Self::highest(precision);
        let all_possible = values.iter().all(|&value| value <= highest);
        all_possible.then(|| Self::from_boxed(precision, values.into()))
    }

    fn accepted_values(precision: u8) -> String {
        format!("values up to {}", Self::highest(precision))
    }

    fn news(value: u8) -> u64 {
        u64::MAX << value.min(63)
    }

    fn values(&self) -> &[u8] {
        &self.values
    }

    /// The bytes of memory behind the pointers.
    fn memory(&self) -> usize {
        self.values.len()
    }

    /// Returns true if every register is at its highest value, so that nothing can change any more.
    fn are_full(&self) -> bool {
        let highest = Self::highest(self.precision);
        self.values.iter().all(|&value| value == highest)
    }

    #[inline]
    fn insert(&mut self, hash: u64) {
        let (index, rank) = self.place(hash);
        let value = &mut self.values[index];
        *value = rank.max(*value);
    }

    /// Adds many hashes. Same result as one by one. The floor first rules out most hashes of a
    /// chunk, many at a time. Only the few that could raise a register are looked at.
    fn insert_all(&mut self, hashes: &[u64]) {
        let (chunks, rest) = hashes.as_chunks::<CHUNK>();
        for chunk in chunks {
            self.raise_floor();
            if self.floor == 0 {
                chunk.iter().for_each(|&hash| self.insert(hash));
                continue;
            }
            // A hash whose rank is above the floor has at least `floor` zeros at its low end.
            let mut hopeful = without_bits(chunk, ((1_u64 << self.floor) - 1) as u32);
            while hopeful != 0 {
                self.insert(chunk[hopeful.trailing_zeros() as usize]);
                hopeful &= hopeful - 1;
            }
        }
        rest.iter().for_each(|&hash| self.insert(hash));
    }

    /// Takes the higher of each pair of registers, folding `other` if it is more precise.
    /// `self` must not be the more precise one.
    fn merge(&mut self, other: &Self) {
        let extra = u32::from(other.precision - self.precision);
        if extra == 0 {
            for (mine, &theirs) in self.values.iter_mut().zip(&other.values) {
                *mine = theirs.max(*mine);
            }
            return;
        }
        let other_highest = Self::highest(other.precision);
        for (index, &rank) in other.values.iter().enumerate() {
            // The lowest `extra` bits of the index belong to the rank's part of the hash at the
            // lower precision. They only count if all bits below them were zero.
            let low_bits = (index as u64) | 1 << extra;
            let rank = if rank == other_highest { rank + low_bits.trailing_zeros() as u8 } else { rank };
            let mine = &mut self.values[index >> extra];
            *mine = rank.max(*mine);
        }
    }
}

/// Compares the values only. The other fields follow from them, or are brought up to date only when
/// they are used.
impl PartialEq for RankRegisters {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for RankRegisters {}

/// Returns the number of items at which all registers are at their highest value with the given
/// probability. Full registers tell no more than that.
///
/// A register is at its highest value with probability `1 − e^(−ν 2^−q)`, where
/// `q = 64 − precision`.
pub(super) fn items_to_fill(precision: u8, probability: f64) -> f64 {
    let registers = exp2(i32::from(precision));
    let each = libm::pow(probability, 1.0 / registers);
    -libm::log1p(-each) * exp2(64)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn floor_is_the_least_register_until_all_are_full() {
        let mut registers = RankRegisters::new(4);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..20_000 {
            registers.insert(random.next_u64() << (random.next_u64() % 60));
            registers.raise_floor();
            assert_eq!(Some(registers.floor), registers.values.iter().copied().min());
        }
        assert!(registers.are_full());
        let full = registers.clone();
        registers.insert_all(&[0, 1, 2, 3].repeat(CHUNK));
        assert_eq!(registers, full);
    }
}
