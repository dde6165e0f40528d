//! Finds users with exactly the same films.
//!
//! The list has the shape of `MovieLens` 10M: 69,878 users, 10,677 films, 10,000,054 ratings (a
//! tenth of that unless `--scale seed`). Some users have the same films as another, some nearly.
//! While the list is read, each user gets a fingerprint, which is a hash of all films. Users with
//! equal fingerprints are candidates, which are verified film by film.
//!
//! "In less than a second" is tested by counting, because times do not repeat. A user is looked up
//! once among the earlier fingerprints. The same text assumes a million comparisons a second
//! (§4.1), at which all pairs of the list would take 41 minutes. The measured times are noted
//! beside the table.

use std::collections::{BTreeMap, HashMap};

use crivo::keys::KeyScheme;
use crivo_near::{SetCollection, all_similar_sets};

use super::{LookAlike, collect};
use crate::prelude::*;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "equal-sets",
    title: "Users with equal sets of films",
    claim: "In a list of the shape of MovieLens 10M candidates for users with exactly equal sets of films are found in \
            less than a second, at a million comparisons a second, and verifying them leaves all equal pairs and no \
            others.",
    sources: &[(Text::Summary, "§4.5"), (Text::Summary, "§4.1")],
    expected: Verdict::Confirmed,
    run: |context| measure(context, &Theory::default()),
};

/// The number of users in the list of 10M.
const USERS: u32 = 69_878;

/// The numbers that the claim depends on.
struct Theory {
    /// A number added to that of equal pairs.
    extra: usize,
    /// The number of lookups for each user.
    looks: f64,
    /// The number of comparisons in a second.
    rate: f64,
}

impl Default for Theory {
    fn default() -> Self {
        Self { extra: 0, looks: 1.0, rate: 1e6 }
    }
}

fn measure(context: &Context<'_>, theory: &Theory) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let mut random = context.random("users");
    let scheme = KeyScheme::integers().with_seed(random.bits());
    let shape = LookAlike {
        users: context.size(700, 6_988, USERS),
        films: context.size(1_000, 5_000, 10_677),
        ratings: context.size(60_000, 1_000_005, 10_000_054),
    };
    // Every hundredth user has the films of the user before, and every hundredth all but one or
    // two.
    let twins = |user: u32, _: &mut Random| match user % 100 {
        10 => Some(1.0),
        60 => Some(0.97),
        _ => None,
    };
    let rows = &*shape.given_or_generated(context, &mut report, twins, &mut random);
    context.advance(1, 3)?;
    let (sets, fingerprints) = context.timed("reading", || -> Result<_> {
        let sets = collect(rows, scheme)?;
        let fingerprints = fingerprints(&sets, KeyScheme::bytes().with_seed(random.bits()))?;
        Ok((sets, fingerprints))
    })?;
    let users = sets.len() as f64;
    report.parameter("users", sets.len());
    report.parameter("ratings", rows.len());
    let (candidates, looks) = context.timed("finding candidates", || candidates(&fingerprints));
    let finding = context.last_time();
    let is_equal = |&&(a, b): &&(u32, u32)| sets.set(a) == sets.set(b);
    let verified: Vec<(u32, u32)> =
        context.timed("verifying candidates", || candidates.iter().filter(is_equal).copied().collect());
    report.note(format!(
        "Candidates found in {finding:.4} s and verified in {:.4} s, after the list was read.",
        context.last_time()
    ));
    context.advance(2, 3)?;
    let engine = context
        .timed("all pairs of similarity 1, by crivo's exhaustive search", || all_similar_sets(&sets, 1.0))?;

    // The true number, by the simplest method: users grouped by all their films.
    let mut groups: BTreeMap<&[u64], Vec<u32>> = BTreeMap::new();
    for set in 0..sets.len() as u32 {
        groups.entry(sets.set(set)).or_default().push(set);
    }
    let truth: usize = groups.values().map(|group| group.len() * (group.len() - 1) / 2).sum();
    let expected = (truth + theory.extra) as f64;
    let mut part = Section::numbers("Pairs of users with equal sets");
    part.equal("candidates", candidates.len() as f64, expected);
    part.equal("verified", verified.len() as f64, expected);
    part.equal("found by crivo's exhaustive search", engine.len() as f64, expected);
    part.equal("found by only one of the two", differences(&verified, &engine) as f64, 0.0);
    if context.inputs().ratings.is_none() {
        part.between("equal pairs in the list", truth as f64, users / 100.0 - 1.0, users);
    }
    report.add(part);
    let mut part = Section::numbers("Comparisons of users");
    part.equal("looks at fingerprints, for each user", looks as f64 / users, theory.looks);
    let in_all = (looks as f64 + candidates.len() as f64) / users * f64::from(USERS);
    part.between("seconds for 69,878 users, with those of candidates", in_all / theory.rate, 0.0, 1.0);
    report.add(part);
    Ok(report)
}

