//! Builds sets from relations: the users of a list of ratings, each with the films they saw.
//!
//! Rows `set, item` come in any order, but most files have the rows of a set next to each other. So
//! a builder stores runs: the items of consecutive rows of one set. A set with a single run is
//! sorted in place; only sets with several runs are copied.

use std::sync::{Mutex, PoisonError};

use crivo::hash::TableSecret;
use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_128;

use crate::error::{Error, Result};
use crate::parallel::{deal, on_threads};
use crate::sorter::Sorter;
use crate::source::{Member, Source};

/// The number of sets that a thread takes at once.
const SETS_AT_ONCE: usize = 128;

/// Collects the rows that one thread reads.
#[derive(Debug, Default)]
pub struct SetBuilder {
    names: Names,
    /// The place of the first row of each set.
    places: Vec<u64>,
    /// The hashes of the items, in the order of the rows.
    items: Vec<u64>,
    /// For each run, the number of its set and the end of its items.
    runs: Vec<(u32, usize)>,
}

/// The distinct names of sets, one after the other.
#[derive(Debug, Default)]
struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    table: HashTable<u32>,
    secret: TableSecret,
}

impl Names {
    fn get(&self, set: u32) -> &[u8] {
        name_at(&self.bytes, &self.ends, set)
    }

    /// Returns the number of a name, and whether the name is new.
    fn number(&mut self, name: &[u8]) -> Result<(u32, bool)> {
        let new = u32::try_from(self.ends.len()).map_err(|_| Error::TooMany)?;
        let Self { bytes, ends, table, secret } = self;
        let found = *table
            .entry(
                secret.hash(name),
                |&set| name_at(bytes, ends, set) == name,
                |&set| secret.hash(name_at(bytes, ends, set)),
            )
            .or_insert(new)
            .get();
        if found == new {
            self.bytes.extend_from_slice(name);
            self.ends.push(self.bytes.len());
        }
        Ok((found, found == new))
    }
}

fn name_at<'a>(bytes: &'a [u8], ends: &[usize], set: u32) -> &'a [u8] {
    let set = set as usize;
    let start = if set == 0 { 0 } else { ends[set - 1] };
    &bytes[start..ends[set]]
}

impl SetBuilder {
    /// Adds a row: its place (ascending in the order of the input), the set's name, and the item's
    /// hash.
    ///
    /// # Errors
    /// If there are more than 2^32 − 1 sets.
    #[inline]
    pub fn insert(&mut self, place: u64, set: &[u8], item: u64) -> Result<()> {
        match self.runs.last() {
            Some(&(last, _)) if self.names.get(last) == set => {}
            _ => self.begin(place, set)?,
        }
        self.items.push(item);
        if let Some((_, end)) = self.runs.last_mut() {
            *end = self.items.len();
        }
        Ok(())
    }

    fn begin(&mut self, place: u64, set: &[u8]) -> Result<()> {
        let (number, new) = self.names.number(set)?;
        if new {
            self.places.push(place);
        } else if let Some(first) = self.places.get_mut(number as usize) {
            *first = place.min(*first);
        }
        self.runs.push((number, self.items.len()));
        Ok(())
    }
}

/// The position of a set: the arena, the first item and the number of items.
#[derive(Debug, Clone, Copy, Default)]
struct Lies {
    arena: u32,
    start: usize,
    len: usize,
}

/// Sets with names, in the order in which they first appeared.
#[derive(Debug)]
pub struct SetCollection {
    arenas: Vec<Vec<u64>>,
    sets: Vec<Lies>,
    fingerprints: Vec<u128>,
    names: Vec<(u32, u32)>,
    builders: Vec<Names>,
    threads: usize,
}

