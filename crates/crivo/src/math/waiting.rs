//! How many events does it take to count n of them? Bounds for counters that count at random.
//!
//! A counter that is raised with some probability has value `n` after `k` events. Let `T_n` be the
//! number of events it takes to reach the value `n`. Then `k` is too small to be believed if
//! `P(T_n ≤ k)` is tiny, and too large if `P(T_{n+1} > k)` is tiny. The interval at confidence
//! `1 − α` has every `k` for which both are above `α/2`. This is the inversion of Clopper and
//! Pearson (1934). So it covers the truth with at least its confidence for any truth, as far as the
//! distribution of `T_n` is right.
//!
//! `T_n` is `n` plus the failures before each step. That is a sum of independent geometric
//! variables, whose first three cumulants have closed forms. From them:
//!
//! - a mean below [`FEW`]: the negative binomial distribution of the same mean and variance, which
//!   is exact if the probability never changes and nearly Poisson if failures are rare;
//! - otherwise: the power `h = 1 − κ₁κ₃/(3κ₂²)` of the sum is nearly normal (Jensen and Solomon
//!   1972, for sums of weighted exponentials; with equal weights it is Wilson and Hilferty's cube
//!   root).
//!
//! The accuracy suite compares the result with the counters' exact distributions.

use super::two_sided_quantile;

/// Below this mean the number of failures is treated as discrete.
const FEW: f64 = 10.0;

/// The distribution of the number of failures, by its first three cumulants `κ₁`, `κ₂`, `κ₃`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failures {
    /// `κ₁`.
    pub(crate) mean: f64,
    /// `κ₂/κ₁²`. Ratios stay in range where the cumulants themselves would overflow.
    pub(crate) variation: f64,
    /// `κ₁κ₃/κ₂²`.
    pub(crate) asymmetry: f64,
}

impl Failures {
    /// Returns the least number of failures that is not too small to be believed:
    /// `P(failures ≤ f) > α/2`.
    pub(crate) fn lower(self, level: f64) -> f64 {
        let tail = (1.0 - level) / 2.0;
        if self.mean < FEW {
            self.discrete_quantile(tail)
        } else {
            self.normal_quantile(-two_sided_quantile(level))
        }
    }

    /// Returns the largest number of failures that is not too large to be believed:
    /// `P(failures > f) > α/2`. Returns −1 if even 0 is too large, which means that the success has
    /// happened already. No number is certain not to be exceeded, so at level 1 it is infinite.
    pub(crate) fn upper(self, level: f64) -> f64 {
        let tail = (1.0 - level) / 2.0;
        if level >= 1.0 && self.mean > 0.0 {
            f64::INFINITY
        } else if self.mean < FEW {
            self.discrete_quantile(1.0 - tail) - 1.0
        } else {
            self.normal_quantile(two_sided_quantile(level))
        }
    }

    /// Returns the least `f` with `P(failures ≤ f) > probability`, by adding up the negative
    /// binomial distribution.
    fn discrete_quantile(self, probability: f64) -> f64 {
        if self.mean <= 0.0 {
            return 0.0;
        }
        // The variance is never below the mean. With a hundred-millionth more, the distribution is
        // as good as Poisson.
        let overdispersion = (self.variation * self.mean - 1.0).max(1e-8);
        let size = self.mean / overdispersion;
        let share = overdispersion / (1.0 + overdispersion);
        let mut term = libm::exp(size * libm::log1p(-share));
        let (mut sum, mut failures) = (term, 0.0);
        while sum <= probability && term > 1e-18 {
            term *= share * (size + failures) / (failures + 1.0);
            failures += 1.0;
            sum += term;
        }
        failures
    }

    /// Returns the quantile at `deviations` of a standard normal variable, less the half by which a
    /// discrete number is below its continuous approximation.
    fn normal_quantile(self, deviations: f64) -> f64 {
        let power = (1.0 - self.asymmetry / 3.0).max(0.05);
        let variation = self.variation;
        let shift = (2.0 - power) * (1.0 - 3.0 * power) * variation / 2.0;
        let mean = 1.0 + power * (power - 1.0) * variation / 2.0 * (1.0 - shift);
        let shrink = (1.0 - power) * (1.0 - 3.0 * power) * variation / 2.0;
        let deviation = power * libm::sqrt(variation * (1.0 - shrink).max(0.0));
        let transformed = (mean + deviations * deviation).max(0.0);
        self.mean * libm::pow(transformed, 1.0 / power) - 0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the failures before `n` successes of probability `p`.
    fn negative_binomial(n: f64, p: f64) -> Failures {
        let q = 1.0 - p;
        Failures { mean: n * q / p, variation: 1.0 / (n * q), asymmetry: 1.0 + q }
    }

    #[test]
    fn one_success_has_the_geometric_quantiles() {
        // P(failures > f) = q^(f+1): the least f with 1 − q^(f+1) above the probability.
        for p in [0.2_f64, 0.5, 0.9] {
            let failures = negative_binomial(1.0, p);
            for level in [0.5, 0.95, 0.999] {
                let tail = (1.0 - level) / 2.0;
                let exact = |probability: f64| {
                    ((1.0 - probability).ln() / (1.0 - p).ln() - 1.0 + 1e-9).ceil().max(0.0)
                };
                assert_eq!(failures.lower(level), exact(tail), "{p} {level}");
                assert_eq!(failures.upper(level), exact(1.0 - tail) - 1.0, "{p} {level}");
            }
        }
    }

    #[test]
    fn many_successes_have_normal_quantiles() {
        let failures = negative_binomial(1e8, 0.5);
        let (deviation, z) = (2e8_f64.sqrt(), 1.959_964);
        for (found, expected) in [(failures.lower(0.95), -z), (failures.upper(0.95), z)] {
            assert!(((found - 1e8) / deviation - expected).abs() < 1e-3, "{found}");
        }
    }

    #[test]
    fn extremes_stay_finite_and_ordered() {
        for n in [1.0, 2.0, 100.0, 1e18] {
            for p in [5.4e-20, 1e-9, 0.5, 1.0 - 1e-16, 1.0] {
                let failures = negative_binomial(n, p);
                for level in [1e-9, 0.5, 0.95, 1.0 - 1e-12, 1.0 - f64::EPSILON / 2.0] {
                    let (lower, upper) = (failures.lower(level), failures.upper(level));
                    assert!(lower <= upper + 1.0 && upper.is_finite(), "{n} {p} {level}: {lower} to {upper}");
                }
            }
        }
    }
}
