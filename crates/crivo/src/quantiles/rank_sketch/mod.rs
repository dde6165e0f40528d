//! Rank sketch: quantiles and ranks of any ordered values, with a known error of the rank.
//!
//! **Question.** What is the median of these values, and what is their 99th percentile? How many
//! are at most `x`?
//!
//! **Guarantee.** With [`Accuracy::Uniform`] and size `k` the rank of any value is right to within
//! `1.1/k` of the number of values, with 95 % confidence: 1 % of all ranks for `k = 110`. With
//! [`Accuracy::Tails`] the error is at most `0.5/k` of the distance from the nearer end. That holds
//! for any values, in any order, and after any merges. Every answer states its own interval, which
//! follows from the compactions that the sketch made. Until the first compaction the sketch keeps
//! all values, and answers are exact. The count, the least and the greatest value are always exact.
//!
//! **Idea.** Keep values in levels. A value of level `h` represents `2^h` values. A level that is
//! full is compacted: its values are sorted, and every other one moves up a level, where it
//! represents twice as many. That changes the rank of `x` by `+2^h`, by `−2^h` or not at all, as a
//! coin decides, so that errors cancel out. Capacities fall by a third from each level to the one
//! below, because errors of lower levels count less.
//!
//! *Tails.* A level that keeps its lowest and its highest values, and compacts only those between
//! them, never errs about a rank near an end. The number of protected values follows REQ's
//! schedule: every second compaction takes one section on each side, every fourth two, and so on.
//! So the nearer a value is to an end, the longer it is protected.
//!
//! **When not to use it.** If the error of the *value* matters, use
//! [`DDSketch`](crate::profile::DDSketch). Its bytes also do not depend on the order. The [parent
//! module](crate::quantiles) compares all of them.
//!
//! **Sources.** Karnin, Lang, Liberty: *Optimal quantile approximation in streams* (2016): levels,
//! capacities and sampling below them. Cormode, Karnin, Liberty, Thaler, Veselý: *Relative error
//! streaming quantiles* (2021): sections and their schedule.
//!
//! **Where this departs from the papers.** Each difference makes the error smaller, or known
//! exactly.
//!
//! - *A second coin shifts the pairs*: the pairs are values (1, 2), (3, 4), … of the sorted level,
//!   or (2, 3), (4, 5), …. So for every `x` between the least and the greatest value, a fair coin
//!   decides whether `x` lies within a pair. Outside of these values the compaction does not err.
//!   So the error of a compaction is `+2^h` and `−2^h` with probability at most ¼ each, whatever
//!   the values and their order. The sketch adds up a bound of the variance of all compactions.
//! - *Coins come in pairs*: every second compaction of a level keeps the values that the one before
//!   would have dropped. The two errors then cancel if both occurred, which halves the variance.
//!   (REQ does this; KLL does not.)
//! - *Tails protect both ends* in one sketch; REQ protects one.
//! - *The places of compactions are kept* for tails (`error_profile.rs`), so that intervals are as
//!   narrow as the errors.
//! - A weight is split into its binary digits. Each digit adds the value to the level of that
//!   digit, so weights are exact there.
//!
//! As soon as values were compacted, the bytes depend on the order of the values, on splitting and
//! on the seed. The guarantee does not.

mod bytes;
mod compaction;
mod error_profile;
mod item;
mod key_quantiles;
mod merge;
mod number_quantiles;
mod query;
mod sampler;
mod sorting;

use std::ops::RangeInclusive;

pub use self::item::{Number, RankItem, RankedKey};
pub use self::key_quantiles::KeyQuantile;
pub use self::number_quantiles::Bar;

use self::compaction::LevelCapacities;
use self::error_profile::ErrorProfile;
use self::sampler::Sampler;
use crate::error::{Error, Result};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::random::Generator;
use crate::sketch::Merge as _;

/// A rank sketch of numbers.
pub type NumberQuantiles = RankSketch<Number>;

/// A rank sketch of keys: texts in the order of their bytes, or signed integers.
pub type KeyQuantiles = RankSketch<RankedKey>;

/// The ranks for which the sketch is accurate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Accuracy {
    /// The error of every rank is within the same share of all values.
    #[default]
    Uniform,
    /// The error of every rank is within a share of its distance from the nearer end.
    Tails,
}

impl Accuracy {
    /// Returns the name of the accuracy in parameters: `uniform` or `tails`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Tails => "tails",
        }
    }
}

