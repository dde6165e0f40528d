//! Tails of the binomial distribution, to full precision from one trial to 10^18.
//!
//! A sketch that keeps the items below a threshold knows the number of successes and the
//! probability of each, and needs the number of trials. Its bounds are these tails, inverted. The
//! beta distribution would give the same bounds: the r-th smallest of `n` uniform values is at most
//! `x` exactly if at least `r` of them are.
//!
//! A tail is summed from its largest term outwards. That term is computed from its deviation from
//! the mean (Loader, *Fast and accurate computation of binomial probabilities*, 2000), because
//! factorials of 10^18 would lose all digits.

use super::crossing::crossing;

/// Returns the probability of at most `count` successes in `trials`, each with probability `p`.
///
/// `count` is a whole number. `trials` may be any number that is not less than it.
pub(crate) fn at_most(count: f64, trials: f64, p: f64) -> f64 {
    if count < 0.0 {
        0.0
    } else if count >= trials || p <= 0.0 {
        1.0
    } else if p >= 1.0 {
        0.0
    } else if count < trials * p {
        sum_down(count, trials, p)
    } else {
        1.0 - sum_up(count + 1.0, trials, p)
    }
}

/// Returns the probability of at least `count` successes.
pub(crate) fn at_least(count: f64, trials: f64, p: f64) -> f64 {
    if count <= 0.0 {
        1.0
    } else if count > trials || p <= 0.0 {
        0.0
    } else if p >= 1.0 {
        1.0
    } else if count > trials * p {
        sum_up(count, trials, p)
    } else {
        1.0 - sum_down(count - 1.0, trials, p)
    }
}

/// Returns the least and the largest probability of success at which `successes` of `trials` are
/// not unlikely. Both are whole numbers.
pub(crate) fn chances(successes: f64, trials: f64, probability: f64) -> (f64, f64) {
    let target = libm::log(probability);
    let logarithm = |p: f64| libm::log(p).max(-1e3);
    let least = match successes {
        0.0 => 0.0,
        _ => crossing(0.0, 1.0, |p| logarithm(at_least(successes, trials, p)) - target),
    };
    let most = match trials - successes {
        0.0 => 1.0,
        _ => crossing(0.0, 1.0, |p| target - logarithm(at_most(successes, trials, p))),
    };
    (least, most)
}

/// Terms below this share of the sum no longer change it.
pub(super) const NEGLIGIBLE: f64 = 1e-17;

/// Adds up the probabilities of `count`, `count − 1` and so on. They decrease, because `count` is
/// below the mean.
fn sum_down(mut count: f64, trials: f64, p: f64) -> f64 {
    let odds = (1.0 - p) / p;
    let mut term = exactly(count, trials, p);
    let mut sum = 0.0;
    while term > sum * NEGLIGIBLE {
        sum += term;
        term *= count * odds / (trials - count + 1.0);
        count -= 1.0;
    }
    sum
}

/// Adds up the probabilities of `count`, `count + 1` and so on. They decrease, because `count` is
/// above the mean.
fn sum_up(mut count: f64, trials: f64, p: f64) -> f64 {
    if count > trials {
        return 0.0;
    }
    let odds = p / (1.0 - p);
    let mut term = exactly(count, trials, p);
    let mut sum = 0.0;
    while term > sum * NEGLIGIBLE {
        sum += term;
        term *= (trials - count) * odds / (count + 1.0);
        count += 1.0;
    }
    sum
}

/// Returns the probability of exactly `count` successes.
pub(super) fn exactly(count: f64, trials: f64, p: f64) -> f64 {
    let failures = trials - count;
    if count <= 0.0 {
        return libm::exp(trials * libm::log1p(-p));
    }
    if failures <= 0.0 {
        return libm::exp(trials * libm::log(p));
    }
    // The deviation is the same for successes and failures. Computing it once keeps its digits even
    // if one of them is 10^18.
    let (mean, other_mean) = (trials * p, trials * (1.0 - p));
    let deviation = count - mean;
    let exponent = stirling_error(trials)
        - stirling_error(count)
        - stirling_error(failures)
        - mean * deviance(deviation / mean)
        - other_mean * deviance(-deviation / other_mean);
    libm::exp(exponent) * libm::sqrt(trials / (2.0 * std::f64::consts::PI * count * failures))
}

/// Returns the error of Stirling's formula: `ln x! − ln(√(2πx) (x/e)^x)`.
fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        let half_log_tau = 0.918_938_533_204_672_8;
        return libm::lgamma(x + 1.0) - (x + 0.5) * libm::log(x) + x - half_log_tau;
    }
    let square = 1.0 / (x * x);
    (1.0 / 12.0
        - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))))
        / x
}

