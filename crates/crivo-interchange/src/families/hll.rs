//! `HLL`: registers in the format of Spark's `hll_sketch_agg`.

use std::fmt;

use crivo::Estimate;
use datasketches::hash::value::raw_bytes;
use datasketches::hll::{HllSketch, HllType, HllUnion};

use super::border::caught;
use super::check::wrong_registers;
use super::estimate;
use crate::{Error, Result};

const KIND: &str = "HLL";

/// Counts distinct keys in 2^`lg_k` bytes, with a standard error of about 1.04/√(2^`lg_k`), in the
/// form `HLL_8` that Spark uses.
#[derive(Clone, PartialEq)]
pub struct Hll(HllSketch);

impl Hll {
    /// Returns an empty sketch of 2^`lg_k` registers.
    ///
    /// # Errors
    /// If `lg_k` is not 4 to 21.
    pub fn new(lg_k: u8) -> Result<Self> {
        HllSketch::new(lg_k, HllType::Hll8)
            .map(Self)
            .map_err(|_| Error::Size { allowed: "4 to 21", found: lg_k })
    }

    /// Adds text or bytes. Empty text is not added.
    pub fn insert_bytes(&mut self, key: &[u8]) {
        if !key.is_empty() {
            self.0.update(raw_bytes::from_slice(key));
        }
    }

    /// Adds an integer. Integers from 2^63 on become the negative ones of the same bits.
    pub fn insert_integer(&mut self, key: u64) {
        self.0.update(key.cast_signed());
    }

    /// Returns the base-2 logarithm of the number of registers.
    pub fn lg_k(&self) -> u8 {
        self.0.lg_config_k()
    }

    /// Returns true if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of distinct keys, with bounds at about 95 %.
    pub fn estimate(&self) -> Estimate {
        let bounds = |deviations| [self.0.lower_bound(deviations), self.0.upper_bound(deviations)];
        estimate(self.0.estimate(), bounds, self.is_empty())
    }

    /// Merges `other`, so that this is the sketch of both streams, in the smaller of the two sizes.
    pub fn merge(&mut self, other: &Self) {
        // This size is valid, because it is the size of a sketch.
        if let Ok(mut union) = HllUnion::new(self.lg_k()) {
            union.update(&self.0);
            union.update(&other.0);
            self.0 = union.to_sketch(HllType::Hll8);
        }
    }

    /// Encodes the sketch as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        self.0.serialize()
    }

    /// Decodes the sketch that any system wrote: `HLL_4`, `HLL_6` or `HLL_8`.
    ///
    /// # Errors
    /// If the bytes are not such a sketch. They have no checksum, so a change inside of the
    /// registers goes unnoticed.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        caught(KIND, || {
            let sketch = HllSketch::deserialize(bytes).map_err(|cause| Error::bytes(KIND, cause))?;
            if let Some(cause) = wrong_registers(bytes) {
                return Err(Error::bytes(KIND, cause));
            }
            // The estimates depend on the sums that are stored beside the registers, and show
            // whether the sums are numbers.
            let answers = [sketch.estimate(), sketch.composite_estimate()];
            if answers.iter().any(|answer| !(0.0..1e25).contains(answer)) {
                return Err(Error::bytes(KIND, "sums that are no sums of registers"));
            }
            Ok(Self(sketch))
        })
    }
}

impl fmt::Debug for Hll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Hll {{ lg_k: {}, estimate: {} }}", self.lg_k(), self.estimate())
    }
}
