//! The size of a join, from two sketches.
//!
//! In each row, the sum of the products of the counters of two streams is `a·b`, plus `a_p b_q` for
//! every two distinct keys in the same counter. It is too high by `(‖a‖‖b‖ − a·b)/width` on
//! average. The least of all rows is too high by more than `ε‖a‖‖b‖` with a probability of at most
//! `δ`.

use crivo::frequency::CountMin;
use crivo::keys::KeyScheme;
use libm::sqrt;

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "join-size",
    title: "Count-Min: inner product as the size of a join",
    claim: "The inner product of two Count-Min sketches is never below that of the streams, above it by \
            (‖a‖‖b‖ − a·b)/width a row on average, and by more than ε‖a‖‖b‖ with a probability of at most δ.",
    sources: &[(Text::Slides, "“Inner Product Query”")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

/// `factor` multiplies the mean error of the theory.
fn measure(context: &Context<'_>, factor: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(3_000, 60_000, 100_000);
    report.parameter("trials", trials);
    let (epsilon, delta) = (0.05, 0.05);
    let (_, depth) = CountMin::size_for(epsilon, delta)?;
    let mut means = Section::curve("Mean error of one row", "width", "share of ‖a‖‖b‖").log_x().log_y();
    let mut promise = Section::numbers("Joins too large by more than ε‖a‖‖b‖, allowed at most δ");
    let mut never = Section::numbers("Joins too small");
    for (step, width) in [14_u32, 28, 55, 110].into_iter().enumerate() {
        context.advance(step, 4)?;
        let mut random = context.random(&format!("width {width}"));
        // The two tables are orders by customer, and customers by age, with a common column.
        let a: Vec<u64> = (1..=120_u64).map(|key| 1 + 60 / key).collect();
        let b: Vec<u64> = (1..=120_u64).map(|key| 1 + key % 7).collect();
        let truth: u64 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
        let product = (a.iter().sum::<u64>() * b.iter().sum::<u64>()) as f64;
        let truth = truth as f64;
        let mean = factor * (product - truth) / f64::from(width);
        let mut sample = Sample::about(mean);
        let (mut bad, mut low) = (0, 0);
        let mut hashes = vec![0; a.len()];
        for _ in 0..trials {
            random.fill(&mut hashes);
            let sketch = |depth, counts: &[u64]| -> Result<CountMin> {
                let mut sketch = CountMin::with_scheme(width, depth, KeyScheme::hashes())?;
                sketch.add_hashes(&hashes, counts)?;
                Ok(sketch)
            };
            let one_row = sketch(1, &a)?.inner_product(&sketch(1, &b)?)?.value();
            sample.add(one_row - truth);
            let answer = sketch(depth, &a)?.inner_product(&sketch(depth, &b)?)?.value();
            bad += u64::from(answer - truth > std::f64::consts::E / f64::from(width) * product);
            low += u64::from(answer < truth || one_row < truth);
        }
        means.at(
            f64::from(width),
            Measure::Normal {
                observed: sample.mean() / product,
                theory: mean / product,
                deviation: sqrt(sample.variance() / sample.trials() as f64) / product,
                trials: sample.trials(),
                side: Side::Both,
            },
        );
        promise.share_at_most(format!("width {width}"), bad, trials, delta);
        never.equal(format!("width {width}"), low as f64, 0.0);
    }
    report.add(means);
    report.add(promise);
    report.add(never);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn a_mean_error_wrong_by_three_percent_is_refuted() {
        is_refuted_at_usual_scale("join-size", &[0.97, 1.03], measure);
    }
}
