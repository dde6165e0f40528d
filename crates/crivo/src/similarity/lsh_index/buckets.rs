//! The buckets of one band. They map a band's key to the newest set with that key.
//!
//! The table has linear probing and 8 bytes a bucket: 32 bits of the key, and the number of the
//! newest set. Older sets are in a linked list behind the newest. So a bucket of one set, which
//! most buckets are, needs no further memory, and a bucket of a million sets needs no table of its
//! own.

use crate::cpu;
use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// A bucket: the key in the high half, the number of its newest set plus one in the low half.
type Place = u64;

const VACANT: Place = 0;

#[derive(Debug, Clone, Default)]
pub(super) struct Buckets {
    /// The length is a power of two, or 0.
    places: Vec<Place>,
    used: usize,
}

impl Buckets {
    /// Returns the number of the newest set under the key.
    pub(super) fn newest(&self, key: u32) -> Option<u32> {
        if self.places.is_empty() {
            return None;
        }
        newest_in(self.places[self.place_of(key)])
    }

    /// Makes a set the newest under the key, and returns the one that was newest before.
    ///
    /// # Errors
    /// If there is no memory for a larger table. The table is unchanged then.
    pub(super) fn replace(&mut self, key: u32, number: u32) -> Result<Option<u32>> {
        // At most 7/8 full, so that probing stays within a cache line or two.
        if self.used >= self.places.len() / 8 * 7 {
            self.grow()?;
        }
        let at = self.place_of(key);
        let former = newest_in(self.places[at]);
        self.used += usize::from(former.is_none());
        self.places[at] = u64::from(key) << 32 | (u64::from(number) + 1);
        Ok(former)
    }

    /// Prefetches the cache line in which the search for the key begins.
    pub(super) fn prefetch(&self, key: u32) {
        if !self.places.is_empty() {
            cpu::prefetch(&self.places, self.first_place(key));
        }
    }

    /// Returns the key of every bucket and the number of its newest set.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.places.iter().filter_map(|&place| newest_in(place).map(|newest| ((place >> 32) as u32, newest)))
    }

    pub(super) fn memory(&self) -> usize {
        self.places.capacity() * size_of::<Place>()
    }

    fn first_place(&self, key: u32) -> usize {
        // The key is uniform, so its high bits select the slot.
        ((u64::from(key) * self.places.len() as u64) >> 32) as usize
    }

    /// Returns the slot of the key, or a vacant one if the key has none. The table always has a
    /// vacant slot.
    fn place_of(&self, key: u32) -> usize {
        let mut at = self.first_place(key);
        while self.places[at] != VACANT && (self.places[at] >> 32) as u32 != key {
            at = (at + 1) & (self.places.len() - 1);
        }
        at
    }

    #[cold]
    fn grow(&mut self) -> Result<()> {
        let places = cpu::zeroed((2 * self.places.len() as u64).max(8))?;
        let former = std::mem::replace(&mut self.places, places);
        for place in former.into_iter().filter(|&place| place != VACANT) {
            let at = self.place_of((place >> 32) as u32);
            self.places[at] = place;
        }
        Ok(())
    }
}

fn newest_in(place: Place) -> Option<u32> {
    (place as u32).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use super::*;

    #[test]
    fn buckets_are_a_map_from_keys_to_their_newest_set() {
        let (mut buckets, mut map) = (Buckets::default(), BTreeMap::new());
        assert_eq!(buckets.newest(7), None);
        for number in 0..5_000_u32 {
            // Every key occurs several times, and many keys begin at the same slot.
            let key = (number % 1_700).wrapping_mul(0x9E37_0001) >> (number % 3);
            assert_eq!(buckets.replace(key, number), Ok(map.insert(key, number)));
        }
        for (&key, &number) in &map {
            assert_eq!(buckets.newest(key), Some(number));
        }
        let mut listed: Vec<_> = buckets.iter().collect();
        listed.sort_unstable();
        assert_eq!(listed, map.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn the_highest_keys_wrap_around() {
        let mut buckets = Buckets::default();
        for (number, key) in (u32::MAX - 20..=u32::MAX).enumerate() {
            assert_eq!(buckets.replace(key, number as u32), Ok(None));
        }
        assert_eq!(buckets.newest(u32::MAX), Some(20));
        assert_eq!(buckets.newest(u32::MAX - 21), None);
    }
}
