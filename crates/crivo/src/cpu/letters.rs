//! Converts text to lower case, and finds the bytes that belong to words.
//!
//! Both compare bytes with a few limits. A processor with AVX2 compares 32 bytes at a time; the
//! portable twin compares eight in a 64-bit word. Only ASCII is processed: other bytes stay as they
//! are and belong to no word.

#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The number of bytes whose bits make one word.
pub(crate) const BLOCK: usize = 64;

/// The high bit of each byte of a `u64`.
const HIGH: u64 = 0x8080_8080_8080_8080;
/// The low bit of each byte.
const LOW: u64 = 0x0101_0101_0101_0101;
/// Multiplies the low bits of eight bytes into the highest byte, in their order.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// Converts the ASCII letters of a text to lower case. Replaces `inside` by one bit for each byte,
/// the first byte lowest: whether it is a letter, a digit or `_`. Returns true if all bytes are
/// ASCII.
pub(crate) fn lower_and_mark(text: &mut [[u8; BLOCK]], inside: &mut Vec<u64>) -> bool {
    inside.clear();
    inside.reserve(text.len());
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[allow(unsafe_code)]
        // SAFETY: the processor has AVX2, as just checked, and the function needs nothing else.
        return unsafe { avx2::lower_and_mark(text, inside) };
    }
    portable(text, inside)
}

fn portable(text: &mut [[u8; BLOCK]], inside: &mut Vec<u64>) -> bool {
    let mut high = 0;
    inside.extend(text.iter_mut().map(|block| {
        let (eights, _) = block.as_chunks_mut::<8>();
        let mut bits = 0;
        for (index, eight) in eights.iter_mut().enumerate() {
            let bytes = u64::from_le_bytes(*eight);
            let low = bytes & !HIGH;
            // The high bit of each byte says whether the byte is at least `least`. No sum
            // exceeds 255.
            let from = |low: u64, least: u8| low + LOW * u64::from(0x80 - least);
            let capitals = from(low, b'A') & !from(low, b'Z' + 1) & !bytes & HIGH;
            // A capital has no bit 0x20, so nothing carries.
            let low = low + (capitals >> 2);
            *eight = (bytes + (capitals >> 2)).to_le_bytes();
            let letters = from(low, b'a') & !from(low, b'z' + 1);
            let digits = from(low, b'0') & !from(low, b'9' + 1);
            let underscores = from(low, b'_') & !from(low, b'_' + 1);
            let flags = (letters | digits | underscores) & !bytes & HIGH;
            bits |= ((flags >> 7).wrapping_mul(GATHER) >> 56) << (8 * index);
            high |= bytes & HIGH;
        }
        bits
    }));
    high == 0
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_min_epu8,
        _mm256_movemask_epi8, _mm256_or_si256, _mm256_set1_epi8, _mm256_setzero_si256, _mm256_storeu_si256,
        _mm256_sub_epi8,
    };

    use super::BLOCK;

    /// The number of bytes of a vector.
    const LANE: usize = 32;

    #[target_feature(enable = "avx2")]
    pub(super) fn lower_and_mark(text: &mut [[u8; BLOCK]], inside: &mut Vec<u64>) -> bool {
        let mut all = _mm256_setzero_si256();
        inside.extend(text.iter_mut().map(|block| {
            let (lanes, _) = block.as_chunks_mut::<LANE>();
            let mut bits = 0;
            for (index, lane) in lanes.iter_mut().enumerate() {
                #[allow(unsafe_code)]
                // SAFETY: the lane has 32 bytes, and the load needs no alignment.
                let bytes = unsafe { _mm256_loadu_si256(lane.as_ptr().cast()) };
                let capitals = is_in(bytes, b'A', 26);
                let lower = _mm256_or_si256(bytes, _mm256_and_si256(capitals, _mm256_set1_epi8(0x20)));
                #[allow(unsafe_code)]
                // SAFETY: as for the load.
                unsafe {
                    _mm256_storeu_si256(lane.as_mut_ptr().cast(), lower);
                }
                let underscores = _mm256_cmpeq_epi8(lower, _mm256_set1_epi8(b'_' as i8));
                let others = _mm256_or_si256(is_in(lower, b'a', 26), is_in(lower, b'0', 10));
                let inside = _mm256_movemask_epi8(_mm256_or_si256(underscores, others));
                bits |= u64::from(inside as u32) << (LANE * index);
                all = _mm256_or_si256(all, bytes);
            }
            bits
        }));
        _mm256_movemask_epi8(all) == 0
    }

    /// Returns all ones for each byte that is one of the `count` values from `first` on.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn is_in(bytes: __m256i, first: u8, count: u8) -> __m256i {
        let distance = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first as i8));
        _mm256_cmpeq_epi8(_mm256_min_epu8(distance, _mm256_set1_epi8((count - 1) as i8)), distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_agree_on_every_byte_at_every_place() {
        let text: Vec<[u8; BLOCK]> =
            (0..=255_u8).map(|byte| std::array::from_fn(|at| byte.wrapping_add((at * 7) as u8))).collect();
        let (mut wide, mut plain, mut bits, mut expected) = (text.clone(), text.clone(), vec![1], Vec::new());
        assert!(!lower_and_mark(&mut wide, &mut bits));
        assert!(!portable(&mut plain, &mut expected));
        assert!(wide == plain && bits == expected);
        for (block, (before, bits)) in plain.iter().zip(text.iter().zip(&bits)) {
            for (at, (&lower, &byte)) in block.iter().zip(before).enumerate() {
                assert_eq!(lower, byte.to_ascii_lowercase());
                let is_inside = byte.is_ascii_alphanumeric() || byte == b'_';
                assert_eq!(bits >> at & 1 == 1, is_inside, "{byte}");
            }
        }
        let mut ascii = [std::array::from_fn(|at| at as u8), [b'x'; BLOCK]];
        assert!(lower_and_mark(&mut ascii, &mut bits) && portable(&mut ascii, &mut Vec::new()));
        ascii[0][17] = 0x80;
        assert!(!lower_and_mark(&mut ascii, &mut bits));
    }
}
