//! Pseudo-random numbers from a specified generator.

/// Returns the next number of `SplitMix64` (Steele, Lea and Flood 2014). The library has it too,
/// but this program does not depend on the library, so that it builds quickly.
pub(crate) fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
