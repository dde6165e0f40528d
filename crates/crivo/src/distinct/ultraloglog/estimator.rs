//! Converts the histogram of register values to the input of the estimate, and a rate of items to
//! the probabilities of register values.
//!
//! [`Point`](crate::math::Point) has the formulas. This module tells which levels have occurred and
//! which have not, given a register value. For many items the variance tends to
//! `ln 2/ζ(2, 5/4)/m`, a standard error of 0.7609/√m (Ertl 2024, section 2.3). Here
//! `ζ(2, 5/4) = π² + 8G − 16` with Catalan's constant G.

use super::registers::{Histogram, LevelRegisters};
use crate::distinct::register_sketch::rates::{Levels, ONE, times};
use crate::math::{Observed, exp2};

/// The standard error of a large count is this over the square root of the number of
/// registers: `√(ln 2/(π² + 8G − 16))`.
pub(super) const ERROR_CONSTANT: f64 = 0.760_862;

/// The same constant for a count with history: `√(5/8 · ln 2)`.
pub(super) const HISTORY_CONSTANT: f64 = 0.658_192;

/// The number of levels below its highest one that a register remembers.
pub(super) const REMEMBERED: usize = 2;

/// Returns which levels occurred and which did not, from a histogram of register values.
pub(super) fn observed(histogram: &Histogram, precision: u8) -> Observed {
    let highest = LevelRegisters::highest(precision) as usize;

    // For each level, the number of registers that remember it as occurred, the number that
    // remember it as absent, and the number that have it as their highest. In the last case no
    // level above occurred, and all levels above are together as frequent as this one.
    let (mut occurred, mut absent, mut reached) = ([0; 64], [0; 64], [0; 64]);
    reached[0] = histogram[0];
    for level in 1..=highest {
        for below in 0..4 {
            let count = histogram[4 * level + below];
            reached[level] += count;
            for back in 1..=REMEMBERED.min(level - 1) {
                let is_set = below >> (REMEMBERED - back) & 1 == 1;
                let remembered = if is_set { &mut occurred } else { &mut absent };
                remembered[level - back] += count;
            }
        }
        occurred[level] += reached[level];
    }
    // There is no level above the highest one, which is as frequent as the one below it.
    occurred[highest - 1] += occurred[highest];
    let not_occurred =
        (0..highest).rev().fold(0.0, |sum, level| sum / 2.0 + f64::from(absent[level] + reached[level]));

    Observed { unused: histogram[0], not_occurred, occurred, levels: highest }
}

/// Returns the probability of each register value: that its highest level occurred and none above,
/// times the probability of what it says about the two levels below.
pub(super) fn probabilities(levels: &Levels) -> [u64; 256] {
    let mut probabilities = [0; 256];
    let mut none_above = ONE;
    for level in (1..=levels.highest()).rev() {
        let reached = times(none_above, levels.occurred(level));
        for below in 0..4 {
            probabilities[4 * level + below] = (1..=REMEMBERED).fold(reached, |probability, back| {
                let is_set = below >> (REMEMBERED - back) & 1 == 1;
                match level.checked_sub(back) {
                    None | Some(0) => {
                        if is_set {
                            0
                        } else {
                            probability
                        }
                    }
                    Some(level) if is_set => times(probability, levels.occurred(level)),
                    Some(level) => times(probability, levels.absent(level)),
                }
            });
        }
        none_above = times(none_above, levels.absent(level));
    }
    probabilities[0] = none_above;
    probabilities
}

/// Returns the number of items at which all registers are full with the given probability. Full
/// registers tell no more than that.
///
/// With `a = e^(−ν 2^−q)` and `q = 64 − precision`, each of the two highest levels of a register is
/// missing with probability a, and the third highest with a². At least one of them is missing with
/// probability `1 − (1 − a)²(1 − a²) = 2a − 2a³ + a⁴`.
pub(super) fn items_to_fill(precision: u8, probability: f64) -> f64 {
    let registers = exp2(i32::from(precision));
    let missing = -libm::expm1(libm::log(probability) / registers);
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..64 {
        let a = f64::midpoint(low, high);
        if a * (2.0 - a * a * (2.0 - a)) < missing {
            low = a;
        } else {
            high = a;
        }
    }
    -libm::log(high) * exp2(64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_is_what_its_formula_gives() {
        const CATALAN: f64 = 0.915_965_594_177_219;
        let zeta = std::f64::consts::PI.powi(2) + 8.0 * CATALAN - 16.0;
        let formula = libm::sqrt(std::f64::consts::LN_2 / zeta);
        assert!((formula / ERROR_CONSTANT - 1.0).abs() < 1e-6, "{formula}");
        let with_history = libm::sqrt(0.625 * std::f64::consts::LN_2);
        assert!((with_history / HISTORY_CONSTANT - 1.0).abs() < 1e-6, "{with_history}");
    }

    #[test]
    fn registers_fill_at_the_number_of_items_that_fills_them() {
        for (precision, probability) in [(4, 0.025), (4, 0.5), (12, 0.5), (18, 1e-9), (18, 0.975)] {
            let rate = items_to_fill(precision, probability) / exp2(64);
            let levels = [rate, rate, 2.0 * rate];
            let filled: f64 = levels.iter().map(|level| libm::log(-libm::expm1(-level))).sum();
            let found = libm::exp(filled * exp2(i32::from(precision)));
            assert!((found / probability - 1.0).abs() < 1e-6, "{found}, not {probability}");
        }
    }
}
