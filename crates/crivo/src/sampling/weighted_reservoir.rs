// This file is long because it contains the documentation and the examples of its public functions.

//! Weighted reservoir: k items of a stream, where heavy items are more likely.
//!
//! **Question.** Which k customers to call, if a customer who spent twice as much should be twice
//! as likely to be drawn next?
//!
//! **Guarantee.** The sample is distributed as `k` draws without replacement. Each draw takes one
//! of the remaining items with a probability proportional to its weight. Merging keeps that
//! exactly: the sample of two reservoirs is distributed as the sample of the joined stream. With
//! equal weights it is uniform.
//!
//! **Idea.** Every item has a clock that rings after an exponential time with the rate `weight`.
//! The first `k` clocks to ring are the sample, in the order in which the draws would have found
//! them. If the sample is full and its last clock rings at `h`, an item of weight `w` is admitted
//! with probability `1 − e^(−wh)`. So the sum of the weights until the next admitted item is
//! exponential too, and is drawn at once. All items before it cost a subtraction.
//!
//! **When not to use it.** If all weights are equal, [`Reservoir`](super::Reservoir) is simpler and
//! faster. If the probability of inclusion itself should be proportional to the weight: no sample
//! without replacement can do that when a single item has more than `1/k` of all weight.
//!
//! **Sources.** Efraimidis and Spirakis: *Weighted random sampling with a reservoir* (2006),
//! Algorithm A-ExpJ.
//!
//! **Where this departs from the paper.** The paper keeps the largest keys `u^(1/w)`. A clock is
//! the negative logarithm of such a key. It neither rounds to 1 for heavy items nor to 0 for light
//! ones.

use alloc::collections::BinaryHeap;
use std::cmp::Ordering;
use std::ops::RangeInclusive;

use super::jump::Jump;
use super::reservoir::{check_capacity, check_key, require_same_capacity};
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::keys::{Key, KeyBatch, KeyRef, KeyScheme, OwnedKey};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::random::Generator;
use crate::sketch::{Merge, Sample, impl_sketch};

/// A weighted sample of a stream; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::sampling::WeightedReservoir;
///
/// let mut winners = WeightedReservoir::new(2, 7)?;
/// winners.insert("ana", 1.0)?;
/// winners.insert("rui", 1e9)?;
/// winners.insert("eva", 0.0)?;
/// winners.insert("zoe", 1.0)?;
/// assert_eq!(winners.sample().next().map(|key| key.to_string()).as_deref(), Some("rui"));
/// assert_eq!((winners.seen(), winners.weightless()), (3, 1));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct WeightedReservoir {
    scheme: KeyScheme,
    capacity: u32,
    /// The number of items seen, without those whose weights are buffered in `jump`.
    settled: u64,
    weightless: u64,
    /// A heap with the item whose clock rang last on top.
    kept: BinaryHeap<Entry>,
    /// The weight to skip before the next item is admitted; 0 before the sample is full.
    jump: Jump,
    generator: Generator,
}

/// A kept key and the time at which its clock rang.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    clock: f64,
    key: OwnedKey,
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Sorts by the time of the clock. Times can be equal at either end of the range of floats. Then
/// the keys decide, so that the order of insertion does not matter.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.clock.total_cmp(&other.clock).then_with(|| self.key.cmp(&other.key))
    }
}

impl PartialEq for WeightedReservoir {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |sample: &Self| (sample.scheme, sample.capacity, sample.seen(), sample.weightless);
        numbers(self) == numbers(other)
            && self.jump.left() == other.jump.left()
            && self.generator == other.generator
            && self.sorted() == other.sorted()
    }
}

// ---- limits and sizing ----

impl WeightedReservoir {
    /// The numbers of items a sample may keep. Memory is allocated as items arrive.
    pub const CAPACITIES: RangeInclusive<u64> = 1..=u32::MAX as u64;

    /// Streams are counted up to this number.
    const MOST_SEEN: u64 = i64::MAX as u64;
}

// ---- construction ----

impl WeightedReservoir {
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
        let generator = Generator::new(seed);
        let jump = Jump::over(0.0);
        Ok(Self { scheme, capacity, settled: 0, weightless: 0, kept: BinaryHeap::new(), jump, generator })
    }
}

// ---- update ----

