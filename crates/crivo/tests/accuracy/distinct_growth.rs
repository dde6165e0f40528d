//! Does the curve of different values hold the truth, and is it as close as theory says?
//!
//! The `k`-th smallest of `n` uniform hashes is the limit `θ`. The `k − 1` values below it are a
//! random set of all, so the number `c` of them among the first `m` values is hypergeometric and
//! independent of `θ`. The estimate `c/θ` is unbiased with the relative variance
//! `(1 + a)(1 + b) − 1`, where `a` is that of `c` and `b` that of `1/θ`.

use crivo::keys::KeyScheme;
use crivo::profile::DistinctGrowth;

use super::harness::{Claim, Measured, judge};
use super::support::generator;

/// Claims bias 0, the error above and a coverage of 95 % or a little more, as Clopper and Pearson's
/// bounds have it. 40,000 trials; the harness computes the chance of a false alarm.
#[test]
fn curves_have_the_error_of_theory() {
    const TRIALS: u32 = 40_000;
    const K: u32 = 128;
    let (values, at) = (2_000_u64, [500_u64, 2_000]);
    let mut measured = [Measured::default(), Measured::default()];
    let mut random = generator("growth");
    let mut hashes = vec![0; values as usize];
    for _ in 0..TRIALS {
        random.fill(&mut hashes);
        let mut sketch = DistinctGrowth::with_scheme(K, KeyScheme::hashes()).unwrap();
        // Only every tenth row has a value: no answer is limited by the number of rows.
        sketch.insert_hashes(&hashes, |value| 10 * (value as u64 + 1));
        let curve = sketch.growth(&at.map(|value| 10 * value));
        for (measured, (estimate, value)) in measured.iter_mut().zip(curve.into_iter().zip(at)) {
            measured.add(value as f64, estimate);
        }
    }
    for (measured, value) in measured.iter().zip(at) {
        let (n, m, k) = (values as f64, value as f64, f64::from(K));
        let of_count = (n / m - 1.0) * (n - k + 1.0) / ((n - 1.0) * (k - 1.0));
        let of_limit = (n - k + 1.0) / (n * (k - 2.0));
        let rmse = ((1.0 + of_count) * (1.0 + of_limit) - 1.0).sqrt();
        let claim = Claim { rmse, rmse_margin: 0.05, bias_margin: 0.06, coverage: (0.94, 0.985) };
        judge(&format!("{value} values"), &claim, measured).unwrap();
    }
}

/// Claims that one value in fifty that comes twice is noticed: missed with probability
/// `(1 − 0.02)^1024 = 10⁻⁹`.
#[test]
fn repeated_values_are_noticed_and_others_are_not() {
    let mut random = generator("repeated");
    let mut hashes = vec![0; 50_000];
    random.fill(&mut hashes);
    let mut sketch = DistinctGrowth::with_scheme(1024, KeyScheme::hashes()).unwrap();
    sketch.insert_hashes(&hashes, |row| row as u64 + 1);
    assert!(!sketch.is_repeated(), "all are different");
    sketch.insert_hashes(&hashes[..1_000], |row| row as u64 + 50_001);
    assert!(sketch.is_repeated());
}
