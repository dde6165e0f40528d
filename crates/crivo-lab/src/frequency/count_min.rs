//! Count-Min: too high by more than `εN` with a probability of at most `δ`.
//!
//! Width `⌈e/ε⌉` and depth `⌈ln 1/δ⌉` guarantee it for every stream, by Markov's inequality. For a
//! given stream, the distribution of the error is known exactly, and is far better. In one row it
//! is the sum of the counts in the same counter, a convolution. The least of `d` rows is above a
//! number if all of them are. Conservative update, which raises only the least counters, is never
//! above the plain one.

use crivo::frequency::CountMin;
use crivo::keys::KeyScheme;

use super::{above, counts, noise};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "count-min",
    title: "Count-Min: error of a frequency",
    claim: "A Count-Min sketch of width ⌈e/ε⌉ and depth ⌈ln 1/δ⌉ is never below the truth, and above it by more than εN \
            with a probability of at most δ, on uniform and on Zipf streams, plain and conservative.",
    sources: &[(Text::Slides, "“Count-min sketch” and “Point query”")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

const EPSILON: f64 = 0.05;
const DELTA: f64 = 0.05;

/// `factor` multiplies the width in the theory.
fn measure(context: &Context<'_>, factor: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(4_000, 40_000, 300_000);
    let (width, depth) = CountMin::size_for(EPSILON, DELTA)?;
    report.parameter("trials", trials);
    report.parameter("width", width);
    report.parameter("depth", depth);
    let mut promise = Section::numbers("Answers that are too high by more than εN, allowed at most δ");
    let mut certain = Section::numbers("Answers that are too low, or conservative ones above plain ones");
    for (name, zipf) in [("uniform", false), ("Zipf", true)] {
        let counts = counts(400, zipf);
        let total: u64 = counts.iter().sum();
        let tails = above(&noise(&counts[1..], f64::from(width) * factor), depth);
        let title = format!("Answers too high, {name} stream, plain");
        let mut curve = Section::curve(title, "too high by more than, in N/width", "share of trials").log_y();
        let points: Vec<u64> = (0..=5)
            .map(|step| (total * step / u64::from(width)) / 2)
            .filter(|&point| tail_at(&tails, point) > 2e-4)
            .collect();
        let mut exceeded = vec![0_u64; points.len()];
        let (mut broken, mut too_low) = ([0_u64; 2], 0);
        let margin = EPSILON * total as f64;
        let mut random = context.random(name);
        let mut hashes = vec![0; counts.len()];
        for trial in 0..trials {
            random.fill(&mut hashes);
            let mut plain = CountMin::with_scheme(width, depth, KeyScheme::hashes())?;
            let mut conservative = CountMin::conservative_with_scheme(width, depth, KeyScheme::hashes())?;
            plain.add_hashes(&hashes, &counts)?;
            conservative.add_hashes(&hashes, &counts)?;
            let truth = counts[0] as f64;
            let excess =
                [&plain, &conservative].map(|sketch| sketch.frequency_of_hash(hashes[0]).value() - truth);
            too_low += u64::from(excess[1] < 0.0 || excess[1] > excess[0]);
            for (broken, excess) in broken.iter_mut().zip(excess) {
                *broken += u64::from(excess > margin);
            }
            for (exceeded, &point) in exceeded.iter_mut().zip(&points) {
                *exceeded += u64::from(excess[0] > point as f64);
            }
            if trial % 1000 == 0 {
                context.advance(trial as usize, trials as usize)?;
            }
        }
        for (&point, &exceeded) in points.iter().zip(&exceeded) {
            let x = point as f64 * f64::from(width) / total as f64;
            curve.share(x, exceeded, trials, tail_at(&tails, point));
        }
        promise.share_at_most(format!("{name}, plain"), broken[0], trials, DELTA);
        promise.share_at_most(format!("{name}, conservative"), broken[1], trials, DELTA);
        certain.equal(format!("{name}, of {trials}"), too_low as f64, 0.0);
        report.add(curve);
    }
    report.add(promise);
    report.add(certain);
    Ok(report)
}

fn tail_at(tails: &[f64], point: u64) -> f64 {
    tails.get(point as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn a_width_wrong_by_three_percent_is_refuted() {
        is_refuted_at_usual_scale("count-min", &[0.97, 1.03], measure);
    }

    #[test]
    fn noise_is_a_distribution() {
        let noise = noise(&[1, 2, 3], 4.0);
        assert!((noise.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        // All three share a counter with probability 1/64. None does with 27/64.
        assert!((noise[6] - 1.0 / 64.0).abs() < 1e-12 && (noise[0] - 27.0 / 64.0).abs() < 1e-12);
        let above = above(&noise, 2);
        assert!((above[0] - (37.0_f64 / 64.0).powi(2)).abs() < 1e-12 && above[6] == 0.0);
    }
}
