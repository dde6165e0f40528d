//! Small sets of hashes, in blocks of one arena. If there are many groups, most have such a set.
//!
//! A set is a block of 2, 4, 8 … 256 words. Hashes are appended. A full block is sorted, and
//! repetitions are removed. If that made little room, the set moves into a block of twice the size.
//! So a set of `n` hashes takes at most `8·n/0.375` bytes and no allocation of its own, and an
//! insertion takes `log n` comparisons on average.

use crate::cpu::prefetch;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The number of block sizes, which are `2 << class` words.
const CLASSES: usize = 8;
/// The number of words in a chunk of blocks.
const CHUNK: usize = 1 << 15;
/// Blocks begin at multiples of this many words, so that 32 bits address 64 GiB.
const UNIT: usize = 2;
/// Sets up to this size are searched before a hash is appended.
const SEARCHED: usize = 8;

/// A small set: the position and the size class of its block, and the number of words in use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Few {
    block: u32,
    len: u16,
    class: u8,
}

/// The arena of all small sets.
#[derive(Debug, Clone, Default)]
pub(super) struct Blocks {
    chunks: Vec<Box<[u64]>>,
    /// The first unit that was never in use.
    next: usize,
    /// Freed blocks, by class.
    free: Box<[Vec<u32>; CLASSES]>,
}

impl Blocks {
    /// The most hashes that a set can have.
    pub(super) const MOST: usize = UNIT << (CLASSES - 1);

    /// Creates an empty set. Returns `None` if no block can be addressed any more.
    pub(super) fn new_set(&mut self) -> Option<Few> {
        Some(Few { block: self.take(0)?, len: 0, class: 0 })
    }

    /// Adds a hash. Returns false, and adds nothing, if the set already has more than three
    /// quarters of `limit` different hashes and its memory is full, or if no larger block can be
    /// addressed any more.
    #[inline]
    pub(super) fn insert(&mut self, few: &mut Few, hash: u64, limit: usize) -> bool {
        let len = usize::from(few.len);
        let block = self.block_mut(*few);
        if len <= SEARCHED && block[..len].contains(&hash) {
            return true;
        }
        if len < block.len() && len < limit {
            block[len] = hash;
            few.len += 1;
            return true;
        }
        self.make_room(few, hash, limit)
    }

    #[cold]
    fn make_room(&mut self, few: &mut Few, hash: u64, limit: usize) -> bool {
        self.compact(few);
        let len = usize::from(few.len);
        let block = self.block_mut(*few);
        if block[..len].binary_search(&hash).is_ok() {
            return true;
        }
        // A set that stayed nearly full would be sorted again and again.
        if len > limit * 3 / 4 {
            return false;
        }
        if len > block.len() * 3 / 4 {
            if usize::from(few.class) + 1 == CLASSES {
                return false;
            }
            let class = few.class + 1;
            let Some(block) = self.take(class) else { return false };
            let larger = Few { block, len: few.len, class };
            let copy: Vec<u64> = self.hashes(*few).to_vec();
            self.block_mut(larger)[..len].copy_from_slice(&copy);
            self.leave(*few);
            *few = larger;
        }
        self.block_mut(*few)[len] = hash;
        few.len += 1;
        true
    }

    /// Sorts the set and removes repetitions.
    pub(super) fn compact(&mut self, few: &mut Few) {
        let len = usize::from(few.len);
        let hashes = &mut self.block_mut(*few)[..len];
        hashes.sort_unstable();
        let mut kept = 0;
        for at in 0..len {
            if at == 0 || hashes[at] != hashes[kept - 1] {
                hashes[kept] = hashes[at];
                kept += 1;
            }
        }
        few.len = kept as u16;
    }

    /// Returns the hashes as they are stored: in any order, possibly with repetitions.
    #[inline]
    pub(super) fn hashes(&self, few: Few) -> &[u64] {
        let (chunk, start) = place(few.block);
        &self.chunks[chunk][start..start + usize::from(few.len)]
    }

    /// Prefetches a set that will be read soon.
    #[inline]
    pub(super) fn prefetch(&self, few: Few) {
        let (chunk, start) = place(few.block);
        prefetch(&self.chunks[chunk], start);
    }

    #[inline]
    fn block_mut(&mut self, few: Few) -> &mut [u64] {
        let (chunk, start) = place(few.block);
        &mut self.chunks[chunk][start..start + (UNIT << few.class)]
    }

    /// Returns a free block of a class, or `None` if 32 bits cannot address another.
    fn take(&mut self, class: u8) -> Option<u32> {
        if let Some(block) = self.free[usize::from(class)].pop() {
            return Some(block);
        }
        let units = 1 << class;
        let left = CHUNK / UNIT - self.next % (CHUNK / UNIT);
        if left < units {
            // Smaller sets use the end of the chunk.
            (0..left).for_each(|at| self.free[0].push((self.next + at) as u32));
            self.next += left;
        }
        let block = u32::try_from(self.next).ok()?;
        self.next += units;
        if self.next.div_ceil(CHUNK / UNIT) > self.chunks.len() {
            self.chunks.push(vec![0; CHUNK].into_boxed_slice());
        }
        Some(block)
    }

    /// Frees the block of a set.
    pub(super) fn leave(&mut self, few: Few) {
        self.free[usize::from(few.class)].push(few.block);
    }

    /// Returns the bytes of memory behind the pointers.
    pub(super) fn memory(&self) -> usize {
        self.chunks.len() * CHUNK * size_of::<u64>()
            + self.free.iter().map(|free| free.capacity() * size_of::<u32>()).sum::<usize>()
    }
}

/// Returns the chunk of a block, and the block's start there.
#[inline]
fn place(block: u32) -> (usize, usize) {
    let word = block as usize * UNIT;
    (word / CHUNK, word % CHUNK)
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeSet;

    use super::*;

    #[test]
    fn sets_are_those_of_a_plain_model() {
        let mut blocks = Blocks::default();
        let mut sets: Vec<(Few, BTreeSet<u64>)> = Vec::new();
        for round in 0..3_u64 {
            sets.clear();
            blocks = Blocks::default();
            sets.extend((0..300).map(|_| (blocks.new_set().unwrap(), BTreeSet::new())));
            for step in 0..60_000_u64 {
                let value = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
                let (few, model) = &mut sets[(value % 300) as usize];
                let hash = (value >> 9) % (10 << (value % 300 % 7)) + round;
                let limit = 64;
                if blocks.insert(few, hash, limit) {
                    model.insert(hash);
                } else {
                    assert!(model.len() > limit * 3 / 4 && !model.contains(&hash));
                }
            }
        }
        assert!(sets.iter().any(|(_, model)| model.len() > 48));
        for (few, model) in &mut sets {
            blocks.compact(few);
            assert!(blocks.hashes(*few).iter().eq(model.iter()));
        }
    }

    /// The chunks before the last one are not needed for this, so they take no memory here.
    #[cfg(target_pointer_width = "64")]
    #[test]
    fn past_64_gib_there_are_no_more_blocks_but_freed_ones() {
        let beyond = 1_usize << u32::BITS;
        let mut blocks = Blocks { next: beyond - 1, ..Blocks::default() };
        blocks.chunks.resize(beyond.div_ceil(CHUNK / UNIT), Box::default());
        let last = blocks.new_set().unwrap();
        assert_eq!((last.block, blocks.next), (u32::MAX, beyond));
        assert!(blocks.new_set().is_none());
        blocks.leave(last);
        assert_eq!(blocks.take(1), None);
        assert_eq!(blocks.new_set().map(|set| set.block), Some(u32::MAX));
    }
}
