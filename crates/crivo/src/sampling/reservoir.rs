//! Reservoir: k items of a stream of unknown length, where every set of k items is equally likely.
//!
//! **Question.** How does the stream look, judged by a fair sample of it?
//!
//! **Guarantee.** After `n` items the sample is a uniformly random set of `min(k, n)` of them. Each
//! item is in it with probability `k/n`, each pair with `k(k − 1)/(n(n − 1))`, and so on. Merging
//! keeps that: the merge of two reservoirs is a uniform sample of both streams, however different
//! their lengths.
//!
//! **Idea.** Give every item a random number and keep the `k` items with the smallest. The numbers
//! need not be drawn. If the largest kept number is `w`, an item is kept with probability `w`. So
//! the number of items until the next kept one is geometric, and that item replaces a random one of
//! the sample. After `n` items `w` is about `k/n`. So almost all items cost one comparison, and
//! whole batches are skipped without reading any key.
//!
//! **When not to use it.** If items have weights, use a
//! [`WeightedReservoir`](super::WeightedReservoir). If the same item occurs many times and should
//! count once, a sample of rows is the wrong tool: take the smallest hashes (`KMinValues`).
//!
//! **Sources.** Vitter: *Random sampling with a reservoir* (1985). Li: *Reservoir-sampling
//! algorithms of time complexity O(n(1 + log(N/n)))* (1994), Algorithm L. Rényi (1953) for the
//! order statistics that a merge draws.
//!
//! **Where this departs from the papers.** Merging draws three things. The number of items from
//! each side is hypergeometric, by the lengths of the streams. The choice of the items is uniform.
//! The new `w` is drawn as the `k`-th smallest of all items' numbers, which does not depend on the
//! choice of items. The bytes depend on the order of the stream and on the seed; the guarantee does
//! not.

use std::ops::RangeInclusive;

use super::items::Items;
use crate::codec::{
    Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer, require_writable,
};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::keys::{Key, KeyBatch, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::random::Generator;
use crate::sketch::{InsertKeys, Merge, Sample, impl_sketch};

/// A uniform sample of a stream; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::keys::{KeyRef, KeyScheme};
/// use crivo::sampling::Reservoir;
///
/// let mut sample = Reservoir::with_scheme(100, KeyScheme::integers(), 7)?;
/// for number in 0..100_000_u64 {
///     sample.insert(&number)?;
/// }
/// assert_eq!((sample.seen(), sample.sample().len()), (100_000, 100));
/// let small = sample.sample().filter(|key| *key < KeyRef::Integer(50_000)).count();
/// assert!((25..75).contains(&small));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Reservoir {
    scheme: KeyScheme,
    capacity: u32,
    seen: u64,
    /// The number of items seen before the next one is admitted. All items until then cost a
    /// comparison.
    next: u64,
    items: Items,
    /// The largest number of a kept item, which is the probability that an item is admitted; 1
    /// before the sample is full.
    chance: f64,
    generator: Generator,
}

// ---- limits and sizing ----

impl Reservoir {
    /// The numbers of items a sample may keep. Memory is allocated as items arrive.
    pub const CAPACITIES: RangeInclusive<u64> = 1..=u32::MAX as u64;

    /// Streams are counted up to this number. Later items do not change the sample.
    const MOST_SEEN: u64 = i64::MAX as u64;
}

// ---- construction ----

impl Reservoir {
    /// Returns an empty sample of up to `capacity` items, which are bytes or text. It draws random
    /// numbers from the seed. Samples that will be merged need different seeds.
    ///
    /// # Errors
    /// If the capacity is 0.
    pub fn new(capacity: u64, seed: u64) -> Result<Self> {
        Self::with_scheme(capacity, KeyScheme::bytes(), seed)
    }

    /// Returns an empty sample of keys of the given scheme. Keys are kept, not hashed. The scheme's
    /// seed only decides which batches are accepted.
    ///
    /// # Errors
    /// If the capacity is 0.
    pub fn with_scheme(capacity: u64, scheme: KeyScheme, seed: u64) -> Result<Self> {
        let capacity = check_capacity(capacity)?;
        let (items, generator) = (Items::new(scheme.kind()), Generator::new(seed));
        Ok(Self { scheme, capacity, seen: 0, next: 0, items, chance: 1.0, generator })
    }
}

/// Returns the capacity as it is stored.
pub(super) fn check_capacity(capacity: u64) -> Result<u32> {
    match u32::try_from(capacity) {
        Ok(stored) if stored > 0 => Ok(stored),
        _ => Err(Error::parameter("capacity", format_args!("1 to {}", u32::MAX), capacity)),
    }
}

