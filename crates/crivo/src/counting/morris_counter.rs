//! Morris counter: the order of magnitude in a few bits.
//!
//! **Question.** How many events were there, from one to more than a 64-bit integer holds, in one
//! byte?
//!
//! **Guarantee.** With base `b` the estimate `(b^n − 1)/(b − 1)` of `k` events from the value `n`
//! is unbiased, with variance `(b − 1)k(k − 1)/2`: a relative standard error of `√((b − 1)/2)`
//! whatever the count. Base 2 is off by 71 % and reaches 2^15 − 1 in 4 bits, 2^255 − 1 in 8. An
//! 8-bit counter that must reach 10^10 takes `b = 1.084` and 20 %; 16 bits reach it with 1.0002 and
//! 1.1 %. Intervals follow from the exact distribution of the value, so they hold at every count.
//! At the highest value the counter stays and says so.
//!
//! **Idea.** Keep the logarithm of the count. A counter at `n` is raised with probability `b^−n`,
//! so that each step stands for `b` times as many events as the one before.
//!
//! **When not to use it.** If a 64-bit integer can be afforded; if the error must fall as events
//! come in (a [`SampledCounter`](super::SampledCounter) does that); for millions of counters, take
//! a [`CounterArray`](super::CounterArray), which keeps one generator for all.
//!
//! **Sources.** Morris: *Counting large numbers of events in small registers* (1978). Flajolet:
//! *Approximate counting: a detailed analysis* (1985). Nelson and Yu: *Optimal bounds for
//! approximate counting* (2022), also for the merge.
//!
//! **Where this departs from the papers.** The number of events until the next step is drawn at
//! once and kept, so that `add(a)` and `add(b)` leave the same bytes as `add(a + b)`, at the cost
//! of one draw a step. The interval inverts the distribution of the number of events that a value
//! takes, not a normal approximation of the estimate, whose upper tail is heavy.

use std::ops::RangeInclusive;

use super::scale::Scale;
use super::skip::Skip;
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::random::Generator;
use crate::sketch::{CountEvents, Merge, impl_sketch};

/// Counts events on a logarithmic scale; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::counting::MorrisCounter;
///
/// let mut views = MorrisCounter::for_reach(1e10, 8, 7)?;
/// views.add(3_000_000);
/// assert!(views.value() < 256 && views.estimate().covers(3_000_000.0));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct MorrisCounter {
    scale: Scale,
    bits: u8,
    value: u16,
    skip: Skip,
    generator: Generator,
}

// ---- limits and sizing ----

impl MorrisCounter {
    /// The possible bases. The greatest, 2, is the one that Morris proposed. At the least, 16 bits
    /// hold little more than an exact counter would.
    pub const BASES: RangeInclusive<f64> = Scale::BASES;

    /// Widths in bits: with fewer there is hardly a counter, with more an exact one does.
    pub const COUNTER_BITS: RangeInclusive<u8> = 4..=16;

    /// The standard error of a large count, as a share of it: `√((base − 1)/2)`.
    pub fn standard_error(base: f64) -> f64 {
        libm::sqrt((base - 1.0) / 2.0)
    }

    /// The base whose standard error is `error`: `1 + 2·error²`.
    ///
    /// # Errors
    /// If that base is not in [`BASES`](Self::BASES).
    pub fn base_for_error(error: f64) -> Result<f64> {
        let base = 1.0 + 2.0 * error * error;
        if error > 0.0 && Self::BASES.contains(&base) {
            Ok(base)
        } else {
            let (least, most) = Self::BASES.into_inner();
            let range = [least, most].map(Self::standard_error);
            let allowed =
                format_args!("a standard error from {:.5} to {:.5}", range[0], range[1]).to_string();
            Err(Error::parameter("error", allowed, error))
        }
    }

