//! Merging sketches, and storing them as bytes.

use super::tree::Tree;
use super::{RangeCountMin, check_levels};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::frequency::rows::{Rows, add_tables};
use crate::keys::{KeyBatch, KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{AddWeights, Frequency, Merge, impl_sketch};

// ---- merge ----

impl RangeCountMin {
    /// Merges `other` into this sketch, which then is the sketch of both streams, bit for bit.
    ///
    /// # Errors
    /// If the two differ in universe, size or seed; the sketch is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        if self.levels != other.levels {
            let advice = "blocks of different universes do not correspond: build both with the same levels";
            return Err(Error::incompatible("levels", self.levels, other.levels, advice));
        }
        self.rows.require_same(other.rows)?;
        add_tables(&mut self.tables, &other.tables);
        self.tree.merge(&other.tree);
        Ok(())
    }
}

impl_sketch!(RangeCountMin, keys, weights, frequency);

impl AddWeights for RangeCountMin {
    fn add_ref(&mut self, key: KeyRef<'_>, weight: u64) -> Result<()> {
        match key {
            KeyRef::Integer(integer) => self.add(&integer, weight),
            other => Err(self.scheme.wrong_kind(other.kind())),
        }
    }

    fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()> {
        self.add_batch(batch, weights)
    }

    fn check_key(&self, key: KeyRef<'_>) -> Result<()> {
        self.frequency_ref(key).map(drop)
    }
}

impl Frequency for RangeCountMin {
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        match key {
            KeyRef::Integer(integer) => self.frequency(&integer),
            other => Err(self.scheme.wrong_kind(other.kind())),
        }
    }
}

impl Merge for RangeCountMin {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl RangeCountMin {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of such a sketch: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for RangeCountMin {
    const FAMILY: Family = Family::RangeCountMin;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u8(self.levels as u8);
        self.rows.write(writer);
        writer.u64s(self.tree.leaves().iter().copied());
        writer.u64s(self.tables.iter().copied());
    }
}

impl Decode for RangeCountMin {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let scheme = header.scheme;
        if scheme.kind() != KeyKind::Integer {
            return Err(Error::contents("key kind", KeyKind::Integer, scheme.kind()));
        }
        let levels = u32::from(reader.u8("levels")?);
        check_levels(levels).map_err(|error| Error::contents("levels", error.expected(), levels))?;
        let rows = Rows::read(reader)?;
        let sketched = Self::sketched_levels(levels, rows.width, rows.depth);
        let leaves = reader.u64s("leaves", 1 << (levels - sketched))?;
        let tables: Vec<u64> = reader.u64s("counters", u64::from(sketched) * rows.cells())?.collect();
        let tree = Tree::from_leaves(leaves);
        rows.check_sums(&tables, tree.total())?;
        Ok(Self { scheme, levels, rows, sketched, tables, tree })
    }
}
