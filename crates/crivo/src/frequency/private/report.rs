//! Reports as bytes: a header that names the protocol, and records of one size.
//!
//! Many clients send reports, one by one, and a server may read more than it can hold. So a file of
//! reports is not one envelope around them all, but a header of 36 bytes and any number of records.
//! Each record has its own checksum, which begins with the header's. Records can be read in pieces,
//! appended, and sent one by one. A record that was damaged, cut off, or made for another protocol
//! is detected. docs/format.md has the layout.

use super::protocol::Protocol;
use crate::codec::{Reader, Writer};
use crate::error::{Error, ErrorKind, Result};
use crate::keys::{HashFunction, KeyKind, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

const MAGIC: [u8; 4] = *b"CRVP";
const VERSION: u8 = 1;
const CHECKSUM_LEN: usize = 4;
const ROW_LEN: usize = 2;

/// The message of a client: a row, and a bit for each place of the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The checksum of the header, which identifies the protocol that the report was made for.
    pub(super) tag: u32,
    pub(super) row: u32,
    /// The bits, the first in the lowest bit of the first byte. Bits past the width are 0.
    pub(super) bits: Vec<u8>,
}

impl Report {
    /// Returns the row that was drawn.
    pub fn row(&self) -> u32 {
        self.row
    }

    /// Returns a bit for each place, 1 for +1 and 0 for −1. The first is the lowest bit of the
    /// first byte.
    pub fn bit_vector(&self) -> &[u8] {
        &self.bits
    }

    /// Returns the report as a record, in the form that follows the header in a file.
    pub fn encode(&self) -> Vec<u8> {
        let mut record = Vec::with_capacity(ROW_LEN + self.bits.len() + CHECKSUM_LEN);
        self.encode_to(&mut record);
        record
    }

    /// Appends the report as a record.
    pub fn encode_to(&self, records: &mut Vec<u8>) {
        let start = records.len();
        records.extend_from_slice(&(self.row as u16).to_le_bytes());
        records.extend_from_slice(&self.bits);
        let checksum = record_checksum(self.tag, &records[start..]);
        records.extend_from_slice(&checksum.to_le_bytes());
    }

    /// Returns the report that a record of this protocol holds.
    ///
    /// # Errors
    /// If the bytes are not one whole, undamaged record.
    pub fn decode(protocol: &Protocol, record: &[u8]) -> Result<Self> {
        let tag = protocol.tag();
        let (row, bits) = open_record(protocol, tag, record)?;
        Ok(Self { tag, row, bits: bits.to_vec() })
    }
}

/// Returns the row and the bits of a record, after checking everything that could be wrong with it.
pub(super) fn open_record<'a>(protocol: &Protocol, tag: u32, record: &'a [u8]) -> Result<(u32, &'a [u8])> {
    let length = protocol.record_len();
    if record.len() < length {
        return Err(Error::truncated("report", length as u64, record.len()));
    }
    if record.len() > length {
        return Err(Error::trailing(record.len() - length));
    }
    let (body, checksum) = record.split_at(length - CHECKSUM_LEN);
    let computed = record_checksum(tag, body);
    if checksum != computed.to_le_bytes() {
        return Err(Error::new(
            ErrorKind::Damaged,
            "report",
            format_args!("the checksum {computed:08x}"),
            "another",
            "the report was changed, or made for another protocol: drop it",
        ));
    }
    let (row, bits) = body.split_at(ROW_LEN);
    let row = u32::from(u16::from_le_bytes([row[0], row[1]]));
    if row >= protocol.rows() {
        return Err(Error::contents("row", format_args!("below {}", protocol.rows()), row));
    }
    let unused = protocol.width().next_multiple_of(8) - protocol.width();
    if bits.last().is_some_and(|&last| last.leading_zeros() < unused) {
        return Err(Error::contents("bits", "0 past the width", "others"));
    }
    Ok((row, bits))
}

fn record_checksum(tag: u32, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&tag.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}

// ---- files of reports ----

impl Protocol {
    /// The number of bytes of a header.
    pub const HEADER_LEN: usize = 36;

    /// Returns the header of a file of reports. Records follow it, each a [`Report::encode`].
    pub fn header(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        self.write_header(&mut writer);
        writer.into_bytes()
    }

    fn write_header(&self, writer: &mut Writer) {
        let scheme = self.scheme();
        writer.bytes(&MAGIC);
        writer.u8(VERSION);
        writer.u8(scheme.function() as u8);
        writer.u8(scheme.kind() as u8);
        writer.u8(0);
        writer.u64(scheme.seed());
        self.write_sizes(writer);
        let checksum = crc32fast::hash(writer.written(0));
        writer.u32(checksum);
    }

    /// Writes epsilon, rows and width. The sketch's payload begins with the same fields.
    pub(super) fn write_sizes(&self, writer: &mut Writer) {
        writer.u64(self.epsilon().to_bits());
        writer.u32(self.rows());
        writer.u32(self.width());
    }

