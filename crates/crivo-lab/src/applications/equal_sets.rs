//! Users with exactly the same films.
//!
//! A list of the shape of `MovieLens` 10M: 69,878 users, 10,677 films, 10,000,054 ratings (a tenth of that unless
//! `--scale seed`). Some users have the same films as another, some nearly. Candidates are found by comparing one
//! fingerprint of each set, and verified film by film. How long it takes is noted beside the table: less than a second.

use std::collections::BTreeMap;

use crivo::keys::KeyScheme;
use crivo_near::all_similar_sets;

use super::{LookAlike, collect};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "equal-sets",
    title: "Users with equal sets of films",
    claim: "In a list of the shape of MovieLens 10M the users with exactly equal sets of films are found in less than a \
            second, all of them and no others.",
    sources: &[(Text::Summary, "§4.5")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, 0),
};

/// `extra` is added to the number of equal pairs that theory takes.
fn measure(context: &Context<'_>, extra: usize) -> Result<Report> {
    let mut report = Report::new();
    let mut random = context.random("users");
    let scheme = KeyScheme::integers().with_seed(random.bits());
    let shape = LookAlike {
        users: context.size(700, 6_988, 69_878),
        films: context.size(1_000, 5_000, 10_677),
        ratings: context.size(60_000, 1_000_005, 10_000_054),
    };
    // Every hundredth user has the films of the one before, and every hundredth all but one or two.
    let twins = |user: u32, _: &mut Random| match user % 100 {
        10 => Some(1.0),
        60 => Some(0.97),
        _ => None,
    };
    let rows = &*shape.given_or_generated(context, &mut report, twins, &mut random);
    context.advance(1, 3)?;
    let sets = context.timed("reading", || collect(rows, scheme))?;
    report.parameter("users", sets.len());
    report.parameter("ratings", rows.len());
    let found = context.timed("finding and verifying equal sets", || all_similar_sets(&sets, 1.0))?;
    report.note(format!("Found and verified in {:.3} s.", context.last_time()));
    context.advance(2, 3)?;
    // The truth, in the plainest way: users grouped by all their films.
    let mut groups: BTreeMap<&[u64], Vec<u32>> = BTreeMap::new();
    for set in 0..sets.len() as u32 {
        groups.entry(sets.set(set)).or_default().push(set);
    }
    let truth: usize = groups.values().map(|group| group.len() * (group.len() - 1) / 2).sum();
    let wrong = found.iter().filter(|&&(a, b, _)| sets.set(a) != sets.set(b)).count();
    let mut part = Part::numbers("Pairs of users with equal sets");
    part.equal("found", found.len() as f64, (truth + extra) as f64);
    part.equal("found that are not equal", wrong as f64, 0.0);
    if context.inputs().ratings.is_none() {
        part.between(
            "equal pairs in the list",
            truth as f64,
            sets.len() as f64 / 100.0 - 1.0,
            sets.len() as f64,
        );
    }
    report.add(part);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn one_pair_more_is_refuted() {
        assert_eq!(verdict("equal-sets", |context| measure(context, 1)), Verdict::Refuted);
    }
}
