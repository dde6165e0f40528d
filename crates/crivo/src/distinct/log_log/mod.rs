//! LogLog: how many different, from the mean of many longest runs of zeros.
//!
//! **Question.** How many different items are in a stream too long to remember?
//!
//! **Guarantee.** With `m = 2^precision` registers of one byte the standard error of a count from
//! `5m` items on is `1.298/√m`: 2.0 % in 4 KiB. With fewer items the estimate is too high: by 0.5 %
//! at `5m`, 11 % at `2m`, 44 % at `m`, and it stays near `0.79 m` however few there are. The bounds
//! hold there too, because they do not depend on it.
//!
//! **Idea.** The top bits of a hash choose one of `m` registers. It keeps the longest run of zeros
//! at the end of its hashes, as in [`ProbabilisticCounting`](super::ProbabilisticCounting). A
//! register sees about `n/m` items. The geometric mean of the registers' estimates is `2^mean`.
//! Multiplied by `m`, and by a constant that removes its bias, it estimates `n`.
//!
//! **When not to use it.** To count: [`HyperLogLog`](super::HyperLogLog) has the same registers, a
//! smaller error and no bias at any size. LogLog is for study.
//!
//! **Source.** Durand, Flajolet: *Loglog counting of large cardinalities* (2003).
//!
//! **Where this departs from the paper.** The paper's rank is the position of the first one bit.
//! Here the zeros before it are counted, so the mean is one less and the constant twice the
//! paper's: `α = √2 e^(−γ) = 0.79402` instead of 0.39701. It is the limit for many registers. With
//! 64 registers the estimate is 1.3 % too high, a twelfth of its standard error. The bounds invert
//! the distribution of the registers' sum.

mod estimator;

use std::ops::RangeInclusive;

use super::precision;
use super::register_sketch::kind::RegisterArray;
use super::registers::{RankRegisters, items_to_fill};
use crate::codec::{Decode, Encode, Family, Header, Parameter, Parameters, Reader, Summary, Writer};
use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::keys::KeyScheme;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Cardinality, Merge, impl_insert_by_hash, impl_sketch};

/// Counts different items as [`HyperLogLog`](super::HyperLogLog)'s predecessor did; see the
/// [module](self).
///
/// ```
/// use crivo::distinct::LogLog;
///
/// let mut visitors = LogLog::for_error(0.02)?;
/// for visit in 0..300_000_u32 {
///     visitors.insert(format!("user{}", visit % 100_000).as_str())?;
/// }
/// let estimate = visitors.estimate();
/// assert!(estimate.covers(100_000.0) && estimate.relative_error() < 0.06);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLog {
    scheme: KeyScheme,
    precision: u8,
    registers: RankRegisters,
}

// ---- limits and sizing ----

impl LogLog {
    /// The allowed precisions. Below 6 each precision would need a constant of its own. The upper
    /// limit is the same as for [`HyperLogLog`](super::HyperLogLog).
    pub const PRECISIONS: RangeInclusive<u8> = 6..=18;

    /// Returns the standard error of a large count, as a share of it: `1.298/√(2^precision)`.
    pub fn standard_error(precision: u8) -> f64 {
        precision::standard_error(estimator::ERROR_CONSTANT, precision)
    }

    /// Returns the smallest precision whose standard error is at most `error`.
    ///
    /// # Errors
    /// If no precision of the range reaches it.
    ///
    /// ```
    /// use crivo::distinct::LogLog;
    /// assert_eq!(LogLog::precision_for(0.01)?, 15);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn precision_for(error: f64) -> Result<u8> {
        precision::precision_for(error, estimator::ERROR_CONSTANT, &Self::PRECISIONS)
    }
}

// ---- construction ----

impl LogLog {
    /// Creates an empty sketch of `2^precision` bytes for keys that are bytes or text.
    ///
    /// # Errors
    /// If the precision is not in [`PRECISIONS`](Self::PRECISIONS).
    pub fn new(precision: u8) -> Result<Self> {
        Self::with_scheme(precision, KeyScheme::bytes())
    }

    /// Creates an empty sketch for keys of the given scheme.
    ///
    /// # Errors
    /// If the precision is not in [`PRECISIONS`](Self::PRECISIONS).
    pub fn with_scheme(precision: u8, scheme: KeyScheme) -> Result<Self> {
        precision::check(precision, &Self::PRECISIONS)?;
        Ok(Self { scheme, precision, registers: RankRegisters::new(precision) })
    }

    /// Creates an empty sketch, for bytes or text, of the smallest size with the wanted standard
    /// error.
    ///
    /// # Errors
    /// If no precision reaches the error.
    pub fn for_error(error: f64) -> Result<Self> {
        Self::new(Self::precision_for(error)?)
    }

    /// Returns an empty sketch for keys of the given scheme, of the smallest size with the wanted
    /// standard error.
    ///
    /// # Errors
    /// As for [`for_error`](Self::for_error).
    pub fn for_error_with_scheme(error: f64, scheme: KeyScheme) -> Result<Self> {
        Self::with_scheme(Self::precision_for(error)?, scheme)
    }
}

