//! Rank sketches of numbers.

use super::item::Number;
use super::{Accuracy, NumberQuantiles};
use crate::counting::NO_KEYS;
use crate::error::Result;
use crate::estimate::{Confidence, Estimate};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{InsertNumbers, Quantiles, impl_sketch};

/// The number of numbers that are processed together.
const CHUNK: usize = 1024;

/// A bar of a histogram: the number of values from its lower limit to below its upper limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The lower limit, which belongs to the bar.
    pub from: f64,
    /// The upper limit, which belongs to the last bar only.
    pub to: f64,
    /// The number of values between the limits.
    pub count: Estimate,
}

impl Bar {
    /// The most bars that a histogram has. If more are asked for, it has this many.
    pub const MOST: usize = 1 << 16;

    /// Returns the limits of this many bars of equal width, of at most [`MOST`](Self::MOST). If only
    /// one bar is possible, returns its two limits. Returns none for no bars.
    pub(crate) fn limits(least: f64, greatest: f64, bars: usize) -> Vec<f64> {
        if bars == 0 {
            return Vec::new();
        }
        let bars = bars.min(Self::MOST);
        let width = (greatest - least) / bars as f64;
        if !(width > 0.0 && width.is_finite() && least + width > least) {
            return vec![least, greatest];
        }
        (0..bars).map(|bar| least + width * bar as f64).chain([greatest]).collect()
    }
}

impl NumberQuantiles {
    /// Returns an empty sketch of this size, which draws random numbers from the seed. Sketches
    /// that will be merged need different seeds.
    ///
    /// # Errors
    /// If the size is odd or not in [`SIZES`](Self::SIZES).
    pub fn new(size: u32, accuracy: Accuracy, seed: u64) -> Result<Self> {
        Self::empty(size, accuracy, NO_KEYS, seed)
    }

    /// Returns an empty sketch whose rank error is within `error`, a share of all values, with 95 %
    /// confidence.
    ///
    /// # Errors
    /// If the error is not in [`ERRORS`](Self::ERRORS).
    pub fn for_bound(error: f64, seed: u64) -> Result<Self> {
        Self::new(Self::size_for(error, Accuracy::Uniform)?, Accuracy::Uniform, seed)
    }

    /// Returns an empty sketch whose rank error is within `error`, a share of the distance from the
    /// nearer end, with 95 % confidence.
    ///
    /// # Errors
    /// If the error is not in [`ERRORS`](Self::ERRORS).
    pub fn for_tails(error: f64, seed: u64) -> Result<Self> {
        Self::new(Self::size_for(error, Accuracy::Tails)?, Accuracy::Tails, seed)
    }

    /// Adds a number, which may be infinite. NaNs are only counted.
    #[inline]
    pub fn insert(&mut self, value: f64) {
        if value.is_nan() {
            self.unordered = self.unordered.saturating_add(1);
        } else {
            self.insert_item(Number::new(value));
        }
    }

    /// Adds many numbers. Same result as one by one, but faster.
    pub fn insert_all(&mut self, values: &[f64]) {
        for chunk in values.chunks(CHUNK) {
            let (mut least, mut greatest, mut has_nan) = (f64::INFINITY, f64::NEG_INFINITY, false);
            for &value in chunk {
                least = if value < least { value } else { least };
                greatest = if value > greatest { value } else { greatest };
                has_nan |= value.is_nan();
            }
            if has_nan || self.count > u64::MAX - 2 * CHUNK as u64 {
                chunk.iter().for_each(|&value| self.insert(value));
                continue;
            }
            self.count += chunk.len() as u64;
            self.widen(&Number::new(least));
            self.widen(&Number::new(greatest));
            self.take_chunk(chunk);
        }
    }

    /// Adds numbers to the lowest level, or passes them to the sampler.
    fn take_chunk(&mut self, mut chunk: &[f64]) {
        while let Some(&first) = chunk.first() {
            let taken = if self.sampler.level == 0 {
                let room = (self.capacity - self.retained).min(chunk.len());
                self.levels[0].items.extend(chunk[..room].iter().map(|&value| Number::new(value)));
                self.retained += room;
                room
            } else {
                let sampler = &mut self.sampler;
                let left = (sampler.block() - sampler.seen).min(chunk.len() as u64);
                if sampler.seen == 0 {
                    sampler.held = Some(Number::new(first));
                }
                if let Some(place) = sampler.pick.checked_sub(sampler.seen).filter(|&place| place < left) {
                    sampler.held = Some(Number::new(chunk[place as usize]));
                }
                sampler.seen += left;
                if sampler.seen == sampler.block() {
                    self.end_block();
                }
                left as usize
            };
            if self.retained >= self.capacity {
                self.make_room();
            }
            chunk = &chunk[taken..];
        }
    }

    /// Adds a number `weight` times.
    pub fn add(&mut self, value: f64, weight: u64) {
        if value.is_nan() {
            self.unordered = self.unordered.saturating_add(weight);
        } else {
            self.add_item(&Number::new(value), weight);
        }
    }

