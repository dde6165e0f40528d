//! `MorrisCounter` against its exact distribution.
//!
//! The theory is the recurrence `P_k(n) = P_{k−1}(n)(1 − b^−n) + P_{k−1}(n − 1) b^−(n−1)`, which
//! shares nothing with the counter: no skips, no cumulants. The estimate's variance comes from a
//! heavy upper tail, so whole distributions are compared.

use crivo::Confidence;
use crivo::counting::MorrisCounter;

use super::chi_square::chi_square;
use super::support::{Random, forge, generator};

/// Calls `visit` with the probability of each value after 1, 2, … events.
pub(crate) fn distributions(base: f64, highest: u16, most: u32, mut visit: impl FnMut(u32, &[f64])) {
    let values = usize::from(highest) + 1;
    let mut chances: Vec<f64> = (0..values).map(|n| base.powi(-(n as i32))).collect();
    chances[values - 1] = 0.0; // there it stays
    let mut probabilities = vec![0.0; values];
    probabilities[0] = 1.0;
    for k in 1..=most {
        // No more steps than events; what is too small to matter would only slow the processor
        // down.
        for n in (0..values.min(k as usize + 1)).rev() {
            let from_below = if n == 0 { 0.0 } else { probabilities[n - 1] * chances[n - 1] };
            let next = probabilities[n] * (1.0 - chances[n]) + from_below;
            probabilities[n] = if next < 1e-200 { 0.0 } else { next };
        }
        visit(k, &probabilities);
    }
}

pub(crate) fn distribution(base: f64, highest: u16, k: u32) -> Vec<f64> {
    let mut last = Vec::new();
    distributions(base, highest, k, |events, probabilities| {
        if events == k {
            last = probabilities.to_vec();
        }
    });
    last
}

fn counted(base: f64, bits: u8, k: u64, random: &mut Random) -> MorrisCounter {
    let mut counter = MorrisCounter::new(base, bits, random.bits()).unwrap();
    let first = random.below(k as usize + 1) as u64;
    counter.add(first);
    counter.add(k - first);
    counter
}

fn observed(
    name: &str,
    trials: u32,
    highest: u16,
    mut trial: impl FnMut(&mut Random) -> MorrisCounter,
) -> Vec<u64> {
    let mut random = generator(name);
    let mut observed = vec![0; usize::from(highest) + 1];
    (0..trials).for_each(|_| observed[usize::from(trial(&mut random).value())] += 1);
    observed
}

/// A counter of the given value, by way of its bytes.
fn at_value(base: f64, bits: u8, value: u16) -> MorrisCounter {
    let mut bytes = MorrisCounter::new(base, bits, 0).unwrap().encode();
    bytes[37..39].copy_from_slice(&value.to_le_bytes());
    forge::seal(&mut bytes);
    MorrisCounter::decode(&bytes).unwrap()
}

const CASES: [(f64, u8, u32, u32); 9] = [
    // base, bits, events, trials
    (2.0, 4, 3, 200_000),
    (2.0, 4, 100, 200_000),
    (2.0, 4, 20_000, 200_000), // many are at 15, where they stay
    (2.0, 8, 10_000, 200_000),
    (1.5, 8, 1_000, 200_000),
    (1.084, 8, 20, 200_000),
    (1.084, 8, 10_000, 100_000),
    (1.01, 16, 2_000, 40_000),
    (1.000_2, 16, 300, 20_000),
];

#[test]
fn values_have_the_exact_distribution() {
    for (base, bits, k, trials) in CASES {
        let highest = MorrisCounter::new(base, bits, 0).unwrap().highest().min(2000);
        let observed = observed("morris", trials, highest, |random| counted(base, bits, k.into(), random));
        let subject = format!("{base} | {bits} | {k}");
        assert_eq!(chi_square(&subject, &observed, &distribution(base, highest, k)), Ok(()));
    }
}

#[test]
fn merged_values_are_those_of_the_joined_stream() {
    for (base, bits, parts) in [
        (2.0, 4, &[500, 700, 30][..]),
        (1.5, 8, &[1, 999]),
        (1.084, 8, &[1000, 1000]),
        (1.084, 8, &[10, 2000, 300, 7]),
        (1.01, 16, &[900, 100]),
    ] {
        let k: u64 = parts.iter().sum();
        let highest = MorrisCounter::new(base, bits, 0).unwrap().highest().min(2000);
        let observed = observed("morris merged", 60_000, highest, |random| {
            // Pairs first, then the pairs: a tree, as threads would merge.
            let mut counters: Vec<_> = parts.iter().map(|&part| counted(base, bits, part, random)).collect();
            while counters.len() > 1 {
                let other = counters.remove(0);
                let last = counters.len() - 1;
                counters[last].merge(&other).unwrap();
            }
            counters.remove(0)
        });
        let subject = format!("{base} | {bits} | {parts:?} merged");
        assert_eq!(chi_square(&subject, &observed, &distribution(base, highest, k as u32)), Ok(()));
    }
}

#[test]
fn a_merged_counter_goes_on_with_the_chance_of_its_value() {
    let observed = observed("morris goes on", 100_000, 255, |random| {
        let mut counter = counted(1.084, 8, 300, random);
        counter.merge(&counted(1.084, 8, 500, random)).unwrap();
        counter.add(1200);
        counter
    });
    let subject = "1.084 | 8 | 800 merged, then 1200";
    assert_eq!(chi_square(subject, &observed, &distribution(1.084, 255, 2000)), Ok(()));
}

