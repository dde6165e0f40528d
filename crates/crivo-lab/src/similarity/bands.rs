//! Bands: the S-curve.
//!
//! With `b` bands of `r` rows, two sets share at least one band with probability `1 − (1 − J^r)^b`.
//! To select sets with `J ≤ 0.6` with a probability below 0.01 and those with `J ≥ 0.9` with 0.99,
//! `b = 20` and `r = 15` take the fewest slots.

use crivo::similarity::Bands;
use crivo::similarity::min_hash::sign;
use libm::pow;

use super::Sets;
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "bands",
    title: "Bands: the S-curve, observed",
    claim: "Sets meet in one of b bands of r rows with probability 1 − (1 − J^r)^b, and selecting J ≤ 0.6 with less than \
            0.01 and J ≥ 0.9 with more than 0.99 takes about b = 20 and r = 15.",
    sources: &[(Text::Summary, "§4.4")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0.0),
};

/// `more` is added to the rows of a band in theory.
fn measure(context: &Context<'_>, more: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    // The sets are large, so that slots are nearly independent: the error of the curve is a tenth
    // of what the check can detect.
    let union = context.size(4_000, 10_000, 20_000);
    let trials = context.size(500, 2_000, 20_000);
    report.parameter("trials", trials);
    report.parameter("union", union);
    for (b, r) in [(20, 15), (16, 8)] {
        let bands = Bands::new(b, r)?;
        let meet = |j: f64| 1.0 - pow(1.0 - pow(j, f64::from(r) + more), f64::from(b));
        let title = format!("Pairs that meet in {b} bands of {r} rows");
        let mut curve = Section::curve(title, "Jaccard's index", "share of pairs");
        let mut random = context.random(&format!("{b} × {r}"));
        let (mut first, mut second) = (vec![0; bands.slots() as usize], vec![0; bands.slots() as usize]);
        let (mut keys, mut others) = (Vec::new(), Vec::new());
        for hundredths in [30, 40, 50, 60, 65, 70, 75, 80, 85, 90, 95] {
            context.advance(hundredths as usize, 100)?;
            let mut sets = Sets::new(union, f64::from(hundredths) / 100.0);
            let mut met = 0;
            for _ in 0..trials {
                let (a, b) = sets.draw(&mut random);
                sign(a, &mut first)?;
                sign(b, &mut second)?;
                bands.keys(&first, &mut keys)?;
                bands.keys(&second, &mut others)?;
                met += u64::from(keys.iter().zip(&others).any(|(a, b)| a == b));
            }
            curve.share(sets.similarity(), met, trials, meet(sets.similarity()));
        }
        curve.show("1 − (1 − J^r)^b", (0..=100).map(|i| (f64::from(i) / 100.0, meet(f64::from(i) / 100.0))));
        report.add(curve.separate());
    }
    let mut part = Section::numbers("The design for (0.6, 0.01) and (0.9, 0.99)");
    let chosen = Bands::for_points((0.6, 0.01), (0.9, 0.99))?;
    part.equal("bands", chosen.bands().into(), 20.0);
    part.equal("rows", chosen.rows().into(), 15.0);
    let meet = |j: f64| 1.0 - pow(1.0 - pow(j, 15.0 + more), 20.0);
    part.between("probability at 0.6", meet(0.6), 0.0, 0.01);
    part.between("probability at 0.9", meet(0.9), 0.99, 1.0);
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_row_more_or_less_is_refuted() {
        for wrong in [-1.0, 1.0] {
            assert_eq!(verdict("bands", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }
}
