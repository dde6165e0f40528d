//! The hashes of integer keys: Mix13, and XXH3 for files that were written with it.
//!
//! An integer needs less than a function for bytes of any length. Mix13 mixes 64 bits with two multiplications and
//! three shifts, in half the time of XXH3. The seed enters through a mask, which is made from it by a multiplication:
//! keys in a row and seeds in a row would otherwise be combined to the same numbers.
//!
//! Both functions are bijections: two integers never share a hash, and the hash can be undone
//! ([`IntegerHash`]). So neither hides keys from a reader who knows the seed, and keys that collide in some bits can be
//! constructed for a known seed. Tables bound their search for that reason.
//!
//! **Sources.** Stafford: *Better bit mixing* (2011), variant 13, for multipliers and shifts; it also ends SplitMix64.
//! Collet: *XXH3 specification*, for inputs of 4 to 8 bytes.

use super::scheme::{HashFunction, KeyScheme};

/// The first 64 bits of the fraction of √2: an arbitrary number, so that the integer 0 is not its own hash.
const OFFSET: u64 = 0x6A09_E667_F3BC_C908;
/// The first 64 bits of the fraction of the golden ratio, made odd.
const SEED_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
const FIRST: u64 = 0xBF58_476D_1CE4_E5B9;
const SECOND: u64 = 0x94D0_49BB_1331_11EB;
/// The multiplier of XXH3 for four to eight bytes.
const XXH3: u64 = 0x9FB2_1C65_1E98_DF25;

/// Returns what Mix13 combines integers with under a seed.
pub(super) const fn mask(seed: u64) -> u64 {
    seed.wrapping_mul(SEED_MULTIPLIER) ^ OFFSET
}

/// Returns the seed of a mask.
pub(super) const fn seed_of(mask: u64) -> u64 {
    (mask ^ OFFSET).wrapping_mul(inverse(SEED_MULTIPLIER))
}

/// Mix13 of an integer that is combined with a mask.
#[inline(always)]
pub(crate) const fn mix13(integer: u64, mask: u64) -> u64 {
    let x = integer ^ mask;
    let x = (x ^ x >> 30).wrapping_mul(FIRST);
    let x = (x ^ x >> 27).wrapping_mul(SECOND);
    x ^ x >> 31
}

/// XXH3 of exactly eight bytes, as its specification has it for 4 to 8. Written out, because a call for
/// any length costs more than the hash itself, and keeps the processor from working on several keys.
#[inline]
pub(crate) fn xxh3(integer: u64, seed: u64) -> u64 {
    const LENGTH: u64 = 8;
    /// Bytes 8 to 23 of the default secret, as two integers combined by exclusive or.
    const SECRET: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;
    let seed = seed ^ u64::from((seed as u32).swap_bytes()) << 32;
    let keyed = integer.rotate_left(32) ^ SECRET.wrapping_sub(seed);
    let mixed = (keyed ^ keyed.rotate_left(49) ^ keyed.rotate_left(24)).wrapping_mul(XXH3);
    let mixed = (mixed ^ (mixed >> 35).wrapping_add(LENGTH)).wrapping_mul(XXH3);
    mixed ^ mixed >> 28
}

/// Undoes the hash of integer keys under one scheme.
///
/// A table that holds hashes need not hold the integers as well, and comparing hashes compares keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IntegerHash {
    function: HashFunction,
    /// What the integer 0 is mixed as: the contribution of the seed.
    mask: u64,
}

impl IntegerHash {
    /// The inverse of the scheme's function. Only for schemes of integer keys.
    pub(crate) fn new(scheme: KeyScheme) -> Self {
        let (function, seed) = (scheme.function(), scheme.seed());
        let mask = if function == HashFunction::Mix13 { mask(seed) } else { undo_xxh3(xxh3(0, seed)) };
        Self { function, mask }
    }

