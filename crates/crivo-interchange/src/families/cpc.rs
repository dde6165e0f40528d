//! `CPC`: counts distinct keys in fewer bytes than HLL.

use std::fmt;

use crivo::Estimate;
use datasketches::cpc::{CpcSketch, CpcUnion};
use datasketches::hash::value::raw_bytes;

use super::border::{caught, u32_at, u64_at};
use super::estimate;
use crate::{Error, Result};

const KIND: &str = "CPC";
/// The largest size. Larger sketches of DataSketches have a table that forged bytes could fill in
/// quadratic time.
const MOST_LG_K: u8 = 16;
/// The bits of the flags byte.
const HAS_HIP: u8 = 1 << 2;
const HAS_TABLE: u8 = 1 << 3;
const HAS_WINDOW: u8 = 1 << 4;

/// Counts distinct keys with a standard error of about 0.69/√(2^`lg_k`), in about 0.6 of the bytes
/// of an [`Hll`](crate::Hll) with that error.
#[derive(Clone)]
pub struct Cpc(CpcSketch);

impl Cpc {
    /// Returns an empty sketch of 2^`lg_k` rows.
    ///
    /// # Errors
    /// If `lg_k` is not 4 to 16.
    pub fn new(lg_k: u8) -> Result<Self> {
        let size = Error::Size { allowed: "4 to 16", found: lg_k };
        if lg_k > MOST_LG_K {
            return Err(size);
        }
        CpcSketch::new(lg_k).map(Self).map_err(|_| size)
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

    /// Returns the base-2 logarithm of the number of rows.
    pub fn lg_k(&self) -> u8 {
        self.0.lg_k()
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
        if let Some(joined) = union(&[&self.0, &other.0]) {
            self.0 = joined;
        }
    }

    /// Encodes the sketch as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        self.0.serialize()
    }

    /// Decodes the sketch that any system wrote.
    ///
    /// # Errors
    /// If the bytes are not such a sketch, if it has more than 2^16 rows, or if its keys were
    /// hashed with another seed than 9001.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        if let Some(&lg_k) = bytes.get(3).filter(|lg_k| **lg_k > MOST_LG_K) {
            return Err(Error::bytes(KIND, format_args!("lg_k {lg_k}, and 16 is the most that is read")));
        }
        caught(KIND, || {
            let sketch = CpcSketch::deserialize(bytes).map_err(|cause| Error::bytes(KIND, cause))?;
            let estimate = sketch.estimate();
            if !(0.0..1e25).contains(&estimate) || !are_sums(bytes, sketch.lg_k()) {
                return Err(Error::bytes(KIND, "sums that are no sums of its coupons"));
            }
            // The coupons determine all other parts. So the parts are rebuilt from the coupons; if
            // they differ, they were forged.
            let rebuilt = union(&[&sketch]).map(|rebuilt| rebuilt.serialize());
            let payload = |bytes: &[u8]| bytes.get(header_len(bytes)..).map(<[u8]>::to_vec);
            let same = rebuilt.is_some_and(|rebuilt| {
                payload(&rebuilt) == payload(bytes)
                    && (sketch.is_empty() || u32_at(&rebuilt, 8) == u32_at(bytes, 8))
            });
            if !same {
                return Err(Error::bytes(KIND, "parts that do not belong together"));
            }
            Ok(Self(sketch))
        })
    }
}

/// Returns the union of all sketches, in the smallest of their sizes.
fn union(sketches: &[&CpcSketch]) -> Option<CpcSketch> {
    let lg_k = sketches.iter().map(|sketch| sketch.lg_k()).min()?;
    let mut union = CpcUnion::new(lg_k).ok()?;
    for sketch in sketches {
        union.update(sketch).ok()?;
    }
    Some(union.to_sketch())
}

/// Returns the length of the header before the coded table and window. The first byte has it in
/// words.
fn header_len(bytes: &[u8]) -> usize {
    usize::from(bytes.first().copied().unwrap_or(0)) * 4
}

/// Returns true if the stored running estimate and sum of probabilities are possible, or if the
/// bytes do not have them.
fn are_sums(bytes: &[u8], lg_k: u8) -> bool {
    let flags = bytes.get(5).copied().unwrap_or(0);
    if flags & HAS_HIP == 0 || flags & (HAS_TABLE | HAS_WINDOW) == 0 {
        return true;
    }
    // They come after the number of coupons and another word, whichever parts there are.
    let number = |place: usize| u64_at(bytes, place).map_or(f64::NAN, f64::from_bits);
    let (chances, estimate) = (number(16), number(24));
    chances > 0.0 && chances <= f64::from(1_u32 << lg_k) && (0.0..1e25).contains(&estimate)
}

impl PartialEq for Cpc {
    fn eq(&self, other: &Self) -> bool {
        self.encode() == other.encode()
    }
}

impl fmt::Debug for Cpc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cpc {{ lg_k: {}, estimate: {} }}", self.lg_k(), self.estimate())
    }
}
