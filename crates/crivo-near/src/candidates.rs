//! Turns band keys into candidate pairs: members that share a key, each pair once.
//!
//! # Very large buckets
//!
//! A bucket of `n` members has `n(n − 1)/2` pairs. Up to [`LARGEST_BUCKET`] members, all of them
//! are candidates. In a larger bucket only the pairs of its first member are. So the
//! near-duplicates of that member are found, in time and memory that grow with `n` and not with its
//! square. The number of pairs that are missed is [estimated](crate::crowd). With
//! [`Settings::all_pairs`] none are.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crivo::hash::{index, remix};

use crate::components::Components;
use crate::contents::Twins;
use crate::error::Result;
use crate::parallel::deal;
use crate::places::Places;
use crate::settings::Settings;
use crate::sign::BandKey;
use crate::spill::{GroupPiece, Order, PARTITIONS, Partitions, Spill, Writer};

/// The most members of a bucket that are compared each with each.
pub const LARGEST_BUCKET: usize = 500;

/// Two members; the smaller is in the high half.
pub(crate) type PairKey = u64;

pub(crate) fn pair_key(one: u32, other: u32) -> PairKey {
    u64::from(one.min(other)) << 32 | u64::from(one.max(other))
}

pub(crate) fn members_of(pair: PairKey) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// Returns the partition of a pair. It ascends with the first member, so that consecutive
/// partitions have the pairs in order.
pub(crate) fn pair_partition(pair: PairKey, members: u32) -> usize {
    ((pair >> 32) * PARTITIONS as u64 / u64::from(members).max(1)) as usize
}

/// The candidates of a collection.
pub(crate) struct Candidates {
    /// The pairs, partitioned by their first member. A pair may repeat.
    pub(crate) pairs: Partitions<PairKey>,
    /// For each member the root of its component, which is the component's smallest member.
    pub(crate) roots: Vec<u32>,
    /// The roots of components with a bucket whose pairs are not all candidates, ascending.
    pub(crate) crowded: Vec<u32>,
}

/// Finds all candidate pairs. `advance` gets the number of finished partitions after each one, and
/// may stop the search with an error.
pub(crate) fn candidates(
    keys: &Partitions<BandKey>,
    places: &Places,
    twins: &Twins,
    settings: &Settings,
    room: u64,
    spill: &Arc<Spill>,
    advance: &(dyn Fn(u64) -> Result<()> + Sync),
) -> Result<Candidates> {
    let done = AtomicU64::new(0);
    let threads = settings.thread_count();
    let each = room / threads as u64;
    let components = Components::new(places.len());
    let workers = deal(
        threads,
        keys.count(),
        || PairWriter::new(spill, each / 2, settings, &components, places.len()),
        |pairs, partition| {
            let mut records = std::mem::take(&mut pairs.records);
            let key = |record: &BandKey| record.0;
            keys.for_each_group(partition, each / 2, &mut records, key, |bucket| {
                pairs.take_bucket(&bucket, places, twins)
            })?;
            pairs.records = records;
            advance(done.fetch_add(1, Ordering::Relaxed) + 1)
        },
    )?;
    let mut crowded = Vec::new();
    let mut writers = Vec::with_capacity(workers.len());
    for worker in workers {
        crowded.extend(worker.crowded);
        writers.push(worker.writer);
    }
    let roots = components.into_roots();
    crowded.iter_mut().for_each(|member| *member = roots[*member as usize]);
    crowded.sort_unstable();
    crowded.dedup();
    Ok(Candidates { pairs: Partitions::new(PARTITIONS, writers), roots, crowded })
}

/// Writes the pairs of one thread. Very similar members share many bands, so the same pair comes
/// often. A recent pair that comes again is dropped at once, other repetitions when all pairs are
/// sorted.
struct PairWriter<'a> {
    writer: Writer<PairKey>,
    components: &'a Components,
    /// The first member of each bucket whose pairs were not all written.
    crowded: Vec<u32>,
    largest: usize,
    members: u32,
    lately: Vec<PairKey>,
    // Buffers that are reused for each bucket.
    bucket: Vec<u32>,
    records: Vec<BandKey>,
}

/// The number of recent pairs that are remembered: half a megabyte.
const LATELY: usize = 1 << 16;

impl<'a> PairWriter<'a> {
    fn new(
        spill: &Arc<Spill>,
        memory: u64,
        settings: &Settings,
        components: &'a Components,
        members: u32,
    ) -> Self {
        Self {
            writer: Writer::new(spill, PARTITIONS, memory, Order::Once),
            components,
            crowded: Vec::new(),
            largest: if settings.all_pairs { usize::MAX } else { LARGEST_BUCKET },
            members,
            // 0 marks an empty slot: no pair has this key, because a member is never paired with
            // itself.
            lately: vec![0; LATELY],
            bucket: Vec::new(),
            records: Vec::new(),
        }
    }

    /// Collects the contents that share a key, and writes their pairs when they are complete.
    fn take_bucket(&mut self, piece: &GroupPiece<'_, BandKey>, places: &Places, twins: &Twins) -> Result<()> {
        if piece.is_single() {
            return Ok(());
        }
        if piece.begins {
            self.bucket.clear();
        }
        let mut near = 0;
        let numbers = piece.records.iter().filter_map(|&(_, place)| places.number_near(place, &mut near));
        self.bucket.extend(numbers.map(|number| twins.first(number)));
        if piece.ends { self.put_bucket() } else { Ok(()) }
    }

    /// Writes the pairs of the collected contents.
    fn put_bucket(&mut self) -> Result<()> {
        let mut members = std::mem::take(&mut self.bucket);
        members.sort_unstable();
        members.dedup();
        if let [first, others @ ..] = members.as_slice() {
            others.iter().for_each(|&other| self.components.join(*first, other));
            if members.len() > self.largest && self.crowded.last() != Some(first) {
                self.crowded.push(*first);
            }
        }
        let centres = if members.len() <= self.largest { members.len() } else { 1 };
        for (at, &one) in members.iter().enumerate().take(centres) {
            for &other in &members[at + 1..] {
                self.put(pair_key(one, other))?;
            }
        }
        self.bucket = members;
        Ok(())
    }

    fn put(&mut self, pair: PairKey) -> Result<()> {
        let slot = index(remix(pair, 1), LATELY as u64) as usize;
        if std::mem::replace(&mut self.lately[slot], pair) == pair {
            return Ok(());
        }
        self.writer.push(pair_partition(pair, self.members), pair)
    }
}