/// A sketch of the ranks of ordered values; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::quantiles::NumberQuantiles;
///
/// let mut prices = NumberQuantiles::for_bound(0.01, 7)?;
/// for cents in 1..=100_000_u32 {
///     prices.insert(f64::from(cents) / 100.0);
/// }
/// let median = prices.quantile(0.5).expect("there are numbers");
/// assert!(median.covers(500.0) && median.relative_error() < 0.05);
/// assert!(prices.count_at_most(250.0).covers(25_000.0));
/// assert_eq!((prices.count(), prices.max()), (100_000, Some(1000.0)));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct RankSketch<T> {
    scheme: KeyScheme,
    size: u32,
    accuracy: Accuracy,
    generator: Generator,
    /// The sum of the weights of all values. If it reaches [`u64::MAX`] it stays there, and ranks
    /// are given up.
    count: u64,
    /// The number of NaN values, which have no place in the order.
    unordered: u64,
    ends: Option<(T, T)>,
    /// Samples the values whose weight is below that of the lowest level.
    sampler: Sampler<T>,
    /// A value of `levels[i]` represents `2^(i + sampler.level)` values.
    levels: Vec<Level<T>>,
    /// The number of values in all levels, and the number of them at which the sketch is compacted.
    retained: usize,
    capacity: usize,
    level_capacities: LevelCapacities,
    /// The sum of `4^h` over compactions, where a pair counts once. It is twice the variance.
    compacted: u128,
    /// The sum of `4^h` over sampled blocks. It is at least four times the variance.
    sampled: u128,
    /// A bound on the error of every rank, which is never exceeded.
    most_error: u128,
    profile: ErrorProfile<T>,
}

/// The values that each represent the same number of values.
#[derive(Debug, Clone)]
struct Level<T> {
    items: Vec<T>,
    /// The number of compactions, which decides the size of the next one. Kept for tails only.
    compactions: u64,
    /// A compaction whose counterpart is still to come.
    pending: Option<Pending<T>>,
}

#[derive(Debug, Clone)]
struct Pending<T> {
    coin: bool,
    /// The least and the greatest compacted value. Kept for tails only.
    region: Option<(T, T)>,
}

impl<T> Level<T> {
    fn new() -> Self {
        Self { items: Vec::new(), compactions: 0, pending: None }
    }
}

// ---- limits and sizing ----

impl<T> RankSketch<T> {
    /// The sizes `k` that a sketch can have.
    pub const SIZES: RangeInclusive<u32> = 8..=1 << 20;

    /// The range of errors that [`size_for`](Self::size_for) accepts.
    pub const ERRORS: RangeInclusive<f64> = 1e-5..=0.2;

    /// 1.96 standard errors of a rank, times `k`: a little more than 1.068, the largest value found
    /// for streams of any length.
    const UNIFORM_ERROR: f64 = 1.1;

    /// As [`UNIFORM_ERROR`](Self::UNIFORM_ERROR), but for tails: a share of the distance from the
    /// nearer end.
    const TAILS_ERROR: f64 = 0.5;

    /// The least size at which sections can keep shrinking for a stream of any length. Smaller
    /// sketches with tails work and state their errors, but the errors grow with the length of the
    /// stream.
    const LEAST_FOR_TAILS: u32 = 32;

    /// Returns the size at which 95 % of all answers have at most this error of the rank. The error
    /// is a share of all values, or with [`Accuracy::Tails`] of the distance from the nearer end.
    ///
    /// # Errors
    /// If the error is not in [`ERRORS`](Self::ERRORS).
    ///
    /// ```
    /// use crivo::quantiles::{Accuracy, NumberQuantiles};
    /// assert_eq!(NumberQuantiles::size_for(0.01, Accuracy::Uniform)?, 110);
    /// assert_eq!(NumberQuantiles::size_for(0.01, Accuracy::Tails)?, 50);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn size_for(error: f64, accuracy: Accuracy) -> Result<u32> {
        if !Self::ERRORS.contains(&error) {
            let (least, most) = Self::ERRORS.into_inner();
            return Err(Error::parameter("error", format_args!("{least} to {most}"), error));
        }
        let constant = Self::error_for(1, accuracy);
        // Rounded first, because 1.1/0.01 is a little more than 110 in floating point.
        let size = ((constant / error * 1e6).round() / 1e6).ceil() as u32;
        let least = match accuracy {
            Accuracy::Uniform => *Self::SIZES.start(),
            Accuracy::Tails => Self::LEAST_FOR_TAILS,
        };
        Ok(size.next_multiple_of(2).clamp(least, *Self::SIZES.end()))
    }

    /// Returns the error of the rank that 95 % of all answers of a sketch of this size do not
    /// exceed.
    pub fn error_for(size: u32, accuracy: Accuracy) -> f64 {
        let constant = match accuracy {
            Accuracy::Uniform => Self::UNIFORM_ERROR,
            Accuracy::Tails => Self::TAILS_ERROR,
        };
        constant / f64::from(size)
    }

    fn check_size(size: u32) -> Result<()> {
        if Self::SIZES.contains(&size) && size.is_multiple_of(2) {
            return Ok(());
        }
        let (least, most) = Self::SIZES.into_inner();
        Err(Error::parameter("size", format_args!("an even number from {least} to {most}"), size))
    }
}

