//! Sampled counter: every p-th event on average.
//!
//! **Question.** How many events were there, when a counter of few bits must last for many, or when
//! touching the counter at every event costs too much?
//!
//! **Guarantee.** Each event counts with probability `p`, so after `k` events the value is
//! binomial: mean `kp`, variance `kp(1 − p)`. The estimate `value/p` is unbiased with variance
//! `k(1 − p)/p`, a relative standard error of `√((1 − p)/(pk))`: 2 % after 10,000 events at
//! `p = 1/5`, 7.9 % at `p = 1/64`. The interval is that of Clopper and Pearson, so it covers the
//! truth at small counts too. With `p = 1` the answer is exact.
//!
//! **Idea.** Count half of the events, and twice the count is the answer. `p = 1/2` saves one bit,
//! `p = 1/64` six; the error falls with the number of events, unlike that of a
//! [`MorrisCounter`](super::MorrisCounter), whose bits grow more slowly.
//!
//! **When not to use it.** If a 64-bit integer can be afforded and touched. For few events at a
//! small `p`, where the error is large; for counts of unknown magnitude, take a `MorrisCounter`.
//!
//! **Sources.** The binomial distribution; Vitter: *Faster methods for random sampling* (1984) for
//! skipping; Clopper and Pearson (1934) for the interval.
//!
//! **Where this departs from the plain algorithm.** No coin is tossed for an event: the number of
//! events until the next one that counts is drawn at once and kept. So `add(a)` and `add(b)` leave
//! the same bytes as `add(a + b)`, and the cost is one draw for each event that counts.

use std::ops::RangeInclusive;

use super::skip::Skip;
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::KeyScheme;
use crate::math::Failures;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::random::{Generator, log_of_failure};
use crate::sketch::{CountEvents, Merge, impl_sketch};

/// Counts each event with a fixed probability; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::counting::SampledCounter;
///
/// let mut requests = SampledCounter::new(1.0 / 64.0, 7)?;
/// requests.add(1_000_000);
/// assert!(requests.value() < 20_000);
/// assert!(requests.estimate().covers(1_000_000.0));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SampledCounter {
    probability: f64,
    value: u64,
    skip: Skip,
    generator: Generator,
}

// ---- limits and sizing ----

impl SampledCounter {
    /// From one in 2^64, below which no event at all would be counted, to every event.
    pub const PROBABILITIES: RangeInclusive<f64> = 1.0 / (1_u128 << 64) as f64..=1.0;

    /// The standard error after that many events, as a share of them: `√((1 − p)/(pk))`.
    pub fn standard_error(probability: f64, events: f64) -> f64 {
        libm::sqrt((1.0 - probability) / (probability * events))
    }

    /// The probability whose standard error is `error` after that many events: `1/(1 + k·error²)`.
    ///
    /// # Errors
    /// If the error is not positive, if there is not at least one event, or if the probability
    /// would be below the range.
    ///
    /// ```
    /// use crivo::counting::SampledCounter;
    /// assert_eq!(SampledCounter::probability_for(0.5, 12.0)?, 0.25);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn probability_for(error: f64, events: f64) -> Result<f64> {
        if !(error > 0.0 && error.is_finite()) {
            return Err(Error::parameter("error", "a positive standard error, such as 0.01", error));
        }
        if !(events >= 1.0 && events.is_finite()) {
            return Err(Error::parameter("events", "at least 1", events));
        }
        check_probability(1.0 / (1.0 + events * error * error))
    }
}

fn check_probability(probability: f64) -> Result<f64> {
    if SampledCounter::PROBABILITIES.contains(&probability) {
        Ok(probability)
    } else {
        Err(Error::parameter("probability", "above 0 (at least 2^-64) and at most 1", probability))
    }
}

// ---- construction ----

impl SampledCounter {
    /// A counter at 0 that counts each event with the given probability, tossing coins from the
    /// seed. Counters that will be merged need different seeds.
    ///
    /// # Errors
    /// If the probability is not in [`PROBABILITIES`](Self::PROBABILITIES).
    pub fn new(probability: f64, seed: u64) -> Result<Self> {
        let probability = check_probability(probability)?;
        let log_of_failure = log_of_failure(probability);
        let mut generator = Generator::new(seed);
        let skip = Skip::draw_with(log_of_failure, &mut generator);
        Ok(Self { probability, value: 0, skip, generator })
    }

    /// A counter whose standard error after that many events is `error`.
    ///
    /// # Errors
    /// As for [`probability_for`](Self::probability_for).
    pub fn for_error(error: f64, events: f64, seed: u64) -> Result<Self> {
        Self::new(Self::probability_for(error, events)?, seed)
    }
}

// ---- update ----

impl SampledCounter {
    /// One event.
    #[inline]
    pub fn increment(&mut self) {
        self.add(1);
    }

