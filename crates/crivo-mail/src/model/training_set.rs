//! All messages of a store, with what a fit needs of each.
//!
//! Features are by far the most of it: five kilobytes a message. Those of the first messages are
//! kept in memory, as far as the [memory of the store](Store::feature_memory) goes. A fit reads the
//! others from the store again in each pass. The model is the same.
//!
//! A fit looks at the weight of every feature of every message several times. Features are hashes,
//! so nearly every look would miss the processor's cache. So the slots get [other
//! numbers](Renumbering) for the fit: common ones are together, and those that one message alone
//! has are in a row.

use std::collections::HashMap;

use super::buckets::hash_of_sender;
use crate::alike::{self, Signature};
use crate::error::Result;
use crate::features::{SLOTS, TRANSPORT};
use crate::linear::{FeatureRows, Rows};
use crate::store::{Changed, Learnt, Store, decode_features};

/// What is known of a message besides its features.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrainingMessage {
    pub(super) fingerprint: u64,
    /// None if it is neither spam nor ham.
    pub(super) is_spam: Option<bool>,
    /// When it was learned.
    pub(super) time: i64,
    /// The hash of its sender.
    pub(super) sender: Option<u64>,
    /// The place of its signature.
    signature: Option<u32>,
}

/// All messages of a store, by number.
#[derive(Debug, Default)]
pub(super) struct TrainingSet {
    pub(super) messages: Vec<TrainingMessage>,
    /// One after the other, because small blocks that are freed stay with the process.
    signatures: Vec<Signature>,
}

impl TrainingSet {
    /// Reads all messages, and hands each to `see`.
    pub(super) fn load(store: &Store, mut see: impl FnMut(u64, &Learnt)) -> Result<Self> {
        let mut all = Self::default();
        store.for_each(|fingerprint, learnt| {
            let place = all.signatures.len() as u32;
            all.signatures.extend(alike::from_bytes(&learnt.signature));
            all.messages.push(TrainingMessage {
                fingerprint,
                is_spam: learnt.is_spam(),
                time: learnt.time(),
                sender: learnt.sender.as_deref().map(hash_of_sender),
                signature: (all.signatures.len() as u32 > place).then_some(place),
            });
            see(fingerprint, &learnt);
            Ok(())
        })?;
        Ok(all)
    }

    /// Returns the signature of a message; none if it has none.
    pub(super) fn signature(&self, message: &TrainingMessage) -> Option<&Signature> {
        self.signatures.get(message.signature? as usize)
    }

    /// Returns the fingerprints of all messages.
    pub(super) fn fingerprints(&self) -> Vec<u64> {
        self.messages.iter().map(|message| message.fingerprint).collect()
    }
}

/// The features of messages, in memory as far as it goes.
pub(super) struct StoredRows<'a> {
    store: &'a Store,
    fingerprints: Vec<u64>,
    /// What is done to the features of each message.
    prepare: fn(&mut [u32]),
    /// The features of the first messages.
    kept: Rows,
    /// How much each message counts; empty if all count the same.
    importance: Vec<f32>,
    /// All slots of text of renumbered messages are below this one.
    text_slots: usize,
}

impl<'a> StoredRows<'a> {
    /// The features of messages. Those that the open transaction put there are in `changed`, and
    /// not read again.
    pub(super) fn load(
        store: &'a Store,
        fingerprints: Vec<u64>,
        changed: &[Changed],
        prepare: fn(&mut [u32]),
    ) -> Result<Self> {
        let at_hand: HashMap<u64, &[u8]> = changed
            .iter()
            .filter_map(|change| Some((change.fingerprint, change.features.as_deref()?)))
            .collect();
        let (mut kept, mut features) = (Rows::default(), Vec::new());
        for fingerprint in &fingerprints {
            if kept.bytes() >= store.feature_memory() {
                break;
            }
            features.clear();
            match at_hand.get(fingerprint) {
                Some(record) => decode_features(record, &mut features).ok_or_else(|| {
                    store.file().damaged(format_args!("the features of message {fingerprint:x}"))
                })?,
                None => store.features(*fingerprint, &mut features)?,
            }
            prepare(&mut features);
            kept.push(&features);
        }
        Ok(Self { store, fingerprints, prepare, kept, importance: Vec::new(), text_slots: TRANSPORT })
    }

    /// Gives the slots of messages, given as places, the numbers that a fit is fast with. None if
    /// features are read from the store again and again.
    pub(super) fn renumber(&mut self, places: impl Iterator<Item = u32>) -> Option<Renumbering> {
        if self.kept.len() < self.fingerprints.len() {
            return None;
        }
        let renumbering = Renumbering::of(&mut self.kept, places);
        self.text_slots = renumbering.slots.len();
        Some(renumbering)
    }

    /// Lets messages count as much as is said of each.
    pub(super) fn set_importance(&mut self, importance: Vec<f32>) {
        self.importance = importance;
    }
}

