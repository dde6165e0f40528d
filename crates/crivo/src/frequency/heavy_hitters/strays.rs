//! Keys without a free slot in their reach.
//!
//! They are kept in the order of their hashes, and of their texts if those share a hash. So finding
//! one takes `log n` steps for any keys. A table of keys that are not forged has next to none, so
//! strays may take more memory than slots.

use alloc::collections::BTreeMap;

use super::table::Counter;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Counters by hash, then by text. The text is empty if the hash identifies the key.
#[derive(Debug, Clone, Default)]
pub(super) struct Strays {
    by_hash: BTreeMap<u64, BTreeMap<Box<[u8]>, Counter>>,
    len: usize,
}

impl Strays {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(super) fn get(&self, hash: u64, text: &[u8]) -> Option<Counter> {
        self.by_hash.get(&hash)?.get(text).copied()
    }

    pub(super) fn get_mut(&mut self, hash: u64, text: &[u8]) -> Option<&mut Counter> {
        self.by_hash.get_mut(&hash)?.get_mut(text)
    }

    /// Adds a key that is not a stray yet.
    pub(super) fn insert(&mut self, hash: u64, text: &[u8], counter: Counter) {
        self.by_hash.entry(hash).or_default().insert(text.into(), counter);
        self.len += 1;
    }

    /// Removes the counters whose count is not above the threshold.
    pub(super) fn drop_up_to(&mut self, threshold: u64) {
        self.by_hash.retain(|_, same| {
            same.retain(|_, counter| counter.count > threshold);
            !same.is_empty()
        });
        self.len = self.by_hash.values().map(BTreeMap::len).sum();
    }

    /// Returns the hash, the text and the counter of each stray.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &[u8], Counter)> {
        let same = self.by_hash.iter();
        same.flat_map(|(&hash, same)| same.iter().map(move |(text, &counter)| (hash, &**text, counter)))
    }

    /// Returns the approximate bytes of memory behind the pointers. It is approximate because the
    /// nodes of the maps are between half full and full.
    pub(super) fn memory(&self) -> usize {
        let node = size_of::<(u64, Box<[u8]>, Counter)>() + size_of::<BTreeMap<Box<[u8]>, Counter>>();
        self.iter().map(|(_, text, _)| 2 * node + text.len()).sum()
    }
}

impl IntoIterator for Strays {
    type Item = (u64, Box<[u8]>, Counter);
    type IntoIter = Box<dyn Iterator<Item = Self::Item>>;

    fn into_iter(self) -> Self::IntoIter {
        let same = self.by_hash.into_iter();
        Box::new(
            same.flat_map(|(hash, same)| same.into_iter().map(move |(text, counter)| (hash, text, counter))),
        )
    }
}
