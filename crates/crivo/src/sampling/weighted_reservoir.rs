// This file is long because the documentation and the examples of its public functions stand in it.

//! Weighted reservoir: k items of a stream, heavy ones more likely.
//!
//! **Question.** Which k customers to call, if one who spent twice as much should be twice as
//! likely to be the next one drawn?
//!
//! **Guarantee.** The sample is distributed as `k` draws without replacement. Each draw takes one
//! of the remaining items with a probability proportional to its weight. Merging keeps that
//! exactly: the sample of two reservoirs is distributed as the sample of the joined stream. With
//! equal weights it is uniform.
//!
//! **Idea.** Every item has a clock that rings after an exponential time with the rate `weight`.
//! The first `k` to ring are the sample, in the order in which the draws would have found them.
//! Once there are `k`, with the last of them ringing at `h`, an item of weight `w` gets in with
//! chance `1 − e^(−wh)`: so the sum of the weights until the next one gets in is exponential too,
//! and is drawn at once. All others cost a subtraction.
//!
//! **When not to use it.** If all weights are equal, [`Reservoir`](super::Reservoir) is simpler and
//! faster. If inclusion itself should be proportional to the weight: no sample without replacement
//! does that when a single item has more than `1/k` of all weight.
//!
//! **Sources.** Efraimidis and Spirakis: *Weighted random sampling with a reservoir* (2006),
//! Algorithm A-ExpJ.
//!
//! **Where this departs from the paper.** The paper keeps the largest keys `u^(1/w)`. A clock is
//! the negative logarithm of that key, which neither rounds to 1 for heavy items nor to 0 for light
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
    /// Without those whose weights the jump has put aside.
    settled: u64,
    weightless: u64,
    /// The one that rang last is on top.
    kept: BinaryHeap<Entry>,
    /// How much weight passes before the next item gets in: none before the sample is full.
    jump: Jump,
    generator: Generator,
}

/// A kept key and when its clock rang.
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

/// Clocks that ring at once, as those at either end of the range of numbers do, are told apart by
/// their keys: the order of insertion does not matter.
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
    /// How many items can be kept. Memory is taken as they come.
    pub const CAPACITIES: RangeInclusive<u64> = 1..=u32::MAX as u64;

    /// Streams are counted up to here.
    const MOST_SEEN: u64 = i64::MAX as u64;
}

// ---- construction ----

impl WeightedReservoir {
    /// An empty sample of up to `capacity` items, which are bytes or text, drawing from the seed.
    /// Samples that will be merged need different seeds.
    ///
    /// # Errors
    /// If the capacity is 0.
    pub fn new(capacity: u64, seed: u64) -> Result<Self> {
        Self::with_scheme(capacity, KeyScheme::bytes(), seed)
    }

    /// An empty sample of keys of the given scheme. They are kept, not hashed: the scheme's own
    /// seed only says which batches belong here.
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
    /// Shows one key with its weight. A weight of 0 is counted as weightless; it is never sampled.
    ///
    /// # Errors
    /// If the key is not of the sample's kind, or if the weight is negative or not finite.
    #[inline]
    pub fn insert<K: Key + ?Sized>(&mut self, key: &K, weight: f64) -> Result<()> {
        self.insert_ref(key.to_ref(), weight)
    }

    /// Shows one key, whose kind is known only at run time.
    ///
    /// # Errors
    /// As for [`insert`](Self::insert), and if the key is of 4 GiB and more.
    #[inline]
    pub fn insert_ref(&mut self, key: KeyRef<'_>, weight: f64) -> Result<()> {
        check_key(self.scheme, key)?;
        // What nearly every item of a long stream comes to.
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

    /// Subtracts and counts the weights that were put aside.
    fn settle(&mut self) {
        let passed = self.jump.settle();
        self.count(passed);
    }

    fn count(&mut self, items: u64) {
        self.settled = (self.settled + items).min(Self::MOST_SEEN);
    }

    /// Shows a batch of keys, each with its weight: the same as one by one, without a look at keys
    /// that are passed over.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, if there are not as many weights as keys, or
    /// if a weight is negative or not finite; nothing is shown then.
    pub fn insert_batch(&mut self, batch: &KeyBatch<'_>, weights: &[f64]) -> Result<()> {
        self.scheme.require_same_keys(batch.scheme())?;
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

    /// Shows keys whose weights are above 0, the first of which have passed.
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

    /// Shows keys some of whose weights are 0, or numbers that are not weights.
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
            // It is known to have rung before the last one: an exponential time cut off there.
            let last = self.last_clock();
            self.kept.pop();
            (-libm::log1p(unit * libm::expm1(-weight * last)) / weight).min(last)
        } else {
            (-libm::log(unit) / weight).min(f64::MAX)
        };
        self.kept.push(Entry { clock, key: key.to_owned() });
        self.draw_jump();
    }

    /// Draws the weight that passes before the next item gets in.
    fn draw_jump(&mut self) {
        if self.is_full() {
            self.jump = Jump::over(-libm::log(self.generator.unit()) / self.last_clock());
        }
    }

    /// The longest jump that can be drawn.
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

    /// Returns how many items with a weight above 0 were shown.
    pub fn seen(&self) -> u64 {
        (self.settled + self.jump.put_aside()).min(Self::MOST_SEEN)
    }

    /// Returns how many items of weight 0 were shown.
    pub fn weightless(&self) -> u64 {
        self.weightless
    }

    /// Returns how many items can be kept.
    pub fn capacity(&self) -> u64 {
        self.capacity.into()
    }

    /// Returns true if no item with a weight above 0 was shown.
    pub fn is_empty(&self) -> bool {
        self.seen() == 0
    }

    /// Returns the scheme of the keys. Only batches of keys of the same kind and seed are accepted.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, keys and the struct itself included.
    pub fn memory(&self) -> usize {
        let length = |entry: &Entry| if let OwnedKey::Bytes(bytes) = &entry.key { bytes.len() } else { 0 };
        size_of::<Self>()
            + self.kept.capacity() * size_of::<Entry>()
            + self.kept.iter().map(length).sum::<usize>()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
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
    /// Makes this the weighted sample of both streams: the clocks that rang first. This sample's
    /// generator goes on.
    ///
    /// # Errors
    /// If schemes or capacities differ; the sample is unchanged then.
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
    /// The sample as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// The sample that the bytes hold; it goes on as the stored one would have.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a `WeightedReservoir`: see [`Decode::decode`].
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
    // Each takes at least twelve bytes: what cannot be there gets no room, and an error below.
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
