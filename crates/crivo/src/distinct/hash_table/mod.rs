//! A set of hashes: the hashes themselves, in an open-addressing table.
//!
//! Shared by the sketches that keep hashes: [`ExactDistinct`](super::ExactDistinct), small
//! [`RegisterSketch`](super::RegisterSketch)es, and the candidates of
//! [`KMinValues`](super::KMinValues).
//!
//! **Hostile hashes.** An attacker can forge hashes that callers supply, keys under a known seed,
//! and stored files. If the slot function were known, all forged hashes could begin in the same
//! slots. So the slots of a hash also depend on a [secret](TableSecret) of the process. In case
//! that fails, a hash that finds none of its [`PROBES`] slots free goes into an ordered set. A
//! search therefore looks at no more than [`PROBES`] slots and `log n` nodes. The ordered set stays
//! empty or nearly so.

#[cfg(test)]
mod tests;

use alloc::collections::BTreeSet;

use crate::cpu::prefetch;
use crate::hash::TableSecret;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A set of 64-bit hashes.
#[derive(Debug, Clone)]
pub(super) struct HashTable {
    /// The slots, a power of two of them. 0 marks an empty slot.
    slots: Vec<u64>,
    /// The number of slots in use.
    used: usize,
    /// The hashes that found all their slots taken by others.
    crowded: BTreeSet<u64>,
    /// True if the set has the hash 0, which cannot be stored in a slot.
    has_zero: bool,
    secret: TableSecret,
}

const FIRST_SLOTS: usize = 2;

/// The number of slots that a hash may lie in. In a smaller table it may lie in all of them. In a
/// table that is three quarters full, the probability that a random hash finds all of them taken is
/// below `e^(−0.0377 · 256) = 6·10⁻⁵`.
const PROBES: usize = 256;

/// Returned by a search if all slots of the hash are taken by others.
const CROWDED: usize = usize::MAX;

/// The number of look-ups that overlap if the table is larger than the cache.
const CHUNK: usize = 32;
/// From this many slots on, a look-up is likely to wait for memory.
const LARGE: usize = 1 << 15;

impl HashTable {
    /// Returns the number of hashes that fit into `bytes` of memory: three quarters of the slots.
    /// In a fuller table, longer runs of used slots would slow every look-up.
    pub(super) const fn capacity(bytes: usize) -> usize {
        bytes / size_of::<u64>() * 3 / 4
    }

    pub(super) fn new() -> Self {
        Self::with_secret(TableSecret::of_process())
    }

    fn with_secret(secret: TableSecret) -> Self {
        Self { slots: Vec::new(), used: 0, crowded: BTreeSet::new(), has_zero: false, secret }
    }

    /// Returns the bytes of the smallest table that has room for `count` hashes.
    pub(super) const fn memory_for(count: usize) -> usize {
        let mut memory = FIRST_SLOTS * size_of::<u64>();
        while Self::capacity(memory) < count {
            memory *= 2;
        }
        memory
    }

