//! The hashes of the decimal texts of many integers.
//!
//! As in [`integers`](super::integers), the twins are one loop that is compiled for each kind of
//! vectors.

use crate::keys::{DecimalMasks, append_hashes as portable};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Appends the hash of each integer's decimal text to `hashes`.
pub(crate) fn hash_decimals(integers: &[i64], masks: &DecimalMasks, hashes: &mut Vec<u64>) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if std::arch::is_x86_feature_detected!("avx512dq") && std::arch::is_x86_feature_detected!("avx512vl") {
        #[allow(unsafe_code)]
        // SAFETY: the processor has these instructions, as just checked, and the function needs
        // nothing else.
        return unsafe { avx512(integers, masks, hashes) };
    } else if std::arch::is_x86_feature_detected!("avx2") {
        #[allow(unsafe_code)]
        // SAFETY: the processor has AVX2, as just checked, and the function needs nothing else.
        return unsafe { avx2(integers, masks, hashes) };
    }
    portable(integers, masks, hashes);
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn avx512(integers: &[i64], masks: &DecimalMasks, hashes: &mut Vec<u64>) {
    portable(integers, masks, hashes);
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2")]
fn avx2(integers: &[i64], masks: &DecimalMasks, hashes: &mut Vec<u64>) {
    portable(integers, masks, hashes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_agree_for_every_number_of_integers() {
        let integers: Vec<i64> =
            (0..300).map(|i: i64| if i % 97 == 96 { -i } else { i * i * 1009 + 1000 }).collect();
        let masks = DecimalMasks::of(5);
        for len in 0..integers.len() {
            let (mut wide, mut plain) = (vec![1], vec![1]);
            hash_decimals(&integers[..len], &masks, &mut wide);
            portable(&integers[..len], &masks, &mut plain);
            assert_eq!(wide, plain);
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            if std::arch::is_x86_feature_detected!("avx2") {
                let mut four = vec![1];
                #[allow(unsafe_code)]
                // SAFETY: the processor has AVX2, as just checked.
                unsafe {
                    avx2(&integers[..len], &masks, &mut four);
                }
                assert_eq!(four, plain);
            }
        }
    }
}
