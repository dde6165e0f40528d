//! Sorted runs of postings, which say which documents have a key and are merged as they grow.
//!
//! A key leads to the numbers of the documents that have it. A document has a key for each of its
//! signature's bands, one for its name, and if it has no shingle one for its content. A commit
//! writes its postings (key and number) as one *run*: ascending, in buckets of about [`LOAD`]
//! postings, each a record with a checksum. Keys are hashes, so the bucket of a key follows from
//! its high bits, and a look-up reads one record of each run. Every bucket of a run is stored, even
//! an empty one. So a key counts as absent only if its bucket was read and is intact.
//!
//! A new run is merged with those before it when there are [`FAN`] of about its size (the
//! *logarithmic method*, Bentley and Saxe 1980). So there are at most `3·log₄(n)` runs, and a
//! posting is rewritten `log₄(n)` times. Adding writes whole records one after the other, whatever
//! the size of the index.
//!
//! Postings of removed documents stay until their run is merged.

use std::collections::BTreeSet;

use crivo_records::SEAL;

use super::file::{File, Table};
use super::record::State;
use crate::error::Result;

/// The average number of postings of a bucket.
const LOAD: u64 = 48;

/// The number of runs of about one size that are merged into one.
const FAN: usize = 4;

/// The number of buckets that are read at once while runs are merged.
const BUCKETS_AT_ONCE: u64 = 1024;

/// The span of the wanted buckets is read in sequence if it has at most this number of buckets for
/// each key. Otherwise each wanted bucket is read by itself.
const DENSE: u64 = 4;

/// A key and the number of a document that has it.
pub(super) type Posting = (u64, u32);

/// Postings in ascending order, in consecutive records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// The number of the record of the run's first bucket.
    pub(super) first: u64,
    pub(super) buckets: u64,
    pub(super) postings: u64,
}

impl Run {
    fn bucket_of(self, key: u64) -> u64 {
        ((u128::from(key) * u128::from(self.buckets)) >> 64) as u64
    }

    /// Returns the smallest key of a bucket.
    fn start_of(self, bucket: u64) -> u64 {
        let start = (u128::from(bucket) << 64).div_ceil(u128::from(self.buckets));
        u64::try_from(start).unwrap_or(u64::MAX)
    }

    fn record_of(self, bucket: u64) -> i64 {
        (self.first + bucket) as i64
    }

    /// Appends the postings of a bucket's record to `postings`. Returns `None` if the record is not
    /// one of that bucket.
    pub(super) fn decode(self, bucket: u64, record: &[u8], postings: &mut Vec<Posting>) -> Option<()> {
        let (mut key, mut rest) = (self.start_of(bucket), record);
        while !rest.is_empty() {
            let (mut ahead, mut shift) = (0_u64, 0);
            loop {
                let (&byte, after) = rest.split_first()?;
                rest = after;
                ahead |= u64::from(byte & 0x7F).checked_shl(shift)?;
                shift += 7;
                if byte & 0x80 == 0 {
                    break;
                }
            }
            let (number, after) = rest.split_first_chunk()?;
            rest = after;
            key = key.checked_add(ahead)?;
            postings.push((key, u32::from_le_bytes(*number)));
        }
        (self.bucket_of(key) == bucket || record.is_empty()).then_some(())
    }

    /// Encodes a bucket. Each posting is the difference of its key to the one before, seven bits a
    /// byte, and its number.
    fn encode(self, bucket: u64, postings: &[Posting]) -> Vec<u8> {
        let mut record = Vec::with_capacity(postings.len() * 11 + SEAL);
        let mut before = self.start_of(bucket);
        for &(key, number) in postings {
            let mut ahead = key.saturating_sub(before);
            while ahead >= 0x80 {
                record.push(ahead as u8 | 0x80);
                ahead >>= 7;
            }
            record.push(ahead as u8);
            record.extend_from_slice(&number.to_le_bytes());
            before = key;
        }
        record
    }

    /// Passes the document numbers of a key to `take`.
    fn look_up(self, file: &File, key: u64, take: &mut impl FnMut(u32)) -> Result<()> {
        let bucket = self.bucket_of(key);
        let mut postings = Vec::new();
        file.need(Table::Buckets, self.record_of(bucket), |record| {
            self.decode(bucket, record, &mut postings)
        })?;
        postings.iter().filter(|posting| posting.0 == key).for_each(|posting| take(posting.1));
        Ok(())
    }

