//! Morris's counter: at value `n` it is incremented with probability `2^−n`.
//!
//! The mean of `2^n − 1` is the number of events `k`, its variance `k(k − 1)/2`. With base `b`
//! instead of 2, the estimate is `(b^n − 1)/(b − 1)` and its variance `(b − 1)k(k − 1)/2`. The
//! whole distribution follows from `P_k(n) = P_{k−1}(n − 1) b^−(n−1) + P_{k−1}(n)(1 − b^−n)`.

use crivo::counting::MorrisCounter;
use libm::pow;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "morris",
    title: "Morris's counter",
    claim: "With increments of probability 2^−n the mean of 2^n − 1 is the number of events k and its variance \
            k(k − 1)/2, with base b (b − 1)k(k − 1)/2, and counters of 4 and 8 bits reach 2^15 − 1 and 2^255 − 1.",
    sources: &[(Text::Summary, "§2.6–2.7"), (Text::Chapter, "§5.4")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, |k, base| (base - 1.0) * k * (k - 1.0) / 2.0),
};

/// Returns the probability of each value after `k` events, by the recurrence.
pub(crate) fn distribution(base: f64, highest: usize, k: u64) -> Vec<f64> {
    let chances: Vec<f64> =
        (0..=highest).map(|n| if n == highest { 0.0 } else { pow(base, -(n as f64)) }).collect();
    let mut probabilities = vec![0.0; highest + 1];
    probabilities[0] = 1.0;
    for _ in 0..k {
        for n in (1..=highest).rev() {
            let next = probabilities[n] * (1.0 - chances[n]) + probabilities[n - 1] * chances[n - 1];
            // Negligible probabilities would only slow the processor down.
            probabilities[n] = if next < 1e-200 { 0.0 } else { next };
        }
        probabilities[0] *= 1.0 - chances[0];
    }
    probabilities
}

/// `variance` is the variance after `k` events in a base, in theory.
fn measure(context: &Context<'_>, variance: impl Fn(f64, f64) -> f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(30_000, 100_000, 1_000_000);
    report.parameter("trials", trials);
    let mut means = Section::curve("Mean of the estimates", "events", "mean / events").log_x();
    let mut numbers = Section::numbers("Mean and variance of the estimate");
    let mut shapes = Section::numbers("Whole distribution, by the recurrence");
    let cases = [
        (2.0, 1),
        (2.0, 4),
        (2.0, 10),
        (2.0, 100),
        (2.0, 1_000),
        (2.0, 10_000),
        (1.5, 1_000),
        (1.084, 2_000),
    ];
    let mut shown = Section::curve("Value after 1,000 events", "value of the counter", "share of trials");
    for (case, (base, k)) in cases.into_iter().enumerate() {
        context.advance(case, cases.len())?;
        let mut random = context.random(&format!("{base} {k}"));
        // Small steps have nearly normal errors, so the variance is tested best there.
        let trials = if base < 1.1 { 4 * trials } else { trials };
        let highest = 255;
        let estimate = |n: usize| (pow(base, n as f64) - 1.0) / (base - 1.0);
        let events = k as f64;
        let mut counts = vec![0; highest + 1];
        let mut sample = Sample::about(events);
        for _ in 0..trials {
            let mut counter = MorrisCounter::new(base, 8, random.bits())?;
            counter.add(k);
            counts[usize::from(counter.value())] += 1;
            sample.add(estimate(counter.value().into()));
        }
        let probabilities = distribution(base, highest, k);
        let theory = variance(events, base);
        let fourth: f64 = probabilities
            .iter()
            .enumerate()
            .filter(|(_, probability)| **probability > 1e-60)
            .map(|(n, probability)| probability * pow(estimate(n) - events, 4.0))
            .sum();
        let kurtosis = if theory > 0.0 { fourth / (theory * theory) } else { 1.0 };
        let label = format!("base {base}, {k} events");
        numbers.moments(&label, &sample, theory, kurtosis);
        if base == 2.0 {
            means.at(
                events,
                Measure::Normal {
                    observed: sample.mean() / events,
                    theory: 1.0,
                    deviation: libm::sqrt(theory / trials as f64) / events,
                    trials: sample.trials(),
                    side: Side::Both,
                },
            );
        }
        if k > 4 {
            shapes.distribution(&label, &counts, &probabilities)?;
        }
        if base == 2.0 && k == 1_000 {
            for n in 5..=14 {
                shown.share(n as f64, counts[n], trials, probabilities[n]);
            }
        }
    }
    report.add(shown);
    report.add(means);
    report.add(numbers);
    report.add(shapes);

    let mut reach = Section::numbers("How far counters reach");
    for (bits, expected) in [(4, pow(2.0, 15.0) - 1.0), (8, pow(2.0, 255.0) - 1.0)] {
        let counter = MorrisCounter::new(2.0, bits, 0)?;
        reach.equal(format!("{bits} bits, base 2"), counter.reach(), expected);
    }
    // The base for which eight bits reach ten thousand million, and its error.
    let base = MorrisCounter::base_for(1e10, 8)?;
    reach.exact("base that reaches 10^10 in 8 bits", base, 1.084, 1e-3);
    reach.exact("its standard error", libm::sqrt((base - 1.0) / 2.0), 0.205, 5e-3);
    report.add(reach);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::{is_refuted_at_usual_scale, verdict};

    #[test]
    fn a_variance_of_k_squared_is_refuted() {
        let wrong = |k: f64, base: f64| (base - 1.0) * k * (k + 1.0) / 2.0;
        assert_eq!(verdict("morris", |context| measure(context, wrong)), Verdict::Refuted);
    }

    #[test]
    fn a_variance_wrong_by_three_percent_is_refuted() {
        is_refuted_at_usual_scale("morris", &[0.97, 1.03], |context, wrong| {
            measure(context, |k, base| wrong * (base - 1.0) * k * (k - 1.0) / 2.0)
        });
    }

    #[test]
    fn the_recurrence_gives_the_first_values_by_hand() {
        // After three events the value is 1 with probability 1/4, 2 with 5/8, and 3 with 1/8.
        assert_eq!(distribution(2.0, 10, 3)[..4], [0.0, 0.25, 0.625, 0.125]);
    }
}