impl WeightedReservoir {
    /// Adds one key to the stream with its weight. A key of weight 0 is counted as weightless and
    /// never sampled.
    ///
    /// # Errors
    /// If the key is not of the sample's kind, or if the weight is negative or not finite.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K, weight: f64) -> Result<()> {
        self.insert_ref(key.to_ref(), weight)
    }

    /// Adds one key to the stream, whose kind is known only at run time.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert), and if the key has 4 GiB or more.
    #[inline]
    pub fn insert_ref(&mut self, key: KeyRef<'_>, weight: f64) -> Result<()> {
        check_key(self.scheme, key)?;
        // The path of nearly every item of a long stream.
        if self.jump.pass_light(weight) {
            return Ok(());
        }
        self.insert_unless_light(key, weight)
    }

    #[inline(never)]
    fn insert_unless_light(&mut self, key: KeyRef<'_>, weight: f64) -> Result<()> {
        self.settle();
        if self.jump.pass_light(weight) {
            return Ok(());
        }
        check_weight(weight)?;
        if weight == 0.0 {
            self.weightless = (self.weightless + 1).min(Self::MOST_SEEN);
        } else if self.jump.pass(&[weight]) == 0 {
            self.admit(key, weight);
        } else {
            self.count(1);
        }
        Ok(())
    }

    /// Subtracts and counts the buffered weights.
    fn settle(&mut self) {
        let passed = self.jump.settle();
        self.count(passed);
    }

    fn count(&mut self, items: u64) {
        self.settled = (self.settled + items).min(Self::MOST_SEEN);
    }

    /// Adds a batch of keys to the stream, each with its weight. Same result as one by one, but
    /// keys that are skipped are not read.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, if a key has 4 GiB or more, if the numbers of
    /// weights and keys differ, or if a weight is negative or not finite. Nothing is added then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>, weights: &[f64]) -> Result<()> {
        self.scheme.require_same_keys(batch.scheme())?;
        batch.require_writable()?;
        if weights.len() != batch.len() {
            let keys = format_args!("{}, one for each key", batch.len()).to_string();
            return Err(Error::parameter("number of weights", keys, weights.len()));
        }
        self.settle();
        match self.jump.pass_checked(weights) {
            Some(passed) => self.insert_positive(batch, weights, passed),
            None => self.insert_others(batch, weights)?,
        }
        Ok(())
    }

    /// Adds keys whose weights are all above 0. The first `passed` of them have been skipped
    /// already.
    fn insert_positive(&mut self, batch: &KeyBatch<'_>, weights: &[f64], passed: usize) {
        let mut position = passed;
        self.count(passed as u64);
        while let Some(key) = batch.get(position) {
            self.admit(key, weights[position]);
            position += 1;
            let passed = self.jump.pass(&weights[position..]);
            self.count(passed as u64);
            position += passed;
        }
    }

    /// Adds keys if some have the weight 0, or a number that is no weight.
    #[cold]
    fn insert_others(&mut self, batch: &KeyBatch<'_>, weights: &[f64]) -> Result<()> {
        weights.iter().try_for_each(|&weight| check_weight(weight))?;
        for (position, &weight) in weights.iter().enumerate() {
            if weight == 0.0 {
                self.weightless = (self.weightless + 1).min(Self::MOST_SEEN);
            } else if self.jump.pass(&[weight]) == 1 {
                self.count(1);
            } else if let Some(key) = batch.get(position) {
                self.admit(key, weight);
            }
        }
        Ok(())
    }

    #[cold]
    fn admit(&mut self, key: KeyRef<'_>, weight: f64) {
        self.count(1);
        let unit = self.generator.unit();
        let clock = if self.is_full() {
            // The clock is known to ring before the last one: an exponential time truncated at the
            // last clock.
            let last = self.last_clock();
            self.kept.pop();
            (-libm::log1p(unit * libm::expm1(-weight * last)) / weight).min(last)
        } else {
            (-libm::log(unit) / weight).min(f64::MAX)
        };
        self.kept.push(Entry { clock, key: key.to_owned() });
        self.draw_jump();
    }

    /// Draws the weight to skip before the next item is admitted.
    fn draw_jump(&mut self) {
        if self.is_full() {
            self.jump = Jump::over(-libm::log(self.generator.unit()) / self.last_clock());
        }
    }

    /// Returns the longest jump that can be drawn.
    fn longest_jump(&self) -> f64 {
        -libm::log(Generator::LEAST_UNIT) / self.last_clock()
    }

    fn is_full(&self) -> bool {
        self.kept.len() as u64 == u64::from(self.capacity)
    }

    fn last_clock(&self) -> f64 {
        self.kept.peek().map_or(f64::MAX, |entry| entry.clock)
    }
}

fn is_weight(weight: f64) -> bool {
    (0.0..=f64::MAX).contains(&weight)
}

pub(super) fn check_weight(weight: f64) -> Result<()> {
    if is_weight(weight) {
        Ok(())
    } else {
        Err(Error::parameter("weight", "a finite number, 0 or above", weight))
    }
}

// ---- query ----

impl WeightedReservoir {
    /// The sampled keys, in the order in which draws without replacement would have found them.
    pub fn sample(&self) -> impl ExactSizeIterator<Item = KeyRef<'_>> {
        self.sorted().into_iter().map(|entry| entry.key.as_ref())
    }

    fn sorted(&self) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self.kept.iter().collect();
        entries.sort_unstable();
        entries
    }

    /// The number of items with a weight above 0 in the stream.
    pub fn seen(&self) -> u64 {
        (self.settled + self.jump.put_aside()).min(Self::MOST_SEEN)
    }

    /// The number of items of weight 0 in the stream.
    pub fn weightless(&self) -> u64 {
        self.weightless
    }

    /// The largest number of items that the sample keeps.
    pub fn capacity(&self) -> u64 {
        self.capacity.into()
    }

    /// Returns true if the stream had no item with a weight above 0.
    pub fn is_empty(&self) -> bool {
        self.seen() == 0
    }

    /// Returns the scheme of the keys. Only batches of keys of the same kind and seed are accepted.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// The number of bytes of memory in use, including keys and the struct itself.
    pub fn memory(&self) -> usize {
        let length = |entry: &Entry| if let OwnedKey::Bytes(bytes) = &entry.key { bytes.len() } else { 0 };
        size_of::<Self>()
            + self.kept.capacity() * size_of::<Entry>()
            + self.kept.iter().map(length).sum::<usize>()
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("capacity", Parameter::Count(self.capacity.into()))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("kept", Parameter::Count(self.kept.len() as u64)),
                    ("weightless", Parameter::Count(self.weightless)),
                ],
            ]
            .concat(),
            scheme: self.scheme,
            items: Estimate::exact(self.seen() as f64),
            fill: Some(self.kept.len() as f64 / f64::from(self.capacity)),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(WeightedReservoir, samples);

