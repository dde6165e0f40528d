//! UltraLogLog: counts different items with a smaller error than HyperLogLog in the same memory.
//!
//! **Question.** How many different items are in a stream too long to remember?
//!
//! **Guarantee.** With `m = 2^precision` registers of one byte the standard error of a large count
//! is `0.7609/√m`: 1.2 % in 4 KiB, 0.15 % in 256 KiB, from one item to 2^64. Memory times variance
//! is 4.63 bits. Byte registers that keep only a maximum need 8.60 bits, and packed ones of six
//! bits need 6.45. Stored registers take 4.0 bits each, which makes it 2.4 bits on disk and on the
//! wire. Up to `3m/32` different items the answer is exact (two of them share a 64-bit hash with
//! probability below 2·10⁻¹¹ at the largest precision). A sketch that [keeps its
//! history](RegisterSketch::with_history) and is never merged has an error of `0.6582/√m`: 1.8 bits
//! on disk.
//!
//! **Idea.** A HyperLogLog's register keeps the highest level that its hashes reached, which takes
//! six bits. A byte has two bits to spare. They keep whether each of the next two levels below
//! occurred too. Of all that a HyperLogLog's register forgets, this says most about the count.
//! Repetitions still change nothing, and registers are merged bit for bit.
//!
//! **When not to use it.** Where [`HyperLogLog`](super::HyperLogLog) is not to be used either: to
//! know *which* items there are or how often each, to count what two streams have in common, or to
//! forget an item. Also where the time of an insert matters more than memory: an insert takes half
//! as long again.
//!
//! **Sources.** Ertl: *UltraLogLog: A Practical and More Space-Efficient Alternative to HyperLogLog
//! for Approximate Distinct Counting* (arXiv 2308.16862, VLDB 2024). Likelihood: section 3 there.
//!
//! **Where this departs from the paper.** The level counts trailing zeros, as in HyperLogLog here,
//! and register values do not depend on the precision. Small counts keep the 64-bit hashes
//! themselves. The paper's fast estimator (4.94 bits) is left out, because the likelihood estimate
//! takes only microseconds too, from a histogram of the registers. It is corrected for its
//! first-order bias, and its bounds come from the Fisher information at the estimate.

mod estimator;
mod register;
mod registers;

use self::registers::LevelRegisters;
use super::register_sketch::RegisterSketch;
use super::register_sketch::kind::{RegisterKind, Sealed};
use super::register_sketch::rates::Levels;
use crate::codec::Family;
use crate::estimate::{Confidence, Estimate};
use crate::math::{Observed, Point};

/// Counts different items; see the [module](self) for the guarantee.
///
/// ```
/// use crivo::distinct::UltraLogLog;
///
/// let mut visitors = UltraLogLog::for_error(0.01)?;
/// for visit in 0..300_000_u32 {
///     visitors.insert(format!("user{}", visit % 100_000).as_str())?;
/// }
/// let estimate = visitors.estimate();
/// assert!(estimate.covers(100_000.0) && estimate.relative_error() < 0.02);
/// # Ok::<(), crivo::Error>(())
/// ```
pub type UltraLogLog = RegisterSketch<ThreeLevels>;

/// Registers that keep the highest level of their hashes, and which of the two levels below it
/// occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreeLevels;

impl Sealed for ThreeLevels {}

impl RegisterKind for ThreeLevels {
    const FAMILY: Family = Family::UltraLogLog;
    const ERROR_CONSTANT: f64 = estimator::ERROR_CONSTANT;
    const HISTORY_CONSTANT: f64 = estimator::HISTORY_CONSTANT;
    type Registers = LevelRegisters;

    fn estimate(registers: &LevelRegisters, precision: u8, confidence: Confidence) -> Estimate {
        let observed = Self::observed(registers, precision);
        Point::likeliest::<{ estimator::REMEMBERED }>(precision, &observed).with_bounds(confidence)
    }

    fn observed(registers: &LevelRegisters, precision: u8) -> Observed {
        estimator::observed(&registers.histogram(), precision)
    }

    fn probabilities(levels: &Levels) -> [u64; 256] {
        estimator::probabilities(levels)
    }

    fn items_to_fill(precision: u8, probability: f64) -> f64 {
        estimator::items_to_fill(precision, probability)
    }
}
