// This file is long because the documentation and the examples of its public functions stand in it.

//! Blocked Bloom filter: is it in there, for one cache line a key?
//!
//! **Question.** Was this key inserted before? "No" is certain; "yes" is wrong at a known rate.
//!
//! **Guarantee.** With `n` keys in `b` blocks of 512 bits, a block has `j` keys with the
//! probability `P(j)` of a Poisson distribution of mean `n/b`, and a key that was not inserted is
//! taken for one that was with probability `Σ P(j)·(1 − (63/64)^j)^8`. That is what the filter is
//! sized from: 10.1 bits a key for 1 %, where a Bloom filter takes 9.6; 15.7 for 0.1 % against
//! 14.4. Sized by the Bloom filter's formula it would miss a rate of 1 % by a third. Keys that were
//! inserted are always found.
//!
//! **Idea.** The hash chooses a block, one line of the cache, and in each of its eight words one
//! bit. So a key costs a single access to memory, and the eight bits are set or tested at once.
//!
//! **When not to use it.** For rates far below 0.1 %, where it takes much more memory than
//! [`Bloom`](super::Bloom): some blocks are fuller than others, and the fullest answer for most of
//! the errors. Below 10⁻⁶ it cannot be built.
//!
//! **Union and intersection** are as for [`Bloom`](super::bloom).
//!
//! **Sources.** Putze, Sanders, Singler: *Cache-, hash- and space-efficient Bloom filters* (2007).
//!
//! **Where this departs from the paper.** A block is split into eight words with one bit each,
//! which the vector instructions of today's processors set at once. The size follows from the rate
//! above, solved for `b`.

mod sizing;

use super::occupancy::Occupancy;
use super::sizing::{check_capacity, require_same};
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::cpu::blocks::{self, Block};
use crate::cpu::zeroed;
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::hash::multipliers;
use crate::keys::{Key, KeyBatch, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{ContainsHashes, InsertHashes, InsertKeys, Merge, impl_sketch};

/// The words of a block; a key sets one bit of each.
const WORDS: u32 = 8;
/// The bits of a word.
const WORD: u32 = u64::BITS;
/// The bits of a block.
const BLOCK: u32 = WORDS * WORD;

/// Bits are chosen by the second row of the hash, because the first chooses the block.
const CHOICE: u64 = multipliers(2)[1];

/// Remembers keys; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::membership::BlockedBloom;
///
/// let mut seen = BlockedBloom::for_items(10_000, 0.01)?;
/// assert!(seen.insert("ana")?);            // certainly new
/// assert!(!seen.insert("ana")?);           // not new any more
/// assert!(seen.contains("ana")?);
/// assert!(!seen.contains("rui")?);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedBloom {
    scheme: KeyScheme,
    capacity: u64,
    blocks: Vec<Block>,
}

// ---- limits and sizing ----

impl BlockedBloom {
    /// The most blocks: 2^34, a terabyte.
    pub const MOST_BLOCKS: u64 = 1 << 34;

    /// Returns the fewest blocks for `items` different keys at the wanted false-positive rate.
    ///
    /// # Errors
    /// If there are no items, or more than any filter holds, or the rate is not between 10⁻⁶ and 1.
    ///
    /// ```
    /// use crivo::membership::BlockedBloom;
    /// let blocks = BlockedBloom::blocks_for(1_000_000, 0.01)?;
    /// assert_eq!(blocks, 19_726);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn blocks_for(items: u64, rate: f64) -> Result<u64> {
        sizing::blocks_for(items, rate)
    }

    /// The false-positive rate that `items` different keys are expected to give.
    pub fn expected_rate(blocks: u64, items: u64) -> f64 {
        sizing::expected_rate(blocks, items)
    }
}

// ---- construction ----

