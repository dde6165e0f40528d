//! Little-endian writing: the mirror of [`Reader`](super::Reader).

use super::envelope::{Encode, write_envelope};
use crate::error::{Error, Result};
use crate::keys::KeyRef;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Refuses bytes that [`Writer::key`] cannot write, because their number does not fit in four
/// bytes. Every sketch that keeps keys of any length must call this before it takes one.
#[inline]
pub(crate) fn require_writable(field: &'static str, bytes: &[u8]) -> Result<()> {
    match u32::try_from(bytes.len()) {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::parameter(field, "less than 4 GiB", format_args!("{} bytes", bytes.len()))),
    }
}

/// Collects the bytes of a payload.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Writes one byte.
    pub fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Writes two bytes, little-endian.
    pub fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes four bytes, little-endian.
    pub fn u32(&mut self, value: u32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes eight bytes, little-endian.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes bytes without their number, which must follow from earlier fields.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Writes a whole sketch in its own envelope.
    pub fn envelope<S: Encode + ?Sized>(&mut self, sketch: &S) {
        write_envelope(sketch, self);
    }

    /// Writes many 64-bit integers, without their number.
    pub fn u64s(&mut self, values: impl IntoIterator<Item = u64>) {
        for value in values {
            self.u64(value);
        }
    }

    /// Writes a key of the envelope's kind. Bytes follow their number, in four bytes, so they must
    /// be fewer than 4 GiB. Any other key takes eight bytes.
    pub fn key(&mut self, key: KeyRef<'_>) {
        match key {
            KeyRef::Bytes(bytes) => {
                self.u32(bytes.len() as u32);
                self.bytes(bytes);
            }
            KeyRef::Integer(value) | KeyRef::Hash(value) => self.u64(value),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Overwrites eight bytes written before, for a length that is known only at the end.
    pub(crate) fn patch_u64(&mut self, offset: usize, value: u64) {
        self.bytes[offset..offset + 8].copy_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn written(&self, from: usize) -> &[u8] {
        &self.bytes[from..]
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}
