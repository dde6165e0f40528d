// This file is long because each statistical test is beside the quantiles that it needs.

//! The statistical tests of verdicts, and their quantiles.
//!
//! A check compares an observed number with the theory, and accepts it within bounds. The bounds
//! depend on the kind of number:
//!
//! | kind | bounds |
//! |---|---|
//! | a share of trials | those of the binomial distribution, summed exactly |
//! | a mean, a variance, a sum | those of the normal distribution, with the deviation of the theory
//! |
//! | a whole distribution | Pearson's χ², in cells of at least [`EXPECTED`] observations |
//! | a number without randomness | theory itself, within rounding |
//! | an inequality | one of the above, on one side only |
//! | a bound without randomness | the bound; theory has no number, and none is shown |
//!
//! Of `n` checks with randomness in an experiment, each is made at the level [`LEVEL`]` / n`. So
//! all of them together reject a correct implementation with a probability of at most 10⁻⁷, by
//! these distributions. If a distribution is an approximation (means are nearly normal, counts
//! nearly χ²), the true probability may be larger. So only ten times that, 10⁻⁶, is promised.
//!
//! Of the library whose sketches are judged, only the quantile of the normal distribution is used
//! here. Its own tests compare it with published tables.

use libm::{exp, lgamma, log, log1p, sqrt};

/// The probability with which all checks of one experiment together may reject a correct
/// implementation, by the distributions used.
pub const LEVEL: f64 = 1e-7;

/// The least number of expected observations in a cell. Cells of a distribution are pooled with
/// their neighbours until they reach it. Then their counts are nearly normal, even as far out as
/// the level requires.
pub const EXPECTED: f64 = 1000.0;

/// The sides on which a number is accepted without a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// On neither side: theory gives the number itself.
    Both,
    /// Theory gives an upper bound.
    AtMost,
    /// Theory gives a lower bound.
    AtLeast,
}

/// An observed number, and its theory.
#[derive(Debug, Clone, Copy)]
pub enum Measure {
    /// The share of trials in which an event occurred.
    Share {
        /// The number of times the event occurred.
        successes: u64,
        /// The number of independent trials.
        trials: u64,
        /// The probability of the event in each trial.
        chance: f64,
        /// Whether the probability is a bound.
        side: Side,
    },
    /// A nearly normal number.
    Normal {
        /// The number.
        observed: f64,
        /// Its mean.
        theory: f64,
        /// Its standard deviation.
        deviation: f64,
        /// The number of trials that it summarises.
        trials: u64,
        /// Whether the mean is a bound.
        side: Side,
    },
    /// A χ² statistic.
    ChiSquare {
        /// The statistic.
        statistic: f64,
        /// Its degrees of freedom.
        degrees: u64,
        /// The number of observations.
        trials: u64,
    },
    /// A number without randomness.
    Exact {
        /// The number.
        observed: f64,
        /// The number in theory.
        theory: f64,
        /// The greatest allowed difference.
        tolerance: f64,
    },
    /// A number without randomness, and its bounds.
    Between {
        /// The number.
        observed: f64,
        /// The least allowed number.
        lower: f64,
        /// The greatest allowed number.
        upper: f64,
    },
}

/// The result of a check.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judged {
    /// The observed number.
    pub observed: f64,
    /// The number in theory, or `None` if theory gives only bounds.
    pub theory: Option<f64>,
    /// The least accepted number.
    pub lower: f64,
    /// The greatest accepted number.
    pub upper: f64,
    /// The number of trials; 0 without randomness.
    pub trials: u64,
    /// The name of the test.
    pub test: &'static str,
}

impl Judged {
    /// Returns true if the observation agrees with theory.
    pub fn holds(&self) -> bool {
        self.lower <= self.observed && self.observed <= self.upper
    }

    /// Returns the share of the distance from theory to the bound that the observation uses. Above
    /// 1 the check fails. A bound without theory holds or fails (0 or infinity), because there is
    /// no number to measure from.
    pub fn strain(&self) -> f64 {
        let Some(theory) = self.theory else {
            return if self.holds() { 0.0 } else { f64::INFINITY };
        };
        // If there is no lower bound, a low number is not near a bound.
        if self.observed < theory
            && (self.lower == f64::NEG_INFINITY || self.lower == 0.0 && self.observed >= 0.0)
        {
            return 0.0;
        }
        let side = if self.observed < theory { self.lower } else { self.upper };
        let (distance, room) = ((self.observed - theory).abs(), (side - theory).abs());
        if distance == 0.0 {
            0.0
        } else if room == 0.0 {
            f64::INFINITY
        } else {
            distance / room
        }
    }
}

