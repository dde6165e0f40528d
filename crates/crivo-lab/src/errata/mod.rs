//! Errors in the texts, shown by their own figures.
//!
//! - A text claims that a million objects have about `10¹²` pairs, which take more than ten days at
//!   a million comparisons a second. They have `n(n − 1)/2 ≈ 5·10¹¹`, which take 5.8 days.
//! - A text claims that a filter made for `10⁻⁴` has a rate of 0.0001 %, which is `10⁻⁶`. Its own
//!   test found 12 of 96,872.
//! - A text calls two `MovieLens` files "a hundred thousand users" and "a million users". These are
//!   their numbers of ratings: all users shown have small numbers, which would be unlikely with
//!   that many users.
//!
//! The correct numbers are checked as controls.

use crivo::keys::KeyScheme;
use crivo::membership::Bloom;
use libm::pow;

use crate::prelude::*;
use crate::test::LEVEL;

pub(crate) const EXPERIMENT: Experiment = Experiment {
    name: "errata",
    title: "Where the texts are wrong",
    claim: "A million objects have about 10^12 pairs, which take more than ten days; a filter with p = 10^−4 has a rate of \
            0.0001 %; and the MovieLens files have a hundred thousand and a million users.",
    sources: &[(Text::Summary, "§4.1"), (Text::Project, "§2.3.6"), (Text::Project, "§3.0.4")],
    expected: Verdict::Refuted,
    run: |context| measure(context, 2.0),
};

/// `divisor` divides `n(n − 1)`.
fn measure(context: &Context<'_>, divisor: f64) -> Result<ExperimentReport> {
    let mut report = ExperimentReport::new();
    let n = 1e6;
    let pairs = n * (n - 1.0) / 2.0;
    let days = pairs / 1e6 / 86_400.0;
    let mut claim = Section::numbers("A million objects, as claimed");
    claim.exact("pairs", pairs, 1e12, 1e11);
    claim.between("days at a million comparisons a second", days, 10.0, f64::INFINITY);
    report.add(claim);
    let mut right = Section::numbers("A million objects").control();
    right.equal("pairs", pairs, n * (n - 1.0) / divisor);
    right.exact("days at a million comparisons a second", days, 5.787, 1e-3);
    report.add(right);

    let mut random = context.random("rate");
    let items = context.size(5_000, 97_661, 97_661);
    let probes = context.size(500_000_u64, 2_000_000, 10_000_000);
    report.parameter("items", items);
    report.parameter("probes", probes);
    let mut filter = Bloom::for_items_with_scheme(items, 1e-4, KeyScheme::hashes())?;
    random.feed(&mut filter, items);
    let found = (0..probes).filter(|_| filter.contains_hash(random.bits())).count() as u64;
    let mut claim = Section::numbers("A filter made for 10^−4, as claimed: 0.0001 %");
    claim.named_share("the original's 12 of 96,872", 12, 96_872, 1e-6);
    claim.named_share("the same filter here", found, probes, 1e-6);
    report.add(claim);
    let mut right = Section::numbers("A filter made for 10^−4: 0.01 %").control();
    right.named_share("the original's 12 of 96,872", 12, 96_872, 1e-4);
    right.named_share("the same filter here", found, probes, filter.false_positive_rate());
    report.add(right);

    let mut claim =
        Section::numbers("Users, as claimed: the chance that all those shown have so small numbers");
    // Users are numbered from 1. The probability that all users shown have at most the given number
    // is that number's share of all users, to the power of the number of users shown.
    claim.between("a hundred thousand: six users, none above 898", pow(898.0 / 1e5, 6.0), LEVEL, 1.0);
    claim.between("a million: four users, none above 4,808", pow(4_808.0 / 1e6, 4.0), LEVEL, 1.0);
    report.add(claim);
    let mut right =
        Section::numbers("Users: the same with 943 and 6,040, as the files' own descriptions say").control();
    right.between("943: six users, none above 898", pow(898.0 / 943.0, 6.0), LEVEL, 1.0);
    right.between("6,040: four users, none above 4,808", pow(4_808.0 / 6_040.0, 4.0), LEVEL, 1.0);
    if let Some(ratings) = &context.inputs().ratings {
        // A user rates more than one film.
        right.between(
            "users of the file, of its ratings",
            ratings.users() as f64 / ratings.rows.len() as f64,
            0.0,
            0.2,
        );
    }
    report.add(right);
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::testing::verdict;

    #[test]
    fn counting_every_pair_twice_casts_doubt() {
        assert_eq!(verdict("errata", |context| measure(context, 1.0)), Verdict::Doubtful);
    }
}
