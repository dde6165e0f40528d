//! Bloom filter: is it in there, in about ten bits a key?
//!
//! **Question.** Was this key inserted before? "No" is certain; "yes" is wrong at a known rate.
//!
//! **Guarantee.** With `m` bits and `k` of them for each of `n` different keys, a key that was not
//! inserted is taken for one that was with probability `(1 − e^(−kn/m))^k`. A rate `p` takes
//! `m = −kn/ln(1 − p^(1/k))` bits with the best integer `k`: 9.6 bits a key for 1 %, 14.4 for 0.1
//! %. Keys that were inserted are always found. Past its capacity the filter keeps working and its
//! rate grows: [`Bloom::false_positive_rate`] is the rate at the present fill.
//!
//! **Idea.** Each key sets `k` bits, chosen by its hash. A key is in there if all its bits are set,
//! and certainly not if one is zero.
//!
//! **When not to use it.** When keys must be taken out again: `CountingBloom`. When an answer must
//! come from one cache line, at the price of a tenth more memory: `BlockedBloom`. For a small
//! universe of integers: `DirectTable`. When the rate wanted is below a millionth a hash set of
//! 64-bit hashes is hardly larger.
//!
//! **Union and intersection.** Filters of the same size unite by OR, and the result is the filter
//! of both sets, bit for bit. The AND of two filters finds everything that both sets share, and is
//! wrong more often than a filter of the shared keys alone would be: it also holds bits that
//! different keys of the two sets happen to share. It is wrong no more often than either.
//! [`Bloom::shared_items`] estimates the size of the intersection, with bounds.
//!
//! **Sources.** Bloom: *Space/time trade-offs in hash coding with allowable errors* (1970).
//!
//! **Where this departs from the paper.** One hash a key instead of `k`: the first bit is chosen by
//! the hash itself, each further bit by a [remix](crate::hash::remix) of all of it, and a
//! multiplication instead of a division brings it into range. Batches fetch the memory of many keys
//! at once.

mod bits;

use self::bits::Bits;
use super::occupancy::Occupancy;
use super::sizing;
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::{Key, KeyBatch, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{ContainsHashes, InsertHashes, InsertKeys, Merge, impl_sketch};

/// Remembers keys; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::membership::Bloom;
///
/// let mut seen = Bloom::for_items(10_000, 0.01)?;
/// assert!(seen.insert("ana")?);            // certainly new
/// assert!(!seen.insert("ana")?);           // not new any more
/// assert!(seen.contains("ana")?);
/// assert!(!seen.contains("rui")?);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bloom {
    scheme: KeyScheme,
    capacity: u64,
    bits: Bits,
}

// ---- limits and sizing ----

impl Bloom {
    /// Returns the fewest bits, and how many of them a key sets, for `items` different keys at the
    /// wanted false-positive rate.
    ///
    /// # Errors
    /// If there are no items, or more than any filter holds, or the rate is not between 10⁻¹⁵
    /// and 1.
    ///
    /// ```
    /// use crivo::membership::Bloom;
    /// assert_eq!(Bloom::size_for(1_000_000, 0.01)?, (9_592_955, 7));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn size_for(items: u64, rate: f64) -> Result<(u64, u32)> {
        sizing::cells_for(items, rate)
    }

    /// The false-positive rate that `items` different keys are expected to give:
    /// `(1 − (1 − 1/bits)^(hashes·items))^hashes`.
    pub fn expected_rate(bits: u64, hashes: u32, items: u64) -> f64 {
        sizing::expected_rate(bits, hashes, items)
    }
}

// ---- construction ----

impl Bloom {
    /// Creates an empty filter of a given size for keys that are bytes or text. Its capacity is the
    /// number of keys that set half of the bits.
    ///
    /// # Errors
    /// If there are no bits or more than 2^43, if a key would set none or more than 64, or if the
    /// memory cannot be allocated.
    pub fn new(bits: u64, hashes: u32) -> Result<Self> {
        Self::with_scheme(bits, hashes, KeyScheme::bytes())
    }