impl BlockedBloom {
    /// Creates an empty filter of a given number of blocks of 64 bytes, for keys that are bytes or
    /// text. Its capacity is the number of keys that set half of the bits.
    ///
    /// # Errors
    /// If there is no block or more than [`MOST_BLOCKS`](Self::MOST_BLOCKS), or if the memory
    /// cannot be had.
    pub fn new(blocks: u64) -> Result<Self> {
        Self::with_scheme(blocks, KeyScheme::bytes())
    }

    /// Creates an empty filter of a given number of blocks for keys of the given scheme.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_scheme(blocks: u64, scheme: KeyScheme) -> Result<Self> {
        sizing::check_blocks(blocks)?;
        let capacity = (blocks as f64 * f64::from(WORD) * std::f64::consts::LN_2) as u64;
        Ok(Self { scheme, capacity, blocks: zeroed(blocks)? })
    }

    /// Creates an empty filter, for bytes or text, of the smallest size that has the wanted
    /// false-positive rate with `items` different keys.
    ///
    /// # Errors
    /// As for [`blocks_for`](Self::blocks_for), or if the memory cannot be allocated.
    pub fn for_items(items: u64, rate: f64) -> Result<Self> {
        Self::for_items_with_scheme(items, rate, KeyScheme::bytes())
    }

    /// Creates an empty filter for `items` different keys of the given scheme.
    ///
    /// # Errors
    /// As for [`for_items`](Self::for_items).
    pub fn for_items_with_scheme(items: u64, rate: f64, scheme: KeyScheme) -> Result<Self> {
        Ok(Self { capacity: items, ..Self::with_scheme(Self::blocks_for(items, rate)?, scheme)? })
    }
}

// ---- update ----

impl BlockedBloom {
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
        blocks::insert_one(&mut self.blocks, CHOICE, hash)
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        blocks::insert_all(&mut self.blocks, CHOICE, hashes);
    }

    /// Adds a batch of keys.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme; nothing is added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        InsertKeys::insert_batch(self, batch)
    }
}

impl InsertHashes for BlockedBloom {
    fn insert_hash(&mut self, hash: u64) {
        self.insert_hash(hash);
    }

    fn insert_hashes(&mut self, hashes: &[u64]) {
        self.insert_hashes(hashes);
    }
}

// ---- query ----

impl BlockedBloom {
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
        blocks::contains_one(&self.blocks, CHOICE, hash)
    }

    /// Answers for many hashes, in their order, replacing what `found` held; the same as one by
    /// one, and faster.
    pub fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        found.clear();
        found.resize(hashes.len(), false);
        blocks::contains_all(&self.blocks, CHOICE, hashes, found);
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
    /// that are zero. Of [shared cells](Self::shared_cells) it counts too many: there use
    /// [`shared_items`](Self::shared_items).
    pub fn items_at(&self, confidence: Confidence) -> Estimate {
        self.occupancy().items(self.bits() - self.ones(), confidence)
    }

    /// Returns the number of different keys that both filters hold, with bounds at 95 %.
    ///
    /// A little less precise than [`Bloom::shared_items`](super::Bloom::shared_items): keys that
    /// share a block disturb each other in all its words.
    ///
    /// # Errors
    /// If the filters differ in size or scheme.
    ///
    /// ```
    /// use crivo::membership::BlockedBloom;
    /// let (mut monday, mut tuesday) = (BlockedBloom::for_items(1_000, 0.01)?, BlockedBloom::for_items(1_000, 0.01)?);
    /// (0..500).try_for_each(|i| monday.insert(&*format!("guest{i}")).map(drop))?;
    /// (300..900).try_for_each(|i| tuesday.insert(&*format!("guest{i}")).map(drop))?;
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
            [self.ones(), other.ones(), self.ones_in_union(other)].map(|ones| self.bits() - ones);
        Ok(self.occupancy().shared_items(first, second, union, confidence))
    }

    /// The share of bits that are set.
    pub fn fill(&self) -> f64 {
        self.ones() as f64 / self.bits() as f64
    }

    /// The chance that a key which was not inserted is taken for one that was, at the present fill
    /// of each block.
    pub fn false_positive_rate(&self) -> f64 {
        let of_block = |block: &Block| -> f64 {
            block.0.iter().map(|word| f64::from(word.count_ones()) / f64::from(WORD)).product()
        };
        self.blocks.iter().map(of_block).sum::<f64>() / self.blocks.len() as f64
    }

    /// Returns how many different keys the filter was made for; with more its rate exceeds what was
    /// asked for.
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Returns true if certainly nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|block| block.0 == [0; 8])
    }

    /// Returns how many blocks of 64 bytes there are.
    pub fn blocks(&self) -> u64 {
        self.blocks.len() as u64
    }

    fn bits(&self) -> u64 {
        self.blocks() * u64::from(BLOCK)
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.blocks.iter().flat_map(|block| block.0)
    }

    fn ones(&self) -> u64 {
        self.words().map(|word| u64::from(word.count_ones())).sum()
    }

    fn ones_in_union(&self, other: &Self) -> u64 {
        self.words().zip(other.words()).map(|(mine, theirs)| u64::from((mine | theirs).count_ones())).sum()
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.blocks)
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("blocks", Parameter::Count(self.blocks())), ("capacity", Parameter::Count(self.capacity))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![(
                    "rate_at_capacity",
                    Parameter::Ratio(Self::expected_rate(self.blocks(), self.capacity)),
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
        Occupancy { cells: self.bits(), hashes: WORDS, word: Some(WORD) }
    }
}

