//! Operations on cache lines with eight bits for each key, one in each word.
//!
//! AVX2 has variable shifts, which make a mask of eight words in a handful of instructions, so a
//! key takes a third of the time. The twin is chosen at run time, once for a whole batch.
//!
//! For a single key the block is found before the choice is made, so that only the code that needs
//! the instructions is called. With AVX-512 the eight words of a block are one vector. A batch
//! waits for memory anyway, and gained nothing from AVX-512.

use super::prefetch;
use crate::hash::index;

/// Eight words in one cache line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [u64; 8]);

/// For each word, the lowest of the six bits of the choice that choose its bit.
const SHIFTS: [u64; 8] = [58, 52, 46, 40, 34, 28, 22, 16];

/// How many keys ahead of its use a block is prefetched.
const AHEAD: usize = 24;

/// Computes the position of a key's bits: its block, and the choice of bits in the block.
#[derive(Debug, Clone, Copy)]
struct Places {
    blocks: u64,
    /// Multiplies the hash to choose the bits, because the hash itself chooses the block.
    multiplier: u64,
}

impl Places {
    #[inline(always)]
    fn block(self, hash: u64) -> usize {
        index(hash, self.blocks) as usize
    }

    #[inline(always)]
    fn choice(self, hash: u64) -> u64 {
        hash.wrapping_mul(self.multiplier)
    }
}

