//! The k smallest hashes: how many different, and how many in common.
//!
//! **Question.** How many different items are in a stream, in two streams together, in both, in one
//! and not the other; and how similar are the two sets?
//!
//! **Guarantee.** With `k ≥ 3` the estimate has no bias and a standard error of `1/√(k − 2)` at any
//! count above `k`: 1.6 % in 64 KiB. Below `k` different items it is exact. Of two sketches, a part
//! of the union that makes up the share `p` of it is known to about `1/√(k p)`. With `k = 1` the
//! mean of the estimate is infinite and a 95 % interval spans a factor of 146: one hash says no
//! more.
//!
//! **Idea.** Hashes are spread evenly between 0 and 1. The smallest of `n` of them lies near
//! `1/(n + 1)`, the `k`-th smallest, `h`, near `k/(n + 1)`: so `n` is about `1/h − 1` for `k = 1`
//! (the minimum-hash method) and `(k − 1)/h` for more. Repetitions change nothing. And the smallest
//! hashes are a random sample of the different items, the same for every set, so samples of two
//! sets can be compared.
//!
//! **When not to use it.** To count only: [`HyperLogLog`](super::HyperLogLog) has the same error in
//! a sixteenth of the memory.
//!
//! **Sources.** Bar-Yossef, Jayram, Kumar, Sivakumar, Trevisan: *Counting distinct elements in a
//! data stream* (2002). Beyer, Haas, Reinwald, Sismanis, Gemulla: *On synopses for distinct-value
//! estimation under multiset operations* (2007): the unbiased estimate. Dasgupta, Lang, Rhodes,
//! Thaler: *A framework for estimating stream expression cardinalities* (2016): comparing below a
//! common threshold.
//!
//! **Where this departs from the papers.** Hashes above the `k` smallest are kept for a while, so
//! that most insertions are one comparison, but never seen: equal sets give equal sketches. Bounds
//! come from the exact distribution of the hashes below a threshold.

pub(crate) mod bounds;
mod candidates;
mod comparison;

use std::ops::RangeInclusive;

use self::bounds::{least_items, most_items, share};
use self::candidates::Candidates;
pub use self::comparison::Comparison;
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Cardinality, Merge, impl_insert_by_hash, impl_sketch};

/// Keeps the k smallest hashes of a set; see the [module](self) for what they tell.
///
/// ```
/// use crivo::distinct::KMinValues;
///
/// let mut visitors = KMinValues::for_error(0.02)?;
/// for visit in 0..300_000_u32 {
///     visitors.insert(format!("user{}", visit % 100_000).as_str())?;
/// }
/// let estimate = visitors.estimate();
/// assert!(estimate.covers(100_000.0) && estimate.relative_error() < 0.05);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KMinValues {
    scheme: KeyScheme,
    candidates: Candidates,
}

// ---- limits and sizing ----

impl KMinValues {
    /// What `k` may be: from the one smallest hash to 512 MiB of them.
    pub const SIZES: RangeInclusive<u32> = 1..=1 << 26;

    /// The standard error of a large count, as a share of it: `1/√(k − 2)`, infinite for `k` up
    /// to 2.
    pub fn standard_error(k: u32) -> f64 {
        if k > 2 { 1.0 / f64::from(k - 2).sqrt() } else { f64::INFINITY }
    }

    /// The smallest `k` whose standard error is at most `error`.
    ///
    /// # Errors
    /// If no size of the range has it.
    ///
    /// ```
    /// use crivo::distinct::KMinValues;
    /// assert_eq!(KMinValues::k_for(0.01)?, 10_002);
    /// assert!(KMinValues::k_for(0.0001).is_err());
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn k_for(error: f64) -> Result<u32> {
        let most = *Self::SIZES.end();
        if !(error < 1.0 && error >= Self::standard_error(most)) {
            let least = Self::standard_error(most);
            return Err(Error::parameter(
                "error",
                format_args!("a standard error from {least:.6} to below 1"),
                error,
            ));
        }
        let (mut low, mut high) = (3, most);
        while low < high {
            let middle = low.midpoint(high);
            if Self::standard_error(middle) <= error { high = middle } else { low = middle + 1 }
        }
        Ok(high)
    }
}

// ---- construction ----

impl KMinValues {
    /// Creates an empty sketch of the `k` smallest hashes for keys that are bytes or text.
    ///
    /// # Errors
    /// If `k` is not in [`SIZES`](Self::SIZES).
    pub fn new(k: u32) -> Result<Self> {
        Self::with_scheme(k, KeyScheme::bytes())
    }

    /// Creates an empty sketch for keys of the given scheme.
    ///
    /// # Errors
    /// If `k` is not in [`SIZES`](Self::SIZES).
    pub fn with_scheme(k: u32, scheme: KeyScheme) -> Result<Self> {
        if Self::SIZES.contains(&k) {
            Ok(Self { scheme, candidates: Candidates::new(k as usize) })
        } else {
            let (least, most) = Self::SIZES.into_inner();
            Err(Error::parameter("k", format_args!("{least} to {most}"), k))
        }
    }

    /// Creates an empty sketch, for bytes or text, of the smallest size with the wanted standard
    /// error.
    ///
    /// # Errors
    /// If no size reaches the error.
    pub fn for_error(error: f64) -> Result<Self> {
        Self::new(Self::k_for(error)?)
    }

