//! The bytes of a [`DistinctGrowth`].

use super::{DistinctGrowth, FirstRow};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl DistinctGrowth {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a sketch from bytes.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a `DistinctGrowth`; see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for DistinctGrowth {
    const FAMILY: Family = Family::DistinctGrowth;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        let kept = self.kept();
        writer.u32(self.k);
        writer.u32(kept.len() as u32);
        for (hash, first) in kept {
            writer.u64(hash);
            writer.u64(first.0);
        }
    }
}

impl Decode for DistinctGrowth {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let k = reader.u32("k")?;
        let mut sketch =
            Self::with_scheme(k, header.scheme).map_err(|error| Error::contents("k", error.expected(), k))?;
        let count = reader.u32("number of hashes")?;
        if count > k {
            return Err(Error::contents("number of hashes", format_args!("at most {k}"), count));
        }
        let mut words = reader.u64s("hashes", 2 * u64::from(count))?;
        sketch.table.reserve(count as usize);
        let mut last = None;
        while let (Some(hash), Some(first)) = (words.next(), words.next()) {
            if last >= Some(hash) {
                return Err(Error::contents("hashes", "strictly ascending order", "another order"));
            }
            last = Some(hash);
            sketch.table.insert(hash, FirstRow(first));
        }
        if count == k {
            sketch.threshold = last.unwrap_or(u64::MAX);
        }
        Ok(sketch)
    }
}
