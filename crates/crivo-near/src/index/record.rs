//! The records of the index's state and of its documents.

use std::collections::BTreeSet;

use crivo_records::SEAL;

use super::buckets;
use super::file::{File, REMOVED, STATE, Table};
use super::runs::{self, Run};
use crate::error::Result;

/// The state of an index, which changes with every commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct State {
    /// The number of buckets of an index of format 1, which has no runs. Otherwise 0.
    pub(super) old_buckets: u64,
    /// The number of postings, including those of removed documents.
    pub(super) postings: u64,
    pub(super) documents: u64,
    pub(super) too_short: u64,
    /// The number of the next document. Numbers are never used twice.
    pub(super) next: u64,
    /// The number of the next bucket of a run.
    pub(super) next_bucket: u64,
    /// The runs with the postings, the oldest first.
    pub(super) runs: Vec<Run>,
}

impl State {
    pub(super) fn read(file: &File) -> Result<Self> {
        file.need(Table::Head, STATE, Self::decode)
    }

    pub(super) fn write(&self, file: &File) -> Result<()> {
        file.put(Table::Head, STATE, self.encode())
    }

    fn encode(&self) -> Vec<u8> {
        let numbers = [0, self.postings, self.documents, self.too_short, self.next, self.next_bucket];
        let runs = self.runs.iter().flat_map(|run| [run.first, run.buckets, run.postings]);
        numbers.into_iter().chain(runs).flat_map(u64::to_le_bytes).collect()
    }

    fn decode(record: &[u8]) -> Option<Self> {
        if !record.len().is_multiple_of(8) {
            return None;
        }
        let numbers: Vec<u64> = words(record).collect();
        let (&[old_buckets, postings, documents, too_short, next], rest) = numbers.split_first_chunk()?;
        let mut state =
            Self { old_buckets, postings, documents, too_short, next, next_bucket: 0, runs: Vec::new() };
        match rest {
            [] if old_buckets > 0 => Some(state),
            [next_bucket, runs @ ..] if old_buckets == 0 => {
                let (runs, rest) = runs.as_chunks();
                state.next_bucket = *next_bucket;
                state.runs =
                    runs.iter().map(|&[first, buckets, postings]| Run { first, buckets, postings }).collect();
                let inside = |run: &Run| {
                    run.buckets > 0
                        && run.first.checked_add(run.buckets).is_some_and(|end| end <= state.next_bucket)
                };
                (rest.is_empty() && state.runs.iter().all(inside)).then_some(state)
            }
            _ => None,
        }
    }

    /// Passes the numbers of the documents with a key to `take`. Some of them may have been
    /// removed.
    pub(super) fn look_up(&self, file: &File, key: u64, take: impl FnMut(u32)) -> Result<()> {
        match self.old_buckets {
            0 => runs::look_up(file, &self.runs, key, take),
            buckets => buckets::look_up(file, buckets, key, take),
        }
    }
}

/// Returns the numbers of documents that were removed and may still have postings.
pub(super) fn removed_numbers(file: &File) -> Result<BTreeSet<u32>> {
    let decode = |record: &[u8]| {
        let (numbers, rest) = record.as_chunks();
        rest.is_empty().then(|| numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    };
    Ok(file.get(Table::Head, REMOVED, decode)?.unwrap_or_default())
}

/// Stores the numbers of removed documents.
pub(super) fn write_removed(file: &File, removed: &BTreeSet<u32>) -> Result<()> {
    file.put(Table::Head, REMOVED, removed.iter().flat_map(|number| number.to_le_bytes()).collect())
}

/// A stored document: its name, a fingerprint of its bytes, and its set of shingles, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Document {
    pub(super) id: Vec<u8>,
    pub(super) fingerprint: u128,
    pub(super) set: Vec<u64>,
}

impl Document {
    /// Returns the document with a number, or `None` if there is none. That is an error of the
    /// index unless the document was removed.
    pub(super) fn find(file: &File, number: u32) -> Result<Option<Self>> {
        file.get(Table::Documents, number.into(), Self::decode)
    }

    /// Encodes a document: fingerprint, length of the id, id, set.
    pub(super) fn encode(id: &[u8], fingerprint: u128, set: &[u64]) -> Vec<u8> {
        let mut record = Vec::with_capacity(16 + 8 + id.len() + set.len() * 8 + SEAL);
        record.extend_from_slice(&fingerprint.to_le_bytes());
        record.extend_from_slice(&(id.len() as u64).to_le_bytes());
        record.extend_from_slice(id);
        set.iter().for_each(|shingle| record.extend_from_slice(&shingle.to_le_bytes()));
        record
    }

    pub(super) fn decode(record: &[u8]) -> Option<Self> {
        let (fingerprint, rest) = record.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (id, set) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        if set.len() % 8 != 0 {
            return None;
        }
        let fingerprint = u128::from_le_bytes(*fingerprint);
        Some(Self { id: id.to_vec(), fingerprint, set: words(set).collect() })
    }
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let (words, _) = bytes.as_chunks();
    words.iter().map(|word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_and_shorter_ones_are_none_or_another() {
        let run = Run { first: 2, buckets: 3, postings: 40 };
        let state = State {
            old_buckets: 0,
            postings: 40,
            documents: 2,
            too_short: 1,
            next: 9,
            next_bucket: 5,
            runs: vec![run],
        };
        assert_eq!(State::decode(&state.encode()), Some(state.clone()));
        let outside = State { next_bucket: 4, ..state.clone() };
        assert_eq!(State::decode(&outside.encode()), None, "a run behind the last bucket");
        let format_1: Vec<u8> = [3_u64, 40, 2, 1, 9].iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(State::decode(&format_1).map(|state| (state.old_buckets, state.next)), Some((3, 9)));
        let document = Document { id: b"name".to_vec(), fingerprint: 1 << 100, set: vec![5, 6, u64::MAX] };
        let record = Document::encode(&document.id, document.fingerprint, &document.set);
        assert_eq!(Document::decode(&record), Some(document.clone()));
        for length in 0..record.len() {
            assert_ne!(State::decode(&record[..length]), Some(state.clone()));
            assert_ne!(Document::decode(&record[..length]), Some(document.clone()), "{length} bytes");
        }
    }
}
