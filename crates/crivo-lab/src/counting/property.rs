//! Counts the elements that have a property, with Morris's counter.
//!
//! The counter has the value `z = k` after `k` elements only if it was incremented every time, with
//! probability `2^−(0 + 1 + … + (k−1))`, which is `2^−45` for ten. The number of elements until it
//! reaches `z` is a sum of geometric variables with means 1, 2, 4 …. So it is `2^z − 1` on average,
//! with variance `Σ 4^j (1 − 2^−j)`.

use crivo::counting::MorrisCounter;
use libm::pow;

use super::morris::distribution;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "property",
    title: "Counting the elements with a property",
    claim: "A counter incremented with probability 2^−z shows z = k = 10 with probability 2^−45, needs 2^z − 1 elements \
            on average to show z, and counts the elements of a stream that have a property in O(log log n) bits.",
    sources: &[(Text::Chapter, "§5.4")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 2.0),
};

/// `base` replaces 2 in the theory.
fn measure(context: &Context<'_>, base: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(20_000, 100_000, 1_000_000);
    report.parameter("trials", trials);
    let mut part =
        Section::curve("Counters that were incremented every time", "elements", "share of trials").log_y();
    let mut random = context.random("every time");
    for k in 1..=5_u64 {
        let mut every = 0;
        for _ in 0..trials {
            let mut counter = MorrisCounter::new(2.0, 8, random.bits())?;
            counter.add(k);
            every += u64::from(u64::from(counter.value()) == k);
        }
        part.share(k as f64, every, trials, pow(base, -((k * (k - 1) / 2) as f64)));
    }
    report.add(part);
    let mut part = Section::numbers("Ten of ten");
    let chance = distribution(2.0, 20, 10)[10];
    part.exact("log₂ of the probability, by the recurrence", libm::log2(chance), -45.0, 1e-9);
    report.add(part);

    let trials = context.size(8_000, 30_000, 200_000);
    let mut random = context.random("until");
    let mut means = Section::curve("Elements until the counter shows z", "z", "elements").log_y();
    let mut numbers = Section::numbers("Elements until the counter shows z");
    let samples = until(10, trials, &mut random, base)?;
    for (z, sample) in (1..).zip(&samples) {
        let variance: f64 =
            (0..z).map(|j| pow(base, 2.0 * f64::from(j)) * (1.0 - pow(base, -f64::from(j)))).sum();
        means.at(f64::from(z), sample.check_mean(variance));
        if z > 1 {
            numbers.named(format!("variance, z = {z}"), sample.check_variance(variance, sample.kurtosis()));
        }
    }
    report.add(means);
    report.add(numbers);
    report.add(properties(context)?);
    Ok(report)
}

/// Feeds counters one element at a time, and returns how many each had seen when it first reached
/// 1, 2, …
fn until(highest: u16, trials: usize, random: &mut Random, base: f64) -> Result<Vec<Sample>> {
    let mut samples: Vec<Sample> =
        (1..=highest).map(|z| Sample::about((pow(base, z.into()) - 1.0) / (base - 1.0))).collect();
    for _ in 0..trials {
        let mut counter = MorrisCounter::new(2.0, 8, random.bits())?;
        let mut elements = 0;
        while counter.value() < highest {
            let before = counter.value();
            counter.increment();
            elements += 1;
            if counter.value() > before {
                samples[usize::from(before)].add(f64::from(elements));
            }
        }
    }
    Ok(samples)
}

/// Returns true if an element has the property.
type Property = fn(u64) -> bool;

/// Counts properties in streams of random numbers, exactly and by counters in base 1.05.
fn properties(context: &Context<'_>) -> Result<Section> {
    let (elements, counters) = (context.size(20_000, 100_000, 1_000_000), context.size(60, 200, 1_000));
    let mut random = context.random("properties");
    let stream: Vec<u64> = (0..elements).map(|_| random.bits()).collect();
    let mut part = Section::numbers("Elements of a stream, counted in one byte");
    let properties: [(&str, Property); 4] = [
        ("even", |x| x % 2 == 0),
        ("above three quarters", |x| x >> 62 == 3),
        ("multiples of seven", |x| x % 7 == 0),
        ("ending in 101", |x| x & 7 == 5),
    ];
    let base = 1.05;
    for (name, has) in properties {
        let exact = stream.iter().filter(|&&x| has(x)).count() as f64;
        let mut sample = Sample::about(exact);
        for _ in 0..counters {
            let mut counter = MorrisCounter::new(base, 9, random.bits())?;
            stream.iter().filter(|&&x| has(x)).for_each(|_| counter.increment());
            sample.add(counter.estimate().value());
        }
        part.named(
            format!("mean estimate, {name}"),
            sample.check_mean((base - 1.0) * exact * (exact - 1.0) / 2.0),
        );
    }
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_base_wrong_by_three_percent_is_refuted() {
        assert_eq!(verdict("property", |context| measure(context, 2.06)), Verdict::Refuted);
    }
}
