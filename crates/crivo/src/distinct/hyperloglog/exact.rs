//! The small state: the hashes themselves, in an open-addressing table.
//!
//! The table takes no more memory than the registers would, so being exact costs nothing.

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

impl HashTable {
    /// How many hashes fit into `bytes` of memory: three quarters of the slots, because longer
    /// runs of used slots would slow every look-up.
    pub(super) const fn capacity(bytes: usize) -> usize {
        bytes / size_of::<u64>() * 3 / 4
    }

    pub(super) const fn new() -> Self {
        Self { slots: Vec::new(), used: 0, has_zero: false }
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

    /// Adds a hash that may be there already.
    pub(super) fn insert(&mut self, hash: u64) {
        if hash == 0 {
            self.has_zero = true;
            return;
        }
        if self.used + 1 > Self::capacity(self.memory()) {
            self.grow();
        }
        let index = find(&self.slots, hash);
        self.used += usize::from(self.slots[index] == 0);
        self.slots[index] = hash;
    }

    fn grow(&mut self) {
        let mut slots = vec![0; (self.slots.len() * 2).max(FIRST_SLOTS)];
        for hash in self.slots.drain(..).filter(|&hash| hash != 0) {
            let index = find(&slots, hash);
            slots[index] = hash;
        }
        self.slots = slots;
    }

    /// The hashes in the order of the table.
    pub(super) fn iter(&self) -> impl Iterator<Item = u64> {
        self.has_zero.then_some(0).into_iter().chain(self.slots.iter().copied().filter(|&hash| hash != 0))
    }

    /// The hashes in ascending order: the same whatever the order of insertion.
    pub(super) fn sorted(&self) -> Vec<u64> {
        let mut hashes: Vec<u64> = self.iter().collect();
        hashes.sort_unstable();
        hashes
    }
}

impl PartialEq for HashTable {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.sorted() == other.sorted()
    }
}

impl Eq for HashTable {}

/// The slot that holds the hash, or the free slot where it belongs. A quarter of the slots is
/// always free, so the search ends.
#[inline]
fn find(slots: &[u64], hash: u64) -> usize {
    let mask = slots.len() - 1;
    // Callers may bring hashes of their own that differ in few bits: a multiplication carries
    // every bit to the top, and as many of the top bits as the table needs are its index.
    let product = hash.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut index = (product >> (mask as u64).leading_zeros()) as usize;
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
        for hash in [0, 5, 0, u64::MAX, 5, 1 << 40, 2 << 40] {
            table.insert(hash);
        }
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
}