impl SetCollection {
    /// Merges the rows that the threads collected.
    ///
    /// # Errors
    /// If there are more than 2^32 − 1 sets.
    pub fn new(builders: Vec<SetBuilder>, threads: usize) -> Result<Self> {
        let Numbering { numbers, names } = Numbering::new(&builders)?;
        let mut runs_of = vec![0_u32; names.len()];
        let all_runs = || {
            builders.iter().zip(&numbers).zip(0_u32..).flat_map(|((builder, numbers), arena)| {
                let starts = std::iter::once(0).chain(builder.runs.iter().map(|run| run.1));
                builder.runs.iter().zip(starts).map(move |(&(set, end), start)| {
                    (numbers[set as usize], Lies { arena, start, len: end - start })
                })
            })
        };
        all_runs().for_each(|(set, _)| runs_of[set as usize] += 1);

        // Sets with several runs get an arena of their own.
        let extra = builders.len() as u32;
        let mut sets = vec![Lies::default(); names.len()];
        for (set, run) in all_runs() {
            let place = &mut sets[set as usize];
            if runs_of[set as usize] == 1 {
                *place = run;
            } else {
                place.arena = extra;
                place.len += run.len;
            }
        }
        let mut total = 0;
        for place in sets.iter_mut().filter(|place| place.arena == extra) {
            place.start = total;
            total += std::mem::take(&mut place.len);
        }
        let mut gathered = vec![0; total];
        for (set, run) in all_runs().filter(|(set, _)| runs_of[*set as usize] > 1) {
            let place = &mut sets[set as usize];
            let from = &builders[run.arena as usize].items[run.start..run.start + run.len];
            gathered[place.start + place.len..][..run.len].copy_from_slice(from);
            place.len += run.len;
        }
        let mut arenas = Vec::with_capacity(builders.len() + 1);
        let mut kept = Vec::with_capacity(builders.len());
        for builder in builders {
            arenas.push(builder.items);
            kept.push(builder.names);
        }
        arenas.push(gathered);
        let fingerprints = sort_sets(&mut arenas, &mut sets, threads);
        Ok(Self { arenas, sets, fingerprints, names, builders: kept, threads: threads.max(1) })
    }

    /// Returns the number of sets.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Returns true if there is no set.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Returns the name of a set.
    pub fn name(&self, set: u32) -> &[u8] {
        let (builder, number) = self.names[set as usize];
        self.builders[builder as usize].get(number)
    }

    /// Returns the hashes of a set's items, ascending, each once.
    pub fn set(&self, set: u32) -> &[u64] {
        let Lies { arena, start, len } = self.sets[set as usize];
        &self.arenas[arena as usize][start..start + len]
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads
    }
}

/// The numbers of sets in order of first appearance.
struct Numbering {
    /// For each builder, the numbers of its sets.
    numbers: Vec<Vec<u32>>,
    /// For each number, a builder and its set that has the name.
    names: Vec<(u32, u32)>,
}

impl Numbering {
    fn new(builders: &[SetBuilder]) -> Result<Self> {
        let mut all = Names::default();
        let mut first: Vec<(u64, u32, u32)> = Vec::new();
        let mut numbers = Vec::with_capacity(builders.len());
        for (builder, number) in builders.iter().zip(0_u32..) {
            let mut own = Vec::with_capacity(builder.places.len());
            for (&place, set) in builder.places.iter().zip(0_u32..) {
                let (found, new) = all.number(builder.names.get(set))?;
                if new {
                    first.push((place, number, set));
                } else {
                    let known = &mut first[found as usize];
                    known.0 = known.0.min(place);
                }
                own.push(found);
            }
            numbers.push(own);
        }
        let mut order: Vec<u32> = (0..first.len() as u32).collect();
        order.sort_unstable_by_key(|&set| first[set as usize].0);
        let mut rank = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&set, place)| rank[set as usize] = place);
        numbers.iter_mut().flatten().for_each(|number| *number = rank[*number as usize]);
        let names = order.iter().map(|&set| (first[set as usize].1, first[set as usize].2)).collect();
        Ok(Self { numbers, names })
    }
}

