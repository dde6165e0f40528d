//! Groups the equal values of a batch.
//!
//! Columns of categories repeat a few values. Finding the equal values of a batch costs one look-up
//! each. A profile spends several on each value, but with groups only once for all equal values.
//! Values are equal if their bytes are equal; equal hashes only select the slot.
//!
//! If the values of a batch come from a dictionary, equal values have equal places in it, and no
//! look-up is needed.

use crate::keys::{FEW_PLACES, KeyBatch, KeyRef, same_bytes};

/// A batch with more different values than this is not grouped.
const MOST: usize = 128;
/// The number of slots of the look-up table, which stays at most a quarter full.
const SLOTS: usize = 512;

/// The different values of a batch.
pub(super) struct Groups<'a> {
    len: usize,
    hashes: [u64; MOST],
    texts: [&'a [u8]; MOST],
    weights: [u32; MOST],
}

impl<'a> Groups<'a> {
    /// Returns the groups of a batch of texts, if they are few. `known` is the number of different
    /// values that the column has had so far. If it is too large, grouping is not worth trying.
    #[inline]
    pub(super) fn of(batch: &KeyBatch<'a>, known: usize) -> Option<Self> {
        // Short batches gain little. A batch longer than any reader makes could overflow a weight.
        if known > MOST || !(2 * MOST..1 << 31).contains(&batch.len()) {
            return None;
        }
        match batch.few_places() {
            Some(places) => Self::collect_places(batch, places),
            None => Self::collect(batch),
        }
    }

    const NONE: Self = Self { len: 0, hashes: [0; MOST], texts: [&[]; MOST], weights: [0; MOST] };

    /// Returns the groups of a batch whose values are equal if their places are.
    fn collect_places(batch: &KeyBatch<'a>, places: &[u32]) -> Option<Self> {
        let mut groups = Self::NONE;
        // The number of the group of each place, counted from 1; 0 if it has none.
        let mut numbers = [0_u8; FEW_PLACES];
        for (at, &place) in places.iter().enumerate() {
            let number = &mut numbers[place as usize % FEW_PLACES];
            if *number == 0 {
                let KeyRef::Bytes(text) = batch.get(at)? else { return None };
                if groups.len == MOST {
                    return None;
                }
                (groups.hashes[groups.len], groups.texts[groups.len]) = (batch.hashes()[at], text);
                groups.len += 1;
                *number = groups.len as u8;
            }
            groups.weights[usize::from(*number) - 1] += 1;
        }
        Some(groups)
    }

    fn collect(batch: &KeyBatch<'a>) -> Option<Self> {
        let mut groups = Self::NONE;
        // The number of the group in each slot, counted from 1; 0 if it has none.
        let mut slots = [0_u8; SLOTS];
        let mut are_few = true;
        let mut taken = 0;
        batch.each_text_while(|text, hash| {
            taken += 1;
            are_few = groups.count(text, hash, &mut slots);
            are_few
        });
        (are_few && taken == batch.len()).then_some(groups)
    }

    /// Counts a value. Returns false if it would be one group too many.
    #[inline]
    fn count(&mut self, text: &'a [u8], hash: u64, slots: &mut [u8; SLOTS]) -> bool {
        let mut slot = hash as usize % SLOTS;
        loop {
            let group = usize::from(slots[slot]);
            if group == 0 {
                if self.len == MOST {
                    return false;
                }
                (self.hashes[self.len], self.texts[self.len], self.weights[self.len]) = (hash, text, 1);
                self.len += 1;
                slots[slot] = self.len as u8;
                return true;
            }
            if self.hashes[group - 1] == hash && same_bytes(self.texts[group - 1], text) {
                self.weights[group - 1] += 1;
                return true;
            }
            slot = (slot + 1) % SLOTS;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The hash of each group, in the order of first occurrence.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes[..self.len]
    }

    /// Returns each value of the batch with its hash and number of occurrences, in the order of
    /// first occurrence.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a [u8], u64, u64)> {
        (0..self.len).map(|group| (self.texts[group], self.hashes[group], self.weights[group].into()))
    }
}

/// The number of occurrences of each value of a dictionary in a batch, for batches with too many
/// different values to be grouped.
pub(super) struct PlaceCounts<'a> {
    places: &'a [u32],
    weights: [u32; FEW_PLACES],
    /// The index in the batch at which each value first occurs.
    firsts: [u32; FEW_PLACES],
    len: usize,
}

impl<'a> PlaceCounts<'a> {
    /// Returns the counts of a batch whose values come from a small dictionary.
    pub(super) fn of(batch: &KeyBatch<'a>) -> Option<Self> {
        // A batch longer than any reader makes could overflow a weight.
        let places = batch.few_places().filter(|places| places.len() < 1 << 31)?;
        let mut counts = Self { places, weights: [0; FEW_PLACES], firsts: [0; FEW_PLACES], len: 0 };
        for (at, &place) in places.iter().enumerate() {
            let weight = &mut counts.weights[place as usize % FEW_PLACES];
            if *weight == 0 {
                counts.firsts[counts.len] = at as u32;
                counts.len += 1;
            }
            *weight += 1;
        }
        Some(counts)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The place in the dictionary of each row's value.
    pub(super) fn places(&self) -> &'a [u32] {
        self.places
    }

    /// Returns for each value the index of its first occurrence in the batch, its place and its
    /// number of occurrences, in the order of first occurrence.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        self.firsts[..self.len].iter().map(|&first| {
            let place = self.places[first as usize] as usize % FEW_PLACES;
            (first as usize, place, self.weights[place].into())
        })
    }
}