    /// Returns an empty sketch for keys of the given scheme, of the smallest size with the wanted
    /// standard error.
    ///
    /// # Errors
    /// If no size reaches the error.
    pub fn for_error_with_scheme(error: f64, scheme: KeyScheme) -> Result<Self> {
        Self::with_scheme(Self::k_for(error)?, scheme)
    }
}

// ---- update ----

impl KMinValues {
    /// Adds one key by its hash, which must come from this sketch's [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.candidates.insert(hash);
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.candidates.insert_all(hashes);
    }
}

impl_insert_by_hash!(KMinValues);

// ---- query ----

impl KMinValues {
    /// Returns the number of different items, with bounds at 95 %.
    pub fn estimate(&self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// Returns the number of different items, with bounds at the given confidence. It is exact
    /// below `k` items. From `k` items on, neither the value nor the lower bound is below `k`,
    /// because `k` different hashes were seen.
    pub fn estimate_at(&self, confidence: Confidence) -> Estimate {
        let Some(kth) = self.candidates.kth() else {
            return Estimate::exact(self.candidates.len() as f64);
        };
        let (k, share) = (f64::from(self.k()), share(kth));
        let value = if k == 1.0 { 1.0 / share - 1.0 } else { (k - 1.0) / share };
        let unlikely = (1.0 - confidence.level()) / 2.0;
        let (lower, upper) = (least_items(k, share, unlikely), most_items(k, share, unlikely));
        Estimate::probable(value, lower, upper, confidence).limited_to(k, f64::INFINITY)
    }

    /// Compares this set with another: their union, intersection, difference and similarity.
    /// Sketches of different `k` compare as well; the smaller one decides the error.
    ///
    /// # Errors
    /// If the schemes differ.
    ///
    /// ```
    /// use crivo::distinct::KMinValues;
    /// let (mut monday, mut tuesday) = (KMinValues::new(64)?, KMinValues::new(64)?);
    /// monday.insert("ana")?;
    /// tuesday.insert("ana")?;
    /// tuesday.insert("rui")?;
    /// let compared = monday.compare(&tuesday)?;
    /// assert_eq!(compared.intersection().value(), 1.0);
    /// assert_eq!(compared.jaccard().value(), 0.5);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn compare(&self, other: &Self) -> Result<Comparison> {
        self.scheme.require_same(other.scheme)?;
        Ok(Comparison::new(self, other))
    }

    /// Returns true if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// Returns how many of the smallest hashes are kept.
    pub fn k(&self) -> u32 {
        self.candidates.k() as u32
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.candidates.memory()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("k", Parameter::Count(self.k().into()))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        let kept = self.candidates.len();
        let state = if kept < self.candidates.k() { "exact" } else { "sampling" };
        let mut parameters = [self.parameters(), vec![("state", Parameter::Name(state))]].concat();
        let error = Self::standard_error(self.k());
        if error.is_finite() {
            parameters.push(("standard_error", Parameter::Ratio(error)));
        }
        Summary {
            family: Self::FAMILY,
            parameters,
            scheme: self.scheme,
            items: self.estimate(),
            fill: Some(kept as f64 / self.candidates.k() as f64),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(
    KMinValues, hashes, keys, cardinality;
    full_memory = |sketch| size_of::<KMinValues>() + sketch.candidates.full_memory()
);

impl Cardinality for KMinValues {
    fn distinct(&self) -> Estimate {
        self.estimate()
    }
}

// ---- merge ----

impl KMinValues {
    /// Makes this the sketch of both streams, bit for bit. Of two sizes the smaller one stays, as
    /// if both streams had been counted with it.
    ///
    /// # Errors
    /// If the schemes differ; the sketch is unchanged then.
    ///
    /// ```
    /// use crivo::distinct::KMinValues;
    /// let (mut monday, mut tuesday) = (KMinValues::new(64)?, KMinValues::new(256)?);
    /// monday.insert("ana")?;
    /// tuesday.insert("ana")?;
    /// tuesday.insert("rui")?;
    /// tuesday.merge(&monday)?;
    /// assert_eq!(tuesday.estimate().value(), 2.0);
    /// assert_eq!(tuesday.k(), 64);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        self.candidates.merge(&other.candidates);
        Ok(())
    }
}

impl Merge for KMinValues {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl KMinValues {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a `KMinValues`: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for KMinValues {
    const FAMILY: Family = Family::KMinValues;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u32(self.k());
        writer.u32(self.candidates.len() as u32);
        writer.u64s(self.candidates.ascending());
    }
}

impl Decode for KMinValues {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let k = reader.u32("k")?;
        let sketch =
            Self::with_scheme(k, header.scheme).map_err(|error| Error::contents("k", error.expected(), k))?;
        let count = reader.u32("number of hashes")?;
        if count > k {
            return Err(Error::contents("number of hashes", format_args!("at most {k}"), count));
        }
        let hashes = reader.u64s("hashes", count.into())?;
        if !hashes.clone().is_sorted_by(|a, b| a < b) {
            return Err(Error::contents("hashes", "strictly ascending order", "another order"));
        }
        Ok(Self { candidates: Candidates::from_ascending(k as usize, hashes), ..sketch })
    }
}
