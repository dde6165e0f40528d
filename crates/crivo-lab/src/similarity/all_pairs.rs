//! All pairs, by brute force and by bands, when the number of objects doubles.
//!
//! Brute force compares `n(n − 1)/2` pairs, which are four times as many when `n` doubles. Bands
//! compare only candidates: the similar pairs and very few others, so twice as many. The experiment
//! counts comparisons, which repeat; their times are noted separately.

use crivo::keys::KeyScheme;
use crivo::similarity::jaccard::{at_least, jaccard_sorted};
use crivo::similarity::{Bands, LshIndex, MinHash};
use crivo_page::{Axis, Plot, Series};

use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "all-pairs",
    title: "All pairs: brute force against bands",
    claim: "When the number of objects doubles, comparing all pairs takes four times as many comparisons, and with bands \
            only twice as many, which find the similar pairs with the probability of the curve.",
    sources: &[(Text::Summary, "§4.1"), (Text::Summary, "§4.4")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 2.0),
};

const SIZE: usize = 60;
/// The number of elements that a pair of similar sets shares: a similarity of 50/70.
const SHARED: usize = 50;
const ALIKE: f64 = SHARED as f64 / (2 * SIZE - SHARED) as f64;

/// `power` is the power of `n` in the theory of brute force.
fn measure(context: &Context<'_>, power: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let sizes =
        context.size([100_usize, 200, 400, 800], [500, 1_000, 2_000, 4_000], [2_000, 4_000, 8_000, 16_000]);
    report.parameter("elements", SIZE);
    let bands = Bands::new(20, 5)?;
    let mut part = Section::numbers("Growth of comparisons when n doubles");
    let mut found = Section::numbers("Similar pairs found");
    let (mut brute_times, mut band_times) = (Vec::new(), Vec::new());
    let (mut brute_curve, mut band_curve) = (Vec::new(), Vec::new());
    let mut before: Option<(f64, f64)> = None;
    for (step, &n) in sizes.iter().enumerate() {
        context.advance(step * step, sizes.len() * sizes.len())?;
        let sets = sets(n, &mut context.random(&format!("{n} sets")));
        let mut brute = 0_u64;
        let exact = context.timed(format!("brute force, {n} sets"), || {
            let mut exact = 0_u64;
            for (i, a) in sets.iter().enumerate() {
                for b in &sets[..i] {
                    brute += 1;
                    exact += u64::from(at_least(a, b, 0.6).is_some());
                }
            }
            exact
        });
        brute_times.push((n as f64, context.last_time()));
        let (compared, similar) = context.timed(format!("bands, {n} sets"), || by_bands(&sets, bands))?;
        band_times.push((n as f64, context.last_time()));
        found.equal(format!("{n} sets, by brute force"), exact as f64, (n / 2) as f64);
        // The slots of small sets are more even than independent ones, so no more pairs are lost
        // than the theory gives.
        found.named(
            format!("{n} sets, by bands"),
            Measure::Share {
                successes: similar,
                trials: exact,
                chance: bands_meet(ALIKE),
                side: Side::AtLeast,
            },
        );
        // Dissimilar sets share almost nothing, so they are not candidates.
        found.between(format!("{n} sets: compared in vain by bands"), (compared - similar) as f64, 0.0, 3.0);
        if let Some((brute_before, bands_before)) = before {
            part.exact(
                format!("brute force, {n} sets"),
                brute as f64 / brute_before,
                libm::pow(2.0, power),
                5.0 / n as f64 * 2.0,
            );
            // Both counts are close to the number of similar pairs; bands miss a few of them.
            part.exact(format!("bands, {n} sets"), compared as f64 / bands_before, 2.0, 0.4);
        }
        before = Some((brute as f64, compared as f64));
        brute_curve.push((n as f64, brute as f64));
        band_curve.push((n as f64, compared as f64));
    }
    report.add(part);
    report.add(found);
    let plot = |title: &str, y: &str, brute: Vec<(f64, f64)>, bands: Vec<(f64, f64)>| {
        let points = Plot::new(
            title,
            "Brute force grows with the square of the number of sets, bands with the number itself.",
        );
        let axes = points.x(Axis::log("sets")).y(Axis::log(y));
        axes.series(Series::line("brute force", brute)).series(Series::line("bands", bands)).figure()
    };
    report.figure(plot("Comparisons", "pairs compared", brute_curve, band_curve));
    report.figure(plot("Time, which does not repeat", "seconds", brute_times, band_times));
    Ok(report)
}

fn bands_meet(j: f64) -> f64 {
    1.0 - libm::pow(1.0 - libm::pow(j, 5.0), 20.0)
}

/// Returns sets of random elements, in pairs of similar ones.
fn sets(n: usize, random: &mut Random) -> Vec<Vec<u64>> {
    let mut sets = Vec::with_capacity(n);
    for _ in 0..n / 2 {
        let elements = random.hashes(2 * SIZE - SHARED);
        for mut set in [elements[..SIZE].to_vec(), elements[SIZE - SHARED..].to_vec()] {
            set.sort_unstable();
            sets.push(set);
        }
    }
    sets
}

/// Returns the number of candidate pairs of bands, and how many of them are similar.
fn by_bands(sets: &[Vec<u64>], bands: Bands) -> Result<(u64, u64)> {
    let k = bands.slots();
    let mut index = LshIndex::with_scheme(k, bands, KeyScheme::hashes())?;
    for (set, id) in sets.iter().zip(0_u64..) {
        let mut sketch = MinHash::with_scheme(k, KeyScheme::hashes())?;
        sketch.insert_hashes(set);
        index.insert(id, &sketch)?;
    }
    let candidates = index.candidates();
    let alike = |&&(a, b): &&(u64, u64)| {
        jaccard_sorted(&sets[a as usize], &sets[b as usize]).is_some_and(|j| j >= 0.6)
    };
    Ok((candidates.len() as u64, candidates.iter().filter(alike).count() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn a_power_wrong_by_three_percent_is_refuted() {
        for wrong in [1.94, 2.06] {
            assert_eq!(verdict("all-pairs", |context| measure(context, wrong)), Verdict::Refuted);
        }
    }
}