// ---- update ----

impl Reservoir {
    /// Adds one key to the stream.
    ///
    /// # Errors
    /// If the key is not of the sample's kind.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K) -> Result<()> {
        self.insert_ref(key.to_ref())
    }

    /// Adds one key to the stream, whose kind is known only at run time.
    ///
    /// # Errors
    /// If the key is not of the sample's kind, or has 4 GiB or more.
    #[inline]
    pub fn insert_ref(&mut self, key: KeyRef<'_>) -> Result<()> {
        check_key(self.scheme, key)?;
        if self.seen < self.next {
            self.seen += 1;
        } else {
            self.admit(key);
        }
        Ok(())
    }

    /// Adds a batch of keys to the stream. Same result as one by one, but keys that are skipped are
    /// not read.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, or if a key has 4 GiB or more. Nothing is
    /// added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        batch.require_writable()?;
        self.insert_batch_as(batch, |key| key)
    }

    /// Adds a batch of keys to the stream. A key that is admitted is kept in the form that `form`
    /// returns, which must have less than 4 GiB.
    pub(crate) fn insert_batch_as<'a>(
        &mut self,
        batch: &KeyBatch<'a>,
        form: impl Fn(KeyRef<'a>) -> KeyRef<'a>,
    ) -> Result<()> {
        self.scheme.require_same_keys(batch.scheme())?;
        let mut position = 0;
        loop {
            let left = (batch.len() - position) as u64;
            let passed = left.min(self.next - self.seen);
            self.seen += passed;
            position += passed as usize;
            let Some(key) = batch.get(position) else { return Ok(()) };
            self.admit(form(key));
            position += 1;
        }
    }

    /// Admits a key, and draws when the next one will be admitted.
    #[cold]
    fn admit(&mut self, key: KeyRef<'_>) {
        if self.seen == Self::MOST_SEEN {
            return;
        }
        self.seen += 1;
        let capacity = u64::from(self.capacity);
        let len = self.items.len() as u64;
        let slot = if len < capacity { len } else { self.generator.below(capacity) };
        self.items.put(slot as usize, key);
        if self.seen < capacity {
            self.next = self.seen;
        } else {
            // The largest of k numbers below w is w·U^(1/k).
            let largest = libm::exp(libm::log(self.generator.unit()) / f64::from(self.capacity));
            self.go_on(self.chance * largest);
        }
    }

    /// Draws when the next item is admitted, if each item is admitted with probability `chance`.
    fn go_on(&mut self, chance: f64) {
        // No real stream comes near the least probability, but the value of a forged sketch must
        // not leave the range.
        self.chance = chance.max(f64::MIN_POSITIVE);
        self.next = self.seen.saturating_add(self.generator.failures(self.chance)).min(Self::MOST_SEEN);
    }
}

/// Refuses keys that a sample cannot keep or store.
#[inline]
pub(super) fn check_key(scheme: KeyScheme, key: KeyRef<'_>) -> Result<()> {
    if key.kind() != scheme.kind() {
        return Err(scheme.wrong_kind(key.kind()));
    }
    if let KeyRef::Bytes(bytes) = key { require_writable("key", bytes) } else { Ok(()) }
}

impl InsertKeys for Reservoir {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.insert_batch(batch)
    }
}

// ---- query ----

impl Reservoir {
    /// The sampled keys. As a set they are uniform; their order has no meaning.
    pub fn sample(&self) -> impl ExactSizeIterator<Item = KeyRef<'_>> {
        (0..self.items.len()).map(|index| self.items.get(index))
    }

    /// The number of items in the stream.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The largest number of items that the sample keeps.
    pub fn capacity(&self) -> u64 {
        self.capacity.into()
    }

    /// Returns true if the stream had no items.
    pub fn is_empty(&self) -> bool {
        self.seen == 0
    }

    /// Returns the scheme of the keys. Only batches of keys of the same kind and seed are accepted.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including keys and the struct itself.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.items.memory()
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("capacity", Parameter::Count(self.capacity.into()))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [self.parameters(), vec![("kept", Parameter::Count(self.items.len() as u64))]]
                .concat(),
            scheme: self.scheme,
            items: Estimate::exact(self.seen as f64),
            fill: Some(self.items.len() as f64 / f64::from(self.capacity)),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(Reservoir, keys, samples);

impl Sample for Reservoir {
    fn sample(&self) -> Box<dyn ExactSizeIterator<Item = KeyRef<'_>> + '_> {
        Box::new(self.sample())
    }
}

// ---- merge ----

