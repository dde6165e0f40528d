//! `KLL` and `REQ`: quantiles, as Spark's `kll_sketch_agg_*` and others keep them.
//!
//! Their errors are those of DataSketches: crivo's own rank sketches take the same memory for a
//! smaller error, and know it. These are for exchange. The draws of DataSketches are not seeded, so
//! that the same values give different bytes every time.

use crivo::sketch::Quantiles;
use crivo::{Confidence, Estimate};
use datasketches::common::{NumStdDev, SearchCriteria};
use datasketches::kll::{KllFloat, KllSketch, KllValue};
use datasketches::req::{RankAccuracy, ReqFloat, ReqSketch};

use crate::{Error, Result};

/// A number that KLL sketches of other systems hold: `f64` (Spark's `double`), `f32` (`float`) or
/// `i64` (`bigint`).
pub trait KllNumber: Copy {
    /// The number as DataSketches orders it.
    type Value: KllValue + Ord + Clone;

    /// Returns the number as DataSketches has it; none for NaN.
    fn to_value(self) -> Option<Self::Value>;

    /// Returns the number.
    fn from_value(value: &Self::Value) -> Self;

    /// Returns the number as a double, rounded where it has to be.
    fn to_double(self) -> f64;

    /// Returns the least number that is not below a double.
    fn at_least(limit: f64) -> Self;
}

impl KllNumber for f64 {
    type Value = KllFloat<f64>;

    fn to_value(self) -> Option<Self::Value> {
        KllFloat::<f64>::new(self).ok()
    }

    fn from_value(value: &Self::Value) -> Self {
        value.into_inner()
    }

    fn to_double(self) -> f64 {
        self
    }

    fn at_least(limit: f64) -> Self {
        limit
    }
}

impl KllNumber for f32 {
    type Value = KllFloat<f32>;

    fn to_value(self) -> Option<Self::Value> {
        KllFloat::<f32>::new(self).ok()
    }

    fn from_value(value: &Self::Value) -> Self {
        value.into_inner()
    }

    fn to_double(self) -> f64 {
        self.into()
    }

    fn at_least(limit: f64) -> Self {
        let near = limit as f32;
        if f64::from(near) < limit { near.next_up() } else { near }
    }
}

impl KllNumber for i64 {
    type Value = i64;

    fn to_value(self) -> Option<Self::Value> {
        Some(self)
    }

    fn from_value(value: &Self::Value) -> Self {
        *value
    }

    fn to_double(self) -> f64 {
        self as f64
    }

    fn at_least(limit: f64) -> Self {
        limit.ceil() as Self
    }
}

/// Quantiles of numbers in about 3 `k` of them. NaN is skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct Kll<N: KllNumber>(KllSketch<N::Value>)
where
    N::Value: std::fmt::Debug + PartialEq;

impl<N: KllNumber> Kll<N>
where
    N::Value: std::fmt::Debug + PartialEq,
{
    /// Returns an empty sketch of size `k`; Spark takes 200 where none is asked for.
    ///
    /// # Errors
    /// If `k` is below 8.
    pub fn new(k: u16) -> Result<Self> {
        let size = Error::QuantilesSize { allowed: "8 to 65535", found: k };
        KllSketch::new(k).map(Self).map_err(|_| size)
    }

    /// Adds a number.
    pub fn insert(&mut self, number: N) {
        if let Some(value) = number.to_value().filter(|_| self.0.n() < u64::MAX) {
            self.0.update(value);
        }
    }

    /// Returns the size `k`.
    pub fn k(&self) -> u16 {
        self.0.k()
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.0.n()
    }

    /// Returns the number at which that share of all is reached, if there is one.
    pub fn quantile(&self, share: f64) -> Option<N> {
        self.0.quantile(share, SearchCriteria::Inclusive).ok().flatten().map(|value| N::from_value(&value))
    }

    /// Returns which share of all numbers is at most a limit, with the bounds that DataSketches
    /// states, 99 % sure.
    pub fn rank(&self, limit: N) -> Option<Estimate> {
        let rank = self.0.rank(&limit.to_value()?, SearchCriteria::Inclusive)?;
        if !self.0.is_estimation_mode() {
            return Some(Estimate::exact(rank));
        }
        let error = self.0.normalized_rank_error();
        Some(Estimate::probable(rank, rank - error, rank + error, Confidence::P99).limited_to(0.0, 1.0))
    }

    /// Makes this the sketch of the values of both.
    ///
    /// # Errors
    /// If there are 2^64 values or more in both.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.0.merge(&other.0).map_err(|_| Error::TooMany)
    }

    /// Returns the bytes that other systems read.
    pub fn encode(&self) -> Vec<u8> {
        self.0.serialize()
    }

    /// Returns the sketch that the bytes of any system hold. They do not say which numbers they
    /// hold: the reader has to know.
    ///
    /// # Errors
    /// If they are not the bytes of such a sketch. There is no checksum in them.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        KllSketch::deserialize(bytes).map(Self).map_err(|cause| Error::bytes("KLL", cause))
    }
}

