//! The kept keys, all of one kind, in no more memory than they need.
//!
//! An `OwnedKey` takes 24 bytes for a key of any kind. Here an integer or a hash takes 8 bytes, and
//! a byte string takes its own length and the 16 bytes of its box. So a stored sample never takes
//! many times its own size when it is read.

use crate::codec::{Reader, Writer};
use crate::error::Result;
use crate::keys::{KeyKind, KeyRef};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Items {
    Bytes(Vec<Box<[u8]>>),
    Integers(Vec<u64>),
    Hashes(Vec<u64>),
}

impl Items {
    pub(super) fn new(kind: KeyKind) -> Self {
        Self::with_room(kind, 0)
    }

    fn with_room(kind: KeyKind, room: usize) -> Self {
        match kind {
            KeyKind::Bytes => Self::Bytes(Vec::with_capacity(room)),
            KeyKind::Integer => Self::Integers(Vec::with_capacity(room)),
            KeyKind::Hash => Self::Hashes(Vec::with_capacity(room)),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bytes(items) => items.len(),
            Self::Integers(items) | Self::Hashes(items) => items.len(),
        }
    }

    pub(super) fn get(&self, index: usize) -> KeyRef<'_> {
        match self {
            Self::Bytes(items) => KeyRef::Bytes(&items[index]),
            Self::Integers(items) => KeyRef::Integer(items[index]),
            Self::Hashes(items) => KeyRef::Hash(items[index]),
        }
    }

    /// Puts a key into a slot, or at the end if the slot does not exist. The key must be of the
    /// kind that is kept.
    pub(super) fn put(&mut self, slot: usize, key: KeyRef<'_>) {
        match (self, key) {
            (Self::Bytes(items), KeyRef::Bytes(bytes)) => put(items, slot, bytes.into()),
            (Self::Integers(items), KeyRef::Integer(word)) | (Self::Hashes(items), KeyRef::Hash(word)) => {
                put(items, slot, word);
            }
            _ => {}
        }
    }

    pub(super) fn swap(&mut self, one: usize, other: usize) {
        match self {
            Self::Bytes(items) => items.swap(one, other),
            Self::Integers(items) | Self::Hashes(items) => items.swap(one, other),
        }
    }

    pub(super) fn truncate(&mut self, len: usize) {
        match self {
            Self::Bytes(items) => items.truncate(len),
            Self::Integers(items) | Self::Hashes(items) => items.truncate(len),
        }
    }

    /// Returns the number of bytes behind the pointers.
    pub(super) fn memory(&self) -> usize {
        match self {
            Self::Bytes(items) => {
                items.capacity() * size_of::<Box<[u8]>>() + items.iter().map(|item| item.len()).sum::<usize>()
            }
            Self::Integers(items) | Self::Hashes(items) => items.capacity() * size_of::<u64>(),
        }
    }

    pub(super) fn encode(&self, writer: &mut Writer) {
        (0..self.len()).for_each(|index| writer.key(self.get(index)));
    }

    pub(super) fn decode(kind: KeyKind, count: u64, reader: &mut Reader<'_>) -> Result<Self> {
        // Each key takes at least four bytes. So no memory is allocated for keys that the bytes
        // cannot contain; reading those fails below.
        let room = usize::try_from(count).unwrap_or(usize::MAX).min(reader.left() / 4);
        let mut items = Self::with_room(kind, room);
        for index in 0..count {
            items.put(index as usize, reader.key("items", kind)?);
        }
        Ok(items)
    }
}

fn put<T>(items: &mut Vec<T>, slot: usize, item: T) {
    match items.get_mut(slot) {
        Some(old) => *old = item,
        None => items.push(item),
    }
}
