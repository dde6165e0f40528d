//! The hashes of integers that are keyed by their text, as in columns of tables.
//!
//! A column of integers has millions of short texts that are read only to be hashed. So numbers of
//! 4 to 16 digits, which most are, never become a text in memory. Eight digits are computed at once
//! in one register, and XXH3 of 4 to 16 bytes is a few multiplications of it. Numbers of 4 to 8
//! digits are hashed by vectors. All other integers are written out and hashed like any text.
//!
//! **Sources.** XXH3's specification (Collet: *xxHash fast digest algorithm*), sections on inputs
//! of 4 to 8 and of 9 to 16 bytes. Digits by multiplication in the lanes of a word are common
//! practice.

use super::KeyScheme;
use super::scheme::{KeyKind, hash_bytes};
use crate::cpu::hash_decimals;
use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl KeyScheme {
    /// Appends the hash of each integer's decimal text, which is the integer's key in a column of
    /// text keys.
    ///
    /// ```
    /// use crivo::keys::KeyScheme;
    /// let (scheme, mut hashes) = (KeyScheme::bytes(), Vec::new());
    /// scheme.hash_decimals(&[42, -7], &mut hashes)?;
    /// assert_eq!(hashes, [scheme.hash("42")?, scheme.hash("-7")?]);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the scheme's keys are not bytes.
    pub fn hash_decimals(self, integers: &[i64], hashes: &mut Vec<u64>) -> Result<()> {
        if self.kind() != KeyKind::Bytes {
            return Err(self.wrong_kind(KeyKind::Bytes));
        }
        hash_decimals(integers, &DecimalMasks::of(self.seed()), hashes);
        Ok(())
    }
}

/// The number of integers that are processed together: if all of them are short, vectors hash them.
const BLOCK: usize = 64;

/// Appends the hashes. [`crate::cpu`] also compiles it for wide vectors.
#[inline(always)]
pub(crate) fn append_hashes(integers: &[i64], masks: &DecimalMasks, hashes: &mut Vec<u64>) {
    let (blocks, rest) = integers.as_chunks::<BLOCK>();
    for block in blocks {
        // Not `all`, which would stop at the first long integer and so prevent vector code.
        if block.iter().fold(true, |are_short, &integer| are_short & is_short(integer)) {
            let mut hashed = [0; BLOCK];
            for (hash, &integer) in hashed.iter_mut().zip(block) {
                *hash = masks.hash_short(integer as u64);
            }
            hashes.extend_from_slice(&hashed);
        } else {
            append_each(block, masks, hashes);
        }
    }
    append_each(rest, masks, hashes);
}

#[inline(never)]
fn append_each(integers: &[i64], masks: &DecimalMasks, hashes: &mut Vec<u64>) {
    hashes.extend(integers.iter().map(|&integer| {
        let value = integer as u64;
        if is_short(integer) {
            masks.hash_short(value)
        } else if (EIGHT_DIGITS..SIXTEEN_DIGITS).contains(&value) {
            masks.hash_long(value)
        } else {
            hash_bytes(itoa::Buffer::new().format(integer).as_bytes(), masks.seed)
        }
    }));
}

/// Returns true for numbers of 4 to 8 digits.
#[inline(always)]
fn is_short(integer: i64) -> bool {
    (integer as u64).wrapping_sub(1000) < EIGHT_DIGITS - 1000
}

/// The first number with more than eight digits, and the first with more than sixteen.
const EIGHT_DIGITS: u64 = 100_000_000;
const SIXTEEN_DIGITS: u64 = EIGHT_DIGITS * EIGHT_DIGITS;

/// The values that XXH3 combines short inputs with, computed from its secret and the seed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecimalMasks {
    seed: u64,
    short: u64,
    long: [u64; 2],
}

/// The words of XXH3's secret from byte 8 on, little-endian.
const SECRET: [u64; 6] = [
    0x1CAD_21F7_2C81_017C,
    0xDB97_9083_E96D_D4DE,
    0x1F67_B3B7_A4A4_4072,
    0x78E5_C0CC_4EE6_79CB,
    0x2172_FFCC_7DD0_5A82,
    0x8E24_43F7_7446_08B8,
];

impl DecimalMasks {
    pub(crate) fn of(seed: u64) -> Self {
        let spread = seed ^ u64::from((seed as u32).swap_bytes()) << 32;
        Self {
            seed,
            short: (SECRET[0] ^ SECRET[1]).wrapping_sub(spread),
            long: [(SECRET[2] ^ SECRET[3]).wrapping_add(seed), (SECRET[4] ^ SECRET[5]).wrapping_sub(seed)],
        }
    }

