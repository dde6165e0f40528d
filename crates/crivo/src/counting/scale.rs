//! How many events does a Morris counter's value represent? The scale that single counters and
//! arrays of counters share.
//!
//! With base `b`, a counter at `n` is raised with probability `b^−n`. The steps to the value `n`
//! take `1, b, b², …, b^(n−1)` events on average, so `n` represents `(b^n − 1)/(b − 1)` events.
//!
//! **Joining two counters.** An event that raised the smaller counter at its value `i` passed a
//! test with probability `b^−i`. The larger counter's test has probability `b^−x`, so such an event
//! passes it with probability `b^(i−x)`. Events that failed the easier test fail the harder one. So
//! for each step `i = 0, 1, …` of the smaller counter, the larger counter is raised with that
//! probability. It then has the distribution of the counter of both streams.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::estimate::{Confidence, Estimate};
use crate::math::Failures;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    base: f64,
    /// ln base.
    log: f64,
    highest: u16,
}

impl Scale {
    /// The possible bases. The greatest, 2, is the one that Morris proposed. At the least, 16 bits
    /// hold little more than an exact counter would.
    pub(super) const BASES: RangeInclusive<f64> = 1.000_001..=2.0;

    /// The logarithm of the largest power: e^693 is just below 2^1000. That is beyond any real
    /// count, so no estimate overflows.
    const FARTHEST: f64 = 693.0;

    /// Creates the scale of counters of `bits` bits, at most 16.
    pub(super) fn new(base: f64, bits: u8) -> Result<Self> {
        if !Self::BASES.contains(&base) {
            let (least, most) = Self::BASES.into_inner();
            return Err(Error::parameter("base", format_args!("{least} to {most}"), base));
        }
        let log = libm::log1p(base - 1.0);
        let farthest = (Self::FARTHEST / log) as u64;
        let highest = farthest.min((1 << bits.min(16)) - 1) as u16;
        Ok(Self { base, log, highest })
    }

    /// Returns the smallest base with which a counter of `bits` bits reaches `reach` events.
    pub(super) fn base_for(reach: f64, bits: u8) -> Result<f64> {
        let (mut below, mut above) = Self::BASES.into_inner();
        let reach_of = |base: f64| Self::new(base, bits).map(|scale| scale.events(scale.highest));
        let (least, most) = (reach_of(below)?, reach_of(above)?);
        if !(reach >= least && reach <= most) {
            return Err(Error::new(
                crate::ErrorKind::InvalidParameter,
                "reach",
                format_args!("{} to {:.0e} events in {bits} bits", libm::ceil(least), one_digit(most)),
                reach,
                "below, an ordinary counter of as many bits is exact; above, take more bits",
            ));
        }
        // A hundred bisections reach the precision of a float.
        for _ in 0..100 {
            let middle = below + (above - below) / 2.0;
            if reach_of(middle)? < reach { below = middle } else { above = middle }
        }
        Ok(above)
    }

    pub(super) fn base(self) -> f64 {
        self.base
    }

    /// Returns the highest value, at which a counter stays.
    pub(super) fn highest(self) -> u16 {
        self.highest
    }

    /// Returns the probability that an event raises a counter: `b^−value`, or 0 at the highest
    /// value.
    pub(super) fn chance(self, value: u16) -> f64 {
        if value < self.highest { libm::pow(self.base, -f64::from(value)) } else { 0.0 }
    }

    /// Returns how many events a value represents.
    pub(super) fn events(self, value: u16) -> f64 {
        let exponent = f64::from(value) * self.log;
        match value {
            0 | 1 => f64::from(value),
            // For a power near 1 the subtraction would lose its digits.
            _ if exponent < 1.0 => libm::expm1(exponent) / (self.base - 1.0),
            _ => (libm::pow(self.base, f64::from(value)) - 1.0) / (self.base - 1.0),
        }
    }

    /// Returns the number of events that a value represents, with bounds. The value 0 is certain to
    /// represent no event, because the first event always counts. At the highest value there is no
    /// upper bound.
    pub(super) fn estimate(self, value: u16, confidence: Confidence) -> Estimate {
        if value == 0 {
            return Estimate::exact(0.0);
        }
        let steps = f64::from(value);
        let (lower, upper) = self.bounds(steps, confidence);
        let upper = if value < self.highest { upper } else { f64::INFINITY };
        Estimate::probable(self.events(value), lower, upper, confidence).limited_to(steps, f64::INFINITY)
    }

