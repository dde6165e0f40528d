//! From the registers of a sketch to a number of items and its bounds.
//!
//! The estimate maximises the likelihood of the registers in the Poisson model (Ertl 2017; see
//! [`solve_rate`]). One formula holds from the first item to 2^64, without linear counting, a
//! switch or a bump. The spread of the estimate and its first-order bias follow from the same model
//! (Cox and Snell 1968), evaluated at the estimate itself:
//!
//! With `ν` the rate per register and `θ = ln ν`, let `ℓ` be the log-likelihood of one register
//! and primes its derivatives by θ. Then with `I = E[ℓ'²]`, `J = E[ℓ' ℓ'']`, `K = E[ℓ''']`,
//!
//! ```text
//! variance of n̂/n  ≈ (1/I − 1/ν) / m        the 1/ν because n is fixed, not Poisson
//! mean of n̂/n − 1  ≈ ((K + 2J)/(2I²) + 1/(2I)) / m
//! ```
//!
//! The interval at `z` standard deviations `σ` is `[n̂ e^(−zσ), n̂ e^(zσ + (zσ)²/2)]`. The
//! logarithm of the estimate is nearly normal, but its lower tail is heavier in small sketches. So
//! the upper bound has the second-order term of `n̂/(1 − zσ)`. From precision 8 on this term is
//! negligible.

use super::{exp2, solve_rate, two_sided_quantile};
use crate::estimate::{Confidence, Estimate};

/// The levels that registers show to have occurred. The likelihood depends on nothing else.
#[derive(Debug, Clone)]
pub struct Observed {
    /// The number of registers that show that no level occurred.
    pub(crate) unused: u32,
    /// The sum of the frequencies of the levels known not to have occurred, over all registers.
    pub(crate) not_occurred: f64,
    /// For each level, the number of registers that show that it occurred.
    pub(crate) occurred: [u32; 64],
    /// The number of entries of `occurred` that are used. The highest level is as frequent as the
    /// one below it, and is counted with that one.
    pub(crate) levels: usize,
}

impl Observed {
    /// Returns the likeliest number of items per register: 0 if all registers are unused, infinite
    /// if all are full.
    pub(crate) fn rate(&self) -> f64 {
        solve_rate(self.not_occurred, &self.occurred[..self.levels])
    }
}

/// A number of items, and the standard deviation of its logarithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Point {
    value: f64,
    spread: f64,
}

impl Point {
    pub(crate) fn new(value: f64, spread: f64) -> Self {
        Self { value, spread }
    }

    /// Returns the likeliest number of items, for registers that hold their highest level and which
    /// of the `BELOW` levels below it occurred.
    pub(crate) fn likeliest<const BELOW: usize>(precision: u8, observed: &Observed) -> Self {
        let rate = observed.rate();
        if rate == 0.0 {
            return Self { value: 0.0, spread: 0.0 };
        }
        let registers = exp2(i32::from(precision));
        let Moments { information, mixed, third } = Moments::at::<BELOW>(rate, observed.levels);
        let bias =
            ((third + 2.0 * mixed) / (2.0 * information * information) + 0.5 / information) / registers;
        // Past 2^64 items, where almost every register is at its highest level, little information
        // is left and the first-order term is meaningless.
        let bias = bias.clamp(-0.5, 0.5);
        let variance = (1.0 / information - 1.0 / rate).max(0.0) / registers;
        Self { value: registers * rate / (1.0 + bias), spread: libm::sqrt(variance) }
    }

    /// Returns the number with the interval that contains the truth with the given confidence.
    pub(crate) fn with_bounds(self, confidence: Confidence) -> Estimate {
        if confidence.is_certain() {
            return Estimate::certain(self.value, 0.0, f64::INFINITY);
        }
        let width = two_sided_quantile(confidence.level()) * self.spread;
        let lower = self.value * libm::exp(-width);
        let upper = self.value * libm::exp(width + width * width / 2.0);
        Estimate::probable(self.value, lower, upper, confidence)
    }
}

/// Expectations over the states of one register, by θ = ln ν.
struct Moments {
    information: f64,
    mixed: f64,
    third: f64,
}

impl Moments {
    fn at<const BELOW: usize>(rate: f64, highest: usize) -> Self {
        let mut sums = Self { information: 0.0, mixed: 0.0, third: 0.0 };
        // Levels with y = ν 2^−k below 2^−24 or above 2^6 are too unlikely to count.
        let magnitude = libm::log2(rate);
        let last = ((magnitude + 24.0).max(1.0) as usize).min(highest - 1);
        let first = ((magnitude - 6.0).max(1.0) as usize).min(last);

        let mut y = rate * exp2(-(last as i32));
        let mut growth = libm::expm1(y);
        // For each of the `BELOW` levels above, nearest first: the probability that it is a
        // register's highest level, and that probability times its ℓ'.
        let mut above = [(0.0, 0.0); BELOW];
        if last == highest - 1 {
            let (h, h1, h2) = derivatives(y, growth);
            let probability = growth / (growth + 1.0);
            sums.add(probability, h, h1, h2);
            push(&mut above, (probability, probability * h));
        }
        for _ in first..=last {
            let derived = derivatives(y, growth);
            let (h, h1, h2) = derived;
            let reciprocal = 1.0 / (growth + 1.0);
            if BELOW > 0 {
                let (seen_by, pull) = above.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
                sums.add_remembered(seen_by, pull, y, reciprocal, derived);
            }
            let probability = growth * reciprocal * reciprocal;
            sums.add(probability, h - y, h1 - y, h2 - y);
            push(&mut above, (probability, probability * (h - y)));
            y *= 2.0;
            growth *= growth + 2.0;
        }
        if first == 1 {
            // Now y is the rate itself, for the register that stayed empty.
            sums.add(1.0 / (growth + 1.0), -y, -y, -y);
        }
        sums
    }