    /// Hashes the text of a number of 4 to 8 digits.
    #[inline(always)]
    fn hash_short(&self, value: u64) -> u64 {
        let digits = eight_digits(value);
        // The number of leading zeros, by comparisons that vectors also have.
        let below = |limit: u64| u64::from(value < limit);
        let zeros = below(10_000) + below(100_000) + below(1_000_000) + below(10_000_000);
        let (leading, len) = (8 * zeros, 8 - zeros);
        let text = digits | ASCII;
        let (first, last) = (text >> leading & 0xFFFF_FFFF, text >> 32);
        let keyed = (last | first << 32) ^ self.short;
        let mixed = keyed ^ keyed.rotate_left(49) ^ keyed.rotate_left(24);
        let mixed = mixed.wrapping_mul(0x9FB2_1C65_1E98_DF25);
        let mixed = (mixed ^ (mixed >> 35).wrapping_add(len)).wrapping_mul(0x9FB2_1C65_1E98_DF25);
        mixed ^ mixed >> 28
    }

    /// Hashes the text of a number of 9 to 16 digits.
    #[inline(always)]
    fn hash_long(&self, value: u64) -> u64 {
        let (upper, lower) = (eight_digits(value / EIGHT_DIGITS), eight_digits(value % EIGHT_DIGITS));
        let leading = upper.trailing_zeros() & !7;
        let len = u64::from(16 - leading / 8);
        let (upper, lower) = (upper | ASCII, lower | ASCII);
        // Shifted in two steps, because a shift by 64 bits is not possible.
        let first = upper >> leading | (lower << 8) << (56 - leading);
        let (low, high) = (first ^ self.long[0], lower ^ self.long[1]);
        let product = u128::from(low) * u128::from(high);
        let sum = len
            .wrapping_add(low.swap_bytes())
            .wrapping_add(high)
            .wrapping_add(product as u64 ^ (product >> 64) as u64);
        let mixed = (sum ^ sum >> 37).wrapping_mul(0x1656_6791_9E37_79F9);
        mixed ^ mixed >> 32
    }
}

/// Eight `0` digits.
const ASCII: u64 = 0x3030_3030_3030_3030;

/// Returns the eight decimal digits of a number, the first digit in the lowest byte.
#[inline(always)]
fn eight_digits(value: u64) -> u64 {
    // n · 109951163 / 2^40 is n / 10000, rounded down, for all n of eight digits.
    let thousands = (value * 109_951_163) >> 40;
    let fours = thousands | (value - 10_000 * thousands) << 32;
    // n · 10486 / 2^20 is n / 100, rounded down, for all n of four digits.
    let hundreds = (fours * 10_486) >> 20 & 0x0000_007F_0000_007F;
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    // n · 103 / 2^10 is n / 10, rounded down, for all n of two digits.
    let tens = (twos * 103) >> 10 & 0x000F_000F_000F_000F;
    tens | (twos - 10 * tens) << 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(integers: &[i64], seed: u64) {
        let scheme = KeyScheme::bytes().with_seed(seed);
        let mut hashes = Vec::new();
        scheme.hash_decimals(integers, &mut hashes).unwrap();
        for (integer, hash) in integers.iter().zip(hashes) {
            assert_eq!(hash, scheme.hash(&integer.to_string()).unwrap(), "{integer} with seed {seed}");
        }
    }

    #[test]
    fn hashes_are_those_of_the_texts() {
        let mut integers: Vec<i64> = (-20_000..200_000).collect();
        let mut bits = 7_u64;
        for shift in 0..64 {
            for _ in 0..2000 {
                bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                integers.push((bits >> shift) as i64);
            }
        }
        for power in 0..19 {
            let power = 10_i64.pow(power);
            integers.extend([power - 1, power, power + 1, -power, 1 - power, power / 2 * 3]);
        }
        integers.extend([i64::MIN, i64::MAX]);
        for seed in [0, 1, 0x0123_4567_89AB_CDEF, u64::MAX] {
            check(&integers, seed);
        }
    }

    #[test]
    fn every_group_of_four_digits_is_written_right() {
        check(&(0..10_000).map(|four| 12_340_000 + four).collect::<Vec<_>>(), 3);
        check(&(0..10_000).map(|four| four * 10_000 + 5678).collect::<Vec<_>>(), 3);
    }

    #[test]
    fn only_schemes_of_bytes_hash_texts() {
        assert!(KeyScheme::integers().hash_decimals(&[1], &mut Vec::new()).is_err());
    }
}
