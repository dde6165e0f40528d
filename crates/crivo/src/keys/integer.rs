//! The hashes of integer keys: Rrmxmx, and XXH3 for files that were written with it.
//!
//! An integer needs less than a function for bytes of any length. Rrmxmx mixes 64 bits with two
//! rotations, two multiplications and two shifts. XXH3 does the same for eight bytes, but Rrmxmx
//! has no length, and a mask in place of its secret. The mask is derived from the seed by a
//! multiplication, once for all keys. Otherwise consecutive keys and consecutive seeds would
//! combine to the same numbers.
//!
//! Mix13, which ends SplitMix64, and Moremur have a shift in place of the rotations. They are a
//! little faster, but fail tests of docs/accuracy/hashing.md: Mix13 the one for consecutive keys,
//! Moremur the one for keys that differ in their high bits.
//!
//! Both functions are bijections: two integers never share a hash, and the hash can be inverted
//! ([`IntegerHash`]). So neither hides keys from a reader who knows the seed. Keys that collide in
//! some bits can be constructed for a known seed. For that reason tables bound their search.
//!
//! **Sources.** Evensen: *On the mixing functions in "Fast splittable pseudorandom number
//! generators", MurmurHash3 and David Stafford's improved variants* (2018), for rotations,
//! multiplier and shifts. Collet: *XXH3 specification*, for inputs of 4 to 8 bytes.

use super::scheme::{HashFunction, KeyScheme};

/// The first 64 bits of the fraction of √2: an arbitrary number, so that the integer 0 is not its
/// own hash.
const OFFSET: u64 = 0x6A09_E667_F3BC_C908;
/// The first 64 bits of the fraction of the golden ratio, made odd.
const SEED_MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;
/// The multiplier of Rrmxmx, and of XXH3 for four to eight bytes.
const MULTIPLIER: u64 = 0x9FB2_1C65_1E98_DF25;

/// Returns the mask that Rrmxmx combines integers with under a seed.
pub(super) const fn mask(seed: u64) -> u64 {
    seed.wrapping_mul(SEED_MULTIPLIER) ^ OFFSET
}

/// Returns the seed that a mask was derived from.
pub(super) const fn seed_of(mask: u64) -> u64 {
    (mask ^ OFFSET).wrapping_mul(inverse(SEED_MULTIPLIER))
}

/// Returns Rrmxmx of an integer combined with a mask.
#[inline(always)]
pub(crate) const fn rrmxmx(integer: u64, mask: u64) -> u64 {
    let x = integer ^ mask;
    let x = (x ^ x.rotate_right(49) ^ x.rotate_right(24)).wrapping_mul(MULTIPLIER);
    let x = (x ^ x >> 28).wrapping_mul(MULTIPLIER);
    x ^ x >> 28
}

/// Returns XXH3 of exactly eight bytes, by its specification for 4 to 8 bytes. It is written out
/// here, because a call for any length costs more than the hash itself, and keeps the processor
/// from working on several keys at a time.
#[inline]
pub(crate) fn xxh3(integer: u64, seed: u64) -> u64 {
    const LENGTH: u64 = 8;
    /// Bytes 8 to 23 of the default secret, as two integers combined by exclusive or.
    const SECRET: u64 = 0x1CAD_21F7_2C81_017C ^ 0xDB97_9083_E96D_D4DE;
    let seed = seed ^ u64::from((seed as u32).swap_bytes()) << 32;
    let keyed = integer.rotate_left(32) ^ SECRET.wrapping_sub(seed);
    let mixed = (keyed ^ keyed.rotate_left(49) ^ keyed.rotate_left(24)).wrapping_mul(MULTIPLIER);
    let mixed = (mixed ^ (mixed >> 35).wrapping_add(LENGTH)).wrapping_mul(MULTIPLIER);
    mixed ^ mixed >> 28
}

/// Inverts the hash of integer keys under one scheme.
///
/// So a table that holds hashes need not hold the integers as well, and comparing hashes compares
/// keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IntegerHash {
    function: HashFunction,
    /// The seed's part of the mixed input: the input that the integer 0 becomes.
    mask: u64,
}

impl IntegerHash {
    /// Creates the inverse of the scheme's function. The scheme must be one of integer keys.
    pub(crate) fn new(scheme: KeyScheme) -> Self {
        let (function, seed) = (scheme.function(), scheme.seed());
        let mask = if function == HashFunction::Rrmxmx { mask(seed) } else { undo_xxh3(xxh3(0, seed)) };
        Self { function, mask }
    }

    /// Returns the integer with this hash.
    pub(crate) fn invert(self, hash: u64) -> u64 {
        if self.function == HashFunction::Rrmxmx {
            undo_rrmxmx(hash) ^ self.mask
        } else {
            // XXH3 reads the eight bytes as two words, the first as the high half.
            (undo_xxh3(hash) ^ self.mask).rotate_left(32)
        }
    }
}

const UNDO: u64 = inverse(MULTIPLIER);

/// Inverts `x ^= rotr(x, 49) ^ rotr(x, 24); x *= m; x ^= x >> 28; x *= m; x ^= x >> 28`.
fn undo_rrmxmx(hash: u64) -> u64 {
    let x = (hash ^ hash >> 28 ^ hash >> 56).wrapping_mul(UNDO);
    let x = (x ^ x >> 28 ^ x >> 56).wrapping_mul(UNDO);
    undo_rotations(x, 64 - 49, 64 - 24)
}

/// Inverts `x ^= rotl(x, 49) ^ rotl(x, 24); x *= m; x ^= (x >> 35) + 8; x *= m; x ^= x >> 28`.
fn undo_xxh3(hash: u64) -> u64 {
    let x = (hash ^ hash >> 28 ^ hash >> 56).wrapping_mul(UNDO);
    // The sum has at most 30 bits, so the bits that it was computed from are unchanged.
    let x = (x ^ ((x >> 35) + 8)).wrapping_mul(UNDO);
    undo_rotations(x, 49, 24)
}

/// Inverts `x ^= rotl(x, a) ^ rotl(x, b)`.
///
/// The step is the polynomial `f = 1 + r^a + r^b` in the rotation `r` by one. There, squaring
/// doubles the exponents, so `f^64 = 1`. Hence `f^63`, the product of the squarings of `f`, is the
/// inverse.
fn undo_rotations(x: u64, a: u32, b: u32) -> u64 {
    (0..6).fold(x, |x, squaring| x ^ x.rotate_left(a << squaring & 63) ^ x.rotate_left(b << squaring & 63))
}

/// Returns the inverse of an odd number modulo 2^64. Each of Newton's steps doubles the number of
/// correct bits.
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

    /// Frozen, because every file with integer keys depends on it. The values come from another
    /// program, written from docs/format.md.
    #[test]
    fn rrmxmx_is_what_the_format_says() {
        let scheme = KeyScheme::integers();
        assert_eq!(scheme.function(), HashFunction::Rrmxmx);
        let hash = |integer: u64, seed| scheme.with_seed(seed).hash(&integer).unwrap();
        let found = [hash(0, 0), hash(1, 0), hash(u64::MAX, 0), hash(42, 7), hash(0, u64::MAX)];
        assert_eq!(found, FROZEN, "{found:#018x?}");
    }

    const FROZEN: [u64; 5] = [
        0x797F_44E3_C2C2_E464,
        0x7D2B_0B59_E3E4_4FB4,
        0xAD3A_802D_71C0_1F29,
        0xE15A_64ED_8F10_FAAD,
        0x7390_F06C_670B_CCF9,
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
            for function in [HashFunction::Rrmxmx, HashFunction::Xxh3] {
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