    /// Creates an empty filter of a given size for keys of the given scheme.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_scheme(bits: u64, hashes: u32, scheme: KeyScheme) -> Result<Self> {
        sizing::check_size("bits", bits, hashes)?;
        let capacity = sizing::half_full_at(bits, hashes);
        Ok(Self { scheme, capacity, bits: Bits::new(bits, hashes)? })
    }

    /// Creates an empty filter, for bytes or text, of the smallest size that has the wanted
    /// false-positive rate with `items` different keys.
    ///
    /// # Errors
    /// As for [`size_for`](Self::size_for), or if the memory cannot be allocated.
    pub fn for_items(items: u64, rate: f64) -> Result<Self> {
        Self::for_items_with_scheme(items, rate, KeyScheme::bytes())
    }

    /// Creates an empty filter for `items` different keys of the given scheme.
    ///
    /// # Errors
    /// As for [`for_items`](Self::for_items).
    ///
    /// ```
    /// use crivo::{keys::KeyScheme, membership::Bloom};
    /// let mut orders = Bloom::for_items_with_scheme(1_000, 0.001, KeyScheme::integers().with_seed(7))?;
    /// orders.insert(&1234_u64)?;
    /// assert!(orders.contains(&1234_u64)?);
    /// assert!(orders.contains("1234").is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn for_items_with_scheme(items: u64, rate: f64, scheme: KeyScheme) -> Result<Self> {
        let (bits, hashes) = Self::size_for(items, rate)?;
        Ok(Self { capacity: items, ..Self::with_scheme(bits, hashes, scheme)? })
    }
}

// ---- update ----

impl Bloom {
    /// Adds one key; whether it was certainly not there before.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<bool> {
        let hash = self.scheme.hash(key)?;
        Ok(self.insert_hash(hash))
    }

    /// Adds one key by its hash, which must come from this filter's [`scheme`](Self::scheme);
    /// whether it was certainly not there before.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) -> bool {
        self.bits.insert(hash)
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.bits.insert_all(hashes);
    }

    /// Adds a batch of keys.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme; nothing is added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        InsertKeys::insert_batch(self, batch)
    }
}

impl InsertHashes for Bloom {
    fn insert_hash(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }
}

// ---- query ----

impl Bloom {
    /// Returns true if the key may be in the filter. `false` is certain.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    #[inline]
    pub fn contains<K: Key + ?Sized>(&self, key: &K) -> Result<bool> {
        Ok(self.contains_hash(self.scheme.hash(key)?))
    }

    /// Returns true if the key with this hash may be in the filter. `false` is certain.
    #[inline]
    pub fn contains_hash(&self, hash: u64) -> bool {
        self.bits.contains(hash)
    }

    /// Answers for many hashes, in their order, replacing what `found` held; the same as one by
    /// one, and faster.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        self.bits.contains_all(hashes, found);
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

    /// Returns the number of different keys, with bounds at 95 %.
    pub fn items(&self) -> Estimate {
        self.items_at(Confidence::P95)
    }

    /// The number of different keys, with bounds at the given confidence, from the number of bits
    /// that are zero.
    pub fn items_at(&self, confidence: Confidence) -> Estimate {
        self.occupancy().items(self.bits.len() - self.bits.ones(), confidence)
    }

