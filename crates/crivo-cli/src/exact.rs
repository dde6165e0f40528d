//! The set of all distinct keys: the exact answer that estimates are verified against.
//!
//! Keys are compared by their bytes, not only by their hash, so the count is exact even if hashes
//! collide. All keys lie in one buffer, and a hash table of their positions finds them. The hash
//! uses a secret of the process, because keys can be forged to collide under a known seed.

use crivo::hash::TableSecret;
use crivo::keys::{KeyBatch, KeyRef};
use hashbrown::HashTable;

/// A set of keys.
#[derive(Debug, Default)]
pub(crate) struct ExactKeys {
    bytes: Vec<u8>,
    table: HashTable<Position>,
    secret: TableSecret,
}

#[derive(Debug, Clone, Copy)]
struct Position {
    hash: u64,
    start: usize,
    length: usize,
}

impl Position {
    fn of(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.start + self.length]
    }
}

impl ExactKeys {
    /// The number of distinct keys.
    pub(crate) fn len(&self) -> u64 {
        self.table.len() as u64
    }

    /// The bytes of memory in use.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Self>() + self.bytes.capacity() + self.table.allocation_size()
    }

    /// Adds the keys of a batch.
    pub(crate) fn insert_batch(&mut self, batch: &KeyBatch<'_>) {
        for (key, _) in batch.iter() {
            match key {
                KeyRef::Bytes(key) => self.insert(key, self.secret.hash(key)),
                KeyRef::Integer(number) | KeyRef::Hash(number) => {
                    self.insert(&number.to_le_bytes(), self.secret.mix(number));
                }
            }
        }
    }

    /// Adds the keys of another set.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if other.table.len() > self.table.len() {
            std::mem::swap(self, &mut other);
        }
        for position in &other.table {
            self.insert(position.of(&other.bytes), position.hash);
        }
    }

    fn insert(&mut self, key: &[u8], hash: u64) {
        let Self { bytes, table, .. } = self;
        if table.find(hash, |known| known.hash == hash && known.of(bytes) == key).is_none() {
            let position = Position { hash, start: bytes.len(), length: key.len() };
            bytes.extend_from_slice(key);
            table.insert_unique(hash, position, |known| known.hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ExactKeys;

    #[test]
    fn keys_of_one_hash_stay_apart() {
        let mut keys = ExactKeys::default();
        for key in ["ana", "rui", "ana", "", "an"] {
            keys.insert(key.as_bytes(), 7);
        }
        assert_eq!(keys.len(), 4);
    }

    #[test]
    fn merge_equals_joined_stream() {
        let number = |n: u64| n.to_le_bytes();
        let (mut small, mut large) = (ExactKeys::default(), ExactKeys::default());
        (0..10).for_each(|n| small.insert(&number(n), n));
        (5..1000).for_each(|n| large.insert(&number(n), n));
        small.merge(large);
        assert_eq!(small.len(), 1000);
        assert!(small.memory() >= 8000);
    }
}
