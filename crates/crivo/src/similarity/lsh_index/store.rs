//! The data of every set: its signature in 16 bits a slot, and its links in the buckets.

use crate::cpu;
use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::similarity::min_hash::spread;

/// The approximate size of a block of signatures. Signatures are allocated in blocks, so that
/// growing never moves existing ones.
const BLOCK_BYTES: usize = 1 << 16;

/// The link of a set that is the oldest in its bucket.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
pub(super) struct Store {
    k: usize,
    bands: usize,
    /// The number of sets in a block: a power of two.
    block_len: usize,
    blocks: Vec<Block>,
}

#[derive(Debug, Clone)]
struct Block {
    /// The signatures of the block's sets, in order, with 16 bits of each slot. Different slots
    /// agree with probability 2^−16, which is far below the error of the similarity itself.
    signatures: Vec<u16>,
    /// For each set and band, the next older set in its bucket.
    older: Vec<u32>,
}

impl Store {
    pub(super) fn new(k: u32, bands: u32) -> Self {
        let (k, bands) = (k as usize, bands as usize);
        let block_len = (BLOCK_BYTES / (k * size_of::<u16>())).max(1).next_power_of_two();
        Self { k, bands, block_len, blocks: Vec::new() }
    }

    /// Allocates memory for a set with this number.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(super) fn reserve(&mut self, number: u32) -> Result<()> {
        while self.blocks.len() <= number as usize / self.block_len {
            self.blocks.push(Block {
                signatures: cpu::zeroed((self.block_len * self.k) as u64)?,
                older: cpu::zeroed((self.block_len * self.bands) as u64)?,
            });
        }
        Ok(())
    }

    pub(super) fn signature_mut(&mut self, number: u32) -> &mut [u16] {
        let (block, within) = self.locate(number);
        &mut self.blocks[block].signatures[within * self.k..(within + 1) * self.k]
    }

    pub(super) fn signature(&self, number: u32) -> &[u16] {
        let (block, within) = self.locate(number);
        &self.blocks[block].signatures[within * self.k..(within + 1) * self.k]
    }

    pub(super) fn set_older(&mut self, number: u32, band: usize, older: Option<u32>) {
        let (block, within) = self.locate(number);
        self.blocks[block].older[within * self.bands + band] = older.unwrap_or(NONE);
    }

    fn older(&self, number: u32, band: usize) -> Option<u32> {
        let (block, within) = self.locate(number);
        Some(self.blocks[block].older[within * self.bands + band]).filter(|&older| older != NONE)
    }

    /// Returns the sets of a bucket, from the newest to the oldest.
    pub(super) fn chain(&self, newest: Option<u32>, band: usize) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(newest, move |&number| self.older(number, band))
    }

    pub(super) fn memory(&self) -> usize {
        let block = self.block_len * (self.k * size_of::<u16>() + self.bands * size_of::<u32>());
        self.blocks.len() * block + self.blocks.capacity() * size_of::<Block>()
    }

    fn locate(&self, number: u32) -> (usize, usize) {
        // The block length is a power of two, so a shift and a mask replace the division.
        let shift = self.block_len.trailing_zeros();
        (number as usize >> shift, number as usize & (self.block_len - 1))
    }
}

pub(super) fn shorten(slots: &[u64], signature: &mut [u16]) {
    for (short, &slot) in signature.iter_mut().zip(slots) {
        *short = (spread(slot) >> 48) as u16;
    }
}

/// Returns how many slots two signatures share. The count has 16 bits, which are enough for any
/// signature, so that eight slots are compared at once.
pub(super) fn equal_slots(first: &[u16], second: &[u16]) -> u32 {
    first.iter().zip(second).map(|(a, b)| u16::from(a == b)).fold(0_u16, u16::wrapping_add).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_keep_their_signatures_and_links_across_blocks() {
        for (k, bands) in [(1, 1), (128, 16), (32_767, 3)] {
            let mut store = Store::new(k, bands);
            let count = (3 * store.block_len as u32 + 1).min(5_000);
            for number in 0..count {
                store.reserve(number).unwrap();
                store.signature_mut(number).fill(number as u16);
                store.set_older(number, bands as usize - 1, number.checked_sub(2));
            }
            for number in 0..count {
                assert!(store.signature(number).iter().all(|&short| short == number as u16));
            }
            let chain: Vec<u32> = store.chain(Some(count - 1), bands as usize - 1).collect();
            let expected: Vec<u32> = (0..count).rev().step_by(2).collect();
            assert_eq!(chain, expected);
        }
    }

    #[test]
    fn equal_slots_are_counted_up_to_the_longest_signature() {
        let (ones, mut others) = (vec![1; 32_767], vec![1; 32_767]);
        assert_eq!(equal_slots(&ones, &others), 32_767);
        others[5] = 2;
        others[32_766] = 0;
        assert_eq!(equal_slots(&ones, &others), 32_765);
    }
}
