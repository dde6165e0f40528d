//! The smallest hashes so far, and a few more.
//!
//! Only the `k` smallest hashes matter. Keeping exactly those would mean sorting each new hash into
//! them. Instead a hash table collects every hash up to a threshold. When the table is full, the
//! `k` smallest stay, and the largest of them becomes the new threshold. After `n` items all but a
//! share of about `k/n` of the hashes are rejected by one comparison, and repetitions are found by
//! one look-up.
//!
//! Which further hashes the table holds depends on the order of arrival. Queries, comparisons and
//! stored bytes use the `k` smallest only.

use super::super::hash_table::HashTable;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

#[derive(Debug, Clone)]
pub(super) struct Candidates {
    k: usize,
    table: HashTable,
    /// The table holds every hash so far that is at most this threshold.
    threshold: u64,
    /// The number of hashes at which [`make_room`](Self::make_room) is called next.
    pause: usize,
}

impl Candidates {
    pub(super) fn new(k: usize) -> Self {
        Self { k, table: HashTable::new(), threshold: u64::MAX, pause: few(k) }
    }

    /// Creates the candidates from the `k` smallest hashes, or from all if there are fewer. The
    /// hashes must be in ascending order.
    pub(super) fn from_ascending(k: usize, hashes: impl ExactSizeIterator<Item = u64>) -> Self {
        let mut candidates = Self { table: HashTable::with_room_for(hashes.len()), ..Self::new(k) };
        let is_full = hashes.len() == k;
        let mut largest = 0;
        for hash in hashes {
            candidates.table.insert(hash);
            largest = hash;
        }
        if is_full {
            candidates.threshold = largest;
        }
        candidates
    }

    pub(super) fn k(&self) -> usize {
        self.k
    }

    pub(super) fn memory(&self) -> usize {
        self.table.memory()
    }

    /// Returns the bytes of memory behind the pointers when the table has its full size.
    pub(super) fn full_memory(&self) -> usize {
        memory_for(self.k)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.table.len() == 0
    }

    /// Returns the number of hashes that count, at most `k`.
    pub(super) fn len(&self) -> usize {
        self.table.len().min(self.k)
    }

    #[inline]
    pub(super) fn insert(&mut self, hash: u64) {
        if hash <= self.threshold {
            self.admit(hash);
        }
    }

    pub(super) fn insert_all(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.insert(hash);
        }
    }

    /// Adds a hash that is not above the threshold. It is kept out of line, so that loops around
    /// [`insert`](Self::insert) stay small. Calls become rare as the threshold falls.
    #[inline(never)]
    fn admit(&mut self, hash: u64) {
        if self.table.insert(hash) && self.table.len() >= self.pause {
            self.make_room();
        }
    }

    /// Grows a table that is no longer small to its full size at once. The table is searched at
    /// every insertion, and a search in a mostly empty table is short. A full table is reduced to
    /// the `k` smallest hashes.
    #[cold]
    fn make_room(&mut self) {
        let limit = limit(self.k);
        if self.table.len() < limit {
            self.table.reserve(limit);
        } else if let (hashes, Some(largest)) = self.smallest() {
            self.threshold = largest;
            self.table.replace(&hashes);
        }
        self.pause = limit;
    }

    /// Adds the hashes of `other`. The smaller of two `k` stays.
    pub(super) fn merge(&mut self, other: &Self) {
        if other.k < self.k {
            let smallest = self.ascending();
            *self = Self::from_ascending(other.k, smallest.into_iter().take(other.k));
        }
        other.table.iter().for_each(|hash| self.insert(hash));
    }

    /// Returns the `k`-th smallest hash, or `None` if there are fewer.
    pub(super) fn kth(&self) -> Option<u64> {
        self.smallest().1
    }

    /// Returns the `k` smallest hashes, in any order, and the largest of them. If there are fewer,
    /// it returns all hashes and `None`.
    pub(super) fn smallest(&self) -> (Vec<u64>, Option<u64>) {
        let mut hashes = self.table.unordered();
        let largest = keep(&mut hashes, self.k);
        (hashes, largest)
    }

    /// Returns the `k` smallest hashes, or all if there are fewer, in ascending order.
    pub(super) fn ascending(&self) -> Vec<u64> {
        let (mut hashes, _) = self.smallest();
        hashes.sort_unstable();
        hashes
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        self.table.contains(hash)
    }
}

impl PartialEq for Candidates {
    fn eq(&self, other: &Self) -> bool {
        self.k == other.k && self.len() == other.len() && self.ascending() == other.ascending()
    }
}

impl Eq for Candidates {}

/// Returns the bytes of the smallest table with room for a quarter more than `k` hashes. With that
/// much room, selecting the smallest is rare.
fn memory_for(k: usize) -> usize {
    HashTable::memory_for(k + k / 4 + 8)
}

/// Returns the number of hashes that fit into the table of full size.
fn limit(k: usize) -> usize {
    HashTable::capacity(memory_for(k))
}

/// Returns the number of hashes up to which the table grows step by step, so that small sets take
/// little memory.
fn few(k: usize) -> usize {
    limit(k) / 16 + 1
}

/// Reduces the hashes to the `k` smallest, in any order, and returns the largest of them. If there
/// are fewer, it keeps all and returns `None`.
fn keep(hashes: &mut Vec<u64>, k: usize) -> Option<u64> {
    if hashes.len() < k {
        return None;
    }
    let (_, &mut largest, _) = hashes.select_nth_unstable(k - 1);
    hashes.truncate(k);
    Some(largest)
}

#[cfg(test)]
mod tests {
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    use super::*;

    /// A bijection that spreads small numbers over 64 bits.
    fn spread(number: u64) -> u64 {
        (number ^ number >> 7)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(23)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    #[test]
    fn keeps_the_smallest_whatever_comes_when() {
        for k in [1, 2, 3, 10, 100, 1_000] {
            let mut hashes: Vec<u64> = (0..20_000).map(spread).collect();
            let mut candidates = Candidates::new(k);
            candidates.insert_all(&hashes);
            candidates.insert_all(&hashes[5_000..10_000]);
            hashes.sort_unstable();
            assert_eq!(candidates.ascending(), hashes[..k]);
            assert_eq!(candidates.kth(), Some(hashes[k - 1]));
            let mut falling = Candidates::new(k);
            hashes.iter().rev().for_each(|&hash| falling.insert(hash));
            assert_eq!(falling, candidates);
            assert!(candidates.threshold < u64::MAX / 4, "the threshold falls");
        }
    }

    #[test]
    fn extreme_hashes_are_kept_like_others() {
        let mut candidates = Candidates::new(3);
        candidates.insert_all(&[u64::MAX, u64::MAX, 0]);
        assert_eq!(candidates.ascending(), [0, u64::MAX]);
        candidates.insert_all(&[7, 5, 0, u64::MAX]);
        assert_eq!(candidates.ascending(), [0, 5, 7]);
    }

    #[test]
    fn memory_stays_below_the_limit_whatever_repeats() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let hashes: Vec<u64> = (0..17_000).map(|_| random.next_u64()).collect();
        for k in [1, 7, 4_096, 6_000] {
            let mut candidates = Candidates::new(k);
            let full = candidates.full_memory();
            // In a full table, a few hashes may find all their slots taken.
            let most = full + full / 50;
            for round in 0..200_000 {
                candidates.insert(hashes[round % hashes.len()]);
                assert!(candidates.memory() <= most, "k = {k}, round {round}");
            }
            assert!(candidates.memory() >= full, "k = {k}");
        }
    }
}
