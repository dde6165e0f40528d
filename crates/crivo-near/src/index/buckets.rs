//! Which documents have a key? Buckets that grow one by one.
//!
//! A key leads to the numbers of the documents that have it: the keys of a signature's bands, one for
//! a document's name, and for one without a shingle one of its content. Postings (key and number)
//! are kept together in buckets of some 64, each a record with a checksum. All buckets from 0 to
//! their number are there at all times, so that a key nobody has is known to be one: its bucket was read, and it
//! was whole. In a table with a row for each posting, a row that damage hides would be missed by
//! nobody.
//!
//! The number of buckets follows the postings by *linear hashing* (Litwin, 1980): bucket `b` of `2^l + s` holds
//! the keys with `key mod 2^(l+1) = b`, if there is such a bucket, and otherwise those with `key mod 2^l = b`. So one
//! more bucket takes its postings from a single other one, and nothing is ever rebuilt.

use std::collections::HashMap;

use crivo_records::SEAL;

use super::file::{File, Table};
use super::record::State;
use crate::error::Result;

/// How many postings a bucket has on the average before there is another bucket.
const LOAD: u64 = 64;

/// A key in 8 bytes, a number in 4.
const POSTING: usize = 12;

/// The bucket of a key.
pub(super) fn bucket_of(key: u64, buckets: u64) -> u64 {
    let level = 1 << buckets.ilog2();
    let fine = key & (2 * level - 1);
    if fine < buckets { fine } else { key & (level - 1) }
}

/// Hands the postings of a bucket to `take`.
pub(super) fn read<T>(
    file: &File,
    bucket: u64,
    take: impl FnOnce(&mut dyn Iterator<Item = (u64, u32)>) -> T,
) -> Result<T> {
    let take = |record: &[u8]| postings(record).map(|mut postings| take(&mut postings));
    file.need(Table::Buckets, bucket as i64, take)
}

/// Stores a bucket, its postings ascending.
pub(super) fn write(file: &File, bucket: u64, postings: &mut [(u64, u32)]) -> Result<()> {
    file.put(Table::Buckets, bucket as i64, encode(postings))
}

/// The postings of a record; none if it is not that of a bucket.
pub(super) fn postings(record: &[u8]) -> Option<impl Iterator<Item = (u64, u32)>> {
    let (postings, rest) = record.as_chunks::<POSTING>();
    let read = |posting: &[u8; POSTING]| {
        let [a, b, c, d, e, f, g, h, number @ ..] = *posting;
        (u64::from_le_bytes([a, b, c, d, e, f, g, h]), u32::from_le_bytes(number))
    };
    rest.is_empty().then(|| postings.iter().map(read))
}

fn encode(postings: &mut [(u64, u32)]) -> Vec<u8> {
    postings.sort_unstable();
    let mut record = Vec::with_capacity(postings.len() * POSTING + SEAL);
    for (key, number) in postings {
        record.extend_from_slice(&key.to_le_bytes());
        record.extend_from_slice(&number.to_le_bytes());
    }
    record
}

/// The buckets that a transaction has touched, until they are written.
#[derive(Debug, Default)]
pub(super) struct Touched {
    buckets: HashMap<u64, Bucket>,
    held: usize,
}

#[derive(Debug, Default)]
struct Bucket {
    postings: Vec<(u64, u32)>,
    changed: bool,
}

impl Touched {
    /// How many postings are held in memory.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// The numbers of the documents with a key.
    pub(super) fn numbers(&mut self, file: &File, state: &State, key: u64) -> Result<Vec<u32>> {
        let bucket = self.bucket(file, bucket_of(key, state.buckets))?;
        Ok(bucket.postings.iter().filter(|posting| posting.0 == key).map(|posting| posting.1).collect())
    }

    pub(super) fn insert(&mut self, file: &File, state: &mut State, key: u64, number: u32) -> Result<()> {
        let bucket = self.bucket(file, bucket_of(key, state.buckets))?;
        bucket.postings.push((key, number));
        bucket.changed = true;
        self.held += 1;
        state.postings += 1;
        if state.postings > state.buckets.saturating_mul(LOAD) { self.split(file, state) } else { Ok(()) }
    }

    pub(super) fn remove(&mut self, file: &File, state: &mut State, key: u64, number: u32) -> Result<()> {
        let at = bucket_of(key, state.buckets);
        let bucket = self.bucket(file, at)?;
        let Some(found) = bucket.postings.iter().position(|&posting| posting == (key, number)) else {
            return Err(file.damaged(format_args!("bucket {at} lacks document {number}")));
        };
        bucket.postings.swap_remove(found);
        bucket.changed = true;
        self.held -= 1;
        state.postings -= 1;
        Ok(())
    }

    /// Adds the next bucket, which takes its postings from the one that had them.
    fn split(&mut self, file: &File, state: &mut State) -> Result<()> {
        let new = state.buckets;
        let old = new - (1 << new.ilog2());
        state.buckets += 1;
        let buckets = state.buckets;
        let bucket = self.bucket(file, old)?;
        bucket.changed = true;
        let (stay, go) = bucket.postings.iter().partition(|posting| bucket_of(posting.0, buckets) == old);
        bucket.postings = stay;
        self.buckets.insert(new, Bucket { postings: go, changed: true });
        Ok(())
    }

    fn bucket(&mut self, file: &File, at: u64) -> Result<&mut Bucket> {
        if !self.buckets.contains_key(&at) {
            let postings = read(file, at, |found| found.collect::<Vec<_>>())?;
            self.held += postings.len();
            self.buckets.insert(at, Bucket { postings, changed: false });
        }
        Ok(self.buckets.entry(at).or_default())
    }

    /// Writes what changed, and forgets everything.
    pub(super) fn write(&mut self, file: &File) -> Result<()> {
        let mut changed: Vec<(u64, Bucket)> =
            self.buckets.drain().filter(|(_, bucket)| bucket.changed).collect();
        changed.sort_unstable_by_key(|(at, _)| *at);
        self.held = 0;
        changed.iter_mut().try_for_each(|(at, bucket)| write(file, *at, &mut bucket.postings))
    }
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

    #[test]
    fn stored_buckets_come_back_in_order() {
        let record = encode(&mut [(9, 1), (3, 2), (3, 1)]);
        assert_eq!(postings(&record).unwrap().collect::<Vec<_>>(), [(3, 1), (3, 2), (9, 1)]);
        assert!(postings(&record[1..]).is_none());
    }
}
