//! DDSketch: quantiles of numbers with a certain relative error.
//!
//! **Question.** What is the median of these numbers, and what is their 99th percentile? How many
//! are below a limit?
//!
//! **Guarantee.** With a relative error `α` the answer for a quantile `x` is a number from
//! `x(1 − α)` to `x(1 + α)`. That holds for one number or 10^18, in any order, for any values: no
//! input can break the bounds of an answer. The condition is that the numbers fall into at most
//! [`max_bins`](DDSketch::max_bins) bins. Beyond that, pairs of bins are joined as often as needed,
//! and each time `α` about doubles. [`relative_error`](DDSketch::relative_error) and the bounds of
//! every answer then state the larger error. The count, sum, mean, least and greatest number are
//! exact.
//!
//! Merging is exact, bit for bit. A sketch depends only on the numbers and their weights, never on
//! their order or on how they were split.
//!
//! **Idea.** Count numbers in bins whose borders grow by the factor `γ = (1 + α)/(1 − α)`. Any
//! number of a bin is within `α` of a number in its middle. Numbers from a billionth to a billion
//! take 2,000 bins at 1 %. In real data most of these are empty and take no memory.
//!
//! *Why the order does not matter.* Joining pairs maps bin `i` to `⌊i/2⌋`, so a sketch of level `l`
//! is the sketch of level 0 with all bin numbers shifted by `l`. The number of bins in use at a
//! level can only rise with more numbers. So the level is the lowest one at which *all* the numbers
//! fit, in any order. The sum is kept without rounding.
//!
//! **When not to use it.** If the numbers are close together and far from zero, `α` of the value
//! may be more than their differences: subtract a common value first. For a small error of the
//! *rank*, whatever the numbers are, use [`NumberQuantiles`](crate::quantiles::NumberQuantiles).
//!
//! **Memory.** 12 bytes a slot in a table at most three quarters full; 2 KB for a few hundred bins.
//!
//! **Sources.** Masson, Rim, Lee: *DDSketch: a fast and fully-mergeable quantile sketch with
//! relative-error guarantees* (2019). Epicoco, Melle, Cafaro, Pulimeno, Morleo: *UDDSketch:
//! accurate tracking of quantiles in data streams* (2020), for joining pairs of bins everywhere.
//!
//! **Where this departs from the papers.** The scale consists of straight pieces in integer
//! arithmetic (see `scale.rs`). So there is no logarithm, the bins are the same on every machine,
//! and their borders are known exactly. The bounds are therefore certain, not only certain up to
//! rounding. The limit counts bins in use, not the span from the first to the last, so an outlier
//! costs one bin.

mod bins;
mod bytes;
mod query;
mod scale;

pub(crate) use query::rank_of;

use std::ops::RangeInclusive;

use self::bins::{Bin, Bins};
use self::scale::Scale;
use super::exact_sum::ExactSum;
use crate::error::{Error, Result};
use crate::estimate::Estimate;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{InsertNumbers, Merge, Quantiles, impl_sketch};

/// Counts numbers in bins of equal relative width; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::profile::DDSketch;
///
/// let mut latencies = DDSketch::for_bound(0.01)?;
/// for request in 1..=10_000_u32 {
///     latencies.insert(f64::from(request) / 1000.0);
/// }
/// let median = latencies.quantile(0.5).expect("there are numbers");
/// assert!(median.is_certain() && median.covers(5.0) && median.relative_error() < 0.0201);
/// assert_eq!((latencies.max(), latencies.sum()), (Some(10.0), Some(50_005.0)));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct DDSketch {
    /// The relative error of level 0, which the caller requested.
    accuracy: f64,
    max_bins: u32,
    scale: Scale,
    /// The number of times that pairs of bins were joined.
    level: u8,
    bins: Bins,
    zeros: u64,
    not_finite: u64,
    /// The number of finite numbers. If it reaches [`u64::MAX`] it stays there, and the sum is
    /// given up.
    count: u64,
    min: f64,
    max: f64,
    sum: ExactSum,
}

// ---- limits and sizing ----

impl DDSketch {
    /// The relative errors that a sketch can have.
    pub const ACCURACIES: RangeInclusive<f64> = 1e-4..=0.5;

    /// The range of the limit on bins.
    pub const MAX_BINS: RangeInclusive<u32> = 16..=1 << 16;

    /// Returns the number of bins for numbers of eighteen decades, `⌈ln 10^18/ln γ⌉`, clamped to
    /// [`MAX_BINS`](Self::MAX_BINS).
    ///
    /// # Errors
    /// If the relative error is not in [`ACCURACIES`](Self::ACCURACIES).
    ///
    /// ```
    /// use crivo::profile::DDSketch;
    /// assert_eq!(DDSketch::bins_for(0.01)?, 2073);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn bins_for(relative_error: f64) -> Result<u32> {
        check_accuracy(relative_error)?;
        let bins = (18.0 * std::f64::consts::LN_10 / (2.0 * libm::atanh(relative_error))).ceil() as u32;
        Ok(bins.clamp(*Self::MAX_BINS.start(), *Self::MAX_BINS.end()))
    }

    /// Returns the most memory that a sketch with this many bins takes. It is the same on every
    /// machine, because it decides the sizes of a profile, which are stored.
    pub(super) fn most_memory(max_bins: u32) -> usize {
        ITSELF + ExactSum::new().memory() + Bins::most_memory(max_bins as usize + 1)
    }
}

/// The most bytes that the struct itself takes, without the memory behind its pointers.
const ITSELF: usize = 136;
const _: () = assert!(size_of::<DDSketch>() <= ITSELF);

