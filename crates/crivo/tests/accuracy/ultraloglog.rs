//! UltraLogLog against its theory.

use crivo::distinct::ultraloglog::ThreeLevels;
use crivo::distinct::{HyperLogLog, UltraLogLog};

use super::harness::{Claim, judge};
use super::register_sketch::{self as suite, Small, TRIALS, claim, linear_counting, theory};

#[test]
fn theory_has_the_known_limits() {
    // Many items: 0.7609/√m. Few: linear counting, but of two items in one register half the pairs
    // are seen: not those of equal levels (1/3) or more than two apart (1/6).
    let theory = |n| theory::<ThreeLevels>(12, n);
    assert!((theory(1e9) / UltraLogLog::standard_error(12) - 1.0).abs() < 1e-4);
    let few = theory(41.0) / linear_counting(12, 41.0);
    assert!((few / 0.5_f64.sqrt() - 1.0).abs() < 0.01, "{few}");
    // Packed in eight bits a register, against six and eight bits of a HyperLogLog.
    let bits = |bits: f64, error: f64| bits * 4096.0 * error * error;
    assert!((bits(8.0, theory(1e9)) - 4.631).abs() < 1e-3);
    assert!((bits(6.0, HyperLogLog::standard_error(12)) - 6.449).abs() < 1e-3);
}

/// From just after the exact state through the range where the classic estimator of HyperLogLog has
/// its bump (2.5 m to 5 m) to twice that.
#[test]
fn holds_from_the_switch_to_ten_items_a_register() {
    suite::holds_along_streams::<ThreeLevels>(10, &[125, 250, 625, 1_250, 2_560, 5_120, 10_240]);
}

/// Real streams are slow: fewer trials, and margins that fit them.
#[test]
fn holds_at_a_million() {
    let measured = suite::measure_streams::<ThreeLevels>(12, 1_000_000, 1_200);
    let claim = Claim {
        rmse_margin: 0.2,
        bias_margin: 0.29,
        coverage: (0.87, 0.995),
        ..claim::<ThreeLevels>(12, 1e6)
    };
    assert_eq!(judge("12 | 1000000", &claim, &measured), Ok(()));
}

#[test]
fn holds_from_a_million_to_ten_to_the_eighteenth() {
    suite::holds_from_a_million_to_ten_to_the_eighteenth::<ThreeLevels>(9);
}

/// Bits a register times variance a register: the memory that an error takes. The ceiling is 2.9 %
/// above the error of theory, so that 20,500 trials fail a correct implementation with probability
/// below 10⁻⁶, as the assertion computes.
#[test]
fn takes_at_most_4_9_bits_times_variance() {
    let (precision, n, trials) = (12, 1e9, 20_500);
    let measured = suite::measure_simulated::<ThreeLevels>(precision, n, trials);
    let bits = |error: f64| 8.0 * f64::from(1_u32 << precision) * error * error;
    let theory = theory::<ThreeLevels>(precision, n);
    let deviations = ((4.9 / bits(theory)).sqrt() - 1.0) * f64::from(2 * trials).sqrt();
    assert!(deviations > 4.753, "one-sided false alarm above 10⁻⁶");
    let found = bits(measured.rmse());
    assert!(found <= 4.9, "{found} bits");
    let claim = Claim { rmse_margin: 0.05, bias_margin: 0.07, ..claim::<ThreeLevels>(precision, n) };
    assert_eq!(judge(&format!("{precision} | {n:e}, simulated, {found:.3} bits"), &claim, &measured), Ok(()));
}

#[test]
fn small_sketches_stay_close_to_theory() {
    suite::small_sketches_stay_close_to_theory::<ThreeLevels>(&[
        Small { precision: 4, trials: 20_500, rmse_margin: 0.1, bias_margin: 0.07, widest: 0.985 },
        Small { precision: 6, trials: 20_500, rmse_margin: 0.05, bias_margin: 0.07, widest: 0.97 },
        Small { precision: 8, trials: TRIALS, rmse_margin: 0.03, bias_margin: 0.05, widest: 0.97 },
    ]);
}

#[test]
fn holds_at_the_largest_precision() {
    // 2^18 registers a trial: few trials, and margins that fit them.
    let measured = suite::measure_simulated::<ThreeLevels>(18, 1e12, 460);
    let claim = Claim {
        rmse_margin: 0.33,
        bias_margin: 0.46,
        coverage: (0.8, 1.0),
        ..claim::<ThreeLevels>(18, 1e12)
    };
    assert_eq!(judge("18 | 1e12, simulated", &claim, &measured), Ok(()));
}

#[test]
fn small_counts_are_exact_and_certain() {
    suite::small_counts_are_exact_and_certain::<ThreeLevels>();
}

#[test]
fn wider_confidence_covers_more() {
    let levels = [(0.5, 0.48, 0.52), (0.99, 0.986, 0.995), (0.999, 0.997, 0.99999)];
    suite::wider_confidence_covers_more::<ThreeLevels>(8, levels);
}

#[test]
fn a_constant_wrong_by_three_percent_is_caught() {
    suite::a_constant_wrong_by_three_percent_is_caught::<ThreeLevels>(8);
}
