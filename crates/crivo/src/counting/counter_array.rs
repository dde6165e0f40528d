// This file is long because it contains the documentation and the examples of its public functions.

//! Counter array: the views of each of a billion videos, in one byte each.
//!
//! **Question.** How many events of each of very many kinds were there, if an exact counter for
//! each would not fit in memory?
//!
//! **Guarantee.** Each counter is a [`MorrisCounter`](super::MorrisCounter) of 4, 8 or 16 bits:
//! unbiased, with the relative standard error `√((b − 1)/2)` and the same intervals. The array
//! takes `len·bits/8` bytes and about 4 KB of tables. A saturated counter stays at its highest
//! value and is reported as saturated; the other counters are not affected.
//!
//! **Idea.** All counters share one random generator, so a counter is its value and nothing else.
//! The probabilities of all values are computed once. An event then takes one comparison of random
//! bits with a table entry.
//!
//! **Keys.** Counters are addressed by number, and an integer that is such a number is used as it
//! is. An array [`with_scheme`](CounterArray::with_scheme) finds the counter of a key by its hash.
//! There keys may share a counter, which then counts the events of all of them. The probability
//! that a key shares its counter is the share of counters in use, so leave room.
//!
//! **When not to use it.** If keys are not numbered, and too many to rarely share a counter: count
//! in a `CountMin`. If most counters stay at 0, a hash map of the others is smaller. If only the
//! sum over many counters matters: it is far more precise than each counter (see
//! [`total`](CounterArray::total)).
//!
//! **Sources.** As for [`MorrisCounter`](super::MorrisCounter).
//!
//! **Where this departs from the papers.** Random numbers are drawn in the order of events, so the
//! bytes depend on that order. The same events in the same order give the same bytes one by one and
//! in batches. [`add`](CounterArray::add) draws numbers of skipped events instead, and gives the
//! same distribution.

use super::cells::{Coins, bytes_for, get, set};
use super::morris_counter::require_same_scale;
use super::scale::Scale;
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::cpu;
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::hash;
use crate::keys::{KeyBatch, KeyKind, KeyRef, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::random::Generator;
use crate::sketch::{Frequency, InsertKeys, Merge, impl_sketch};

/// Many Morris counters, addressed by index; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::counting::CounterArray;
///
/// let mut views = CounterArray::for_reach(1_000_000, 1e10, 8, 7)?;
/// views.increment_batch(&[3, 999_999, 3])?;
/// views.add(17, 5_000)?;
/// assert!(views.estimate(17)?.covers(5_000.0));
/// assert!(views.increment(1_000_000).is_err());
/// assert!(views.memory() < 1_010_000);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct CounterArray {
    /// How keys are hashed. If counters are addressed by number, the scheme of sketches without
    /// keys.
    scheme: KeyScheme,
    scale: Scale,
    bits: u8,
    len: u64,
    cells: Vec<u8>,
    /// Derived from the scale.
    coins: Coins,
    generator: Generator,
}

/// The number of hashes whose indexes are computed together.
const CHUNK: usize = 256;

/// Calls a function that is compiled for each counter width.
macro_rules! by_width {
    ($bits:expr, $width:ident => $call:expr) => {
        match $bits {
            4 => {
                const $width: u8 = 4;
                $call
            }
            8 => {
                const $width: u8 = 8;
                $call
            }
            _ => {
                const $width: u8 = 16;
                $call
            }
        }
    };
}

// ---- limits and sizing ----

impl CounterArray {
    /// The widths of a counter, in bits.
    pub const COUNTER_BITS: [u8; 3] = [4, 8, 16];

    /// Returns the smallest base with which a counter of `counter_bits` bits reaches `reach`
    /// events: see [`MorrisCounter::base_for`](super::MorrisCounter::base_for).
    ///
    /// # Errors
    /// If the width is not in [`COUNTER_BITS`](Self::COUNTER_BITS), or if no base reaches that many
    /// or that few events.
    pub fn base_for(reach: f64, counter_bits: u8) -> Result<f64> {
        check_bits(counter_bits)?;
        Scale::base_for(reach, counter_bits)
    }
}

fn check_bits(bits: u8) -> Result<()> {
    if CounterArray::COUNTER_BITS.contains(&bits) {
        Ok(())
    } else {
        Err(Error::parameter("counter bits", "4, 8 or 16", bits))
    }
}

fn check_len(len: u64) -> Result<()> {
    if len > 0 { Ok(()) } else { Err(Error::parameter("len", "at least 1 counter", len)) }
}

// ---- construction ----

