//! Exact counting: how many different items, by remembering a hash of each.
//!
//! **Question.** How many different items are there, exactly?
//!
//! **Guarantee.** The number of different 64-bit hashes. The probability that two of `n` different
//! items share a hash is at most `n²/2^65`: 3·10⁻⁸ for a million, 3 % for a billion. In that case
//! the count is one too low.
//!
//! **Idea.** A hash table of the hashes, without the items: 11 to 21 bytes for each different item,
//! whatever its length. Repetitions change nothing.
//!
//! **When not to use it.** If the hashes do not fit in memory, or if a small error does no harm.
//! [`HyperLogLog`](super::HyperLogLog) is just as exact while there are few items, and never takes
//! more than a few kilobytes.
//!
//! **Source.** Any textbook on hash tables. **Where this departs from them.** The table holds
//! hashes instead of items, and no lists: a hash that finds its slot taken moves on to the next.
//! A hash that finds 256 slots taken, as forged hashes do, goes into an ordered set.

use super::hash_table::HashTable;
use crate::codec::{Decode, Encode, Family, Header, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{DefaultSize, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Cardinality, Merge, impl_insert_by_hash, impl_sketch};

/// Counts different items exactly; see the [module](self) for the memory that this takes.
///
/// ```
/// use crivo::distinct::ExactDistinct;
///
/// let mut visitors = ExactDistinct::new();
/// for visit in 0..3_000_u32 {
///     visitors.insert(format!("user{}", visit % 1_000).as_str())?;
/// }
/// assert!(visitors.estimate().is_exact());
/// assert_eq!(visitors.estimate().value(), 1_000.0);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactDistinct {
    scheme: KeyScheme,
    hashes: HashTable,
}

// ---- construction ----

impl ExactDistinct {
    /// Creates an empty set for keys that are bytes or text.
    pub fn new() -> Self {
        Self::with_scheme(KeyScheme::bytes())
    }

    /// Creates an empty set for keys of the given scheme.
    pub fn with_scheme(scheme: KeyScheme) -> Self {
        Self { scheme, hashes: HashTable::new() }
    }
}

impl Default for ExactDistinct {
    fn default() -> Self {
        Self::new()
    }
}

impl DefaultSize for ExactDistinct {
    fn of_default_size(scheme: KeyScheme) -> Self {
        Self::with_scheme(scheme)
    }
}

// ---- update ----

impl ExactDistinct {
    /// Adds one key by its hash, which must come from this sketch's [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.hashes.insert(hash);
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.hashes.insert_all(hashes);
    }
}

impl_insert_by_hash!(ExactDistinct);

// ---- query ----

impl ExactDistinct {
    /// Returns the number of different items.
    pub fn estimate(&self) -> Estimate {
        Estimate::exact(self.hashes.len() as f64)
    }

    /// Returns the same as [`estimate`](Self::estimate) at any confidence, because an exact answer
    /// has no bounds to widen.
    pub fn estimate_at(&self, _: Confidence) -> Estimate {
        self.estimate()
    }

    /// Returns the hash of each different item, in ascending order. A static filter of the set is
    /// built from these.
    ///
    /// ```
    /// use crivo::{distinct::ExactDistinct, membership::BinaryFuse};
    /// let mut seen = ExactDistinct::new();
    /// for name in ["ana", "rui", "ana"] { seen.insert(name)?; }
    /// let filter = BinaryFuse::of_hashes(&seen.hashes(), seen.scheme())?;
    /// assert!(filter.contains("rui")? && !filter.contains("gil")?);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn hashes(&self) -> Vec<u64> {
        self.hashes.sorted()
    }

    /// Returns true if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.hashes.len() == 0
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.hashes.memory()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        Vec::new()
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: self.parameters(),
            scheme: self.scheme,
            items: self.estimate(),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(ExactDistinct, hashes, keys, cardinality);

impl Cardinality for ExactDistinct {
    fn distinct(&self) -> Estimate {
        self.estimate()
    }
}

// ---- merge ----

impl ExactDistinct {
    /// Merges `other` into this set, which then has the items of both streams.
    ///
    /// # Errors
    /// If the schemes differ; the set is unchanged then.
    ///
    /// ```
    /// use crivo::distinct::ExactDistinct;
    /// let (mut monday, mut tuesday) = (ExactDistinct::new(), ExactDistinct::new());
    /// monday.insert("ana")?;
    /// tuesday.insert("ana")?;
    /// tuesday.insert("rui")?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.estimate().value(), 2.0);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        self.hashes.merge(&other.hashes);
        Ok(())
    }
}

impl Merge for ExactDistinct {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl ExactDistinct {
    /// Returns the set as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the set that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of an `ExactDistinct`: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for ExactDistinct {
    const FAMILY: Family = Family::ExactDistinct;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.hashes.len() as u64);
        writer.u64s(self.hashes.sorted());
    }
}

impl Decode for ExactDistinct {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let count = reader.u64("number of hashes")?;
        let hashes = reader.u64s("hashes", count)?;
        if !hashes.clone().is_sorted_by(|a, b| a < b) {
            return Err(Error::contents("hashes", "strictly ascending order", "another order"));
        }
        let mut table = HashTable::with_room_for(hashes.len());
        for hash in hashes {
            table.insert(hash);
        }
        Ok(Self { scheme: header.scheme, hashes: table })
    }
}