fn check_accuracy(relative_error: f64) -> Result<()> {
    if DDSketch::ACCURACIES.contains(&relative_error) {
        return Ok(());
    }
    let (least, most) = DDSketch::ACCURACIES.into_inner();
    Err(Error::parameter("relative error", format_args!("{least} to {most}"), relative_error))
}

// ---- construction ----

impl DDSketch {
    /// Returns an empty sketch with this relative error, which holds while at most `max_bins` bins
    /// are in use.
    ///
    /// # Errors
    /// If the arguments are not in [`ACCURACIES`](Self::ACCURACIES) and
    /// [`MAX_BINS`](Self::MAX_BINS).
    pub fn new(relative_error: f64, max_bins: u32) -> Result<Self> {
        check_accuracy(relative_error)?;
        if !Self::MAX_BINS.contains(&max_bins) {
            let (least, most) = Self::MAX_BINS.into_inner();
            return Err(Error::parameter("bins", format_args!("{least} to {most}"), max_bins));
        }
        Ok(Self {
            accuracy: relative_error,
            max_bins,
            scale: Scale::new(relative_error),
            level: 0,
            bins: Bins::new(),
            zeros: 0,
            not_finite: 0,
            count: 0,
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum: ExactSum::new(),
        })
    }

    /// Returns an empty sketch with this relative error for numbers of eighteen decades, or of more
    /// if some bins between them are empty.
    ///
    /// # Errors
    /// If the relative error is not in [`ACCURACIES`](Self::ACCURACIES).
    pub fn for_bound(relative_error: f64) -> Result<Self> {
        Self::new(relative_error, Self::bins_for(relative_error)?)
    }
}

// ---- update ----

impl DDSketch {
    /// Counts a number. Infinities and NaNs are only counted as not finite.
    #[inline]
    pub fn insert(&mut self, value: f64) {
        if !value.is_finite() || self.count >= u64::MAX - 1 {
            return self.add(value, 1);
        }
        self.count += 1;
        self.sum.add(value);
        self.place(value, 1);
    }

    /// Counts many numbers. Same result as one by one.
    pub fn insert_all(&mut self, values: &[f64]) {
        values.iter().for_each(|&value| self.insert(value));
    }

    /// Counts a number `weight` times. A weight of 0 changes nothing.
    pub fn add(&mut self, value: f64, weight: u64) {
        if weight == 0 {
            return;
        }
        if !value.is_finite() {
            self.not_finite = self.not_finite.saturating_add(weight);
            return;
        }
        self.count = self.count.saturating_add(weight);
        if self.is_saturated() {
            self.sum = ExactSum::new();
        } else {
            self.sum.add_weighted(value, weight);
        }
        self.place(value, weight);
    }

    /// Counts a number in its bin.
    #[inline]
    fn place(&mut self, value: f64, weight: u64) {
        // Adding 0 removes the sign of zero, so that the least and the greatest do not depend on
        // the order.
        let value = value + 0.0;
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        if value == 0.0 {
            self.zeros = self.zeros.saturating_add(weight);
            return;
        }
        let number = self.scale.bin(value.abs()) >> self.level;
        if self.bins.add(number, value < 0.0, weight) {
            self.join_pairs();
        }
    }

    /// Joins pairs of bins until there are few enough.
    #[cold]
    fn join_pairs(&mut self) {
        while self.bins.len() > self.max_bins as usize {
            self.raise_level();
        }
    }

    fn raise_level(&mut self) {
        self.bins.collapse();
        self.level += 1;
    }
}

// ---- merge ----

impl DDSketch {
    /// Merges another sketch into this one. The result is, bit for bit, the sketch of all numbers.
    ///
    /// # Errors
    /// If the relative errors or the limits on bins differ. The sketch is unchanged then.
    ///
    /// ```
    /// use crivo::profile::DDSketch;
    /// let (mut monday, mut tuesday) = (DDSketch::for_bound(0.01)?, DDSketch::for_bound(0.01)?);
    /// monday.insert_all(&[1.0, 2.0]);
    /// tuesday.insert(30.0);
    /// monday.merge(&tuesday)?;
    /// assert_eq!((monday.count(), monday.mean()), (3, Some(11.0)));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let advice = "only sketches of one relative error and number of bins can be merged";
        if self.accuracy != other.accuracy {
            return Err(Error::incompatible("relative error", self.accuracy, other.accuracy, advice));
        }
        if self.max_bins != other.max_bins {
            return Err(Error::incompatible("bins", self.max_bins, other.max_bins, advice));
        }
        while self.level < other.level {
            self.raise_level();
        }
        let shift = self.level - other.level;
        for Bin { is_negative, number, count } in other.bins.iter() {
            self.bins.add(number >> shift, is_negative, count);
        }
        self.join_pairs();
        self.zeros = self.zeros.saturating_add(other.zeros);
        self.not_finite = self.not_finite.saturating_add(other.not_finite);
        self.count = self.count.saturating_add(other.count);
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        if self.is_saturated() {
            self.sum = ExactSum::new();
        } else {
            self.sum.merge(&other.sum);
        }
        Ok(())
    }
}

impl_sketch!(DDSketch, numbers, quantiles);

impl InsertNumbers for DDSketch {
    fn insert_numbers(&mut self, numbers: &[f64]) {
        self.insert_all(numbers);
    }
}

impl Quantiles for DDSketch {
    fn quantile(&self, share: f64) -> Option<Estimate> {
        self.quantile(share)
    }

    fn count_below(&self, limit: f64) -> Estimate {
        self.count_below(limit)
    }

    fn count(&self) -> u64 {
        self.count()
    }
}

impl Merge for DDSketch {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}