    /// Passes the postings of each bucket of a range to `take`, ascending.
    ///
    /// # Errors
    /// If one of the buckets is missing or damaged, and the errors of `take`.
    pub(super) fn for_each_bucket(
        self,
        file: &File,
        buckets: std::ops::Range<u64>,
        mut take: impl FnMut(u64, &[Posting]) -> Result<()>,
    ) -> Result<()> {
        let (mut expected, mut postings) = (buckets.start, Vec::new());
        if buckets.is_empty() {
            return Ok(());
        }
        let (from, to) = (self.record_of(buckets.start), self.record_of(buckets.end - 1));
        file.for_each_between(Table::Buckets, from, to, |number, record| {
            postings.clear();
            if number != self.record_of(expected) || self.decode(expected, record, &mut postings).is_none() {
                return Ok(None);
            }
            take(expected, &postings)?;
            expected += 1;
            Ok(Some(()))
        })?;
        if expected == buckets.end {
            return Ok(());
        }
        Err(file.damaged(format_args!("bucket {} is missing", self.record_of(expected))))
    }

    /// Looks up ascending keys. Passes the position of each key with all its numbers to `take`.
    fn look_up_all(
        self,
        file: &File,
        keys: &[u64],
        take: &mut impl FnMut(usize, &mut dyn Iterator<Item = u32>) -> Result<()>,
    ) -> Result<()> {
        let (Some(&low), Some(&high)) = (keys.first(), keys.last()) else { return Ok(()) };
        let mut at = 0;
        let mut answer = |bucket: u64, postings: &[Posting]| {
            let mut rest = postings;
            while let Some(&key) = keys.get(at).filter(|key| self.bucket_of(**key) == bucket) {
                rest = &rest[rest.partition_point(|posting| posting.0 < key)..];
                let mut found = rest.iter().take_while(|posting| posting.0 == key).map(|posting| posting.1);
                take(at, &mut found)?;
                at += 1;
            }
            Ok(())
        };
        let span = self.bucket_of(low)..self.bucket_of(high) + 1;
        if keys.len() as u64 >= (span.end - span.start) / DENSE {
            return self.for_each_bucket(file, span, answer);
        }
        for keys in keys.chunk_by(|one, other| self.bucket_of(*one) == self.bucket_of(*other)) {
            let (bucket, mut postings) = (self.bucket_of(keys[0]), Vec::new());
            let decode = |record: &[u8]| self.decode(bucket, record, &mut postings);
            file.need(Table::Buckets, self.record_of(bucket), decode)?;
            answer(bucket, &postings)?;
        }
        Ok(())
    }
}

/// Passes the document numbers of a key in all runs to `take`.
pub(super) fn look_up(file: &File, runs: &[Run], key: u64, mut take: impl FnMut(u32)) -> Result<()> {
    runs.iter().try_for_each(|run| run.look_up(file, key, &mut take))
}

/// Looks up ascending keys in all runs. `take` gets the position of a key and its numbers in one
/// run.
pub(super) fn look_up_all(
    file: &File,
    runs: &[Run],
    keys: &[u64],
    mut take: impl FnMut(usize, &mut dyn Iterator<Item = u32>) -> Result<()>,
) -> Result<()> {
    runs.iter().try_for_each(|run| run.look_up_all(file, keys, &mut take))
}

// ---- writing ----

/// Writes postings that come in ascending order as a new run.
pub(super) struct RunWriter<'a> {
    file: &'a File,
    run: Run,
    /// The next bucket to write, and its postings so far.
    bucket: u64,
    postings: Vec<Posting>,
}

impl<'a> RunWriter<'a> {
    /// Begins a run of at most `most` postings, with record numbers after those of all other runs.
    pub(super) fn new(file: &'a File, state: &State, most: u64) -> Self {
        let run = Run { first: state.next_bucket, buckets: most.div_ceil(LOAD).max(1), postings: 0 };
        Self { file, run, bucket: 0, postings: Vec::new() }
    }

    pub(super) fn push(&mut self, posting: Posting) -> Result<()> {
        self.write_before(self.run.bucket_of(posting.0))?;
        self.postings.push(posting);
        self.run.postings += 1;
        Ok(())
    }

    fn write_before(&mut self, end: u64) -> Result<()> {
        while self.bucket < end {
            let record = self.run.encode(self.bucket, &self.postings);
            self.file.add(Table::Buckets, self.run.record_of(self.bucket), record)?;
            self.postings.clear();
            self.bucket += 1;
        }
        Ok(())
    }

    /// Writes the remaining buckets, and adds the run to the index.
    pub(super) fn finish(mut self, state: &mut State) -> Result<()> {
        self.write_before(self.run.buckets)?;
        state.next_bucket += self.run.buckets;
        state.runs.push(self.run);
        Ok(())
    }
}

/// Reads a run from its beginning to its end.
struct RunReader<'a> {
    file: &'a File,
    run: Run,
    next: u64,
    postings: Vec<Posting>,
    at: usize,
}

