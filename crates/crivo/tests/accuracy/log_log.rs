//! LogLog against its theory.
//!
//! With `m` registers and `ν = n/m` from ten on, the relative variance is
//! `(ln²2/12 + π²/6 − 1/ν)/m`, the last term because the number of items is fixed. The estimate is
//! a product over the registers, so in the Poisson model at `ν` items a register its mean is
//! `α m (E 2^(z/m))^m`, with `E 2^(z/m) = 1 + Σ_j (2^((j+1)/m) − 2^(j/m)) (1 − e^(−ν 2^−(j+1)))`
//! for the longest run of zeros `z` of one. For many items this tells by how much the constant of
//! endless registers is too high, for few how far the estimate is from the truth. Durand and
//! Flajolet (2003) count one more than the zeros; their constant is half.
//!
//! The theoretical bias is taken out of each answer before it is judged: what is left must be
//! small.

#![allow(clippy::print_stdout)] // with --nocapture: the rows of the tables in docs/accuracy

use crivo::distinct::LogLog;
use crivo::keys::KeyScheme;
use crivo::{Confidence, Estimate};

use super::harness::{Claim, Measured, judge};
use super::shares::{Share, feed};
use super::support::{Random, generator};

/// As for HyperLogLog: five deviations of noise fit in half of each margin.
const TRIALS: u32 = 60_000;

fn empty(precision: u8) -> LogLog {
    LogLog::with_scheme(precision, KeyScheme::hashes()).unwrap()
}

/// The mean of the estimate over the truth, with the constant 0.79402.
fn mean_ratio(precision: u8, n: f64) -> f64 {
    let m = f64::from(1_u32 << precision);
    let rate = n / m;
    let step = |j: i32| ((f64::from(j) + 1.0) / m).exp2() - (f64::from(j) / m).exp2();
    let sum: f64 = (0..60).map(|j| step(j) * -(-rate * 0.5_f64.powi(j + 1)).exp_m1()).sum();
    0.794_02 * (m * sum.ln_1p()).exp() / rate
}

fn claim(precision: u8, n: f64) -> Claim {
    let ln2 = std::f64::consts::LN_2;
    let m = f64::from(1_u32 << precision);
    let rmse = ((ln2 * ln2 / 12.0 + std::f64::consts::PI.powi(2) / 6.0 - m / n) / m).sqrt();
    Claim { rmse, rmse_margin: 0.035, bias_margin: 0.05, coverage: (0.94, 0.97) }
}

fn streamed(precision: u8, n: u64, random: &mut Random) -> LogLog {
    let mut sketch = empty(precision);
    feed(&mut sketch, n, random);
    sketch
}

/// The sketch of about `n` random hashes, `n` far above the number of registers, by the registers'
/// longest runs alone: `P(z < r) = e^(−ν 2^−r)`, so with an exponential variable `e` the run is the
/// least that is not below `log₂(ν/e) − 1`.
fn drawn(precision: u8, n: f64, random: &mut Random) -> LogLog {
    let mut sketch = empty(precision);
    let shift = 64 - u32::from(precision);
    for register in 0..1_u64 << precision {
        let ratio = n / f64::from(1_u32 << precision) / -random.unit().ln();
        // The exponent of a float is the whole part of its logarithm, and no such float is a power
        // of 2.
        let zeros = ((ratio.to_bits() >> 52) as i64 - 1023).clamp(0, i64::from(shift));
        let low_bits = if zeros == i64::from(shift) { 0 } else { 1 << zeros };
        sketch.insert_hash(register << shift | low_bits);
    }
    sketch
}

fn measure(name: &str, n: f64, bias: f64, mut trial: impl FnMut(&mut Random) -> LogLog) -> Measured {
    let mut random = generator(name);
    let mut measured = Measured::default();
    for _ in 0..TRIALS {
        let answer = trial(&mut random).estimate();
        let value = answer.value() / bias;
        measured.add(n, Estimate::probable(value, answer.lower(), answer.upper(), answer.confidence()));
    }
    measured
}

