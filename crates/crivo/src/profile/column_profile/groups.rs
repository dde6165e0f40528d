//! Equal values of a batch, taken together.
//!
//! Columns of categories have a few values over and over. Which values of a batch are the same
//! costs one look-up each; what a profile does with a value costs several, and is then done once
//! for all that are the same. Equal means equal bytes: that hashes are equal is only where to look.

//!
//! Where the values of a batch are from a dictionary, their places in it say which are the same,
//! and nothing is looked up.

use crate::keys::{FEW_PLACES, KeyBatch, KeyRef, same_bytes};

/// A batch with more different values than this is taken one by one.
const MOST: usize = 128;
/// The look-up table stays at most a quarter full.
const SLOTS: usize = 512;

/// The different values of a batch.
pub(super) struct Groups<'a> {
    len: usize,
    hashes: [u64; MOST],
    texts: [&'a [u8]; MOST],
    weights: [u32; MOST],
}

impl<'a> Groups<'a> {
    /// The groups of a batch of texts, if they are few. A column that has shown `known` different
    /// values, or more, tells whether it is worth looking.
    #[inline]
    pub(super) fn of(batch: &KeyBatch<'a>, known: usize) -> Option<Self> {
        // A short batch has little to gain, and one longer than any reader makes could overflow a
        // weight.
        if known > MOST || !(2 * MOST..1 << 31).contains(&batch.len()) {
            return None;
        }
        match batch.few_places() {
            Some(places) => Self::collect_places(batch, places),
            None => Self::collect(batch),
        }
    }

    const NONE: Self = Self { len: 0, hashes: [0; MOST], texts: [&[]; MOST], weights: [0; MOST] };

    /// The groups of a batch whose values are the same if their places are.
    fn collect_places(batch: &KeyBatch<'a>, places: &[u32]) -> Option<Self> {
        let mut groups = Self::NONE;
        // The number of the group of each place, from 1 on; 0 where there is none.
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
        // The number of a group, from 1 on; 0 where there is none.
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

    /// Counts a value; false if it is one too many.
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

    /// The hash of each, in the order they came.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes[..self.len]
    }

    /// Each value of the batch with its hash and how often it came, in the order they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a [u8], u64, u64)> {
        (0..self.len).map(|group| (self.texts[group], self.hashes[group], self.weights[group].into()))
    }
}

/// How often each value of a dictionary came in a batch, for batches with more of them than are
/// taken together.
pub(super) struct PlaceCounts<'a> {
    places: &'a [u32],
    weights: [u32; FEW_PLACES],
    /// Where in the batch each value came first.
    firsts: [u32; FEW_PLACES],
    len: usize,
}

impl<'a> PlaceCounts<'a> {
    /// The counts of a batch whose values are from a dictionary of few.
    pub(super) fn of(batch: &KeyBatch<'a>) -> Option<Self> {
        // One longer than any reader makes could overflow a weight.
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

    /// The place of each row.
    pub(super) fn places(&self) -> &'a [u32] {
        self.places
    }

    /// Where in the batch each value came first, its place, and how often it came, in the order
    /// they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, usize, u64)> {
        self.firsts[..self.len].iter().map(|&first| {
            let place = self.places[first as usize] as usize % FEW_PLACES;
            (first as usize, place, self.weights[place].into())
        })
    }
}