impl<'a> RunReader<'a> {
    fn new(file: &'a File, run: Run) -> Self {
        Self { file, run, next: 0, postings: Vec::new(), at: 0 }
    }

    fn peek(&mut self) -> Result<Option<Posting>> {
        while self.at == self.postings.len() && self.next < self.run.buckets {
            let buckets = self.next..self.run.buckets.min(self.next + BUCKETS_AT_ONCE);
            (self.next, self.at) = (buckets.end, 0);
            self.postings.clear();
            let postings = &mut self.postings;
            self.run.for_each_bucket(self.file, buckets, |_, more| {
                postings.extend_from_slice(more);
                Ok(())
            })?;
        }
        Ok(self.postings.get(self.at).copied())
    }
}

/// Returns the level of a run. Runs of one level differ in size by less than a factor of four.
fn level(postings: u64) -> u32 {
    postings.max(1).ilog2() / 2
}

/// Writes a run of the new postings and of the runs that are due to be merged with them.
///
/// # Errors
/// If a run is damaged, or the file cannot be written.
pub(super) fn add_run(
    file: &File,
    state: &mut State,
    removed: &mut BTreeSet<u32>,
    new: Vec<Posting>,
) -> Result<()> {
    let mut new = new;
    new.sort_unstable();
    // If many documents were removed, all runs are merged, which removes their postings.
    let clean = removed.len() as u64 > 1024 + state.documents / 4;
    let (mut merged, mut most) = (Vec::new(), new.len() as u64);
    if most == 0 && !clean {
        return Ok(());
    }
    loop {
        let is_small = |run: &&Run| clean || level(run.postings) <= level(most);
        let small = state.runs.iter().rev().take_while(is_small).count();
        if small == 0 || (small + 1 < FAN && !clean) {
            break;
        }
        merged.extend(state.runs.drain(state.runs.len() - small..));
        most = merged.iter().map(|run| run.postings).sum::<u64>() + new.len() as u64;
    }
    let mut writer = RunWriter::new(file, state, most);
    let mut readers: Vec<_> = merged.iter().map(|&run| RunReader::new(file, run)).collect();
    let mut new = new.into_iter().peekable();
    loop {
        let mut least = new.peek().map(|&posting| (posting, usize::MAX));
        for (reader, at) in readers.iter_mut().zip(0..) {
            let next = reader.peek()?.map(|posting| (posting, at));
            least = least.into_iter().chain(next).min();
        }
        let Some((posting, from)) = least else { break };
        match readers.get_mut(from) {
            Some(reader) => reader.at += 1,
            None => drop(new.next()),
        }
        if removed.is_empty() || !removed.contains(&posting.1) {
            writer.push(posting)?;
        }
    }
    writer.finish(state)?;
    for run in merged {
        file.remove_range(Table::Buckets, run.record_of(0), run.record_of(run.buckets - 1))?;
    }
    if clean {
        removed.clear();
    }
    state.postings = state.runs.iter().map(|run| run.postings).sum();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_one_bucket_and_buckets_ascend() {
        for buckets in [1, 2, 3, 7, 48, 1000, 1 << 33] {
            let run = Run { first: 5, buckets, postings: 0 };
            assert_eq!((run.bucket_of(0), run.bucket_of(u64::MAX)), (0, buckets - 1));
            for bucket in [0, 1, buckets / 2, buckets - 1].into_iter().filter(|bucket| *bucket < buckets) {
                let start = run.start_of(bucket);
                assert_eq!(run.bucket_of(start), bucket);
                assert!(bucket == 0 || run.bucket_of(start - 1) == bucket - 1);
            }
        }
    }

    #[test]
    fn buckets_come_back_and_shorter_or_foreign_ones_are_refused() {
        let run = Run { first: 0, buckets: 3, postings: 0 };
        let start = run.start_of(1);
        let postings = [(start, 7), (start, u32::MAX), (start + 1, 0), (start + (1 << 60), 3)];
        let record = run.encode(1, &postings);
        let decoded = |bucket, record: &[u8]| {
            let mut found = Vec::new();
            run.decode(bucket, record, &mut found).map(|()| found)
        };
        assert_eq!(decoded(1, &record), Some(postings.to_vec()));
        assert_eq!(decoded(1, &[]), Some(Vec::new()));
        assert_eq!(decoded(2, &[0xFF; 40]), None, "a distance of more than 64 bits");
        for length in 1..record.len() {
            assert_ne!(decoded(1, &record[..length]), Some(postings.to_vec()));
        }
        let beyond = run.encode(1, &[(run.start_of(2), 1)]);
        assert_eq!(decoded(1, &beyond), None, "the key of another bucket");
    }
}
