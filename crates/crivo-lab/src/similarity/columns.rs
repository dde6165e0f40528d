//! Whole signatures almost never agree.
//!
//! Two sets with `J = 0.9` agree in each slot with probability 0.9, and in all `k` slots with
//! `0.9^k`: once in 200 times for 50 slots. That is why signatures are divided into bands. (Sets
//! are large here, so that slots are nearly independent.)

use crivo::similarity::min_hash::sign;
use libm::pow;

use super::Sets;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "whole-columns",
    title: "Whole columns never agree",
    claim: "The signatures of two sets with Jaccard's index 0.9 agree in all of k slots with probability 0.9^k, which \
            tends to zero.",
    sources: &[(Text::Summary, "§4.3")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.9),
};

/// `j` replaces 0.9 in the theory.
fn measure(context: &Context<'_>, j: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let union = 20_000;
    let trials = context.size(800, 4_000, 40_000);
    report.parameter("trials", trials);
    report.parameter("union", union);
    let mut curve = Section::curve("Pairs that agree in all slots", "slots k", "share of pairs");
    let mut sets = Sets::new(union, 0.9);
    let mut random = context.random("pairs");
    let lengths = [1_usize, 2, 4, 7, 10, 15, 22, 30, 40];
    let mut agreed = [0; 9];
    let (mut first, mut second) = (vec![0; 40], vec![0; 40]);
    for trial in 0..trials {
        let (a, b) = sets.draw(&mut random);
        sign(a, &mut first)?;
        sign(b, &mut second)?;
        // The first slots of a signature serve as a shorter signature, because each slot is filled
        // independently.
        let equal = first.iter().zip(&second).take_while(|(a, b)| a == b).count();
        for (agreed, &k) in agreed.iter_mut().zip(&lengths) {
            *agreed += u64::from(equal >= k);
        }
        if trial % 100 == 0 {
            context.advance(trial as usize, trials as usize)?;
        }
    }
    for (&agreed, &k) in agreed.iter().zip(&lengths) {
        curve.share(k as f64, agreed, trials, pow(j, k as f64));
    }
    report.add(curve);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn a_similarity_wrong_by_three_percent_is_refuted() {
        is_refuted_at_usual_scale("whole-columns", &[0.873, 0.927], measure);
    }
}
