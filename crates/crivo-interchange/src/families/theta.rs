//! `Theta`: the smallest hashes, as Spark's `theta_sketch_agg` keeps them.

use std::hash::Hash;

use crivo::Estimate;
use datasketches::hash::value::raw_bytes;
use datasketches::theta::{CompactThetaSketch, ThetaSketch, ThetaSketchBuilder, ThetaUnionBuilder};

use super::estimate;
use crate::{Error, Result};

/// Counts different keys by the 2^`lg_k` smallest of their hashes, with a standard error of about
/// 1/√(2^`lg_k`), and exactly while there are fewer. Unlike an [`Hll`](crate::Hll), other systems
/// can intersect and subtract it.
#[derive(Debug)]
pub struct Theta {
    lg_k: u8,
    /// What was added since the last merge, if anything was.
    recent: Option<ThetaSketch>,
    /// What was merged or decoded.
    settled: Option<CompactThetaSketch>,
}

impl Theta {
    /// An empty sketch that keeps 2^`lg_k` hashes.
    ///
    /// # Errors
    /// If `lg_k` is not 5 to 26.
    pub fn new(lg_k: u8) -> Result<Self> {
        Ok(Self { lg_k, recent: Some(empty(lg_k)?), settled: None })
    }

    /// Adds text or bytes; nothing, if they are empty.
    pub fn insert_bytes(&mut self, key: &[u8]) {
        if !key.is_empty() {
            self.update(raw_bytes::from_slice(key));
        }
    }

    /// Adds an integer: those above 2^63 as the negative ones of the same bits.
    pub fn insert_integer(&mut self, key: u64) {
        self.update(key.cast_signed());
    }

    #[inline]
    fn update(&mut self, key: impl Hash) {
        if self.recent.is_none() {
            // The size was right when this sketch was made.
            self.recent = empty(self.lg_k).ok();
        }
        if let Some(recent) = &mut self.recent {
            recent.update(key);
        }
    }

    /// The base-2 logarithm of how many hashes are kept.
    pub fn lg_k(&self) -> u8 {
        self.lg_k
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.recent.as_ref().is_none_or(ThetaSketch::is_empty)
            && self.settled.as_ref().is_none_or(CompactThetaSketch::is_empty)
    }

    /// How many different keys there are, with bounds at about 95 %; exact while all hashes are
    /// kept.
    pub fn estimate(&self) -> Estimate {
        let Some(sketch) = self.whole() else { return Estimate::exact(0.0) };
        let bounds = |deviations| [sketch.lower_bound(deviations), sketch.upper_bound(deviations)];
        estimate(sketch.estimate(), bounds, !sketch.is_estimation_mode())
    }

    /// Makes this the sketch of both streams, in the size of this one.
    pub fn merge(&mut self, other: &Self) {
        let joined = match (self.whole(), other.whole()) {
            (Some(mine), Some(theirs)) => union(self.lg_k, &mine, &theirs),
            (mine, theirs) => mine.or(theirs),
        };
        *self = Self { lg_k: self.lg_k, recent: None, settled: joined };
    }

    /// The bytes that other systems read: compact, and compressed where that is shorter, as Spark
    /// writes them.
    pub fn encode(&self) -> Vec<u8> {
        let whole = self.whole().or_else(|| Some(empty(self.lg_k).ok()?.compact(true)));
        whole.map_or_else(Vec::new, |sketch| sketch.serialize_compressed())
    }

    /// The sketch that the bytes of any system hold, plain or compressed. They do not say how many
    /// hashes are to be kept of what comes later: `lg_k` does.
    ///
    /// # Errors
    /// If they are not the bytes of such a sketch, or were hashed with another seed than 9001.
    /// There is no checksum in them.
    pub fn decode(bytes: &[u8], lg_k: u8) -> Result<Self> {
        empty(lg_k)?;
        let settled = CompactThetaSketch::deserialize(bytes).map_err(|cause| Error::bytes("Theta", cause))?;
        Ok(Self { lg_k, recent: None, settled: Some(settled) })
    }

    /// All of it, ordered; none if nothing was ever added.
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

/// Of two sketches of the one seed that [`Theta::decode`] accepts, so that it always exists.
fn union(lg_k: u8, one: &CompactThetaSketch, other: &CompactThetaSketch) -> Option<CompactThetaSketch> {
    let mut union = ThetaUnionBuilder::default().lg_k(lg_k).build().ok()?;
    union.update(one).ok()?;
    union.update(other).ok()?;
    Some(union.to_sketch(true))
}
