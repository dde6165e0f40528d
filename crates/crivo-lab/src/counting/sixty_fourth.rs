//! A counter that is incremented once in 64 events: gains and losses.
//!
//! It gains 64 times the range of an ordinary counter, and 32 times that of one with probability
//! 1/2. It loses accuracy: the relative standard error of the estimate is `√((1 − p)/(pk))`, which
//! is `√63 ≈ 7.9` times as much as with 1/2.

use crivo::counting::SampledCounter;
use libm::sqrt;

use super::{binomial, binomial_kurtosis};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "counter-64th",
    title: "Counting one event in 64",
    claim: "With probability 1/64 instead of 1/2 a counter reaches 32 times as far, stays unbiased, and its estimate's \
            standard error √((1 − p)/pk) is √63 times as large.",
    sources: &[(Text::Summary, "§2.4–2.5")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0 / 64.0),
};

/// `p` is the probability in theory.
fn measure(context: &Context<'_>, p: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let draws = context.size(3e6, 3e7, 3e8);
    report.parameter("draws", draws);
    let mut moments = Section::numbers("The estimate 64n");
    let mut curve =
        Section::curve("Standard error of the estimate", "events", "share of the count").log_x().log_y();
    let error = |p: f64, k: f64| sqrt((1.0 - p) / (p * k));
    for (chance, theory, name, sizes) in [
        (0.5, 0.5, "1/2", &[100_u64, 1_000, 10_000][..]),
        (1.0 / 64.0, p, "1/64", &[1_000, 10_000, 100_000, 640_000]),
    ] {
        let mut random = context.random(name);
        for &k in sizes {
            let events = k as f64;
            let trials = ((draws / (events * chance)) as usize).clamp(300, 60_000);
            let mut sample = Sample::about(events);
            for trial in 0..trials {
                let mut counter = SampledCounter::new(chance, random.bits())?;
                counter.add(k);
                sample.add(counter.value() as f64 / theory);
                if trial % 1000 == 0 {
                    context.advance(trial, trials)?;
                }
            }
            let variance = events * (1.0 - theory) / theory;
            let kurtosis = binomial_kurtosis(events, theory);
            moments.moments(&format!("p = {name}, {k} events"), &sample, variance, kurtosis);
            // Converts the variance to a relative error, which is what a reader needs.
            let Measure::Normal { observed, theory, deviation, trials, side } =
                sample.check_variance(variance, kurtosis)
            else {
                continue;
            };
            let root = sqrt(theory) / events;
            let check = Measure::Normal {
                observed: sqrt(observed) / events,
                theory: root,
                deviation: root * deviation / theory / 2.0,
                trials,
                side,
            };
            curve.at(events, check);
        }
    }
    let line = |p: f64| [100.0, 1e3, 1e4, 1e5, 1e6].map(|k| (k, error(p, k)));
    curve.show("theory, p = 1/2", line(0.5));
    curve.show("theory, p = 1/64", line(p));
    report.add(curve.separate());
    report.add(moments);
    report.add(distribution(context, p)?);

    let mut part = Section::numbers("What is gained and what is lost");
    // For eight bits: the number of events that fill 255 on average.
    part.exact("reach of 1/64 over that of 1/2", (255.0 / p) / (255.0 / 0.5), 32.0, 1e-9);
    part.exact("standard error of 1/64 over that of 1/2", error(p, 1e4) / error(0.5, 1e4), sqrt(63.0), 1e-9);
    report.add(part);
    Ok(report)
}

fn distribution(context: &Context<'_>, p: f64) -> Result<Section> {
    let (k, trials) = (640, context.size(30_000, 100_000, 1_000_000));
    let mut random = context.random("distribution");
    let mut counts = vec![0; 60];
    for _ in 0..trials {
        let mut counter = SampledCounter::new(1.0 / 64.0, random.bits())?;
        counter.add(k);
        counts[(counter.value() as usize).min(59)] += 1;
    }
    let probabilities: Vec<f64> = (0..60).map(|n| binomial(k, n, p)).collect();
    let mut part = Section::curve("Value after 640 events", "value of the counter", "share of trials");
    for (value, (&count, &probability)) in counts.iter().zip(&probabilities).enumerate().take(24) {
        part.share(value as f64, count, trials, probability);
    }
    part.distribution("all values", &counts, &probabilities)?;
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_chance_wrong_by_three_percent_is_refuted() {
        assert_eq!(verdict("counter-64th", |context| measure(context, 1.03 / 64.0)), Verdict::Refuted);
    }
}
