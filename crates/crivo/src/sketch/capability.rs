//! The capabilities of a sketch, what it takes and what it answers, as one small trait each.

use std::fmt;

use super::Sketch;
use crate::codec::AnySketch;
use crate::error::{Error, Result};
use crate::estimate::Estimate;
use crate::frequency::Hitter;
use crate::keys::{KeyBatch, KeyRef};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::quantiles::Bar;

/// A sketch that needs only the hash of a key.
pub trait InsertHashes: Sketch {
    /// Adds one hash, which must come from the sketch's [`scheme`](Sketch::scheme).
    fn insert_hash(&mut self, hash: u64);

    /// Adds many hashes. Same result as one by one, but memory accesses can overlap.
    fn insert_hashes(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.insert_hash(hash);
        }
    }
}

/// A sketch that takes batches of keys, which rows, Arrow columns and lists are converted to.
///
/// Sketches that implement [`InsertHashes`] have this automatically. Sketches that keep the keys
/// themselves (heavy hitters, samples, ranges) implement it directly.
pub trait InsertKeys {
    /// Adds every key of the batch.
    ///
    /// # Errors
    /// If the batch was hashed under another [`KeyScheme`](crate::keys::KeyScheme); no key is
    /// inserted then.
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()>;
}

impl<S: InsertHashes> InsertKeys for S {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme().require_same(batch.scheme())?;
        self.insert_hashes(batch.hashes());
        Ok(())
    }
}

