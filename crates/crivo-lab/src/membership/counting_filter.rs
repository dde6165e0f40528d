//! Estimates frequencies by the smallest counter of a counting filter.
//!
//! A filter of counters instead of bits estimates how often a key was added: by the least of its
//! `k` counters. The estimate is never below the truth. It is above the truth exactly if each of
//! the key's counters was also raised by another key. With `n` other keys, that happens with
//! probability `Σ_d P(d) Σ_j (−1)^j C(d, j) (1 − j/m)^(kn)`, where `d` is the number of distinct
//! counters of the key.

use crivo::keys::KeyScheme;
use crivo::membership::{CounterBits, CountingBloom};
use libm::pow;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "counting-filter",
    title: "Counting filter: frequency by the smallest counter",
    claim: "The least of a key's k counters is never below its frequency, and above it as often as all k counters are \
            met by other keys, about (1 − e^(−kn/m))^k.",
    sources: &[(Text::Summary, "§3.4"), (Text::Project, "§2.1–2.2")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0),
};

const CELLS: u64 = 400;
const HASHES: u32 = 4;

/// Returns the probability that each of a key's counters is also one of `others` keys.
fn all_met(others: u64, hashes: u32) -> f64 {
    let m = CELLS as f64;
    // The distribution of the number of distinct counters of the key.
    let mut different = vec![1.0];
    for _ in 0..hashes {
        let mut next = vec![0.0; different.len() + 1];
        for (d, probability) in different.iter().enumerate() {
            next[d] += probability * d as f64 / m;
            next[d + 1] += probability * (1.0 - d as f64 / m);
        }
        different = next;
    }
    let balls = (u64::from(hashes) * others) as f64;
    let met = |d: usize| -> f64 {
        let mut choose = 1.0;
        let mut sum = 0.0;
        for j in 0..=d {
            sum += choose * pow(1.0 - j as f64 / m, balls);
            choose *= -((d - j) as f64) / (j as f64 + 1.0);
        }
        sum
    };
    different.iter().enumerate().map(|(d, probability)| probability * met(d)).sum()
}

/// `more` is added to the number of counters of a key, in theory.
fn measure(context: &Context<'_>, more: u32) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(3_000, 20_000, 200_000);
    report.parameter("trials", trials);
    let mut curve = Section::curve("Frequencies that are too high", "other keys", "share of trials");
    let mut never = Section::numbers("Frequencies that are too low");
    let mut random = context.random("filters");
    for others in [10_u64, 25, 50, 75, 100, 150, 200, 300] {
        context.advance(others as usize, 300)?;
        let (mut high, mut low) = (0, 0);
        for _ in 0..trials {
            let mut filter =
                CountingBloom::with_scheme(CELLS, HASHES, CounterBits::Sixteen, KeyScheme::hashes())?;
            let asked = random.bits();
            let truth = 1 + random.below(20) as u64;
            filter.add_hash(asked, truth);
            for _ in 0..others {
                filter.add_hash(random.bits(), 1 + (random.bits() & 7));
            }
            let found = filter.count_hash(asked).value();
            high += u64::from(found > truth as f64);
            low += u64::from(found < truth as f64);
        }
        curve.share(others as f64, high, trials, all_met(others, HASHES + more));
        never.equal(format!("{others} other keys"), low as f64, 0.0);
    }
    let load = |n: f64| f64::from(HASHES) * n / CELLS as f64;
    curve.show(
        "(1 − e^(−kn/m))^k",
        (0..=30).map(|i| {
            let n = f64::from(10 * i);
            (n, pow(1.0 - libm::exp(-load(n)), HASHES.into()))
        }),
    );
    report.add(curve);
    report.add(never);
    report.add(stream(context)?);
    Ok(report)
}

/// Adds words of a realistic text, in which few words are frequent, to one filter, and queries
/// every word.
fn stream(context: &Context<'_>) -> Result<Section> {
    let mut random = context.random("stream");
    let words = context.size(2_000_usize, 20_000, 200_000);
    let zipf = Weighted::zipf(words, 1.0);
    let mut counts = vec![0_u64; words];
    let scheme = KeyScheme::integers().with_seed(random.bits());
    let mut filter =
        CountingBloom::for_items_with_scheme(words as u64, 0.01, CounterBits::ThirtyTwo, scheme)?;
    for _ in 0..10 * words {
        let word = zipf.draw(&mut random);
        counts[word] += 1;
        filter.insert(&(word as u64))?;
    }
    let (mut low, mut high, mut distinct) = (0, 0, 0);
    for (word, &count) in (0_u64..).zip(&counts) {
        if count > 0 {
            let found = filter.count_hash(scheme.hash(&word)?).value();
            low += u64::from(found < count as f64);
            high += u64::from(found > count as f64);
            distinct += 1;
        }
    }
    let mut part = Section::numbers("The words of a Zipf stream, in a filter made for 1 %");
    part.equal("frequencies that are too low", low as f64, 0.0);
    part.share_at_most("frequencies that are too high", high, distinct, 0.01);
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn one_counter_more_is_refuted() {
        assert_eq!(verdict("counting-filter", |context| measure(context, 1)), Verdict::Refuted);
    }

    #[test]
    fn all_met_is_one_when_everything_is_full() {
        assert!((all_met(100_000, 4) - 1.0).abs() < 1e-12 && all_met(0, 4) == 0.0);
    }
}
