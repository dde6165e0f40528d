//! The size of the table, and the positions of a hash's three slots in it.
//!
//! Sizes are computed with additions, multiplications and divisions only, which give the same
//! result on every machine. So the same keys have the same bytes everywhere.

use crate::hash::{index, multipliers};

/// The multiplier for fingerprints. A fingerprint is the top byte of the product, because the hash
/// itself decides the slots.
const FINGERPRINT: u64 = multipliers(2)[1];
/// The first bit of the hash that chooses the slot in the second segment. The bits below it choose
/// the slot in the third segment.
const SECOND: u32 = 18;

/// The number of slots that a key has, each in its own segment.
pub(super) const ARITY: usize = 3;
/// The base-2 logarithm of the length of a segment. With the longest, three segments fill 768 KiB.
pub(super) const SEGMENT_BITS: std::ops::RangeInclusive<u8> = 2..=18;

/// A table of `segments + 2` segments of `2^segment_bits` slots each.
///
/// A hash chooses a slot of the first `segments` segments. Its other two slots are in the next two
/// segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) segment_bits: u8,
    pub(super) segments: u32,
}

impl Shape {
    /// The shape of the table of a filter without keys.
    pub(super) const EMPTY: Self = Self { segment_bits: 0, segments: 0 };

    /// Returns the shape for `keys` different hashes: 1.125 slots for each if there are a million
    /// or more. Fewer hashes get more slots each, because a small table that is as full often has
    /// no solution.
    pub(super) fn for_keys(keys: u64) -> Self {
        if keys == 0 {
            return Self::EMPTY;
        }
        // Between powers of two the logarithm is interpolated, which makes it a little too small.
        let exponent = keys.ilog2();
        let log2 = f64::from(exponent) + keys as f64 / (1_u64 << exponent) as f64 - 1.0;
        // log2(3.33) and log2(1,000,000); the constants are those of the paper's authors.
        let segment_bits = (log2 / 1.735_522_177_2 + 2.25) as u8;
        let segment_bits = segment_bits.clamp(*SEGMENT_BITS.start(), *SEGMENT_BITS.end());
        let slots_per_key = (0.875 + 0.25 * 19.931_568_569 / log2.max(1.0)).max(1.125);
        let slots = (keys as f64 * slots_per_key) as u64;
        let segments = slots.div_ceil(1 << segment_bits).saturating_sub(ARITY as u64 - 1).max(1);
        Self { segment_bits, segments: segments as u32 }
    }

    /// Returns the number of slots.
    pub(super) fn slots(self) -> u64 {
        match self {
            Self::EMPTY => 0,
            _ => (u64::from(self.segments) + ARITY as u64 - 1) << self.segment_bits,
        }
    }

    /// Returns the slots of a spread hash, in ascending order of their segments.
    #[inline(always)]
    pub(super) fn slots_of(self, hash: u64) -> [usize; ARITY] {
        let length = 1_u64 << self.segment_bits;
        let first = index(hash, u64::from(self.segments) << self.segment_bits);
        let second = (first + length) ^ (hash >> SECOND & (length - 1));
        let third = (first + 2 * length) ^ (hash & (length - 1));
        [first as usize, second as usize, third as usize]
    }
}

/// Returns the fingerprint of a spread hash: the exclusive or that its three slots must have.
#[inline(always)]
pub(super) fn fingerprint(hash: u64) -> u8 {
    (hash.wrapping_mul(FINGERPRINT) >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_never_change_and_have_room() {
        let shape = |keys| {
            let Shape { segment_bits, segments } = Shape::for_keys(keys);
            (segment_bits, segments)
        };
        assert_eq!(shape(0), (0, 0));
        assert_eq!([1, 2, 10, 1_000].map(shape), [(2, 1), (2, 1), (4, 1), (7, 9)]);
        assert_eq!([100_000, 1_000_000, 100_000_000].map(shape), [(11, 56), (13, 136), (17, 857)]);
        assert_eq!(shape(1 << 31), (18, 9_214));
        for keys in (1..5_000).chain([1 << 20, (1 << 31) - 1, 1 << 31]) {
            assert!(Shape::for_keys(keys).slots() >= keys, "{keys}");
        }
    }

    #[test]
    fn slots_of_a_hash_are_in_three_segments_in_a_row() {
        for keys in [1, 7, 500, 100_000] {
            let shape = Shape::for_keys(keys);
            let segment = |slot: usize| slot >> shape.segment_bits;
            for hash in [0, 1, u64::MAX, 1 << 63, 0x9E37_79B9_7F4A_7C15, 0x3FFFF, !0x3FFFF] {
                let [first, second, third] = shape.slots_of(hash);
                assert_eq!((segment(second), segment(third)), (segment(first) + 1, segment(first) + 2));
                assert!((third as u64) < shape.slots());
            }
        }
    }
}
