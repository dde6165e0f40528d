//! The dense state: an array of [`register`](super::register)s.
//!
//! All that the estimator reads is a [histogram] of the bytes, which is counted on request.

use super::register::{is_possible, join, levels, news, raised, register};
use crate::cpu::without_bits;
use crate::distinct::register_sketch::histogram::histogram;
use crate::distinct::register_sketch::kind::RegisterArray;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The number of hashes that are compared with their registers before any register is changed: one
/// for each bit of a word.
const CHUNK: usize = 64;

/// A bit that stands for no level: the value of `lowest` if all registers are full.
const NO_LEVEL: u64 = 1 << 63;

/// The number of hashes a register up to which the processor cannot predict whether a hash changes
/// its register. A wrong prediction takes as long as a few changes.
const YOUNG: usize = 16;

/// The number of registers of each value.
pub(super) type Histogram = [u32; 256];

/// Registers that keep the highest level of their hashes, and which of the two levels below it
/// occurred.
#[derive(Debug, Clone)]
pub struct LevelRegisters {
    precision: u8,
    /// The top `precision` bits of a hash, shifted down by this, are the register's index.
    shift: u32,
    values: Box<[u8]>,
    /// The lowest level that changes some register, as its bit. A hash with a lower bit set changes
    /// no register. Only batch inserts use it, and only they bring it up to date.
    lowest: u64,
    /// The index of a register that the level in `lowest` would have changed when last checked. It
    /// would change no register before it.
    witness: usize,
    /// The number of following single hashes that are added without checking whether they change
    /// their register.
    young: u32,
}

impl LevelRegisters {
    fn from_boxed(precision: u8, values: Box<[u8]>) -> Self {
        let young = (YOUNG * values.len()) as u32;
        Self { precision, shift: 64 - u32::from(precision), values, lowest: 1, witness: 0, young }
    }

    /// Returns the level of a hash whose low bits are all zero.
    pub(super) const fn highest(precision: u8) -> u8 {
        64 - precision + 1
    }

    pub(super) fn histogram(&self) -> Histogram {
        histogram(&self.values)
    }

    /// Returns the index of a hash's register and the hash's level as its bit. The top bits choose
    /// the register. The lowest set bit of the rest is the level.
    #[inline]
    fn place(&self, hash: u64) -> (usize, u64) {
        let low = hash | 1 << self.shift;
        ((hash >> self.shift) as usize, low & low.wrapping_neg())
    }

    /// Adds a level, given as its bit, to the levels that a register saw.
    #[inline]
    fn add(&mut self, index: usize, level: u64) {
        let value = &mut self.values[index];
        *value = register(levels(*value) | level);
    }

    /// Same as [`add`](Self::add), but kept out of line, so that loops around
    /// [`insert`](Self::insert) stay small. Calls become rare as the sketch fills.
    #[cold]
    #[inline(never)]
    fn add_rarely(&mut self, index: usize, level: u64) {
        self.add(index, level);
    }

    /// Brings the lowest level that changes a register up to date. Once a level cannot change a
    /// register, it never can again, so each register is checked once for each level.
    #[inline]
    fn raise_floor(&mut self) {
        while news(self.values[self.witness]) & self.lowest == 0 && self.lowest != NO_LEVEL {
            self.witness += 1;
            if self.witness == self.values.len() {
                self.find_floor();
            }
        }
    }

    #[cold]
    fn find_floor(&mut self) {
        let histogram = self.histogram();
        let used = (0..=u8::MAX).zip(&histogram).filter(|(_, count)| **count > 0);
        let wanted = used.fold(NO_LEVEL, |wanted, (value, _)| wanted | news(value));
        self.lowest = wanted & wanted.wrapping_neg();
        self.witness = 0;
    }
}

impl RegisterArray for LevelRegisters {
    fn new(precision: u8) -> Self {
        Self::from_boxed(precision, vec![0; 1 << precision].into())
    }

