//! Signatures in the caller's own memory, for programs that hold millions of them.

use super::MinHash;
use super::rounds::{EMPTY, all_rounds, insert_all};
use crate::error::Result;

/// Computes the slots of a [`MinHash`] of a set of hashes without allocating. `k` is the length of
/// `slots`. For an empty set all slots are [`u64::MAX`], a value that no slot of another set has.
/// The caller must handle this case.
///
/// # Errors
/// If the number of slots is not in [`MinHash::SIZES`].
///
/// ```
/// use crivo::{keys::KeyScheme, similarity::MinHash, similarity::min_hash::sign};
///
/// let mut slots = [0; 128];
/// sign(&[3, 1, 4, 1, 5], &mut slots)?;
/// let mut sketch = MinHash::with_scheme(128, KeyScheme::hashes())?;
/// sketch.insert_hashes(&[1, 3, 4, 5]);
/// assert_eq!(sketch.slots(), slots);
/// # Ok::<(), crivo::Error>(())
/// ```
pub fn sign(hashes: &[u64], slots: &mut [u64]) -> Result<()> {
    let k = u32::try_from(slots.len()).unwrap_or(u32::MAX);
    MinHash::check_size(k)?;
    slots.fill(EMPTY);
    insert_all(slots, hashes, all_rounds(k));
    Ok(())
}

/// Shortens slots from 64 bits to 32. If the lengths differ, only the common part is filled.
/// Different slots become equal with probability 2^−32, which raises a similarity by no more than
/// that. Short slots cannot be merged.
///
/// ```
/// use crivo::similarity::min_hash::{compact, sign};
///
/// let (mut slots, mut short) = ([0; 128], [0_u32; 128]);
/// sign(&[3, 1, 4, 1, 5], &mut slots)?;
/// compact(&slots, &mut short);
/// # Ok::<(), crivo::Error>(())
/// ```
pub fn compact(slots: &[u64], short: &mut [u32]) {
    for (short, &slot) in short.iter_mut().zip(slots) {
        *short = (spread(slot) >> 32) as u32;
    }
}

/// Mixes every bit of a slot into its high bits.
#[inline(always)]
pub(in crate::similarity) fn spread(slot: u64) -> u64 {
    slot.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_slots_outside_the_range_are_refused() {
        for length in [0, 32_768] {
            let error = sign(&[1], &mut vec![0; length]).unwrap_err();
            assert_eq!((error.field(), error.expected()), ("k", "1 to 32767"));
        }
    }

    #[test]
    fn empty_sets_have_no_slot_in_common_with_others() {
        let (mut none, mut some) = ([0; 100], [0; 100]);
        sign(&[], &mut none).unwrap();
        sign(&[7], &mut some).unwrap();
        assert!(none.iter().all(|&slot| slot == u64::MAX));
        assert!(none.iter().zip(&some).all(|(a, b)| a != b));
    }

    #[test]
    fn short_slots_are_equal_where_the_long_ones_are() {
        let (mut first, mut second) = ([0; 400], [0; 400]);
        sign(&(0..600).collect::<Vec<_>>(), &mut first).unwrap();
        sign(&(200..800).collect::<Vec<_>>(), &mut second).unwrap();
        let (mut short_first, mut short_second) = ([0; 400], [0; 400]);
        compact(&first, &mut short_first);
        compact(&second, &mut short_second);
        let equal = |index: usize| first[index] == second[index];
        assert!((0..400).all(|index| equal(index) == (short_first[index] == short_second[index])));
        assert!((0..400).any(equal) && !(0..400).all(equal));
    }
}
