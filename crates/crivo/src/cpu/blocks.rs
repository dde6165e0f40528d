//! Cache lines with eight bits a key, one in each word.
//!
//! The same few lines of code are compiled twice, once for processors with AVX2, whose variable
//! shifts make the eight words of a mask in a handful of instructions; which to run is decided at run
//! time, once for a whole batch. As it is the same code, the results are the same.

use super::prefetch;
use crate::hash::index;

/// Eight words that lie in one cache line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Block(pub(crate) [u64; 8]);

/// How many keys ahead a block is fetched.
const AHEAD: usize = 24;

impl Block {
    /// The bit that a key sets in each word: six bits of `choice` for each, from the highest down.
    #[inline(always)]
    fn mask(choice: u64) -> [u64; 8] {
        std::array::from_fn(|word| 1 << (choice >> (58 - 6 * word) & 63))
    }

    #[inline(always)]
    fn insert(&mut self, choice: u64) -> bool {
        let mask = Self::mask(choice);
        let missing = self.missing(mask);
        for (word, bit) in self.0.iter_mut().zip(mask) {
            *word |= bit;
        }
        missing != 0
    }

    #[inline(always)]
    fn contains(&self, choice: u64) -> bool {
        self.missing(Self::mask(choice)) == 0
    }

    /// The bits of the mask that are not set, of all words together.
    #[inline(always)]
    fn missing(&self, mask: [u64; 8]) -> u64 {
        self.0.iter().zip(mask).fold(0, |missing, (word, bit)| missing | (bit & !word))
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

/// Compiles the body for any processor and for those with AVX2, and runs the better one.
macro_rules! best_of_two {
    ($(#[$doc:meta])* $name:ident, $portable:ident, $avx2:ident, ($($argument:ident: $type:ty),*) -> $result:ty) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name($($argument: $type),*) -> $result {
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                #[allow(unsafe_code)]
                // SAFETY: the processor has AVX2, as was just asked; that is all the function needs.
                return unsafe { $avx2($($argument),*) };
            }
            $portable($($argument),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $avx2($($argument: $type),*) -> $result {
            $portable($($argument),*)
        }
    };
}

best_of_two! {
    /// Sets the bits of a key; whether one of them was zero.
    insert_one, insert_one_portable, insert_one_avx2,
    (blocks: &mut [Block], multiplier: u64, hash: u64) -> bool
}

#[inline(always)]
fn insert_one_portable(blocks: &mut [Block], multiplier: u64, hash: u64) -> bool {
    let places = Places { blocks: blocks.len() as u64, multiplier };
    blocks[places.block(hash)].insert(places.choice(hash))
}

best_of_two! {
    /// Whether the bits of a key are all set.
    contains_one, contains_one_portable, contains_one_avx2,
    (blocks: &[Block], multiplier: u64, hash: u64) -> bool
}

#[inline(always)]
fn contains_one_portable(blocks: &[Block], multiplier: u64, hash: u64) -> bool {
    let places = Places { blocks: blocks.len() as u64, multiplier };
    blocks[places.block(hash)].contains(places.choice(hash))
}

best_of_two! {
    /// Sets the bits of many keys, fetching their blocks ahead.
    insert_all, insert_all_portable, insert_all_avx2,
    (blocks: &mut [Block], multiplier: u64, hashes: &[u64]) -> ()
}

#[inline(always)]
fn insert_all_portable(blocks: &mut [Block], multiplier: u64, hashes: &[u64]) {
    let places = Places { blocks: blocks.len() as u64, multiplier };
    for (position, &hash) in hashes.iter().enumerate() {
        if let Some(&later) = hashes.get(position + AHEAD) {
            prefetch(blocks, places.block(later));
        }
        blocks[places.block(hash)].insert(places.choice(hash));
    }
}

best_of_two! {
    /// Whether the bits of each of many keys are all set, fetching their blocks ahead.
    contains_all, contains_all_portable, contains_all_avx2,
    (blocks: &[Block], multiplier: u64, hashes: &[u64], found: &mut [bool]) -> ()
}

#[inline(always)]
fn contains_all_portable(blocks: &[Block], multiplier: u64, hashes: &[u64], found: &mut [bool]) {
    let places = Places { blocks: blocks.len() as u64, multiplier };
    for (position, (&hash, found)) in hashes.iter().zip(found).enumerate() {
        if let Some(&later) = hashes.get(position + AHEAD) {
            prefetch(blocks, places.block(later));
        }
        *found = blocks[places.block(hash)].contains(places.choice(hash));
    }
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
            insert_all(&mut best, multiplier, &inserted);
            insert_all_portable(&mut portable, multiplier, &inserted);
            for &hash in &inserted {
                let is_new = insert_one(&mut one_by_one, multiplier, hash);
                assert_eq!(is_new, is_new && contains_one_portable(&one_by_one, multiplier, hash));
            }
            assert_eq!((&best, &one_by_one), (&portable, &portable));

            let (mut found, mut twin) = (vec![false; 1000], vec![true; 1000]);
            contains_all(&best, multiplier, &probes, &mut found);
            contains_all_portable(&best, multiplier, &probes, &mut twin);
            assert_eq!(found, twin);
            for (&hash, found) in probes.iter().zip(found) {
                assert_eq!(contains_one(&best, multiplier, hash), found);
            }
            assert!(inserted.iter().all(|&hash| contains_one_portable(&best, multiplier, hash)));
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