impl Measure {
    /// Returns true if the number is random, so that the check needs a share of the level.
    pub fn is_random(&self) -> bool {
        !matches!(self, Self::Exact { .. } | Self::Between { .. })
    }

    /// Makes the check. A correct number is rejected with a probability of at most `tail`.
    pub fn judge(&self, tail: f64) -> Judged {
        match *self {
            Self::Share { successes, trials, chance, side } => {
                let n = trials.max(1) as f64;
                let (lower, upper) = match side {
                    Side::Both => (fewest(trials, chance, tail / 2.0), most(trials, chance, tail / 2.0)),
                    Side::AtMost => (0, most(trials, chance, tail)),
                    Side::AtLeast => (fewest(trials, chance, tail), trials),
                };
                Judged {
                    observed: successes as f64 / n,
                    theory: Some(chance),
                    lower: lower as f64 / n,
                    upper: upper as f64 / n,
                    trials,
                    test: "binomial",
                }
            }
            Self::Normal { observed, theory, deviation, trials, side } => {
                // One tail of `tail` is two of `2·tail`.
                let tails = if side == Side::Both { tail } else { 2.0 * tail };
                let margin = normal_quantile(tails) * deviation;
                Judged {
                    observed,
                    theory: Some(theory),
                    lower: if side == Side::AtMost { f64::NEG_INFINITY } else { theory - margin },
                    upper: if side == Side::AtLeast { f64::INFINITY } else { theory + margin },
                    trials,
                    test: "normal",
                }
            }
            Self::ChiSquare { statistic, degrees, trials } => {
                let (lower, upper) = chi_square_bounds(degrees as f64, tail);
                Judged {
                    observed: statistic,
                    theory: Some(degrees as f64),
                    lower,
                    upper,
                    trials,
                    test: "chi-square",
                }
            }
            Self::Exact { observed, theory, tolerance } => Judged {
                observed,
                theory: Some(theory),
                lower: theory - tolerance,
                upper: theory + tolerance,
                trials: 0,
                test: "exact",
            },
            Self::Between { observed, lower, upper } => {
                Judged { observed, theory: None, lower, upper, trials: 0, test: "bounds" }
            }
        }
    }
}

// ---- normal ----

/// Returns the number of standard deviations that a normal variable exceeds with this probability,
/// both sides together.
pub fn normal_quantile(tails: f64) -> f64 {
    crivo::math::two_sided_quantile(1.0 - tails)
}

// ---- binomial ----

/// Returns the logarithm of the probability of exactly `count` successes.
fn log_probability(count: f64, trials: f64, chance: f64) -> f64 {
    let choices = lgamma(trials + 1.0) - lgamma(count + 1.0) - lgamma(trials - count + 1.0);
    let successes = if count > 0.0 { count * log(chance) } else { 0.0 };
    let failures = if count < trials { (trials - count) * log1p(-chance) } else { 0.0 };
    choices + successes + failures
}

/// Returns the probability of at most `count` successes in `trials`.
pub fn at_most(count: u64, trials: u64, chance: f64) -> f64 {
    let (k, n) = (count as f64, trials as f64);
    if count >= trials || chance <= 0.0 {
        1.0
    } else if chance >= 1.0 {
        0.0
    } else if k < n * chance {
        sum(k, n, chance, -1.0)
    } else {
        1.0 - sum(k + 1.0, n, chance, 1.0)
    }
}

/// Returns the probability of at least `count` successes in `trials`.
pub fn at_least(count: u64, trials: u64, chance: f64) -> f64 {
    let (k, n) = (count as f64, trials as f64);
    if count == 0 {
        1.0
    } else if count > trials || chance <= 0.0 {
        0.0
    } else if chance >= 1.0 {
        1.0
    } else if k > n * chance {
        sum(k, n, chance, 1.0)
    } else {
        1.0 - sum(k - 1.0, n, chance, -1.0)
    }
}

/// Sums the probabilities from `count` on, away from the mean, where they decrease.
fn sum(mut count: f64, trials: f64, chance: f64, step: f64) -> f64 {
    let odds = chance / (1.0 - chance);
    let mut term = exp(log_probability(count, trials, chance));
    let mut sum = 0.0;
    while term > sum * 1e-16 && count >= 0.0 && count <= trials {
        sum += term;
        term *= if step > 0.0 {
            (trials - count) / (count + 1.0) * odds
        } else {
            count / (trials - count + 1.0) / odds
        };
        count += step;
    }
    sum
}