    /// Creates an empty table that has room for `count` hashes without growing.
    pub(super) fn with_room_for(count: usize) -> Self {
        Self { slots: vec![0; Self::memory_for(count) / size_of::<u64>()], ..Self::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.used + self.crowded.len() + usize::from(self.has_zero)
    }

    /// Returns the bytes of memory behind the pointers. A hash in the ordered set is counted as
    /// twice its size.
    pub(super) fn memory(&self) -> usize {
        (self.slots.len() + 2 * self.crowded.len()) * size_of::<u64>()
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        match hash {
            0 => self.has_zero,
            _ if self.slots.is_empty() => false,
            _ => match find(&self.slots, hash, self.secret) {
                CROWDED => self.crowded.contains(&hash),
                index => self.slots[index] == hash,
            },
        }
    }

    /// Adds a hash; returns true if it is new.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        if self.slots.is_empty() {
            self.grow();
        }
        let index = find(&self.slots, hash, self.secret);
        if index == CROWDED {
            return self.insert_crowded(hash);
        }
        let is_new = self.slots[index] != hash;
        if is_new {
            self.insert_at(index, hash);
        }
        is_new
    }

    /// Puts a new hash into the slot where its search ended. If the table is full, it grows first,
    /// and the hash is placed anew.
    fn insert_at(&mut self, index: usize, hash: u64) {
        if self.is_full() {
            self.grow();
            self.place(hash);
        } else {
            self.used += 1;
            self.slots[index] = hash;
        }
    }

    #[cold]
    #[inline(never)]
    fn insert_crowded(&mut self, hash: u64) -> bool {
        if !self.is_full() {
            return self.crowded.insert(hash);
        }
        let is_new = !self.crowded.contains(&hash);
        if is_new {
            self.grow();
            self.place(hash);
        }
        is_new
    }

    /// Returns true if the table has to grow before it takes one hash more.
    fn is_full(&self) -> bool {
        self.used + self.crowded.len() + 1 > Self::capacity(self.slots.len() * size_of::<u64>())
    }

    /// Puts a new hash, which is not 0, into a table with room for it.
    fn place(&mut self, hash: u64) {
        match find(&self.slots, hash, self.secret) {
            CROWDED => _ = self.crowded.insert(hash),
            index => {
                self.used += 1;
                self.slots[index] = hash;
            }
        }
    }

    /// Adds many hashes. Same result as one by one, but faster in a large table, because look-ups
    /// wait for memory together.
    pub(super) fn insert_all(&mut self, hashes: &[u64]) {
        for chunk in hashes.chunks(CHUNK) {
            if self.slots.len() >= LARGE {
                chunk
                    .iter()
                    .for_each(|&hash| prefetch(&self.slots, start(self.slots.len(), hash, self.secret)));
            }
            for &hash in chunk {
                self.insert(hash);
            }
        }
    }

    /// Makes room for `count` hashes in all.
    pub(super) fn reserve(&mut self, count: usize) {
        while Self::capacity(self.slots.len() * size_of::<u64>()) < count {
            self.grow();
        }
    }

    /// Removes all hashes and adds the given ones, which must be different and fit without growing.
    pub(super) fn replace(&mut self, hashes: &[u64]) {
        self.slots.fill(0);
        self.crowded.clear();
        self.used = 0;
        self.has_zero = false;
        for &hash in hashes {
            if hash == 0 {
                self.has_zero = true;
            } else {
                self.place(hash);
            }
        }
    }

    fn grow(&mut self) {
        let mut slots = vec![0; (self.slots.len() * 2).max(FIRST_SLOTS)];
        let crowded_before = self.crowded.len();
        for hash in self.slots.drain(..).filter(|&hash| hash != 0) {
            match find(&slots, hash, self.secret) {
                CROWDED => _ = self.crowded.insert(hash),
                index => slots[index] = hash,
            }
        }
        self.used += crowded_before;
        self.crowded.retain(|&hash| match find(&slots, hash, self.secret) {
            CROWDED => true,
            index => {
                slots[index] = hash;
                false
            }
        });
        self.used -= self.crowded.len();
        self.slots = slots;
    }

    /// Adds every hash of another table.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut chunk = Vec::with_capacity(CHUNK);
        for hash in other.iter() {
            chunk.push(hash);
            if chunk.len() == CHUNK {
                self.insert_all(&chunk);
                chunk.clear();
            }
        }
        self.insert_all(&chunk);
    }

    /// Returns the hashes, in several passes that each go over the whole table.
    ///
    /// Plain slot order would be slow to insert into another table that is still growing. The
    /// hashes would fill it from one end, each would find its slot taken and search far, and the
    /// time would be quadratic.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        const PASSES: usize = 16;
        let passes = (0..PASSES).flat_map(|first| self.slots.iter().skip(first).step_by(PASSES));
        let in_slots = passes.copied().filter(|&hash| hash != 0);
        self.has_zero.then_some(0).into_iter().chain(in_slots).chain(self.crowded.iter().copied())
    }

    /// Returns the hashes in the order of the slots, which is the fastest way to all of them.
    pub(super) fn unordered(&self) -> Vec<u64> {
        let mut hashes = vec![0; self.used + usize::from(self.has_zero) + 1];
        let mut count = usize::from(self.has_zero);
        for &hash in &self.slots {
            // Every slot is written, but only a hash advances the count, so there is no branch for
            // the processor to predict.
            hashes[count] = hash;
            count += usize::from(hash != 0);
        }
        hashes.truncate(count);
        hashes.extend(&self.crowded);
        hashes
    }

    /// Returns the hashes in ascending order, which does not depend on the order of insertion.
    pub(super) fn sorted(&self) -> Vec<u64> {
        let mut hashes = self.unordered();
        hashes.sort_unstable();
        hashes
    }
}

impl PartialEq for HashTable {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|hash| other.contains(hash))
    }
}

impl Eq for HashTable {}

/// Returns the slot where the search for a hash begins. The number of slots must be a power of two
/// and at least two.
#[inline]
fn start(slots: usize, hash: u64, secret: TableSecret) -> usize {
    // Callers may supply hashes that differ in few bits only. A multiplication carries every bit to
    // the top. The index is taken from the top bits, as many as the table needs.
    (secret.spread(hash) >> (slots as u64 - 1).leading_zeros()) as usize
}

/// Returns the slot that holds a hash, which must not be 0, or the free slot where it belongs, or
/// [`CROWDED`]. A free slot ends the search, because nothing is ever removed.
#[inline]
fn find(slots: &[u64], hash: u64, secret: TableSecret) -> usize {
    let mask = slots.len() - 1;
    let first = start(slots.len(), hash, secret);
    // In a table of at most `PROBES` slots this is the first slot itself. The search ends before it
    // comes back there, because one of the slots is free.
    let end = (first + PROBES) & mask;
    let mut index = first;
    while slots[index] != 0 && slots[index] != hash {
        index = (index + 1) & mask;
        if index == end {
            #[cfg(test)]
            tests::count_probes(PROBES);
            return CROWDED;
        }
    }
    #[cfg(test)]
    tests::count_probes((index.wrapping_sub(first) & mask) + 1);
    index
}