    /// The smallest base with which a counter of that many bits reaches that many events: the mean
    /// number at which it arrives at its highest value.
    ///
    /// # Errors
    /// If the width is not in [`COUNTER_BITS`](Self::COUNTER_BITS), or if no base of the range
    /// reaches so far or so little.
    ///
    /// ```
    /// use crivo::counting::MorrisCounter;
    /// let base = MorrisCounter::base_for(1e10, 8)?;
    /// assert!((base - 1.084).abs() < 0.001);
    /// assert!((MorrisCounter::standard_error(base) - 0.20).abs() < 0.01);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn base_for(reach: f64, counter_bits: u8) -> Result<f64> {
        check_bits(counter_bits)?;
        Scale::base_for(reach, counter_bits)
    }
}

fn check_bits(bits: u8) -> Result<()> {
    if MorrisCounter::COUNTER_BITS.contains(&bits) {
        Ok(())
    } else {
        let (least, most) = MorrisCounter::COUNTER_BITS.into_inner();
        Err(Error::parameter("counter bits", format_args!("{least} to {most}"), bits))
    }
}

// ---- construction ----

impl MorrisCounter {
    /// A counter at 0 of the given base and width, tossing coins from the seed. Counters that will
    /// be merged need different seeds.
    ///
    /// # Errors
    /// If base or width are not in [`BASES`](Self::BASES) and [`COUNTER_BITS`](Self::COUNTER_BITS).
    pub fn new(base: f64, counter_bits: u8, seed: u64) -> Result<Self> {
        check_bits(counter_bits)?;
        let scale = Scale::new(base, counter_bits)?;
        let mut generator = Generator::new(seed);
        let skip = Skip::draw(scale.chance(0), &mut generator);
        Ok(Self { scale, bits: counter_bits, value: 0, skip, generator })
    }

    /// The most precise counter of that many bits that reaches that many events.
    ///
    /// # Errors
    /// As for [`base_for`](Self::base_for).
    pub fn for_reach(reach: f64, counter_bits: u8, seed: u64) -> Result<Self> {
        Self::new(Self::base_for(reach, counter_bits)?, counter_bits, seed)
    }

    /// A counter with that standard error; how far it reaches is up to its width.
    ///
    /// # Errors
    /// As for [`base_for_error`](Self::base_for_error), and if the width is not in
    /// [`COUNTER_BITS`](Self::COUNTER_BITS).
    pub fn for_error(error: f64, counter_bits: u8, seed: u64) -> Result<Self> {
        Self::new(Self::base_for_error(error)?, counter_bits, seed)
    }
}

// ---- update ----

impl MorrisCounter {
    /// One event.
    #[inline]
    pub fn increment(&mut self) {
        self.add(1);
    }

    /// Many events: the same as one by one, at the cost of the steps that the value takes.
    #[inline]
    pub fn add(&mut self, events: u64) {
        // At the highest value nothing changes any more, the skip neither.
        if self.value < self.scale.highest() && !self.skip.pass_all(events) {
            self.take_steps(events);
        }
    }

    /// Adds events that raise the value, or reach the end of an open skip: out of line, so that
    /// loops around [`add`](Self::add) stay small.
    #[cold]
    #[inline(never)]
    fn take_steps(&mut self, events: u64) {
        let Self { scale, value, skip, generator, .. } = self;
        let mut left = events;
        while *value < scale.highest() {
            let Some(rest) = skip.pass(left, || scale.chance(*value), generator) else { return };
            *value += 1;
            *skip = Skip::draw(scale.chance(*value), generator);
            left = rest;
        }
    }
}

// ---- query ----

impl MorrisCounter {
    /// Returns the number of events, with bounds at 95 %.
    pub fn estimate(&self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// The number of events, with bounds at the given confidence. None at all is exact; a saturated
    /// counter has no upper bound.
    pub fn estimate_at(&self, confidence: Confidence) -> Estimate {
        self.scale.estimate(self.value, confidence)
    }

    /// The counter's value: how often it was raised.
    pub fn value(&self) -> u16 {
        self.value
    }

    /// The base of the scale.
    pub fn base(&self) -> f64 {
        self.scale.base()
    }

    /// The width in bits.
    pub fn counter_bits(&self) -> u8 {
        self.bits
    }

    /// The highest value: `2^bits − 1`, or where the estimate would pass 2^1000, if that comes
    /// first.
    pub fn highest(&self) -> u16 {
        self.scale.highest()
    }

    /// The largest estimate, that of the highest value.
    pub fn reach(&self) -> f64 {
        self.scale.events(self.highest())
    }

    /// Returns true if nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.value == 0
    }

