//! The keys of a table's slots, as small as their kind allows.
//!
//! A caller's hash is its own key, and an integer follows from its hash: neither takes memory
//! beside the hash. For texts a slot has a label of 16 bytes. It holds a text of at most 15 bytes,
//! so that one comparison of 16 bytes decides whether a key is the slot's. Longer texts lie end to
//! end in one array, and the label has their positions. When the counter of such a text is purged,
//! the text becomes a gap. When the gaps are more than a third of the array, the other texts move
//! into a new array.

use super::HeavyHitters;
use super::bucket::SLOTS;
use super::label::{Label, len_beside};
use super::table::Place;
use crate::cpu::zeroed;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{IntegerHash, KeyKind, KeyRef, KeyScheme, inverse, same_bytes};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The multiplier of callers' hashes before they are looked up. Such hashes may differ in few bits,
/// but a table needs them to differ in all. It is odd, so that the multiplication can be inverted.
pub(super) const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
const UNSPREAD: u64 = inverse(SPREAD);

/// The data, beside the hashes, from which keys are restored.
#[derive(Debug, Clone)]
pub(super) enum Names {
    Hashes,
    Integers(IntegerHash),
    Texts(Texts),
}

/// A label for each of the table's slots, and the texts that are too long for one.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    pub(super) labels: Labels,
    bytes: Vec<u8>,
    /// The number of bytes that belong to no slot any more.
    gaps: usize,
}

/// Labels in the order of the table's slots. Empty if keys are not texts.
pub(super) type Labels = Vec<[Label; SLOTS]>;

/// The part of a key beside its hash: nothing, or a text.
pub(super) trait Name: Copy {
    /// Returns true if this is the key of a slot in use with the same hash.
    fn is_of(self, names: &Names, place: Place) -> bool;

    /// Stores the key in a slot.
    ///
    /// # Errors
    /// If the key is too long, or there is not enough memory; nothing is changed then.
    fn keep(self, names: &mut Names, place: Place) -> Result<()>;

    /// Returns the text, which is empty if the hash identifies the key.
    fn text(&self) -> &[u8];
}

/// A key that its hash identifies.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unnamed;

impl Name for Unnamed {
    #[inline]
    fn is_of(self, _: &Names, _: Place) -> bool {
        true
    }

    #[inline]
    fn keep(self, _: &mut Names, _: Place) -> Result<()> {
        Ok(())
    }

    fn text(&self) -> &[u8] {
        &[]
    }
}

impl Name for &[u8] {
    #[inline]
    fn is_of(self, names: &Names, place: Place) -> bool {
        matches!(names, Names::Texts(texts) if texts.is_of(place, self))
    }

    #[inline]
    fn keep(self, names: &mut Names, place: Place) -> Result<()> {
        if let Names::Texts(texts) = names {
            HeavyHitters::require_length(self.len())?;
            texts.reserve(len_beside(self.len()))?;
            texts.set(place, self);
        }
        Ok(())
    }

    fn text(&self) -> &[u8] {
        self
    }
}

impl Names {
    /// Creates the names of a table that has no slots yet.
    pub(super) fn new(scheme: KeyScheme) -> Self {
        match scheme.kind() {
            KeyKind::Hash => Self::Hashes,
            KeyKind::Integer => Self::Integers(IntegerHash::new(scheme)),
            KeyKind::Bytes => Self::Texts(Texts::default()),
        }
    }

    /// Returns the text of a slot in use, which is empty if keys are not texts.
    #[inline]
    pub(super) fn text(&self, place: Place) -> &[u8] {
        match self {
            Self::Texts(texts) => texts.get(place),
            _ => &[],
        }
    }

    /// Returns the key of a slot in use.
    pub(super) fn key(&self, place: Place, hash: u64) -> KeyRef<'_> {
        match self {
            Self::Texts(texts) => KeyRef::Bytes(texts.get(place)),
            _ => self.key_of(hash, &[]),
        }
    }

    /// Returns the key of a hash and, if keys are texts, its text.
    pub(super) fn key_of<'a>(&self, hash: u64, text: &'a [u8]) -> KeyRef<'a> {
        match self {
            Self::Hashes => KeyRef::Hash(hash.wrapping_mul(UNSPREAD)),
            Self::Integers(integers) => KeyRef::Integer(integers.invert(hash)),
            Self::Texts(_) => KeyRef::Bytes(text),
        }
    }

    /// Stores a text in a slot. Does nothing if keys are not texts.
    ///
    /// # Errors
    /// If there is not enough memory; nothing is changed then.
    pub(super) fn keep(&mut self, text: &[u8], place: Place) -> Result<()> {
        text.keep(self, place)
    }

    /// Returns the text that a slot had before [`relabel`](Self::relabel), which is empty if keys
    /// are not texts.
    pub(super) fn text_before<'a>(&'a self, labels: &'a Labels, old: Place) -> &'a [u8] {
        match self {
            Self::Texts(texts) => labels[old.bucket][old.slot].text(&texts.bytes),
            _ => &[],
        }
    }

    /// Reserves room for `bytes` further bytes of text in the array (see [`len_beside`]).
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<()> {
        if let Self::Texts(texts) = self { texts.reserve(bytes) } else { Ok(()) }
    }

    /// Replaces the labels by empty ones for `buckets` buckets, and returns the old ones.
    pub(super) fn relabel(&mut self, buckets: usize) -> Result<Labels> {
        match self {
            Self::Texts(texts) => Ok(std::mem::replace(&mut texts.labels, zeroed(buckets as u64)?)),
            _ => Ok(Labels::new()),
        }
    }

    /// Counts the text that a slot had before [`relabel`](Self::relabel) as a gap.
    pub(super) fn leave_gap(&mut self, labels: &Labels, old: Place) {
        if let Self::Texts(texts) = self {
            texts.gaps += labels[old.bucket][old.slot].len_beside();
        }
    }

    /// Gives a slot the text that another slot had before [`relabel`](Self::relabel).
    pub(super) fn restore(&mut self, place: Place, labels: &Labels, old: Place) {
        if let Self::Texts(texts) = self {
            texts.labels[place.bucket][place.slot] = labels[old.bucket][old.slot];
        }
    }

    /// Moves a key from one slot to another.
    pub(super) fn rename(&mut self, from: Place, to: Place) {
        if let Self::Texts(texts) = self {
            texts.labels[to.bucket][to.slot] = texts.labels[from.bucket][from.slot];
        }
    }

    /// Returns the bytes of memory behind the pointers.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Hashes | Self::Integers(_) => 0,
            Self::Texts(texts) => {
                size_of::<[Label; SLOTS]>() * texts.labels.capacity() + texts.bytes.capacity()
            }
        }
    }
}

