//! Registers, one byte each, and a histogram of the bytes: what [`HyperLogLog`](super::HyperLogLog) and
//! [`LogLog`](super::LogLog) share.
//!
//! The histogram is all that an estimator reads. Keeping it up to date costs two additions
//! when a register changes, which is rare, and makes an estimate independent of the number
//! of registers.

use super::register_sketch::kind::RegisterArray;
use crate::cpu::without_bits;
use crate::math::exp2;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Register values fit in 0..=61: at most 60 trailing zeros are looked at, plus one.
const HISTOGRAM_LEN: usize = 64;

/// How many hashes are compared with their registers before any register is raised: one a bit.
const CHUNK: usize = 64;

/// Registers that keep the highest rank of their hashes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankRegisters {
    precision: u8,
    /// The top `precision` bits of a hash, shifted down by this, are the register's index.
    shift: u32,
    values: Box<[u8]>,
    /// Boxed, so that the many small sketches of a grouped count stay small.
    histogram: Box<[u32; HISTOGRAM_LEN]>,
    /// A hash with any of these bits set cannot raise a register: the least of them is as high
    /// already. Derived from the histogram; worth a test only for many hashes at once.
    futile: u64,
}

impl RankRegisters {
    fn assemble(precision: u8, values: Box<[u8]>, histogram: Box<[u32; HISTOGRAM_LEN]>) -> Self {
        let mut registers =
            Self { precision, shift: 64 - u32::from(precision), values, histogram, futile: 0 };
        registers.raise_floor();
        registers
    }

    /// The value of a register that met a hash whose low bits are all zero.
    pub(super) const fn highest(precision: u8) -> u8 {
        64 - precision + 1
    }

    /// How many registers have each value, from 0 to [`highest`](Self::highest).
    pub(super) fn histogram(&self) -> &[u32] {
        &self.histogram[..=Self::highest(self.precision) as usize]
    }

    /// The top bits choose the register, the trailing zeros of the rest plus one are its rank.
    /// (Counting from the low end needs one instruction less than from the high end.)
    #[inline]
    fn place(&self, hash: u64) -> (usize, u8) {
        let rank = (hash | 1 << self.shift).trailing_zeros() as u8 + 1;
        ((hash >> self.shift) as usize, rank)
    }

    #[inline]
    fn raise(&mut self, index: usize, rank: u8) {
        let old = self.values[index];
        if old < rank {
            self.values[index] = rank;
            self.histogram[old as usize % HISTOGRAM_LEN] -= 1;
            self.histogram[rank as usize % HISTOGRAM_LEN] += 1;
            if self.histogram[old as usize % HISTOGRAM_LEN] == 0 {
                self.raise_floor();
            }
        }
    }

    /// Out of line, so that loops around [`insert`](Self::insert) stay small: it becomes rare.
    #[cold]
    #[inline(never)]
    fn raise_rarely(&mut self, index: usize, rank: u8) {
        self.raise(index, rank);
    }

    #[cold]
    fn raise_floor(&mut self) {
        let floor = self.histogram.iter().position(|&count| count > 0).unwrap_or(0) as u32;
        // A hash of rank above `floor` has its lowest `floor` bits zero.
        self.futile = (1 << floor) - 1;
    }
}

impl RegisterArray for RankRegisters {
    fn new(precision: u8) -> Self {
        let mut histogram = Box::new([0; HISTOGRAM_LEN]);
        histogram[0] = 1 << precision;
        Self::assemble(precision, vec![0; 1 << precision].into(), histogram)
    }

    /// From register values, or `None` if one is higher than a hash can make it.
    fn from_values(precision: u8, values: &[u8]) -> Option<Self> {
        let mut histogram = Box::new([0; HISTOGRAM_LEN]);
        for &value in values {
            if value > Self::highest(precision) {
                return None;
            }
            histogram[value as usize] += 1;
        }
        Some(Self::assemble(precision, values.into(), histogram))
    }

    fn accepted_values(precision: u8) -> String {
        format!("values up to {}", Self::highest(precision))
    }

    fn values(&self) -> &[u8] {
        &self.values
    }

    fn used(&self) -> usize {
        self.values.len() - self.histogram[0] as usize
    }

    /// Bytes behind the pointers.
    fn memory(&self) -> usize {
        self.values.len() + size_of_val(&*self.histogram)
    }

    /// Whether every register is at its highest, so that nothing can change any more.
    fn are_full(&self) -> bool {
        self.histogram[Self::highest(self.precision) as usize] as usize == self.values.len()
    }

    #[inline]
    fn insert(&mut self, hash: u64) {
        let (index, rank) = self.place(hash);
        if self.values[index] < rank {
            self.raise_rarely(index, rank);
        }
    }

    /// The same as one by one, without the branches that the processor cannot predict: whether a
    /// hash raises its register is a toss while the sketch fills. A chunk is sieved first by the
    /// least register, many hashes at a time, then each hash by its own register, and only the few
    /// that win are looked at again.
    fn insert_all(&mut self, hashes: &[u64]) {
        let mut winners = [0; CHUNK];
        let (chunks, rest) = hashes.as_chunks::<CHUNK>();
        for chunk in chunks {
            let mut winning = 0;
            let mut consider = |hash| {
                let (index, rank) = self.place(hash);
                winners[winning % CHUNK] = hash;
                winning += usize::from(self.values[index] < rank);
            };
            if self.futile == 0 {
                chunk.iter().for_each(|&hash| consider(hash));
            } else {
                let mut hopeful = without_bits(chunk, self.futile as u32);
                while hopeful != 0 {
                    consider(chunk[hopeful.trailing_zeros() as usize]);
                    hopeful &= hopeful - 1;
                }
            }
            for &hash in &winners[..winning] {
                let (index, rank) = self.place(hash);
                self.raise(index, rank);
            }
        }
        rest.iter().for_each(|&hash| self.insert(hash));
    }

    /// Takes the higher of each pair of registers, folding `other` if it is more precise.
    /// `self` must not be the more precise one.
    fn merge(&mut self, other: &Self) {
        let extra = u32::from(other.precision - self.precision);
        if extra == 0 {
            for (index, &rank) in other.values.iter().enumerate() {
                self.raise(index, rank);
            }
            return;
        }
        let other_highest = Self::highest(other.precision);
        for (index, &rank) in other.values.iter().enumerate() {
            // The lowest `extra` bits of the index were bits of the rank's part of the hash: they
            // only matter where all bits below them were zero.
            let low_bits = (index as u64) | 1 << extra;
            let rank = if rank == other_highest { rank + low_bits.trailing_zeros() as u8 } else { rank };
            self.raise(index >> extra, rank);
        }
    }
}

/// The number of items at which all registers are at their highest with the given probability: all
/// that is known when they are.
///
/// A register is there with probability `1 − e^(−ν 2^−q)`, where `q = 64 − precision`.
pub(super) fn items_to_fill(precision: u8, probability: f64) -> f64 {
    let registers = exp2(i32::from(precision));
    let each = libm::pow(probability, 1.0 / registers);
    -libm::log1p(-each) * exp2(64)
}
