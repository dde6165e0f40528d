//! Similar users: signatures and bands against exact similarities.
//!
//! Users are the sets of films that they rated. Exact: every pair with Jaccard's index 0.6 or more. Observed: signatures
//! of 400 slots (an error of 0.05), bands for 0.55 so that pairs near the limit are not lost. With `MovieLens`'s own
//! `u.data` (`--movielens`) the three pairs of the original come out, to the digit; without, a list of the same shape is
//! generated, with more similar pairs in it.

use std::collections::BTreeSet;

use crivo::keys::KeyScheme;
use crivo::similarity::jaccard::jaccard_sorted;
use crivo::similarity::{Bands, LshIndex, MinHash};
use crivo_near::all_similar_sets;
use libm::pow;

use super::{LookAlike, collect, user};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "similar-users",
    title: "Similar users of a film site",
    claim: "Signatures of 400 minima and bands for 0.55 find the users whose sets of films have Jaccard's index 0.6 or \
            more, with the similarities that comparing the sets gives, within the error of 0.05 that is normal.",
    sources: &[(Text::Project, "§3.0.4, figures 3.1–3.3")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 1.0),
};

const K: u32 = 400;

/// The three pairs of `u.data`, as printed.
const PRINTED: [(u32, u32, f64); 3] = [(328, 788, 0.6730), (408, 898, 0.8387), (489, 587, 0.6299)];

/// `factor` multiplies the similarities that theory takes.
fn measure(context: &Context<'_>, factor: f64) -> Result<Report> {
    let mut report = Report::new();
    let mut random = context.random("users");
    let scheme = KeyScheme::integers().with_seed(random.bits());
    let shape = LookAlike {
        users: context.size(300, 943, 6_040),
        films: context.size(800, 1_682, 3_706),
        ratings: context.size(20_000, 100_000, 1_000_209),
    };
    // Every tenth user is like the one before, by 0.6 to 0.95.
    let twins = |user: u32, random: &mut Random| user.is_multiple_of(10).then(|| 0.6 + 0.35 * random.unit());
    let rows = &*shape.given_or_generated(context, &mut report, twins, &mut random);
    let sets = context.timed("reading", || collect(rows, scheme))?;
    report.parameter("users", sets.len());
    report.parameter("ratings", rows.len());
    let exact = context.timed("exact, by prefixes", || all_similar_sets(&sets, 0.6))?;
    context.advance(1, 4)?;

    let bands = Bands::for_threshold(0.55, K)?;
    report.parameter("bands", format!("{} × {}", bands.bands(), bands.rows()));
    let mut sketches = Vec::with_capacity(sets.len());
    let mut index = LshIndex::with_scheme(K, bands, KeyScheme::hashes())?;
    context.timed("signatures and bands", || -> Result<()> {
        for set in 0..sets.len() as u32 {
            let mut sketch = MinHash::with_scheme(K, KeyScheme::hashes())?;
            sketch.insert_hashes(sets.set(set));
            index.insert(set.into(), &sketch)?;
            sketches.push(sketch);
        }
        Ok(())
    })?;
    context.advance(2, 4)?;
    let candidates: BTreeSet<(u64, u64)> =
        index.candidates().into_iter().map(|(a, b)| (a.min(b), a.max(b))).collect();

    let mut curve =
        Part::curve("Estimated similarity of the similar pairs", "exact similarity", "estimated similarity")
            .separate();
    let mut worst = Part::numbers("Similar pairs");
    let (mut found, mut chance, mut off) = (0, 0.0, 0);
    for &(a, b, similarity) in &exact {
        let estimate = sketches[a as usize].similarity(&sketches[b as usize])?.value();
        let theory = factor * similarity;
        // Slots of small sets depend on each other so that their number varies less than this, never more.
        let equal = libm::round(estimate * f64::from(K)) as u64;
        curve.share(similarity, equal, K.into(), theory.min(1.0));
        found += u64::from(candidates.contains(&(a.min(b).into(), a.max(b).into())));
        chance += 1.0 - pow(1.0 - pow(similarity, bands.rows().into()), bands.bands().into());
        off += u64::from((estimate - similarity).abs() > 0.05);
    }
    let pairs = exact.len() as u64;
    curve.show("equal", [(0.6, 0.6), (1.0, 1.0)]);
    report.add(curve);
    if pairs > 0 {
        worst.named(
            "found by bands",
            Measure::Share {
                successes: found,
                trials: pairs,
                chance: chance / pairs as f64,
                side: Side::AtLeast,
            },
        );
        worst.share_at_most("errors above 0.05", off, pairs, 0.05);
    }
    report.add(worst);
    report.add(by_brute_force(context, &sets, &exact)?);
    if sets.len() == 943 && rows.len() == 100_000 && context.inputs().ratings.is_some() {
        let mut part = Part::numbers("The pairs of u.data, as printed");
        part.equal("pairs", exact.len() as f64, 3.0);
        for (one, other, similarity) in PRINTED {
            let pair = exact.iter().find(|(a, b, _)| {
                let (a, b) = (user(&sets, *a), user(&sets, *b));
                (a.min(b), a.max(b)) == (one, other)
            });
            part.exact(format!("{one}–{other}"), pair.map_or(0.0, |pair| pair.2), similarity, 5e-5);
        }
        report.add(part);
    }
    Ok(report)
}

/// All pairs compared one by one, where there are not too many.
fn by_brute_force(
    context: &Context<'_>,
    sets: &crivo_near::SetCollection,
    exact: &[(u32, u32, f64)],
) -> Result<Part> {
    let mut part = Part::numbers("Exact pairs, by comparing all").control();
    if sets.len() > 10_000 {
        part.between("similar pairs found by prefixes", exact.len() as f64, 0.0, f64::INFINITY);
        return Ok(part);
    }
    let (mut missed, mut similar) = (0, 0_usize);
    for a in 0..sets.len() as u32 {
        if a % 500 == 0 {
            context.advance(a as usize, sets.len())?;
        }
        for b in 0..a {
            let similarity = jaccard_sorted(sets.set(a), sets.set(b)).unwrap_or(0.0);
            if similarity >= 0.6 {
                similar += 1;
                missed += u32::from(
                    !exact.iter().any(|&(x, y, j)| (x.min(y), x.max(y)) == (b, a) && j == similarity),
                );
            }
        }
    }
    part.equal("similar pairs that prefixes miss", missed.into(), 0.0);
    part.equal("similar pairs", exact.len() as f64, similar as f64);
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Scale;
    use crate::prelude::testing::verdict_at;

    #[test]
    fn similarities_wrong_by_a_fifth_are_refuted() {
        assert_eq!(
            verdict_at(Scale::Tiny, "similar-users", |context| measure(context, 0.8)),
            Verdict::Refuted
        );
    }
}