impl Texts {
    #[inline]
    pub(super) fn get(&self, place: Place) -> &[u8] {
        self.labels[place.bucket][place.slot % SLOTS].text(&self.bytes)
    }

    /// Returns true if a slot in use has the given text.
    #[inline]
    fn is_of(&self, place: Place, text: &[u8]) -> bool {
        let label = &self.labels[place.bucket][place.slot % SLOTS];
        match Label::of_short(text) {
            Some(short) => *label == short,
            None => label.is_long() && same_bytes(label.text(&self.bytes), text),
        }
    }

    /// Reserves room for `bytes` further bytes.
    ///
    /// # Errors
    /// If there is not enough memory.
    #[inline]
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<()> {
        if bytes <= self.bytes.capacity() - self.bytes.len() {
            return Ok(());
        }
        // The array grows by a quarter, so it is never much larger than necessary.
        let more = bytes.max(self.bytes.len() / 4);
        self.bytes.try_reserve_exact(more).map_err(|_| out_of_memory(more))
    }

    #[inline]
    fn set(&mut self, place: Place, text: &[u8]) {
        self.labels[place.bucket][place.slot % SLOTS] = Label::of_short(text).unwrap_or_else(|| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(text);
            Label::of_long(start, text.len())
        });
    }

    /// Counts a slot's text as a gap, if it lies in the array.
    #[inline]
    pub(super) fn forget(&mut self, place: Place) {
        self.gaps += self.labels[place.bucket][place.slot % SLOTS].len_beside();
    }

    /// Closes the gaps if they are more than a third of the bytes. `used` are the slots in use. The
    /// new array is as large as the old contents were, which is about the size that a full table
    /// needs.
    pub(super) fn close_gaps(&mut self, used: impl Iterator<Item = Place>) {
        if self.gaps <= self.bytes.len() / 3 {
            return;
        }
        let mut new = Vec::new();
        if new.try_reserve_exact(self.bytes.len()).is_err() {
            return; // gaps cost memory only: there may be some next time
        }
        let old = std::mem::replace(&mut self.bytes, new);
        self.gaps = 0;
        for place in used {
            let label = self.labels[place.bucket][place.slot % SLOTS];
            if label.is_long() {
                self.set(place, label.text(&old));
            }
        }
    }
}

#[cold]
pub(super) fn out_of_memory(bytes: usize) -> Error {
    let advice = "ask for a smaller capacity";
    Error::new(ErrorKind::OutOfMemory, "memory", format_args!("{bytes} bytes"), "less than that", advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{KeyBatch, KeyBuffer, Span};

    /// Batches of texts around the length that a label holds, through growth and purges.
    #[test]
    fn batches_of_short_and_long_texts_are_the_same_as_one_by_one() {
        let texts: Vec<String> = (0..6_000_u64)
            .map(|i| {
                let key = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (40 + i % 24);
                "x".repeat((key % 19) as usize) + &key.to_string()
            })
            .collect();
        let scheme = KeyScheme::bytes();
        for capacity in [1, 5, 60, 1_000, 5_000] {
            let mut sketches = [(); 3].map(|()| HeavyHitters::new(capacity).unwrap());
            for text in &texts {
                sketches[0].insert(text.as_str()).unwrap();
            }
            let mut buffer = KeyBuffer::new(scheme);
            for batch in texts.chunks(333) {
                let slices: Vec<&[u8]> = batch.iter().map(String::as_bytes).collect();
                sketches[1].insert_batch(&buffer.hash_slices(&slices).unwrap()).unwrap();
                let mut bytes = Vec::new();
                buffer.clear();
                for text in &slices {
                    buffer.push_span(Span::new(bytes.len()..bytes.len() + text.len()).unwrap());
                    bytes.extend_from_slice(text);
                }
                let spans: KeyBatch<'_> = buffer.hash_spans(&bytes).unwrap();
                sketches[2].insert_batch(&spans).unwrap();
            }
            let [one_by_one, slices, spans] = sketches.map(|sketch| sketch.encode());
            assert!(one_by_one == slices && one_by_one == spans, "{capacity} counters");
        }
    }
}
