//! The envelope around every payload. It is written in one place, and checked in one place.

use super::family::Family;
use super::reader::Reader;
use super::writer::Writer;
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{HashFunction, KeyKind, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

const MAGIC: [u8; 4] = *b"CRVO";
const ENVELOPE_VERSION: u8 = 1;
pub(super) const LENGTH_OFFSET: usize = 20;
pub(super) const HEADER_LEN: usize = 28;
pub(super) const CHECKSUM_LEN: usize = 4;

/// The data of an envelope about its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The kind of sketch in the payload.
    pub family: Family,
    /// The version of that sketch's layout.
    pub version: u8,
    /// How the keys were hashed.
    pub scheme: KeyScheme,
}

/// Marks a type as a sketch of the format. It cannot be named outside the crate, so the traits of
/// the codec are implemented only here, and may gain methods.
pub trait Sealed {}

/// A sketch that can be written. The families are those of the format, so the trait is sealed.
pub trait Encode: Sealed {
    /// The kind of this sketch.
    const FAMILY: Family;

    /// Returns how the sketch's keys are hashed.
    fn key_scheme(&self) -> KeyScheme;

    /// Writes the payload. The caller writes the envelope around it.
    fn encode_payload(&self, writer: &mut Writer);

    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        write_envelope(self, &mut writer);
        writer.into_bytes()
    }
}

/// A sketch that can be read.
pub trait Decode: Encode + Sized {
    /// Reads the payload. The envelope was checked before. This function checks the payload's own
    /// rules, and allocates no more than the remaining bytes can fill.
    ///
    /// # Errors
    /// If the payload breaks a rule of its format.
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self>;

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// A distinct [`ErrorKind`] each for foreign, truncated, damaged, newer, trailing and
    /// otherwise invalid bytes, and for the bytes of another kind of sketch.
    fn decode(bytes: &[u8]) -> Result<Self> {
        let (header, payload) = open(bytes)?;
        decode_opened(&header, payload)
    }
}

/// Writes a whole envelope, at any position, so that containers can nest envelopes.
pub(crate) fn write_envelope<S: Encode + ?Sized>(sketch: &S, writer: &mut Writer) {
    let start = writer.len();
    write_head(S::FAMILY, sketch.key_scheme(), 0, writer);
    sketch.encode_payload(writer);
    let payload_len = writer.len() - start - HEADER_LEN;
    writer.patch_u64(start + LENGTH_OFFSET, payload_len as u64);
    let checksum = crc32fast::hash(writer.written(start));
    writer.u32(checksum);
}

/// Writes the header of an envelope whose payload has `payload_len` bytes.
pub(crate) fn write_head(family: Family, scheme: KeyScheme, payload_len: u64, writer: &mut Writer) {
    writer.bytes(&MAGIC);
    writer.u8(ENVELOPE_VERSION);
    writer.u8(family as u8);
    writer.u8(family.version());
    writer.u8(0);
    writer.u8(scheme.function() as u8);
    writer.u8(scheme.kind() as u8);
    writer.u16(0);
    writer.u64(scheme.seed());
    writer.u64(payload_len);
}

/// Checks everything but the payload's contents, in the order described in the [module
/// above](super).
pub(crate) fn open(bytes: &[u8]) -> Result<(Header, &[u8])> {
    let begins_like_crivo = bytes.iter().zip(&MAGIC).all(|(found, expected)| found == expected);
    if !begins_like_crivo {
        return Err(Error::new(
            ErrorKind::Foreign,
            "magic",
            "the bytes \"CRVO\"",
            format_args!("\"{}\"", bytes[..bytes.len().min(4)].escape_ascii()),
            "this is not a crivo sketch",
        ));
    }
    let Some((header, _)) = bytes.split_at_checked(HEADER_LEN) else {
        return Err(Error::truncated("header", HEADER_LEN as u64, bytes.len()));
    };
    let [version, family, family_version, flags] = [header[4], header[5], header[6], header[7]];
    if version > ENVELOPE_VERSION {
        return Err(future("envelope version", format_args!("at most {ENVELOPE_VERSION}"), version));
    }

    let mut length = [0; 8];
    length.copy_from_slice(&header[LENGTH_OFFSET..HEADER_LEN]);
    let payload_len = u64::from_le_bytes(length);
    let whole = payload_len.saturating_add((HEADER_LEN + CHECKSUM_LEN) as u64);
    match u64::try_from(bytes.len()).unwrap_or(u64::MAX).checked_sub(whole) {
        None => return Err(Error::truncated("payload", whole, bytes.len())),
        Some(0) => {}
        Some(extra) => return Err(Error::trailing(usize::try_from(extra).unwrap_or(usize::MAX))),
    }

    let (checked, checksum) = bytes.split_at(bytes.len() - CHECKSUM_LEN);
    let computed = crc32fast::hash(checked);
    if checksum != computed.to_le_bytes() {
        return Err(Error::new(
            ErrorKind::Damaged,
            "checksum",
            format_args!("{computed:08x}"),
            format_args!("{:08x}", u32::from_le_bytes([checksum[0], checksum[1], checksum[2], checksum[3]])),
            "the bytes were changed after they were written: restore them from a copy",
        ));
    }

    // The checksum holds, so the bytes are as they were written. Values that a newer crivo may
    // write are refused first, then values that no crivo writes.
    let family = Family::from_byte(family).ok_or_else(|| future("family", "a known number", family))?;
    if family_version > family.version() {
        return Err(future("family version", format_args!("at most {}", family.version()), family_version));
    }
    let function = HashFunction::from_byte(header[8])
        .ok_or_else(|| future("hash function", "a known number", header[8]))?;
    if version == 0 {
        return Err(Error::contents("envelope version", format_args!("1 to {ENVELOPE_VERSION}"), 0));
    }
    if family_version == 0 {
        return Err(Error::contents("family version", format_args!("1 to {}", family.version()), 0));
    }
    if flags != 0 || header[10..12] != [0, 0] {
        return Err(Error::contents(
            "flags and reserved bytes",
            "zero",
            format_args!("{flags:02x} {:02x}{:02x}", header[10], header[11]),
        ));
    }
    let mut seed = [0; 8];
    seed.copy_from_slice(&header[12..20]);
    let scheme = read_scheme(function, header[9], u64::from_le_bytes(seed))?;
    Ok((Header { family, version: family_version, scheme }, &checked[HEADER_LEN..]))
}

fn read_scheme(function: HashFunction, kind: u8, seed: u64) -> Result<KeyScheme> {
    let kind = KeyKind::from_byte(kind).ok_or_else(|| Error::contents("key kind", "1 to 3", kind))?;
    let scheme = KeyScheme::of(kind).with_seed(seed);
    scheme
        .with_function(function)
        .map_err(|error| Error::contents("hash function", error.expected(), error.found()))
}

pub(crate) fn decode_opened<S: Decode>(header: &Header, payload: &[u8]) -> Result<S> {
    if header.family != S::FAMILY {
        return Err(Error::new(
            ErrorKind::WrongFamily,
            "family",
            S::FAMILY,
            header.family,
            "the bytes hold another kind of sketch",
        ));
    }
    let mut reader = Reader::new(payload);
    let sketch = S::decode_payload(header, &mut reader)?;
    reader.finish()?;
    Ok(sketch)
}

#[cold]
fn future(field: &'static str, known: impl std::fmt::Display, found: u8) -> Error {
    let advice = "a newer crivo wrote this: upgrade to read it";
    Error::new(ErrorKind::FutureVersion, field, known, found, advice)
}
