//! Decides which keys of the sketch belong to the list, and how certain that is.

use anyhow::{Result, anyhow};
use clap::ValueEnum;
use crivo::Estimate;
use crivo::frequency::HeavyHitters;
use crivo::keys::OwnedKey;

use crate::output::{self, Output};

/// The keys that the list should have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Wanted {
    /// The k most frequent.
    First(usize),
    /// The keys with at least a share of the total.
    Share(f64),
    /// The keys with at least this count.
    Count(u64),
}

impl Wanted {
    /// Returns the least count of a key of the list.
    pub(super) fn limit(self, total: u64) -> u64 {
        match self {
            Self::First(_) => 1,
            Self::Share(share) => ((share * total as f64).ceil() as u64).max(1),
            Self::Count(count) => count,
        }
    }
}

/// What the list may be wrong about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Guarantee {
    /// Only those that certainly belong to the list; some may be missing
    NoFalsePositives,
    /// All that may belong to it; some may not
    NoFalseNegatives,
}

/// A key with certain bounds of its count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) key: OwnedKey,
    pub(super) lower: u64,
    pub(super) upper: u64,
}

impl Candidate {
    /// Returns every key that has a counter in the sketch, the most frequent first.
    pub(super) fn of(sketch: &HeavyHitters) -> Vec<Self> {
        let hitters = sketch.top(usize::MAX).into_iter();
        hitters
            .map(|hitter| Self { lower: hitter.lower(), upper: hitter.upper(), key: hitter.into_key() })
            .collect()
    }
}

/// Returns the bounds as an estimate whose value is in the middle.
pub(super) fn estimate(lower: u64, upper: u64) -> Estimate {
    let middle = lower + (upper - lower) / 2;
    // The true count may exceed a saturated counter.
    let upper = if upper == u64::MAX { f64::INFINITY } else { upper as f64 };
    Estimate::certain(middle as f64, lower as f64, upper)
}

/// Returns the list, in the order of the candidates.
pub(super) fn choose(
    mut candidates: Vec<Candidate>,
    sketch: &HeavyHitters,
    wanted: &Wanted,
    guarantee: Option<Guarantee>,
    out: &Output,
) -> Result<Vec<Candidate>> {
    let limit = wanted.limit(sketch.total());
    match (wanted, guarantee) {
        (Wanted::First(k), None) => candidates.truncate(*k),
        (Wanted::First(k), Some(Guarantee::NoFalsePositives)) => {
            // A key certainly belongs to the list if fewer than k others can have a larger count.
            let mut uppers: Vec<u64> = candidates.iter().map(|candidate| candidate.upper).collect();
            uppers.sort_unstable_by(|a, b| b.cmp(a));
            candidates.retain(|Candidate { lower, upper, .. }| {
                let above = uppers.partition_point(|other| other > lower) - usize::from(upper > lower);
                above < *k && *lower >= sketch.max_error()
            });
        }
        (_, Some(Guarantee::NoFalsePositives)) => candidates.retain(|candidate| candidate.lower >= limit),
        (_, Some(Guarantee::NoFalseNegatives)) => {
            if may_miss(&candidates, sketch, wanted) {
                return Err(cannot_list_all(sketch));
            }
            candidates = possible(candidates, sketch, wanted);
        }
        (_, None) => {
            if may_miss(&candidates, sketch, wanted) {
                warn_of_missing(sketch, out);
            }
            candidates = possible(candidates, sketch, wanted);
        }
    }
    Ok(candidates)
}

/// Returns an error that says why a list may have false negatives.
pub(super) fn cannot_list_all(sketch: &HeavyHitters) -> anyhow::Error {
    anyhow!(
        "--guarantee no-false-negatives: values that came up to {} times are out of view: \
         more --counters see them",
        output::count(sketch.max_error())
    )
}

/// Returns all candidates that may belong to the list.
pub(super) fn possible(
    mut candidates: Vec<Candidate>,
    sketch: &HeavyHitters,
    wanted: &Wanted,
) -> Vec<Candidate> {
    let limit = match wanted {
        // A candidate is possible if fewer than k others certainly have a larger count.
        Wanted::First(k) => nth_lower(&candidates, *k),
        _ => wanted.limit(sketch.total()),
    };
    candidates.retain(|candidate| candidate.upper >= limit);
    candidates
}