#[test]
fn a_base_wrong_by_three_percent_is_caught() {
    for (base, k) in [(1.97, 1000), (1.5, 1000), (1.084, 1000)] {
        let wrong = 1.0 + 1.03 * (base - 1.0);
        let observed = observed("morris mutant", 60_000, 255, |random| counted(wrong, 8, k.into(), random));
        let subject = format!("{base} | 8 | {k}, wrong by 3 %");
        assert!(chi_square(&subject, &observed, &distribution(base, 255, k)).is_err(), "{subject}");
    }
}

/// The mean of the estimates of all values, weighted by the exact distribution, is the number of
/// events, and their variance `(b − 1)k(k − 1)/2`: no trial, no noise.
#[test]
fn estimates_are_unbiased_and_vary_as_they_should() {
    for base in [2.0, 1.5, 1.084, 1.01] {
        // Up to the highest value, which is not reached with any probability that matters.
        let estimates: Vec<f64> =
            (0..255).map(|value| at_value(base, 16, value).estimate().value()).collect();
        let most = if base < 1.05 { 200 } else { 3000 };
        distributions(base, 254, most, |k, probabilities| {
            let moment = |power: i32| -> f64 {
                let distance = |estimate: f64| (estimate - f64::from(k)).powi(power);
                // Values beyond 60 of base 2 stand for numbers whose squares are large and whose
                // probabilities, lost in rounding, are not 0 enough.
                estimates
                    .iter()
                    .zip(probabilities)
                    .map(|(&e, p)| if *p > 1e-40 { p * distance(e) } else { 0.0 })
                    .sum()
            };
            let (bias, variance) = (moment(1), moment(2));
            let expected = (base - 1.0) * f64::from(k) * f64::from(k - 1) / 2.0;
            assert!(bias.abs() < 1e-6 * f64::from(k), "base {base}, {k} events: bias {bias}");
            assert!((variance - expected).abs() <= 1e-5 * expected + 1e-9, "base {base}, {k}: {variance}");
        });
    }
}

/// Nothing is drawn here either: the coverage is added up over the exact distribution, for every
/// number of events up to 3,000.
#[test]
fn intervals_cover_every_count_up_to_three_thousand() {
    for (base, widest) in
        [(2.0, 0.99), (1.7, 0.988), (1.5, 0.985), (1.2, 0.98), (1.084, 0.975), (1.02, 0.97), (1.001, 0.965)]
    {
        for (level, least) in [(0.5, 0.495), (0.95, 0.94), (0.99, 0.987), (0.999, 0.998)] {
            let confidence = Confidence::new(level).unwrap();
            let estimates: Vec<_> = (0..2999.min(at_value(base, 16, 0).highest()))
                .map(|value| at_value(base, 16, value).estimate_at(confidence))
                .collect();
            let (mut worst, mut sum) = (1.0_f64, 0.0);
            let most = 3000;
            distributions(base, (estimates.len() - 1) as u16, most, |k, probabilities| {
                let covering = |estimate: &crivo::Estimate| estimate.covers(k.into());
                let coverage: f64 = probabilities
                    .iter()
                    .zip(&estimates)
                    .map(|(p, estimate)| if *p > 0.0 && covering(estimate) { *p } else { 0.0 })
                    .sum();
                worst = worst.min(coverage);
                sum += coverage;
            });
            let mean = sum / f64::from(most);
            #[allow(clippy::print_stdout)]
            {
                println!("| {base} | {level} | {worst:.5} | {mean:.5} |");
            }
            assert!(worst >= least, "base {base}, {level}: only {worst}");
            assert!(level != 0.95 || mean <= widest, "base {base}: intervals too wide, {mean}");
        }
    }
}

/// The same scale far beyond: sketches that counted to 10¹² and to 10¹⁵, whose intervals are
/// compared with the truth.
#[test]
fn intervals_cover_large_counts() {
    for (base, k) in [(2.0, 1e12), (1.084, 1e12), (1.03, 1e15)] {
        let mut random = generator("large counts");
        let trials = 20_000;
        let covered = (0..trials)
            .filter(|_| {
                let mut counter = MorrisCounter::new(base, 16, random.bits()).unwrap();
                counter.add(k as u64);
                counter.estimate().covers(k)
            })
            .count();
        // Five deviations below 95 %: 0.0077.
        let coverage = f64::from(covered as u32) / f64::from(trials);
        #[allow(clippy::print_stdout)]
        {
            println!("| {base} | {k:e} | {trials} | {coverage:.4} |");
        }
        assert!((0.9423..0.998).contains(&coverage), "base {base}: {coverage}");
    }
}

#[test]
fn saturated_counters_know_no_upper_bound() {
    let mut counter = MorrisCounter::new(2.0, 4, 1).unwrap();
    counter.add(1 << 30);
    assert!(counter.is_saturated() && counter.value() == 15);
    let estimate = counter.estimate();
    assert_eq!(estimate.value(), 32_767.0);
    assert!(estimate.upper().is_infinite() && estimate.lower() > 5_000.0, "{estimate:?}");
    assert!(estimate.covers(f64::from(1 << 30)));
}
