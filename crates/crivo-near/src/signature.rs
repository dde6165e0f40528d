//! Signatures that are used instead of sets: 32 bits for each slot, two slots in a word.

use crivo::similarity::min_hash::compact;

/// Packs a signature that [`sign`](crivo::similarity::min_hash::sign) made. `short_slots` is a
/// buffer that can be reused.
pub fn pack_signature(slots: &[u64], short_slots: &mut Vec<u32>, words: &mut Vec<u64>) {
    short_slots.resize(slots.len(), 0);
    compact(slots, short_slots);
    words.extend(
        short_slots
            .chunks(2)
            .map(|two| u64::from(two[0]) | u64::from(two.get(1).copied().unwrap_or(0)) << 32),
    );
}

/// Returns the share of equal slots of two packed signatures of `slots` slots, if it is at least
/// the threshold.
pub fn signature_similarity(one: &[u64], other: &[u64], slots: u32, threshold: f64) -> Option<f64> {
    // If the number of slots is odd, the high half of the last word is 0 in both.
    let padding = slots % 2;
    let equal = |(one, other): (&u64, &u64)| {
        let differing = one ^ other;
        u32::from(differing as u32 == 0) + u32::from(differing >> 32 == 0)
    };
    let equal: u32 = one.iter().zip(other).map(equal).sum();
    let similarity = f64::from(equal.saturating_sub(padding)) / f64::from(slots.max(1));
    (similarity >= threshold).then_some(similarity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_signatures_compare_as_their_slots_do() {
        for slots in [1_u32, 2, 7, 128] {
            let one: Vec<u64> =
                (0..u64::from(slots)).map(|slot| slot.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
            let other: Vec<u64> =
                one.iter().zip(0..).map(|(slot, at)| if at % 3 == 0 { !slot } else { *slot }).collect();
            let words = |slots: &[u64]| {
                let mut words = Vec::new();
                pack_signature(slots, &mut Vec::new(), &mut words);
                words
            };
            let equal = slots - slots.div_ceil(3);
            let expected = f64::from(equal) / f64::from(slots);
            assert_eq!(signature_similarity(&words(&one), &words(&other), slots, 0.0), Some(expected));
            assert_eq!(signature_similarity(&words(&one), &words(&other), slots, 0.9), None);
            assert_eq!(signature_similarity(&words(&one), &words(&one), slots, 1.0), Some(1.0));
        }
    }
}
