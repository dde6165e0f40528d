//! DJB31MA: the hash function of textbooks, for study.
//!
//! ```text
//! h ← seed;  for each byte:  h ← 31·h + byte   (modulo 2^32)
//! ```
//!
//! It takes one multiplication and one addition a byte, and it spreads words over a table well
//! enough. No sketch here uses it, because it fails all stricter requirements. The
//! [quality](super::quality) measurements show each failure:
//!
//! - Short texts give small numbers: those of up to five bytes stay below 2^28, so that the high
//!   bits say nothing.
//! - Texts that differ little give numbers that differ little: `key 1` and `key 2` lie side by
//!   side, more evenly than chance would put them.
//! - Seeds do not make a family of functions. The seed enters as `31^length·seed`, the same for all
//!   texts of one length. So texts that collide under one seed collide under all. A Bloom filter
//!   with *k* of these functions is one with *k* = 1.
//! - It can be run backwards, because 31 is odd: [`forge`](mod@super::forge) finds readable texts
//!   with a given value.

/// Returns the value of the bytes under a seed.
///
/// ```
/// use crivo::hash::djb31ma;
/// assert_eq!(djb31ma(b"", 7), 7);
/// assert_eq!(djb31ma(b"ab", 0), 31 * 97 + 98);
/// assert_eq!(djb31ma(b"Aa", 5), djb31ma(b"BB", 5)); // and under any other seed
/// ```
pub fn djb31ma(bytes: &[u8], seed: u32) -> u32 {
    bytes.iter().fold(seed, |hash, &byte| step(hash, byte))
}

#[inline]
pub(super) fn step(hash: u32, byte: u8) -> u32 {
    hash.wrapping_mul(31).wrapping_add(u32::from(byte))
}

/// Returns 31 to a power, modulo 2^32: the factor by which a text of that length multiplies its
/// seed.
pub(super) fn power(length: usize) -> u32 {
    (0..length).fold(1_u32, |power, _| power.wrapping_mul(31))
}

/// Returns the inverse of an odd number modulo 2^32, by Newton's method. Each step doubles the
/// number of correct bits.
pub(super) const fn inverse(odd: u32) -> u32 {
    let mut inverse = odd; // right in three bits
    let mut step = 0;
    while step < 4 {
        inverse = inverse.wrapping_mul(2_u32.wrapping_sub(odd.wrapping_mul(inverse)));
        step += 1;
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the definition, computed in integers that do not overflow.
    #[test]
    fn values_are_those_of_the_definition() {
        for (text, seed) in [("", 0_u32), ("a", 0), ("crivo", 17), ("a text of some length", u32::MAX)] {
            let exact =
                text.bytes().fold(u128::from(seed), |hash, byte| (31 * hash + u128::from(byte)) % (1 << 32));
            assert_eq!(u128::from(djb31ma(text.as_bytes(), seed)), exact, "{text}");
        }
        assert_eq!(djb31ma(&[0xFF], 0), 255, "bytes are unsigned");
    }

    #[test]
    fn seeds_enter_as_a_power_of_31() {
        let text = b"any text at all";
        let under = |seed| djb31ma(text, seed);
        assert_eq!(under(12345), under(0).wrapping_add(power(text.len()).wrapping_mul(12345)));
    }

    #[test]
    fn inverses_multiply_to_one() {
        for odd in [1, 3, 31, 12345, u32::MAX] {
            assert_eq!(inverse(odd).wrapping_mul(odd), 1);
        }
    }
}
