//! Converts the histogram of register values to the input of the estimate, and a rate of items to
//! the probabilities of register values.
//!
//! [`Point`](crate::math::Point) has the formulas. This module tells which levels have occurred,
//! given a register value. For many items the variance tends to `ln 2/(π²/6 − 1)/m`, a standard
//! error of 1.0367/√m.

use crate::distinct::register_sketch::rates::{Levels, ONE, times};
use crate::distinct::registers::RankRegisters;
use crate::math::Observed;

/// The standard error of a large count is this over the square root of the number of
/// registers: `√(ln 2/(π²/6 − 1))`.
pub(super) const ERROR_CONSTANT: f64 = 1.036_705;

/// The same constant for a count with history: `√(ln 2)`.
pub(super) const HISTORY_CONSTANT: f64 = 0.832_555;

/// Returns which levels occurred and which did not, from a histogram of register values.
pub(super) fn observed(histogram: &[u32], precision: u8) -> Observed {
    let highest = usize::from(RankRegisters::highest(precision));

    // A register of value k shows that level k occurred and no higher level did. The highest value
    // shows only that level `highest − 1` or the level above it occurred.
    let mut occurred = [0; 64];
    let mut not_occurred = 0.0;
    for (value, &count) in histogram.iter().enumerate().take(highest).rev() {
        not_occurred = not_occurred / 2.0 + f64::from(count);
        occurred[value] = count;
    }
    occurred[0] = 0;
    occurred[highest - 1] += histogram[highest];
    Observed { unused: histogram[0], not_occurred, occurred, levels: highest }
}

/// Returns the probability of each register value. The value is the highest level that occurred.
pub(super) fn probabilities(levels: &Levels) -> [u64; 256] {
    let mut probabilities = [0; 256];
    let mut none_above = ONE;
    for level in (1..=levels.highest()).rev() {
        probabilities[level] = times(none_above, levels.occurred(level));
        none_above = times(none_above, levels.absent(level));
    }
    probabilities[0] = none_above;
    probabilities
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_is_what_its_formula_gives() {
        let formula = libm::sqrt(std::f64::consts::LN_2 / (std::f64::consts::PI.powi(2) / 6.0 - 1.0));
        assert!((formula / ERROR_CONSTANT - 1.0).abs() < 1e-6, "{formula}");
        let with_history = libm::sqrt(std::f64::consts::LN_2);
        assert!((with_history / HISTORY_CONSTANT - 1.0).abs() < 1e-6, "{with_history}");
    }
}
