//! Which of 64 hashes have none of the given bits?

/// Returns a word whose bit `i` is set if `hashes[i]` has none of `bits` set.
#[inline]
pub(crate) fn without_bits(hashes: &[u64; 64], bits: u32) -> u64 {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code)]
    // SAFETY: SSE2 is part of the x86-64 architecture: every such processor has it.
    return unsafe { sse2(hashes, bits) };
    #[cfg(not(target_arch = "x86_64"))]
    return portable(hashes, bits);
}

#[cfg(any(test, not(target_arch = "x86_64")))]
fn portable(hashes: &[u64; 64], bits: u32) -> u64 {
    hashes
        .iter()
        .enumerate()
        .fold(0, |mask, (position, &hash)| mask | u64::from(hash & u64::from(bits) == 0) << position)
}

/// Processes sixteen hashes at a time. The compiler's own vector code for the loop above is four
/// times slower, because it compares all 64 bits, which this instruction set can only emulate.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn sse2(hashes: &[u64; 64], bits: u32) -> u64 {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_castps_si128, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_movemask_epi8,
        _mm_packs_epi16, _mm_packs_epi32, _mm_set_epi64x, _mm_set1_epi32, _mm_setzero_si128, _mm_shuffle_ps,
    };

    const LOW_HALVES: i32 = 0b10_00_10_00;
    let bits = _mm_set1_epi32(bits.cast_signed());
    // Returns all ones in each of the four lanes whose hash passes.
    let passes = |four: &[u64]| -> __m128i {
        let first = _mm_set_epi64x(four[1].cast_signed(), four[0].cast_signed());
        let second = _mm_set_epi64x(four[3].cast_signed(), four[2].cast_signed());
        let low = _mm_shuffle_ps::<LOW_HALVES>(_mm_castsi128_ps(first), _mm_castsi128_ps(second));
        _mm_cmpeq_epi32(_mm_and_si128(_mm_castps_si128(low), bits), _mm_setzero_si128())
    };
    let mut mask = 0;
    for (position, sixteen) in hashes.as_chunks::<16>().0.iter().enumerate() {
        let low = _mm_packs_epi32(passes(&sixteen[..4]), passes(&sixteen[4..8]));
        let high = _mm_packs_epi32(passes(&sixteen[8..12]), passes(&sixteen[12..]));
        let found = _mm_movemask_epi8(_mm_packs_epi16(low, high)).cast_unsigned();
        mask |= u64::from(found) << (16 * position);
    }
    mask
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn twins_agree() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for bits in [0, 1, 3, 0xFF, 0x8000_0000, u32::MAX] {
            for _ in 0..200 {
                // Sparse hashes, so that many pass for any bits.
                let hashes =
                    std::array::from_fn(|_| random.next_u64() & random.next_u64() & random.next_u64());
                assert_eq!(without_bits(&hashes, bits), portable(&hashes, bits), "bits {bits:x}");
            }
        }
        assert_eq!(without_bits(&[u64::MAX << 32; 64], u32::MAX), u64::MAX, "only the low half counts");
    }
}
