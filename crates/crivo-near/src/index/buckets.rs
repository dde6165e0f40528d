//! Postings in the layout of index format 1. They are read, and converted to a run by the first
//! change.
//!
//! Buckets grew one by one by *linear hashing* (Litwin, 1980). Bucket `b` of `2^l + s` holds the
//! keys with `key mod 2^(l+1) = b`, if there is such a bucket, and otherwise those with `key mod
//! 2^l = b`. All buckets are stored, each as postings of 12 bytes, ascending.

use std::sync::Arc;

use super::file::{File, Table};
use super::record::State;
use super::runs::{Posting, RunWriter};
use crate::error::Result;
use crate::spill::{Order, PARTITIONS, Partitions, Writer};

/// The bytes of a posting: a key in 8 bytes, a document number in 4.
const POSTING: usize = 12;

/// The number of bytes of postings held in memory while an index is converted.
const MEMORY: u64 = 256 << 20;

/// Returns the bucket of a key.
pub(super) fn bucket_of(key: u64, buckets: u64) -> u64 {
    let level = 1 << buckets.max(1).ilog2();
    let fine = key & (2 * level - 1);
    if fine < buckets { fine } else { key & (level - 1) }
}

/// Returns the postings of a record, or `None` if its length is not that of a bucket.
pub(super) fn postings(record: &[u8]) -> Option<impl Iterator<Item = Posting>> {
    let (postings, rest) = record.as_chunks::<POSTING>();
    let read = |posting: &[u8; POSTING]| {
        let [a, b, c, d, e, f, g, h, number @ ..] = *posting;
        (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(number))
    };
    rest.is_empty().then(|| postings.iter().map(read))
}

/// Passes the document numbers of a key to `take`.
pub(super) fn look_up(file: &File, buckets: u64, key: u64, mut take: impl FnMut(u32)) -> Result<()> {
    file.need(Table::Buckets, bucket_of(key, buckets) as i64, |record| {
        postings(record)?.filter(|posting| posting.0 == key).for_each(|posting| take(posting.1));
        Some(())
    })
}

/// Passes every posting of every bucket to `take`.
///
/// # Errors
/// If a bucket is missing, damaged or has keys of another bucket, and the errors of `take`.
pub(super) fn for_each(file: &File, buckets: u64, mut take: impl FnMut(Posting) -> Result<()>) -> Result<()> {
    let mut met = 0;
    file.for_each(Table::Buckets, |number, record| {
        let Some(postings) = postings(record) else { return Ok(None) };
        for posting in postings {
            if number != met || bucket_of(posting.0, buckets) as i64 != number {
                return Err(file.damaged(format_args!("bucket {number} has keys of another")));
            }
            take(posting)?;
        }
        met += 1;
        Ok(Some(()))
    })?;
    if met as u64 == buckets {
        return Ok(());
    }
    Err(file.damaged(format_args!("{met} buckets where {buckets} should be")))
}

/// Converts all buckets to a run.
///
/// # Errors
/// If the index is damaged or cannot be written.
pub(super) fn convert(file: &File, state: &mut State) -> Result<()> {
    let spill = Arc::default();
    let mut sorter = Writer::new(&spill, PARTITIONS, MEMORY, Order::Sorted);
    for_each(file, state.old_buckets, |(key, number)| {
        sorter.push((key >> 56) as usize, (key, u64::from(number)))
    })?;
    let sorted = Partitions::new(PARTITIONS, vec![sorter]);
    state.next_bucket = state.old_buckets;
    let mut writer = RunWriter::new(file, state, state.postings);
    let mut buffer = Vec::new();
    for partition in 0..sorted.count() {
        sorted.for_each_sorted(partition, MEMORY, &mut buffer, |(key, number)| {
            writer.push((key, number as u32))
        })?;
    }
    writer.finish(state)?;
    file.remove_range(Table::Buckets, 0, state.old_buckets as i64 - 1)?;
    state.old_buckets = 0;
    state.postings = state.runs.iter().map(|run| run.postings).sum();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_bucket_moves_only_postings_of_the_one_it_divides() {
        for buckets in 1..200_u64 {
            let divided = buckets - (1 << buckets.ilog2());
            for key in (0..5000_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
                let (before, after) = (bucket_of(key, buckets), bucket_of(key, buckets + 1));
                assert!(before < buckets);
                assert!(after == before || (before == divided && after == buckets));
            }
        }
        assert_eq!(bucket_of(u64::MAX, 1), 0);
    }
}