/// Returns the least accepted number of successes: fewer have a probability of at most `tail`.
fn fewest(trials: u64, chance: f64, tail: f64) -> u64 {
    let (mut low, mut high) = (0, trials);
    // Numbers below `low` are known to be too few.
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if at_most(middle - 1, trials, chance) <= tail {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Returns the greatest accepted number of successes: more have a probability of at most `tail`.
fn most(trials: u64, chance: f64, tail: f64) -> u64 {
    let (mut low, mut high) = (0, trials);
    while low < high {
        let middle = low + (high - low) / 2;
        if at_least(middle + 1, trials, chance) <= tail {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

// ---- χ² ----

/// Returns the probability that a χ² variable of the given degrees of freedom exceeds `statistic`:
/// the upper incomplete gamma function, by its series below the mean and by Lentz's continued
/// fraction above (Abramowitz and Stegun 6.5.29, 6.5.31).
pub fn chi_square_above(statistic: f64, degrees: f64) -> f64 {
    let (a, x) = (degrees / 2.0, statistic / 2.0);
    if x <= 0.0 {
        return 1.0;
    }
    let front = exp(a * log(x) - x - lgamma(a));
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > sum * 1e-16 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    let mut b = x + 1.0 - a;
    let mut c = 1e300;
    let mut d = 1.0 / b;
    let mut h = d;
    for i in 1..10_000 {
        let i = f64::from(i);
        let an = -i * (i - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        let change = d * c;
        h *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * h
}

/// Returns the interval that contains a χ² variable of the given degrees of freedom, except for a
/// probability of `tail`, half on each side.
pub fn chi_square_bounds(degrees: f64, tail: f64) -> (f64, f64) {
    let quantile = |above: f64| {
        let (mut low, mut high) = (0.0, degrees + 100.0 * sqrt(degrees) + 1000.0);
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if chi_square_above(middle, degrees) > above {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    };
    (quantile(1.0 - tail / 2.0), quantile(tail / 2.0))
}

/// Returns Pearson's statistic of counts and the probabilities of their cells, which are pooled.
/// Returns `None` if there are too few observations for two cells.
pub fn chi_square(counts: &[u64], probabilities: &[f64]) -> Option<Measure> {
    let total: u64 = counts.iter().sum();
    let mut cells: Vec<(f64, f64)> = Vec::new();
    let mut open = (0.0, 0.0);
    for (&count, probability) in counts.iter().zip(probabilities) {
        open = (open.0 + count as f64, open.1 + probability * total as f64);
        if open.1 >= EXPECTED {
            cells.push(std::mem::take(&mut open));
        }
    }
    let last = cells.last_mut()?;
    *last = (last.0 + open.0, last.1 + open.1);
    let statistic =
        cells.iter().map(|(count, expected)| (count - expected) * (count - expected) / expected).sum();
    (cells.len() > 1).then(|| Measure::ChiSquare {
        statistic,
        degrees: cells.len() as u64 - 1,
        trials: total,
    })
}

// ---- samples ----

/// The moments of observations about the mean in theory.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    center: f64,
    trials: f64,
    sums: [f64; 4],
}

impl Sample {
    /// Creates an empty sample about this mean.
    pub fn about(center: f64) -> Self {
        Self { center, trials: 0.0, sums: [0.0; 4] }
    }

    /// Adds one observation.
    pub fn add(&mut self, value: f64) {
        let mut power = 1.0;
        self.trials += 1.0;
        for sum in &mut self.sums {
            power *= value - self.center;
            *sum += power;
        }
    }

    /// Returns the number of observations.
    pub fn trials(&self) -> u64 {
        self.trials as u64
    }

    /// Returns the mean of the observations.
    pub fn mean(&self) -> f64 {
        self.center + self.sums[0] / self.trials
    }

    /// Returns the mean of the squared distances from the mean in theory.
    pub fn variance(&self) -> f64 {
        self.sums[1] / self.trials
    }

    /// Returns the kurtosis about the mean in theory, which is 3 for a normal distribution.
    pub fn kurtosis(&self) -> f64 {
        self.sums[3] / self.trials / (self.variance() * self.variance())
    }

    /// Compares the mean with that of the theory, given the variance of one observation.
    pub fn check_mean(&self, variance: f64) -> Measure {
        Measure::Normal {
            observed: self.mean(),
            theory: self.center,
            deviation: sqrt(variance / self.trials),
            trials: self.trials(),
            side: Side::Both,
        }
    }

    /// Compares the variance with that of the theory, given the kurtosis of one observation.
    pub fn check_variance(&self, variance: f64, kurtosis: f64) -> Measure {
        Measure::Normal {
            observed: self.variance(),
            theory: variance,
            deviation: variance * sqrt((kurtosis - 1.0).max(0.0) / self.trials),
            trials: self.trials(),
            side: Side::Both,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_sums_are_those_of_their_terms() {
        // 10 tosses of a fair coin: 1, 10, 45 … of 1024.
        assert!((at_most(2, 10, 0.5) - 56.0 / 1024.0).abs() < 1e-12);
        assert!((at_least(8, 10, 0.5) - 56.0 / 1024.0).abs() < 1e-12);
        assert!((at_most(7, 10, 0.5) - (1.0 - 56.0 / 1024.0)).abs() < 1e-12);
        // Both tails are at most the requested ones, and those of the next count are not.
        for (trials, chance) in [(10_000, 0.3), (50, 0.01), (1_000_000, 1e-4)] {
            let (low, high) = (fewest(trials, chance, 1e-6), most(trials, chance, 1e-6));
            assert!(low == 0 || at_most(low - 1, trials, chance) <= 1e-6);
            assert!(at_most(low, trials, chance) > 1e-6);
            assert!(at_least(high + 1, trials, chance) <= 1e-6 && at_least(high, trials, chance) > 1e-6);
        }
    }

    /// With an even number of degrees, the probability is a finite sum: `e^(−x/2) Σ (x/2)^i/i!` for
    /// `i` below half of them.
    #[test]
    fn chi_square_has_the_tails_of_a_finite_sum() {
        for (statistic, degrees) in
            [(2.0, 4), (30.0, 10), (100.0, 100), (60.0, 100), (400.0, 300), (500.0, 300)]
        {
            let half = statistic / 2.0;
            let mut term = exp(-half);
            let mut expected = 0.0;
            for i in 0..degrees / 2 {
                expected += term;
                term *= half / f64::from(i + 1);
            }
            let found = chi_square_above(statistic, f64::from(degrees));
            assert!((found / expected - 1.0).abs() < 1e-9, "{statistic}, {degrees}: {found}, not {expected}");
        }
        let (low, high) = chi_square_bounds(20.0, 0.05);
        assert!((low - 9.590_78).abs() < 1e-4 && (high - 34.169_61).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn a_fair_die_passes_and_a_loaded_one_does_not() {
        let fair = chi_square(&[10_050, 9_950, 10_020, 9_980, 10_110, 9_890], &[1.0 / 6.0; 6]).unwrap();
        assert!(fair.judge(LEVEL).holds());
        let loaded = chi_square(&[10_000, 10_000, 10_000, 10_000, 10_500, 9_500], &[1.0 / 6.0; 6]).unwrap();
        assert!(!loaded.judge(LEVEL).holds());
        // Counts that are more even than by chance are equally suspicious.
        let cells = 400;
        assert!(
            !chi_square(&vec![1000; cells], &vec![1.0 / cells as f64; cells]).unwrap().judge(LEVEL).holds()
        );
    }

    #[test]
    fn bounds_fail_on_their_side_only() {
        let share =
            |successes, side| Measure::Share { successes, trials: 10_000, chance: 0.1, side }.judge(LEVEL);
        assert!(share(1_000, Side::Both).holds() && !share(1_300, Side::Both).holds());
        assert!(share(0, Side::AtMost).holds() && !share(1_300, Side::AtMost).holds());
        assert!(share(10_000, Side::AtLeast).holds() && !share(700, Side::AtLeast).holds());
        let exact = Measure::Exact { observed: 1.01, theory: 1.0, tolerance: 0.001 };
        assert!(!exact.judge(LEVEL).holds() && exact.judge(LEVEL).strain() > 9.0);
    }

    #[test]
    fn a_bound_is_no_theory() {
        let between = |observed| Measure::Between { observed, lower: 1.0, upper: 2.0 }.judge(LEVEL);
        assert_eq!(between(1.5).theory, None);
        assert!(between(1.5).holds() && between(1.5).strain() == 0.0);
        for outside in [0.5, 2.5] {
            assert!(!between(outside).holds() && between(outside).strain() == f64::INFINITY);
        }
    }

    #[test]
    fn samples_know_their_moments() {
        let mut sample = Sample::about(2.0);
        [1.0, 3.0, 1.0, 3.0].into_iter().for_each(|value| sample.add(value));
        assert_eq!((sample.mean(), sample.variance(), sample.kurtosis()), (2.0, 1.0, 1.0));
    }
}
