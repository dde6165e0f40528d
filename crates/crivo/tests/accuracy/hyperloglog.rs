//! HyperLogLog against its theory.

use crivo::distinct::HyperLogLog;
use crivo::distinct::hyperloglog::HighestRank;

use super::harness::{Claim, judge};
use super::register_sketch::{self as suite, Small, TRIALS, claim, linear_counting, theory};

#[test]
fn theory_has_the_known_limits() {
    // Many items: 1.0367/√m. Few: linear counting, with a little more to learn.
    let theory = |n| theory::<HighestRank>(12, n);
    assert!((theory(1e9) / HyperLogLog::standard_error(12) - 1.0).abs() < 1e-4);
    assert!((theory(410.0) / linear_counting(12, 410.0) - 1.0).abs() < 0.03);
    assert!(theory(8192.0) < linear_counting(12, 8192.0));
}

/// From just after the exact state through the range where the classic estimator has its bump
/// (2.5 m to 5 m) to well beyond.
#[test]
fn holds_from_the_switch_to_twenty_registers_full() {
    let sizes = [500, 1_000, 2_500, 5_000, 10_240, 20_480, 100_000];
    suite::holds_along_streams::<HighestRank>(12, &sizes);
}

#[test]
fn holds_at_a_million() {
    // Real streams are slow, so there are fewer trials and wider margins for them than elsewhere.
    // The claim that matters is one-sided, an error of at most 1.02 × 1.04/√m, which is 1.025 ×
    // theory: more than 4.9 deviations of noise at 24,000 trials, as the assertion below computes.
    let trials = 24_000;
    let measured = suite::measure_streams::<HighestRank>(12, 1_000_000, trials);
    let ceiling = 1.02 * 1.04 / 64.0;
    let deviations = (ceiling / theory::<HighestRank>(12, 1e6) - 1.0) * f64::from(2 * trials).sqrt();
    assert!(deviations > 4.753, "one-sided false alarm above 10⁻⁶");
    assert!(measured.rmse() <= ceiling, "rmse {} above {ceiling}", measured.rmse());
    let wider = Claim { rmse_margin: 0.05, bias_margin: 0.07, ..claim::<HighestRank>(12, 1e6) };
    assert_eq!(judge("12 | 1000000", &wider, &measured), Ok(()));
}

#[test]
fn holds_from_a_million_to_ten_to_the_eighteenth() {
    suite::holds_from_a_million_to_ten_to_the_eighteenth::<HighestRank>(12);
}

/// At precision 4 the error is 8 % above first-order theory, and intervals are a little wide.
#[test]
fn small_sketches_stay_close_to_theory() {
    let sizes = [(4, 0.12, 0.985), (5, 0.07, 0.98), (6, 0.05, 0.975), (8, 0.03, 0.97)];
    suite::small_sketches_stay_close_to_theory::<HighestRank>(&sizes.map(
        |(precision, rmse_margin, widest)| Small {
            precision,
            trials: TRIALS,
            rmse_margin,
            bias_margin: 0.05,
            widest,
        },
    ));
}

#[test]
fn holds_at_the_largest_precision() {
    // 2^18 registers a trial: fewer trials, and margins that fit them.
    let measured = suite::measure_simulated::<HighestRank>(18, 1e12, 3_000);
    let claim = Claim {
        rmse_margin: 0.13,
        bias_margin: 0.18,
        coverage: (0.91, 0.99),
        ..claim::<HighestRank>(18, 1e12)
    };
    assert_eq!(judge("18 | 1e12, simulated", &claim, &measured), Ok(()));
}

#[test]
fn small_counts_are_exact_and_certain() {
    suite::small_counts_are_exact_and_certain::<HighestRank>();
}

#[test]
fn wider_confidence_covers_more() {
    let levels = [(0.5, 0.48, 0.52), (0.99, 0.986, 0.994), (0.999, 0.997, 0.99999)];
    suite::wider_confidence_covers_more::<HighestRank>(12, levels);
}

#[test]
fn a_constant_wrong_by_three_percent_is_caught() {
    suite::a_constant_wrong_by_three_percent_is_caught::<HighestRank>(12);
}