impl CounterArray {
    /// Creates `len` counters at 0, of the given width and base. `seed` is the seed of the random
    /// generator; arrays that will be merged need different seeds.
    ///
    /// # Errors
    /// If `len` is 0, if the width is not in [`COUNTER_BITS`](Self::COUNTER_BITS), if the base is
    /// not in [`MorrisCounter::BASES`](super::MorrisCounter::BASES), or if there is not enough
    /// memory.
    pub fn new(len: u64, base: f64, counter_bits: u8, seed: u64) -> Result<Self> {
        check_len(len)?;
        check_bits(counter_bits)?;
        let scale = Scale::new(base, counter_bits)?;
        let cells = cpu::zeroed(bytes_for(len, counter_bits))?;
        let (scheme, generator) = (super::NO_KEYS, Generator::new(seed));
        Ok(Self { scheme, scale, bits: counter_bits, len, cells, coins: Coins::new(scale), generator })
    }

    /// Creates `len` counters at 0 that are addressed by the hashes of keys under the scheme. The
    /// scheme's seed is independent of `seed`, which is that of the random generator. With a scheme
    /// of hashes the array has no keys, as with [`new`](Self::new): a key is the index.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    ///
    /// ```
    /// use crivo::counting::CounterArray;
    /// use crivo::keys::KeyScheme;
    /// let scheme = KeyScheme::bytes();
    /// let mut views = CounterArray::for_reach_with_scheme(1_000, 1e10, 8, scheme, 7)?;
    /// views.increment_hashes(&[scheme.hash("cats")?, scheme.hash("dogs")?, scheme.hash("cats")?])?;
    /// assert!(views.estimate(views.index_of(scheme.hash("cats")?))?.covers(2.0));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn with_scheme(len: u64, base: f64, counter_bits: u8, scheme: KeyScheme, seed: u64) -> Result<Self> {
        let scheme = if scheme.kind() == KeyKind::Hash { super::NO_KEYS } else { scheme };
        Ok(Self { scheme, ..Self::new(len, base, counter_bits, seed)? })
    }

    /// Creates the most precise counters of that many bits that reach that many events each.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new) and [`base_for`](Self::base_for).
    pub fn for_reach(len: u64, reach: f64, counter_bits: u8, seed: u64) -> Result<Self> {
        Self::new(len, Self::base_for(reach, counter_bits)?, counter_bits, seed)
    }

    /// Creates the most precise counters that reach that many events each, addressed by the hashes
    /// of keys.
    ///
    /// # Errors
    /// The errors of [`for_reach`](Self::for_reach).
    pub fn for_reach_with_scheme(
        len: u64,
        reach: f64,
        counter_bits: u8,
        scheme: KeyScheme,
        seed: u64,
    ) -> Result<Self> {
        Self::with_scheme(len, Self::base_for(reach, counter_bits)?, counter_bits, scheme, seed)
    }
}

// ---- update ----

impl CounterArray {
    /// Counts one event of the given index.
    ///
    /// # Errors
    /// If there is no such counter.
    #[inline]
    pub fn increment(&mut self, index: u64) -> Result<()> {
        let Self { cells, coins, generator, .. } = self;
        if index >= self.len {
            return Err(self.no_such_index(index));
        }
        by_width!(self.bits, BITS => coins.raise::<BITS>(cells, index as usize, generator));
        Ok(())
    }

    /// Counts one event of each of the given indexes, which may repeat. Same result as one by one,
    /// but faster, because the memory accesses overlap.
    ///
    /// # Errors
    /// If an index has no counter; no event is counted then.
    pub fn increment_batch(&mut self, indexes: &[u64]) -> Result<()> {
        if let Some(&index) = indexes.iter().find(|&&index| index >= self.len) {
            return Err(self.no_such_index(index));
        }
        let Self { cells, coins, generator, .. } = self;
        by_width!(self.bits, BITS => coins.raise_all::<BITS>(cells, indexes, generator));
        Ok(())
    }

    /// Counts one event of each of the keys with these hashes, which must come from this array's
    /// [`scheme`](Self::scheme). Each is counted at its [`index_of`](Self::index_of), also in an array
    /// without keys.
    ///
    /// # Errors
    /// None, because every hash has a counter.
    pub fn increment_hashes(&mut self, hashes: &[u64]) -> Result<()> {
        let mut indexes = [0; CHUNK];
        for chunk in hashes.chunks(CHUNK) {
            let indexes = &mut indexes[..chunk.len()];
            indexes.iter_mut().zip(chunk).for_each(|(index, &hash)| *index = self.index_of(hash));
            self.increment_batch(indexes)?;
        }
        Ok(())
    }

    /// Returns the index of the counter of a key, by its hash.
    #[inline]
    pub fn index_of(&self, hash: u64) -> u64 {
        hash::index(hash, self.len)
    }

