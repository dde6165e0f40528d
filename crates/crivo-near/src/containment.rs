//! Candidates for containment: pairs whose shorter member may be contained in the longer one.
//!
//! A page and the same page with comments have little in common as a share of both. So signatures,
//! which estimate the Jaccard similarity, do not find such pairs. The shingles themselves do. All
//! shingles of each member are written to disk, and those with the smallest hashes are its
//! *probes*. Each probe of the shorter member is a shingle of the longer one with probability `c`,
//! the containment.
//!
//! A pair is a candidate if [`NEEDED`] probes match. The number of probes is chosen so that a pair
//! at the threshold is missed with a probability of at most 10⁻⁴. If a member has fewer shingles
//! than that number, every shingle is a probe and one match is enough. So no pair of such a member
//! is missed. The number of missed pairs is [estimated](crate::missed) from these probabilities, as
//! it is for signatures.
//!
//! If more than [`LARGEST_BUCKET`] members have a shingle, it is looked up only in the longest
//! [`LONGEST`] of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::candidates::{Candidates, LARGEST_BUCKET, PairKey, members_of, pair_key, pair_partition};
use crate::components::Components;
use crate::contents::Twins;
use crate::error::Result;
use crate::parallel::deal;
use crate::places::Places;
use crate::settings::Settings;
use crate::sign::BandKey;
use crate::spill::{GroupPiece, Order, PARTITIONS, Partitions, Spill, Writer};

/// The number of probes that must match, if a member has the full number of probes.
const NEEDED: u8 = 3;
/// The fewest probes of a member, for high thresholds.
const FEWEST: usize = 8;
/// The most probes of a member, for low thresholds.
const MOST: usize = 64;
/// The greatest probability with which a pair at the threshold may be missed, if its shorter member
/// has the full number of probes.
const MOST_MISSED: f64 = 1e-4;
/// The number of the longest members of a very large bucket in which its shingle is looked up.
const LONGEST: usize = 64;
/// The bits of a key that hold the weight of a probe, or 0 if the shingle is not a probe.
const WORTH: u64 = 3;

/// Returns the shorter of two members, or the later one of equally long members.
pub(crate) fn shorter_of(one: u32, other: u32, lengths: &[u32]) -> u32 {
    let key = |member: u32| (lengths[member as usize], u32::MAX - member);
    if key(one) < key(other) { one } else { other }
}

/// The number of probes of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Probes(usize);

impl Probes {
    /// Returns the number of probes for pairs of at least this containment.
    pub(crate) fn for_threshold(threshold: f64) -> Self {
        let enough = |&probes: &usize| 1.0 - enough_meet(probes, threshold) <= MOST_MISSED;
        Self((FEWEST..MOST).find(enough).unwrap_or(MOST))
    }

    /// Makes the keys of a member from its shingles, which may repeat and are in no order.
    pub(crate) fn keys(self, shingles: &[u64], keys: &mut Vec<u64>) {
        keys.clear();
        keys.extend(shingles.iter().map(|shingle| shingle & !WORTH));
        keys.sort_unstable();
        keys.dedup();
        let worth = if keys.len() < self.0 { NEEDED } else { 1 };
        keys.iter_mut().take(self.0).for_each(|key| *key |= u64::from(worth));
    }

    /// Returns the probability that a pair is a candidate, given its containment and the number of
    /// shingles of the shorter member. Probes are drawn without replacement, so the true
    /// probability is a little higher if they are most of the shingles.
    pub(crate) fn probability(self, containment: f64, shingles: u32) -> f64 {
        if (shingles as usize) < self.0 { 1.0 } else { enough_meet(self.0, containment) }
    }
}

/// Returns the probability that at least [`NEEDED`] of a number of probes match.
fn enough_meet(probes: usize, containment: f64) -> f64 {
    let miss = 1.0 - containment;
    let none = miss.powi(probes as i32);
    let n = probes as f64;
    let one = n * containment * miss.powi(probes as i32 - 1);
    let two = n * (n - 1.0) / 2.0 * containment.powi(2) * miss.powi(probes as i32 - 2);
    (1.0 - none - one - two).max(0.0)
}

/// The data of the members that the search for candidates needs.
pub(crate) struct Members<'a> {
    pub(crate) places: &'a Places,
    pub(crate) twins: &'a Twins,
    pub(crate) lengths: &'a [u32],
}

