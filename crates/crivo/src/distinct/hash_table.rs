//! A set of hashes: the hashes themselves, in an open-addressing table.
//!
//! Shared by what counts exactly: [`ExactDistinct`](super::ExactDistinct), small
//! [`HyperLogLog`](super::HyperLogLog)s and [`UltraLogLog`](super::UltraLogLog)s, and the candidates of [`KMinValues`](super::KMinValues).

use crate::cpu::prefetch;

/// A set of 64-bit hashes.
#[derive(Debug, Clone)]
pub(super) struct HashTable {
    /// A power of two of slots; 0 marks an empty one.
    slots: Vec<u64>,
    /// How many slots are in use.
    used: usize,
    /// The hash 0 cannot be stored in a slot.
    has_zero: bool,
}

const FIRST_SLOTS: usize = 2;

/// How many look-ups overlap where the table is larger than the cache.
const CHUNK: usize = 32;
/// From this many slots on, a look-up is likely to wait for memory.
const LARGE: usize = 1 << 15;

impl HashTable {
    /// How many hashes fit into `bytes` of memory: three quarters of the slots, because longer
    /// runs of used slots would slow every look-up.
    pub(super) const fn capacity(bytes: usize) -> usize {
        bytes / size_of::<u64>() * 3 / 4
    }

    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), used: 0, has_zero: false }
    }

    /// The bytes of the smallest table that takes `count` hashes.
    pub(super) const fn memory_for(count: usize) -> usize {
        let mut memory = FIRST_SLOTS * size_of::<u64>();
        while Self::capacity(memory) < count {
            memory *= 2;
        }
        memory
    }

    /// An empty table that takes `count` hashes without growing.
    pub(super) fn with_room_for(count: usize) -> Self {
        Self { slots: vec![0; Self::memory_for(count) / size_of::<u64>()], used: 0, has_zero: false }
    }

    pub(super) fn len(&self) -> usize {
        self.used + usize::from(self.has_zero)
    }

    pub(super) fn memory(&self) -> usize {
        self.slots.len() * size_of::<u64>()
    }

    pub(super) fn contains(&self, hash: u64) -> bool {
        match hash {
            0 => self.has_zero,
            _ => !self.slots.is_empty() && self.slots[find(&self.slots, hash)] == hash,
        }
    }

    /// Adds a hash; whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        if hash == 0 {
            return !std::mem::replace(&mut self.has_zero, true);
        }
        if self.slots.is_empty() {
            self.grow();
        }
        let index = find(&self.slots, hash);
        let is_new = self.slots[index] != hash;
        if is_new {
            self.insert_at(index, hash);
        }
        is_new
    }

    /// Puts a new hash where its search ended, or in a larger table if this one is full.
    fn insert_at(&mut self, mut index: usize, hash: u64) {
        if self.used + 1 > Self::capacity(self.memory()) {
            self.grow();
            index = find(&self.slots, hash);
        }
        self.used += 1;
        self.slots[index] = hash;
    }

    /// The same as one by one; where the table is large, look-ups wait for memory together.
    pub(super) fn insert_all(&mut self, hashes: &[u64]) {
        for chunk in hashes.chunks(CHUNK) {
            if self.slots.len() >= LARGE {
                chunk.iter().for_each(|&hash| prefetch(&self.slots, start(self.slots.len(), hash)));
            }
            for &hash in chunk {
                self.insert(hash);
            }
        }
    }

    /// Makes room for `count` hashes in all.
    pub(super) fn reserve(&mut self, count: usize) {
        while Self::capacity(self.memory()) < count {
            self.grow();
        }
    }

    /// Forgets all hashes and takes these, which are different and fit without growing, instead.
    pub(super) fn replace(&mut self, hashes: &[u64]) {
        self.slots.fill(0);
        self.has_zero = false;
        for &hash in hashes {
            if hash == 0 {
                self.has_zero = true;
            } else {
                let index = find(&self.slots, hash);
                self.slots[index] = hash;
            }
        }
        self.used = hashes.len() - usize::from(self.has_zero);
    }

    fn grow(&mut self) {
        let mut slots = vec![0; (self.slots.len() * 2).max(FIRST_SLOTS)];
        for hash in self.slots.drain(..).filter(|&hash| hash != 0) {
            let index = find(&slots, hash);
            slots[index] = hash;
        }
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
    /// In the plain order of the slots they would fill another, still growing table from one end, where
    /// each then finds its slot taken and walks far: the time would be that of the square.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        const PASSES: usize = 16;
        let passes = (0..PASSES).flat_map(|first| self.slots.iter().skip(first).step_by(PASSES));
        self.has_zero.then_some(0).into_iter().chain(passes.copied().filter(|&hash| hash != 0))
    }

    /// The hashes in the order of the slots: the quickest way to all of them.
    pub(super) fn unordered(&self) -> Vec<u64> {
        let mut hashes = vec![0; self.len() + 1];
        let mut count = usize::from(self.has_zero);
        for &hash in &self.slots {
            // Written in any case and kept if it is one: nothing for the processor to guess.
            hashes[count] = hash;
            count += usize::from(hash != 0);
        }
        hashes.truncate(count);
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
fn start(slots: usize, hash: u64) -> usize {
    // Callers may bring hashes of their own that differ in few bits: a multiplication carries
    // every bit to the top, and as many of the top bits as the table needs are its index.
    let product = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (product >> (slots as u64 - 1).leading_zeros()) as usize
}

/// The slot that holds the hash, or the free slot where it belongs. A quarter of the slots is
/// always free, so the search ends.
#[inline]
fn find(slots: &[u64], hash: u64) -> usize {
    let mask = slots.len() - 1;
    let mut index = start(slots.len(), hash);
    while slots[index] != 0 && slots[index] != hash {
        index = (index + 1) & mask;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_each_hash_once_zero_included() {
        let mut table = HashTable::new();
        let new = [0, 5, 0, u64::MAX, 5, 1 << 40, 2 << 40].map(|hash| table.insert(hash));
        assert_eq!(new, [true, true, false, true, false, true, true]);
        assert_eq!(table.len(), 5);
        assert!(table.contains(0) && table.contains(u64::MAX) && !table.contains(6));
        assert_eq!(table.sorted(), [0, 5, 1 << 40, 2 << 40, u64::MAX]);
    }

    #[test]
    fn equality_ignores_the_order_of_insertion() {
        let (mut forward, mut backward) = (HashTable::new(), HashTable::new());
        for hash in 0..100 {
            forward.insert(hash << 33);
            backward.insert((99 - hash) << 33);
        }
        assert_eq!(forward, backward);
        backward.insert(7);
        assert_ne!(forward, backward);
    }

    #[test]
    fn repetitions_take_no_room() {
        for count in [3, 6, 12, 1536] {
            let mut table = HashTable::with_room_for(count);
            let memory = table.memory();
            let hashes: Vec<u64> = (1..=count as u64).map(|i| i << 20).collect();
            table.insert_all(&hashes);
            table.insert_all(&hashes);
            assert_eq!((table.len(), table.memory()), (count, memory));
            table.insert(1);
            assert_eq!(table.memory(), 2 * memory);
        }
    }

    /// Merging walks no more slots than inserting: in the order of the slots it would take minutes.
    #[test]
    fn merging_takes_linear_time() {
        let mut table = HashTable::new();
        (0..400_000_u64).for_each(|i| _ = table.insert(i.wrapping_mul(0xD6E8_FEB8_6659_FD93)));
        let (mut empty, mut other) = (HashTable::new(), HashTable::new());
        (0..200_000_u64).for_each(|i| _ = other.insert(i.wrapping_mul(0xA076_1D64_78BD_642F)));
        empty.merge(&table);
        assert_eq!(empty, table);
        other.merge(&table);
        assert!(other.len() > 599_990 && table.iter().all(|hash| other.contains(hash)));
    }

    #[test]
    fn replacing_leaves_nothing_behind() {
        let mut table = HashTable::with_room_for(12);
        table.insert_all(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        table.replace(&[3, 20, 30]);
        assert_eq!((table.len(), table.sorted()), (3, vec![3, 20, 30]));
        table.replace(&[0]);
        assert_eq!((table.len(), table.sorted()), (1, vec![0]));
        assert!(table.contains(0) && !table.contains(3));
    }

    #[test]
    fn large_tables_are_filled_the_same() {
        let hashes: Vec<u64> = (0..100_000_u64).map(|i| i.wrapping_mul(0xD6E8_FEB8_6659_FD93)).collect();
        let (mut batch, mut single) = (HashTable::new(), HashTable::new());
        batch.insert_all(&hashes);
        hashes.iter().for_each(|&hash| _ = single.insert(hash));
        assert_eq!(batch.len(), hashes.len());
        assert_eq!(batch, single);
    }
}
