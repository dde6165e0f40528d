//! HyperLogLog: how many different items, in a few kilobytes.
//!
//! **Question.** How many different items are in a stream too long to remember?
//!
//! **Guarantee.** With `m = 2^precision` registers of one byte the standard error of a large
//! count is `1.0367/√m`: 1.6 % in 4 KiB, 0.2 % in 256 KiB, from one item to 2^64. Up to
//! `3m/32` different items the answer is exact (two of them share a 64-bit hash with
//! probability below 2·10⁻¹¹ at the largest precision).
//!
//! A sketch that [keeps its history](RegisterSketch::with_history) and is never merged has an error
//! of `0.8326/√m`.
//!
//! **Idea.** A hash that ends in `k` zeros occurs about once in `2^(k+1)` different items. So the
//! longest run of zeros tells the order of magnitude. One such observation is noisy, so the top
//! bits of the hash choose one of `m` registers. Each register keeps its own maximum, and together
//! they give the count. Repetitions change nothing.
//!
//! **When not to use it.** To know *which* items there are, or how often each occurs. To count the
//! items that two streams share, because the difference of large estimates is lost in their errors:
//! use `KMinValues`. For data that fits a hash set. It cannot remove an item.
//!
//! **Sources.** Flajolet, Fusy, Gandouet, Meunier: *HyperLogLog* (2007). Estimator: Ertl, *New
//! cardinality estimation algorithms for HyperLogLog sketches* (arXiv 1702.01284), section 4.
//!
//! **Where this departs from the papers.** The rank counts trailing zeros, not leading ones: the
//! same distribution, one instruction less. Small counts keep the 64-bit hashes themselves, in
//! no more memory than the registers would take. The likelihood estimate is corrected for its
//! first-order bias, and its bounds come from the Fisher information at the estimate.

mod estimator;

use super::register_sketch::RegisterSketch;
use super::register_sketch::kind::{RegisterKind, Sealed};
use super::register_sketch::rates::Levels;
use super::registers::{self, RankRegisters};
use crate::codec::Family;
use crate::estimate::{Confidence, Estimate};
use crate::math::{Observed, Point};

/// Counts different items; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::distinct::HyperLogLog;
///
/// let mut visitors = HyperLogLog::for_error(0.01)?;
/// for visit in 0..300_000_u32 {
///     visitors.insert(format!("user{}", visit % 100_000).as_str())?;
/// }
/// let estimate = visitors.estimate();
/// assert!(estimate.covers(100_000.0) && estimate.relative_error() < 0.02);
/// # Ok::<(), crivo::Error>(())
/// ```
pub type HyperLogLog = RegisterSketch<HighestRank>;

/// Registers that keep the highest rank of their hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HighestRank;

impl Sealed for HighestRank {}

impl RegisterKind for HighestRank {
    const FAMILY: Family = Family::HyperLogLog;
    const ERROR_CONSTANT: f64 = estimator::ERROR_CONSTANT;
    const HISTORY_CONSTANT: f64 = estimator::HISTORY_CONSTANT;
    type Registers = RankRegisters;

    fn estimate(registers: &RankRegisters, precision: u8, confidence: Confidence) -> Estimate {
        Point::likeliest::<0>(precision, &Self::observed(registers, precision)).with_bounds(confidence)
    }

    fn observed(registers: &RankRegisters, precision: u8) -> Observed {
        estimator::observed(&registers.histogram(), precision)
    }

    fn probabilities(levels: &Levels) -> [u64; 256] {
        estimator::probabilities(levels)
    }

    fn items_to_fill(precision: u8, probability: f64) -> f64 {
        registers::items_to_fill(precision, probability)
    }
}
