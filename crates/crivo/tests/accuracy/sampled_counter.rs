//! `SampledCounter` against the binomial distribution.

use crivo::counting::SampledCounter;
use crivo::{Confidence, Estimate};

use super::chi_square::chi_square;
use super::harness::{Claim, Measured, judge};
use super::support::{Random, forge, generator};

const TRIALS: u32 = 60_000;

/// The probability of each value after `k` events, term by term from `P(0) = (1 − p)^k`.
fn binomial(k: u32, p: f64) -> Vec<f64> {
    let mut logarithm = f64::from(k) * (-p).ln_1p();
    (0..=k)
        .map(|n| {
            let probability = logarithm.exp();
            logarithm += (f64::from(k - n) / f64::from(n + 1) * p / (1.0 - p)).ln();
            probability
        })
        .collect()
}

/// A counter after `k` events that came in three portions.
fn counted(k: u64, p: f64, random: &mut Random) -> SampledCounter {
    let mut counter = SampledCounter::new(p, random.bits()).unwrap();
    let first = random.below(k as usize + 1) as u64;
    let second = random.below((k - first) as usize + 1) as u64;
    for portion in [first, second, k - first - second] {
        counter.add(portion);
    }
    counter
}

fn observed(name: &str, k: u32, mut trial: impl FnMut(&mut Random) -> SampledCounter) -> Vec<u64> {
    let mut random = generator(name);
    let mut observed = vec![0; k as usize + 1];
    (0..2 * TRIALS).for_each(|_| observed[trial(&mut random).value() as usize] += 1);
    observed
}

/// A counter of the given value, by way of its bytes.
fn at_value(p: f64, value: u64) -> SampledCounter {
    let mut bytes = SampledCounter::new(p, 0).unwrap().encode();
    bytes[36..44].copy_from_slice(&value.to_le_bytes());
    forge::seal(&mut bytes);
    SampledCounter::decode(&bytes).unwrap()
}

#[test]
fn values_are_binomial() {
    for (k, p) in [(1, 0.5), (4, 0.5), (100, 0.5), (640, 1.0 / 64.0), (300, 0.9), (10_000, 0.01)] {
        let observed = observed("binomial", k, |random| counted(k.into(), p, random));
        assert_eq!(chi_square(&format!("{p} | {k}"), &observed, &binomial(k, p)), Ok(()));
    }
}

#[test]
fn merged_values_are_those_of_the_joined_stream() {
    let (k, p) = (640_u32, 1.0 / 64.0);
    let observed = observed("merged binomial", k, |random| {
        let mut joined = counted(7, p, random);
        for part in [500, 33, 100] {
            joined.merge(&counted(part, p, random)).unwrap();
            let _ = random.bits();
        }
        joined
    });
    assert_eq!(chi_square(&format!("{p} | {k}, merged"), &observed, &binomial(k, p)), Ok(()));
}

#[test]
fn a_probability_wrong_by_three_percent_is_caught() {
    let (k, p) = (640_u32, 1.0 / 64.0);
    let observed = observed("wrong binomial", k, |random| counted(k.into(), 1.03 * p, random));
    assert!(chi_square(&format!("{p} | {k}, wrong by 3 %"), &observed, &binomial(k, p)).is_err());
}

#[test]
fn error_and_bias_are_those_of_theory() {
    for (k, p) in [(1000_u64, 0.5), (10_000, 0.1), (20_000, 1.0 / 64.0), (1_000_000_000, 4e-7)] {
        let mut random = generator("sampled error");
        let mut measured = Measured::default();
        (0..TRIALS).for_each(|_| measured.add(k as f64, counted(k, p, &mut random).estimate()));
        let rmse = ((1.0 - p) / (p * k as f64)).sqrt();
        let claim = Claim { rmse, rmse_margin: 0.03, bias_margin: 0.05, coverage: (0.94, 0.97) };
        let subject = format!("{p} | {k}");
        assert_eq!(judge(&subject, &claim, &measured), Ok(()), "{subject}");
        assert!((SampledCounter::standard_error(p, k as f64) / rmse - 1.0).abs() < 1e-12);
    }
}

#[test]
fn an_estimate_wrong_by_three_percent_is_caught() {
    let (k, p) = (64_000, 1.0 / 64.0);
    let mut random = generator("sampled mutant");
    let mut measured = Measured::default();
    for _ in 0..TRIALS {
        let right = counted(k, p, &mut random).estimate();
        let [value, lower, upper] = [right.value(), right.lower(), right.upper()].map(|x| 1.03 * x);
        measured.add(k as f64, Estimate::probable(value, lower, upper, right.confidence()));
    }
    let rmse = ((1.0 - p) / (p * k as f64)).sqrt();
    let claim = Claim { rmse, rmse_margin: 0.03, bias_margin: 0.05, coverage: (0.94, 0.97) };
    let failures = judge("wrong by 3 %", &claim, &measured).unwrap_err();
    for check in ["rmse", "bias", "95 % intervals"] {
        assert!(failures.contains(check), "{check} did not object: {failures}");
    }
}

/// Nothing is drawn here: the coverage is added up over all values that a counter can have, for
/// every number of events up to 2,000.
#[test]
fn intervals_cover_every_count_up_to_two_thousand() {
    for p in [0.9, 0.5, 0.2, 1.0 / 64.0, 0.001] {
        for (level, least) in [(0.5, 0.495), (0.95, 0.949), (0.99, 0.9895), (0.999, 0.9987)] {
            let confidence = Confidence::new(level).unwrap();
            let estimates: Vec<Estimate> =
                (0..=2000).map(|value| at_value(p, value).estimate_at(confidence)).collect();
            let (mut worst, mut sum) = (1.0_f64, 0.0);
            for k in 1..=2000_u32 {
                let coverage: f64 = binomial(k, p)
                    .iter()
                    .zip(&estimates)
                    .filter(|(_, estimate)| estimate.covers(k.into()))
                    .map(|(probability, _)| probability)
                    .sum();
                worst = worst.min(coverage);
                sum += coverage;
            }
            #[allow(clippy::print_stdout)]
            {
                println!("| {p} | {level} | {worst:.5} | {:.5} |", sum / 2000.0);
            }
            assert!(worst >= least, "{p}, {level}: only {worst}");
            // Not uselessly wide, where there are counts enough for the value to have a choice.
            assert!(p < 0.01 || sum / 2000.0 < level + 0.6 * (1.0 - level), "{p}, {level}: {}", sum / 2000.0);
        }
    }
}

#[test]
fn counting_every_event_is_exact() {
    let mut counter = SampledCounter::new(1.0, 3).unwrap();
    counter.add(1_000_000_007);
    counter.increment();
    assert_eq!(counter.estimate(), Estimate::exact(1_000_000_008.0));
}