// ---- update ----

impl LogLog {
    /// Adds one key by its hash, which must come from this sketch's [`scheme`](Self::scheme).
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        self.registers.insert(hash);
    }

    /// Adds many keys by their hashes. Same result as one by one, but faster.
    pub fn insert_hashes(&mut self, hashes: &[u64]) {
        self.registers.insert_all(hashes);
    }
}

impl_insert_by_hash!(LogLog);

// ---- query ----

impl LogLog {
    /// Returns the number of different items, with bounds at 95 %.
    pub fn estimate(&self) -> Estimate {
        self.estimate_at(Confidence::P95)
    }

    /// Returns the number of different items, with bounds at the given confidence. With few items
    /// the value is far above the truth, and the interval is widened to include it. Far beyond 2^64
    /// items every register is at its highest value, and the upper bound is infinite.
    pub fn estimate_at(&self, confidence: Confidence) -> Estimate {
        let used = self.registers.used();
        if used == 0 {
            return Estimate::exact(0.0);
        }
        if self.registers.are_full() {
            let unlikely = (1.0 - confidence.level()) / 2.0;
            let value = items_to_fill(self.precision, 0.5);
            let lower = items_to_fill(self.precision, unlikely);
            return Estimate::probable(value, lower, f64::INFINITY, confidence);
        }
        let value = estimator::estimate(&self.registers);
        let (lower, upper) = if confidence.is_certain() {
            (0.0, f64::INFINITY)
        } else {
            estimator::bounds(&self.registers, self.precision, confidence.level())
        };
        // Each used register saw at least one item, and no two registers see the same item.
        Estimate::probable(value, lower, upper, confidence).limited_to(used as f64, f64::INFINITY)
    }

    /// Returns true if nothing was inserted.
    pub fn is_empty(&self) -> bool {
        self.registers.are_unused()
    }

    /// The precision: the base-2 logarithm of the number of registers.
    pub fn precision(&self) -> u8 {
        self.precision
    }

    /// Returns how keys are hashed.
    pub fn scheme(&self) -> KeyScheme {
        self.scheme
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.registers.memory()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![("precision", Parameter::Count(self.precision.into()))]
    }

    /// Returns a summary of the sketch: its parameters, number of items, fill and memory.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![("standard_error", Parameter::Ratio(Self::standard_error(self.precision)))],
            ]
            .concat(),
            scheme: self.scheme,
            items: self.estimate(),
            fill: Some(self.registers.used() as f64 / self.registers.values().len() as f64),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl_sketch!(LogLog, hashes, keys, cardinality);

impl Cardinality for LogLog {
    fn distinct(&self) -> Estimate {
        self.estimate()
    }
}

// ---- merge ----

impl LogLog {
    /// Merges `other` into this sketch. The result equals the sketch of both streams, bit for bit.
    /// The lower of two precisions stays, as if both streams had been counted with it.
    ///
    /// # Errors
    /// If the schemes differ; the sketch is unchanged then.
    ///
    /// ```
    /// use crivo::distinct::LogLog;
    /// let (mut monday, mut tuesday) = (LogLog::new(12)?, LogLog::new(14)?);
    /// monday.insert("ana")?;
    /// tuesday.insert("ana")?;
    /// tuesday.merge(&monday)?;
    /// assert_eq!(tuesday, monday);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.scheme.require_same(other.scheme)?;
        if other.precision < self.precision {
            self.registers = self.registers.folded(other.precision);
            self.precision = other.precision;
        }
        self.registers.merge(&other.registers);
        Ok(())
    }
}

impl Merge for LogLog {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }
}

// ---- bytes ----

impl LogLog {
    /// Returns the sketch as bytes: the contents of a `.crivo` file.
    pub fn encode(&self) -> Vec<u8> {
        Encode::encode(self)
    }

    /// Returns the sketch that the bytes hold.
    ///
    /// # Errors
    /// If they are not the whole, undamaged bytes of a `LogLog`: see [`Decode::decode`].
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Decode::decode(bytes)
    }
}

impl Encode for LogLog {
    const FAMILY: Family = Family::LogLog;

    fn key_scheme(&self) -> KeyScheme {
        self.scheme
    }

    fn encode_payload(&self, writer: &mut Writer) {
        writer.u8(self.precision);
        writer.bytes(self.registers.values());
    }
}

impl Decode for LogLog {
    fn decode_payload(header: &Header, reader: &mut Reader<'_>) -> Result<Self> {
        let precision = reader.u8("precision")?;
        precision::check(precision, &Self::PRECISIONS)
            .map_err(|error| Error::contents("precision", error.expected(), precision))?;
        let values = reader.bytes("registers", 1 << precision)?;
        let registers = RankRegisters::from_values(precision, values).ok_or_else(|| {
            Error::contents("registers", RankRegisters::accepted_values(precision), "others")
        })?;
        Ok(Self { scheme: header.scheme, precision, registers })
    }
}