/// Finds all candidate pairs. `advance` gets the number of finished partitions after each one, and
/// may stop the search with an error.
pub(crate) fn candidates(
    keys: &Partitions<BandKey>,
    members: &Members<'_>,
    settings: &Settings,
    room: u64,
    spill: &Arc<Spill>,
    advance: &(dyn Fn(u64) -> Result<()> + Sync),
) -> Result<Candidates> {
    let threads = settings.thread_count();
    let each = room / threads as u64;
    let done = AtomicU64::new(0);
    let limited: Vec<AtomicU8> = (0..members.places.len()).map(|_| AtomicU8::new(0)).collect();
    let largest = if settings.all_pairs { usize::MAX } else { LARGEST_BUCKET };
    let make = || Meetings {
        writer: Writer::new(spill, PARTITIONS, each / 4, Order::Sorted),
        members,
        limited: &limited,
        largest,
        bucket: Vec::new(),
        records: Vec::new(),
    };
    let workers = deal(threads, keys.count(), make, |meetings, partition| {
        let mut records = std::mem::take(&mut meetings.records);
        let shingle = |record: &BandKey| record.0 & !WORTH;
        keys.for_each_group(partition, each / 2, &mut records, shingle, |bucket| {
            meetings.take_bucket(&bucket)
        })?;
        meetings.records = records;
        advance(done.fetch_add(1, Ordering::Relaxed) + 1)
    })?;
    let met = Partitions::new(PARTITIONS, workers.into_iter().map(|worker| worker.writer).collect());
    let components = Components::new(members.places.len());
    let make = || (Writer::new(spill, PARTITIONS, each / 8, Order::Any), Vec::new());
    let writers = deal(threads, met.count(), make, |(writer, buffer), partition| {
        let mut run: (Option<PairKey>, u8) = (None, 0);
        met.for_each_sorted(partition, each / 4, buffer, |pair| {
            run = if run.0 == Some(pair) { (run.0, run.1.saturating_add(1)) } else { (Some(pair), 1) };
            if run.1 == NEEDED {
                let (one, other) = members_of(pair);
                components.join(one, other);
                writer.push(partition, pair)?;
            }
            Ok(())
        })
    })?;
    let roots = components.into_roots();
    let probes = Probes::for_threshold(settings.threshold).0;
    let is_limited = |count: &AtomicU8| usize::from(count.load(Ordering::Relaxed)) * 2 > probes;
    let mut crowded: Vec<u32> =
        limited.iter().zip(&roots).filter(|(count, _)| is_limited(count)).map(|(_, &root)| root).collect();
    crowded.sort_unstable();
    crowded.dedup();
    let writers = writers.into_iter().map(|(writer, _)| writer).collect();
    Ok(Candidates { pairs: Partitions::new(PARTITIONS, writers), roots, crowded })
}

/// Writes the pairs with matching probes of one thread. A pair is written once for each unit of
/// weight.
struct Meetings<'a> {
    writer: Writer<PairKey>,
    members: &'a Members<'a>,
    /// For each member, the total weight of its probes that were not looked up in all members.
    limited: &'a [AtomicU8],
    largest: usize,
    // Buffers that are reused for each bucket.
    bucket: Vec<(u32, u8)>,
    records: Vec<BandKey>,
}

impl Meetings<'_> {
    /// Collects the members with a shingle, and writes their pairs when they are complete.
    fn take_bucket(&mut self, piece: &GroupPiece<'_, BandKey>) -> Result<()> {
        if piece.is_single() {
            return Ok(());
        }
        if piece.begins {
            self.bucket.clear();
        }
        let Members { places, twins, .. } = *self.members;
        let mut near = 0;
        self.bucket.extend(piece.records.iter().filter_map(|&(key, place)| {
            let number = places.number_near(place, &mut near)?;
            Some((twins.first(number), (key & WORTH) as u8))
        }));
        if piece.ends { self.put_bucket() } else { Ok(()) }
    }

    /// Writes the pairs of collected contents whose shorter member has a probe that is a shingle of
    /// the longer one.
    fn put_bucket(&mut self) -> Result<()> {
        let mut bucket = std::mem::take(&mut self.bucket);
        let Members { places, lengths, .. } = *self.members;
        // The longest members come first, and one member of each content remains.
        bucket.sort_unstable_by_key(|&(member, _)| (u32::MAX - lengths[member as usize], member));
        bucket.dedup_by_key(|(member, _)| *member);
        let longest = if bucket.len() <= self.largest { bucket.len() } else { LONGEST };
        for (at, &(shorter, worth)) in bucket.iter().enumerate().skip(1).filter(|(_, (_, worth))| *worth > 0)
        {
            if at > longest {
                let add = |count: u8| Some(count.saturating_add(worth));
                // The update function always returns a value, so this cannot fail.
                let _ =
                    self.limited[shorter as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
            }
            for &(longer, _) in &bucket[..at.min(longest)] {
                let pair = pair_key(shorter, longer);
                let partition = pair_partition(pair, places.len());
                (0..worth).try_for_each(|_| self.writer.push(partition, pair))?;
            }
        }
        self.bucket = bucket;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_at_the_threshold_are_rarely_missed() {
        for threshold in [0.5, 0.6, 0.7, 0.8, 0.9, 1.0] {
            let probes = Probes::for_threshold(threshold);
            assert!(1.0 - probes.probability(threshold, 100_000) <= MOST_MISSED, "{threshold}: {probes:?}");
            assert!(probes.0 < MOST, "{threshold}");
        }
    }

    #[test]
    fn keys_are_the_shingles_each_once_and_the_smallest_are_probes() {
        let mut keys = Vec::new();
        Probes(9).keys(&(0..40).rev().map(|n| n * 0x100).chain([0x100]).collect::<Vec<_>>(), &mut keys);
        assert_eq!(keys.len(), 40);
        assert!(keys[..9].iter().all(|key| key & WORTH == 1) && keys[9..].iter().all(|key| key & WORTH == 0));
        Probes(9).keys(&[0x100, 0x200], &mut keys);
        assert_eq!(keys, [0x103, 0x203]);
        assert_eq!(Probes(9).probability(0.5, 8), 1.0);
    }

    #[test]
    fn of_equally_long_members_the_later_is_the_shorter() {
        assert_eq!(shorter_of(0, 1, &[5, 5]), 1);
        assert_eq!(shorter_of(1, 0, &[4, 5]), 0);
    }
}