/// A sketch that counts each key as often as its weight says.
pub trait AddWeights: InsertKeys {
    /// Counts one key `weight` times.
    ///
    /// # Errors
    /// The errors of [`check_key`](Self::check_key); the key is not counted then.
    fn add_ref(&mut self, key: KeyRef<'_>, weight: u64) -> Result<()>;

    /// Counts key `i` of the batch `weights[i]` times.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme, or the numbers of keys and weights differ.
    fn add_batch(&mut self, batch: &KeyBatch<'_>, weights: &[u64]) -> Result<()>;

    /// Checks that the sketch can count a key.
    ///
    /// # Errors
    /// If the key is of another kind, too long, or outside the sketch's universe.
    fn check_key(&self, key: KeyRef<'_>) -> Result<()>;
}

/// A sketch of numbers.
pub trait InsertNumbers {
    /// Adds every number.
    fn insert_numbers(&mut self, numbers: &[f64]);
}

/// A counter of events that have no keys.
pub trait CountEvents {
    /// Counts `events` events.
    fn add(&mut self, events: u64);

    /// Returns the number of events, with bounds at 95 %.
    fn estimate(&self) -> Estimate;
}

/// A filter that answers "is it in there?" from the hash of a key.
pub trait ContainsHashes {
    /// Returns true if the hash may be in the filter; `false` is certain.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Answers for many hashes, in their order, and replaces the content of `found`. The answers
    /// are the same as one by one, but memory accesses can overlap.
    fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        found.clear();
        found.extend(hashes.iter().map(|&hash| self.contains_hash(hash)));
    }
}

/// A filter: a sketch that answers "is it in there?" for keys.
pub trait Membership {
    /// Returns true if the key may be in the filter; `false` is certain.
    ///
    /// # Errors
    /// If the key is not of the filter's kind.
    fn contains_ref(&self, key: KeyRef<'_>) -> Result<bool>;

    /// Answers for a batch of keys, in their order, and replaces the content of `found`.
    ///
    /// # Errors
    /// If the batch was hashed under another scheme.
    fn contains_batch(&self, batch: &KeyBatch<'_>, found: &mut Vec<bool>) -> Result<()>;

    /// Adds the keys of these hashes one after the other. Replaces the content of `fresh` with true
    /// for each key that was certainly new.
    ///
    /// # Errors
    /// If the filter does not take hashes; no key is added then.
    fn insert_new(&mut self, hashes: &[u64], fresh: &mut Vec<bool>) -> Result<()>;

    /// Returns the filter of the keys that are in both sets. It stores that it is an intersection.
    ///
    /// # Errors
    /// If the other sketch is not a filter that can be combined with this one, or if the schemes
    /// differ.
    fn intersection(&self, other: &AnySketch) -> Result<AnySketch>;

    /// Returns true if keys can be removed from this kind of filter.
    fn can_remove(&self) -> bool;

    /// Removes the keys of the other filter, which must be a part of this one.
    ///
    /// # Errors
    /// If this kind of filter cannot remove keys, if the other filter has another kind, size or
    /// scheme, or if it is certainly not a part of this one; the filter is unchanged then.
    fn subtract(&mut self, other: &AnySketch) -> Result<()>;

    /// Returns the number of different keys, with bounds at 95 %.
    fn items(&self) -> Estimate;

    /// Returns how many different keys the filter was made for, if it can be overfilled.
    fn capacity(&self) -> Option<u64>;

    /// Returns the probability that an absent key is taken for a member, at the present fill.
    fn false_positive_rate(&self) -> f64;
}

/// Answers how often single keys occurred.
pub trait Frequency {
    /// Returns how often a key occurred, with bounds.
    ///
    /// # Errors
    /// If the key is not of the sketch's kind, or outside its universe.
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate>;
}

impl<F: Frequency + ?Sized> Frequency for &F {
    fn frequency_ref(&self, key: KeyRef<'_>) -> Result<Estimate> {
        (**self).frequency_ref(key)
    }
}

/// A sketch that lists the most frequent keys.
pub trait Top {
    /// Returns at most `count` of the most frequent keys, most frequent first, with certain bounds.
    fn top(&self, count: usize) -> Vec<Hitter>;
}

/// A counter of different keys.
pub trait Cardinality {
    /// Returns the number of different keys, with bounds at 95 %.
    fn distinct(&self) -> Estimate;

    /// Returns the number of different keys up to which the count is exact. Returns 0 if no count
    /// is certainly exact.
    fn exact_up_to(&self) -> u64 {
        0
    }

    /// Returns true if the sketch has reached its limit, so that only a lower bound is known.
    fn is_full(&self) -> bool {
        false
    }
}

/// A sketch that answers which value has a given rank.
pub trait Quantiles {
    /// Returns the value below which that share of all values lies, with bounds. Returns `None` if
    /// there are no values.
    fn quantile(&self, share: f64) -> Option<Estimate>;

    /// Returns how many values are below `limit`, with bounds.
    fn count_below(&self, limit: f64) -> Estimate;

    /// Returns the number of values, which stops at [`u64::MAX`].
    fn count(&self) -> u64;

    /// Returns the share of all values that are at most `limit`, with bounds. Returns `None` if
    /// there are no values.
    fn rank(&self, limit: f64) -> Option<Estimate> {
        let (below, all) = (self.count_below(limit.next_up()), self.count() as f64);
        let share = |count: f64| (count / all).min(1.0);
        let [value, lower, upper] = [below.value(), below.lower(), below.upper()].map(share);
        (all > 0.0).then(|| Estimate::probable(value, lower, upper, below.confidence()))
    }

    /// Returns a histogram of `bars` bars of equal width, at most [`Bar::MOST`], with bounds for each
    /// bar. If all values are equal, or their range is more than floats can divide, there is one bar.
    fn histogram(&self, bars: usize) -> Vec<Bar> {
        let end = |share| self.quantile(share).map(Estimate::value);
        let Some((least, greatest)) = end(0.0).zip(end(1.0)) else { return Vec::new() };
        let limits = Bar::limits(least, greatest, bars);
        let below: Vec<Estimate> = limits.iter().map(|&limit| self.count_below(limit)).collect();
        let Some(last) = limits.len().checked_sub(2) else { return Vec::new() };
        let bar = |bar: usize| {
            let (from, to) = (below[bar], below[bar + 1]);
            let all = self.count() as f64;
            let to = if bar == last { Estimate::exact(all) } else { to };
            let [value, lower, upper] =
                [to.value() - from.value(), to.lower() - from.upper(), to.upper() - from.lower()];
            let sureness = if from.is_certain() { to.confidence() } else { from.confidence() };
            let count = Estimate::probable(value, lower, upper, sureness).limited_to(0.0, all);
            Bar { from: limits[bar], to: limits[bar + 1], count }
        };
        (0..=last).map(bar).collect()
    }
}

/// A sample of the keys of a stream.
pub trait Sample {
    /// Returns the sampled keys.
    fn sample(&self) -> Box<dyn ExactSizeIterator<Item = KeyRef<'_>> + '_>;
}

/// A capability of a sketch, for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Capability {
    /// [`InsertHashes`].
    Hashes,
    /// [`InsertKeys`].
    Keys,
    /// [`AddWeights`].
    Weights,
    /// [`InsertNumbers`].
    Numbers,
    /// [`CountEvents`].
    Events,
    /// [`Membership`].
    Membership,
    /// [`Frequency`].
    Frequency,
    /// [`Top`].
    Top,
    /// [`Cardinality`].
    Cardinality,
    /// [`Quantiles`].
    Quantiles,
    /// [`Sample`].
    Samples,
    /// Removing keys: [`Membership::subtract`].
    Removal,
}

impl Capability {
    /// Every capability.
    pub const ALL: &[Self] = &[
        Self::Hashes,
        Self::Keys,
        Self::Weights,
        Self::Numbers,
        Self::Events,
        Self::Membership,
        Self::Frequency,
        Self::Top,
        Self::Cardinality,
        Self::Quantiles,
        Self::Samples,
        Self::Removal,
    ];

    /// Returns true if a sketch has this capability.
    pub fn is_in(self, sketch: &mut dyn Sketch) -> bool {
        match self {
            Self::Hashes => sketch.takes_hashes().is_some(),
            Self::Keys => sketch.takes_keys().is_some(),
            Self::Weights => sketch.takes_weights().is_some(),
            Self::Numbers => sketch.takes_numbers().is_some(),
            Self::Events => sketch.counts_events().is_some(),
            Self::Membership => sketch.answers_membership().is_some(),
            Self::Frequency => sketch.answers_frequency().is_some(),
            Self::Top => sketch.answers_top().is_some(),
            Self::Cardinality => sketch.answers_cardinality().is_some(),
            Self::Quantiles => sketch.answers_quantiles().is_some(),
            Self::Samples => sketch.answers_samples().is_some(),
            Self::Removal => sketch.answers_membership().is_some_and(Membership::can_remove),
        }
    }

    /// Returns a sentence that names sketches with this capability.
    pub(crate) const fn had_by(self) -> &'static str {
        match self {
            Self::Hashes | Self::Keys => "HyperLogLog and Bloom are such sketches",
            Self::Weights => "CountMin and HeavyHitters are such sketches",
            Self::Numbers | Self::Quantiles => "NumberQuantiles is such a sketch",
            Self::Events => "SampledCounter and MorrisCounter are such sketches",
            Self::Membership => "Bloom is such a sketch",
            Self::Frequency => "CountMin is such a sketch",
            Self::Top => "HeavyHitters is such a sketch",
            Self::Cardinality => "HyperLogLog is such a sketch",
            Self::Samples => "Reservoir is such a sketch",
            Self::Removal => "CountingBloom is such a sketch",
        }
    }

    /// Returns the error for a sketch that lacks this capability. It says what the sketch is, what
    /// it answers, and which sketches have the capability.
    #[cold]
    pub fn missing_in(self, sketch: &dyn Sketch) -> Error {
        Error::unsupported(self, sketch.family())
    }
}

/// The capability as the end of "a sketch that …".
impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Hashes => "takes hashes",
            Self::Keys => "takes keys",
            Self::Weights => "takes keys with weights",
            Self::Numbers => "takes numbers",
            Self::Events => "counts events",
            Self::Membership => "knows whether a key is in it",
            Self::Frequency => "knows how often a key came",
            Self::Top => "lists the most frequent keys",
            Self::Cardinality => "counts different keys",
            Self::Quantiles => "knows quantiles",
            Self::Samples => "holds a sample",
            Self::Removal => "lets keys be taken out",
        })
    }
}