    /// Returns true if the value is at its highest: it stays there, and only a lower bound is
    /// known.
    pub fn is_saturated(&self) -> bool {
        self.value == self.highest()
    }

    /// Bytes of memory in use. The value takes few of them: see
    /// [`CounterArray`](super::CounterArray).
    pub fn memory(&self) -> usize {
        size_of::<Self>()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("base", Parameter::Number(self.base())), ("counter_bits", Parameter::Count(self.bits.into()))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("value", Parameter::Count(self.value.into())),
                    ("reach", Parameter::Number(self.reach())),
                    ("standard_error", Parameter::Ratio(Self::standard_error(self.base()))),
                ],
            ]
            .concat(),
            scheme: self.key_scheme(),
            items: self.estimate(),
            fill: Some(f64::from(self.value) / f64::from(self.highest())),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(MorrisCounter, events);

impl CountEvents for MorrisCounter {
    fn add(&mut self, events: u64) {
        self.add(events);
    }

    fn estimate(&self) -> Estimate {
        self.estimate()
    }
}

// ---- merge ----

impl MorrisCounter {
    /// Counts the other's events too. The result is distributed as the counter of both streams, so
    /// it is as precise; this counter's coins decide it and are the ones that go on.
    ///
    /// # Errors
    /// If base or width differ; the counter is unchanged then.
    ///
    /// ```
    /// use crivo::counting::MorrisCounter;
    /// let (mut monday, mut tuesday) = (MorrisCounter::new(1.01, 16, 1)?, MorrisCounter::new(1.01, 16, 2)?);
    /// monday.add(10_000);
    /// tuesday.add(20_000);
    /// monday.merge(&tuesday)?;
    /// assert!(monday.estimate().covers(30_000.0));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        require_same_scale((self.base(), self.bits), (other.base(), other.bits))?;
        let Self { scale, generator, .. } = self;
        let joined =
            scale.join(self.value, other.value, |distance| generator.unit() < scale.chance(distance));
        if joined != self.value {
            self.value = joined;
            self.skip = Skip::draw(self.scale.chance(joined), &mut self.generator);
        }
        Ok(())
    }
}

/// Refuses counters whose values stand for different numbers.
pub(super) fn require_same_scale(mine: (f64, u8), theirs: (f64, u8)) -> Result<()> {
    let advice = "only counters of one base and width can be merged";
    if mine.0 != theirs.0 {
        return Err(Error::incompatible("base", mine.0, theirs.0, advice));
    }
    if mine.1 != theirs.1 {
        return Err(Error::incompatible("counter bits", mine.1, theirs.1, advice));
    }
    Ok(())
}

impl Merge for MorrisCounter {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.generator = self.generator.fork(part);
        self.skip = Skip::draw(self.scale.chance(self.value), &mut self.generator);
    }
}

// ---- bytes ----

impl MorrisCounter {
    /// Returns the counter as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// The counter that the bytes hold; it goes on as the stored one would have.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a `MorrisCounter`: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for MorrisCounter {
    const FAMILY: Family = Family::MorrisCounter;

    fn key_scheme(&self) -> KeyScheme {
        super::NO_KEYS
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u64(self.base().to_bits());
        writer.u8(self.bits);
        writer.u16(self.value);
        self.skip.encode(writer);
        self.generator.encode(writer);
    }
}

impl Decode for MorrisCounter {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        super::require_no_keys(header)?;
        let base = f64::from_bits(reader.u64("base")?);
        let bits = reader.u8("bits")?;
        check_bits(bits).map_err(|error| Error::contents("bits", error.expected(), bits))?;
        let scale =
            Scale::new(base, bits).map_err(|error| Error::contents("base", error.expected(), base))?;
        let value = reader.u16("value")?;
        if value > scale.highest() {
            return Err(Error::contents("value", format_args!("at most {}", scale.highest()), value));
        }
        let skip = Skip::decode(reader, scale.chance(value))?;
        let generator = Generator::decode(reader)?;
        Ok(Self { scale, bits, value, skip, generator })
    }
}