    /// Returns the total number of events of many counters, given how many of them have each value.
    ///
    /// The sum of the estimates `x` has the variance `(b − 1)/2·Σx²`, nearly. One counter of a
    /// smaller base would have the same relative variance, and its estimate is about as skewed as
    /// the sum. So the bounds are those of that counter. If there is only one counter, it is that
    /// counter itself.
    pub(super) fn estimate_sum(self, histogram: &[u64], confidence: Confidence) -> Estimate {
        let (mut sum, mut squares, mut least) = (0.0, 0.0, 0.0);
        for (value, &count) in (0..=self.highest).zip(histogram).filter(|(_, count)| **count > 0) {
            let (events, count) = (self.events(value), count as f64);
            sum += count * events;
            // With the square, counters at 1 would be taken for exact.
            squares += count * events * (events + 1.0);
            least += count * f64::from(value);
        }
        if least == 0.0 {
            return Estimate::exact(0.0);
        }
        let share = (squares / sum / (sum + 1.0)).min(1.0);
        let base = 1.0 + ((self.base - 1.0) * share).max(1e-12);
        let twin = Self { base, log: libm::log1p(base - 1.0), highest: self.highest };
        let steps = libm::log1p(sum * (base - 1.0)) / twin.log;
        let (lower, upper) = twin.bounds(steps, confidence);
        let saturated = histogram.get(usize::from(self.highest)).is_some_and(|&count| count > 0);
        let upper = if saturated { f64::INFINITY } else { upper };
        Estimate::probable(sum, lower, upper, confidence).limited_to(least, f64::INFINITY)
    }

    /// Returns the least and the largest number of events that are believed after `steps` steps.
    fn bounds(self, steps: f64, confidence: Confidence) -> (f64, f64) {
        let level = confidence.level();
        let lower = steps + self.failures_before(steps).lower(level);
        let upper = steps + 1.0 + self.failures_before(steps + 1.0).upper(level);
        (lower, upper)
    }

    /// Returns the distribution of the number of events that do not raise the counter before the
    /// value `n` is reached. It is a sum over `j < n` of geometric variables with cumulants
    /// `b^j − 1`, `b^2j − b^j` and `2b^3j − 3b^2j + b^j`. All are computed as shares of `b^n`,
    /// `b^2n` and `b^3n`, which would overflow.
    fn failures_before(self, n: f64) -> Failures {
        let one = libm::exp(-n * self.log);
        // b^−mn times the sum of b^mj over j < n.
        let sum = |m: f64| libm::expm1(-m * n * self.log) / -libm::expm1(m * self.log);
        let (first, second, third) = (sum(1.0), sum(2.0), sum(3.0));
        let mean = first - n * one;
        let variance = second - first * one;
        let asymmetry = 2.0 * third - 3.0 * second * one + first * one * one;
        Failures {
            mean: mean / one,
            variation: variance / (mean * mean),
            asymmetry: mean * asymmetry / (variance * variance),
        }
    }

    /// Returns the value of the counter of both streams, given the values of the two counters.
    /// `toss(d)` must return true with probability `b^−d`.
    #[inline]
    pub(super) fn join(self, one: u16, other: u16, mut toss: impl FnMut(u16) -> bool) -> u16 {
        let (mut joined, smaller) = (one.max(other), one.min(other));
        for step in 0..smaller {
            joined += u16::from(joined < self.highest && toss(joined - step));
        }
        joined
    }
}

/// Returns the greatest number of one digit and zeros that is at most `number`.
fn one_digit(number: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(number)));
    libm::floor(number / power) * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_two_stands_for_powers_less_one() {
        let scale = Scale::new(2.0, 8).unwrap();
        for value in 0..=255_u16 {
            assert_eq!(scale.events(value), libm::ldexp(1.0, i32::from(value)) - 1.0);
        }
        assert_eq!((scale.chance(10), scale.chance(255)), (1.0 / 1024.0, 0.0));
    }

    #[test]
    fn events_are_the_sum_of_the_steps_at_any_base() {
        for base in [1.000_001, 1.0001, 1.084, 1.5, 2.0] {
            let scale = Scale::new(base, 16).unwrap();
            let mut sum = 0.0;
            for value in 0..=900_u16.min(scale.highest()) {
                let error = scale.events(value) - sum;
                assert!(error.abs() <= 1e-10 * sum, "base {base}, value {value}: {error}");
                sum += base.powi(i32::from(value));
            }
        }
    }

    #[test]
    fn cumulants_are_the_sums_of_the_geometric_ones() {
        for base in [1.000_001_f64, 1.01, 1.084, 2.0] {
            let scale = Scale::new(base, 16).unwrap();
            for n in [2, 3, 10, 200] {
                let sum = |term: &dyn Fn(f64) -> f64| (0..n).map(|j| term(base.powi(j))).sum::<f64>();
                let mean = sum(&|x| x - 1.0);
                let variance = sum(&|x| x * (x - 1.0));
                let third = sum(&|x| x * (x - 1.0) * (2.0 * x - 1.0));
                let found = scale.failures_before(f64::from(n));
                for (what, found, expected) in [
                    ("mean", found.mean, mean),
                    ("variation", found.variation, variance / (mean * mean)),
                    ("asymmetry", found.asymmetry, mean * third / (variance * variance)),
                ] {
                    assert!(
                        (found / expected - 1.0).abs() < 1e-7,
                        "{what} at {base}, {n}: {found} not {expected}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_farthest_counters_do_not_overflow() {
        let scale = Scale::new(2.0, 16).unwrap();
        assert_eq!(scale.highest(), 999);
        for value in [997, 998, 999] {
            let estimate = scale.estimate(value, Confidence::new(1.0 - 1e-12).unwrap());
            assert!(estimate.value().is_finite() && estimate.lower() > 1e290, "{estimate:?}");
            assert_eq!(estimate.upper().is_finite(), value < 999);
        }
    }
}
