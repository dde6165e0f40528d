//! From the hash of an integer back to the integer.
//!
//! XXH3 of eight bytes is a bijection: an exclusive or with a constant that depends on the seed, then
//! rotations, multiplications by an odd number and shifts, each of which can be undone. So two
//! integers never share a hash, a table that holds the hash need not hold the integer as well, and
//! comparing hashes compares keys.

use crate::keys::{Key as _, KeyScheme};

/// The multiplier of XXH3's mixing of four to eight bytes.
const MULTIPLIER: u64 = 0x9FB2_1C65_1E98_DF25;
const INVERSE: u64 = inverse(MULTIPLIER);

/// Undoes the hash of integer keys under one seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IntegerHash {
    /// The constant that the seed contributes: what the integer 0 is mixed as.
    mask: u64,
}

impl IntegerHash {
    pub(super) fn new(scheme: KeyScheme) -> Self {
        Self { mask: unmix(0_u64.hash_with(scheme.seed())) }
    }

    /// The integer with this hash.
    pub(super) fn invert(self, hash: u64) -> u64 {
        // XXH3 reads the eight bytes as two words, the first of them on top.
        (unmix(hash) ^ self.mask).rotate_left(32)
    }
}

/// Undoes `x ^= rotl(x, 49) ^ rotl(x, 24); x *= m; x ^= (x >> 35) + 8; x *= m; x ^= x >> 28`.
fn unmix(hash: u64) -> u64 {
    let x = (hash ^ hash >> 28 ^ hash >> 56).wrapping_mul(INVERSE);
    // The sum has at most 30 bits, so the bits it was made from are still as they were.
    let x = (x ^ ((x >> 35) + 8)).wrapping_mul(INVERSE);
    // As a polynomial in the rotation by one, where squares double the exponents, the step
    // f = 1 + r^49 + r^24 has f^64 = 1; so f^63, the product of its squarings, undoes it.
    (0..6).fold(x, |x, squaring| x ^ x.rotate_left(49 << squaring & 63) ^ x.rotate_left(24 << squaring & 63))
}

/// The inverse modulo 2^64 of an odd number; each of Newton's steps doubles the bits that are right.
pub(super) const fn inverse(odd: u64) -> u64 {
    let mut inverse = odd;
    let mut step = 0;
    while step < 5 {
        inverse = inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn every_integer_is_found_again_under_any_seed() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for seed in [0, 1, u64::MAX, 1 << 32, random.next_u64()] {
            let scheme = KeyScheme::integers().with_seed(seed);
            let hash = IntegerHash::new(scheme);
            let edges = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, u64::MAX << bit]);
            let others: Vec<u64> = (0..10_000).map(|_| random.next_u64()).collect();
            for integer in edges.chain(others) {
                assert_eq!(hash.invert(scheme.hash(&integer).unwrap()), integer);
            }
        }
    }
}
