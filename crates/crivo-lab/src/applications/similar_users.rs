//! Similar users: compares signatures and bands with exact similarities.
//!
//! A user is the set of films that the user rated. The exact result is every pair with Jaccard's
//! index 0.6 or more. The estimate uses signatures of 400 slots (an error of 0.05), and bands for
//! 0.55 so that pairs near the limit are not lost. With `MovieLens`'s own `u.data` (`--movielens`),
//! the result has the three pairs of the original, to the digit. Without it, a list of the same
//! shape is generated, with more similar pairs.

use std::collections::{BTreeMap, BTreeSet};

use crivo::keys::KeyScheme;
use crivo::similarity::jaccard::jaccard_sorted;
use crivo::similarity::min_hash::sign;
use crivo::similarity::{Bands, LshIndex, MinHash};
use crivo_near::{SetCollection, all_similar_sets};
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

/// The most pairs that are shown one by one.
const SHOWN: usize = 1_000;

/// The three pairs of `u.data`, as printed in the original.
const PRINTED: [(u32, u32, f64); 3] = [(328, 788, 0.6730), (408, 898, 0.8387), (489, 587, 0.6299)];

/// `factor` multiplies the similarities of the theory.
fn measure(context: &Context<'_>, factor: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let mut random = context.random("users");
    let scheme = KeyScheme::integers().with_seed(random.bits());
    let shape = LookAlike {
        users: context.size(300, 943, 6_040),
        films: context.size(800, 1_682, 3_706),
        ratings: context.size(20_000, 100_000, 1_000_209),
    };
    // Every tenth user has a similarity of 0.6 to 0.95 to the user before.
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

    let mut curve = Section::curve(
        "Estimated similarity of the similar pairs",
        "exact similarity",
        "estimated similarity",
    )
    .separate();
    let mut worst = Section::numbers("Similar pairs");
    let (mut found, mut chance, mut off) = (0, 0.0, 0);
    // A large list has too many similar pairs to show each of them on a page.
    let shown_each = exact.len().div_ceil(SHOWN).max(1);
    for (number, &(a, b, similarity)) in exact.iter().enumerate() {
        let estimate = sketches[a as usize].similarity(&sketches[b as usize])?.value();
        let theory = factor * similarity;
        // The slots of small sets depend on each other, so that their number varies less than this,
        // never more.
        let equal = libm::round(estimate * f64::from(K)) as u64;
        if number % shown_each == 0 {
            curve.share(similarity, equal, K.into(), theory.min(1.0));
        }
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
        let some: Vec<_> = exact.iter().step_by(shown_each).copied().collect();
        worst.named(
            "mean estimate, each pair under hashes of its own",
            mean_estimate(context, &sets, &some, factor)?,
        );
    }
    report.add(worst);
    report.add(by_brute_force(context, &sets, &exact)?);
    if sets.len() == 943 && rows.len() == 100_000 && context.inputs().ratings.is_some() {
        let mut part = Section::numbers("The pairs of u.data, as printed");
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

/// Returns the mean of estimates with independent errors. Each pair has its own hash, because the
/// users of a list share films and would share the errors of one hash.
fn mean_estimate(
    context: &Context<'_>,
    sets: &SetCollection,
    pairs: &[(u32, u32, f64)],
    factor: f64,
) -> Result<Measure> {
    let mut random = context.random("own hashes");
    let (mut first, mut second) = (vec![0; K as usize], vec![0; K as usize]);
    let (mut equal, mut similarities, mut variances) = (0, 0.0, 0.0);
    for &(a, b, similarity) in pairs {
        let scheme = KeyScheme::integers().with_seed(random.bits());
        for (set, signature) in [(a, &mut first), (b, &mut second)] {
            let hashes = sets.set(set).iter().map(|element| scheme.hash(element));
            sign(&hashes.collect::<Result<Vec<u64>, _>>()?, signature)?;
        }
        equal += first.iter().zip(&second).filter(|(one, other)| one == other).count();
        similarities += similarity;
        variances += similarity * (1.0 - similarity) / f64::from(K);
    }
    let count = pairs.len() as f64;
    Ok(Measure::Normal {
        observed: equal as f64 / f64::from(K) / count,
        theory: factor * similarities / count,
        // The addend is for rounding errors if all pairs are equal.
        deviation: libm::sqrt(variances) / count + 1e-12,
        trials: pairs.len() as u64,
        side: Side::Both,
    })
}

/// Compares pairs one by one: all of them or, for a large list, those of some users with all
/// others.
fn by_brute_force(context: &Context<'_>, sets: &SetCollection, exact: &[(u32, u32, f64)]) -> Result<Section> {
    let mut part = Section::numbers("Exact pairs, by comparing all").control();
    let users = sets.len() as u32;
    // Every `step`-th user is compared with all. These are about 25 million comparisons, which take
    // seconds.
    let step = if users <= 10_000 { 1 } else { users.div_ceil((25_000_000 / users).max(1)) };
    let known: BTreeMap<(u32, u32), f64> = exact
        .iter()
        .map(|&(a, b, similarity)| ((a.min(b), a.max(b)), similarity))
        .filter(|((a, b), _)| a % step == 0 || b % step == 0)
        .collect();
    let (mut missed, mut similar) = (0, 0_usize);
    for a in 0..users {
        if a % 500 == 0 {
            context.advance(a as usize, sets.len())?;
        }
        for b in (0..a).step_by(if a % step == 0 { 1 } else { step as usize }) {
            let similarity = jaccard_sorted(sets.set(a), sets.set(b)).unwrap_or(0.0);
            if similarity >= 0.6 {
                similar += 1;
                missed += u32::from(known.get(&(b, a)) != Some(&similarity));
            }
        }
    }
    part.equal("similar pairs that prefixes miss", missed.into(), 0.0);
    part.equal("similar pairs", known.len() as f64, similar as f64);
    // A list without similar pairs gives no result.
    part.between("similar pairs in the list", exact.len() as f64, 1.0, f64::INFINITY);
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::is_refuted_at_usual_scale;

    #[test]
    fn similarities_wrong_by_three_percent_are_refuted() {
        is_refuted_at_usual_scale("similar-users", &[0.97, 1.03], measure);
    }
}
