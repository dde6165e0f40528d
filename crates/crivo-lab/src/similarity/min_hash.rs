//! MinHash: two sets have the same smallest hash with a probability equal to their similarity.
//!
//! The share of equal slots of two signatures of length `k` has mean `J` and, if slots were
//! independent, variance `J(1 − J)/k`. Here slots filled in the same round have different elements,
//! which makes the variance slightly less. The factor is `1 − q(k − 1)/(N − 1)`, where `q` is the
//! probability that two slots are filled in the same round (docs/accuracy).

use crivo::keys::KeyScheme;
use crivo::similarity::MinHash;
use crivo::similarity::min_hash::sign;
use libm::{pow, sqrt};

use super::Sets;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "minhash",
    title: "MinHash: equal with the probability of Jaccard's index",
    claim: "Two sets have the same minimum hash with a probability of J(A, B), and a signature of k = 1/error² of them \
            estimates J with variance J(1 − J)/k.",
    sources: &[(Text::Summary, "§4.2"), (Text::Chapter, "§5.8, lemma 5.9"), (Text::Project, "§3")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

/// Returns the variance of the share of equal slots.
fn variance(k: f64, union: f64, j: f64) -> f64 {
    let (one_empty, two_empty) = (pow(1.0 - 1.0 / k, union), pow(1.0 - 2.0 / k, union));
    let same_round = (1.0 - 2.0 * one_empty + two_empty) / (1.0 - two_empty);
    j * (1.0 - j) / k * (1.0 - same_round * (k - 1.0) / (union - 1.0))
}

/// `factor` multiplies the similarity in theory.
fn measure(context: &Context<'_>, factor: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let trials = context.size(5_000, 40_000, 400_000);
    report.parameter("trials", trials);
    let mut one =
        Section::curve("Pairs of sets with the same minimum hash", "Jaccard's index", "share of trials");
    let mut random = context.random("one");
    for tenths in 0..=10_u32 {
        context.advance(tenths as usize, 20)?;
        let mut sets = Sets::new(60, f64::from(tenths) / 10.0);
        let mut equal = 0;
        for _ in 0..trials {
            let (a, b) = sets.draw(&mut random);
            let [mut first, mut second] = [(); 2].map(|()| MinHash::with_scheme(1, KeyScheme::hashes()));
            first.as_mut().map(|sketch| sketch.insert_hashes(a)).ok();
            second.as_mut().map(|sketch| sketch.insert_hashes(b)).ok();
            equal += u64::from(first?.slots() == second?.slots());
        }
        one.share(sets.similarity(), equal, trials, (factor * sets.similarity()).min(1.0));
    }
    report.add(one);

    let trials = context.size(800, 5_000, 50_000);
    let mut errors =
        Section::curve("Error of the similarity, J = 1/2", "length of the signature k", "standard error")
            .log_x()
            .log_y();
    let mut numbers = Section::numbers("Mean and variance of the similarity");
    for (step, k) in [16_usize, 64, 128, 256, 400, 1024].into_iter().enumerate() {
        context.advance(step + 10, 20)?;
        let mut random = context.random(&format!("k = {k}"));
        for similarity in [0.5, 0.9] {
            let mut sets = Sets::new(2_000, similarity);
            let j = factor * sets.similarity();
            let mut sample = Sample::about(j);
            let (mut first, mut second) = (vec![0; k], vec![0; k]);
            let mut off = 0;
            for _ in 0..trials {
                let (a, b) = sets.draw(&mut random);
                sign(a, &mut first)?;
                sign(b, &mut second)?;
                let equal = first.iter().zip(&second).filter(|(a, b)| a == b).count();
                let found = equal as f64 / k as f64;
                sample.add(found);
                off += u64::from((found - j).abs() > 0.05);
            }
            let theory = variance(k as f64, 2_000.0, j.min(1.0));
            numbers.moments(&format!("J = {similarity}, k = {k}"), &sample, theory, 3.0);
            if similarity == 0.5 {
                errors.at(
                    k as f64,
                    Measure::Normal {
                        observed: sqrt(sample.variance()),
                        theory: sqrt(theory),
                        deviation: sqrt(theory / 2.0 / sample.trials() as f64),
                        trials: sample.trials(),
                        side: Side::Both,
                    },
                );
            }
            if k == 400 {
                // The bound is two deviations at the worst similarity: 4.6 % of normal errors are
                // larger.
                numbers.share_at_most(
                    format!("J = {similarity}, k = 400: errors above 0.05"),
                    off,
                    sample.trials(),
                    0.046,
                );
            }
        }
    }
    errors.show("√(J(1 − J)/k)", [16.0, 1024.0].map(|k| (k, 0.5 / sqrt(k))));
    report.add(errors);
    let mut part = Section::numbers("Signature for an error of 0.05");
    part.equal("k = ⌈1/bound²⌉", f64::from(MinHash::k_for(0.05)?), 400.0);
    report.add(part);
    report.add(numbers);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_similarity_wrong_by_three_percent_is_refuted() {
        for wrong in [0.97, 1.03] {
            assert_eq!(verdict("minhash", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }
}