impl FeatureRows for StoredRows<'_> {
    #[inline]
    fn row<'a>(&'a self, at: usize, room: &'a mut Vec<u32>) -> Result<&'a [u32]> {
        if at < self.kept.len() {
            return Ok(self.kept.row(at));
        }
        room.clear();
        self.store.features(self.fingerprints[at], room)?;
        (self.prepare)(room);
        Ok(room)
    }

    #[inline]
    fn importance(&self, at: usize) -> f32 {
        self.importance.get(at).copied().unwrap_or(1.0)
    }

    fn text_slots(&self) -> usize {
        self.text_slots
    }
}

/// Slots of text in the order in which messages have them first. Other slots keep their numbers,
/// because what they are follows from them.
pub(super) struct Renumbering {
    /// The slots, by their new numbers.
    slots: Vec<u32>,
}

impl Renumbering {
    /// Renumbers the slots of messages, given as places. The order within a message stays, and so
    /// do all sums.
    fn of(rows: &mut Rows, places: impl Iterator<Item = u32>) -> Self {
        const NONE: u32 = u32::MAX;
        let (mut numbers, mut slots) = (vec![NONE; TRANSPORT], Vec::new());
        for place in places {
            for entry in rows.row_mut(place as usize) {
                let slot = *entry >> 1;
                // The others are not in the table.
                let Some(number) = numbers.get_mut(slot as usize) else { continue };
                if *number == NONE {
                    *number = slots.len() as u32;
                    slots.push(slot);
                }
                *entry = *number << 1 | *entry & 1;
            }
        }
        Self { slots }
    }

    /// Returns what was found for each slot in the place where it belongs. What no message has is
    /// zero.
    pub(super) fn restored(&self, found: &[f32]) -> Vec<f32> {
        let mut restored = vec![0.0; SLOTS];
        restored[TRANSPORT..].copy_from_slice(&found[TRANSPORT..]);
        for (&slot, &number) in self.slots.iter().zip(found) {
            restored[slot as usize] = number;
        }
        restored
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{Recipe, Weights};
    use crate::model::{Model, derive_all};
    use crate::worth::Counts;
    use crate::{Filter, Label};

    #[test]
    fn a_fit_that_reads_features_again_is_the_same_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let filter = Filter::open_or_create(folder.path()).unwrap();
        let message = |number: u64| {
            let (label, of_class) =
                if number.is_multiple_of(3) { (Label::Spam, 700) } else { (Label::Ham, 0) };
            let word = |place: u64| crivo::hash::split_mix::mix(number * 100 + place) % 1000 + of_class;
            let words: Vec<String> = (0..40).map(|place| format!("w{}", word(place))).collect();
            (format!("From: s{}@x.example\n\n{}\n", number % 50, words.join(" ")).into_bytes(), label)
        };
        let labelled =
            |number: u64| (message(number).0, Label::named(if number < 9 { "a" } else { "b" }).unwrap());
        // The base, messages with labels of one's own, and a block of later messages and a part of
        // one.
        filter.train((0..480).map(message).map(Ok)).unwrap();
        filter.train((0..20).map(labelled).map(Ok)).unwrap();
        filter.train((480..570).map(message).map(Ok)).unwrap();
        drop(filter);
        let mut store = Store::open(folder.path()).unwrap();
        let derived = |store: &Store| {
            store.rebuild(|store| derive_all(store, &[])).unwrap();
            let mut model = Model::load(store.file(), None).unwrap();
            assert_eq!((model.head.base, model.labels.len()), (480, 2));
            // It says in which transaction it was written.
            model.head.chain = None;
            model
        };
        let expected = derived(&store);
        store.keep_no_features();
        assert!(derived(&store) == expected);
    }

    #[test]
    fn a_fit_with_other_numbers_is_the_same_to_the_last_bit() {
        let mut random = 0_u64;
        let mut draw = |below: u64| {
            random += 1;
            (crivo::hash::split_mix::mix(random) % below) as u32
        };
        let (mut rows, mut examples) = (Rows::default(), Vec::new());
        for at in 0..60 {
            let class = at % 2;
            // Few slots of text that many have, many that few have, and some facts.
            let text = (0..40).map(|place| if place < 20 { draw(200) + class * 50 } else { draw(1 << 21) });
            let mut features: Vec<u32> = text.collect();
            features.extend((0..10).map(|_| (TRANSPORT as u32) << 1 | draw(2 * (SLOTS - TRANSPORT) as u64)));
            features.sort_unstable();
            features.dedup();
            features.retain(|entry| (*entry >> 1) < SLOTS as u32);
            rows.push(&features);
            examples.push((at, class == 1));
        }
        let fit = |rows: &Rows| {
            let (mut counts, mut weights) = (Counts::zero(SLOTS), Weights::zero(SLOTS));
            counts.add(rows, examples.iter().copied()).unwrap();
            weights
                .fit(rows, &examples, &counts.squares(TRANSPORT), Recipe { cost: 16.0, passes: 2 })
                .unwrap();
            (weights, counts)
        };
        let expected = fit(&rows);
        let renumbering = Renumbering::of(&mut rows, examples.iter().map(|(at, _)| *at));
        let (mut weights, mut counts) = fit(&rows);
        assert_ne!(weights, expected.0);
        for found in [&mut weights.slots, &mut counts.of_kind, &mut counts.of_others] {
            *found = renumbering.restored(found);
        }
        assert_eq!((weights, counts), expected);
    }
}
