//! A second pass that counts some keys exactly.

use anyhow::Result;
use crivo::hash::TableSecret;
use crivo::keys::{KeyRef, KeyScheme, OwnedKey};
use crivo_rows::Counts;
use hashbrown::HashMap;

use crate::numbers;
use crate::output::Output;
use crate::pass::Pass;

/// One thread's counts, and the weights of its batch.
struct ThreadCounts {
    counts: Vec<u64>,
    weights: Vec<u64>,
    bad: u64,
}

/// Finds a key's place among the keys. An attacker may choose keys that share a hash, so keys of
/// the same hash are found by binary search. Tables with a secret keep different hashes apart.
struct Places {
    /// The places of keys. Those of one hash are consecutive, in the order of the keys.
    ordered: Vec<usize>,
    /// The start and the end of each hash in `ordered`.
    by_hash: HashMap<u64, (usize, usize), TableSecret>,
}

impl Places {
    fn new(keys: &[(u64, OwnedKey)]) -> Self {
        let mut ordered: Vec<usize> = (0..keys.len()).collect();
        ordered.sort_unstable_by_key(|&place| (keys[place].0, keys[place].1.as_ref()));
        let mut by_hash = HashMap::default();
        let mut start = 0;
        for same in ordered.chunk_by(|&one, &other| keys[one].0 == keys[other].0) {
            by_hash.insert(keys[same[0]].0, (start, start + same.len()));
            start += same.len();
        }
        Self { ordered, by_hash }
    }

    fn find(&self, keys: &[(u64, OwnedKey)], key: KeyRef<'_>, hash: u64) -> Option<usize> {
        let &(start, end) = self.by_hash.get(&hash)?;
        let same = &self.ordered[start..end];
        same.binary_search_by(|&place| keys[place].1.as_ref().cmp(&key)).ok().map(|at| same[at])
    }
}

/// Returns how often each of the keys occurs, in their order, with the weights in column 1 if
/// `weighted`.
pub(super) fn recount(
    pass: &Pass,
    scheme: KeyScheme,
    keys: impl Iterator<Item = OwnedKey>,
    weighted: bool,
    out: &Output,
) -> Result<(Vec<u64>, Counts)> {
    let keys = keys.map(|key| Ok((scheme.hash_ref(key.as_ref())?, key))).collect::<Result<Vec<_>>>()?;
    let places = Places::new(&keys);
    let find = |key: KeyRef<'_>, hash: u64| places.find(&keys, key, hash);
    let (part, mut counts) = pass.fold(
        scheme,
        out,
        || ThreadCounts { counts: vec![0; keys.len()], weights: Vec::new(), bad: 0 },
        |part, batch| {
            let ThreadCounts { counts, weights, bad } = part;
            if !weighted {
                for (key, hash) in batch.keys(0)?.iter() {
                    if let Some(place) = find(key, hash) {
                        counts[place] += 1;
                    }
                }
                return Ok(());
            }
            weights.clear();
            // An invalid weight ended the first pass, or was counted as bad there and is counted
            // here.
            for text in batch.column(1).iter() {
                let weight = text.map_or(Some(0), numbers::whole);
                *bad += u64::from(weight.is_none());
                weights.push(weight.unwrap_or(0));
            }
            let found = batch.keys_with_rows(0)?;
            for ((key, hash), &row) in found.keys.iter().zip(found.rows) {
                if let Some(place) = find(key, hash) {
                    counts[place] = counts[place].saturating_add(weights[row as usize]);
                }
            }
            Ok(())
        },
        |part, other| {
            part.bad += other.bad;
            part.counts.iter_mut().zip(other.counts).for_each(|(mine, theirs)| *mine += theirs);
            Ok(())
        },
    )?;
    counts.rows = counts.rows.saturating_sub(part.bad);
    counts.bad += part.bad;
    Ok((part.counts, counts))
}
