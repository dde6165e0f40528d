//! The verbs every sketch shares, as small traits.
//!
//! Generic code (the laws, the accuracy suite, `crivo merge`, the row reader) asks
//! for just the verb it uses. Each sketch has the same verbs as inherent methods, so
//! whoever uses one sketch imports no trait. There is no umbrella trait for queries:
//! "how many different" and "is it in there" have different answers, and a common
//! signature would hide that.

use crate::error::Result;
use crate::keys::{KeyBatch, KeyScheme};

/// A sketch that needs only the hash of a key.
pub trait InsertHashes {
    /// The scheme that every inserted hash must come from.
    fn scheme(&self) -> KeyScheme;

    /// Takes one hash.
    fn insert_hash(&mut self, hash: u64);

    /// Takes many hashes. The result is the same as one by one; random memory accesses overlap.
    fn insert_hashes(&mut self, hashes: &[u64]) {
        for &hash in hashes {
            self.insert_hash(hash);
        }
    }
}

/// A sketch that takes batches of keys: what rows, Arrow columns and lists are turned into.
///
/// Sketches that implement [`InsertHashes`] have this for free; those that keep the keys
/// themselves (heavy hitters, samples, ranges) implement it directly.
pub trait InsertKeys {
    /// Takes every key of the batch.
    ///
    /// # Errors
    /// If the batch was hashed under another [`KeyScheme`]; nothing is inserted then.
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()>;
}

impl<S: InsertHashes> InsertKeys for S {
    fn insert_batch(&mut self, batch: &KeyBatch<'_>) -> Result<()> {
        self.scheme().require_same(batch.scheme())?;
        self.insert_hashes(batch.hashes());
        Ok(())
    }
}

/// A filter: a sketch that answers "is it in there?" from the hash of a key.
pub trait ContainsHashes {
    /// Whether the hash may be in there; `false` is certain.
    fn contains_hash(&self, hash: u64) -> bool;

    /// Answers for many hashes, in their order, replacing what `found` held. The answers are the
    /// same as one by one; random memory accesses overlap.
    fn contains_hashes(&self, hashes: &[u64], found: &mut Vec<bool>) {
        found.clear();
        found.extend(hashes.iter().map(|&hash| self.contains_hash(hash)));
    }
}

/// A sketch that can absorb another of its kind.
pub trait Merge {
    /// Makes `self` the sketch of both streams.
    ///
    /// # Errors
    /// If the two differ in a parameter, key kind, hash or seed that forbids it; the error
    /// names the field and both values, and `self` is unchanged.
    fn merge(&mut self, other: &Self) -> Result<()>;

    /// Makes an empty sketch that tosses coins toss others, which its present ones and `part` decide:
    /// for one of several parts that will be merged, each of which needs coins of its own. Sketches
    /// without coins stay as they are.
    fn reseed(&mut self, part: u64) {
        let _ = part;
    }
}

pub use crate::codec::{Decode, Encode};