    /// Returns the number at which this share of all numbers is reached, with bounds at 95 %.
    /// Returns `None` if there are no numbers, or if the share is not from 0 to 1.
    ///
    /// Of `n` numbers it is the number of rank `⌈share·n⌉`, counted from 1. The first and the last
    /// are exact.
    pub fn quantile(&self, share: f64) -> Option<Estimate> {
        self.quantiles(&[share], Confidence::P95).pop().flatten()
    }

    /// Returns the quantile of each share, as `quantile` does, with bounds at the given confidence,
    /// in one pass over the sketch.
    pub fn quantiles(&self, shares: &[f64], confidence: Confidence) -> Vec<Option<Estimate>> {
        let estimate = |between: super::query::Between<Number>| {
            let [value, lower, upper] = [between.value, between.lower, between.upper].map(Number::value);
            Estimate::probable(value, lower, upper, between.confidence)
        };
        self.values_at(shares, confidence).into_iter().map(|between| between.map(estimate)).collect()
    }

    /// Returns how many numbers are below a limit, with bounds at 95 %. Returns 0 for NaN.
    pub fn count_below(&self, limit: f64) -> Estimate {
        self.count_below_at(limit, Confidence::P95)
    }

    /// Returns how many numbers are below a limit, with bounds at the given confidence.
    pub fn count_below_at(&self, limit: f64, confidence: Confidence) -> Estimate {
        if limit.is_nan() {
            return Estimate::exact(0.0);
        }
        self.count_to(&Number::new(limit), false, confidence)
    }

    /// Returns how many numbers are at most a limit, with bounds at 95 %. Returns 0 for NaN.
    pub fn count_at_most(&self, limit: f64) -> Estimate {
        self.count_at_most_at(limit, Confidence::P95)
    }

    /// Returns how many numbers are at most a limit, with bounds at the given confidence.
    pub fn count_at_most_at(&self, limit: f64, confidence: Confidence) -> Estimate {
        if limit.is_nan() {
            return Estimate::exact(0.0);
        }
        self.count_to(&Number::new(limit), true, confidence)
    }

    /// Returns the share of all numbers that are at most a limit, with bounds at 95 %. Returns
    /// `None` if there are no numbers.
    pub fn rank(&self, limit: f64) -> Option<Estimate> {
        self.share_of_all(self.count_at_most(limit))
    }

    /// Returns the numbers in `bars` bars of equal width, at most [`Bar::MOST`], with bounds at 95 %
    /// for each. If the numbers are all equal, or if their range cannot be divided, there is one bar.
    pub fn histogram(&self, bars: usize) -> Vec<Bar> {
        let Some((least, greatest)) = self.min().zip(self.max()) else { return Vec::new() };
        let limits = Bar::limits(least, greatest, bars);
        let Some(last) = limits.len().checked_sub(2) else { return Vec::new() };
        let bar = |bar: usize| {
            let (from, to) = (limits[bar], limits[bar + 1]);
            let end = if bar == last { greatest.next_up() } else { to };
            let count = self.count_between(&Number::new(from), &Number::new(end), Confidence::P95);
            Bar { from, to, count }
        };
        (0..=last).map(bar).collect()
    }

    /// Returns how many numbers lie from one limit to below another, with bounds at the given
    /// confidence. Returns 0 for NaN.
    pub fn count_between_at(&self, from: f64, to: f64, confidence: Confidence) -> Estimate {
        if self.is_empty() || from.is_nan() || to.is_nan() || from >= to {
            return Estimate::exact(0.0);
        }
        self.count_between(&Number::new(from), &Number::new(to), confidence)
    }

    /// Returns the kept numbers in ascending order, each with the estimated number of numbers up to
    /// it: the steps of the distribution function.
    pub fn distribution(&self) -> Vec<(f64, u64)> {
        self.steps().iter().map(|step| (step.item.value(), step.up_to)).collect()
    }

    /// Returns the least number, exactly.
    pub fn min(&self) -> Option<f64> {
        self.ends().map(|ends| ends.0.value())
    }

    /// Returns the greatest number, exactly.
    pub fn max(&self) -> Option<f64> {
        self.ends().map(|ends| ends.1.value())
    }

    /// Returns the number of NaNs, which no other answer includes.
    pub fn not_a_number(&self) -> u64 {
        self.unordered
    }
}

impl_sketch!(sealed [] NumberQuantiles, numbers, quantiles);

impl InsertNumbers for NumberQuantiles {
    fn insert_numbers(&mut self, numbers: &[f64]) {
        self.insert_all(numbers);
    }
}

impl Quantiles for NumberQuantiles {
    fn quantile(&self, share: f64) -> Option<Estimate> {
        self.quantile(share)
    }

    fn count_below(&self, limit: f64) -> Estimate {
        self.count_below(limit)
    }

    fn count(&self) -> u64 {
        self.count()
    }

    fn rank(&self, limit: f64) -> Option<Estimate> {
        self.rank(limit)
    }

    fn histogram(&self, bars: usize) -> Vec<Bar> {
        self.histogram(bars)
    }
}