#[test]
fn theory_has_the_known_constants() {
    // Γ(−1/m)^−m (1 − 2^(1/m))^−m (ln 2)^m for m = 64 and 1024, doubled.
    for (precision, constant) in [(6, 0.783_562), (10, 0.793_370)] {
        assert!((mean_ratio(precision, 1e9) / (0.794_02 / constant) - 1.0).abs() < 2e-6);
    }
    assert!((mean_ratio(18, 1e12) - 1.0).abs() < 1e-5);
}

#[test]
fn holds_from_ten_items_a_register_on() {
    for (precision, n) in [(12, 1e7), (10, 1e15)] {
        let bias = mean_ratio(precision, n);
        let measured = measure("runs drawn", n, bias, |random| drawn(precision, n, random));
        let subject = format!("{precision} | {n:e}, drawn");
        assert_eq!(judge(&subject, &claim(precision, n), &measured), Ok(()), "{subject}");
    }
    // Second-order terms grow as 1/m.
    for (precision, n, rmse_margin) in [(6, 1_280, 0.05), (8, 5_120, 0.035), (10, 10_240, 0.035)] {
        let bias = mean_ratio(precision, n as f64);
        let measured = measure("runs streamed", n as f64, bias, |random| streamed(precision, n, random));
        let claim = Claim { rmse_margin, ..claim(precision, n as f64) };
        let subject = format!("{precision} | {n}");
        assert_eq!(judge(&subject, &claim, &measured), Ok(()), "{subject}");
    }
}

/// Below, the estimate is too high by what theory says, and the bounds hold all the same.
#[test]
fn few_items_are_overestimated_as_theory_says_and_bounds_hold() {
    let mut random = generator("few runs");
    for precision in [6, 10] {
        for share in [0.0, 0.02, 0.1, 0.5, 1.0, 2.0, 5.0] {
            let n = ((share * f64::from(1_u32 << precision)) as u64).max(1);
            let (mut held, mut sum, mut squares) = (Share::default(), 0.0, 0.0);
            let trials = 10_000;
            for _ in 0..trials {
                let answer = streamed(precision, n, &mut random).estimate();
                held.add(answer.covers(n as f64));
                sum += answer.value();
                squares += answer.value() * answer.value();
            }
            let mean = sum / f64::from(trials);
            let deviation = (squares / f64::from(trials) - mean * mean).max(0.0).sqrt();
            let theory = mean_ratio(precision, n as f64) * n as f64;
            println!(
                "| {precision} | {n} | {:.3} | {:.3} | {:.2} % |",
                theory / n as f64,
                mean / n as f64,
                100.0 * held.value()
            );
            // The Poisson model differs from a fixed number of items by up to one register in m.
            let margin = 5.5 * deviation / f64::from(trials).sqrt() + 0.012 * theory;
            assert!((mean - theory).abs() < margin, "{n} at {precision}: mean {mean}, theory {theory}");
            assert!(held.may_reach(0.945), "{n} at {precision}: held in {}", held.value());
        }
    }
}

#[test]
fn wider_confidence_covers_more() {
    let mut random = generator("runs, levels");
    for (level, least, most) in [(0.5, 0.48, 0.54), (0.99, 0.985, 0.995), (0.999, 0.997, 0.999_99)] {
        let mut held = Share::default();
        for _ in 0..20_000 {
            let sketch = drawn(8, 1e6, &mut random);
            held.add(sketch.estimate_at(Confidence::new(level).unwrap()).covers(1e6));
        }
        // As for HyperLogLog, more than 4.9 binomial deviations on either side.
        assert!(held.value() >= least && held.value() <= most, "{level}: held in {}", held.value());
    }
}

#[test]
fn an_answer_wrong_by_three_percent_is_caught() {
    let mut random = generator("wrong runs drawn");
    let mut measured = Measured::default();
    for _ in 0..TRIALS {
        let answer = drawn(12, 1e7, &mut random).estimate();
        let [value, lower, upper] = [answer.value(), answer.lower(), answer.upper()].map(|x| 1.03 * x);
        measured.add(1e7, Estimate::probable(value, lower, upper, answer.confidence()));
    }
    let failures = judge("12 | wrong by 3 %", &claim(12, 1e7), &measured).unwrap_err();
    for check in ["rmse", "bias", "95 % intervals"] {
        assert!(failures.contains(check), "{check} did not object: {failures}");
    }
}
