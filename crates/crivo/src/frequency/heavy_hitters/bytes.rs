//! The sketch as bytes.

use super::rounded::RoundedUp;
use super::table::{Counter, Entry, Table};
use super::{HeavyHitters, table_hash};
use crate::codec::{Decode, Encode, Family, Header, Reader, Writer};
use crate::error::{Error, Result};
use crate::keys::{KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl HeavyHitters {
    /// Encodes the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Decodes a sketch from bytes.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a HeavyHitters: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for HeavyHitters {
    const FAMILY: Family = Family::HeavyHitters;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u32(self.capacity as u32);
        writer.u64(self.total);
        writer.u64(self.max_error());
        writer.u32(self.counters() as u32);
        let mut entries: Vec<Entry<'_>> = self.table.entries().collect();
        entries.sort_unstable_by_key(|entry| entry.key);
        for entry in entries {
            writer.key(entry.key);
            writer.u64(entry.counter.count);
            writer.u16(entry.counter.error.code());
        }
    }
}

impl Decode for HeavyHitters {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let capacity = reader.u32("capacity")?;
        let mut sketch = Self::with_scheme(capacity.into(), header.scheme)
            .map_err(|error| Error::contents("capacity", error.expected(), capacity))?;
        sketch.total = reader.u64("total")?;
        let threshold = reader.u64("maximum error")?;
        let len = reader.u32("number of counters")?;
        let least_bytes = if header.scheme.kind() == KeyKind::Bytes { 14 } else { 18 };
        let most = (reader.left() / least_bytes).min(sketch.capacity);
        if len as usize > most {
            return Err(Error::contents("number of counters", format_args!("at most {most}"), len));
        }
        sketch.table = Table::with_room(header.scheme, threshold, len as usize, 0)?;
        let mut last = None;
        let mut above = 0_u128;
        for _ in 0..len {
            let entry = sketch.read_entry(threshold, reader)?;
            if last.replace(entry.key).is_some_and(|last| last >= entry.key) {
                return Err(Error::contents("keys", "strictly ascending order", "another order"));
            }
            above += u128::from(entry.counter.count - threshold);
            sketch.table.put(&entry)?;
        }
        sketch.require_possible(above)?;
        Ok(sketch)
    }
}

impl HeavyHitters {
    fn read_entry<'a>(&self, threshold: u64, reader: &mut Reader<'a>) -> Result<Entry<'a>> {
        let key = reader.key("key", self.scheme.kind())?;
        if let KeyRef::Bytes(text) = key {
            Self::require_length(text.len())
                .map_err(|error| Error::contents("key", error.expected(), error.found()))?;
        }
        let count = reader.u64("count")?;
        if count <= threshold {
            return Err(Error::contents("count", format_args!("more than {threshold}"), count));
        }
        let code = reader.u16("error of a count")?;
        let most = RoundedUp::of(threshold);
        let error = RoundedUp::from_code(code).filter(|&error| error <= most).ok_or_else(|| {
            Error::contents("error of a count", format_args!("a code up to {}", most.code()), code)
        })?;
        let hash = table_hash(self.scheme.hash_ref(key)?, key.kind());
        Ok(Entry { hash, key, counter: Counter { count, error } })
    }

    /// Refuses a total that cannot have led to these counters, so that every accepted sketch keeps
    /// the guarantee. `above` is the sum of what the counters exceed the maximum error by.
    fn require_possible(&self, above: u128) -> Result<()> {
        let least = above + u128::from(self.max_error()) * u128::from(Self::divisor(self.capacity()));
        let total = u128::from(self.total);
        let possible =
            self.is_saturated() || if self.max_error() == 0 { least == total } else { least <= total };
        if possible {
            Ok(())
        } else {
            let rule = if self.max_error() == 0 { "exactly" } else { "at least" };
            Err(Error::contents("total", format_args!("{rule} {least}, by its counters"), total))
        }
    }
}
