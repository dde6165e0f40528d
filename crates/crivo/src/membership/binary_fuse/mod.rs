//! Binary fuse filter: is it in there, for a set that is finished, in nine bits a key.
//!
//! **Question.** Is this key in the set? "No" is certain; "yes" is wrong at a known rate.
//!
//! **Guarantee.** A key that is not in the set is taken for a member with probability 2⁻⁸, 0.39 %.
//! Keys of the set are always found. From a million keys on the filter takes 9.0 to 9.1 bits a key,
//! where a [`Bloom`](super::Bloom) filter takes 11.5 for the same rate and the limit of any filter
//! is 8; with 10,000 keys it is 10.2. It knows how many keys it has.
//!
//! **Idea.** A table of bytes in which each key has three slots, and the exclusive or of the three
//! is a byte of the key's hash. Such a table is the solution of a system of equations, found by
//! taking away keys that have a slot for themselves, one after the other. The three slots lie in
//! three segments in a row, so that the slots of keys which are handled one after the other are
//! near each other. That makes building fast, and lets the table be fuller than if slots lay
//! anywhere.
//!
//! **When not to use it.** When the set is not finished: no key can be added, and two filters
//! cannot be merged, because the solution for more keys is another one. [`Bloom`](super::Bloom) can
//! do both, and has any rate. Building takes about 20 bytes of memory a key, beside the hashes.
//!
//! **Sources.** Graf, Lemire: *Binary fuse filters: fast and smaller than xor filters* (2022).
//!
//! **Where this departs from the paper.** Equal hashes count once, and slots are freed in the order
//! of their numbers, so that the same set has the same bytes in any order. The first attempt uses
//! the hash as it is. The seeds of further ones are made from all hashes, so that keys cannot be
//! chosen for which every attempt fails. Sizes follow from an interpolated logarithm, which is the
//! same on every machine.

mod build;
mod shape;

use shape::{Shape, fingerprint};

use crate::codec::{
    AnySketch, Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer,
};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Estimate;
use crate::keys::{Key, KeyBatch, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{ContainsHashes, Membership, Merge, impl_sketch};

/// The filter of a finished set; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::membership::BinaryFuse;
///
/// let customers = BinaryFuse::of_keys(["ana", "rui", "eva", "rui"])?;
/// assert!(customers.contains("rui")?);
/// assert!(!customers.contains("gil")?);
/// assert_eq!(customers.items().value(), 3.0);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinaryFuse {
    scheme: KeyScheme,
    keys: u64,
    /// Spreads hashes anew where they could not be placed as they are; 0 if they could.
    seed: u64,
    shape: Shape,
    table: Vec<u8>,
}

// ---- limits and sizing ----

impl BinaryFuse {
    /// The most keys: 2^31. Their filter takes 2.4 GB.
    pub const MOST_KEYS: u64 = 1 << 31;

    /// The chance that an absent key is taken for a member: 2⁻⁸.
    pub const RATE: f64 = 1.0 / 256.0;

    /// Returns how many bytes the table for that many different keys has.
    ///
    /// ```
    /// use crivo::membership::BinaryFuse;
    /// assert_eq!(BinaryFuse::table_bytes_for(1_000_000), 1_130_496);
    /// ```
    pub fn table_bytes_for(keys: u64) -> u64 {
        Shape::for_keys(keys.min(Self::MOST_KEYS)).slots()
    }
}

// ---- construction ----

impl BinaryFuse {
    /// Builds the filter of keys that are bytes or text. Equal keys count once, and their order
    /// does not matter.
    ///
    /// # Errors
    /// If there are more than [`MOST_KEYS`](Self::MOST_KEYS), the memory cannot be allocated, or a
    /// key is not bytes or text.
    pub fn of_keys<K: Key>(keys: impl IntoIterator<Item = K>) -> Result<Self> {
        Self::of_keys_with_scheme(keys, KeyScheme::bytes())
    }

    /// Builds the filter of keys of the given scheme.
    ///
    /// # Errors
    /// As for [`of_keys`](Self::of_keys).
    ///
    /// ```
    /// use crivo::keys::KeyScheme;
    /// use crivo::membership::BinaryFuse;
    /// let primes = BinaryFuse::of_keys_with_scheme([2, 3, 5, 7, 11], KeyScheme::integers())?;
    /// assert!(primes.contains(&7)?);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn of_keys_with_scheme<K: Key>(keys: impl IntoIterator<Item = K>, scheme: KeyScheme) -> Result<Self> {
        let hashes: Vec<u64> = keys.into_iter().map(|key| scheme.hash(&key)).collect::<Result<_>>()?;
        Self::of_hashes(&hashes, scheme)
    }

    /// Builds the filter of keys by their hashes, which must come from the scheme. Equal hashes
    /// count once.
    ///
    /// # Errors
    /// If there are more than [`MOST_KEYS`](Self::MOST_KEYS), or the memory cannot be allocated.
    pub fn of_hashes(hashes: &[u64], scheme: KeyScheme) -> Result<Self> {
        if hashes.len() as u64 > Self::MOST_KEYS {
            let most = Self::MOST_KEYS;
            return Err(Error::parameter("keys", format_args!("at most {most}"), hashes.len()));
        }
        let build::Built { keys, seed, shape, table } = build::build(hashes)?;
        Ok(Self { scheme, keys, seed, shape, table })
    }
}

// ---- query ----

