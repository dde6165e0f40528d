//! Merging sketches of reports, and storing them as bytes.

use super::count_mean::{PrivateCountMean, too_many};
use super::protocol::Protocol;
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::frequency::private::Answers;
use crate::keys::{KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Frequency, Merge, impl_sketch};

// ---- merge ----

impl PrivateCountMean {
    /// Merges `other` into this sketch, which then has the reports of both, bit for bit.
    ///
    /// # Errors
    /// If the protocols differ, or a row would have more than 2^32 − 1 reports; the sketch is
    /// unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.protocol.require_same(&other.protocol)?;
        let fits = |(mine, theirs): (&u32, &u32)| mine.checked_add(*theirs).is_some();
        if !self.reports.iter().zip(&other.reports).all(fits) {
            return Err(too_many());
        }
        // No sum of ones can overflow, because no place has more ones than its row has reports.
        self.reports.iter_mut().zip(&other.reports).for_each(|(mine, theirs)| *mine += theirs);
        self.ones.iter_mut().zip(&other.ones).for_each(|(mine, theirs)| *mine += theirs);
        Ok(())
    }
}

impl_sketch!(PrivateCountMean, prepared_frequency);

impl Frequency for Answers<'_> {
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        self.frequency_ref(key)
    }
}

impl Merge for PrivateCountMean {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl PrivateCountMean {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a sketch of private reports: see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for PrivateCountMean {
    const FAMILY: Family = Family::PrivateCountMean;

    fn key_scheme(&self) -> KeyScheme {
        self.protocol.scheme()
    }

    fn encode_payload(&self, writer: &mut Writer) {
        self.protocol.write_sizes(writer);
        self.reports.iter().chain(&self.ones).for_each(|&count| writer.u32(count));
    }
}

impl Decode for PrivateCountMean {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let protocol = Protocol::read_sizes(reader)?.with_scheme(header.scheme);
        let (rows, width) = (u64::from(protocol.rows()), u64::from(protocol.width()));
        let reports = integers(reader.bytes("reports", 4 * rows)?);
        let ones = integers(reader.bytes("ones", 4 * rows * width)?);
        // A report can have any bits, so no more than this can be checked.
        for (&reports, ones) in reports.iter().zip(ones.chunks_exact(width as usize)) {
            if let Some(more) = ones.iter().find(|&&count| count > reports) {
                let expected = format_args!("at most the row's {reports} reports in a place");
                return Err(Error::contents("ones", expected, more));
            }
        }
        Ok(Self::assemble(protocol, reports, ones))
    }
}

fn integers(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}
