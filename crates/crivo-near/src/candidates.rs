//! From band keys to pairs that may be alike: those who share a key, each pair once.
//!
//! # Very large buckets
//!
//! A bucket of `n` members has `n(n − 1)/2` pairs. Up to [`LARGEST_BUCKET`] members all of them are
//! candidates. Beyond, only those of the first member with each other are: its near-duplicates
//! are found and end in one cluster with it, in time and memory that grow with `n` and not with its
//! square.

use std::sync::Arc;

use crivo::hash::{index, remix};

use crate::error::Result;
use crate::parallel::deal;
use crate::settings::Settings;
use crate::sign::{BandKey, Signed};
use crate::spill::{PARTITIONS, Partitions, Spill, Writer};

/// Up to how many members of a bucket are compared each with each.
pub const LARGEST_BUCKET: usize = 500;

/// Two members, the first in the high half and smaller.
pub(crate) type PairKey = u64;

pub(crate) fn pair_key(one: u32, other: u32) -> PairKey {
    u64::from(one.min(other)) << 32 | u64::from(one.max(other))
}

pub(crate) fn members_of(pair: PairKey) -> (u32, u32) {
    ((pair >> 32) as u32, pair as u32)
}

/// The partition of a pair: by its first member, ascending, so that partitions one after the other
/// have the pairs in order.
pub(crate) fn pair_partition(pair: PairKey, members: usize) -> usize {
    ((pair >> 32) * PARTITIONS as u64 / (members as u64).max(1)) as usize
}

/// All candidate pairs.
pub(crate) fn candidates(
    signed: &Signed,
    settings: &Settings,
    spill: &Arc<Spill>,
) -> Result<Partitions<PairKey>> {
    let threads = settings.thread_count();
    let memory = settings.memory / 4 / threads as u64;
    let workers = deal(
        threads,
        PARTITIONS,
        || (Pairs::new(spill, memory, signed.len()), Vec::new(), Vec::new()),
        |(pairs, records, members), partition| {
            // A partition that does not fit is gone through several times, a range of keys each.
            let bytes = signed.keys.len(partition) as u64 * size_of::<BandKey>() as u64;
            let rounds = bytes.div_ceil(memory.max(1)).next_power_of_two();
            for round in 0..rounds {
                let in_round = |record: &BandKey| index(record.0 << 8, rounds) == round;
                signed.keys.sorted(partition, in_round, records)?;
                for bucket in
                    records.chunk_by(|one, other| one.0 == other.0).filter(|bucket| bucket.len() > 1)
                {
                    members.clear();
                    members
                        .extend(bucket.iter().map(|&(_, who)| signed.twins[signed.numbers.of(who) as usize]));
                    members.sort_unstable();
                    members.dedup();
                    pairs.put_all(members)?;
                }
            }
            Ok(())
        },
    )?;
    Ok(Partitions::new(workers.into_iter().map(|(pairs, ..)| pairs.writer).collect()))
}

/// Where one thread puts its pairs. Much alike members share many bands, so the same pair comes again and
/// again: one that came lately is dropped at once, the others when all are sorted.
struct Pairs {
    writer: Writer<PairKey>,
    members: usize,
    lately: Vec<PairKey>,
}

/// How many of the last pairs are remembered: half a megabyte.
const LATELY: usize = 1 << 16;

impl Pairs {
    fn new(spill: &Arc<Spill>, memory: u64, members: usize) -> Self {
        // No member is its own partner, so nothing is remembered by 0.
        Self { writer: Writer::new(spill, memory, true), members, lately: vec![0; LATELY] }
    }

    fn put_all(&mut self, members: &[u32]) -> Result<()> {
        let centres = if members.len() <= LARGEST_BUCKET { members.len() } else { 1 };
        for (at, &one) in members.iter().enumerate().take(centres) {
            for &other in &members[at + 1..] {
                self.put(pair_key(one, other))?;
            }
        }
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
