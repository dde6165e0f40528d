//! Counts by the number of a bin, in a small hash table.
//!
//! Numbers of both signs are in one table. A key is twice the bin's number, plus one if the bin's
//! numbers are negative. The answers of the table depend on its keys and counts, never on their
//! positions.

use crate::cpu::zeroed;
use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A bin: its sign, its number, and how many numbers are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bin {
    pub(super) is_negative: bool,
    pub(super) number: u32,
    pub(super) count: u64,
}

impl Bin {
    /// Returns a value that rises with the numbers in the bin.
    pub(super) fn order(&self) -> i64 {
        order(self.is_negative, self.number)
    }
}

/// Returns the position of a bin in the order of all: negative for negative numbers, positive for
/// positive ones.
pub(super) fn order(is_negative: bool, number: u32) -> i64 {
    let magnitude = i64::from(number) + 1;
    if is_negative { -magnitude } else { magnitude }
}

#[derive(Debug, Clone)]
pub(super) struct Bins {
    /// Parallel to `counts`. The key of a vacant slot has no meaning.
    keys: Vec<u32>,
    /// The count of a vacant slot is 0.
    counts: Vec<u64>,
    len: usize,
}

impl Bins {
    const LEAST_SLOTS: usize = 16;

    pub(super) const fn new() -> Self {
        Self { keys: Vec::new(), counts: Vec::new(), len: 0 }
    }

    /// Returns a table with room for this many bins.
    pub(super) fn with_room_for(bins: usize) -> Result<Self> {
        let slots = (bins + bins / 3 + 1).next_power_of_two().max(Self::LEAST_SLOTS) as u64;
        Ok(Self { keys: zeroed(slots)?, counts: zeroed(slots)?, len: 0 })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn memory(&self) -> usize {
        self.keys.capacity() * size_of::<u32>() + self.counts.capacity() * size_of::<u64>()
    }

    /// Returns the most memory that this many bins can take.
    pub(super) fn most_memory(bins: usize) -> usize {
        (bins + bins / 3 + 1).next_power_of_two().max(Self::LEAST_SLOTS)
            * (size_of::<u32>() + size_of::<u64>())
    }

    /// Adds `count` to a bin. Returns true if the bin is new.
    #[inline]
    pub(super) fn add(&mut self, number: u32, is_negative: bool, count: u64) -> bool {
        let key = number << 1 | u32::from(is_negative);
        let Self { keys, counts, .. } = self;
        if let Some(mask) = counts.len().checked_sub(1) {
            let mut slot = first_slot(key, mask);
            while counts[slot & mask] != 0 {
                slot &= mask;
                if keys[slot] == key {
                    counts[slot] = counts[slot].saturating_add(count);
                    return false;
                }
                slot += 1;
            }
        }
        self.add_new(key, count);
        true
    }

    #[cold]
    fn add_new(&mut self, key: u32, count: u64) {
        if self.len >= self.counts.len() / 4 * 3 {
            self.grow();
        }
        self.put(key, count);
        self.len += 1;
    }

    fn put(&mut self, key: u32, count: u64) {
        let mask = self.counts.len() - 1;
        let mut slot = first_slot(key, mask) & mask;
        while self.counts[slot] != 0 {
            slot = (slot + 1) & mask;
        }
        (self.keys[slot], self.counts[slot]) = (key, count);
    }

    fn grow(&mut self) {
        let slots = (self.counts.len() * 2).max(Self::LEAST_SLOTS);
        let old =
            std::mem::replace(self, Self { keys: vec![0; slots], counts: vec![0; slots], len: self.len });
        old.entries().for_each(|(key, count)| self.put(key, count));
    }

    fn entries(&self) -> impl Iterator<Item = (u32, u64)> {
        self.keys.iter().zip(&self.counts).filter(|entry| *entry.1 != 0).map(|(&key, &count)| (key, count))
    }

    /// Joins each pair of neighbours, which gives the bins of the next level.
    pub(super) fn collapse(&mut self) {
        let old = std::mem::replace(self, Self::new());
        old.iter().for_each(|Bin { is_negative, number, count }| {
            self.add(number >> 1, is_negative, count);
        });
    }

    /// Returns all bins, in no particular order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Bin> {
        self.entries().map(|(key, count)| Bin { is_negative: key & 1 == 1, number: key >> 1, count })
    }

    /// Returns all bins in ascending order of their numbers: negative ones first, from the largest
    /// magnitude on.
    pub(super) fn sorted(&self) -> Vec<Bin> {
        let mut bins: Vec<Bin> = self.iter().collect();
        bins.sort_unstable_by_key(Bin::order);
        bins
    }
}

/// Returns the first slot of a key. Multiplying by the golden ratio spreads neighbours far apart.
#[inline]
fn first_slot(key: u32, mask: usize) -> usize {
    (u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize & mask
}

/// Compares the bins and their counts. The positions in the table do not matter.
impl PartialEq for Bins {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.sorted() == other.sorted()
    }
}
