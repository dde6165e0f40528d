//! Tests that every element of a stream is sampled with the same probability.
//!
//! For a reservoir of one, the kept element is examined. For a reservoir of `k`, a random one of
//! the kept elements is examined, which must be any element with the same probability. If there are
//! few enough, whole samples are counted: each of the `C(n, k)` must have the same probability.

use crivo::keys::{KeyRef, KeyScheme};
use crivo::sampling::Reservoir;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "reservoir",
    title: "Reservoir: every element as likely as any other",
    claim: "Reading a stream of unknown length once, a reservoir of one holds each of n elements with probability 1/n, and \
            one of k holds each set of k elements with the same probability.",
    sources: &[(Text::Chapter, "§5.3, theorem 5.1"), (Text::Chapter, "exercise 5.1")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.0),
};

/// `lean` is the excess probability of later elements over earlier ones in theory.
fn measure(context: &Context<'_>, lean: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(60_000, 400_000, 3_000_000);
    report.parameter("trials", trials);
    let mut wholes = Section::numbers("Whole distribution");
    let leaning = |n: usize| -> Vec<f64> {
        let weight = |place: usize| 1.0 + lean * (place as f64 / (n - 1) as f64 - 0.5);
        (0..n).map(|place| weight(place) / n as f64).collect()
    };
    for (k, n) in [(1, 40_usize), (5, 40)] {
        context.advance(k as usize, 10)?;
        let mut random = context.random(&format!("{k} of {n}"));
        let mut counts = vec![0; n];
        let expected = leaning(n);
        let mean = expected.iter().enumerate().map(|(place, share)| place as f64 * share).sum();
        let mut places = Sample::about(mean);
        for _ in 0..trials {
            let sample = sample_of(k, n as u64, &mut random)?;
            places.add(sample.iter().sum::<usize>() as f64 / sample.len() as f64);
            counts[sample[random.below(sample.len())]] += 1;
        }
        // The mean of k distinct elements of n has less than a k-th of the variance of one.
        let (kept, of) = (f64::from(k), n as f64);
        let variance = (of * of - 1.0) / 12.0 / kept * (of - kept) / (of - 1.0);
        wholes.named(format!("mean place of {k} of {n}"), places.check_mean(variance));
        let title = format!("A random one of {k} kept of {n} elements");
        let mut part = Section::curve(title, "place in the stream", "share of trials");
        for (place, (&count, &probability)) in counts.iter().zip(&expected).enumerate() {
            part.share(place as f64 + 1.0, count, trials, probability);
        }
        report.add(part);
        wholes.distribution(format!("{k} of {n}"), &counts, &expected)?;
    }
    // Counts all sets of three out of six.
    let mut random = context.random("sets");
    let mut counts = vec![0; 64];
    for _ in 0..trials {
        let sample = sample_of(3, 6, &mut random)?;
        counts[sample.iter().fold(0_usize, |set, place| set | 1 << place)] += 1;
    }
    let sets: Vec<u64> = (0..64_usize).filter(|set| set.count_ones() == 3).map(|set| counts[set]).collect();
    wholes.equal(
        "samples that are no three different elements",
        (trials - sets.iter().sum::<u64>()) as f64,
        0.0,
    );
    wholes.distribution("sets of 3 of 6", &sets, &[1.0 / 20.0; 20])?;
    // Counts a long stream in tenths.
    let (n, long) = (context.size(2_000, 20_000, 1_000_000), context.size(10_500, 12_000, 20_000));
    let mut random = context.random("long");
    let mut counts = vec![0; 10];
    for _ in 0..long {
        let sample = sample_of(10, n, &mut random)?;
        counts[sample[random.below(10)] * 10 / n as usize] += 1;
    }
    wholes.distribution(format!("tenths of {n} elements, 10 kept"), &counts, &leaning(10))?;
    report.add(wholes);
    Ok(report)
}

/// Returns the positions in a stream that a reservoir keeps.
fn sample_of(capacity: u32, elements: u64, random: &mut Random) -> Result<Vec<usize>> {
    let mut reservoir = Reservoir::with_scheme(capacity.into(), KeyScheme::integers(), random.bits())?;
    for element in 0..elements {
        reservoir.insert_ref(KeyRef::Integer(element))?;
    }
    let place = |key| if let KeyRef::Integer(element) = key { element as usize } else { 0 };
    Ok(reservoir.sample().map(place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn a_lean_of_three_percent_is_refuted() {
        is_refuted_at_usual_scale("reservoir", &[0.03], measure);
    }
}
