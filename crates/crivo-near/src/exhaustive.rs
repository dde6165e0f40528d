//! Finds all pairs of similar sets, without missing any.
//!
//! Bands find nearly all pairs quickly. This module is for callers that must not miss a pair. The
//! items of every set are in one global order, rarest first. Then two sets of sizes `a ≤ b` and
//! similarity at least `t` share an item among the first `a − ⌈t·a⌉ + 1` of the smaller and the
//! first `b − ⌈t·b⌉ + 1` of the larger (Bayardo, Ma, Srikant: *Scaling up all pairs similarity
//! search*, 2007). So only those prefixes are indexed and looked up, and the candidates are
//! compared exactly.

use crivo::hash::TableSecret;
use crivo::similarity::jaccard::at_least;
use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::parallel::deal;
use crate::sets::SetCollection;

/// The number of sets that a thread takes at once.
const SETS_AT_ONCE: usize = 64;

/// Returns every pair of sets with at least this similarity, ascending: the two sets and their
/// similarity.
///
/// # Errors
/// If the threshold is not above 0 and at most 1.
pub fn all_similar_sets(sets: &SetCollection, threshold: f64) -> Result<Vec<(u32, u32, f64)>> {
    if !(threshold > 0.0 && threshold <= 1.0) {
        return Err(Error::setting("threshold", "above 0 and at most 1", threshold));
    }
    let prefixes = Prefixes::new(sets, threshold);
    let found = deal(
        sets.threads(),
        sets.len().div_ceil(SETS_AT_ONCE),
        || (Vec::new(), vec![u32::MAX; sets.len()]),
        |(found, met), task| {
            let first = task * SETS_AT_ONCE;
            for set in first..sets.len().min(first + SETS_AT_ONCE) {
                prefixes.partners(sets, set as u32, threshold, met, found);
            }
            Ok(())
        },
    )?;
    let mut pairs: Vec<_> = found.into_iter().flat_map(|(found, _)| found).collect();
    pairs.sort_unstable_by_key(|&(one, other, _)| (one, other));
    Ok(pairs)
}

/// The prefix of each set in the global order, and for each item the sets that have it in their
/// prefix.
struct Prefixes {
    prefixes: Vec<Vec<u64>>,
    holders: HashMap<u64, Vec<u32>, TableSecret>,
}

impl Prefixes {
    fn new(sets: &SetCollection, threshold: f64) -> Self {
        let all = || (0..sets.len() as u32).map(|set| sets.set(set));
        let mut frequencies: HashMap<u64, u32, TableSecret> = HashMap::default();
        all().flatten().for_each(|&item| *frequencies.entry(item).or_insert(0) += 1);
        let frequency = |item: u64| frequencies.get(&item).copied().unwrap_or(0);
        let prefixes: Vec<Vec<u64>> = all()
            .map(|items| {
                let mut items = items.to_vec();
                let length = prefix_length(items.len(), threshold);
                let order = |&item: &u64| (frequency(item), item);
                if length < items.len() {
                    items.select_nth_unstable_by_key(length, order);
                    items.truncate(length);
                }
                items
            })
            .collect();
        let mut holders: HashMap<u64, Vec<u32>, TableSecret> = HashMap::default();
        for (prefix, set) in prefixes.iter().zip(0..) {
            prefix.iter().for_each(|&item| holders.entry(item).or_default().push(set));
        }
        Self { prefixes, holders }
    }

    /// Finds the pairs of a set with later sets. `met` has for each set the last set it was
    /// compared with.
    fn partners(
        &self,
        sets: &SetCollection,
        set: u32,
        threshold: f64,
        met: &mut [u32],
        found: &mut Vec<(u32, u32, f64)>,
    ) {
        let own = sets.set(set);
        for item in &self.prefixes[set as usize] {
            let holders = self.holders.get(item).map_or(&[][..], Vec::as_slice);
            let after = holders.partition_point(|&other| other <= set);
            for &other in &holders[after..] {
                if std::mem::replace(&mut met[other as usize], set) != set
                    && let Some(similarity) = at_least(own, sets.set(other), threshold)
                {
                    found.push((set, other, similarity));
                }
            }
        }
    }
}

/// Returns the length of the prefix, rarest items first, in which two similar sets must share an
/// item. Rounding makes it longer, never shorter.
fn prefix_length(size: usize, threshold: f64) -> usize {
    let needed = ((size as f64) * threshold * (1.0 - 1e-12)).ceil() as usize;
    (size - needed.min(size) + 1).min(size)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sets::SetBuilder;

    proptest! {
        #[test]
        fn no_pair_is_missed_and_none_invented(
            rows in proptest::collection::vec((0_u8..25, 0_u64..12), 0..200),
            threshold in prop::sample::select(vec![0.1, 0.3, 0.5, 2.0 / 3.0, 0.8, 1.0]),
        ) {
            let mut builder = SetBuilder::default();
            for (place, (set, item)) in rows.iter().enumerate() {
                builder.insert(place as u64, &[*set], *item).unwrap();
            }
            let sets = SetCollection::new(vec![builder], 2).unwrap();
            let mut expected = Vec::new();
            for one in 0..sets.len() as u32 {
                for other in one + 1..sets.len() as u32 {
                    let common = sets.set(one).iter().filter(|item| sets.set(other).contains(item)).count();
                    let union = sets.set(one).len() + sets.set(other).len() - common;
                    let similarity = common as f64 / union as f64;
                    if similarity >= threshold {
                        expected.push((one, other, similarity));
                    }
                }
            }
            prop_assert_eq!(all_similar_sets(&sets, threshold).unwrap(), expected);
        }
    }

    #[test]
    fn thresholds_out_of_range_are_refused() {
        let sets = SetCollection::new(Vec::new(), 1).unwrap();
        for threshold in [0.0, -1.0, 1.5, f64::NAN] {
            assert!(all_similar_sets(&sets, threshold).unwrap_err().to_string().contains("above 0"));
        }
    }
}
