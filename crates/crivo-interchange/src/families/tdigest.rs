//! `t-digest`: quantiles that are most accurate at both ends.

use crivo::Estimate;
use crivo::sketch::Quantiles;
use datasketches::tdigest::TDigestMut;

use super::border::caught;
use crate::{Error, Result};

const KIND: &str = "t-digest";

/// Estimates quantiles of numbers from about 2 `k` centroids. NaN and infinities are skipped.
///
/// No bound on its error holds for every input. So the only stated bounds are the least and the
/// greatest number, which are certain. crivo's own rank sketches know their error.
#[derive(Debug, Clone)]
pub struct TDigest(TDigestMut);

impl TDigest {
    /// Returns an empty digest of size `k`. The default of other systems is 100 or 200.
    ///
    /// # Errors
    /// If `k` is below 10.
    pub fn new(k: u16) -> Result<Self> {
        let size = Error::QuantilesSize { allowed: "10 to 65535", found: k };
        TDigestMut::new(k).map(Self).map_err(|_| size)
    }

    /// Adds a number.
    pub fn insert(&mut self, number: f64) {
        if self.0.total_weight() < u64::MAX {
            self.0.update(number);
        }
    }

    /// Returns the size `k`.
    pub fn k(&self) -> u16 {
        self.0.k()
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.0.total_weight()
    }

    /// Returns the number at this share of all numbers in ascending order, if there is one.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        self.0.clone().quantile(share).ok().flatten()
    }

    /// Returns the share of all numbers that are below `limit`, including half of those equal to
    /// it.
    pub fn rank(&self, limit: f64) -> Option<f64> {
        self.0.clone().rank(limit).ok().flatten()
    }

    /// Merges `other`, so that this is the digest of the values of both.
    ///
    /// # Errors
    /// If both together have 2^64 values or more.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        if self.count().checked_add(other.count()).is_none() {
            return Err(Error::TooMany);
        }
        self.0.merge(&other.0);
        Ok(())
    }

    /// Encodes the digest as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        self.0.clone().serialize()
    }

    /// Decodes the digest that any system wrote, of doubles or of floats.
    ///
    /// # Errors
    /// If the bytes are not such a digest. They have no checksum.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if bytes.get(2) != Some(&20) {
            return Err(Error::bytes(KIND, "another family of sketches"));
        }
        caught(KIND, || {
            let doubles = TDigestMut::deserialize(bytes);
            let digest = match doubles {
                Ok(digest) => digest,
                // The bytes do not tell the width of their numbers. A digest of floats is too short
                // for doubles.
                Err(cause) => TDigestMut::deserialize_f32(bytes).map_err(|_| Error::bytes(KIND, cause))?,
            };
            let digest = Self(digest);
            let mut trial = digest.clone();
            [0.0, 0.5, 1.0].iter().for_each(|&share| _ = trial.quantile(share));
            if trial.merge(&digest).is_ok() {
                trial.encode();
            }
            Ok(digest)
        })
    }

    fn between(&self, value: f64) -> Option<Estimate> {
        let (least, greatest) = self.0.min_value().zip(self.0.max_value())?;
        Some(Estimate::certain(value.clamp(least, greatest), least, greatest))
    }
}

impl Quantiles for TDigest {
    fn quantile(&self, share: f64) -> Option<Estimate> {
        self.between(TDigest::quantile(self, share)?)
    }

    fn count_below(&self, limit: f64) -> Estimate {
        let all = self.count() as f64;
        let (Some(least), Some(greatest)) = (self.0.min_value(), self.0.max_value()) else {
            return Estimate::exact(0.0);
        };
        if limit <= least {
            return Estimate::exact(0.0);
        }
        if limit > greatest {
            return Estimate::exact(all);
        }
        Estimate::certain((all * self.rank(limit).unwrap_or(0.0)).clamp(0.0, all), 0.0, all)
    }

    fn count(&self) -> u64 {
        TDigest::count(self)
    }
}
