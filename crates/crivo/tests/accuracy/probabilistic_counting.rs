//! `ProbabilisticCounting` against the distribution of the longest run of zeros,
//! `P(z_max ≤ z) = (1 − 2^−(z+1))^n`. Its mean is infinite, so it is judged by every quantile and
//! by how often its bounds hold.

#![allow(clippy::print_stdout)] // with --nocapture: the rows of the tables in docs/accuracy

use crivo::distinct::ProbabilisticCounting;
use crivo::keys::KeyScheme;

use super::shares::{Share, feed};
use super::support::generator;

/// Enough that the share of a quantile shows a count that is wrong by 3 %, which moves it by 1.1 %.
const TRIALS: u32 = 300_000;

/// The chance that no hash of `n` ends in more than `zeros` zeros.
fn at_most(zeros: i32, n: f64) -> f64 {
    if zeros < 0 { 0.0 } else { (n * (-(0.5_f64.powi(zeros + 1))).ln_1p()).exp() }
}

/// How often the longest run was at most each number of zeros.
fn measure(name: &str, n: u64) -> Vec<Share> {
    let mut random = generator(name);
    let mut shares = vec![Share::default(); 64];
    for _ in 0..TRIALS {
        let mut sketch = ProbabilisticCounting::with_scheme(KeyScheme::hashes());
        feed(&mut sketch, n, &mut random);
        let longest = sketch.longest_run().unwrap();
        assert_eq!(sketch.estimate().value(), 2_f64.powi(longest.into()));
        for (zeros, share) in shares.iter_mut().enumerate() {
            share.add(usize::from(longest) <= zeros);
        }
    }
    shares
}

#[test]
fn every_quantile_is_that_of_theory() {
    for n in [1, 10, 1_000] {
        for (zeros, share) in measure("quantiles of runs", n).iter().enumerate() {
            let chance = at_most(zeros as i32, n as f64);
            if chance > 1e-9 && chance < 1.0 - 1e-9 {
                let what = format!("{n} items, at most {zeros} zeros");
                assert!(share.fits(chance), "{what}: {} instead of {chance}", share.value());
            }
        }
    }
}

/// The same check, asked whether there were 3 % more items than there were.
#[test]
fn a_count_wrong_by_three_percent_is_caught() {
    let shares = measure("wrong runs", 1_000);
    let caught =
        shares.iter().enumerate().filter(|(zeros, share)| !share.fits(at_most(*zeros as i32, 1_030.0)));
    assert!(caught.count() > 0);
}

/// How often the bounds hold is a sum over the few answers there are: computed for every count, and
/// measured for some.
#[test]
fn bounds_hold_the_truth_as_often_as_promised() {
    let bounds: Vec<(f64, f64)> = (0..=64)
        .map(|zeros| {
            let mut sketch = ProbabilisticCounting::with_scheme(KeyScheme::hashes());
            sketch.insert_hash(if zeros == 64 { 0 } else { 1 << zeros });
            (sketch.estimate().lower(), sketch.estimate().upper())
        })
        .collect();
    let held = |n: f64| -> f64 {
        let chance = |zeros: i32| (if zeros == 64 { 1.0 } else { at_most(zeros, n) }) - at_most(zeros - 1, n);
        let holding =
            (0..=64).filter(|&zeros| bounds[zeros as usize].0 <= n && n <= bounds[zeros as usize].1);
        holding.map(chance).sum()
    };
    let (mut least, mut most) = (1.0_f64, 0.0_f64);
    let mut n = 1.0_f64;
    while n < 1e18 {
        let held = held(n);
        assert!(held >= 0.95 - 1e-9, "{n} items: held in {held}");
        (least, most) = (least.min(held), most.max(held));
        n = (n * 1.01).max(n + 1.0).floor();
    }
    println!("| 1 to 10^18 | computed | {:.2} % to {:.2} % |", 100.0 * least, 100.0 * most);

    let mut random = generator("runs held");
    for n in [1, 7, 100, 3_000] {
        let mut share = Share::default();
        for _ in 0..20_000 {
            let mut sketch = ProbabilisticCounting::with_scheme(KeyScheme::hashes());
            feed(&mut sketch, n, &mut random);
            share.add(sketch.estimate().covers(n as f64));
        }
        let expected = held(n as f64);
        println!("| {n} | 20000 | {:.2} % (computed {:.2} %) |", 100.0 * share.value(), 100.0 * expected);
        assert!(share.fits(expected), "{n} items: held in {}, computed {expected}", share.value());
    }
}