impl ContainsHashes for BlockedBloom {
    fn contains_hash(&self, hash: u64) -> bool {
        self.contains_hash(hash)
    }

    fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        self.contains_hashes(hashes, found);
    }
}

impl_sketch!(BlockedBloom, hashes, keys, membership);
impl_membership_by_hash!(BlockedBloom, cannot_remove);

// ---- merge ----

impl BlockedBloom {
    /// Makes this the filter of both sets, bit for bit.
    ///
    /// # Errors
    /// If the filters differ in size, capacity or scheme; the filter is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.require_same(other)?;
        self.combine(other, |mine, theirs| mine | theirs);
        Ok(())
    }

    /// Returns the filter of the bits that both have set, for study: as
    /// [`Bloom::shared_cells`](super::Bloom::shared_cells).
    ///
    /// # Errors
    /// If the filters differ in size, capacity or scheme.
    pub fn shared_cells(&self, other: &Self) -> Result<Self> {
        self.require_same(other)?;
        let mut shared = self.clone();
        shared.combine(other, |mine, theirs| mine & theirs);
        Ok(shared)
    }

    fn require_same(&self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        require_same("blocks", self.blocks(), other.blocks())?;
        require_same("capacity", self.capacity, other.capacity)
    }

    fn combine(&mut self, other: &Self, operation: impl Fn(u64, u64) -> u64) {
        for (mine, theirs) in self.blocks.iter_mut().zip(&other.blocks) {
            for (mine, theirs) in mine.0.iter_mut().zip(theirs.0) {
                *mine = operation(*mine, theirs);
            }
        }
    }
}

impl Merge for BlockedBloom {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl BlockedBloom {
    /// Returns the filter as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the filter that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a blocked Bloom filter: see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for BlockedBloom {
    const FAMILY: Family = Family::BlockedBloom;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.blocks());
        writer.u64(self.capacity);
        writer.u64s(self.words());
    }
}

impl Decode for BlockedBloom {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let count = reader.u64("blocks")?;
        sizing::check_blocks(count)
            .map_err(|error| Error::contents(error.field(), error.expected(), error.found()))?;
        let capacity = reader.u64("capacity")?;
        check_capacity(capacity)?;
        let mut words = reader.u64s("bit array", count * u64::from(WORDS))?;
        let mut blocks: Vec<Block> = zeroed(count)?;
        for word in blocks.iter_mut().flat_map(|block| &mut block.0) {
            *word = words.next().unwrap_or(0);
        }
        Ok(Self { scheme: header.scheme, capacity, blocks })
    }
}
