//! A second pass that counts some keys exactly.

use anyhow::Result;
use crivo::keys::{KeyRef, KeyScheme, OwnedKey};
use crivo_rows::Counts;
use hashbrown::HashTable;

use crate::numbers;
use crate::output::Output;
use crate::pass::Pass;

/// One thread's counts, and the weights of its batch.
struct Part {
    counts: Vec<u64>,
    weights: Vec<u64>,
    bad: u64,
}

/// How often each of the keys comes, in their order, with the weights in column 1 if there are any.
pub(super) fn recount(
    pass: &Pass,
    scheme: KeyScheme,
    keys: impl Iterator<Item = OwnedKey>,
    weighted: bool,
    out: &Output,
) -> Result<(Vec<u64>, Counts)> {
    let keys = keys.map(|key| Ok((scheme.hash_ref(key.as_ref())?, key))).collect::<Result<Vec<_>>>()?;
    let mut places: HashTable<usize> = HashTable::with_capacity(keys.len());
    for (place, (hash, _)) in keys.iter().enumerate() {
        places.insert_unique(*hash, place, |&place| keys[place].0);
    }
    let find = |key: KeyRef<'_>, hash: u64| {
        places.find(hash, |&place| keys[place].0 == hash && keys[place].1.as_ref() == key).copied()
    };
    let (part, mut counts) = pass.fold(
        scheme,
        out,
        || Part { counts: vec![0; keys.len()], weights: Vec::new(), bad: 0 },
        |part, batch| {
            let Part { counts, weights, bad } = part;
            if !weighted {
                for (key, hash) in batch.keys(0)?.iter() {
                    if let Some(place) = find(key, hash) {
                        counts[place] += 1;
                    }
                }
                return Ok(());
            }
            weights.clear();
            // What is no weight ended the first pass, or was counted as bad there and is here.
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