impl Reservoir {
    /// Merges another sample into this one, which becomes a uniform sample of both streams. The
    /// random numbers come from this sample's generator.
    ///
    /// # Errors
    /// If schemes or capacities differ. The sample is unchanged then.
    ///
    /// ```
    /// use crivo::sampling::Reservoir;
    /// let (mut monday, mut tuesday) = (Reservoir::new(10, 1)?, Reservoir::new(10, 2)?);
    /// for visitor in ["ana", "rui", "eva"] {
    ///     monday.insert(visitor)?;
    /// }
    /// tuesday.insert("zoe")?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!((monday.seen(), monday.sample().len()), (4, 4));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same_keys(other.scheme)?;
        require_same_capacity(self.capacity, other.capacity)?;
        if other.seen == 0 {
            return Ok(());
        }
        if self.seen == 0 {
            let Self { seen, next, items, chance, .. } = other.clone();
            (self.seen, self.next, self.items, self.chance) = (seen, next, items, chance);
        } else if self.seen + other.seen <= u64::from(self.capacity) {
            other.sample().for_each(|key| self.admit(key));
        } else {
            self.mix(other);
        }
        Ok(())
    }

    /// Draws as many items as the sample may hold from two streams that have more items together.
    fn mix(&mut self, other: &Self) {
        let Self { generator, items, .. } = self;
        let (mut mine, mut theirs) = (self.seen, other.seen);
        for _ in 0..self.capacity {
            if generator.below(mine + theirs) < mine { mine -= 1 } else { theirs -= 1 }
        }
        // The draws counted down both streams, so the differences are the numbers of drawn items.
        let (mine, theirs) = ((self.seen - mine) as usize, (other.seen - theirs) as usize);
        // Move a random choice to the front. On the other side only the indexes are moved.
        let mut any_from = |slot: usize, len: usize| slot + generator.below((len - slot) as u64) as usize;
        for slot in 0..mine {
            items.swap(slot, any_from(slot, items.len()));
        }
        items.truncate(mine);
        let mut order: Vec<u32> = (0..other.items.len() as u32).collect();
        for slot in 0..theirs {
            order.swap(slot, any_from(slot, other.items.len()));
            items.put(mine + slot, other.items.get(order[slot] as usize));
        }
        // The k-th smallest of n uniform numbers. The logarithms of the gaps between consecutive
        // ones are added up.
        let total = self.seen + other.seen;
        let gap = |rank| libm::log(generator.unit()) / (total as f64 - f64::from(rank));
        let gaps: f64 = (0..self.capacity).map(gap).sum();
        self.seen = total.min(Self::MOST_SEEN);
        self.go_on(-libm::expm1(gaps));
    }
}

pub(super) fn require_same_capacity(mine: u32, theirs: u32) -> Result<()> {
    if mine == theirs {
        Ok(())
    } else {
        Err(Error::incompatible("capacity", mine, theirs, "only samples of one capacity can be merged"))
    }
}

impl Merge for Reservoir {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.generator = self.generator.fork(part);
    }
}

// ---- bytes ----

impl Reservoir {
    /// Returns the sample as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a sample from bytes. It continues as the stored sample would have.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a `Reservoir`; see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for Reservoir {
    const FAMILY: Family = Family::Reservoir;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u32(self.capacity);
        writer.u64(self.seen);
        writer.u64(self.chance.to_bits());
        writer.u64(self.next - self.seen);
        self.generator.encode(writer);
        self.items.encode(writer);
    }
}

impl Decode for Reservoir {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let scheme = header.scheme;
        let capacity = reader.u32("capacity")?;
        check_capacity(capacity.into())
            .map_err(|error| Error::contents("capacity", error.expected(), capacity))?;
        let seen = reader.u64("seen")?;
        if seen > Self::MOST_SEEN {
            return Err(Error::contents("seen", "below 2^63", seen));
        }
        let chance = f64::from_bits(reader.u64("chance")?);
        let skip = reader.u64("skip")?;
        let is_full = seen >= u64::from(capacity);
        if !is_full && (chance, skip) != (1.0, 0) {
            return Err(Error::contents("chance and skip", "1 and 0 before the sample is full", chance));
        }
        if !(f64::MIN_POSITIVE..=1.0).contains(&chance) {
            return Err(Error::contents("chance", "above 0 and at most 1", chance));
        }
        let longest = Generator::most_failures(chance).min(Self::MOST_SEEN - seen);
        if skip > longest {
            return Err(Error::contents("skip", format_args!("at most {longest}"), skip));
        }
        let generator = Generator::decode(reader)?;
        let items = Items::decode(scheme.kind(), seen.min(capacity.into()), reader)?;
        Ok(Self { scheme, capacity, seen, next: seen + skip, items, chance, generator })
    }
}
