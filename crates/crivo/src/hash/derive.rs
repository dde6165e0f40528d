//! The two steps from a hash to an index.

/// Added up, its multiples are spread evenly over the 64-bit integers: 2^64 divided by the golden
/// ratio, made odd.
const STRIDE: u64 = 0x9E37_79B9_7F4A_7C15;

/// The fractional part of √2, in 64 bits: any constant without structure would do.
const TWIST: u64 = 0x6A09_E667_F3BC_C908;

/// An independent-looking 64-bit value for each row: the 128-bit product of the hash, changed by the
/// row, with the hash turned by half, folded by exclusive or.
///
/// Both factors depend on the hash, so that rows are not shifts of each other: with a constant
/// factor two keys that are close in both halves of one row's product are close in all.
///
/// ```
/// use crivo::hash::remix;
/// let rows: Vec<u64> = (0..3).map(|row| remix(42, row)).collect();
/// assert!(rows[0] != rows[1] && rows[1] != rows[2]);
/// ```
#[inline]
pub const fn remix(hash: u64, row: u32) -> u64 {
    let changed = hash ^ STRIDE.wrapping_mul(row as u64 + 1);
    let turned = hash.rotate_left(32) ^ TWIST;
    let product = changed as u128 * turned as u128;
    (product >> 64) as u64 ^ product as u64
}

/// Maps a uniform 64-bit value to `0..size` by its high bits: a multiplication instead of the far
/// slower division. Every index has the same share of the 64-bit values, to one part in `2^64/size`.
#[inline]
pub const fn index(value: u64, size: u64) -> u64 {
    ((value as u128 * size as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These values decide where bits lie in every stored filter and counter.
    #[test]
    fn derived_values_never_change() {
        assert_eq!(remix(0, 0), 0x6802_7D6B_A8A0_152D);
        assert_eq!(remix(u64::MAX, 7), 0xA07A_79BD_A82D_E0A9);
        assert_eq!(remix(0x0123_4567_89AB_CDEF, 31), 0x57E3_50AC_768C_FC65);
    }

    #[test]
    fn indexes_stay_below_the_size() {
        for size in [1, 2, 3, 1000, 1 << 40, u64::MAX] {
            assert_eq!(index(0, size), 0);
            assert_eq!(index(u64::MAX, size), size - 1);
        }
    }
}
