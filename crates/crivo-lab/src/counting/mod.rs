//! Counting events with counters that toss a coin before they count.

pub(crate) mod expectation;
pub(crate) mod half;
pub(crate) mod morris;
pub(crate) mod property;
pub(crate) mod sixty_fourth;
pub(crate) mod stream_sum;

use libm::{exp, lgamma, log, log1p};

/// Returns the probability that `k` events, each counted with probability `p`, give the count `n`.
fn binomial(k: u64, n: u64, p: f64) -> f64 {
    let (k, n) = (k as f64, n as f64);
    exp(lgamma(k + 1.0) - lgamma(n + 1.0) - lgamma(k - n + 1.0) + n * log(p) + (k - n) * log1p(-p))
}

/// Returns the kurtosis of a binomial variable.
fn binomial_kurtosis(k: f64, p: f64) -> f64 {
    3.0 + (1.0 - 6.0 * p * (1.0 - p)) / (k * p * (1.0 - p))
}
