//! A set of hashes: the hashes themselves, in an open-addressing table.
//!
//! Shared by what counts exactly: [`ExactDistinct`](super::ExactDistinct), small
//! [`RegisterSketch`](super::RegisterSketch)es, and the candidates of
//! [`KMinValues`](super::KMinValues).
//!
//! **Hostile hashes.** Callers' hashes, the keys of a known seed and stored files can be forged so
//! that all of them want the same slots of a table whose function is known. So the slots of a hash
//! depend on a [secret](TableSecret) of the process too. Where that fails, hashes that find none of
//! their [`PROBES`] slots free go into an ordered set, so that a search always looks at [`PROBES`]
//! slots and `log n` nodes at most. That set stays empty or nearly so.

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
    /// A power of two of slots; 0 marks an empty one.
    slots: Vec<u64>,
    /// The number of slots in use.
    used: usize,
    /// The hashes that found all their slots taken.
    crowded: BTreeSet<u64>,
    /// The hash 0 cannot be stored in a slot.
    has_zero: bool,
    secret: TableSecret,
}

const FIRST_SLOTS: usize = 2;

/// The number of slots that a hash may lie in, or all of a smaller table. In a table that is three
/// quarters full, the chance that a fair hash finds all of them taken is below
/// `e^(−0.0377 · 256) = 6·10⁻⁵`.
const PROBES: usize = 256;

/// What a search returns if all slots of the hash are taken by others.
const CROWDED: usize = usize::MAX;

/// How many look-ups overlap where the table is larger than the cache.
const CHUNK: usize = 32;
/// From this many slots on, a look-up is likely to wait for memory.
const LARGE: usize = 1 << 15;

impl HashTable {
    /// The number of hashes that fit into `bytes` of memory: three quarters of the slots, because
    /// longer runs of used slots would slow every look-up.
    pub(super) const fn capacity(bytes: usize) -> usize {
        bytes / size_of::<u64>() * 3 / 4
    }

    pub(super) fn new() -> Self {
        Self::with_secret(TableSecret::of_process())
    }

    fn with_secret(secret: TableSecret) -> Self {
        Self { slots: Vec::new(), used: 0, crowded: BTreeSet::new(), has_zero: false, secret }
    }

    /// The bytes of the smallest table that takes `count` hashes.
    pub(super) const fn memory_for(count: usize) -> usize {
        let mut memory = FIRST_SLOTS * size_of::<u64>();
        while Self::capacity(memory) < count {
            memory *= 2;
        }
        memory
    }

    /// Creates an empty table that takes `count` hashes without growing.
    pub(super) fn with_room_for(count: usize) -> Self {
        Self { slots: vec![0; Self::memory_for(count) / size_of::<u64>()], ..Self::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.used + self.crowded.len() + usize::from(self.has_zero)
    }

    /// The bytes of memory behind the pointers. A hash in an ordered set takes about twice its
    /// size.
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

    /// Puts a new hash where its search ended, or in a larger table if this one is full.
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

    /// Returns true if the table has to grow for one hash more.
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

    /// The same as one by one; where the table is large, look-ups wait for memory together.
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

    /// Forgets all hashes and takes these, which are different and fit without growing, instead.
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

    /// The hashes, in passes that each go over the whole table.
    ///
    /// In the plain order of the slots they would fill another, still growing table from one end,
    /// where each then finds its slot taken and walks far: the time would be that of the square.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        const PASSES: usize = 16;
        let passes = (0..PASSES).flat_map(|first| self.slots.iter().skip(first).step_by(PASSES));
        let in_slots = passes.copied().filter(|&hash| hash != 0);
        self.has_zero.then_some(0).into_iter().chain(in_slots).chain(self.crowded.iter().copied())
    }

    /// The hashes in the order of the slots: the quickest way to all of them.
    pub(super) fn unordered(&self) -> Vec<u64> {
        let mut hashes = vec![0; self.used + usize::from(self.has_zero) + 1];
        let mut count = usize::from(self.has_zero);
        for &hash in &self.slots {
            // Written in any case and kept if it is one: nothing for the processor to guess.
            hashes[count] = hash;
            count += usize::from(hash != 0);
        }
        hashes.truncate(count);
        hashes.extend(&self.crowded);
        hashes
    }

    /// The hashes in ascending order: the same whatever the order of insertion.
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

/// The slot where the search for a hash begins, in a table of a power of two of at least two slots.
#[inline]
fn start(slots: usize, hash: u64, secret: TableSecret) -> usize {
    // Callers may bring hashes of their own that differ in few bits: a multiplication carries
    // every bit to the top, and as many of the top bits as the table needs are its index.
    (secret.spread(hash) >> (slots as u64 - 1).leading_zeros()) as usize
}

/// Returns the slot that holds a hash, which is not 0, or the free slot where it belongs, or
/// [`CROWDED`]. Nothing is ever removed, so that a free slot ends the search.
#[inline]
fn find(slots: &[u64], hash: u64, secret: TableSecret) -> usize {
    let mask = slots.len() - 1;
    let first = start(slots.len(), hash, secret);
    // The first slot itself in a table of up to as many slots as a hash may lie in: one of them is
    // free.
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
