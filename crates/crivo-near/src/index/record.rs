//! Records: what is stored, and the checksum behind each.
//!
//! SQLite does not notice when a byte of a page changes. So every record ends with the XXH3 of what is
//! before it, seeded with the place where it belongs: a record that was changed is not believed, and neither is
//! one that a damaged page shows in the place of another.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Where a record belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Settings,
    State,
    Bucket(u64),
    Document(u32),
}

impl Place {
    fn seed(self) -> u64 {
        let (kind, number) = match self {
            Self::Settings => (1, 0),
            Self::State => (2, 0),
            Self::Bucket(number) => (3, number),
            Self::Document(number) => (4, u64::from(number)),
        };
        kind << 56 | number
    }
}

/// How long a checksum is.
const SEAL: usize = 8;

/// Puts the checksum behind a record.
pub(super) fn seal(place: Place, record: &mut Vec<u8>) {
    let sum = xxh3_64_with_seed(record, place.seed());
    record.extend_from_slice(&sum.to_le_bytes());
}

/// The record before the checksum, if that is right.
pub(super) fn unseal(place: Place, bytes: &[u8]) -> Option<&[u8]> {
    let (record, sum) = bytes.split_at_checked(bytes.len().checked_sub(SEAL)?)?;
    (xxh3_64_with_seed(record, place.seed()).to_le_bytes() == sum).then_some(record)
}

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
    pub(super) fn encode(self) -> Vec<u8> {
        let mut record = Vec::with_capacity(5 * 8 + SEAL);
        for number in [self.buckets, self.postings, self.documents, self.too_short, self.next] {
            record.extend_from_slice(&number.to_le_bytes());
        }
        seal(Place::State, &mut record);
        record
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let numbers: Vec<u64> = words(unseal(Place::State, bytes)?).collect();
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
    /// Fingerprint, length of the id, id, set; replaces what `record` held.
    pub(super) fn encode(number: u32, id: &[u8], fingerprint: u128, set: &[u64], record: &mut Vec<u8>) {
        record.clear();
        record.reserve(16 + 8 + id.len() + set.len() * 8 + SEAL);
        record.extend_from_slice(&fingerprint.to_le_bytes());
        record.extend_from_slice(&(id.len() as u64).to_le_bytes());
        record.extend_from_slice(id);
        set.iter().for_each(|shingle| record.extend_from_slice(&shingle.to_le_bytes()));
        seal(Place::Document(number), record);
    }

    pub(super) fn decode(number: u32, bytes: &[u8]) -> Option<Self> {
        let record = unseal(Place::Document(number), bytes)?;
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
    fn records_come_back_and_every_changed_bit_is_seen() {
        let state = State { buckets: 3, postings: 40, documents: 2, too_short: 1, next: 9 };
        let sealed = state.encode();
        assert_eq!(State::decode(&sealed), Some(state));
        let mut document = Vec::new();
        Document::encode(7, b"name", 1 << 100, &[5, 6, u64::MAX], &mut document);
        let expected = Document { id: b"name".to_vec(), fingerprint: 1 << 100, set: vec![5, 6, u64::MAX] };
        assert_eq!(Document::decode(7, &document), Some(expected));
        assert_eq!(Document::decode(8, &document), None, "it belongs elsewhere");
        for bit in 0..document.len() * 8 {
            document[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Document::decode(7, &document), None, "bit {bit}");
            document[bit / 8] ^= 1 << (bit % 8);
        }
        for length in 0..document.len() {
            assert_eq!(Document::decode(7, &document[..length]), None, "{length} bytes");
        }
    }
}
