//! Are columns that hold each other's values found, and others not?

use std::ops::Range;

use crivo::keys::KeyScheme;
use crivo::profile::{ColumnProfile, DistinctGrowth, JoinColumn, JoinVerdict, Joinability};

use super::support::generator;

fn column(seed: u64, values: impl Iterator<Item = String>) -> JoinColumn {
    let scheme = KeyScheme::bytes().with_seed(seed);
    let config = crivo::profile::ProfileConfig::for_memory(64 << 10).unwrap();
    let mut profile = ColumnProfile::with_scheme(config, scheme, 0).unwrap();
    let mut growth = DistinctGrowth::with_scheme(1024, scheme).unwrap();
    for (row, value) in (1..).zip(values) {
        profile.insert(&value).unwrap();
        growth.insert(value.as_str(), row).unwrap();
    }
    JoinColumn::new(&profile, &growth).unwrap()
}

fn numbers(seed: u64, numbers: Range<u32>) -> JoinColumn {
    column(seed, numbers.map(|number| number.to_string()))
}

fn compare(left: &JoinColumn, right: &JoinColumn) -> Joinability {
    left.compare(right, false).unwrap().expect("keys are worth comparing")
}

/// Claims that intervals at 95 % cover both shares. Of 400 hash seeds at most 49 may miss, on
/// either side: a binomial variable with the chance 0.05 exceeds that with a probability below
/// 10⁻⁷. At a share of 0.8 and of 0.2 the estimate is more than eight standard errors from 0.5, so
/// the verdict is always the right one.
#[test]
fn shares_are_covered_and_verdicts_follow() {
    let mut random = generator("joins");
    for (right, shares, verdict) in [
        (1_000..6_000, [0.8, 0.8], JoinVerdict::Joins),
        (0..50_000, [1.0, 0.1], JoinVerdict::Joins),
        (4_000..9_000, [0.2, 0.2], JoinVerdict::No),
    ] {
        let (mut missed, mut widths) = ([0; 2], [0.0; 2]);
        for _ in 0..400 {
            let seed = random.bits();
            let found = compare(&numbers(seed, 0..5_000), &numbers(seed, right.clone()));
            missed[0] += u32::from(!found.left_in_right.covers(shares[0]));
            missed[1] += u32::from(!found.right_in_left.covers(shares[1]));
            for (width, share) in widths.iter_mut().zip([found.left_in_right, found.right_in_left]) {
                *width += (share.upper() - share.lower()) / 400.0;
            }
            assert_eq!(found.verdict, verdict, "{right:?}: {found:?}");
        }
        #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
        {
            println!("| {right:?} | {shares:?} | 400 | {missed:?} | {widths:.3?} | {verdict:?} |");
        }
        assert!(missed.iter().all(|missed| *missed <= 49), "{right:?}: {missed:?} of 400");
    }
}

#[test]
fn few_values_beside_many_are_undecided_unless_ranges_tell() {
    let (few, many) = (numbers(0, 500..520), numbers(0, 0..300_000));
    assert_eq!(compare(&few, &many).verdict, JoinVerdict::Undecided);
    let apart = compare(&numbers(0, 400_000..400_020), &many);
    assert_eq!(apart.verdict, JoinVerdict::No);
    assert!(apart.common.is_exact() && apart.left_in_right.is_exact());
}

#[test]
fn pairs_that_cannot_join_are_not_compared() {
    let ids = numbers(0, 0..100);
    let compared = |other: &JoinColumn, is_named_alike| ids.compare(other, is_named_alike).unwrap().is_some();
    let words = column(0, (0..100).map(|i| format!("word {i}")));
    let repeated = column(0, (0..100).map(|i| (i % 7).to_string()));
    let flags = column(0, (0..100).map(|i| (i % 2 == 0).to_string()));
    assert!(!compared(&words, true), "values of different kinds");
    assert!(!compared(&flags, true), "booleans");
    assert!(!compared(&column(0, std::iter::empty()), true));
    assert!(compared(&repeated, false), "one side is a key");
    assert!(repeated.compare(&repeated.clone(), false).unwrap().is_none(), "neither side is a key");
    assert!(repeated.compare(&repeated.clone(), true).unwrap().is_some(), "of the same name");
    assert_eq!(ids.compare(&numbers(1, 0..100), true).unwrap_err().field(), "seed");
}
