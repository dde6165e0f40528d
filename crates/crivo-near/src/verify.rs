//! The second reading: candidates are compared as the sets they are.
//!
//! The sets of the candidates are made again, because they take more room than the texts. Pairs come in
//! order of their first member, and as many of them as have room for their sets are compared
//! after one reading; usually that is all of them.

use crivo::similarity::jaccard::at_least;

use crate::candidates::{PairKey, members_of};
use crate::error::{Error, Result};
use crate::parallel::deal;
use crate::settings::Settings;
use crate::sign::Signed;
use crate::sorter::Sorter;
use crate::source::{Member, Source};
use crate::spill::{PARTITIONS, Partitions};

/// How many pairs a thread compares at once.
const PAIRS_AT_ONCE: usize = 4096;

/// A pair at or above the threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) pair: PairKey,
    pub(crate) similarity: f64,
}

/// Compares every candidate pair and hands those at or above the threshold to `found`, in order.
pub(crate) fn verify(
    source: &impl Source,
    signed: &Signed,
    candidates: &Partitions<PairKey>,
    settings: &Settings,
    mut found: impl FnMut(Found) -> Result<()>,
) -> Result<u64> {
    let mut batch = Batch::new(signed, settings);
    let mut compared = 0;
    let mut pairs = Vec::new();
    for partition in 0..PARTITIONS {
        candidates.sorted(partition, |_| true, &mut pairs)?;
        pairs.dedup();
        compared += pairs.len() as u64;
        for &pair in &pairs {
            if !batch.has_room_for(pair) {
                batch.compare(source, &mut found)?;
            }
            batch.push(pair);
        }
    }
    batch.compare(source, &mut found)?;
    Ok(compared)
}

/// Pairs that wait to be compared, and whose sets have room in memory together.
struct Batch<'a> {
    signed: &'a Signed,
    settings: &'a Settings,
    pairs: Vec<PairKey>,
    /// For each member, its place among the wanted ones plus 1, or 0.
    wanted: Vec<u32>,
    members: Vec<u32>,
    bytes: u64,
}

impl<'a> Batch<'a> {
    fn new(signed: &'a Signed, settings: &'a Settings) -> Self {
        let wanted = if settings.fast { Vec::new() } else { vec![0; signed.len()] };
        Self { signed, settings, pairs: Vec::new(), wanted, members: Vec::new(), bytes: 0 }
    }

    /// What a pair adds: its own record, and the sets that are not wanted yet.
    fn cost(&self, pair: PairKey) -> u64 {
        let set = |member: u32| match self.wanted.get(member as usize) {
            Some(0) => u64::from(self.signed.sizes[member as usize]) * 8 + 16,
            _ => 0,
        };
        let (one, other) = members_of(pair);
        8 + set(one) + set(other)
    }

    fn has_room_for(&self, pair: PairKey) -> bool {
        self.pairs.is_empty() || self.bytes + self.cost(pair) <= self.settings.memory / 3
    }

    fn push(&mut self, pair: PairKey) {
        self.bytes += self.cost(pair);
        self.pairs.push(pair);
        let (one, other) = members_of(pair);
        for member in [one, other] {
            if let Some(wanted @ 0) = self.wanted.get_mut(member as usize) {
                self.members.push(member);
                *wanted = self.members.len() as u32;
            }
        }
    }

    fn compare(&mut self, source: &impl Source, found: &mut impl FnMut(Found) -> Result<()>) -> Result<()> {
        if self.settings.fast {
            self.compare_by(
                |one, other| {
                    let similarity = self.signed.signatures.similarity(one, other);
                    (similarity >= self.settings.threshold).then_some(similarity)
                },
                found,
            )?;
        } else if !self.pairs.is_empty() {
            let sets = self.read_sets(source)?;
            let set = |member: u32| sets.of(self.wanted[member as usize]);
            self.compare_by(|one, other| at_least(set(one), set(other), self.settings.threshold), found)?;
        }
        for member in self.members.drain(..) {
            self.wanted[member as usize] = 0;
        }
        self.pairs.clear();
        self.bytes = 0;
        Ok(())
    }

    fn compare_by(
        &self,
        similarity: impl Fn(u32, u32) -> Option<f64> + Sync,
        found: &mut impl FnMut(Found) -> Result<()>,
    ) -> Result<()> {
        let tasks: Vec<&[PairKey]> = self.pairs.chunks(PAIRS_AT_ONCE).collect();
        let threads = self.settings.thread_count();
        let results =
            deal(threads, tasks.len(), Vec::new, |results: &mut Vec<(usize, Vec<Found>)>, task| {
                let alike = |&pair: &PairKey| {
                    let (one, other) = members_of(pair);
                    similarity(one, other).map(|similarity| Found { pair, similarity })
                };
                results.push((task, tasks[task].iter().filter_map(alike).collect()));
                Ok(())
            })?;
        let mut results: Vec<_> = results.into_iter().flatten().collect();
        results.sort_unstable_by_key(|(task, _)| *task);
        results.into_iter().flat_map(|(_, pairs)| pairs).try_for_each(found)
    }

    /// Reads the collection again and makes the sets of the wanted members.
    fn read_sets(&self, source: &impl Source) -> Result<Sets> {
        let wants = |part: &mut SetsPart, place| {
            let number = self.signed.number_at(place, &mut part.last);
            part.wanted = number.map_or(0, |number| self.wanted[number]);
            part.wanted > 0
        };
        let take = |part: &mut SetsPart, member: Member<'_>| {
            part.add(member.hashes);
            Ok(())
        };
        let parts = source.read(&SetsPart::default, &wants, &take)?;
        let found: usize = parts.iter().map(|part| part.sets.len()).sum();
        if found != self.members.len() {
            return Err(Error::Changed);
        }
        let mut places = vec![(0, 0, 0); self.members.len()];
        let mut hashes = Vec::with_capacity(parts.len());
        for (number, part) in parts.into_iter().enumerate() {
            for (wanted, start, len) in part.sets {
                places[wanted as usize - 1] = (number, start, len);
            }
            hashes.push(part.hashes);
        }
        Ok(Sets { hashes, places })
    }
}

/// The sets that one thread made.
#[derive(Default)]
struct SetsPart {
    hashes: Vec<u64>,
    sets: Vec<(u32, usize, usize)>,
    /// The number of the member met last, and its place among the wanted.
    last: usize,
    wanted: u32,
    sorter: Sorter,
}

impl SetsPart {
    /// Adds the set of the member met last, ascending and each hash once.
    fn add(&mut self, hashes: &[u64]) {
        let start = self.hashes.len();
        self.hashes.extend_from_slice(hashes);
        let len = self.sorter.sort_once(&mut self.hashes[start..]);
        self.hashes.truncate(start + len);
        self.sets.push((self.wanted, start, len));
    }
}

struct Sets {
    hashes: Vec<Vec<u64>>,
    places: Vec<(usize, usize, usize)>,
}

impl Sets {
    /// The set of a wanted member.
    fn of(&self, wanted: u32) -> &[u64] {
        match self.places.get((wanted as usize).wrapping_sub(1)) {
            Some(&(part, start, len)) => {
                self.hashes.get(part).map_or(&[], |hashes| &hashes[start..start + len])
            }
            None => &[],
        }
    }
}