impl Sample for WeightedReservoir {
    fn sample(&self) -> Box<dyn ExactSizeIterator<Item = KeyRef<'_>> + '_> {
        Box::new(self.sample())
    }
}

// ---- merge ----

impl WeightedReservoir {
    /// Merges another sample into this one, which becomes the weighted sample of both streams: the
    /// keys whose clocks rang first. The random numbers come from this sample's generator.
    ///
    /// # Errors
    /// If schemes or capacities differ. The sample is unchanged then.
    ///
    /// ```
    /// use crivo::sampling::WeightedReservoir;
    /// let (mut monday, mut tuesday) = (WeightedReservoir::new(1, 1)?, WeightedReservoir::new(1, 2)?);
    /// monday.insert("ana", 1.0)?;
    /// tuesday.insert("rui", 1e12)?;
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.sample().next().map(|key| key.to_string()).as_deref(), Some("rui"));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same_keys(other.scheme)?;
        require_same_capacity(self.capacity, other.capacity)?;
        self.settle();
        self.count(other.seen());
        self.weightless = (self.weightless + other.weightless).min(Self::MOST_SEEN);
        if other.kept.is_empty() {
            return Ok(());
        }
        for entry in other.sorted() {
            if !self.is_full() {
                self.kept.push(entry.clone());
            } else if let Some(mut last) = self.kept.peek_mut()
                && *entry < *last
            {
                *last = entry.clone();
            }
        }
        self.draw_jump();
        Ok(())
    }
}

impl Merge for WeightedReservoir {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.generator = self.generator.fork(part);
    }
}

// ---- bytes ----

impl WeightedReservoir {
    /// Returns the sample as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Reads a sample from bytes. It continues as the stored sample would have.
    ///
    /// # Errors
    /// If the bytes are not the complete, undamaged bytes of a `WeightedReservoir`; see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for WeightedReservoir {
    const FAMILY: Family = Family::WeightedReservoir;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u32(self.capacity);
        writer.u64(self.seen());
        writer.u64(self.weightless);
        writer.u64(self.jump.left().to_bits());
        self.generator.encode(writer);
        for entry in self.sorted() {
            writer.u64(entry.clock.to_bits());
            writer.key(entry.key.as_ref());
        }
    }
}

impl Decode for WeightedReservoir {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let capacity = reader.u32("capacity")?;
        let mut sample = Self::with_scheme(capacity.into(), header.scheme, 0)
            .map_err(|error| Error::contents("capacity", error.expected(), capacity))?;
        sample.settled = reader.u64("seen")?;
        sample.weightless = reader.u64("weightless")?;
        if sample.settled.max(sample.weightless) > Self::MOST_SEEN {
            return Err(Error::contents("seen and weightless", "below 2^63", "more"));
        }
        let jump = f64::from_bits(reader.u64("jump")?);
        sample.generator = Generator::decode(reader)?;
        sample.kept = read_entries(header.scheme, sample.settled.min(capacity.into()), reader)?.into();

        let longest = if sample.is_full() { sample.longest_jump() } else { 0.0 };
        if jump.is_sign_negative() || jump.is_nan() || jump > longest {
            return Err(Error::contents("jump", format_args!("0 to {longest}"), jump));
        }
        sample.jump = Jump::over(jump);
        Ok(sample)
    }
}

fn read_entries(scheme: KeyScheme, count: u64, reader: &mut Reader<'_>) -> Result<Vec<Entry>> {
    // Each item takes at least twelve bytes. So no memory is allocated for items that the bytes
    // cannot contain; reading those fails below.
    let room = usize::try_from(count).unwrap_or(usize::MAX).min(reader.left() / 12);
    let mut entries: Vec<Entry> = Vec::with_capacity(room);
    for _ in 0..count {
        let clock = f64::from_bits(reader.u64("clocks")?);
        if !clock.is_finite() || clock.is_sign_negative() {
            return Err(Error::contents("clocks", "finite numbers, 0 or above", clock));
        }
        let entry = Entry { clock, key: reader.key("items", scheme.kind())?.to_owned() };
        if entries.last().is_some_and(|last| *last > entry) {
            return Err(Error::contents("clocks", "ascending order", "another order"));
        }
        entries.push(entry);
    }
    Ok(entries)
}
