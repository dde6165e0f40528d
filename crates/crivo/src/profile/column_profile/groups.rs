//! Equal values of a batch, taken together.
//!
//! Columns of categories have a few values over and over. Which values of a batch are the same costs one look-up each; what a
//! profile does with a value costs several, and is then done once for all that are the same. Equal means
//! equal bytes: that hashes are equal is only where to look.

use crate::keys::{KeyBatch, same_bytes};

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
    /// The groups of a batch of texts, if they are few. A column that has shown `known` different values, or more,
    /// tells whether it is worth looking.
    #[inline]
    pub(super) fn of(batch: &KeyBatch<'a>, known: usize) -> Option<Self> {
        // A short batch has little to gain, and one longer than any reader makes could overflow a weight.
        if known > MOST || !(2 * MOST..1 << 31).contains(&batch.len()) {
            return None;
        }
        Self::collect(batch)
    }

    fn collect(batch: &KeyBatch<'a>) -> Option<Self> {
        let mut groups = Self { len: 0, hashes: [0; MOST], texts: [&[]; MOST], weights: [0; MOST] };
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