/// Returns `(1 + u) ln(1 + u) − u`, to full precision also where both parts nearly cancel.
fn deviance(u: f64) -> f64 {
    if u.abs() > 0.1 {
        return if u <= -1.0 { 1.0 } else { (1.0 + u) * libm::log1p(u) - u };
    }
    // u²/2 − u³/6 + u⁴/12 − …
    let (mut power, mut sum) = (u * u, 0.0);
    for order in 2..=18 {
        sum += power / f64::from(order * (order - 1));
        power *= -u;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(found: f64, expected: f64, what: &str) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{what}: {found:e} instead of {expected:e}");
    }

    #[test]
    fn small_cases_are_the_sums_of_their_terms() {
        for trials in 1..=30_u32 {
            for p in [1e-9, 0.03, 0.5, 0.77, 1.0 - 1e-9] {
                let mut choose = 1.0;
                let mut terms = Vec::new();
                for count in 0..=trials {
                    terms.push(
                        choose * libm::pow(p, count.into()) * libm::pow(1.0 - p, (trials - count).into()),
                    );
                    choose *= f64::from(trials - count) / f64::from(count + 1);
                }
                for count in 0..=trials {
                    let (c, n) = (f64::from(count), f64::from(trials));
                    let what = format!("{count} of {trials} at {p}");
                    assert_close(at_most(c, n, p), terms[..=count as usize].iter().sum(), &what);
                    assert_close(at_least(c, n, p), terms[count as usize..].iter().rev().sum(), &what);
                }
            }
        }
    }

    /// With n trials of probability λ/n and n → ∞, the tails are sums of Poisson terms.
    #[test]
    fn huge_numbers_of_trials_are_poisson() {
        for (mean, count) in [(3.0, 1_u32), (3.0, 12), (100.0, 70), (100.0, 150)] {
            let mut term = libm::exp(-mean);
            let mut sum = 0.0;
            for j in 0..=count {
                sum += term;
                term *= mean / f64::from(j + 1);
            }
            for trials in [1e15, 1e18] {
                let found = at_most(count.into(), trials, mean / trials);
                assert!(
                    (found / sum - 1.0).abs() < 1e-10,
                    "{count} of mean {mean}: {found:e} instead of {sum:e}"
                );
                let found = at_least(f64::from(count) + 1.0, trials, mean / trials);
                assert!((found - (1.0 - sum)).abs() < 1e-10, "{found:e} instead of {:e}", 1.0 - sum);
            }
        }
    }

    /// A tail far from the mean keeps its digits, and both tails add up to one.
    #[test]
    fn tails_add_up_to_one_across_magnitudes() {
        for (trials, p) in [(1e3, 0.5), (1e6, 1e-3), (1e9, 0.9), (1e12, 1e-8), (67_108_864.0, 0.25)] {
            let deviation = libm::sqrt(trials * p * (1.0 - p));
            for distance in [-6.0, -2.0, 0.0, 2.0, 6.0] {
                let count = libm::floor(trials * p + distance * deviation);
                let sum = at_most(count, trials, p) + at_least(count + 1.0, trials, p);
                assert!((sum - 1.0).abs() < 1e-10, "{count} of {trials} at {p}: {sum}");
            }
        }
    }

    /// Clopper and Pearson's own example, 10 of 50 at 95 %, and the rule of three.
    #[test]
    fn chances_match_known_intervals() {
        let (least, most) = chances(10.0, 50.0, 0.025);
        assert!((least - 0.1003).abs() < 1e-4 && (most - 0.3372).abs() < 1e-4, "{least} to {most}");
        let (least, most) = chances(0.0, 100.0, 0.05);
        assert!(least == 0.0 && (most - 0.0295).abs() < 1e-4, "{least} to {most}");
        assert_eq!(chances(7.0, 7.0, 0.05).1, 1.0);
    }

    #[test]
    fn impossible_and_certain_counts_have_no_doubt() {
        assert_eq!((at_most(-1.0, 10.0, 0.5), at_least(0.0, 10.0, 0.5)), (0.0, 1.0));
        assert_eq!((at_most(10.0, 10.0, 0.5), at_least(11.0, 10.0, 0.5)), (1.0, 0.0));
        assert_eq!((at_most(3.0, 10.0, 0.0), at_least(3.0, 10.0, 0.0)), (1.0, 0.0));
        assert_eq!((at_most(3.0, 10.0, 1.0), at_least(3.0, 10.0, 1.0)), (0.0, 1.0));
    }
}