    pub(super) fn read_sizes(reader: &mut Reader<'_>) -> Result<Self> {
        let epsilon = f64::from_bits(reader.u64("epsilon")?);
        let (rows, width) = (reader.u32("rows")?, reader.u32("width")?);
        Self::new(epsilon, rows, width)
            .map_err(|error| Error::contents(error.field(), error.expected(), error.found()))
    }

    /// Returns the protocol that the header of a file of reports names. `bytes` are the first
    /// [`HEADER_LEN`](Self::HEADER_LEN) bytes of the file.
    ///
    /// # Errors
    /// A distinct [`ErrorKind`] each for foreign, truncated, damaged, newer, trailing and otherwise
    /// invalid bytes.
    ///
    /// ```
    /// use crivo::frequency::private::Protocol;
    /// let protocol = Protocol::new(2.0, 16, 256)?;
    /// assert_eq!(Protocol::from_header(&protocol.header())?, protocol);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn from_header(bytes: &[u8]) -> Result<Self> {
        if bytes.iter().zip(&MAGIC).any(|(found, expected)| found != expected) {
            return Err(Error::new(
                ErrorKind::Foreign,
                "magic",
                "the bytes \"CRVP\"",
                format_args!("\"{}\"", bytes[..bytes.len().min(4)].escape_ascii()),
                "this is not a file of private reports",
            ));
        }
        if bytes.len() < Self::HEADER_LEN {
            return Err(Error::truncated("header", Self::HEADER_LEN as u64, bytes.len()));
        }
        let newer = "a newer crivo wrote this: upgrade to read it";
        if bytes[4] > VERSION {
            let expected = format_args!("at most {VERSION}");
            return Err(Error::new(ErrorKind::FutureVersion, "version", expected, bytes[4], newer));
        }
        if bytes.len() > Self::HEADER_LEN {
            return Err(Error::trailing(bytes.len() - Self::HEADER_LEN));
        }
        let (body, checksum) = bytes.split_at(Self::HEADER_LEN - CHECKSUM_LEN);
        let computed = crc32fast::hash(body);
        if checksum != computed.to_le_bytes() {
            return Err(Error::new(
                ErrorKind::Damaged,
                "header",
                format_args!("the checksum {computed:08x}"),
                "another",
                "the bytes were changed after they were written: restore them from a copy",
            ));
        }
        let mut reader = Reader::new(&body[5..]);
        let function = reader.u8("hash function")?;
        let function = HashFunction::from_byte(function).ok_or_else(|| {
            Error::new(ErrorKind::FutureVersion, "hash function", "a known number", function, newer)
        })?;
        let kind = reader.u8("key kind")?;
        let kind = KeyKind::from_byte(kind).ok_or_else(|| Error::contents("key kind", "1 to 3", kind))?;
        if bytes[4] == 0 {
            return Err(Error::contents("version", format_args!("1 to {VERSION}"), 0));
        }
        reader.zero("reserved byte")?;
        let scheme = KeyScheme::of(kind).with_seed(reader.u64("seed")?);
        let scheme = scheme
            .with_function(function)
            .map_err(|error| Error::contents("hash function", error.expected(), error.found()))?;
        let protocol = Self::read_sizes(&mut reader)?.with_scheme(scheme);
        reader.finish()?;
        Ok(protocol)
    }

    /// Returns the length of a record: two bytes for the row, one for each eight places, and four
    /// for the checksum.
    pub fn record_len(&self) -> usize {
        ROW_LEN + self.width().div_ceil(8) as usize + CHECKSUM_LEN
    }

    /// Returns the checksum of the protocol's header, which ties records to this protocol.
    pub(super) fn tag(&self) -> u32 {
        let mut writer = Writer::default();
        self.write_header(&mut writer);
        let header = writer.written(Self::HEADER_LEN - CHECKSUM_LEN);
        u32::from_le_bytes([header[0], header[1], header[2], header[3]])
    }
}

/// Returns the protocol and the reports of a whole file, which has a header and records.
///
/// # Errors
/// If the header is wrong: see [`Protocol::from_header`]. Each report may have its own error.
///
/// ```
/// use crivo::frequency::private::{PredictableBits, PrivateClient, Protocol, reports_in};
/// let protocol = Protocol::new(2.0, 16, 100)?;
/// let mut file = protocol.header();
/// let mut coins = PredictableBits::new(7);
/// for key in ["ana", "rui"] {
///     PrivateClient::new(protocol, 2.0)?.encode(key, &mut coins)?.encode_to(&mut file);
/// }
/// let (read, reports) = reports_in(&file)?;
/// assert_eq!((read, reports.count()), (protocol, 2));
/// # Ok::<(), crivo::Error>(())
/// ```
pub fn reports_in(file: &[u8]) -> Result<(Protocol, impl Iterator<Item = Result<Report>> + '_)> {
    let (header, records) = file.split_at(file.len().min(Protocol::HEADER_LEN));
    let protocol = Protocol::from_header(header)?;
    let reports = records.chunks(protocol.record_len()).map(move |record| Report::decode(&protocol, record));
    Ok((protocol, reports))
}