    fn add(&mut self, probability: f64, first: f64, second: f64, third: f64) {
        self.information += probability * first * first;
        self.mixed += probability * first * second;
        self.third += probability * third;
    }

    /// Adds one level below the highest, for a register that remembers whether that level occurred.
    ///
    /// Whether a level occurred is independent of all other levels. The level adds `h(y)` to ℓ'
    /// with probability `1 − e^−y` and `−y` with `e^−y`: 0 in the mean, and `y h(y)` in the mean
    /// square. It adds `−y h(y)` to ℓ'' in the mean. So its products with the contributions of
    /// other levels vanish in the mean, with one exception: the product of the mean of ℓ'' with the
    /// highest level's part of ℓ', whose sum is `pull`.
    fn add_remembered(&mut self, probability: f64, pull: f64, y: f64, absent: f64, derived: (f64, f64, f64)) {
        let (h, h1, h2) = derived;
        let present = 1.0 - absent;
        self.information += probability * y * h;
        self.mixed += probability * (present * h * h1 + absent * y * y) - pull * y * h;
        self.third += probability * (present * h2 - absent * y);
    }
}

/// Inserts an item in front and drops the last.
fn push<T, const N: usize>(items: &mut [T; N], item: T) {
    if let Some(last) = items.last_mut() {
        *last = item;
        items.rotate_right(1);
    }
}

/// Returns `h(y) = y/(e^y − 1)` and its first two derivatives by ln y.
fn derivatives(y: f64, growth: f64) -> (f64, f64, f64) {
    let h = y / growth;
    let h1 = h * (1.0 - y - h);
    let h2 = h1 * (1.0 - y - h) - h * (y + h1);
    (h, h1, h2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distinct::{HyperLogLog, UltraLogLog};

    #[test]
    fn spread_tends_to_the_constants() {
        let hyper = libm::sqrt(1.0 / Moments::at::<0>(exp2(30), 53).information);
        let ultra = libm::sqrt(1.0 / Moments::at::<2>(exp2(30), 53).information);
        assert!((hyper / HyperLogLog::standard_error(0) - 1.0).abs() < 1e-5, "{hyper}");
        assert!((ultra / UltraLogLog::standard_error(0) - 1.0).abs() < 1e-5, "{ultra}");
    }

    /// The moments once more, computed from the log-likelihood of each state of a register with
    /// five levels, differentiated numerically.
    #[test]
    fn moments_are_those_of_the_likelihood() {
        for rate in [0.01, 0.3, 1.0, 4.0, 20.0, 70.0] {
            compare::<0>(rate);
            compare::<1>(rate);
            compare::<2>(rate);
        }
    }

    const LEVELS: usize = 5;

    fn compare<const BELOW: usize>(rate: f64) {
        let mut sums = Moments { information: 0.0, mixed: 0.0, third: 0.0 };
        for highest in 0..=LEVELS {
            let remembered = BELOW.min(highest.saturating_sub(1));
            for pattern in 0..1_u32 << remembered {
                let likelihood = |theta: f64| log_likelihood(theta.exp(), highest, remembered, pattern);
                let (theta, step) = (rate.ln(), 1e-3);
                let at = |steps: f64| likelihood(theta + steps * step);
                let first = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
                let second = (at(1.0) - 2.0 * at(0.0) + at(-1.0)) / (step * step);
                let third = (at(2.0) - 2.0 * at(1.0) + 2.0 * at(-1.0) - at(-2.0)) / (2.0 * step.powi(3));
                sums.add(at(0.0).exp(), first, second, third);
            }
        }
        let moments = Moments::at::<BELOW>(rate, LEVELS);
        for (found, expected) in [
            (moments.information, sums.information),
            (moments.mixed, sums.mixed),
            (moments.third, sums.third),
        ] {
            assert!((found - expected).abs() < 2e-5 * (1.0 + expected.abs()), "{found}, not {expected}");
        }
    }

    fn log_likelihood(rate: f64, highest: usize, remembered: usize, pattern: u32) -> f64 {
        let of_level = |level: usize| rate * 0.5_f64.powi(level.min(LEVELS - 1) as i32);
        let occurred = |level| (-(-of_level(level)).exp_m1()).ln();
        let above: f64 = (highest + 1..=LEVELS).map(of_level).sum();
        let below: f64 = (0..remembered)
            .map(|back| {
                let level = highest - 1 - back;
                if pattern >> back & 1 == 1 { occurred(level) } else { -of_level(level) }
            })
            .sum();
        below - above + if highest > 0 { occurred(highest) } else { 0.0 }
    }
}