    /// Creates registers from stored values. Returns `None` if no set of levels leads to one of
    /// them.
    fn from_values(precision: u8, values: &[u8]) -> Option<Self> {
        let (highest, histogram): (u8, Histogram) = (Self::highest(precision), histogram(values));
        let mut used = (0..=u8::MAX).zip(&histogram).filter(|(_, count)| **count > 0);
        let all_possible = used.all(|(value, _)| is_possible(value, highest));
        all_possible.then(|| Self::from_boxed(precision, values.into()))
    }

    fn accepted_values(precision: u8) -> String {
        format!("sets of levels up to {}", Self::highest(precision))
    }

    fn news(value: u8) -> u64 {
        news(value)
    }

    fn values(&self) -> &[u8] {
        &self.values
    }

    /// The bytes of memory behind the pointers.
    fn memory(&self) -> usize {
        self.values.len()
    }

    /// Returns true if every register saw the three highest levels, so that nothing can change any
    /// more.
    fn are_full(&self) -> bool {
        let fullest = Self::highest(self.precision) << 2 | 3;
        self.values.iter().all(|&value| value == fullest)
    }

    #[inline]
    fn insert(&mut self, hash: u64) {
        let (index, level) = self.place(hash);
        if self.young > 0 {
            self.young -= 1;
            self.add(index, level);
        } else if news(self.values[index]) & level != 0 {
            self.add_rarely(index, level);
        }
    }

    /// Adds many hashes. Same result as one by one, but without the branches that the processor
    /// cannot predict: whether a hash changes its register is random while the sketch fills. First
    /// the levels that change no register rule out hashes of a chunk, many at a time. Then each
    /// remaining hash is compared with its own register. Only the few that change it are added.
    fn insert_all(&mut self, hashes: &[u64]) {
        let mut winners = [0; CHUNK];
        let (chunks, rest) = hashes.as_chunks::<CHUNK>();
        for chunk in chunks {
            self.raise_floor();
            let mut winning = 0;
            let mut consider = |hash| {
                let (index, level) = self.place(hash);
                winners[winning % CHUNK] = hash;
                winning += usize::from(news(self.values[index]) & level != 0);
            };
            if self.lowest == 1 {
                chunk.iter().for_each(|&hash| consider(hash));
            } else {
                let mut hopeful = without_bits(chunk, (self.lowest - 1) as u32);
                while hopeful != 0 {
                    consider(chunk[hopeful.trailing_zeros() as usize]);
                    hopeful &= hopeful - 1;
                }
            }
            for &hash in &winners[..winning] {
                let (index, level) = self.place(hash);
                self.add(index, level);
            }
        }
        rest.iter().for_each(|&hash| self.insert(hash));
    }

    /// Joins each pair of registers. If `other` is more precise, its registers are folded first.
    /// `self` must not be the more precise one.
    fn merge(&mut self, other: &Self) {
        let extra = u32::from(other.precision - self.precision);
        if extra == 0 {
            self.values.iter_mut().zip(&other.values).for_each(|(mine, &theirs)| *mine = join(*mine, theirs));
        } else {
            let other_highest = Self::highest(other.precision);
            for (index, &value) in other.values.iter().enumerate() {
                // The lowest `extra` bits of the index belong to the level's part of the hash at
                // the lower precision. They only count if all bits below them were zero.
                let rise = if value >> 2 == other_highest {
                    (index as u64 | 1 << extra).trailing_zeros() as u8
                } else {
                    0
                };
                let mine = &mut self.values[index >> extra];
                *mine = join(*mine, raised(value, rise));
            }
        }
    }
}

/// Compares the values only. The other fields follow from them, or are brought up to date only when
/// they are used.
impl PartialEq for LevelRegisters {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for LevelRegisters {}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn floor_is_the_lowest_level_that_changes_a_register() {
        let mut registers = LevelRegisters::new(4);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for _ in 0..20_000 {
            registers.insert(random.next_u64() << (random.next_u64() % 60));
            registers.raise_floor();
            let wanted = registers.values.iter().fold(NO_LEVEL, |wanted, &value| wanted | news(value));
            assert_eq!(registers.lowest, wanted & wanted.wrapping_neg());
        }
        assert!(registers.are_full());
    }
}