/// Returns the hash of all films of each user.
fn fingerprints(sets: &SetCollection, scheme: KeyScheme) -> Result<Vec<u64>> {
    let mut bytes = Vec::new();
    let mut fingerprints = Vec::with_capacity(sets.len());
    for set in 0..sets.len() as u32 {
        bytes.clear();
        sets.set(set).iter().for_each(|film| bytes.extend_from_slice(&film.to_le_bytes()));
        fingerprints.push(scheme.hash(bytes.as_slice())?);
    }
    Ok(fingerprints)
}

/// Returns the pairs of users with equal fingerprints, and the number of lookups.
fn candidates(fingerprints: &[u64]) -> (Vec<(u32, u32)>, u64) {
    let mut holders: HashMap<u64, Vec<u32>> = HashMap::with_capacity(fingerprints.len());
    let (mut pairs, mut looks) = (Vec::new(), 0);
    for (&fingerprint, user) in fingerprints.iter().zip(0_u32..) {
        looks += 1;
        let before = holders.entry(fingerprint).or_default();
        pairs.extend(before.iter().map(|&other| (other, user)));
        before.push(user);
    }
    (pairs, looks)
}

/// Returns the number of pairs that are in only one of the two lists.
fn differences(verified: &[(u32, u32)], engine: &[(u32, u32, f64)]) -> usize {
    let verified: std::collections::BTreeSet<(u32, u32)> = verified.iter().copied().collect();
    let engine = engine.iter().map(|&(a, b, _)| (a, b)).collect();
    verified.symmetric_difference(&engine).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    fn verdict_of(theory: &Theory) -> Verdict {
        verdict("equal-sets", |context| measure(context, theory))
    }

    #[test]
    fn one_pair_more_is_refuted() {
        assert_eq!(verdict_of(&Theory { extra: 1, ..Theory::default() }), Verdict::Refuted);
    }

    #[test]
    fn looks_wrong_by_three_percent_are_refuted() {
        for looks in [0.97, 1.03] {
            assert_eq!(verdict_of(&Theory { looks, ..Theory::default() }), Verdict::Refuted);
        }
    }

    /// About 71,000 comparisons take less than a second at a million a second, and more at 70,000.
    #[test]
    fn a_slower_machine_is_refuted() {
        assert_eq!(verdict_of(&Theory { rate: 7e4, ..Theory::default() }), Verdict::Refuted);
        assert_eq!(verdict_of(&Theory { rate: 1e5, ..Theory::default() }), Verdict::Confirmed);
    }

    #[test]
    fn equal_fingerprints_are_candidates() {
        assert_eq!(candidates(&[5, 3, 5, 5]), (vec![(0, 2), (0, 3), (2, 3)], 4));
    }

    #[test]
    fn lists_of_pairs_are_compared_pair_by_pair() {
        assert_eq!(differences(&[(0, 2), (1, 3)], &[(1, 3, 1.0), (2, 4, 1.0)]), 2);
    }
}
