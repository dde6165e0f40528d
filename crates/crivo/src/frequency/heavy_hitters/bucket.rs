//! Buckets of eight counters, distinguished by one byte each.
//!
//! The eight bytes form one word, so all of them are compared with the wanted byte in a few
//! instructions and without a branch. A mask of slots is a word too: it uses the high bit of each
//! slot's byte.

use super::rounded::RoundedUp;
use crate::cpu::prefetch;

/// The number of slots of a bucket: one for each byte of a word.
pub(super) const SLOTS: usize = 8;

const LOW_BITS: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// A bucket of slots. A used slot has a tag and a count above the table's threshold; a free slot
/// has neither.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bucket {
    /// One byte for each slot: zero if it is free, otherwise the high bit and seven bits of the
    /// hash.
    tags: u64,
    pub(super) hashes: [u64; SLOTS],
    pub(super) counts: [u64; SLOTS],
    pub(super) errors: [RoundedUp; SLOTS],
}

impl Bucket {
    /// Returns the slots whose tag is the hash's. Slots above the lowest may be false positives.
    #[inline]
    pub(super) fn matches(&self, hash: u64) -> u64 {
        let difference = self.tags ^ (tag(hash) * LOW_BITS);
        difference.wrapping_sub(LOW_BITS) & !difference & HIGH_BITS
    }

    /// Prefetches what a known key needs: tags and counts.
    #[inline]
    pub(super) fn prefetch(&self) {
        prefetch(std::slice::from_ref(&self.tags), 0);
        prefetch(&self.counts, 0);
    }

    #[inline]
    pub(super) fn free(&self) -> u64 {
        !self.tags & HIGH_BITS
    }

    #[inline]
    pub(super) fn used(&self) -> u64 {
        self.tags & HIGH_BITS
    }

    /// Returns the used slots whose count is not above the threshold.
    #[inline]
    pub(super) fn fallen(&self, threshold: u64) -> u64 {
        let mut mask = 0;
        for (slot, &count) in self.counts.iter().enumerate() {
            mask |= u64::from(count <= threshold) << (8 * slot + 7);
        }
        mask & self.tags
    }

    /// Sets the tag of a slot to that of a hash. The slot may have it already.
    #[inline]
    pub(super) fn claim(&mut self, slot: usize, hash: u64) {
        self.tags |= tag(hash) << (8 * slot);
        self.hashes[slot] = hash;
    }

    /// Fills a free slot.
    #[inline]
    pub(super) fn fill(&mut self, slot: usize, hash: u64, count: u64, error: RoundedUp) {
        self.claim(slot, hash);
        self.counts[slot] = count;
        self.errors[slot] = error;
    }

    /// Frees slots whose counts are not above the threshold.
    #[inline]
    pub(super) fn release(&mut self, mask: u64) {
        self.tags &= !((mask >> 7) * 0xFF);
    }

    /// Frees a slot whose contents moved elsewhere.
    pub(super) fn vacate(&mut self, slot: usize) {
        self.release(mask_of(slot));
        self.counts[slot] = 0;
    }
}

/// Returns the tag of a hash: seven bits, other than those that choose the bucket.
#[inline]
fn tag(hash: u64) -> u64 {
    hash & 0x7F | 0x80
}

/// Returns the mask of one slot.
#[inline]
pub(super) fn mask_of(slot: usize) -> u64 {
    0x80 << (8 * slot)
}

/// Returns the lowest slot of a mask, or slot 0 if the mask is empty.
#[inline]
pub(super) fn lowest(mask: u64) -> usize {
    (mask.trailing_zeros() / 8) as usize % SLOTS
}

/// Returns the number of slots in a mask. They are added up in the top byte, because not every
/// processor has an instruction that counts bits.
#[inline]
pub(super) fn count(mask: u64) -> usize {
    ((mask >> 7).wrapping_mul(LOW_BITS) >> 56) as usize
}

/// Returns the slots of a mask, in order.
#[inline]
pub(super) fn slots(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let slot = (mask != 0).then(|| lowest(mask));
        mask &= mask.wrapping_sub(1);
        slot
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tag_is_found_where_it_is() {
        for bits in 0..0x80_u64 {
            for slot in 0..SLOTS {
                let mut bucket = Bucket::default();
                bucket.fill(slot, bits, 1, RoundedUp::default());
                assert_eq!(slots(bucket.matches(bits)).collect::<Vec<_>>(), [slot]);
                assert_eq!(bucket.matches(bits ^ 1), 0, "no other tag in an otherwise empty bucket");
                bucket.fill((slot + 3) % SLOTS, bits ^ 1, 1, RoundedUp::default());
                assert_eq!(lowest(bucket.matches(bits)), slot, "the lowest match is a true one");
                assert_eq!((count(bucket.used()), count(bucket.free())), (2, 6));
            }
        }
    }

    #[test]
    fn falling_frees_the_slots_in_use_alone() {
        let mut bucket = Bucket::default();
        for (slot, count) in [(0, 5), (3, 6), (7, 4)] {
            bucket.fill(slot, slot as u64, count, RoundedUp::default());
        }
        let fallen = bucket.fallen(5);
        assert_eq!(slots(fallen).collect::<Vec<_>>(), [0, 7]);
        bucket.release(fallen);
        assert_eq!(slots(bucket.used()).collect::<Vec<_>>(), [3]);
        bucket.vacate(3);
        assert_eq!((bucket.used(), bucket.counts[3]), (0, 0));
    }
}
