//! A counter that is incremented half of the time.
//!
//! After `k` events its value `S` is binomial: mean `k/2`, variance `k/4`, and for four events the
//! probabilities 1, 4, 6, 4, 1 of 16. Twice the value estimates the events. A counter of `b` bits
//! lasts for twice as many events; after that, a counter that wraps around loses its count.

use crivo::counting::SampledCounter;

use super::{binomial, binomial_kurtosis};
use crate::prelude::*;
use crate::test::at_least;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "counter-half",
    title: "Counting half of the events",
    claim: "A counter incremented with probability 1/2 has mean k/2, variance k/4 and a binomial distribution, so \
            that after 10,000 events it shows 5,000 ± 50, and it overflows at about twice as many events.",
    sources: &[(Text::Summary, "§2.1–2.3")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.5),
};

/// `p` is the probability in theory.
fn measure(context: &Context<'_>, p: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(50_000, 200_000, 1_000_000);
    report.parameter("trials", trials);
    report.add(four_events(context, p, trials)?);

    let (k, trials) = (10_000, context.size(4_000, 20_000, 200_000));
    let mut random = context.random("ten thousand");
    let mean = k as f64 * p;
    let mut sample = Sample::about(mean);
    let mut within = 0;
    for trial in 0..trials {
        let mut counter = SampledCounter::new(0.5, random.bits())?;
        counter.add(k);
        sample.add(counter.value() as f64);
        within += u64::from(counter.value().abs_diff(5_000) <= 50);
        if trial % 1000 == 0 {
            context.advance(trial, trials)?;
        }
    }
    let mut part = Section::numbers("Value after 10,000 events");
    part.moments("10,000 events", &sample, k as f64 * p * (1.0 - p), binomial_kurtosis(k as f64, p));
    let inside: f64 = (4_950..=5_050).map(|n| binomial(k, n, p)).sum();
    part.named_share("within one deviation of 5,000", within, trials as u64, inside);
    report.add(part);
    report.add(overflow(context, p)?);
    Ok(report)
}

fn four_events(context: &Context<'_>, p: f64, trials: u64) -> Result<Section> {
    let mut random = context.random("four");
    let mut counts = [0; 5];
    for _ in 0..trials {
        let mut counter = SampledCounter::new(0.5, random.bits())?;
        (0..4).for_each(|_| counter.increment());
        counts[counter.value() as usize] += 1;
    }
    let mut part = Section::curve("Value after four events", "value of the counter", "share of trials");
    let probabilities: Vec<f64> = (0..=4).map(|n| binomial(4, n, p)).collect();
    for (value, (&count, &probability)) in counts.iter().zip(&probabilities).enumerate() {
        part.share(value as f64, count, trials, probability);
    }
    part.distribution("all values", &counts, &probabilities)?;
    Ok(part)
}

/// Counters of eight bits hold at most 255, and count half of the events. They overflow at about
/// 512 events.
fn overflow(context: &Context<'_>, p: f64) -> Result<Section> {
    let trials = context.size(3_000, 20_000, 100_000);
    let mut random = context.random("overflow");
    let mut part = Section::curve("Counters of eight bits that have overflowed", "events", "share of trials");
    for k in [400, 460, 480, 500, 512, 524, 540, 560, 600] {
        let mut overflown = 0;
        for _ in 0..trials {
            let mut counter = SampledCounter::new(0.5, random.bits())?;
            counter.add(k);
            // An eight-bit register wraps around.
            overflown += u64::from(u64::from(counter.value() as u8) != counter.value());
        }
        part.share(k as f64, overflown, trials, at_least(256, k, p));
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_chance_wrong_by_three_percent_is_refuted() {
        for wrong in [0.485, 0.515] {
            assert_eq!(verdict("counter-half", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }
}
