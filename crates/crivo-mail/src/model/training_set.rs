//! All messages of a store, with the data that a fit needs of each.
//!
//! Most of the data are features: five kilobytes a message. Features of the first messages are kept
//! in memory, up to the [memory of the store](Store::feature_memory). A fit reads the others from
//! the store again in each pass. The resulting model is the same.
//!
//! A fit reads the weight of every feature of every message several times. Features are hashes, so
//! nearly every read would miss the processor's cache. So slots get [other numbers](Renumbering)
//! for the fit: slots that many messages have are close together, and those that only one message
//! has are consecutive.

use std::collections::HashMap;

use super::buckets::hash_of_sender;
use crate::alike::{self, Signature};
use crate::error::Result;
use crate::features::{SLOTS, TRANSPORT};
use crate::linear::{FeatureRows, Rows};
use crate::store::{Changed, Learnt, Store, decode_features};

/// The data of a message besides its features.
#[derive(Debug, Clone, Copy)]
pub(super) struct TrainingMessage {
    pub(super) fingerprint: u64,
    /// `None` if it is neither spam nor ham.
    pub(super) is_spam: Option<bool>,
    /// When it was learned.
    pub(super) time: i64,
    /// The hash of the sender.
    pub(super) sender: Option<u64>,
    /// The index of its signature in [`TrainingSet`].
    signature: Option<u32>,
}

/// All messages of a store, by number.
#[derive(Debug, Default)]
pub(super) struct TrainingSet {
    pub(super) messages: Vec<TrainingMessage>,
    /// All in one vector, because small blocks stay with the process after they are freed.
    signatures: Vec<Signature>,
}

impl TrainingSet {
    /// Reads all messages, and passes each to `see`.
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

    /// Returns the signature of a message, or `None` if it has no signature.
    pub(super) fn signature(&self, message: &TrainingMessage) -> Option<&Signature> {
        self.signatures.get(message.signature? as usize)
    }

    /// Returns the fingerprints of all messages.
    pub(super) fn fingerprints(&self) -> Vec<u64> {
        self.messages.iter().map(|message| message.fingerprint).collect()
    }
}

/// The features of messages, in memory up to the limit of the store.
pub(super) struct StoredRows<'a> {
    store: &'a Store,
    fingerprints: Vec<u64>,
    /// Transforms the features of each message after they are read.
    prepare: fn(&mut [u32]),
    /// The features of the first messages.
    kept: Rows,
    /// The weight of each message in the fit; empty if all are equal.
    importance: Vec<f32>,
    /// An upper bound (exclusive) on the slots of text in renumbered messages.
    text_slots: usize,
}

impl<'a> StoredRows<'a> {
    /// Loads the features of messages. Features of messages in `changed`, which the open
    /// transaction wrote, are not read again.
    pub(super) fn load(
        store: &'a Store,
        fingerprints: Vec<u64>,
        changed: &[Changed],
        prepare: fn(&mut [u32]),
    ) -> Result<Self> {
        let mut at_hand: HashMap<u64, &[u8]> = HashMap::new();
        for change in changed {
            match &change.features {
                Some(features) => at_hand.insert(change.fingerprint, features),
                None if change.is_replaced => at_hand.remove(&change.fingerprint),
                None => None,
            };
        }
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

    /// Gives the slots of messages, given as places, numbers that make a fit fast. Returns `None`
    /// if some features are read from the store in each pass.
    pub(super) fn renumber(&mut self, places: impl Iterator<Item = u32>) -> Option<Renumbering> {
        if self.kept.len() < self.fingerprints.len() {
            return None;
        }
        let renumbering = Renumbering::of(&mut self.kept, places);
        self.text_slots = renumbering.slots.len();
        Some(renumbering)
    }

    /// Sets the weight of each message in the fit.
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

/// The slots of text, in the order in which they first occur in messages. Other slots keep their
/// numbers, because their meaning follows from their numbers.
pub(super) struct Renumbering {
    /// The slots, by their new numbers.
    slots: Vec<u32>,
}

impl Renumbering {
    /// Renumbers the slots of messages, given as places. The order of features within a message
    /// stays the same, and with it every sum.
    fn of(rows: &mut Rows, places: impl Iterator<Item = u32>) -> Self {
        const NONE: u32 = u32::MAX;
        let (mut numbers, mut slots) = (vec![NONE; TRANSPORT], Vec::new());
        for place in places {
            for entry in rows.row_mut(place as usize) {
                let slot = *entry >> 1;
                // Slots beyond the text are not in the table.
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

    /// Returns the numbers found for the new slots in the order of the original slots. Slots that
    /// no message has are zero.
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
        // The base, messages with labels of the user's own, one block of later messages and a part
        // of another.
        filter.train((0..480).map(message).map(Ok)).unwrap();
        filter.train((0..20).map(labelled).map(Ok)).unwrap();
        filter.train((480..570).map(message).map(Ok)).unwrap();
        drop(filter);
        let mut store = Store::open(folder.path()).unwrap();
        let derived = |store: &Store| {
            store.rebuild(|store| derive_all(store, &[])).unwrap();
            let mut model = Model::load(store.file(), None).unwrap();
            assert_eq!((model.head.base, model.labels.len()), (480, 2));
            // The chain holds the transaction in which it was written.
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
            // Some slots of text that many messages have, some that few have, and some facts.
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
