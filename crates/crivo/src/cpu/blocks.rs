//! Cache lines with eight bits a key, one in each word.
//!
//! With AVX2, whose variable shifts make a mask of eight words in a handful of instructions, a key
//! takes a third of the time. Which of the twins runs is decided at run time, once for a whole batch.

use super::prefetch;
use crate::hash::index;

/// Eight words that lie in one cache line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [u64; 8]);

/// How far down the six bits of each word's choice lie.
const SHIFTS: [u64; 8] = [58, 52, 46, 40, 34, 28, 22, 16];

/// How many keys ahead a block is fetched.
const AHEAD: usize = 24;

impl Block {
    /// The bit that a key sets in each word: six bits of `choice` for each, from the highest down.
    #[inline(always)]
    fn mask(choice: u64) -> [u64; 8] {
        std::array::from_fn(|word| 1 << (choice >> SHIFTS[word] & 63))
    }

    /// Sets the bits; whether one of them was zero.
    #[inline(always)]
    fn insert(&mut self, choice: u64) -> bool {
        let is_new = !self.contains(choice);
        for (word, bit) in self.0.iter_mut().zip(Self::mask(choice)) {
            *word |= bit;
        }
        is_new
    }

    #[inline(always)]
    fn contains(&self, choice: u64) -> bool {
        self.0.iter().zip(Self::mask(choice)).fold(0, |missing, (word, bit)| missing | (bit & !word)) == 0
    }
}

/// Where a key's bits lie: its block, and the choice of bits in there.
#[derive(Debug, Clone, Copy)]
struct Places {
    blocks: u64,
    /// Multiplies the hash to choose the bits: the block is chosen by the hash itself.
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

/// The four jobs for any processor.
mod portable {
    use super::{AHEAD, Block, Places, prefetch};

    pub(super) fn insert_one(blocks: &mut [Block], places: Places, hash: u64) -> bool {
        blocks[places.block(hash)].insert(places.choice(hash))
    }

    pub(super) fn contains_one(blocks: &[Block], places: Places, hash: u64) -> bool {
        blocks[places.block(hash)].contains(places.choice(hash))
    }

    pub(super) fn insert_all(blocks: &mut [Block], places: Places, hashes: &[u64]) {
        for (position, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(position + AHEAD) {
                prefetch(blocks, places.block(later));
            }
            blocks[places.block(hash)].insert(places.choice(hash));
        }
    }