impl<N: KllNumber> Quantiles for Kll<N>
where
    N::Value: std::fmt::Debug + PartialEq,
{
    fn quantile(&self, share: f64) -> Option<Estimate> {
        let at = |share: f64| Some(Kll::quantile(self, share.clamp(0.0, 1.0))?.to_double());
        let value = at(share)?;
        if !self.0.is_estimation_mode() {
            return Some(Estimate::exact(value));
        }
        let error = self.0.normalized_rank_error();
        Some(Estimate::probable(value, at(share - error)?, at(share + error)?, Confidence::P99))
    }

    fn count_below(&self, limit: f64) -> Estimate {
        let all = self.count() as f64;
        let limit = N::at_least(limit).to_value();
        let Some(share) = limit.and_then(|limit| self.0.rank(&limit, SearchCriteria::Exclusive)) else {
            return Estimate::exact(0.0);
        };
        if !self.0.is_estimation_mode() {
            return Estimate::exact((share * all).round());
        }
        let error = self.0.normalized_rank_error();
        let [value, lower, upper] = [share, share - error, share + error].map(|share| share * all);
        Estimate::probable(value, lower, upper, Confidence::P99).limited_to(0.0, all)
    }

    fn count(&self) -> u64 {
        Kll::count(self)
    }
}

/// Quantiles whose error is a share of the distance from one end. Other systems keep them as floats
/// of 32 bits. NaN is skipped.
#[derive(Debug, Clone)]
pub struct Req(ReqSketch<ReqFloat<f32>>);

impl Req {
    /// Returns an empty sketch of size `k` that is right about high ranks, or about low ones.
    ///
    /// # Errors
    /// If `k` is odd or out of its range.
    pub fn new(k: u16, of_high_ranks: bool) -> Result<Self> {
        let accuracy = if of_high_ranks { RankAccuracy::HighRank } else { RankAccuracy::LowRank };
        let size = Error::QuantilesSize { allowed: "an even number from 4 to 1024", found: k };
        ReqSketch::new(k, accuracy).map(Self).map_err(|_| size)
    }

    /// Adds a number.
    pub fn insert(&mut self, number: f32) {
        if let Ok(value) = ReqFloat::<f32>::new(number)
            && self.0.n() < u64::MAX
        {
            self.0.update(value);
        }
    }

    /// Returns the size `k`.
    pub fn k(&self) -> u16 {
        self.0.k()
    }

    /// Returns true if it is right about high ranks, and false if about low ones.
    pub fn of_high_ranks(&self) -> bool {
        self.0.rank_accuracy() == RankAccuracy::HighRank
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.0.n()
    }

    /// Returns the number at which that share of all is reached, if there is one.
    pub fn quantile(&self, share: f64) -> Option<f32> {
        let value = self.0.quantile(share, SearchCriteria::Inclusive).ok().flatten();
        value.map(ReqFloat::into_inner)
    }

    /// Returns which share of all numbers is at most a limit, with the bounds of DataSketches at
    /// two standard deviations.
    pub fn rank(&self, limit: f32) -> Option<Estimate> {
        let rank = self.0.rank(&ReqFloat::<f32>::new(limit).ok()?, SearchCriteria::Inclusive)?;
        let bounds = |deviations: NumStdDev| {
            [self.0.rank_lower_bound(rank, deviations), self.0.rank_upper_bound(rank, deviations)]
        };
        Some(super::estimate(rank, bounds, !self.0.is_estimation_mode()))
    }

    /// Makes this the sketch of the values of both.
    ///
    /// # Errors
    /// If the two are right about different ends, or there are 2^64 values or more in both.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.0.merge(&other.0).map_err(|_| Error::TooMany)
    }

    /// Returns the bytes that other systems read.
    pub fn encode(&self) -> Vec<u8> {
        self.0.serialize()
    }

    /// Returns the sketch that the bytes of any system hold.
    ///
    /// # Errors
    /// If they are not the bytes of such a sketch. There is no checksum in them.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        ReqSketch::deserialize(bytes).map(Self).map_err(|cause| Error::bytes("REQ", cause))
    }
}

impl Quantiles for Req {
    fn quantile(&self, share: f64) -> Option<Estimate> {
        let at = |share: f64| Some(f64::from(Req::quantile(self, share.clamp(0.0, 1.0))?));
        let value = at(share)?;
        if !self.0.is_estimation_mode() {
            return Some(Estimate::exact(value));
        }
        let lower = at(self.0.rank_lower_bound(share, NumStdDev::Two))?;
        let upper = at(self.0.rank_upper_bound(share, NumStdDev::Two))?;
        Some(Estimate::probable(value, lower.min(value), upper.max(value), Confidence::P95))
    }

    fn count_below(&self, limit: f64) -> Estimate {
        let all = self.count() as f64;
        let limit = ReqFloat::<f32>::new(f32::at_least(limit)).ok();
        let Some(share) = limit.and_then(|limit| self.0.rank(&limit, SearchCriteria::Exclusive)) else {
            return Estimate::exact(0.0);
        };
        if !self.0.is_estimation_mode() {
            return Estimate::exact((share * all).round());
        }
        let lower = self.0.rank_lower_bound(share, NumStdDev::Two);
        let upper = self.0.rank_upper_bound(share, NumStdDev::Two);
        let [value, lower, upper] = [share, lower, upper].map(|share| share * all);
        Estimate::probable(value, lower.min(value), upper.max(value), Confidence::P95).limited_to(0.0, all)
    }

    fn count(&self) -> u64 {
        Req::count(self)
    }
}
