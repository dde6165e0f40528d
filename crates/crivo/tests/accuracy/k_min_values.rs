//! `KMinValues` against the order statistics of uniform hashes.
//!
//! The k-th smallest of `n` uniform values has a beta distribution, from which `(k − 1)/h` is
//! unbiased with the relative variance `(n − k + 1)/(n (k − 2))`. With one hash there is neither
//! mean nor variance, and quantiles are compared: `P(h > x) = (1 − x)^n`.

#![allow(clippy::print_stdout)] // with --nocapture: the rows of the tables in docs/accuracy

use crivo::Estimate;
use crivo::distinct::KMinValues;
use crivo::keys::KeyScheme;

use super::harness::{Claim, Measured, judge};
use super::shares::{Share, feed};
use super::support::{Random, generator};

/// As for HyperLogLog: five deviations of noise fit in half of each margin.
const TRIALS: u32 = 60_000;

fn empty(k: u32) -> KMinValues {
    KMinValues::with_scheme(k, KeyScheme::hashes()).unwrap()
}

fn claim(k: u32, n: f64) -> Claim {
    let k = f64::from(k);
    let rmse = ((n - k + 1.0) / (n * (k - 2.0))).sqrt();
    Claim { rmse, rmse_margin: 0.03, bias_margin: 0.05, coverage: (0.935, 0.965) }
}

fn streamed(k: u32, n: u64, random: &mut Random) -> KMinValues {
    let mut sketch = empty(k);
    feed(&mut sketch, n, random);
    sketch
}

/// The sketch of `n` random hashes, by its k smallest alone: the next smallest of the `left` values
/// above `x` has survival function `((1 − y)/(1 − x))^left`. A few more are drawn, because beyond
/// 10¹⁴ items some of the smallest hashes are equal.
fn drawn(k: u32, n: f64, random: &mut Random) -> KMinValues {
    let mut sketch = empty(k);
    let mut x = 0.0_f64;
    for rank in 0..k + 8 {
        let left = n - f64::from(rank);
        x += (1.0 - x) * -(random.unit().ln() / left).exp_m1();
        sketch.insert_hash((x * 2_f64.powi(64)) as u64);
    }
    sketch
}

fn measure(name: &str, n: f64, mut trial: impl FnMut(&mut Random) -> KMinValues) -> Measured {
    let mut random = generator(name);
    let mut measured = Measured::default();
    for _ in 0..TRIALS {
        measured.add(n, trial(&mut random).estimate());
    }
    measured
}

#[test]
fn holds_from_twice_k_on() {
    for (k, n) in [(256, 512), (256, 5_000), (1_024, 3_000)] {
        let measured = measure("k smallest", n as f64, |random| streamed(k, n, random));
        let subject = format!("{k} | {n}");
        assert_eq!(judge(&subject, &claim(k, n as f64), &measured), Ok(()), "{subject}");
    }
}

#[test]
fn holds_up_to_ten_to_the_fifteenth() {
    for n in [1e6, 1e12, 1e15] {
        let measured = measure("k smallest, drawn", n, |random| drawn(256, n, random));
        let subject = format!("256 | {n:e}, drawn");
        assert_eq!(judge(&subject, &claim(256, n), &measured), Ok(()), "{subject}");
    }
}

/// With few hashes errors are far from normal; only the bounds promise something, and exactly.
#[test]
fn bounds_hold_the_truth_as_often_as_promised_whatever_k() {
    let mut random = generator("few hashes");
    for k in [1, 2, 3, 10, 64] {
        for n in [50, 1_000] {
            if n <= u64::from(k) {
                continue;
            }
            let mut held = Share::default();
            for _ in 0..100_000 {
                held.add(streamed(k, n, &mut random).estimate().covers(n as f64));
            }
            println!("| {k} | {n} | 100000 | {:.2} % |", 100.0 * held.value());
            assert!(held.fits(0.95), "k = {k}, {n} items: held in {}", held.value());
        }
    }
}

/// `P(1/h − 1 ≤ v) = P(h ≥ 1/(v + 1)) = (1 − 1/(v + 1))^n`
fn at_most(v: f64, n: f64) -> f64 {
    (n * (-1.0 / (v + 1.0)).ln_1p()).exp()
}

fn quantiles_of_one(name: &str, n: u64, points: &[f64]) -> Vec<Share> {
    let mut random = generator(name);
    let mut shares = vec![Share::default(); points.len()];
    for _ in 0..300_000 {
        let value = streamed(1, n, &mut random).estimate().value();
        points.iter().zip(&mut shares).for_each(|(&point, share)| share.add(value <= point));
    }
    shares
}

#[test]
fn one_hash_has_the_quantiles_of_theory() {
    for n in [2, 100, 1_000] {
        let points = [0.3, 0.5, 1.0, 2.0, 10.0, 100.0].map(|factor| factor * n as f64);
        for (point, share) in points.into_iter().zip(quantiles_of_one("one hash", n, &points)) {
            // At least one item is there, so no answer is below one.
            let chance = if point < 1.0 { 0.0 } else { at_most(point, n as f64) };
            let found = share.value();
            assert!(
                if chance == 0.0 { found == 0.0 } else { share.fits(chance) },
                "{n} at {point}: {found}, {chance}"
            );
        }
    }
}

#[test]
fn small_counts_are_exact_and_certain() {
    let mut random = generator("below k");
    for k in [1_u32, 2, 5, 100, 4_096] {
        let mut sketch = empty(k);
        for count in 1..k {
            let hash = random.bits();
            sketch.insert_hash(hash);
            sketch.insert_hash(hash);
            assert_eq!(sketch.estimate(), Estimate::exact(f64::from(count)), "k = {k}");
        }
        sketch.insert_hash(random.bits());
        assert!(!sketch.estimate().is_certain() && sketch.estimate().lower() >= f64::from(k));
    }
}

#[test]
fn an_answer_wrong_by_three_percent_is_caught() {
    let (k, n) = (256, 1e6);
    let mut random = generator("wrong hashes");
    let mut measured = Measured::default();
    for _ in 0..TRIALS {
        let answer = drawn(k, n, &mut random).estimate();
        let [value, lower, upper] = [answer.value(), answer.lower(), answer.upper()].map(|x| 1.03 * x);
        measured.add(n, Estimate::probable(value, lower, upper, answer.confidence()));
    }
    let failures = judge("256 | wrong by 3 %", &claim(k, n), &measured).unwrap_err();
    for check in ["rmse", "bias", "95 % intervals"] {
        assert!(failures.contains(check), "{check} did not object: {failures}");
    }
    let (n, points) = (1_000, [500.0, 1_000.0, 2_000.0]);
    let shares = quantiles_of_one("wrong hash", n, &points);
    let caught =
        points.iter().zip(shares).any(|(&point, share)| !share.fits(at_most(point, 1.03 * n as f64)));
    assert!(caught, "one hash: a count wrong by 3 % fits");
}
