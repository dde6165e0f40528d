//! `Theta`: the smallest hashes, in the format of Spark's `theta_sketch_agg`.

use std::hash::Hash;

use crivo::Estimate;
use datasketches::hash::value::raw_bytes;
use datasketches::theta::{CompactThetaSketch, ThetaSketch, ThetaSketchBuilder, ThetaUnionBuilder};

use super::border::caught;
use super::estimate;
use crate::{Error, Result};

const KIND: &str = "Theta";

/// Counts distinct keys by the 2^`lg_k` smallest of their hashes, with a standard error of about
/// 1/√(2^`lg_k`). The count is exact while there are fewer keys. Unlike an [`Hll`](crate::Hll),
/// other systems can intersect and subtract it.
#[derive(Debug)]
pub struct Theta {
    lg_k: u8,
    /// The keys that were added since the last merge, if any.
    recent: Option<ThetaSketch>,
    /// The sketch that was merged or decoded.
    settled: Option<CompactThetaSketch>,
}

impl Theta {
    /// Returns an empty sketch that keeps 2^`lg_k` hashes.
    ///
    /// # Errors
    /// If `lg_k` is not 5 to 26.
    pub fn new(lg_k: u8) -> Result<Self> {
        Ok(Self { lg_k, recent: Some(empty(lg_k)?), settled: None })
    }

    /// Adds text or bytes. Empty text is not added.
    pub fn insert_bytes(&mut self, key: &[u8]) {
        if !key.is_empty() {
            self.update(raw_bytes::from_slice(key));
        }
    }

    /// Adds an integer. Integers from 2^63 on become the negative ones of the same bits.
    pub fn insert_integer(&mut self, key: u64) {
        self.update(key.cast_signed());
    }

    #[inline]
    fn update(&mut self, key: impl Hash) {
        if self.recent.is_none() {
            // The size was checked when this sketch was made.
            self.recent = empty(self.lg_k).ok();
        }
        if let Some(recent) = &mut self.recent {
            recent.update(key);
        }
    }

    /// Returns the base-2 logarithm of the number of hashes that are kept.
    pub fn lg_k(&self) -> u8 {
        self.lg_k
    }

    /// Returns true if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.recent.as_ref().is_none_or(ThetaSketch::is_empty)
            && self.settled.as_ref().is_none_or(CompactThetaSketch::is_empty)
    }

    /// Returns the number of distinct keys, with bounds at about 95 %. It is exact while all hashes
    /// are kept.
    pub fn estimate(&self) -> Estimate {
        let Some(sketch) = self.whole() else { return Estimate::exact(0.0) };
        let bounds = |deviations| [sketch.lower_bound(deviations), sketch.upper_bound(deviations)];
        estimate(sketch.estimate(), bounds, !sketch.is_estimation_mode())
    }

    /// Merges `other`, so that this is the sketch of both streams, in the size of this one.
    pub fn merge(&mut self, other: &Self) {
        let joined = match (self.whole(), other.whole()) {
            (Some(mine), Some(theirs)) => union(self.lg_k, &mine, &theirs),
            (mine, theirs) => mine.or(theirs),
        };
        *self = Self { lg_k: self.lg_k, recent: None, settled: joined };
    }

    /// Encodes the sketch as other systems read it: compact, and compressed if that is shorter, as
    /// Spark writes it.
    pub fn encode(&self) -> Vec<u8> {
        let whole = self.whole().or_else(|| Some(empty(self.lg_k).ok()?.compact(true)));
        whole.map_or_else(Vec::new, |sketch| sketch.serialize_compressed())
    }

    /// Decodes the sketch that any system wrote, plain or compressed. The bytes do not tell how
    /// many hashes later additions may keep, so `lg_k` does.
    ///
    /// # Errors
    /// If the bytes are not such a sketch, or its keys were hashed with another seed than 9001.
    /// They have no checksum.
    pub fn decode(bytes: &[u8], lg_k: u8) -> Result<Self> {
        empty(lg_k)?;
        caught(KIND, || {
            let settled =
                CompactThetaSketch::deserialize(bytes).map_err(|cause| Error::bytes(KIND, cause))?;
            Ok(Self { lg_k, recent: None, settled: Some(settled) })
        })
    }

    /// Returns the whole sketch, ordered, or `None` if nothing was ever added.
    fn whole(&self) -> Option<CompactThetaSketch> {
        let recent = self.recent.as_ref().map(|recent| recent.compact(true));
        match (&self.settled, recent) {
            (Some(settled), Some(recent)) => union(self.lg_k, settled, &recent),
            (Some(settled), None) => Some(settled.clone()),
            (None, recent) => recent,
        }
    }
}

impl Clone for Theta {
    fn clone(&self) -> Self {
        Self { lg_k: self.lg_k, recent: None, settled: self.whole() }
    }
}

impl PartialEq for Theta {
    fn eq(&self, other: &Self) -> bool {
        self.lg_k == other.lg_k && self.encode() == other.encode()
    }
}

fn empty(lg_k: u8) -> Result<ThetaSketch> {
    let size = Error::Size { allowed: "5 to 26", found: lg_k };
    ThetaSketchBuilder::default().lg_k(lg_k).build().map_err(|_| size)
}

/// Returns the union of two sketches. Both have the only seed that [`Theta::decode`] accepts, so it
/// always exists.
fn union(lg_k: u8, one: &CompactThetaSketch, other: &CompactThetaSketch) -> Option<CompactThetaSketch> {
    let mut union = ThetaUnionBuilder::default().lg_k(lg_k).build().ok()?;
    union.update(one).ok()?;
    union.update(other).ok()?;
    Some(union.to_sketch(true))
}
