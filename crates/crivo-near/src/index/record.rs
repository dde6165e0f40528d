//! Records: what is stored of the index itself, and of a document.

use crivo_records::SEAL;

use super::file::{File, STATE, Table};
use crate::error::Result;

/// What the index knows of itself: it changes with every commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct State {
    /// How many buckets the postings have.
    pub(super) buckets: u64,
    pub(super) postings: u64,
    pub(super) documents: u64,
    pub(super) too_short: u64,
    /// The number of the next document. Numbers are never used twice.
    pub(super) next: u64,
}

impl State {
    pub(super) fn read(file: &File) -> Result<Self> {
        file.need(Table::Head, STATE, Self::decode)
    }

    pub(super) fn write(self, file: &File) -> Result<()> {
        file.put(Table::Head, STATE, self.encode())
    }

    fn encode(self) -> Vec<u8> {
        let numbers = [self.buckets, self.postings, self.documents, self.too_short, self.next];
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn decode(record: &[u8]) -> Option<Self> {
        let numbers: Vec<u64> = words(record).collect();
        let &[buckets, postings, documents, too_short, next] = numbers.as_slice() else { return None };
        (buckets > 0).then_some(Self { buckets, postings, documents, too_short, next })
    }
}

/// A document, as it is stored: its name, a fingerprint of its bytes, and its set of shingles, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Document {
    pub(super) id: Vec<u8>,
    pub(super) fingerprint: u128,
    pub(super) set: Vec<u64>,
}

impl Document {
    pub(super) fn read(file: &File, number: u32) -> Result<Self> {
        file.need(Table::Documents, number.into(), Self::decode)
    }

    /// Fingerprint, length of the id, id, set.
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
        let state = State { buckets: 3, postings: 40, documents: 2, too_short: 1, next: 9 };
        assert_eq!(State::decode(&state.encode()), Some(state));
        let document = Document { id: b"name".to_vec(), fingerprint: 1 << 100, set: vec![5, 6, u64::MAX] };
        let record = Document::encode(&document.id, document.fingerprint, &document.set);
        assert_eq!(Document::decode(&record), Some(document.clone()));
        for length in 0..record.len() {
            assert_ne!(State::decode(&record[..length]), Some(state));
            assert_ne!(Document::decode(&record[..length]), Some(document.clone()), "{length} bytes");
        }
    }
}
