//! `KLL` and `REQ`: quantiles in the formats of Spark's `kll_sketch_agg_*` and others.
//!
//! Their errors are those of DataSketches. crivo's own rank sketches have a smaller error in the
//! same memory, and know their error. These types are for exchange. The random draws of
//! DataSketches are not seeded, so the same values give different bytes every time.

use crivo::sketch::Quantiles;
use crivo::{Confidence, Estimate};
use datasketches::common::{NumStdDev, SearchCriteria};
use datasketches::kll::{KllFloat, KllSketch, KllValue};
use datasketches::req::{RankAccuracy, ReqFloat, ReqSketch};

use super::border::caught;
use crate::{Error, Result};

pub(super) const KLL: &str = "KLL";
const REQ: &str = "REQ";

/// A number type of the KLL sketches of other systems: `f64` (Spark's `double`), `f32` (`float`) or
/// `i64` (`bigint`).
pub trait KllNumber: Copy {
    /// The type of the number in DataSketches, which has an order.
    type Value: KllValue + Ord + Clone;

    /// Converts the number to the type of DataSketches. Returns `None` for NaN.
    fn to_value(self) -> Option<Self::Value>;

    /// Converts the number from the type of DataSketches.
    fn from_value(value: &Self::Value) -> Self;

    /// Converts the number to a double, rounded if necessary.
    fn to_double(self) -> f64;

    /// Returns the least number that is not less than a double.
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

/// Estimates quantiles of numbers from about 3 `k` of them. NaN is skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct Kll<N: KllNumber>(KllSketch<N::Value>)
where
    N::Value: std::fmt::Debug + PartialEq;

impl<N: KllNumber> Kll<N>
where
    N::Value: std::fmt::Debug + PartialEq,
{
    /// Returns an empty sketch of size `k`. Spark's default is 200.
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

    /// Returns the number at this share of all numbers in ascending order, if there is one.
    pub fn quantile(&self, share: f64) -> Option<N> {
        self.0.quantile(share, SearchCriteria::Inclusive).ok().flatten().map(|value| N::from_value(&value))
    }

    /// Returns the share of all numbers that are at most `limit`, with the bounds that DataSketches
    /// states at 99 % confidence.
    pub fn rank(&self, limit: N) -> Option<Estimate> {
        let rank = self.0.rank(&limit.to_value()?, SearchCriteria::Inclusive)?;
        if !self.0.is_estimation_mode() {
            return Some(Estimate::exact(rank));
        }
        let error = self.0.normalized_rank_error();
        Some(Estimate::probable(rank, rank - error, rank + error, Confidence::P99).limited_to(0.0, 1.0))
    }

    /// Merges `other`, so that this is the sketch of the values of both.
    ///
    /// # Errors
    /// If both together have 2^64 values or more.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.0.merge(&other.0).map_err(|_| Error::TooMany)
    }

    /// Encodes the sketch as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        self.0.serialize()
    }

    /// Decodes the sketch that any system wrote. The bytes do not tell the type of the numbers, so
    /// the caller must know it.
    ///
    /// # Errors
    /// If the bytes are not such a sketch. They have no checksum.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        caught(KLL, || KllSketch::deserialize(bytes).map(Self).map_err(|cause| Error::bytes(KLL, cause)))
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

/// Estimates quantiles with an error that is a share of the distance from one end. Other systems
/// store its numbers as floats of 32 bits. NaN is skipped.
#[derive(Debug, Clone)]
pub struct Req(ReqSketch<ReqFloat<f32>>);

impl Req {
    /// Returns an empty sketch of size `k` that is accurate for high ranks, or for low ones.
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

    /// Returns true if the sketch is accurate for high ranks, and false if for low ones.
    pub fn of_high_ranks(&self) -> bool {
        self.0.rank_accuracy() == RankAccuracy::HighRank
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.0.n()
    }

    /// Returns the number at this share of all numbers in ascending order, if there is one.
    pub fn quantile(&self, share: f64) -> Option<f32> {
        let value = self.0.quantile(share, SearchCriteria::Inclusive).ok().flatten();
        value.map(ReqFloat::into_inner)
    }

    /// Returns the share of all numbers that are at most `limit`, with the bounds of DataSketches
    /// at two standard deviations.
    pub fn rank(&self, limit: f32) -> Option<Estimate> {
        let rank = self.0.rank(&ReqFloat::<f32>::new(limit).ok()?, SearchCriteria::Inclusive)?;
        let bounds = |deviations: NumStdDev| {
            [self.0.rank_lower_bound(rank, deviations), self.0.rank_upper_bound(rank, deviations)]
        };
        Some(super::estimate(rank, bounds, !self.0.is_estimation_mode()))
    }

    /// Merges `other`, so that this is the sketch of the values of both.
    ///
    /// # Errors
    /// If the sketches are accurate at different ends, or both together have 2^64 values or more.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.0.merge(&other.0).map_err(|_| Error::TooMany)
    }

    /// Encodes the sketch as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        self.0.serialize()
    }

    /// Decodes the sketch that any system wrote.
    ///
    /// # Errors
    /// If the bytes are not such a sketch. They have no checksum.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        caught(REQ, || ReqSketch::deserialize(bytes).map(Self).map_err(|cause| Error::bytes(REQ, cause)))
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