/// The two operations on a batch, based on the operations on one key.
macro_rules! jobs_of_batches {
    ($(#[$feature:meta])?) => {
        $(#[$feature])?
        pub(super) fn insert_all(blocks: &mut [Block], places: Places, hashes: &[u64]) {
            for (position, &hash) in hashes.iter().enumerate() {
                if let Some(&later) = hashes.get(position + AHEAD) {
                    prefetch(blocks, places.block(later));
                }
                insert(&mut blocks[places.block(hash)], places.choice(hash));
            }
        }

        $(#[$feature])?
        pub(super) fn contains_all(blocks: &[Block], places: Places, hashes: &[u64], found: &mut [bool]) {
            for (position, (&hash, found)) in hashes.iter().zip(found).enumerate() {
                if let Some(&later) = hashes.get(position + AHEAD) {
                    prefetch(blocks, places.block(later));
                }
                *found = contains(&blocks[places.block(hash)], places.choice(hash));
            }
        }
    };
}

/// The four operations for any processor.
mod portable {
    use super::{AHEAD, Block, Places, prefetch};

    /// Returns a mask with the bit that a key sets in each word. Each word uses six bits of
    /// `choice`, from the highest down.
    #[inline(always)]
    pub(super) fn mask(choice: u64) -> [u64; 8] {
        std::array::from_fn(|word| 1 << (choice >> super::SHIFTS[word] & 63))
    }

    pub(super) fn insert(block: &mut Block, choice: u64) -> bool {
        let is_new = !contains(block, choice);
        for (word, bit) in block.0.iter_mut().zip(mask(choice)) {
            *word |= bit;
        }
        is_new
    }

    pub(super) fn contains(block: &Block, choice: u64) -> bool {
        block.0.iter().zip(mask(choice)).fold(0, |missing, (word, bit)| missing | (bit & !word)) == 0
    }

    jobs_of_batches!();
}

/// The same four operations, with the two halves of a block in two vector registers.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_load_si256, _mm256_or_si256, _mm256_set1_epi64x,
        _mm256_setr_epi64x, _mm256_sllv_epi64, _mm256_srlv_epi64, _mm256_store_si256, _mm256_testc_si256,
    };

    use super::{AHEAD, Block, Places, SHIFTS, prefetch};

    #[inline]
    #[target_feature(enable = "avx2")]
    fn mask(choice: u64) -> [__m256i; 2] {
        let choice = _mm256_set1_epi64x(choice.cast_signed());
        let half = |shifts: [u64; 4]| {
            let [a, b, c, d] = shifts.map(u64::cast_signed);
            let chosen = _mm256_srlv_epi64(choice, _mm256_setr_epi64x(a, b, c, d));
            _mm256_sllv_epi64(_mm256_set1_epi64x(1), _mm256_and_si256(chosen, _mm256_set1_epi64x(63)))
        };
        let [a, b, c, d, e, f, g, h] = SHIFTS;
        [half([a, b, c, d]), half([e, f, g, h])]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn halves(block: &Block) -> [__m256i; 2] {
        let address = std::ptr::from_ref(block).cast::<__m256i>();
        // SAFETY: a block is 64 bytes, aligned to 64, so two vectors of 32 bytes are in it.
        unsafe { [_mm256_load_si256(address), _mm256_load_si256(address.add(1))] }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn contains(block: &Block, choice: u64) -> bool {
        let ([low, high], [low_mask, high_mask]) = (halves(block), mask(choice));
        _mm256_testc_si256(low, low_mask) & _mm256_testc_si256(high, high_mask) == 1
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn insert(block: &mut Block, choice: u64) -> bool {
        let ([low, high], [low_mask, high_mask]) = (halves(block), mask(choice));
        let address = std::ptr::from_mut(block).cast::<__m256i>();
        // SAFETY: as in `halves`, and the block is borrowed for writing.
        unsafe {
            _mm256_store_si256(address, _mm256_or_si256(low, low_mask));
            _mm256_store_si256(address.add(1), _mm256_or_si256(high, high_mask));
        }
        _mm256_testc_si256(low, low_mask) & _mm256_testc_si256(high, high_mask) == 0
    }

    jobs_of_batches!(#[target_feature(enable = "avx2")]);
}

/// The two operations on one key, with a block in one vector register.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm512_load_si512, _mm512_or_si512, _mm512_rolv_epi64, _mm512_set1_epi64, _mm512_setr_epi64,
        _mm512_srlv_epi64, _mm512_store_si512, _mm512_testn_epi64_mask,
    };

    use super::{Block, SHIFTS};

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn mask(choice: u64) -> __m512i {
        let [a, b, c, d, e, f, g, h] = SHIFTS.map(u64::cast_signed);
        let shifts = _mm512_setr_epi64(a, b, c, d, e, f, g, h);
        let chosen = _mm512_srlv_epi64(_mm512_set1_epi64(choice.cast_signed()), shifts);
        // A rotation uses the lowest six bits only, but a shift uses more.
        _mm512_rolv_epi64(_mm512_set1_epi64(1), chosen)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn words(block: &Block) -> __m512i {
        // SAFETY: a block is 64 bytes, aligned to 64, which is one vector.
        unsafe { _mm512_load_si512(std::ptr::from_ref(block).cast::<__m512i>()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn contains(block: &Block, choice: u64) -> bool {
        _mm512_testn_epi64_mask(words(block), mask(choice)) == 0
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    pub(super) fn insert(block: &mut Block, choice: u64) -> bool {
        let (words, mask) = (words(block), mask(choice));
        // SAFETY: as in `words`, and the block is borrowed for writing.
        unsafe {
            _mm512_store_si512(std::ptr::from_mut(block).cast::<__m512i>(), _mm512_or_si512(words, mask));
        }
        _mm512_testn_epi64_mask(words, mask) != 0
    }
}

/// Expands to true if the processor has a feature. Without the standard library, only the features
/// of the compilation target are known.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($feature:tt) => {{
        #[cfg(feature = "std")]
        let has = std::arch::is_x86_feature_detected!($feature);
        #[cfg(not(feature = "std"))]
        let has = cfg!(target_feature = $feature);
        has
    }};
}

/// Calls the first of these twins that this processor supports, or the portable one.
macro_rules! best {
    ([$($feature:tt: $twin:ident),*] $job:ident $arguments:tt) => {{
        $(
            #[cfg(target_arch = "x86_64")]
            if has!($feature) {
                #[allow(unsafe_code)]
                // SAFETY: the processor has these instructions, as just checked, and the function
                // needs nothing else.
                return unsafe { $twin::$job $arguments };
            }
        )*
        portable::$job $arguments
    }};
}

/// Sets the bits of a key. Returns true if one of them was zero.
#[inline]
pub(crate) fn insert_one(blocks: &mut [Block], multiplier: u64, hash: u64) -> bool {
    let places = Places { blocks: blocks.len() as u64, multiplier };
    let (block, choice) = (&mut blocks[places.block(hash)], places.choice(hash));
    best!(["avx512f": avx512, "avx2": avx2] insert(block, choice))
}

/// Returns true if all bits of a key are set.
#[inline]
pub(crate) fn contains_one(blocks: &[Block], multiplier: u64, hash: u64) -> bool {
    let places = Places { blocks: blocks.len() as u64, multiplier };
    let (block, choice) = (&blocks[places.block(hash)], places.choice(hash));
    best!(["avx512f": avx512, "avx2": avx2] contains(block, choice))
}

/// Sets the bits of many keys, and prefetches their blocks.
pub(crate) fn insert_all(blocks: &mut [Block], multiplier: u64, hashes: &[u64]) {
    let places = Places { blocks: blocks.len() as u64, multiplier };
    best!(["avx2": avx2] insert_all(blocks, places, hashes));
}

/// Writes to `found` whether all bits of each key are set, and prefetches the keys' blocks.
pub(crate) fn contains_all(blocks: &[Block], multiplier: u64, hashes: &[u64], found: &mut [bool]) {
    let places = Places { blocks: blocks.len() as u64, multiplier };
    best!(["avx2": avx2] contains_all(blocks, places, hashes, found));
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// Tests that single keys by one twin, and batches by the same or another twin, give the
    /// results of the portable operations.
    macro_rules! agree_with_portable {
        ($twin:ident, batches: $of_batches:ident) => {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
            for len in [1, 2, 77] {
                let mut hashes = || (0..1000).map(|_| random.next_u64()).collect::<Vec<u64>>();
                let (inserted, probes, multiplier) = (hashes(), hashes(), hashes()[0] | 1);
                let places = Places { blocks: len as u64, multiplier };
                let mut batch = vec![Block::default(); len];
                let (mut portable, mut one_by_one) = (batch.clone(), batch.clone());
                for &hash in &inserted {
                    let (at, choice) = (places.block(hash), places.choice(hash));
                    let is_new = portable::insert(&mut portable[at], choice);
                    #[allow(unsafe_code, unused_unsafe)]
                    // SAFETY: the caller checked that the processor has the instructions of the
                    // twin.
                    let twin_is_new = unsafe { $twin::insert(&mut one_by_one[at], choice) };
                    assert_eq!(twin_is_new, is_new);
                }
                let mut found = vec![true; 1000];
                #[allow(unsafe_code, unused_unsafe)]
                // SAFETY: as before.
                unsafe {
                    $of_batches::insert_all(&mut batch, places, &inserted);
                    $of_batches::contains_all(&batch, places, &probes, &mut found);
                }
                assert_eq!((&batch, &one_by_one), (&portable, &portable));
                for (&hash, found) in probes.iter().zip(found) {
                    let (block, choice) = (&batch[places.block(hash)], places.choice(hash));
                    #[allow(unsafe_code, unused_unsafe)]
                    // SAFETY: as before.
                    let twin = unsafe { $twin::contains(block, choice) };
                    assert_eq!([twin, found], [portable::contains(block, choice); 2]);
                }
            }
        };
    }

    #[test]
    fn twins_agree() {
        agree_with_portable!(portable, batches: portable);
        #[cfg(target_arch = "x86_64")]
        if has!("avx2") {
            agree_with_portable!(avx2, batches: avx2);
        }
        #[cfg(target_arch = "x86_64")]
        if has!("avx512f") {
            agree_with_portable!(avx512, batches: portable);
        }
    }

    #[test]
    fn the_door_leads_to_the_same_answers() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let hashes: Vec<u64> = (0..1000).map(|_| random.next_u64()).collect();
        let (mut one_by_one, mut batch) = (vec![Block::default(); 50], vec![Block::default(); 50]);
        let new = hashes.iter().filter(|&&hash| insert_one(&mut one_by_one, 5, hash)).count();
        assert!(new > 900 && !insert_one(&mut one_by_one, 5, hashes[0]));
        insert_all(&mut batch, 5, &hashes);
        assert_eq!(one_by_one, batch);
        let probes: Vec<u64> = hashes.iter().flat_map(|&hash| [hash, hash ^ 1 << 50]).collect();
        let mut found = vec![false; probes.len()];
        contains_all(&batch, 5, &probes, &mut found);
        for (position, (&hash, found)) in probes.iter().zip(found).enumerate() {
            assert_eq!(contains_one(&batch, 5, hash), found);
            assert!(found || position % 2 == 1);
        }
    }

    #[test]
    fn a_key_sets_one_bit_in_each_word() {
        assert_eq!(portable::mask(0), [1; 8]);
        assert_eq!(portable::mask(u64::MAX), [1 << 63; 8]);
        assert_eq!(portable::mask(5 << 58)[0], 1 << 5);
        assert_eq!(portable::mask(5 << 16)[7], 1 << 5);
    }
}