    /// Counts many events of one index, in time proportional to the number of steps that its
    /// counter takes. The counter has the same distribution as if the events had been counted one
    /// by one.
    ///
    /// # Errors
    /// If there is no such counter.
    pub fn add(&mut self, index: u64, events: u64) -> Result<()> {
        let mut value = self.value(index)?;
        let mut left = events;
        while value < self.scale.highest() {
            let failures = self.generator.failures(self.scale.chance(value));
            let Some(rest) = left.checked_sub(failures).and_then(|rest| rest.checked_sub(1)) else { break };
            value += 1;
            left = rest;
        }
        by_width!(self.bits, BITS => set::<BITS>(&mut self.cells, index as usize, value));
        Ok(())
    }

    #[cold]
    fn no_such_index(&self, index: u64) -> Error {
        Error::parameter("index", format_args!("0 to {}", self.len - 1), index)
    }
}

// ---- query ----

impl CounterArray {
    /// Returns the number of events of an index, with bounds at 95 %.
    ///
    /// # Errors
    /// If there is no such counter.
    pub fn estimate(&self, index: u64) -> Result<Estimate> {
        self.estimate_at(index, Confidence::P95)
    }

    /// Returns the number of events of an index, with bounds at the given confidence. An estimate
    /// of 0 is exact. A saturated counter has no upper bound.
    ///
    /// # Errors
    /// If there is no such counter.
    pub fn estimate_at(&self, index: u64, confidence: Confidence) -> Result<Estimate> {
        Ok(self.scale.estimate(self.value(index)?, confidence))
    }

    /// Returns the value of a counter: how often it was raised.
    ///
    /// # Errors
    /// If there is no such counter.
    pub fn value(&self, index: u64) -> Result<u16> {
        if index < self.len { Ok(self.cell(index as usize)) } else { Err(self.no_such_index(index)) }
    }

    fn cell(&self, index: usize) -> u16 {
        by_width!(self.bits, BITS => get::<BITS>(&self.cells, index))
    }

    /// Returns the values of all counters, in the order of their indexes.
    pub fn values(&self) -> impl Iterator<Item = u16> {
        (0..self.len as usize).map(|index| self.cell(index))
    }

    /// Returns the number of events of all indexes together, with bounds at 95 %.
    pub fn total(&self) -> Estimate {
        self.total_at(Confidence::P95)
    }

    /// Returns the number of events of all indexes together, with bounds at the given confidence.
    /// The errors of the counters are independent and average out: the sum of a million counters of
    /// 20 % error has an error of 0.02 % if no counter dominates.
    pub fn total_at(&self, confidence: Confidence) -> Estimate {
        self.scale.estimate_sum(&self.histogram(), confidence)
    }

    /// Returns how many counters have each value.
    fn histogram(&self) -> Vec<u64> {
        let mut histogram = vec![0; usize::from(self.scale.highest()) + 1];
        self.values().for_each(|value| histogram[usize::from(value)] += 1);
        histogram
    }

    /// Returns how keys are hashed. If counters are addressed by number, this is the scheme of
    /// hashes.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Returns how many counters there are.
    #[allow(clippy::len_without_is_empty)] // there is at least one counter
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the width of a counter in bits.
    pub fn counter_bits(&self) -> u8 {
        self.bits
    }

    /// Returns the base of the scale.
    pub fn base(&self) -> f64 {
        self.scale.base()
    }

    /// Returns the highest value of a counter, at which it stays.
    pub fn highest(&self) -> u16 {
        self.scale.highest()
    }

    /// Returns the largest estimate of one counter, which is the estimate at the highest value.
    pub fn reach(&self) -> f64 {
        self.scale.events(self.highest())
    }

    /// Returns how many counters are at their highest value, where they stay and have no upper
    /// bound.
    pub fn saturated(&self) -> u64 {
        self.values().filter(|&value| value == self.highest()).count() as u64
    }

    /// Returns true if no counter was ever raised.
    pub fn is_empty(&self) -> bool {
        self.cells.iter().all(|&byte| byte == 0)
    }

    /// Returns the bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.cells.capacity() + self.coins.memory()
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("len", Parameter::Count(self.len)),
            ("counter_bits", Parameter::Count(self.bits.into())),
            ("base", Parameter::Number(self.base())),
        ]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        let used = self.values().filter(|&value| value > 0).count();
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("reach", Parameter::Number(self.reach())),
                    ("standard_error", Parameter::Ratio(super::MorrisCounter::standard_error(self.base()))),
                    ("saturated", Parameter::Count(self.saturated())),
                ],
            ]
            .concat(),
            scheme: self.scheme,
            items: self.total(),
            fill: Some(used as f64 / self.len as f64),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(CounterArray, keys, prepared_frequency);

