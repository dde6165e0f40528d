//! Probabilistic counting: how many different, to the nearest order of magnitude, in one byte.
//!
//! **Question.** Of what order of magnitude is the number of different items?
//!
//! **Guarantee.** Let `z` be the number of zeros at the end of a hash and `z_max` the largest `z`
//! of all. The estimate is `2^z_max`. Of `n` different items `P(z_max ≤ z) = (1 − 2^−(z+1))^n`. So
//! its median is 0.72 to 1.44 times the truth, and it is within a factor of 4 of the truth in 75 to
//! 78 % of cases. Its mean would be infinite if hashes had no end. A 95 % interval spans a factor
//! of 291.
//!
//! **Idea.** A hash that ends in `z` zeros occurs about once in `2^z` different items, so the
//! longest run of zeros tells about how many items there were. Repetitions change nothing.
//!
//! **When not to use it.** To count. It is for study: it is a single register, and
//! [`LogLog`](super::LogLog) and [`HyperLogLog`](super::HyperLogLog) average many such registers.
//!
//! **Sources.** Flajolet, Martin: *Probabilistic counting algorithms for data base applications*
//! (1985). This is its simplest relative, from Alon, Matias, Szegedy: *The space complexity of
//! approximating the frequency moments* (1996), section 2.3.
//!
//! **Where this departs from the papers.** Zeros are counted from the low end of the hash. The
//! bounds invert the distribution above, so they are as wide as one byte allows.

use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::KeyScheme;
use crate::math::exp2;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Cardinality, Merge, impl_insert_by_hash, impl_sketch};

/// Keeps the longest run of zeros of a set's hashes; see the [module](self).
///
/// ```
/// use crivo::distinct::ProbabilisticCounting;
///
/// let mut visitors = ProbabilisticCounting::new();
/// for visit in 0..3_000_u32 {
///     visitors.insert(format!("user{}", visit % 1_000).as_str())?;
/// }
/// assert_eq!(visitors.longest_run(), Some(14));
/// assert_eq!(visitors.estimate().value(), 16_384.0);
/// assert!(visitors.estimate().covers(1_000.0));
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbabilisticCounting {
    scheme: KeyScheme,
    /// One more than the longest run of zeros; 0 if nothing was inserted.
    rank: u8,
}

/// The rank of the hash that is all zeros.
const HIGHEST: u8 = 65;

// ---- construction ----

impl ProbabilisticCounting {
    /// Creates an empty sketch for keys that are bytes or text.
    pub const fn new() -> Self {
        Self::with_scheme(KeyScheme::bytes())
    }

    /// Creates an empty sketch for keys of the given scheme.
    pub const fn with_scheme(scheme: KeyScheme) -> Self {
        Self { scheme, rank: 0 }
    }
}

impl Default for ProbabilisticCounting {
    fn default() -> Self {
        Self::new()
    }
}

// ---- update ----

impl ProbabilisticCounting {
    /// Adds one key by its hash, which must come from this sketch's [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.rank = self.rank.max(hash.trailing_zeros() as u8 + 1);
    }

    /// Adds many keys by their hashes. Same result as one by one.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        hashes.iter().for_each(|&hash| self.insert_hash(hash));
    }
}

impl_insert_by_hash!(ProbabilisticCounting);

// ---- query ----

impl ProbabilisticCounting {
    /// Returns the number of different items, with bounds at 95 %.
    pub fn estimate(&self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// Returns the number of different items, with bounds at the given confidence. The lower bound
    /// is the least number of items for which a run this long is not unlikely. The upper bound is
    /// the largest number for which the absence of a longer run is not unlikely.
    pub fn estimate_at(&self, confidence: Confidence) -> Estimate {
        let Some(longest) = self.longest_run() else {
            return Estimate::exact(0.0);
        };
        let zeros = i32::from(longest);
        let unlikely = (1.0 - confidence.level()) / 2.0;
        // 1 − (1 − 2^−z)^n ≥ unlikely: some hash had z zeros or more. Every hash has at least none.
        let lower = match zeros {
            0 => 1.0,
            _ => libm::log1p(-unlikely) / libm::log1p(-exp2(-zeros)),
        };
        // (1 − 2^−(z+1))^n ≥ unlikely: no hash had z + 1 zeros. No run is longer than 64.
        let upper = match longest {
            64 => f64::INFINITY,
            _ => libm::log(unlikely) / libm::log1p(-exp2(-zeros - 1)),
        };
        // The true count is a whole number, so the bounds shrink to the whole numbers between them.
        let (lower, upper) = (libm::ceil(lower).max(1.0), libm::floor(upper).max(1.0));
        Estimate::probable(exp2(zeros), lower, upper, confidence)
    }

    /// Returns the longest run of zeros at the end of a hash, from 0 to 64. Returns `None` if
    /// nothing was inserted.
    pub fn longest_run(&self) -> Option<u8> {
        self.rank.checked_sub(1)
    }

    /// Returns true if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.rank == 0
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use: the struct itself.
    pub fn memory(&self) -> usize {
        size_of::<Self>()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        Vec::new()
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        let longest = self.longest_run().map(|zeros| ("longest_run", Parameter::Count(zeros.into())));
        Summary {
            family: Self::FAMILY,
            parameters: longest.into_iter().collect(),
            scheme: self.scheme,
            items: self.estimate(),
            fill: None,
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(ProbabilisticCounting, hashes, keys, cardinality);

impl Cardinality for ProbabilisticCounting {
    fn distinct(&self) -> Estimate {
        self.estimate()
    }
}

// ---- merge ----

impl ProbabilisticCounting {
    /// Merges `other` into this sketch: the longer run stays, as in the sketch of both streams.
    ///
    /// # Errors
    /// If the schemes differ; the sketch is unchanged then.
    ///
    /// ```
    /// use crivo::{distinct::ProbabilisticCounting, keys::KeyScheme};
    /// let mut monday = ProbabilisticCounting::with_scheme(KeyScheme::hashes());
    /// let mut tuesday = monday.clone();
    /// monday.insert_hash(0b1000);
    /// tuesday.insert_hash(0b10);
    /// tuesday.merge(&monday)?;
    /// assert_eq!(tuesday.longest_run(), Some(3));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        self.rank = self.rank.max(other.rank);
        Ok(())
    }
}

impl Merge for ProbabilisticCounting {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl ProbabilisticCounting {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a `ProbabilisticCounting`: see
    /// [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for ProbabilisticCounting {
    const FAMILY: Family = Family::ProbabilisticCounting;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u8(self.rank);
    }
}

impl Decode for ProbabilisticCounting {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let rank = reader.u8("rank")?;
        if rank > HIGHEST {
            return Err(Error::contents("rank", format_args!("at most {HIGHEST}"), rank));
        }
        Ok(Self { scheme: header.scheme, rank })
    }
}
