//! The hashes of words and characters.

use crate::keys::words::SHORT;
use crate::keys::{hash_bytes, xxh3_of_integer};

/// Two constants without structure of their own: the fractions of √2 and √3, to 64 bits.
const A: u64 = 0x6A09_E667_F3BC_C908;
const B: u64 = 0xBB67_AE85_84CA_A73B;

/// Returns the hash of a word of at most 16 bytes, given as a little-endian number.
#[inline(always)]
pub(super) fn of_short_word(bytes: u128, seed: u64) -> u64 {
    let (low, high) = (bytes as u64 ^ A ^ seed, (bytes >> 64) as u64 ^ B);
    let product = u128::from(low) * u128::from(high);
    product as u64 ^ (product >> 64) as u64
}

/// Returns the hash of a longer word.
#[inline]
pub(super) fn of_long_word(word: &[u8], seed: u64) -> u64 {
    hash_bytes(word, seed)
}

/// Returns the hash of any word.
pub(super) fn of_word(word: &[u8], seed: u64) -> u64 {
    if word.len() > SHORT {
        return of_long_word(word, seed);
    }
    let mut bytes = [0; SHORT];
    bytes[..word.len()].copy_from_slice(word);
    of_short_word(u128::from_le_bytes(bytes), seed)
}

/// Returns the hash of a character.
#[inline]
pub(super) fn of_character(character: char, seed: u64) -> u64 {
    xxh3_of_integer(u64::from(character), seed)
}
