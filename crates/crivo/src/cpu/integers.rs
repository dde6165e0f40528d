//! The hashes of many integers.
//!
//! A processor with wide vectors mixes four or eight integers at a time. The twins are one loop
//! that is compiled for each kind of vectors. The compiler makes better vector code of it than of
//! intrinsics, and the results cannot differ.

use crate::keys::rrmxmx;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Appends Rrmxmx of each integer, combined with the mask, to `hashes`.
pub(crate) fn hash_integers(integers: &[u64], mask: u64, hashes: &mut Vec<u64>) {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    if std::arch::is_x86_feature_detected!("avx512dq") && std::arch::is_x86_feature_detected!("avx512vl") {
        #[allow(unsafe_code)]
        // SAFETY: the processor has these instructions, as just checked, and the function needs
        // nothing else.
        return unsafe { avx512(integers, mask, hashes) };
    } else if std::arch::is_x86_feature_detected!("avx2") {
        #[allow(unsafe_code)]
        // SAFETY: the processor has AVX2, as just checked, and the function needs nothing else.
        return unsafe { avx2(integers, mask, hashes) };
    }
    portable(integers, mask, hashes);
}

#[inline(always)]
fn portable(integers: &[u64], mask: u64, hashes: &mut Vec<u64>) {
    hashes.extend(integers.iter().map(|&integer| rrmxmx(integer, mask)));
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn avx512(integers: &[u64], mask: u64, hashes: &mut Vec<u64>) {
    portable(integers, mask, hashes);
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "avx2")]
fn avx2(integers: &[u64], mask: u64, hashes: &mut Vec<u64>) {
    portable(integers, mask, hashes);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twins_agree_for_every_number_of_integers() {
        let integers: Vec<u64> = (0..70).map(|i: u64| i.wrapping_mul(0xD6E8_FEB8_6659_FD93)).collect();
        for len in 0..integers.len() {
            let (mut wide, mut plain) = (vec![1], vec![1]);
            hash_integers(&integers[..len], 5, &mut wide);
            portable(&integers[..len], 5, &mut plain);
            assert_eq!(wide, plain);
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            if std::arch::is_x86_feature_detected!("avx2") {
                let mut four = vec![1];
                #[allow(unsafe_code)]
                // SAFETY: the processor has AVX2, as just checked.
                unsafe {
                    avx2(&integers[..len], 5, &mut four);
                }
                assert_eq!(four, plain);
            }
        }
    }
}
