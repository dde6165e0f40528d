//! The dense state: one byte a register, and a histogram of the bytes.
//!
//! The histogram is all that the estimator reads. Keeping it up to date costs two additions
//! when a register changes, which is rare, and makes an estimate independent of the number
//! of registers.

/// Register values fit in 0..=61: at most 60 trailing zeros are looked at, plus one.
const HISTOGRAM_LEN: usize = 64;

/// Below this least value a test against it would be a coin's toss that the processor cannot
/// predict; above it at most 1 hash in 16 gets past.
const LEAST_USEFUL_FLOOR: u32 = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Registers {
    precision: u8,
    values: Box<[u8]>,
    histogram: [u32; HISTOGRAM_LEN],
    /// A hash with any of these bits set cannot raise a register: each is at least as high
    /// already. Derived from the histogram.
    futile: u64,
}

impl Registers {
    pub(super) fn new(precision: u8) -> Self {
        let mut histogram = [0; HISTOGRAM_LEN];
        histogram[0] = 1 << precision;
        Self { precision, values: vec![0; 1 << precision].into(), histogram, futile: 0 }
    }

    /// From register values, or `None` if one is higher than a hash can make it.
    pub(super) fn from_values(precision: u8, values: &[u8]) -> Option<Self> {
        let mut histogram = [0; HISTOGRAM_LEN];
        for &value in values {
            if value > Self::highest(precision) {
                return None;
            }
            histogram[value as usize] += 1;
        }
        let mut registers = Self { precision, values: values.into(), histogram, futile: 0 };
        registers.raise_floor();
        Some(registers)
    }

    /// The value of a register that met a hash whose low bits are all zero.
    pub(super) const fn highest(precision: u8) -> u8 {
        64 - precision + 1
    }

    pub(super) fn values(&self) -> &[u8] {
        &self.values
    }

    /// How many registers have each value, from 0 to [`highest`](Self::highest).
    pub(super) fn histogram(&self) -> &[u32] {
        &self.histogram[..=Self::highest(self.precision) as usize]
    }

    /// The top bits choose the register, the trailing zeros of the rest plus one are its rank.
    /// (Counting from the low end needs one instruction less than from the high end.)
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) {
        if hash & self.futile == 0 {
            let shift = 64 - u32::from(self.precision);
            let rank = (hash | 1 << shift).trailing_zeros() as u8 + 1;
            self.raise((hash >> shift) as usize, rank);
        }
    }

    pub(super) fn insert_all(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.insert(hash);
        }
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

    #[cold]
    fn raise_floor(&mut self) {
        let floor = self.histogram.iter().position(|&count| count > 0).unwrap_or(0) as u32;
        // A hash of rank above `floor` has its lowest `floor` bits zero.
        self.futile = if floor < LEAST_USEFUL_FLOOR { 0 } else { (1 << floor) - 1 };
    }

    /// Takes the higher of each pair of registers, folding `other` if it is more precise.
    /// `self` must not be the more precise one.
    pub(super) fn merge(&mut self, other: &Self) {
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

    pub(super) fn folded(&self, precision: u8) -> Self {
        let mut folded = Self::new(precision);
        folded.merge(self);
        folded
    }
}