/// Returns true if a key without a counter may belong to the list.
fn may_miss(candidates: &[Candidate], sketch: &HeavyHitters, wanted: &Wanted) -> bool {
    match wanted {
        Wanted::First(k) => sketch.max_error() > nth_lower(candidates, *k),
        _ => sketch.max_error() >= wanted.limit(sketch.total()),
    }
}

/// Returns the k-th largest lower bound, or 0 if there are fewer.
fn nth_lower(candidates: &[Candidate], k: usize) -> u64 {
    let mut lowers: Vec<u64> = candidates.iter().map(|candidate| candidate.lower).collect();
    lowers.sort_unstable_by(|a, b| b.cmp(a));
    k.checked_sub(1).and_then(|at| lowers.get(at)).copied().unwrap_or(0)
}

pub(super) fn warn_of_missing(sketch: &HeavyHitters, out: &Output) {
    out.warn(format_args!(
        "values that came up to {} times may be missing: more --counters see them",
        output::count(sketch.max_error())
    ));
}

/// Returns the only key that may have more than half of the total, and whether it certainly has.
pub(super) fn majority(candidates: &[Candidate], total: u64) -> Option<(OwnedKey, bool)> {
    let first = candidates.first()?;
    (first.upper > total / 2).then(|| (first.key.clone(), first.lower > total / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a sketch with few counters, so that bounds are wide and keys are evicted.
    fn sketch() -> HeavyHitters {
        let mut sketch = HeavyHitters::new(8).unwrap();
        for round in 0..300_u32 {
            for key in ["a", "a", "a", "b", "b", "c"] {
                sketch.insert(key).unwrap();
            }
            sketch.insert(&*format!("rare{round}")).unwrap();
        }
        sketch
    }

    fn names(candidates: &[Candidate]) -> Vec<String> {
        candidates.iter().map(|candidate| candidate.key.to_string()).collect()
    }

    fn chosen(wanted: Wanted, guarantee: Guarantee) -> Result<Vec<String>> {
        let sketch = sketch();
        let list = choose(Candidate::of(&sketch), &sketch, &wanted, Some(guarantee), &Output::new(true));
        list.map(|list| names(&list))
    }

    #[test]
    fn what_is_certain_is_in_the_truth_and_what_may_be_holds_it() {
        assert_eq!(chosen(Wanted::First(2), Guarantee::NoFalsePositives).unwrap(), ["a", "b"]);
        assert_eq!(chosen(Wanted::First(2), Guarantee::NoFalseNegatives).unwrap(), ["a", "b"]);
        // Exact counts: 900 of 2100 for `a`, and 600 of 2100 for `b`.
        assert_eq!(chosen(Wanted::Count(600), Guarantee::NoFalsePositives).unwrap()[0], "a");
        assert!(chosen(Wanted::Share(0.28), Guarantee::NoFalseNegatives).unwrap().contains(&"b".to_string()));
        assert_eq!(chosen(Wanted::Share(0.9), Guarantee::NoFalseNegatives).unwrap(), [""; 0]);
        let missed = chosen(Wanted::Count(2), Guarantee::NoFalseNegatives).unwrap_err();
        assert!(missed.to_string().contains("more --counters"), "{missed}");
    }

    #[test]
    fn limits_are_the_least_counts_that_belong() {
        assert_eq!(Wanted::Share(0.5).limit(10), 5);
        assert_eq!(Wanted::Share(0.5).limit(11), 6);
        assert_eq!(Wanted::Share(0.1).limit(0), 1);
        assert_eq!(Wanted::Count(7).limit(100), 7);
    }

    #[test]
    fn majority_is_more_than_half() {
        let one = |lower, upper| vec![Candidate { key: OwnedKey::Integer(1), lower, upper }];
        assert_eq!(majority(&one(6, 6), 10), Some((OwnedKey::Integer(1), true)));
        assert_eq!(majority(&one(5, 6), 10), Some((OwnedKey::Integer(1), false)));
        assert_eq!(majority(&one(5, 5), 10), None);
        assert_eq!(majority(&[], 0), None);
    }
}
