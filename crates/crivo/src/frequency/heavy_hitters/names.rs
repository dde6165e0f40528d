//! The keys of a table's slots, as small as their kind allows.
//!
//! A caller's hash is its own key, and an integer follows from its hash: neither takes memory beside
//! the hash. Texts lie end to end in one array of bytes, and a slot has a label of eight bytes that
//! says where. A text whose counter is given up leaves a gap; when the gaps are more than a third, what is
//! left moves together into a new array.

use super::HeavyHitters;
use super::bucket::SLOTS;
use super::table::Place;
use crate::cpu::zeroed;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{IntegerHash, KeyKind, KeyRef, KeyScheme, inverse, same_bytes};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Callers' hashes may differ in few bits, where a table wants them to differ in all: they are multiplied
/// by this before they are looked for. It is odd, so that it can be undone.
pub(super) const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
const UNSPREAD: u64 = inverse(SPREAD);

/// What is needed, beside the hashes, to give keys back.
#[derive(Debug, Clone)]
pub(super) enum Names {
    Hashes,
    Integers(IntegerHash),
    Texts(Texts),
}

/// The texts, and a label for each of the table's slots.
#[derive(Debug, Clone, Default)]
pub(super) struct Texts {
    labels: Labels,
    bytes: Vec<u8>,
    /// How many of the bytes belong to no slot any more.
    gaps: usize,
}

/// Labels in the order of the table's slots; none if keys are no texts.
pub(super) type Labels = Vec<[Label; SLOTS]>;

/// Where a text begins, in the upper 48 bits, and its length.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Label(u64);

impl Label {
    const LENGTH_BITS: u32 = 16;

    fn new(start: usize, length: usize) -> Self {
        Self((start as u64) << Self::LENGTH_BITS | length as u64)
    }

    fn len(self) -> usize {
        (self.0 & ((1 << Self::LENGTH_BITS) - 1)) as usize
    }

    fn of(self, bytes: &[u8]) -> &[u8] {
        let start = (self.0 >> Self::LENGTH_BITS) as usize;
        &bytes[start..start + self.len()]
    }
}

/// What a key is beside its hash: nothing, or a text.
pub(super) trait Name: Copy {
    /// Returns true if this is the key of a slot in use whose hash is the key's.
    fn is_of(self, names: &Names, place: Place) -> bool;

    /// Gives the key to a slot.
    ///
    /// # Errors
    /// If it is too long or there is no memory; nothing is changed then.
    fn keep(self, names: &mut Names, place: Place) -> Result<()>;

    /// The text, empty if the hash stands for the key.
    fn text(&self) -> &[u8];
}

/// A key that its hash stands for.
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
        matches!(names, Names::Texts(texts) if same_bytes(texts.get(place), self))
    }

    #[inline]
    fn keep(self, names: &mut Names, place: Place) -> Result<()> {
        if let Names::Texts(texts) = names {
            HeavyHitters::require_length(self.len())?;
            texts.reserve(self.len())?;
            texts.set(place, self);
        }
        Ok(())
    }

    fn text(&self) -> &[u8] {
        self
    }
}

impl Names {
    /// Names for a table that has no slots yet.
    pub(super) fn new(scheme: KeyScheme) -> Self {
        match scheme.kind() {
            KeyKind::Hash => Self::Hashes,
            KeyKind::Integer => Self::Integers(IntegerHash::new(scheme)),
            KeyKind::Bytes => Self::Texts(Texts::default()),
        }
    }

    /// The text of a slot in use; empty if keys are no texts.
    #[inline]
    pub(super) fn text(&self, place: Place) -> &[u8] {
        match self {
            Self::Texts(texts) => texts.get(place),
            _ => &[],
        }
    }

    /// The key of a slot in use.
    pub(super) fn key(&self, place: Place, hash: u64) -> KeyRef<'_> {
        match self {
            Self::Texts(texts) => KeyRef::Bytes(texts.get(place)),
            _ => self.key_of(hash, &[]),
        }
    }

    /// The key of a hash and, if keys are texts, its text.
    pub(super) fn key_of<'a>(&self, hash: u64, text: &'a [u8]) -> KeyRef<'a> {
        match self {
            Self::Hashes => KeyRef::Hash(hash.wrapping_mul(UNSPREAD)),
            Self::Integers(integers) => KeyRef::Integer(integers.invert(hash)),
            Self::Texts(_) => KeyRef::Bytes(text),
        }
    }

    /// Gives a text to a slot; does nothing if keys are no texts.
    ///
    /// # Errors
    /// If there is no memory; nothing is changed then.
    pub(super) fn keep(&mut self, text: &[u8], place: Place) -> Result<()> {
        text.keep(self, place)
    }

    /// The text that a slot had before [`relabel`](Self::relabel); empty if keys are no texts.
    pub(super) fn text_before(&self, labels: &Labels, old: Place) -> &[u8] {
        match self {
            Self::Texts(texts) => labels[old.bucket][old.slot].of(&texts.bytes),
            _ => &[],
        }
    }

    /// Reserves room for the given number of further bytes of text.
    ///
    /// # Errors
    /// If there is no memory.
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<()> {
        if let Self::Texts(texts) = self { texts.reserve(bytes) } else { Ok(()) }
    }

    /// Fresh labels for a table of the given size, in exchange for the present ones.
    pub(super) fn relabel(&mut self, buckets: usize) -> Result<Labels> {
        match self {
            Self::Texts(texts) => Ok(std::mem::replace(&mut texts.labels, zeroed(buckets as u64)?)),
            _ => Ok(Labels::new()),
        }
    }

    /// Counts the text that a slot had before [`relabel`](Self::relabel) as a gap.
    pub(super) fn leave_gap(&mut self, labels: &Labels, old: Place) {
        if let Self::Texts(texts) = self {
            texts.gaps += labels[old.bucket][old.slot].len();
        }
    }

    /// Gives a slot the text that another had before [`relabel`](Self::relabel).
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

    /// Bytes behind the pointers.
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
        self.labels[place.bucket][place.slot % SLOTS].of(&self.bytes)
    }

    /// Reserves room for the given number of further bytes.
    ///
    /// # Errors
    /// If there is no memory.
    #[inline]
    pub(super) fn reserve(&mut self, bytes: usize) -> Result<()> {
        if bytes <= self.bytes.capacity() - self.bytes.len() {
            return Ok(());
        }
        // Growing by a quarter, the array is never much larger than it must be.
        let more = bytes.max(self.bytes.len() / 4);
        self.bytes.try_reserve_exact(more).map_err(|_| out_of_memory(more))
    }

    #[inline]
    fn set(&mut self, place: Place, text: &[u8]) {
        self.labels[place.bucket][place.slot % SLOTS] = Label::new(self.bytes.len(), text.len());
        self.bytes.extend_from_slice(text);
    }

    /// Takes a slot's text away.
    #[inline]
    pub(super) fn forget(&mut self, place: Place) {
        self.gaps += self.labels[place.bucket][place.slot % SLOTS].len();
    }

    /// Closes the gaps if they are more than a third of the bytes; `used` are the slots in use. The new
    /// array is as large as the old contents were, which is about what a full table needs.
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
            self.set(place, label.of(&old));
        }
    }
}

#[cold]
pub(super) fn out_of_memory(bytes: usize) -> Error {
    let advice = "ask for a smaller capacity";
    Error::new(ErrorKind::OutOfMemory, "memory", format_args!("{bytes} bytes"), "less than that", advice)
}