// ---- construction ----

impl<T: RankItem> RankSketch<T> {
    fn empty(size: u32, accuracy: Accuracy, scheme: KeyScheme, seed: u64) -> Result<Self> {
        Self::check_size(size)?;
        let mut sketch = Self {
            scheme,
            size,
            accuracy,
            generator: Generator::new(seed),
            count: 0,
            unordered: 0,
            ends: None,
            sampler: Sampler::new(),
            levels: vec![Level::new()],
            retained: 0,
            capacity: 0,
            level_capacities: LevelCapacities::new(size),
            compacted: 0,
            sampled: 0,
            most_error: 0,
            profile: ErrorProfile::new(),
        };
        sketch.set_capacity();
        Ok(sketch)
    }

    /// Returns an empty sketch with the same settings, which draws independently of this one. It is
    /// for values that will be merged into this sketch.
    #[must_use]
    pub fn emptied(&self) -> Self {
        let mut empty = self.clone();
        empty.clear();
        empty.reseed(self.count);
        empty
    }
}

// ---- update ----

impl<T: RankItem> RankSketch<T> {
    /// Adds a value once.
    #[inline]
    fn insert_item(&mut self, item: T) {
        if self.count >= u64::MAX - 1 {
            return self.add_item(&item, 1);
        }
        self.count += 1;
        self.widen(&item);
        if self.sampler.level == 0 {
            self.levels[0].items.push(item);
            self.retained += 1;
        } else {
            self.take_one(item);
        }
        if self.retained >= self.capacity {
            self.make_room();
        }
    }

    /// Adds a value `weight` times.
    fn add_item(&mut self, item: &T, weight: u64) {
        if weight == 0 {
            return;
        }
        self.widen(item);
        let Some(count) = self.count.checked_add(weight).filter(|&count| count < u64::MAX) else {
            return self.saturate();
        };
        self.count = count;
        self.place(item, weight);
        if self.retained >= self.capacity || self.has_filled(weight) {
            self.make_room();
        }
    }

    /// Updates the least and the greatest value.
    #[inline]
    fn widen(&mut self, item: &T) {
        match &mut self.ends {
            Some((least, greatest)) => {
                if item < least {
                    *least = item.clone();
                }
                if item > greatest {
                    *greatest = item.clone();
                }
            }
            none => *none = Some((item.clone(), item.clone())),
        }
    }

    /// Adds a value to the levels of its weight's binary digits.
    fn place(&mut self, item: &T, weight: u64) {
        let lowest = u32::from(self.sampler.level);
        let sampled = weight & ((1_u64 << lowest) - 1);
        if sampled > 0 {
            self.sample(item, sampled);
        }
        let mut whole = weight >> lowest;
        while whole != 0 {
            let level = whole.trailing_zeros() as usize;
            self.push(level, item.clone());
            whole &= whole - 1;
        }
    }

    fn push(&mut self, level: usize, item: T) {
        if level >= self.levels.len() {
            self.levels.resize_with(level + 1, Level::new);
            self.set_capacity();
        }
        self.levels[level].items.push(item);
        self.retained += 1;
    }

    /// Gives up ranks, because the total weight is more than can be counted.
    #[cold]
    fn saturate(&mut self) {
        let ends = self.ends.take();
        let unordered = self.unordered;
        self.clear();
        (self.count, self.ends, self.unordered) = (u64::MAX, ends, unordered);
    }

    /// Removes all values, but keeps the settings and the state of the generator.
    fn clear(&mut self) {
        (self.count, self.unordered, self.ends) = (0, 0, None);
        self.sampler = Sampler::new();
        self.levels = vec![Level::new()];
        self.retained = 0;
        (self.compacted, self.sampled, self.most_error) = (0, 0, 0);
        self.profile = ErrorProfile::new();
        self.set_capacity();
    }
}
