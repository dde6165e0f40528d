//! `KLL` and `REQ`: quantiles, as Spark's `kll_sketch_agg_*` and others keep them.
//!
//! Their errors are those of DataSketches: crivo's own rank sketches take the same memory for a smaller error, and
//! know it. These are for exchange. The draws of DataSketches are not seeded, so that the same values give different bytes
//! every time.

use crivo::{Confidence, Estimate};
use datasketches::common::{NumStdDev, SearchCriteria};
use datasketches::kll::{KllFloat, KllSketch, KllValue};
use datasketches::req::{RankAccuracy, ReqFloat, ReqSketch};

use crate::{Error, Result};

/// A number that KLL sketches of other systems hold: `f64` (Spark's `double`), `f32` (`float`) or `i64` (`bigint`).
pub trait KllNumber: Copy {
    /// The number as DataSketches orders it.
    type Value: KllValue + Ord + Clone;

    /// Returns the number as DataSketches has it; none for NaN.
    fn to_value(self) -> Option<Self::Value>;

    /// Returns the number.
    fn from_value(value: &Self::Value) -> Self;
}

impl KllNumber for f64 {
    type Value = KllFloat<f64>;

    fn to_value(self) -> Option<Self::Value> {
        KllFloat::<f64>::new(self).ok()
    }

    fn from_value(value: &Self::Value) -> Self {
        value.into_inner()
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
}

impl KllNumber for i64 {
    type Value = i64;

    fn to_value(self) -> Option<Self::Value> {
        Some(self)
    }

    fn from_value(value: &Self::Value) -> Self {
        *value
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

    /// Returns which share of all numbers is at most a limit, with the bounds that DataSketches states, 99 % sure.
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

    /// Returns the sketch that the bytes of any system hold. They do not say which numbers they hold: the reader
    /// has to know.
    ///
    /// # Errors
    /// If they are not the bytes of such a sketch. There is no checksum in them.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        KllSketch::deserialize(bytes).map(Self).map_err(|cause| Error::bytes("KLL", cause))
    }
}

/// Quantiles whose error is a share of the distance from one end. Other systems keep them as floats of 32 bits. NaN is
/// skipped.
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

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.0.n()
    }

    /// Returns the number at which that share of all is reached, if there is one.
    pub fn quantile(&self, share: f64) -> Option<f32> {
        let value = self.0.quantile(share, SearchCriteria::Inclusive).ok().flatten();
        value.map(ReqFloat::into_inner)
    }

    /// Returns which share of all numbers is at most a limit, with the bounds of DataSketches at two standard deviations.
    pub fn rank(&self, limit: f32) -> Option<Estimate> {
        let rank = self.0.rank(&ReqFloat::<f32>::new(limit).ok()?, SearchCriteria::Inclusive)?;
        let bounds = |deviations: NumStdDev| {
            [self.0.rank_lower_bound(rank, deviations), self.0.rank_upper_bound(rank, deviations)]
        };
        Some(crate::estimate(rank, bounds, !self.0.is_estimation_mode()))
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
