//! What distinguishes one kind of register sketch from another.
//!
//! The kinds are those of the format. The traits are sealed, so other crates cannot add any.

use std::fmt::Debug;

use super::rates::Levels;
use crate::codec::Family;
use crate::estimate::{Confidence, Estimate};
use crate::math::Observed;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Prevents other crates from adding kinds.
pub trait Sealed {}

/// A kind of [`RegisterSketch`](super::RegisterSketch): its registers and their estimator. Sealed.
pub trait RegisterKind: Sealed + Debug + Clone + Copy + PartialEq + Eq {
    /// The number and name of the sketch in the format.
    const FAMILY: Family;

    /// The numerator of the standard error of a large count. The denominator is the square root of
    /// the number of registers.
    const ERROR_CONSTANT: f64;

    /// The same constant for a count with [history](super::RegisterSketch::with_history).
    const HISTORY_CONSTANT: f64;

    /// The array of registers.
    type Registers: RegisterArray;

    /// Returns the maximum-likelihood estimate of the number of different items, with its bounds.
    /// The registers must not be full.
    fn estimate(registers: &Self::Registers, precision: u8, confidence: Confidence) -> Estimate;

    /// Returns what the registers show about which levels occurred.
    fn observed(registers: &Self::Registers, precision: u8) -> Observed;

    /// Returns the probability of each register value, in units of 1/[`ONE`](super::rates::ONE).
    fn probabilities(levels: &Levels) -> [u64; 256];

    /// Returns the number of items at which all registers are full with the given probability.
    fn items_to_fill(precision: u8, probability: f64) -> f64;
}

/// An array of `2^precision` registers of one byte. Its state depends only on the set of inserted
/// hashes.
///
/// The top `precision` bits of a hash choose its register.
pub trait RegisterArray: Debug + Clone + PartialEq + Eq {
    /// Creates registers that saw no hash.
    fn new(precision: u8) -> Self;

    /// Creates registers from stored values. Returns `None` if no hashes lead to one of the values.
    fn from_values(precision: u8, values: &[u8]) -> Option<Self>;

    /// Describes the values that [`from_values`](Self::from_values) accepts, for its error.
    fn accepted_values(precision: u8) -> String;

    /// Returns the levels of hashes that would change a register of this value. Bit `k − 1` stands
    /// for level `k`. Bits above the highest level mean nothing.
    fn news(value: u8) -> u64;

    /// Returns the values as they are stored.
    fn values(&self) -> &[u8];

    /// The number of registers that saw a hash.
    fn used(&self) -> usize {
        self.values().iter().filter(|&&value| value > 0).count()
    }

    /// Returns true if no register saw a hash.
    fn are_unused(&self) -> bool {
        self.values().iter().all(|&value| value == 0)
    }

    /// The bytes of memory behind the pointers.
    fn memory(&self) -> usize;

    /// Returns true if no hash can change a register any more.
    fn are_full(&self) -> bool;

    /// Adds one hash.
    fn insert(&mut self, hash: u64);

    /// Adds many hashes. Same result as one by one, but faster.
    fn insert_all(&mut self, hashes: &[u64]);

    /// Merges the registers of `other`. If `other` is more precise, its registers are folded first.
    /// `self` must not be the more precise one.
    fn merge(&mut self, other: &Self);

    /// Returns the registers that the same hashes would have left at a lower precision.
    fn folded(&self, precision: u8) -> Self {
        let mut folded = Self::new(precision);
        folded.merge(self);
        folded
    }
}
