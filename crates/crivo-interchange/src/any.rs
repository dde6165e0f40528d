//! A DataSketches sketch of any family.

use crivo::Estimate;
use crivo::sketch::Quantiles;

use crate::{AnyKll, Bloom, Cpc, DEFAULT_LG_K, Error, FrequentItems, Hll, Req, Result, TDigest, Theta};

/// The position of the byte with the family of a sketch.
const FAMILY: usize = 2;

/// A DataSketches sketch of the family that its bytes name.
#[derive(Debug, Clone)]
pub enum AnyInterchange {
    /// Counts distinct keys.
    Hll(Hll),
    /// Counts distinct keys.
    Theta(Theta),
    /// Counts distinct keys.
    Cpc(Cpc),
    /// Estimates quantiles.
    Kll(AnyKll),
    /// Estimates quantiles, most accurately at one end.
    Req(Req),
    /// Estimates quantiles, most accurately at both ends.
    TDigest(TDigest),
    /// Finds the most frequent keys.
    FrequentItems(FrequentItems),
    /// Answers whether a key is in a set.
    Bloom(Bloom),
}

/// Evaluates the same expression for the sketch of any family.
macro_rules! of_any {
    ($any:expr, $sketch:ident => $done:expr) => {
        match $any {
            AnyInterchange::Hll($sketch) => $done,
            AnyInterchange::Theta($sketch) => $done,
            AnyInterchange::Cpc($sketch) => $done,
            AnyInterchange::Kll($sketch) => $done,
            AnyInterchange::Req($sketch) => $done,
            AnyInterchange::TDigest($sketch) => $done,
            AnyInterchange::FrequentItems($sketch) => $done,
            AnyInterchange::Bloom($sketch) => $done,
        }
    };
}

/// The families that can be read, as error messages name them.
const READ: &str = "HLL, Theta, CPC, KLL, REQ, t-digest, frequent items or Bloom";

impl AnyInterchange {
    /// Returns true if bytes may be a sketch of a family that can be read, by the third byte. Text
    /// may pass this test too.
    pub fn may_be(head: &[u8]) -> bool {
        !head.starts_with(b"CRVO") && matches!(head.get(FAMILY), Some(3 | 7 | 10 | 15..=18 | 20 | 21))
    }

    /// Returns true if bytes begin as only DataSketches sketches do: also with the small numbers of
    /// words and version.
    pub fn is_certainly(head: &[u8]) -> bool {
        Self::may_be(head) && matches!(head, &[1..=10, 1..=4, ..])
    }

    /// Decodes the sketch that any system wrote.
    ///
    /// # Errors
    /// If the bytes are not such a sketch.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        match bytes.get(FAMILY) {
            Some(3) => Theta::decode(bytes, DEFAULT_LG_K).map(Self::Theta),
            Some(7) => Hll::decode(bytes).map(Self::Hll),
            Some(10) => FrequentItems::decode(bytes).map(Self::FrequentItems),
            Some(15) => AnyKll::decode(bytes).map(Self::Kll),
            Some(16) => Cpc::decode(bytes).map(Self::Cpc),
            Some(17) => Req::decode(bytes).map(Self::Req),
            Some(18) => Err(Error::bytes(
                READ,
                "a Count-Min sketch, whose hashes differ from one library to the next",
            )),
            Some(20) => TDigest::decode(bytes).map(Self::TDigest),
            Some(21) => Bloom::decode(bytes).map(Self::Bloom),
            _ => Err(Error::bytes(READ, "a family that is not read")),
        }
    }

    /// Returns the name of the kind of sketch.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hll(_) => "DataSketches HLL",
            Self::Theta(_) => "DataSketches Theta",
            Self::Cpc(_) => "DataSketches CPC",
            Self::Kll(_) => "DataSketches KLL",
            Self::Req(_) => "DataSketches REQ",
            Self::TDigest(_) => "DataSketches t-digest",
            Self::FrequentItems(_) => "DataSketches FrequentItems",
            Self::Bloom(_) => "DataSketches Bloom",
        }
    }

    /// Returns the sketch's sizes, by name.
    pub fn parameters(&self) -> Vec<(&'static str, u64)> {
        match self {
            Self::Hll(sketch) => vec![("lg_k", sketch.lg_k().into())],
            // The bytes do not contain it.
            Self::Theta(_) => Vec::new(),
            Self::Cpc(sketch) => vec![("lg_k", sketch.lg_k().into())],
            Self::Kll(sketch) => vec![("k", sketch.k().into())],
            Self::Req(sketch) => vec![("k", sketch.k().into())],
            Self::TDigest(sketch) => vec![("k", sketch.k().into())],
            Self::FrequentItems(sketch) => vec![("lg_size", sketch.lg_size().into())],
            Self::Bloom(sketch) => vec![("bits", sketch.bits()), ("hashes", sketch.hashes().into())],
        }
    }

    /// Returns the number of distinct keys, if the sketch counts them.
    pub fn distinct(&self) -> Option<Estimate> {
        match self {
            Self::Hll(sketch) => Some(sketch.estimate()),
            Self::Theta(sketch) => Some(sketch.estimate()),
            Self::Cpc(sketch) => Some(sketch.estimate()),
            Self::Bloom(sketch) => Some(sketch.items()),
            _ => None,
        }
    }

    /// Returns the amount of input: distinct keys, values, or the sum of weights.
    pub fn items(&self) -> Estimate {
        let count = match self {
            Self::FrequentItems(sketch) => Some(sketch.total()),
            _ => self.quantiles().map(Quantiles::count),
        };
        count
            .map(|count| Estimate::exact(count as f64))
            .or_else(|| self.distinct())
            .unwrap_or(Estimate::exact(0.0))
    }

    /// Returns the sketch as [`Quantiles`], if it estimates quantiles.
    pub fn quantiles(&self) -> Option<&dyn Quantiles> {
        match self {
            Self::Kll(sketch) => Some(sketch),
            Self::Req(sketch) => Some(sketch),
            Self::TDigest(sketch) => Some(sketch),
            _ => None,
        }
    }

    /// Merges `other` into this sketch.
    ///
    /// # Errors
    /// If the sketches are of different families, or their sizes do not fit together.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        match (self, other) {
            (Self::Hll(mine), Self::Hll(theirs)) => mine.merge(theirs),
            (Self::Theta(mine), Self::Theta(theirs)) => mine.merge(theirs),
            (Self::Cpc(mine), Self::Cpc(theirs)) => mine.merge(theirs),
            (Self::Kll(mine), Self::Kll(theirs)) => return mine.merge(theirs),
            (Self::Req(mine), Self::Req(theirs)) => return mine.merge(theirs),
            (Self::TDigest(mine), Self::TDigest(theirs)) => return mine.merge(theirs),
            (Self::FrequentItems(mine), Self::FrequentItems(theirs)) => return mine.merge(theirs),
            (Self::Bloom(mine), Self::Bloom(theirs)) => return mine.merge(theirs),
            (mine, theirs) => {
                let (mine, theirs) = (mine.name(), theirs.name());
                return Err(Error::Incompatible(format!("is a {theirs}, and the first a {mine}")));
            }
        }
        Ok(())
    }

    /// Encodes the sketch as other systems read it.
    pub fn encode(&self) -> Vec<u8> {
        of_any!(self, sketch => sketch.encode())
    }
}
