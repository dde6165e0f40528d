//! Comparing two sets by their smallest hashes, against the theory of samples.
//!
//! Every hash below the share `θ` of the range is sampled, so of a part of `M` items
//! `Binomial(M, θ)` are: the relative variance of its size is `(1 − θ)/(M θ)`, that of the Jaccard
//! similarity `J` of `N` items in all `(1 − J)/J · (1 − θ)/(N θ)`, and that of the containment the
//! same with the first set's items. `θ` is near `k/(n + 1)` for the larger set.

#![allow(clippy::print_stdout)] // with --nocapture: the rows of the tables in docs/accuracy

use crivo::Estimate;
use crivo::distinct::KMinValues;
use crivo::distinct::k_min_values::Comparison;
use crivo::keys::KeyScheme;

use super::harness::{Claim, Measured, judge};
use super::shares::Share;
use super::support::{Random, generator};

/// The sizes of the parts: in the first set only, in both, in the second only.
type Parts = [u64; 3];

/// Compares two random sets.
fn compared(parts: Parts, sizes: [u32; 2], random: &mut Random) -> Comparison {
    let mut sketches = sizes.map(|k| KMinValues::with_scheme(k, KeyScheme::hashes()).unwrap());
    for (part, count) in parts.into_iter().enumerate() {
        for _ in 0..count {
            let hash = random.bits();
            if part < 2 {
                sketches[0].insert_hash(hash);
            }
            if part > 0 {
                sketches[1].insert_hash(hash);
            }
        }
    }
    sketches[0].compare(&sketches[1]).unwrap()
}

/// Each question with its answer and the truth.
fn answers(parts: Parts, compared: &Comparison) -> [(&'static str, Estimate, f64); 5] {
    let [first, both, second] = parts.map(|count| count as f64);
    let union = first + both + second;
    [
        ("union", compared.union(), union),
        ("intersection", compared.intersection(), both),
        ("difference", compared.difference(), first),
        ("similarity", compared.jaccard(), both / union),
        ("containment", compared.containment(), both / (first + both)),
    ]
}

fn claims(parts: Parts, k: u32) -> [Claim; 5] {
    let [first, both, second] = parts.map(|count| count as f64);
    let union = first + both + second;
    let theta = f64::from(k) / ((first + both).max(both + second) + 1.0);
    let size = |part: f64| ((1.0 - theta) / (part * theta)).sqrt();
    let share = |of: f64| size(of) * (of / both - 1.0).sqrt();
    let errors = [size(union), size(both), size(first), share(union), share(first + both)];
    // Bounds are those of whole counts and a little wide where counts are small.
    errors.map(|rmse| Claim { rmse, rmse_margin: 0.05, bias_margin: 0.06, coverage: (0.94, 0.98) })
}

#[test]
fn parts_of_the_union_hold() {
    const TRIALS: u32 = 40_000;
    let (parts, k) = ([3_000, 2_000, 5_000], 512);
    let mut random = generator("parts");
    let mut measured = vec![Measured::default(); 5];
    for _ in 0..TRIALS {
        let compared = compared(parts, [k, k], &mut random);
        for ((_, estimate, truth), measured) in answers(parts, &compared).into_iter().zip(&mut measured) {
            measured.add(truth, estimate);
        }
    }
    let names = ["union", "intersection", "difference", "similarity", "containment"];
    for ((name, claim), measured) in names.into_iter().zip(claims(parts, k)).zip(&measured) {
        assert_eq!(judge(&format!("{name} | {k} | {parts:?}"), &claim, measured), Ok(()), "{name}");
    }
}

/// Sets of every relation, sketches of every pair of sizes: bounds hold the truth in at least 94 %
/// of trials (in fact in 95 %, but a promise must not fail by bad luck).
#[test]
fn bounds_hold_whatever_the_sets() {
    let mut random = generator("relations");
    for parts in [[0, 300, 0], [300, 0, 300], [0, 100, 900], [500, 5, 500], [20, 1_000, 20], [3, 40, 2_000]] {
        for sizes in [[1, 1], [2, 2], [16, 16], [64, 64], [16, 256], [256, 16], [500, 64]] {
            let mut held = [Share::default(); 5];
            for _ in 0..4_000 {
                let compared = compared(parts, sizes, &mut random);
                for ((_, estimate, truth), held) in answers(parts, &compared).into_iter().zip(&mut held) {
                    held.add(estimate.covers(truth));
                }
            }
            let shares = held.map(|held| format!("{:.2} %", 100.0 * held.value())).join(" | ");
            println!("| {parts:?} | {sizes:?} | {shares} |");
            let names = ["union", "intersection", "difference", "similarity", "containment"];
            for (held, name) in held.iter().zip(names) {
                assert!(held.may_reach(0.94), "{name} of {parts:?} by {sizes:?}: held in {}", held.value());
            }
        }
    }
}

#[test]
fn an_answer_wrong_by_three_percent_is_caught() {
    let (parts, k) = ([3_000, 2_000, 5_000], 4_096);
    let mut random = generator("wrong parts");
    let mut measured = Measured::default();
    for _ in 0..20_000 {
        let answer = compared(parts, [k, k], &mut random).intersection();
        let [value, lower, upper] = [answer.value(), answer.lower(), answer.upper()].map(|x| 1.03 * x);
        measured.add(2_000.0, Estimate::probable(value, lower, upper, answer.confidence()));
    }
    let claim = Claim { bias_margin: 0.08, ..claims(parts, k)[1] };
    let failures = judge("intersection | wrong by 3 %", &claim, &measured).unwrap_err();
    for check in ["rmse", "bias", "95 % intervals"] {
        assert!(failures.contains(check), "{check} did not object: {failures}");
    }
}

/// Where every hash of both sets is kept, every answer is the truth.
#[test]
fn small_sets_are_compared_exactly() {
    let mut random = generator("small sets");
    for parts in [[0, 0, 0], [5, 0, 0], [0, 7, 0], [30, 20, 10], [0, 0, 90]] {
        let compared = compared(parts, [91, 100], &mut random);
        for (name, answer, truth) in answers(parts, &compared) {
            let truth = if truth.is_nan() { 1.0 } else { truth };
            assert_eq!(answer, Estimate::exact(truth), "{name} of {parts:?}");
        }
    }
}
