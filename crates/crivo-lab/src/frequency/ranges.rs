//! Counts the elements between two numbers.
//!
//! A range of a universe of `2^L` integers is divided into at most `2L` dyadic blocks. Each is
//! counted by the Count-Min sketch of its level. The answer is never too low, exact for the whole
//! universe, and too high by more than `εN` with a probability of at most `δ`. A separate query for
//! every number of the range would instead add up the error of each.

use crivo::frequency::{CountMin, RangeCountMin};
use crivo::keys::KeyScheme;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "ranges",
    title: "Count-Min: ranges of integers",
    claim: "A range query over dyadic blocks is never too low and too high by more than εN with a probability of at most \
            δ, however long the range, while the error of adding up points grows with its length.",
    sources: &[(Text::Slides, "“Какие запросы можно делать”")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

const LEVELS: u32 = 12;
const EPSILON: f64 = 0.1;
const DELTA: f64 = 0.05;

/// `factor` multiplies the error of a point in theory.
fn measure(context: &Context<'_>, factor: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(1_500, 3_000, 50_000);
    let keys = 300;
    report.parameter("trials", trials);
    report.parameter("keys", keys);
    let (width, depth) = RangeCountMin::size_for(LEVELS, EPSILON, DELTA)?;
    let universe = 1_u64 << LEVELS;
    // Points are queried in a sketch of one row with a few counters, so that the mean error is
    // known: (N − f)/width.
    let narrow = 64;
    let mut promise = Section::numbers("Ranges too high by more than εN, allowed at most δ");
    let mut never = Section::numbers("Ranges too low");
    let mut points =
        Section::curve("Mean error of a range, added up point by point", "length of the range", "error / N")
            .log_x()
            .log_y();
    let mut dyadic_means = Vec::new();
    for length in [1_u64, 4, 16, 64, 256, 1_000, 3_000] {
        context.advance(length as usize, 3_000)?;
        let mut random = context.random(&format!("length {length}"));
        let (mut bad, mut low, mut excess) = (0, 0, 0.0);
        let mut sample = Sample::about(0.0);
        for trial in 0..trials {
            let stream: Vec<u64> = (0..keys).map(|_| random.below(universe as usize) as u64).collect();
            let first = random.below((universe - length) as usize) as u64;
            let range = first..=first + length - 1;
            let truth = stream.iter().filter(|key| range.contains(key)).count() as f64;
            let scheme = KeyScheme::integers().with_seed(random.bits());
            let mut sketch = RangeCountMin::with_scheme(LEVELS, width, depth, scheme)?;
            for key in &stream {
                sketch.insert(key)?;
            }
            let answer = sketch.range(range.clone())?.value() - truth;
            excess += answer / trials as f64 / keys as f64;
            bad += u64::from(answer > EPSILON * keys as f64);
            low += u64::from(answer < 0.0);
            if trial % 4 == 0 {
                let mut flat = CountMin::with_scheme(narrow, 1, scheme)?;
                for key in &stream {
                    flat.insert(key)?;
                }
                let mut sum = 0.0;
                for key in range {
                    sum += flat.frequency(&key)?.value();
                }
                // The error beyond the mean, as a share of the stream.
                let mean = factor * (length as f64 * keys as f64 - truth) / f64::from(narrow);
                sample.add((sum - truth - mean) / keys as f64);
            }
        }
        promise.share_at_most(format!("length {length}"), bad, trials, DELTA);
        never.equal(format!("length {length}"), low as f64, 0.0);
        let theory = factor * length as f64 / f64::from(narrow);
        points.at(
            length as f64,
            Measure::Normal {
                observed: theory + sample.mean(),
                theory,
                deviation: libm::sqrt(sample.variance() / sample.trials() as f64),
                trials: sample.trials(),
                side: Side::Both,
            },
        );
        dyadic_means.push((length as f64, excess.max(1e-5)));
    }
    points.show("dyadic blocks, observed", dyadic_means);
    report.add(points);
    report.add(promise);
    report.add(never);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn an_error_of_points_wrong_by_three_percent_is_refuted() {
        for wrong in [0.97, 1.03] {
            assert_eq!(verdict("ranges", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }
}