impl BinaryFuse {
    /// Returns true if the key may be in the set; `false` is certain.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool> {
        Ok(self.contains_hash(self.scheme.hash(key)?))
    }

    /// Returns true if the key with this hash may be in the set; `false` is certain.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.keys != 0 && self.finds(build::spread(hash, self.seed))
    }

    /// Answers for many hashes, in their order, replacing what `found` held; the same as one by
    /// one.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        found.clear();
        if self.keys == 0 {
            found.resize(hashes.len(), false);
            return;
        }
        // Lookups have no branches and do not depend on each other, so the processor overlaps them
        // by itself: fetching ahead is slower.
        found.extend(hashes.iter().map(|&hash| self.finds(build::spread(hash, self.seed))));
    }

    /// Answers for a batch of keys, in their order, replacing what `found` held.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme.
    pub fn contains_batch(&self, batch: &KeyBatch<'_>, found: &mut Vec<bool>) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        self.contains_hashes(batch.hashes(), found);
        Ok(())
    }

    /// Looks up a hash that was spread, in a table that is not empty.
    #[inline(always)]
    fn finds(&self, hash: u64) -> bool {
        let [first, second, third] = self.shape.slots_of(hash);
        self.table[first] ^ self.table[second] ^ self.table[third] == fingerprint(hash)
    }

    /// Returns the number of different keys, which is known.
    pub fn items(&self) -> Estimate {
        Estimate::exact(self.keys as f64)
    }

    /// Returns the chance that a key which is not in the set is taken for a member.
    pub fn false_positive_rate(&self) -> f64 {
        if self.keys == 0 { 0.0 } else { Self::RATE }
    }

    /// Returns the number of keys as a share of the slots.
    pub fn fill(&self) -> f64 {
        self.keys as f64 / self.shape.slots().max(1) as f64
    }

    /// Returns true if the set has no keys.
    pub fn is_empty(&self) -> bool {
        self.keys == 0
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.table.len()
    }

    /// The sizes of the table, which follow from the number of keys.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("slots", Parameter::Count(self.shape.slots())),
            ("fingerprint_bits", Parameter::Count(u8::BITS.into())),
        ]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: self.parameters(),
            scheme: self.scheme,
            items: self.items(),
            fill: Some(self.fill()),
            false_positive_rate: Some(self.false_positive_rate()),
            memory: self.memory(),
        }
    }
}

impl ContainsHashes for BinaryFuse {
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        self.contains_hashes(hashes, found);
    }
}

impl_sketch!(BinaryFuse, membership);

impl Membership for BinaryFuse {
    fn contains_ref(&self, key: KeyRef<'_>) -> Result<bool> {
        Ok(self.contains_hash(self.scheme.hash_ref(key)?))
    }

    fn contains_batch(&self, batch: &KeyBatch<'_>, found: &mut Vec<bool>) -> Result<()> {
        self.contains_batch(batch, found)
    }

    fn insert_new(&mut self, _: &[u64], _: &mut Vec<bool>) -> Result<()> {
        Err(finished())
    }

    fn intersection(&self, _: &AnySketch) -> Result<AnySketch> {
        Err(finished())
    }

    crate::membership::removal!(cannot_remove);

    fn items(&self) -> Estimate {
        self.items()
    }

    fn capacity(&self) -> Option<u64> {
        None
    }

    fn false_positive_rate(&self) -> f64 {
        self.false_positive_rate()
    }
}

// ---- merge ----

impl BinaryFuse {
    /// Refuses: the table of both sets is the solution of other equations, and the keys that these
    /// are made from are gone.
    ///
    /// # Errors
    /// Always; the filter is unchanged.
    ///
    /// ```
    /// use crivo::membership::BinaryFuse;
    /// let mut monday = BinaryFuse::of_keys(["ana"])?;
    /// let tuesday = BinaryFuse::of_keys(["rui"])?;
    /// assert_eq!(
    ///     monday.merge(&tuesday).unwrap_err().to_string(),
    ///     "sketch: expected one that can grow, found a BinaryFuse, whose keys were placed together and are gone \
    ///      (build one from the keys of both sets, or use Bloom, which merges)"
    /// );
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, _: &Self) -> Result<()> {
        Err(finished())
    }
}

impl Merge for BinaryFuse {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

/// The error of everything that would need the keys once more.
#[cold]
fn finished() -> Error {
    let found = "a BinaryFuse, whose keys were placed together and are gone";
    let advice = "build one from the keys of both sets, or use Bloom, which merges";
    Error::new(ErrorKind::Unsupported, "sketch", "one that can grow", found, advice)
}

// ---- bytes ----

impl BinaryFuse {
    /// Returns the filter as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the filter that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a binary fuse filter: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for BinaryFuse {
    const FAMILY: Family = Family::BinaryFuse;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.keys);
        writer.u64(self.seed);
        writer.u8(self.shape.segment_bits);
        writer.u32(self.shape.segments);
        writer.bytes(&self.table);
    }
}

impl Decode for BinaryFuse {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let keys = reader.u64("keys")?;
        if keys > Self::MOST_KEYS {
            return Err(Error::contents("keys", format_args!("at most {}", Self::MOST_KEYS), keys));
        }
        let seed = reader.u64("seed")?;
        let shape = Shape { segment_bits: reader.u8("segment bits")?, segments: reader.u32("segments")? };
        let written = Shape::for_keys(keys);
        if shape.segment_bits != written.segment_bits {
            return Err(Error::contents("segment bits", written.segment_bits, shape.segment_bits));
        }
        if shape.segments != written.segments {
            return Err(Error::contents("segments", written.segments, shape.segments));
        }
        if keys == 0 && seed != 0 {
            return Err(Error::contents("seed", "0 without keys", seed));
        }
        let table = reader.bytes("table", shape.slots())?.to_vec();
        Ok(Self { scheme: header.scheme, keys, seed, shape, table })
    }
}
