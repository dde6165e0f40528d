//! Where is the group of a key?
//!
//! An open-addressing table over the groups in the order of their creation. A key lies in one of
//! [`PROBES`] slots that follow from its hash. A key that finds all of them taken goes into an
//! ordered map. So a search is bounded for any keys, even for forged keys with equal hashes.

use alloc::collections::BTreeMap;

use super::names::{Name, Names};
use crate::cpu::prefetch;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The number of slots that a key may lie in. In a table that is half full, the probability that a
/// random hash finds all of them taken is below `e^(−0.19 · 64) = 5·10⁻⁶`.
const PROBES: usize = 64;
const FIRST_SLOTS: usize = 256;

/// One group: the hash of its key, the key, and its content.
#[derive(Debug, Clone)]
pub(super) struct Entry<V> {
    pub(super) hash: u64,
    pub(super) name: Name,
    pub(super) value: V,
}

/// The groups, numbered from 0 in the order of their creation.
#[derive(Debug, Clone)]
pub(super) struct Table<V> {
    /// The slots, a power of two of them. A slot has the low half of the hash, and the number of
    /// the group plus one, or 0 if it is empty.
    slots: Vec<u64>,
    pub(super) entries: Vec<Entry<V>>,
    pub(super) names: Names,
    /// Groups that found all their slots taken.
    crowded: BTreeMap<(u64, Box<[u8]>), u32>,
}

impl<V> Table<V> {
    /// The most groups that 32 bits can number.
    pub(super) const MOST: usize = u32::MAX as usize - 1;

    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), entries: Vec::new(), names: Names::default(), crowded: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn key(&self, group: usize) -> &[u8] {
        let Entry { name, .. } = &self.entries[group];
        self.names.get(name)
    }

    /// Prefetches the slots of a hash.
    #[inline]
    pub(super) fn prefetch_slot(&self, hash: u64) {
        if !self.slots.is_empty() {
            prefetch(&self.slots, self.home(hash));
        }
    }

    /// Prefetches the group that the first slot of a hash points at.
    #[inline]
    pub(super) fn prefetch_entry(&self, hash: u64) {
        if let Some(slot) = self.slots.get(self.home(hash)) {
            prefetch(&self.entries, (*slot as u32 as usize).wrapping_sub(1));
        }
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        // The number of slots is a power of two, and at least FIRST_SLOTS if there are any.
        (hash >> (64 - self.slots.len().max(2).trailing_zeros())) as usize
    }

    /// Searches the slots of a hash for a key.
    #[inline]
    fn search(&self, hash: u64, key: &[u8]) -> Search {
        if self.slots.is_empty() {
            return Search::Crowded;
        }
        let mask = self.slots.len() - 1;
        let home = self.home(hash);
        for step in 0..PROBES {
            let at = (home + step) & mask;
            let slot = self.slots[at];
            if slot == 0 {
                return Search::Absent;
            }
            if (slot >> 32) as u32 == hash as u32 {
                let number = slot as u32 - 1;
                let entry = &self.entries[number as usize];
                if entry.hash == hash && self.names.get(&entry.name) == key {
                    return Search::Found(number);
                }
            }
        }
        Search::Crowded
    }

    /// Returns the number of a group, if it is there.
    pub(super) fn find(&self, hash: u64, key: &[u8]) -> Option<u32> {
        match self.search(hash, key) {
            Search::Found(number) => Some(number),
            Search::Absent => None,
            Search::Crowded => self.crowded.get(&(hash, key.into())).copied(),
        }
    }

    /// Returns the number of a group. A missing group is created.
    #[inline]
    pub(super) fn find_or_add(&mut self, hash: u64, key: &[u8], value: impl FnOnce() -> V) -> u32 {
        match self.search(hash, key) {
            Search::Found(number) => number,
            _ => self.add_unless_crowded(hash, key, value()),
        }
    }

    #[cold]
    fn add_unless_crowded(&mut self, hash: u64, key: &[u8], value: V) -> u32 {
        match self.find(hash, key) {
            Some(number) => number,
            None => self.add(hash, key, value),
        }
    }

    /// Adds a group that is not in the table.
    pub(super) fn add(&mut self, hash: u64, key: &[u8], value: V) -> u32 {
        if (self.entries.len() + 1) * 2 > self.slots.len() {
            self.grow();
        }
        let number = self.entries.len() as u32;
        let name = self.names.add(key);
        self.entries.push(Entry { hash, name, value });
        self.place(number);
        number
    }

    fn place(&mut self, number: u32) {
        let Entry { hash, ref name, .. } = self.entries[number as usize];
        let mask = self.slots.len() - 1;
        let home = self.home(hash);
        let free = (0..PROBES).map(|step| (home + step) & mask).find(|&at| self.slots[at] == 0);
        if let Some(at) = free {
            self.slots[at] = u64::from(hash as u32) << 32 | u64::from(number + 1);
        } else {
            let key = self.names.get(name).into();
            self.crowded.insert((hash, key), number);
        }
    }

    #[cold]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        self.slots = Vec::new();
        self.slots.resize(slots, 0);
        self.crowded.clear();
        (0..self.entries.len() as u32).for_each(|number| self.place(number));
    }

    /// Returns the bytes of memory behind the pointers.
    pub(super) fn memory(&self) -> usize {
        self.slots.len() * size_of::<u64>()
            + self.entries.capacity() * size_of::<Entry<V>>()
            + self.names.memory()
            + self.crowded.len() * 128
    }
}

/// The result of a search.
enum Search {
    Found(u32),
    /// A slot where the key could be is free, so the key is not in the table.
    Absent,
    /// All slots are taken by other groups.
    Crowded,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_one_forged_hash_are_told_apart() {
        let mut table = Table::new();
        for round in 0..2 {
            for number in 0..3000_u32 {
                let found = table.find_or_add(7, &number.to_le_bytes(), || number);
                assert_eq!(found, number, "{round}");
            }
        }
        assert_eq!(table.len(), 3000);
        assert!(table.crowded.len() > 2900);
        assert_eq!(table.find(7, b"none"), None);
        assert_eq!(table.find(8, &1_u32.to_le_bytes()), None);
    }
}
