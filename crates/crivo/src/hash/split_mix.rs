//! SplitMix64 (Steele, Lea, Flood: *Fast splittable pseudorandom number generators*, 2014): turns
//! numbers with a visible structure into numbers without one.
//!
//! It is part of the format: multipliers, seeds and shingles are made with it.

/// The increment of the generator: 2^64 divided by the golden ratio.
pub const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The two odd multipliers of the mixer.
pub(crate) const MULTIPLIERS: [u64; 2] = [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB];

/// Returns the output for a state of the generator: a bijection after which every bit depends on
/// every other.
///
/// ```
/// use crivo::hash::split_mix::{GOLDEN, finish, mix};
/// // The first value of the generator from the seed 0.
/// assert_eq!(finish(GOLDEN), 0xE220_A839_7B1D_CDAF);
/// assert_eq!(mix(0), finish(GOLDEN));
/// ```
#[inline(always)]
pub const fn finish(state: u64) -> u64 {
    let mixed = (state ^ state >> 30).wrapping_mul(MULTIPLIERS[0]);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(MULTIPLIERS[1]);
    mixed ^ mixed >> 31
}

/// Returns the first value of the generator from a seed.
#[inline(always)]
pub const fn mix(seed: u64) -> u64 {
    finish(seed.wrapping_add(GOLDEN))
}
