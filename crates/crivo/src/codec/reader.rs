//! Little-endian reading that cannot run past the end.

use super::envelope::{CHECKSUM_LEN, Decode, HEADER_LEN, LENGTH_OFFSET, decode_opened, open};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{KeyKind, KeyRef, KeyScheme};

/// Reads a payload field by field. Each read names its field, for the error if there are too few
/// bytes.
///
/// A payload whose checksum is right, but whose fields do not fit its length, was not written by
/// crivo. So running out of bytes here is [`ErrorKind::InvalidContents`], not truncation.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns how many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len()
    }

    /// Reads the next `length` bytes, borrowed. The length is checked before any allocation.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn bytes(&mut self, field: &'static str, length: u64) -> Result<&'a [u8]> {
        let taken = usize::try_from(length).ok().and_then(|length| self.bytes.split_at_checked(length));
        let Some((taken, rest)) = taken else {
            return Err(Error::contents(
                field,
                format_args!("{length} bytes"),
                format_args!("{}", self.bytes.len()),
            ));
        };
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(field, N as u64)?);
        Ok(array)
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// If none is left.
    pub fn u8(&mut self, field: &'static str) -> Result<u8> {
        self.array::<1>(field).map(|[byte]| byte)
    }

    /// Reads two bytes, little-endian.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn u16(&mut self, field: &'static str) -> Result<u16> {
        self.array(field).map(u16::from_le_bytes)
    }

    /// Reads four bytes, little-endian.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn u32(&mut self, field: &'static str) -> Result<u32> {
        self.array(field).map(u32::from_le_bytes)
    }

    /// Reads eight bytes, little-endian.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn u64(&mut self, field: &'static str) -> Result<u64> {
        self.array(field).map(u64::from_le_bytes)
    }

    /// Reads `count` 64-bit integers, little-endian. The iterator reads them from bytes that were
    /// checked to be there.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn u64s(
        &mut self,
        field: &'static str,
        count: u64,
    ) -> Result<impl ExactSizeIterator<Item = u64> + Clone + use<'a>> {
        let bytes = self.bytes(field, count.saturating_mul(8))?;
        Ok(bytes.chunks_exact(8).map(|chunk| {
            let mut array = [0; 8];
            array.copy_from_slice(chunk);
            u64::from_le_bytes(array)
        }))
    }

    /// Reads a key of the given kind, borrowed, as [`Writer::key`](super::Writer::key) wrote it.
    ///
    /// # Errors
    /// If fewer bytes are left than it takes.
    pub fn key(&mut self, field: &'static str, kind: KeyKind) -> Result<KeyRef<'a>> {
        Ok(match kind {
            KeyKind::Bytes => {
                let length = self.u32(field)?;
                KeyRef::Bytes(self.bytes(field, length.into())?)
            }
            KeyKind::Integer => KeyRef::Integer(self.u64(field)?),
            KeyKind::Hash => KeyRef::Hash(self.u64(field)?),
        })
    }

    /// Reads the bytes of a whole envelope, borrowed and not checked. The envelope states their
    /// number.
    ///
    /// # Errors
    /// If fewer are left.
    pub fn envelope(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let mut rest = Self { bytes: self.bytes };
        rest.bytes(field, LENGTH_OFFSET as u64)?;
        let payload_len = rest.u64(field)?;
        self.bytes(field, payload_len.saturating_add((HEADER_LEN + CHECKSUM_LEN) as u64))
    }

    /// Reads a sketch in its own envelope. Its keys must be hashed under the given scheme, if there
    /// is one.
    pub(crate) fn sketch<S: Decode>(&mut self, field: &'static str, scheme: Option<KeyScheme>) -> Result<S> {
        let (header, payload) = open(self.envelope(field)?)?;
        match scheme {
            Some(scheme) if header.scheme != scheme => {
                Err(Error::contents(field, format_args!("keys of {scheme}"), header.scheme))
            }
            _ => decode_opened(&header, payload),
        }
    }

    /// Reads a byte that must be zero, because it is reserved for later versions.
    ///
    /// # Errors
    /// If it is not zero.
    pub fn zero(&mut self, field: &'static str) -> Result<()> {
        match self.u8(field)? {
            0 => Ok(()),
            other => Err(Error::contents(field, 0, other)),
        }
    }

    /// Ends the payload.
    ///
    /// # Errors
    /// If bytes are left over.
    pub fn finish(self) -> Result<()> {
        if self.bytes.is_empty() {
            Ok(())
        } else {
            Err(Error::new(
                ErrorKind::InvalidContents,
                "payload",
                "no bytes after the last field",
                format_args!("{}", self.bytes.len()),
                "",
            ))
        }
    }
}