impl InsertKeys for CounterArray {
    /// Counts one event of each key. In an array without keys, a key is the index, as in queries.
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme.require_same(batch.scheme())?;
        match self.scheme.kind() {
            KeyKind::Hash => self.increment_batch(batch.hashes()),
            _ => self.increment_hashes(batch.hashes()),
        }
    }
}

impl CounterArray {
    /// Returns the answers for single keys, after counting once how many counters are in use.
    pub fn answers(&self) -> CounterAnswers<'_> {
        let used = self.values().filter(|&value| value > 0).count();
        let shared = if self.scheme.kind() == KeyKind::Hash { 0.0 } else { used as f64 / self.len as f64 };
        CounterAnswers { array: self, shared }
    }
}

/// Answers about single keys of a [`CounterArray`].
#[derive(Debug, Clone, Copy)]
pub struct CounterAnswers<'a> {
    array: &'a CounterArray,
    /// The probability that a key shares its counter with another.
    shared: f64,
}

/// Returns how often a key occurred, at 95 %. While the probability of a shared counter is small,
/// it is part of the 5 %; otherwise there is no lower bound. In an array without keys, the key is
/// the index.
impl Frequency for CounterAnswers<'_> {
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        let Self { array, shared } = *self;
        let index = match (array.scheme.kind(), key) {
            (KeyKind::Hash, KeyRef::Hash(index) | KeyRef::Integer(index)) => index,
            _ => array.index_of(array.scheme.hash_ref(key)?),
        };
        let confidence = Confidence::new(Confidence::P95.level() + shared).unwrap_or(Confidence::P95);
        let all = array.estimate_at(index, confidence)?;
        if shared == 0.0 || all.value() == 0.0 {
            return Ok(all);
        }
        let lower = if shared < 0.04 { all.lower() } else { 0.0 };
        Ok(Estimate::probable(all.value(), lower, all.upper(), Confidence::P95))
    }
}

// ---- merge ----

impl CounterArray {
    /// Adds the other array's events to this one, index by index. Each counter then has the
    /// distribution of a counter of both streams. Random numbers are drawn from this array's
    /// generator only, as many for each pair as the smaller of the two values.
    ///
    /// # Errors
    /// If the number, base or width of the counters differ, or the schemes of their keys; the array
    /// is unchanged then.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        if self.len != other.len {
            let advice = "counters are merged index by index: build both arrays with the same length";
            return Err(Error::incompatible("len", self.len, other.len, advice));
        }
        require_same_scale((self.base(), self.bits), (other.base(), other.bits))?;
        by_width!(self.bits, BITS => self.merge_cells::<BITS>(other));
        Ok(())
    }

    fn merge_cells<const BITS: u8>(&mut self, other: &Self) {
        let Self { scale, cells, coins, generator, .. } = self;
        for index in 0..self.len as usize {
            let (mine, theirs) = (get::<BITS>(cells, index), get::<BITS>(&other.cells, index));
            let joined = scale.join(mine, theirs, |distance| coins.toss::<BITS>(distance, generator));
            set::<BITS>(cells, index, joined);
        }
    }
}

impl Merge for CounterArray {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.generator = self.generator.fork(part);
    }
}

// ---- bytes ----

impl CounterArray {
    /// Returns the array as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the array that the bytes hold. It continues exactly as the stored array would have.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a `CounterArray`: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for CounterArray {
    const FAMILY: Family = Family::CounterArray;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.len);
        writer.u8(self.bits);
        writer.u64(self.base().to_bits());
        self.generator.encode(writer);
        writer.bytes(&self.cells);
    }
}

impl Decode for CounterArray {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let scheme = header.scheme;
        if scheme.kind() == KeyKind::Hash {
            super::require_no_keys(header)?;
        }
        let len = reader.u64("len")?;
        check_len(len).map_err(|error| Error::contents("len", error.expected(), len))?;
        let bits = reader.u8("bits")?;
        check_bits(bits).map_err(|error| Error::contents("bits", error.expected(), bits))?;
        let base = f64::from_bits(reader.u64("base")?);
        let scale =
            Scale::new(base, bits).map_err(|error| Error::contents("base", error.expected(), base))?;
        let generator = Generator::decode(reader)?;
        let cells = reader.bytes("counters", bytes_for(len, bits))?;
        let unused_half =
            if bits == 4 && len % 2 == 1 { cells.last().map_or(0, |byte| byte >> 4) } else { 0 };
        if unused_half != 0 {
            return Err(Error::contents("counters", "zero after the last of 4 bits", unused_half));
        }
        let coins = Coins::new(scale);
        let array = Self { scheme, scale, bits, len, cells: cells.to_vec(), coins, generator };
        if let Some(value) = array.values().find(|&value| value > scale.highest()) {
            return Err(Error::contents("counters", format_args!("values up to {}", scale.highest()), value));
        }
        Ok(array)
    }
}