    /// Returns the integer with this hash.
    pub(crate) fn invert(self, hash: u64) -> u64 {
        if self.function == HashFunction::Mix13 {
            undo_mix13(hash) ^ self.mask
        } else {
            // XXH3 reads the eight bytes as two words, the first of them on top.
            (undo_xxh3(hash) ^ self.mask).rotate_left(32)
        }
    }
}

fn undo_mix13(hash: u64) -> u64 {
    const UNDO_FIRST: u64 = inverse(FIRST);
    const UNDO_SECOND: u64 = inverse(SECOND);
    let x = (hash ^ hash >> 31 ^ hash >> 62).wrapping_mul(UNDO_SECOND);
    let x = (x ^ x >> 27 ^ x >> 54).wrapping_mul(UNDO_FIRST);
    x ^ x >> 30 ^ x >> 60
}

/// Undoes `x ^= rotl(x, 49) ^ rotl(x, 24); x *= m; x ^= (x >> 35) + 8; x *= m; x ^= x >> 28`.
fn undo_xxh3(hash: u64) -> u64 {
    const UNDO: u64 = inverse(XXH3);
    let x = (hash ^ hash >> 28 ^ hash >> 56).wrapping_mul(UNDO);
    // The sum has at most 30 bits, so the bits it was made from are still as they were.
    let x = (x ^ ((x >> 35) + 8)).wrapping_mul(UNDO);
    // As a polynomial in the rotation by one, where squares double the exponents, the step
    // f = 1 + r^49 + r^24 has f^64 = 1; so f^63, the product of its squarings, undoes it.
    (0..6).fold(x, |x, squaring| x ^ x.rotate_left(49 << squaring & 63) ^ x.rotate_left(24 << squaring & 63))
}

/// The inverse modulo 2^64 of an odd number; each of Newton's steps doubles the bits that are right.
pub(crate) const fn inverse(odd: u64) -> u64 {
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
    use xxhash_rust::xxh3::xxh3_64_with_seed;

    use super::*;

    /// Frozen: every file with integer keys depends on it. The values come from another program, written from docs/format.md.
    #[test]
    fn mix13_is_what_the_format_says() {
        let scheme = KeyScheme::integers();
        assert_eq!(scheme.function(), HashFunction::Mix13);
        let hash = |integer: u64, seed| scheme.with_seed(seed).hash(&integer).unwrap();
        let found = [hash(0, 0), hash(1, 0), hash(u64::MAX, 0), hash(42, 7), hash(0, u64::MAX)];
        assert_eq!(found, FROZEN, "{found:#018x?}");
    }

    const FROZEN: [u64; 5] = [
        0x492B_8D60_66C0_9227,
        0x3564_B439_CD1E_1F16,
        0xFDB2_18E5_A88F_15AE,
        0x0151_A2DB_C351_5238,
        0x6855_3DC2_ECFF_F33A,
    ];

    #[test]
    fn integers_of_old_files_are_hashed_as_their_eight_bytes() {
        for shift in 0..64 {
            for seed in [0, 1, 5, 0x9E37_79B1_85EB_CA8D, u64::MAX] {
                let integer = 0xF00D_D00F_1234_8765_u64 << shift ^ seed >> 3;
                assert_eq!(xxh3(integer, seed), xxh3_64_with_seed(&integer.to_le_bytes(), seed));
            }
        }
    }

    #[test]
    fn every_integer_and_every_seed_is_found_again() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for seed in [0, 1, u64::MAX, 1 << 32, random.next_u64()] {
            for function in [HashFunction::Mix13, HashFunction::Xxh3] {
                let scheme = KeyScheme::integers().with_function(function).unwrap().with_seed(seed);
                assert_eq!((scheme.seed(), scheme.function()), (seed, function));
                let hash = IntegerHash::new(scheme);
                let edges = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, u64::MAX << bit]);
                let others: Vec<u64> = (0..10_000).map(|_| random.next_u64()).collect();
                for integer in edges.chain(others) {
                    assert_eq!(hash.invert(scheme.hash(&integer).unwrap()), integer);
                }
            }
        }
    }
}
