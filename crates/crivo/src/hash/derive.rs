//! The two steps from a hash to an index.

use super::split_mix::{GOLDEN, finish};

/// The number of rows that a hash can be remixed for.
pub const ROWS: u32 = 64;

/// One odd multiplier a row. That of the first row is 1, because the hash is uniform as it is.
/// Those of the others are successive values of SplitMix64, made odd, which have no structure of
/// their own.
const MULTIPLIERS: &[u64; ROWS as usize] = &{
    let mut multipliers = [1; ROWS as usize];
    let mut row = 1;
    while row < ROWS {
        multipliers[row as usize] = multiplier(row);
        row += 1;
    }
    multipliers
};

/// Computes the multiplier of any row, also of rows past [`ROWS`].
#[inline]
pub(crate) const fn multiplier(row: u32) -> u64 {
    if row == 0 {
        return 1;
    }
    finish(GOLDEN.wrapping_mul(row as u64)) | 1
}

/// Returns the value of a hash for a row below [`ROWS`] (past that the values repeat). It is the
/// low half of the product with the row's own odd multiplier. Its high bits depend on every bit of
/// the hash.
///
/// This is multiply-shift hashing (Dietzfelbinger, Hagerup, Katajainen, Penttonen: *A reliable
/// randomized algorithm for the closest-pair problem*, 1997), one function of the family for each
/// row.
///
/// ```
/// use crivo::hash::remix;
/// let rows: Vec<u64> = (0..3).map(|row| remix(42, row)).collect();
/// assert!(rows[0] != rows[1] && rows[1] != rows[2]);
/// ```
#[inline(always)]
pub fn remix(hash: u64, row: u32) -> u64 {
    hash.wrapping_mul(MULTIPLIERS[(row % ROWS) as usize])
}

/// Returns the multipliers of the first rows, for loops over the rows of many hashes.
#[inline]
pub(crate) const fn multipliers(rows: u32) -> &'static [u64] {
    let rows = if rows < ROWS { rows } else { ROWS };
    MULTIPLIERS.split_at(rows as usize).0
}

/// Maps a uniform 64-bit value to `0..size` by its high bits: a multiplication instead of the far
/// slower division. Every index has the same share of the 64-bit values, to one part in
/// `2^64/size`.
#[inline(always)]
pub fn index(value: u64, size: u64) -> u64 {
    ((u128::from(value) * u128::from(size)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These values decide where bits lie in every stored filter and counter.
    #[test]
    fn derived_values_never_change() {
        assert_eq!(remix(42, 0), 42);
        assert_eq!(remix(1, 1), 0xE220_A839_7B1D_CDAF);
        assert_eq!(remix(1, 63), 0x3E00_A349_29A8_8F1D);
        assert_eq!(remix(0x0123_4567_89AB_CDEF, 31), 0x53E4_8509_B262_F7C1);
    }

    #[test]
    fn multipliers_are_odd_and_different() {
        for (row, multiplier) in MULTIPLIERS.iter().enumerate() {
            assert!(multiplier % 2 == 1 && !MULTIPLIERS[..row].contains(multiplier));
        }
    }

    #[test]
    fn indexes_stay_below_the_size() {
        for size in [1, 2, 3, 1000, 1 << 40, u64::MAX] {
            assert_eq!(index(0, size), 0);
            assert_eq!(index(u64::MAX, size), size - 1);
        }
    }
}
