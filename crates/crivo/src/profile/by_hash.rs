//! A table whose keys are hashes already.

use hashbrown::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table by hashes that are not hashed again.
pub(super) type ByHash<V> = HashMap<u64, V, BuildHasherDefault<Prehashed>>;

/// Uses the hash itself. The smallest hashes of many differ in their low bits only, and the table looks at both
/// ends; so the halves are mixed.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Prehashed(u64);

impl Hasher for Prehashed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash.rotate_left(32) ^ hash;
    }
}
