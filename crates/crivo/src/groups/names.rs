//! The keys of groups: short keys in the group's entry, long keys in chunks of bytes.

#[cfg(not(feature = "std"))]
use crate::prelude::*;
/// The longest key that is stored in its [`Name`] itself.
const INLINE: usize = 12;
/// The number of bytes of the first chunk.
const FIRST_CHUNK: usize = 256;
/// The most bytes of a chunk. A longer key has its own chunk.
const CHUNK: usize = 64 << 10;

/// The key of one group, or its position in the chunks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Name {
    len: u32,
    /// The key, or its chunk and its start in that chunk, four bytes each.
    data: [u8; INLINE],
}

/// The keys that are too long for a [`Name`].
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    chunks: Vec<Vec<u8>>,
    bytes: usize,
}

impl Names {
    /// Stores a key. Its length must fit in 32 bits.
    pub(super) fn add(&mut self, key: &[u8]) -> Name {
        let mut data = [0; INLINE];
        if let Some(inline) = data.get_mut(..key.len()) {
            inline.copy_from_slice(key);
            return Name { len: key.len() as u32, data };
        }
        let fits = self.chunks.last().is_some_and(|chunk| chunk.capacity() - chunk.len() >= key.len());
        if !fits {
            // As large as all chunks before, so that few keys take little memory.
            let size = self.bytes.clamp(FIRST_CHUNK, CHUNK);
            let chunk = Vec::with_capacity(key.len().max(size));
            self.bytes += chunk.capacity();
            self.chunks.push(chunk);
        }
        let number = self.chunks.len() - 1;
        let chunk = &mut self.chunks[number];
        data[..4].copy_from_slice(&(number as u32).to_le_bytes());
        data[4..8].copy_from_slice(&(chunk.len() as u32).to_le_bytes());
        chunk.extend_from_slice(key);
        Name { len: key.len() as u32, data }
    }

    #[inline]
    pub(super) fn get<'a>(&'a self, name: &'a Name) -> &'a [u8] {
        let len = name.len as usize;
        if len <= INLINE {
            return &name.data[..len];
        }
        let word = |at: usize| {
            let bytes = [name.data[at], name.data[at + 1], name.data[at + 2], name.data[at + 3]];
            u32::from_le_bytes(bytes) as usize
        };
        let start = word(4);
        &self.chunks[word(0)][start..start + len]
    }

    /// Returns the bytes of memory behind the pointers.
    pub(super) fn memory(&self) -> usize {
        self.bytes + self.chunks.capacity() * size_of::<Vec<u8>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_any_length_are_found_again() {
        let mut names = Names::default();
        let keys: Vec<Vec<u8>> = [0, 1, 11, 12, 13, 100, CHUNK - 50, CHUNK, CHUNK + 1, 13, 12]
            .map(|len| vec![len as u8; len])
            .into();
        let added: Vec<Name> = keys.iter().map(|key| names.add(key)).collect();
        for (key, name) in keys.iter().zip(&added) {
            assert_eq!(names.get(name), key);
        }
        assert!(names.memory() > 3 * CHUNK);
    }
}
