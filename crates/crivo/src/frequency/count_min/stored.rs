//! Merging sketches, and encoding them as bytes.

use super::CountMin;
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::frequency::rows::{Rows, add_tables, sum};
use crate::keys::{KeyBatch, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{AddWeights, Frequency, Merge, impl_sketch};

// ---- merge ----

impl CountMin {
    /// Merges another sketch into this one. The result is the sketch of both streams, bit for bit.
    ///
    /// # Errors
    /// If the two differ in size or scheme, or one has conservative updates; the sketch is
    /// unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let why_plain = "conservative counters depend on the order of the stream, so two do not add up: \
                         build plain sketches to merge";
        self.require_alike(other, why_plain)?;
        add_tables(&mut self.counters, &other.counters);
        self.total = self.total.saturating_add(other.total);
        Ok(())
    }

    pub(super) fn require_alike(&self, other: &Self, why_plain: &'static str) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        self.rows.require_same(other.rows)?;
        for sketch in [self, other] {
            if sketch.conservative {
                return Err(Error::incompatible("update", "plain", sketch.update_name(), why_plain));
            }
        }
        Ok(())
    }
}

impl_sketch!(CountMin, hashes, keys, weights, frequency);

impl AddWeights for CountMin {
    fn add_ref(&mut self, key: KeyRef<'_>, weight: u64) -> Result<()> {
        let hash = self.scheme.hash_ref(key)?;
        self.add_hash(hash, weight);
        Ok(())
    }

    fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        self.add_batch(batch, weights)
    }

    fn check_key(&self, key: KeyRef<'_>) -> Result<()> {
        self.scheme.hash_ref(key).map(drop)
    }
}

impl Frequency for CountMin {
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        Ok(self.frequency_of_hash(self.scheme.hash_ref(key)?))
    }
}

impl Merge for CountMin {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

const PLAIN: u8 = 0;
const CONSERVATIVE: u8 = 1;

impl CountMin {
    /// Encodes the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Decodes a sketch from bytes.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a Count-Min sketch: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for CountMin {
    const FAMILY: Family = Family::CountMin;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        self.rows.write(writer);
        writer.u8(if self.conservative { CONSERVATIVE } else { PLAIN });
        writer.u64(self.total);
        writer.u64s(self.counters.iter().copied());
    }
}

impl Decode for CountMin {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let rows = Rows::read(reader)?;
        let conservative = match reader.u8("update")? {
            PLAIN => false,
            CONSERVATIVE => true,
            other => return Err(Error::contents("update", "0 (plain) or 1 (conservative)", other)),
        };
        let total = reader.u64("total")?;
        let counters: Vec<u64> = reader.u64s("counters", rows.cells())?.collect();
        if conservative {
            check_raised(rows, &counters, total)?;
        } else {
            rows.check_sums(&counters, total)?;
        }
        Ok(Self::assemble(header.scheme, rows, conservative, total, counters))
    }
}

/// Refuses counters that conservative updates cannot have made. An update raises one counter of
/// each row by its weight at most, and the smallest of these counters by all of it.
fn check_raised(rows: Rows, table: &[u64], total: u64) -> Result<()> {
    let (mut most, mut all) = (0, 0);
    for sum in rows.of(table).map(sum) {
        most = sum.max(most);
        all += sum;
    }
    let too_much = total < u64::MAX && most > u128::from(total);
    if too_much || all < u128::from(total) {
        let expected = format_args!("rows of at most the total, {total}, and together at least that");
        return Err(Error::contents("counters", expected, format_args!("at most {most}, together {all}")));
    }
    Ok(())
}