    /// Returns the number of different keys that both filters hold, with bounds at 95 %.
    ///
    /// The standard error is `√(m(e^λ∪ − e^λA − e^λB + 2e^λ∩ − 1 − λ∩))/k` with `λ = kn/m` of the
    /// union, of either set and of the intersection: of two filters at their capacity, sized for 1
    /// %, about `√m/3`, whatever they share.
    ///
    /// # Errors
    /// If the filters differ in size or scheme.
    ///
    /// ```
    /// use crivo::membership::Bloom;
    /// let (mut monday, mut tuesday) = (Bloom::for_items(1_000, 0.01)?, Bloom::for_items(1_000, 0.01)?);
    /// (0..500).try_for_each(|i| monday.insert(&*format!("user{i}")).map(drop))?;
    /// (300..900).try_for_each(|i| tuesday.insert(&*format!("user{i}")).map(drop))?;
    /// assert!(monday.shared_items(&tuesday)?.covers(200.0));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn shared_items(&self, other: &Self) -> Result<Estimate> {
        self.shared_items_at(other, Confidence::P95)
    }

    /// The number of different keys that both filters hold, with bounds at the given confidence.
    ///
    /// # Errors
    /// If the filters differ in size or scheme.
    pub fn shared_items_at(&self, other: &Self, confidence: Confidence) -> Result<Estimate> {
        self.require_same(other)?;
        let [first, second, union] =
            [self.bits.ones(), other.bits.ones(), self.bits.ones_in_union(&other.bits)]
                .map(|ones| self.bits.len() - ones);
        Ok(self.occupancy().shared_items(first, second, union, confidence))
    }

    /// The share of bits that are set.
    pub fn fill(&self) -> f64 {
        self.bits.ones() as f64 / self.bits.len() as f64
    }

    /// The chance that a key which was not inserted is taken for one that was, at the present fill.
    pub fn false_positive_rate(&self) -> f64 {
        libm::pow(self.fill(), f64::from(self.hashes()))
    }

    /// Returns how many different keys the filter was made for; with more its rate exceeds what was
    /// asked for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns true if certainly nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.bits.words().iter().all(|&word| word == 0)
    }

    /// Returns how many bits there are.
    pub fn bits(&self) -> u64 {
        self.bits.len()
    }

    /// Returns how many bits a key sets.
    pub fn hashes(&self) -> u32 {
        self.bits.hashes()
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(self.bits.words())
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("bits", Parameter::Count(self.bits())),
            ("hashes", Parameter::Count(self.hashes().into())),
            ("capacity", Parameter::Count(self.capacity)),
        ]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![(
                    "rate_at_capacity",
                    Parameter::Ratio(Self::expected_rate(self.bits(), self.hashes(), self.capacity)),
                )],
            ]
            .concat(),
            scheme: self.scheme,
            items: self.items(),
            fill: Some(self.fill()),
            false_positive_rate: Some(self.false_positive_rate()),
            memory: self.memory(),
        }
    }

    fn occupancy(&self) -> Occupancy {
        Occupancy { cells: self.bits.len(), hashes: self.hashes(), word: None }
    }
}

impl ContainsHashes for Bloom {
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        self.contains_hashes(hashes, found);
    }
}

impl_sketch!(Bloom, hashes, keys, membership);
impl_membership_by_hash!(Bloom, cannot_remove);

// ---- merge ----

impl Bloom {
    /// Makes this the filter of both sets, bit for bit.
    ///
    /// # Errors
    /// If the filters differ in size, capacity or scheme; the filter is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.require_same(other)?;
        self.bits.combine(&other.bits, |mine, theirs| mine | theirs);
        Ok(())
    }

    /// Returns the filter of the bits that both have set, for study: it finds what is in both sets,
    /// but also has bits that different keys of the two share. So [`items`](Self::items) of it
    /// counts too many; [`intersection`](Self::intersection) knows how many there are.
    ///
    /// # Errors
    /// If the filters differ in size, capacity or scheme.
    pub fn shared_cells(&self, other: &Self) -> Result<Self> {
        self.require_same(other)?;
        let mut shared = self.clone();
        shared.bits.combine(&other.bits, |mine, theirs| mine & theirs);
        Ok(shared)
    }

    fn require_same(&self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        sizing::require_same("bits", self.bits(), other.bits())?;
        sizing::require_same("hashes", self.hashes().into(), other.hashes().into())?;
        sizing::require_same("capacity", self.capacity, other.capacity)
    }
}

impl Merge for Bloom {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl Bloom {
    /// Returns the filter as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the filter that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a Bloom filter: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for Bloom {
    const FAMILY: Family = Family::Bloom;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.bits());
        writer.u32(self.hashes());
        writer.u64(self.capacity);
        writer.u64s(self.bits.words().iter().copied());
    }
}

impl Decode for Bloom {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let (len, hashes) = (reader.u64("bits")?, reader.u32("hashes")?);
        sizing::check_size("bits", len, hashes)
            .map_err(|error| Error::contents(error.field(), error.expected(), error.found()))?;
        let capacity = reader.u64("capacity")?;
        sizing::check_capacity(capacity)?;
        let words = reader.u64s("bit array", len.div_ceil(64))?;
        let mut bits = Bits::new(len, hashes)?;
        if bits.fill_from(words) {
            Ok(Self { scheme: header.scheme, capacity, bits })
        } else {
            Err(Error::contents("bit array", "zeros after the last bit", "others"))
        }
    }
}