/// Sorts every set in place, removes repeated items, and computes its fingerprint.
fn sort_sets(arenas: &mut [Vec<u64>], sets: &mut [Lies], threads: usize) -> Vec<u128> {
    let mut order: Vec<usize> = (0..sets.len()).collect();
    order.sort_unstable_by_key(|&set| (sets[set].arena, sets[set].start));
    let mut rest: Vec<(usize, &mut [u64])> =
        arenas.iter_mut().map(|arena| (0, arena.as_mut_slice())).collect();
    let mut slices: Vec<(usize, &mut [u64])> = Vec::with_capacity(sets.len());
    for set in order {
        let Lies { arena, start, len } = sets[set];
        let (at, arena) = &mut rest[arena as usize];
        let (_, after) = std::mem::take(arena).split_at_mut(start - *at);
        let (own, after) = after.split_at_mut(len);
        *arena = after;
        *at = start + len;
        slices.push((set, own));
    }
    let queue = Mutex::new(slices.chunks_mut(SETS_AT_ONCE));
    let work = || {
        let mut done = Vec::new();
        let mut bytes = Vec::new();
        let mut sorter = Sorter::default();
        loop {
            let Some(chunk) = queue.lock().unwrap_or_else(PoisonError::into_inner).next() else {
                return done;
            };
            for (set, items) in chunk {
                let len = sorter.sort_once(items);
                bytes.clear();
                items[..len].iter().for_each(|item| bytes.extend_from_slice(&item.to_le_bytes()));
                done.push((*set, len, xxh3_128(&bytes)));
            }
        }
    };
    let done = on_threads(threads, work).into_iter().flatten();
    let mut fingerprints = vec![0; sets.len()];
    for (set, len, fingerprint) in done {
        sets[set].len = len;
        fingerprints[set] = fingerprint;
    }
    fingerprints
}

impl Source for SetCollection {
    fn read<S: Send>(
        &self,
        make: &(dyn Fn() -> S + Sync),
        wants: &(dyn Fn(&mut S, u64) -> bool + Sync),
        take: &(dyn Fn(&mut S, Member<'_>) -> Result<()> + Sync),
    ) -> Result<Vec<S>> {
        deal(self.threads, self.len().div_ceil(SETS_AT_ONCE), make, |state, task| {
            let first = task * SETS_AT_ONCE;
            for set in first..self.len().min(first + SETS_AT_ONCE) {
                if wants(state, set as u64) {
                    let hashes = self.set(set as u32);
                    let length = u32::try_from(hashes.len()).unwrap_or(u32::MAX);
                    let fingerprint = self.fingerprints[set];
                    let place = set as u64;
                    take(state, Member { place, hashes, is_continued: false, fingerprint, length })?;
                }
            }
            Ok(())
        })
    }

    fn is_in_memory(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sets_are_those_of_the_rows(
            rows in proptest::collection::vec((0_u8..20, 0_u64..30), 0..300),
            parts in 1_usize..4,
        ) {
            let mut truth: BTreeMap<Vec<u8>, (usize, BTreeSet<u64>)> = BTreeMap::new();
            let mut builders: Vec<SetBuilder> = (0..parts).map(|_| SetBuilder::default()).collect();
            for (place, &(set, item)) in rows.iter().enumerate() {
                let name = format!("set {set}").into_bytes();
                builders[place * 7 % parts].insert(place as u64, &name, item).unwrap();
                truth.entry(name).or_insert((place, BTreeSet::new())).1.insert(item);
            }
            let sets = SetCollection::new(builders, 2).unwrap();
            let mut expected: Vec<_> = truth.into_iter().collect();
            expected.sort_by_key(|(_, (place, _))| *place);
            prop_assert_eq!(sets.len(), expected.len());
            for ((name, (_, items)), set) in expected.into_iter().zip(0..) {
                prop_assert_eq!(sets.name(set), &name[..]);
                prop_assert_eq!(sets.set(set).to_vec(), items.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
