//! From band keys to pairs that may be alike: those who share a key, each pair once.
//!
//! # Very large buckets
//!
//! A bucket of `n` members has `n(n − 1)/2` pairs. Up to [`LARGEST_BUCKET`] members all of them are
//! candidates. Beyond, only those of the first member with each other are: its near-duplicates
//! are found and end in one cluster with it, in time and memory that grow with `n` and not with its
//! square.

use std::sync::Arc;

use crivo::hash::index;

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
        || (Writer::new(spill, memory, true), Vec::new(), Vec::new()),
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
                    put_pairs(members, signed.len(), pairs)?;
                }
            }
            Ok(())
        },
    )?;
    Ok(Partitions::new(workers.into_iter().map(|(pairs, ..)| pairs).collect()))
}

fn put_pairs(members: &[u32], of: usize, pairs: &mut Writer<PairKey>) -> Result<()> {
    let centres = if members.len() <= LARGEST_BUCKET { members.len() } else { 1 };
    for (at, &one) in members.iter().enumerate().take(centres) {
        for &other in &members[at + 1..] {
            let pair = pair_key(one, other);
            pairs.push(pair_partition(pair, of), pair)?;
        }
    }
    Ok(())
}
