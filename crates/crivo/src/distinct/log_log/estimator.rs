//! Computes the classic estimate from the registers, and bounds that hold where it does not.
//!
//! The estimate is the formula of the paper, `α m 2^mean`. It is right for `n` well above `m`
//! items. Below that some registers are still empty, and it stays near `α m` whatever the count.
//! The bounds do not depend on it: they invert the distribution of `S`, the sum of all registers'
//! runs of zeros, which rises with the count from the first item on.
//!
//! In the Poisson model a register sees `N` items at rate `ν = n/m`. Its longest run of zeros `z`
//! (0 if it saw none) has `P(z ≤ j) = e^(−y)`, `y = ν 2^−(j+1)`. Sums over `j` give the first three
//! cumulants of `z`. The derivative `D = ν d/dν` gives what remains of them when the number of
//! items is fixed, because the part that `N` explains is taken out, with `b = Dμ/ν`:
//!
//! ```text
//! variance  σ² − b² ν        third cumulant  κ₃ − 3 b Dσ² + 3 b² D²μ − b³ ν
//! ```
//!
//! A quantile of `S` follows by Cornish and Fisher's first correction for skewness.

use crate::distinct::register_sketch::kind::RegisterArray;
use crate::distinct::registers::RankRegisters;
use crate::math::{crossing, exp2, two_sided_quantile};

/// `√2 e^(−γ)`: the factor that makes `2^mean` an estimate of the items a register, for many
/// registers.
pub(super) const ALPHA: f64 = 0.794_02;

/// The standard error of a large count is this over the square root of the number of registers:
/// `√(ln²2/12 + π²/6)`.
pub(super) const ERROR_CONSTANT: f64 = 1.298_06;

/// Returns the classic estimate. At least one register must be used.
pub(super) fn estimate(registers: &RankRegisters) -> f64 {
    let m = registers.values().len() as f64;
    ALPHA * m * libm::exp2(zeros(registers) / m)
}

/// Returns the sum of the registers' longest runs of zeros.
fn zeros(registers: &RankRegisters) -> f64 {
    // A register's value is one more than its run of zeros, and 0 if it was not used.
    let histogram = registers.histogram();
    let counts = histogram.iter().enumerate().skip(2);
    counts.map(|(value, &count)| (value as f64 - 1.0) * f64::from(count)).sum()
}

/// Returns the numbers of items below and above which the registers' sum would be unlikely at this
/// level.
pub(super) fn bounds(registers: &RankRegisters, precision: u8, level: f64) -> (f64, f64) {
    let m = exp2(i32::from(precision));
    let sum = zeros(registers);
    let width = two_sided_quantile(level);
    // Continuity correction: the sum is a whole number, so half a step is added on either side.
    let above = |logarithm: f64| {
        let Sum { mean, deviation, skew } = Sum::of(libm::exp(logarithm), m, precision);
        mean + deviation * (width + skew * (width * width - 1.0) / 6.0) - (sum - 0.5)
    };
    let below = |logarithm: f64| {
        let Sum { mean, deviation, skew } = Sum::of(libm::exp(logarithm), m, precision);
        // Far in the tail the correction is no longer small and would reverse the quantile.
        let correction = (skew * (width * width - 1.0) / 6.0).min(width / 2.0);
        mean - deviation * (width - correction) - (sum + 0.5)
    };
    let (least, most) = (-libm::log(4.0 * m), 70.0 * std::f64::consts::LN_2);
    let lower = crossing(least, most, above);
    let upper = if below(most) > 0.0 { crossing(least, most, below) } else { f64::INFINITY };
    (m * libm::exp(lower), m * libm::exp(upper))
}

/// The distribution of the sum of all registers' runs of zeros, for a fixed number of items.
struct Sum {
    mean: f64,
    deviation: f64,
    skew: f64,
}

impl Sum {
    fn of(rate: f64, m: f64, precision: u8) -> Self {
        // Moments of z about zero, and their derivatives with respect to ln ν.
        let (mut first, mut second, mut third) = (0.0, 0.0, 0.0);
        let (mut d_first, mut d_second, mut dd_first) = (0.0, 0.0, 0.0);
        for zeros in 0..64 - i32::from(precision) {
            let y = rate * exp2(-zeros - 1);
            let at_most = libm::exp(-y);
            let more = -libm::expm1(-y);
            let j = f64::from(zeros);
            first += more;
            second += (2.0 * j + 1.0) * more;
            third += (3.0 * j * (j + 1.0) + 1.0) * more;
            d_first += y * at_most;
            d_second += (2.0 * j + 1.0) * y * at_most;
            dd_first += y * (1.0 - y) * at_most;
        }
        let variance = second - first * first;
        let cumulant = third - 3.0 * first * second + 2.0 * first * first * first;
        let d_variance = d_second - 2.0 * first * d_first;
        let b = d_first / rate;
        let variance = (variance - b * b * rate).max(1e-300);
        let cumulant = cumulant - 3.0 * b * d_variance + 3.0 * b * b * dd_first - b * b * b * rate;
        Self {
            mean: m * first,
            deviation: libm::sqrt(m * variance),
            skew: cumulant / (libm::sqrt(m * variance) * variance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_those_of_their_formulas() {
        let euler = 0.577_215_664_901_532_9;
        assert!((ALPHA - std::f64::consts::SQRT_2 * libm::exp(-euler)).abs() < 5e-6);
        let ln2 = std::f64::consts::LN_2;
        let error = libm::sqrt(ln2 * ln2 / 12.0 + std::f64::consts::PI.powi(2) / 6.0);
        assert!((ERROR_CONSTANT - error).abs() < 5e-6, "{error}");
    }

    /// Without collisions the sum is that of n geometric variables: mean n, variance 2n, third
    /// cumulant 6n.
    #[test]
    fn few_items_are_geometric() {
        let m = exp2(18);
        let sum = Sum::of(5.0 / m, m, 18);
        assert!((sum.mean - 5.0).abs() < 1e-3, "{}", sum.mean);
        assert!((sum.deviation * sum.deviation - 10.0).abs() < 1e-2);
        assert!((sum.skew - 30.0 / libm::pow(10.0, 1.5)).abs() < 1e-2, "{}", sum.skew);
    }

    /// With many items the mean rises by one when the count doubles. The deviation of the mean then
    /// gives the standard error: `d ln n = ln 2 · d mean`.
    #[test]
    fn many_items_have_the_known_error() {
        let m = exp2(12);
        let (one, two) = (Sum::of(1e6, m, 12), Sum::of(2e6, m, 12));
        assert!(((two.mean - one.mean) / m - 1.0).abs() < 1e-5);
        let error = one.deviation / m * std::f64::consts::LN_2 * libm::sqrt(m);
        assert!((error / ERROR_CONSTANT - 1.0).abs() < 1e-4, "{error}");
    }
}