    /// Many events: the same as one by one, at the cost of those that count.
    #[inline]
    pub fn add(&mut self, events: u64) {
        if !self.skip.pass_all(events) {
            self.count_some(events);
        }
    }

    /// Adds events if at least one of them is counted. It is out of line, so that loops around
    /// [`add`](Self::add) stay small.
    #[cold]
    #[inline(never)]
    fn count_some(&mut self, events: u64) {
        if self.probability == 1.0 {
            self.value = self.value.saturating_add(events);
            return;
        }
        let mut left = events;
        while let Some(rest) = self.skip.pass(left, || self.probability, &mut self.generator) {
            self.value = self.value.saturating_add(1);
            self.skip = Skip::draw_with(log_of_failure(self.probability), &mut self.generator);
            left = rest;
        }
    }
}

// ---- query ----

impl SampledCounter {
    /// Returns the number of events, with bounds at 95 %.
    pub fn estimate(&self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// The number of events, with bounds at the given confidence; exact, and certain, if every
    /// event counts. There are never fewer events than the value.
    pub fn estimate_at(&self, confidence: Confidence) -> Estimate {
        let value = self.value as f64;
        if self.is_saturated() {
            return Estimate::certain(value / self.probability, value, f64::INFINITY);
        }
        if self.probability == 1.0 {
            return Estimate::exact(value);
        }
        let level = confidence.level();
        let lower = if self.value == 0 { 0.0 } else { value + self.failures_before(value).lower(level) };
        let upper = value + 1.0 + self.failures_before(value + 1.0).upper(level);
        Estimate::probable(value / self.probability, lower, upper, confidence)
            .limited_to(value, f64::INFINITY)
    }

    /// The distribution of the number of events that do not count before the n-th that does.
    fn failures_before(&self, n: f64) -> Failures {
        let missed = 1.0 - self.probability;
        Failures {
            mean: n * missed / self.probability,
            variation: 1.0 / (n * missed),
            asymmetry: 1.0 + missed,
        }
    }

    /// Returns how many events counted.
    pub fn value(&self) -> u64 {
        self.value
    }

    /// The probability with which an event counts.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Returns true if no event counted yet.
    pub fn is_empty(&self) -> bool {
        self.value == 0
    }

    /// Returns true if the value is the largest that is stored: it stays there, and only a lower
    /// bound is known.
    pub fn is_saturated(&self) -> bool {
        self.value == u64::MAX
    }

    /// Bytes of memory in use.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("probability", Parameter::Ratio(self.probability))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [self.parameters(), vec![("value", Parameter::Count(self.value))]].concat(),
            scheme: self.key_scheme(),
            items: self.estimate(),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(SampledCounter, events);

impl CountEvents for SampledCounter {
    fn add(&mut self, events: u64) {
        self.add(events);
    }

    fn estimate(&self) -> Estimate {
        self.estimate()
    }
}

// ---- merge ----

impl SampledCounter {
    /// Counts the other's events too: the values add up, and the result is distributed as the
    /// counter of both streams. This counter's coins are the ones that go on.
    ///
    /// # Errors
    /// If the probabilities differ; the counter is unchanged then.
    ///
    /// ```
    /// use crivo::counting::SampledCounter;
    /// let (mut monday, mut tuesday) = (SampledCounter::new(0.5, 1)?, SampledCounter::new(0.5, 2)?);
    /// monday.add(1000);
    /// tuesday.add(2000);
    /// let value = monday.value() + tuesday.value();
    /// monday.merge(&tuesday)?;
    /// assert_eq!(monday.value(), value);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.probability != other.probability {
            return Err(Error::incompatible(
                "probability",
                self.probability,
                other.probability,
                "only counters of one probability can be merged",
            ));
        }
        self.value = self.value.saturating_add(other.value);
        Ok(())
    }
}

impl Merge for SampledCounter {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.generator = self.generator.fork(part);
        self.skip = Skip::draw_with(log_of_failure(self.probability), &mut self.generator);
    }
}

// ---- bytes ----

impl SampledCounter {
    /// Returns the counter as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// The counter that the bytes hold; it goes on as the stored one would have.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a `SampledCounter`: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for SampledCounter {
    const FAMILY: Family = Family::SampledCounter;

    fn key_scheme(&self) -> KeyScheme {
        super::NO_KEYS
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.probability.to_bits());
        writer.u64(self.value);
        self.skip.encode(writer);
        self.generator.encode(writer);
    }
}

impl Decode for SampledCounter {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        super::require_no_keys(header)?;
        let probability = check_probability(f64::from_bits(reader.u64("probability")?))
            .map_err(|error| Error::contents("probability", error.expected(), error.found()))?;
        let value = reader.u64("value")?;
        let skip = Skip::decode(reader, probability)?;
        let generator = Generator::decode(reader)?;
        Ok(Self { probability, value, skip, generator })
    }
}
