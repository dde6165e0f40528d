//! Equal values of a batch, taken together.
//!
//! Columns of categories have a few values over and over. Which values of a batch are the same costs one look-up each; what a
//! profile does with a value costs several, and is then done once for all that are the same. Equal means
//! equal bytes: that hashes are equal is only where to look.

use crate::keys::{KeyBatch, KeyRef};

/// A batch with more different values than this is taken one by one.
const MOST: usize = 128;
/// The look-up table stays at most a quarter full.
const SLOTS: usize = 512;

/// The different values of a batch.
pub(super) struct Groups {
    len: usize,
    hashes: [u64; MOST],
    /// Where in the batch each came first.
    firsts: [u32; MOST],
    weights: [u32; MOST],
}

impl Groups {
    /// The groups of a batch of texts, if they are few. A column that has shown `known` different values, or more,
    /// tells whether it is worth looking.
    #[inline]
    pub(super) fn of(batch: &KeyBatch<'_>, known: usize) -> Option<Self> {
        // A short batch has little to gain, and one longer than any reader makes could overflow a weight.
        if known > MOST || !(2 * MOST..1 << 31).contains(&batch.len()) {
            return None;
        }
        Self::collect(batch)
    }

    fn collect(batch: &KeyBatch<'_>) -> Option<Self> {
        let mut groups = Self { len: 0, hashes: [0; MOST], firsts: [0; MOST], weights: [0; MOST] };
        // The number of a group, from 1 on; 0 where there is none.
        let mut slots = [0_u8; SLOTS];
        for (at, (key, hash)) in batch.iter().enumerate() {
            let KeyRef::Bytes(text) = key else { return None };
            let mut slot = hash as usize % SLOTS;
            loop {
                let group = usize::from(slots[slot]);
                if group == 0 {
                    if groups.len == MOST {
                        return None;
                    }
                    groups.hashes[groups.len] = hash;
                    groups.firsts[groups.len] = at as u32;
                    groups.weights[groups.len] = 1;
                    groups.len += 1;
                    slots[slot] = groups.len as u8;
                    break;
                }
                if groups.hashes[group - 1] == hash && is_text(batch, groups.firsts[group - 1], text) {
                    groups.weights[group - 1] += 1;
                    break;
                }
                slot = (slot + 1) % SLOTS;
            }
        }
        Some(groups)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The hash of each, in the order they came.
    pub(super) fn hashes(&self) -> &[u64] {
        &self.hashes[..self.len]
    }

    /// Each value of the batch with its hash and how often it came, in the order they came.
    pub(super) fn iter<'a>(&self, batch: &KeyBatch<'a>) -> impl Iterator<Item = (&'a [u8], u64, u64)> {
        (0..self.len).filter_map(|group| match batch.get(self.firsts[group] as usize) {
            Some(KeyRef::Bytes(text)) => Some((text, self.hashes[group], self.weights[group].into())),
            _ => None,
        })
    }
}

#[inline]
fn is_text(batch: &KeyBatch<'_>, at: u32, text: &[u8]) -> bool {
    matches!(batch.get(at as usize), Some(KeyRef::Bytes(known)) if known == text)
}