    pub(super) fn contains_all(blocks: &[Block], places: Places, hashes: &[u64], found: &mut [bool]) {
        for (position, (&hash, found)) in hashes.iter().zip(found).enumerate() {
            if let Some(&later) = hashes.get(position + AHEAD) {
                prefetch(blocks, places.block(later));
            }
            *found = blocks[places.block(hash)].contains(places.choice(hash));
        }
    }
}

/// The same four with the two halves of a block in two vector registers.
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
        // SAFETY: a block is 64 bytes, aligned to 64: two vectors of 32 lie in it.
        unsafe { [_mm256_load_si256(address), _mm256_load_si256(address.add(1))] }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn contains(block: &Block, choice: u64) -> bool {
        let ([low, high], [low_mask, high_mask]) = (halves(block), mask(choice));
        _mm256_testc_si256(low, low_mask) & _mm256_testc_si256(high, high_mask) == 1
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn insert(block: &mut Block, choice: u64) -> bool {
        let ([low, high], [low_mask, high_mask]) = (halves(block), mask(choice));
        let address = std::ptr::from_mut(block).cast::<__m256i>();
        // SAFETY: as in `halves`, and the block is borrowed for writing.
        unsafe {
            _mm256_store_si256(address, _mm256_or_si256(low, low_mask));
            _mm256_store_si256(address.add(1), _mm256_or_si256(high, high_mask));
        }
        _mm256_testc_si256(low, low_mask) & _mm256_testc_si256(high, high_mask) == 0
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn insert_one(blocks: &mut [Block], places: Places, hash: u64) -> bool {
        insert(&mut blocks[places.block(hash)], places.choice(hash))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn contains_one(blocks: &[Block], places: Places, hash: u64) -> bool {
        contains(&blocks[places.block(hash)], places.choice(hash))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn insert_all(blocks: &mut [Block], places: Places, hashes: &[u64]) {
        for (position, &hash) in hashes.iter().enumerate() {
            if let Some(&later) = hashes.get(position + AHEAD) {
                prefetch(blocks, places.block(later));
            }
            insert(&mut blocks[places.block(hash)], places.choice(hash));
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn contains_all(blocks: &[Block], places: Places, hashes: &[u64], found: &mut [bool]) {
        for (position, (&hash, found)) in hashes.iter().zip(found).enumerate() {
            if let Some(&later) = hashes.get(position + AHEAD) {
                prefetch(blocks, places.block(later));
            }
            *found = contains(&blocks[places.block(hash)], places.choice(hash));
        }
    }
}

/// Returns true if the processor has AVX2. Without the standard library only the target's features are known.
#[cfg(target_arch = "x86_64")]
#[inline]
fn has_avx2() -> bool {
    #[cfg(feature = "std")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(feature = "std"))]
    return cfg!(target_feature = "avx2");
}

/// The public door to a job: the better of its twins.
macro_rules! best_of_two {
    ($(#[$doc:meta])* $job:ident($blocks:ident: $type:ty $(, $argument:ident: $kind:ty)*) -> $result:ty) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $job($blocks: $type, multiplier: u64 $(, $argument: $kind)*) -> $result {
            let places = Places { blocks: $blocks.len() as u64, multiplier };
            #[cfg(target_arch = "x86_64")]
            if has_avx2() {
                #[allow(unsafe_code)]
                // SAFETY: the processor has AVX2, as was just asked; that is all the function needs.
                return unsafe { avx2::$job($blocks, places $(, $argument)*) };
            }
            portable::$job($blocks, places $(, $argument)*)
        }
    };
}

best_of_two! {
    /// Sets the bits of a key; whether one of them was zero.
    insert_one(blocks: &mut [Block], hash: u64) -> bool
}
best_of_two! {
    /// Whether the bits of a key are all set.
    contains_one(blocks: &[Block], hash: u64) -> bool
}
best_of_two! {
    /// Sets the bits of many keys, fetching their blocks ahead.
    insert_all(blocks: &mut [Block], hashes: &[u64]) -> ()
}
best_of_two! {
    /// Whether the bits of each of many keys are all set, fetching their blocks ahead.
    contains_all(blocks: &[Block], hashes: &[u64], found: &mut [bool]) -> ()
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn twins_agree() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for len in [1, 2, 77] {
            let mut hashes = || (0..1000).map(|_| random.next_u64()).collect::<Vec<u64>>();
            let (inserted, probes, multiplier) = (hashes(), hashes(), hashes()[0] | 1);
            let mut best = vec![Block::default(); len];
            let mut portable = best.clone();
            let mut one_by_one = best.clone();
            let places = Places { blocks: len as u64, multiplier };
            insert_all(&mut best, multiplier, &inserted);
            portable::insert_all(&mut portable, places, &inserted);
            for &hash in &inserted {
                let is_new = portable::insert_one(&mut one_by_one.clone(), places, hash);
                assert_eq!(insert_one(&mut one_by_one, multiplier, hash), is_new);
            }
            assert_eq!((&best, &one_by_one), (&portable, &portable));

            let (mut found, mut twin) = (vec![false; 1000], vec![true; 1000]);
            contains_all(&best, multiplier, &probes, &mut found);
            portable::contains_all(&best, places, &probes, &mut twin);
            assert_eq!(found, twin);
            for (&hash, found) in probes.iter().zip(found) {
                assert_eq!(contains_one(&best, multiplier, hash), found);
            }
            assert!(inserted.iter().all(|&hash| portable::contains_one(&best, places, hash)));
        }
    }

    #[test]
    fn a_key_sets_one_bit_in_each_word() {
        assert_eq!(Block::mask(0), [1; 8]);
        assert_eq!(Block::mask(u64::MAX), [1 << 63; 8]);
        assert_eq!(Block::mask(5 << 58)[0], 1 << 5);
        assert_eq!(Block::mask(5 << 16)[7], 1 << 5);
    }
}
