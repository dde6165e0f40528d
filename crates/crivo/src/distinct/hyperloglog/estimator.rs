//! From the histogram of register values to a number and its bounds.
//!
//! The estimate maximises the likelihood of the histogram in the Poisson model (Ertl 2017),
//! one formula from the first item to 2^64: no linear counting, no switch, no bump. Its
//! spread and its first-order bias follow from the same model (Cox and Snell 1968), evaluated
//! at the estimate itself:
//!
//! With `ν` the rate per register and `θ = ln ν`, let `ℓ` be the log-likelihood of one register
//! and primes its derivatives by θ. Then with `I = E[ℓ'²]`, `J = E[ℓ' ℓ'']`, `K = E[ℓ''']`,
//!
//! ```text
//! variance of n̂/n  ≈ (1/I − 1/ν) / m        the 1/ν because n is fixed, not Poisson
//! mean of n̂/n − 1  ≈ ((K + 2J)/(2I²) + 1/(2I)) / m
//! ```
//!
//! The interval at `z` standard deviations `σ` is `[n̂ e^(−zσ), n̂ e^(zσ + (zσ)²/2)]`: the logarithm
//! of the estimate is nearly normal, but its lower tail is the heavier one in small sketches, so
//! the upper bound has the second-order term of `n̂/(1 − zσ)`. From precision 8 on it is invisible.
//!
//! For large ν the variance tends to `ln 2/(π²/6 − 1)/m`, a standard error of 1.0367/√m.

use crate::math::{exp2, solve_rate};

/// The standard error of a large count is this over the square root of the number of
/// registers: `√(ln 2/(π²/6 − 1))`.
pub(super) const ERROR_CONSTANT: f64 = 1.036_705;

/// A number of items, and the standard deviation of its logarithm.
#[derive(Debug, Clone, Copy)]
pub(super) struct Point {
    pub(super) value: f64,
    pub(super) spread: f64,
}

pub(super) fn estimate(histogram: &[u32], precision: u8) -> Point {
    let registers = exp2(i32::from(precision));
    let highest = histogram.len() - 1;

    // A register of value k shows that level k occurred and no higher one did; the highest
    // value only that level `highest − 1` or one above it occurred.
    let mut occurred = [0; 64];
    let mut not_occurred = 0.0;
    for (value, &count) in histogram.iter().enumerate().take(highest).rev() {
        not_occurred = not_occurred / 2.0 + f64::from(count);
        occurred[value] = count;
    }
    occurred[0] = 0;
    occurred[highest - 1] += histogram[highest];

    let rate = solve_rate(not_occurred, &occurred[..highest]);
    if rate == 0.0 {
        return Point { value: 0.0, spread: 0.0 };
    }
    let Moments { information, mixed, third } = Moments::at(rate, highest);
    let bias = ((third + 2.0 * mixed) / (2.0 * information * information) + 0.5 / information) / registers;
    // Past 2^64 items, where almost every register is at its highest, little information is left
    // and the first-order term says nothing any more.
    let bias = bias.clamp(-0.5, 0.5);
    let variance = (1.0 / information - 1.0 / rate).max(0.0) / registers;
    Point { value: registers * rate / (1.0 + bias), spread: libm::sqrt(variance) }
}

/// Expectations over one register's value, by θ = ln ν.
struct Moments {
    information: f64,
    mixed: f64,
    third: f64,
}

impl Moments {
    fn at(rate: f64, highest: usize) -> Self {
        let mut sums = Self { information: 0.0, mixed: 0.0, third: 0.0 };
        // Levels with y = ν 2^−k below 2^−24 or above 2^6 are too unlikely to count.
        let magnitude = libm::log2(rate);
        let last = ((magnitude + 24.0).max(1.0) as usize).min(highest - 1);
        let first = ((magnitude - 6.0).max(1.0) as usize).min(last);

        let mut y = rate * exp2(-(last as i32));
        let mut growth = libm::expm1(y);
        if last == highest - 1 {
            let (h, h1, h2) = derivatives(y, growth);
            sums.add(growth / (growth + 1.0), h, h1, h2);
        }
        for _ in first..=last {
            let (h, h1, h2) = derivatives(y, growth);
            let reciprocal = 1.0 / (growth + 1.0);
            sums.add(growth * reciprocal * reciprocal, h - y, h1 - y, h2 - y);
            y *= 2.0;
            growth *= growth + 2.0;
        }
        if first == 1 {
            // y is the rate itself now: the register that stayed empty.
            sums.add(1.0 / (growth + 1.0), -y, -y, -y);
        }
        sums
    }

    fn add(&mut self, probability: f64, first: f64, second: f64, third: f64) {
        self.information += probability * first * first;
        self.mixed += probability * first * second;
        self.third += probability * third;
    }
}

/// `h(y) = y/(e^y − 1)` and its first two derivatives by ln y.
fn derivatives(y: f64, growth: f64) -> (f64, f64, f64) {
    let h = y / growth;
    let h1 = h * (1.0 - y - h);
    let h2 = h1 * (1.0 - y - h) - h * (y + h1);
    (h, h1, h2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_tends_to_the_constant() {
        let formula = libm::sqrt(std::f64::consts::LN_2 / (std::f64::consts::PI.powi(2) / 6.0 - 1.0));
        assert!((formula / ERROR_CONSTANT - 1.0).abs() < 1e-6, "{formula}");
        let spread = libm::sqrt(1.0 / Moments::at(exp2(30), 53).information);
        assert!((spread / ERROR_CONSTANT - 1.0).abs() < 1e-5, "{spread}");
    }
}
