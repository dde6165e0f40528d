//! Purging counters.
//!
//! A purge raises the threshold to the count of a given rank and frees every slot whose count is
//! not above it. Keys that overflowed out of their bucket must stay where a search finds them: no
//! bucket from their own bucket on may have a free slot before their place. Since no key is removed
//! between two purges, only a bucket behind a full one can hold such keys. The purge looks at those
//! buckets only, in the order of the overflow, and moves their keys back where there is room now.

use super::bucket::{count, lowest, slots};
use super::names::Names;
use super::table::{Place, Table, places};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The number of cells that sort counts by their four highest bits, in the order of the counts.
const CELLS: usize = 62 * 8;

#[inline]
fn cell(count: u64) -> usize {
    let shift = 60 - (count | 8).leading_zeros();
    shift as usize * 8 + (count >> shift) as usize
}

/// Returns the `rank`th smallest of the numbers, from 1.
pub(super) fn ranked<I: Iterator<Item = u64>>(numbers: impl Fn() -> I, rank: usize) -> u64 {
    // With weights of 1 this is nearly always enough, and fast: a sum without branches.
    if numbers().map(|number| usize::from(number == 1)).sum::<usize>() >= rank {
        return 1;
    }
    let mut cells = [0_usize; CELLS];
    numbers().for_each(|number| cells[cell(number)] += 1);
    let (mut wanted, mut before) = (1, 0);
    while before + cells[wanted] < rank {
        before += cells[wanted];
        wanted += 1;
    }
    let mut alike = Vec::with_capacity(cells[wanted]);
    numbers().filter(|&number| cell(number) == wanted).for_each(|number| alike.push(number));
    *alike.select_nth_unstable(rank - before - 1).1
}

impl Table {
    /// Purges the `rank` smallest counters, from 1 to `len` of them, and all that equal the largest
    /// of these. That largest count becomes the threshold.
    #[cold]
    #[inline(never)]
    pub(super) fn purge(&mut self, rank: usize) {
        self.give_up_to(self.ranked(rank));
    }

    /// Raises the threshold, and purges all counters that are not above it.
    pub(super) fn give_up_to(&mut self, threshold: u64) {
        self.raise(threshold);
        // No key has overflowed past a bucket with a free slot, so the pass begins behind one.
        let first = self.buckets.iter().position(|bucket| bucket.free() != 0).unwrap_or(0);
        let mut index = first;
        let mut behind_full = false;
        loop {
            index = self.after(index);
            let full = self.buckets[index].free() == 0;
            self.drop_fallen(index);
            if behind_full {
                self.bring_home(index);
            }
            behind_full = full;
            if index == first {
                break;
            }
        }
        self.strays.drop_up_to(self.threshold());
        self.settle_strays();
        if let Names::Texts(texts) = &mut self.names {
            texts.close_gaps(places(&self.buckets));
        }
    }

    /// Returns the `rank`th smallest count, from 1.
    fn ranked(&self, rank: usize) -> u64 {
        // The counts in free slots are at most the threshold. Their difference is 0, or wraps
        // around and is larger than that of any slot in use.
        let threshold = self.threshold();
        let in_slots = || self.buckets.iter().flat_map(|bucket| bucket.counts);
        let counts = || in_slots().chain(self.strays.iter().map(|(_, _, counter)| counter.count));
        threshold + ranked(|| counts().map(|count| count.wrapping_sub(threshold)), rank)
    }

    #[inline]
    fn drop_fallen(&mut self, index: usize) {
        let fallen = self.buckets[index].fallen(self.threshold());
        if let Names::Texts(texts) = &mut self.names {
            slots(fallen).for_each(|slot| texts.forget(Place { bucket: index, slot }));
        }
        self.buckets[index].release(fallen);
        self.len -= count(fallen);
    }

    /// Moves the keys of a bucket that belong into an earlier bucket and have room there now. The
    /// buckets between must be done already.
    fn bring_home(&mut self, index: usize) {
        for slot in slots(self.buckets[index].used()) {
            let hash = self.buckets[index].hashes[slot];
            if let Some(place) = self.free_place_before(index, hash) {
                let bucket = &mut self.buckets[index];
                let (count, error) = (bucket.counts[slot], bucket.errors[slot]);
                bucket.vacate(slot);
                self.buckets[place.bucket].fill(place.slot, hash, count, error);
                self.names.rename(Place { bucket: index, slot }, place);
            }
        }
    }

    fn free_place_before(&self, end: usize, hash: u64) -> Option<Place> {
        let mut index = self.home(hash);
        while index != end {
            let free = self.buckets[index].free();
            if free != 0 {
                return Some(Place { bucket: index, slot: lowest(free) });
            }
            index = self.after(index);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;
    use crate::keys::KeyScheme;

    #[test]
    fn cells_are_ordered_as_their_counts() {
        let mut counts: Vec<u64> = (0..64).flat_map(|bit| (0..70).map(move |low| 1 << bit | low)).collect();
        counts.push(u64::MAX);
        counts.sort_unstable();
        assert!(counts.windows(2).all(|pair| cell(pair[0]) <= cell(pair[1])));
        assert!((0..16).all(|count| cell(count) == count as usize), "small counts have a cell each");
        assert_eq!(cell(u64::MAX), CELLS - 1);
    }

    #[test]
    fn the_rank_is_exact_whatever_the_weights() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        for bits in [0, 1, 4, 20, 62] {
            let mut table = Table::with_room(KeyScheme::hashes(), 1 << 40, 200, 0).unwrap();
            let mut counts = Vec::new();
            for _ in 0..200 {
                let weight = 1 + (random.next_u64() >> (63 - bits));
                table.add_hash(random.next_u64(), weight, 200).unwrap();
                counts.push((1 << 40) + weight);
            }
            counts.sort_unstable();
            for rank in [1, 2, 50, 199, 200] {
                assert_eq!(table.ranked(rank), counts[rank - 1], "{bits} bits, rank {rank}");
            }
            table.purge(50);
            assert_eq!(table.len(), counts.iter().filter(|&&count| count > counts[49]).count());
        }
    }
}
