//! Expectation is additive, variance is not; and "half of the time" does not imply randomness.
//!
//! `E[X + Y] = E[X] + E[Y]` holds even if X and Y depend on each other. `Var[X + Y]` is the sum of
//! both variances if they are independent. Otherwise it is anything from 0 to twice the sum. A
//! counter that counts every second event and one that tosses a coin both count half of them: the
//! first with variance 0, the second with `k/4`.

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "expectation",
    title: "Expectation is additive",
    claim: "The mean of a sum is the sum of the means even of variables that depend on each other, the variance is so \
            only of independent ones, and “half of the time” may mean every second time or a coin.",
    sources: &[(Text::Summary, "§2.3.2–2.3.3"), (Text::Summary, "§1.8")],
    expected: Verdict::Confirmed,
    run: |context| Ok(measure(context, 0.25)),
};

/// Returns the second die, given the first and another.
type Second = fn(u64, u64) -> u64;

/// `quarter` is the variance of a coin's toss in theory.
fn measure(context: &Context<'_>, quarter: f64) -> ExperimentReport {
    let mut report = ExperimentReport::new();
    let trials = context.size(40_000, 400_000, 4_000_000);
    report.parameter("trials", trials);
    let mut random = context.random("dice");
    // Each of the two dice has mean 3.5 and variance 35/12. The second depends on the first in four
    // ways.
    let mut part = Section::numbers("Two dice X and Y: mean and variance of X + Y");
    let die = 35.0 / 12.0;
    // Each case has twice the covariance, which is added to the variance of the sum.
    let cases: [(&str, f64, Second); 4] = [
        ("Y independent of X", 0.0, |_, other| other),
        ("Y = X", 2.0 * die, |x, _| x),
        ("Y = 7 − X", -2.0 * die, |x, _| 7 - x),
        // Half of the time the same, half of the time an independent die.
        ("Y = X half of the time", die, |x, other| if other > 6 { x } else { other }),
    ];
    for (name, covariance, second) in cases {
        let mut sample = Sample::about(7.0);
        for _ in 0..trials {
            let x = 1 + random.below(6) as u64;
            let other = 1 + random.below(6) as u64;
            // Numbers above 6 mean that the toss chose "the same".
            let other = if name.ends_with("time") && random.bits() & 1 == 1 { other + 6 } else { other };
            sample.add((x + second(x, other)) as f64);
        }
        let variance = 2.0 * die + covariance;
        if variance > 0.0 {
            part.moments(name, &sample, variance, sample.kurtosis());
        } else {
            part.equal(format!("mean, {name}"), sample.mean(), 7.0);
            part.equal(format!("variance, {name}"), sample.variance(), 0.0);
        }
    }
    report.add(part);

    let mut part =
        Section::curve("Half of the events, by a coin", "events", "variance of the counter").log_x().log_y();
    let mut random = context.random("half of the time");
    let trials = context.size(20_000, 100_000, 1_000_000);
    for k in [1_u64, 4, 16, 64, 256, 1024] {
        let mut sample = Sample::about(k as f64 / 2.0);
        for _ in 0..trials {
            let tosses = (0..k.div_ceil(64)).map(|word| {
                let mask = if k - 64 * word >= 64 { u64::MAX } else { (1 << (k - 64 * word)) - 1 };
                u64::from((random.bits() & mask).count_ones())
            });
            sample.add(tosses.sum::<u64>() as f64);
        }
        let kurtosis = super::binomial_kurtosis(k as f64, 0.5);
        // One toss is always off by one half, so its square is constant.
        let check = if k == 1 {
            Measure::Exact { observed: sample.variance(), theory: quarter, tolerance: 1e-9 }
        } else {
            sample.check_variance(k as f64 * quarter, kurtosis)
        };
        part.at(k as f64, check);
    }
    report.add(part);
    let mut part = Section::numbers("Half of the events, every second one");
    for k in [4_u32, 1024] {
        let counted = (0..k).filter(|event| event % 2 == 1).count() as f64;
        part.equal(format!("value after {k} events"), counted, f64::from(k) / 2.0);
    }
    report.add(part);
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_variance_wrong_by_three_percent_is_refuted() {
        assert_eq!(verdict("expectation", |context| Ok(measure(context, 0.2575))), Verdict::Refuted);
    }
}
