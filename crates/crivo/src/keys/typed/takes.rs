//! Which sketches take which kinds of keys, and whether they can refuse a key.

use super::{Integer, KeyOf, KeyType, Text};
use crate::error::Result;
use crate::frequency::{HeavyHitters, Majority, RangeCountMin};
use crate::keys::KeyRef;
use crate::membership::DirectTable;
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::quantiles::KeyQuantiles;
use crate::sampling::Reservoir;
use crate::sketch::{InsertHashes, Sketch};

/// A sketch that takes keys of one kind, as [`Typed`](super::Typed) passes them.
///
/// A sketch that keeps only hashes cannot refuse a key of its kind. A sketch that keeps the keys
/// themselves refuses a text that is too long. A sketch with a universe refuses keys outside it.
pub trait TakesKeys<T: KeyType>: Sketch {
    /// The result of inserting: `()` if a key of the kind cannot be refused, otherwise a
    /// [`Result`].
    type Outcome;

    /// Adds one key.
    fn insert_key<K: KeyOf<T>>(&mut self, key: &K) -> Self::Outcome;

    /// Adds many keys. Returns at the first key that is refused.
    fn insert_keys<K: KeyOf<T>>(&mut self, keys: impl Iterator<Item = K>) -> Self::Outcome;
}

/// The number of keys that are collected before they are hashed and inserted together, so that
/// memory accesses overlap.
const AT_ONCE: usize = 256;

impl<S: InsertHashes, T: KeyType> TakesKeys<T> for S {
    type Outcome = ();

    #[inline]
    fn insert_key<K: KeyOf<T>>(&mut self, key: &K) {
        let hash = key.hash_with(self.scheme());
        self.insert_hash(hash);
    }

    fn insert_keys<K: KeyOf<T>>(&mut self, keys: impl Iterator<Item = K>) {
        let scheme = self.scheme();
        let mut hashes = Vec::with_capacity(AT_ONCE);
        let mut integers = Vec::with_capacity(AT_ONCE);
        for key in keys {
            // Integers are hashed together, so that wide vectors can be used.
            match key.to_ref() {
                KeyRef::Integer(integer) => integers.push(integer),
                _ => hashes.push(key.hash_with(scheme)),
            }
            if integers.len() == AT_ONCE || hashes.len() == AT_ONCE {
                insert_gathered(self, &mut integers, &mut hashes);
            }
        }
        insert_gathered(self, &mut integers, &mut hashes);
    }
}

/// Inserts two lists of keys into a sketch and clears them: integers that are not hashed yet, and
/// hashes.
fn insert_gathered<S: InsertHashes>(sketch: &mut S, integers: &mut Vec<u64>, hashes: &mut Vec<u64>) {
    sketch.scheme().hash_integers(integers, hashes);
    sketch.insert_hashes(hashes);
    integers.clear();
    hashes.clear();
}

/// Sketches that keep keys, and whose `insert` can refuse one.
macro_rules! can_refuse {
    ($($sketch:ty: $($kind:ty),*;)*) => {$($(
        impl TakesKeys<$kind> for $sketch {
            type Outcome = Result<()>;

            #[inline]
            fn insert_key<K: KeyOf<$kind>>(&mut self, key: &K) -> Result<()> {
                self.insert(key).map(drop)
            }

            fn insert_keys<K: KeyOf<$kind>>(&mut self, mut keys: impl Iterator<Item = K>) -> Result<()> {
                keys.try_for_each(|key| self.insert_key(&key))
            }
        }
    )*)*};
}
can_refuse! {
    HeavyHitters: Text, Integer;
    Majority: Text;
    Reservoir: Text;
    KeyQuantiles: Text;
    RangeCountMin: Integer;
    DirectTable: Integer;
}

/// Sketches that keep keys and refuse no integer.
macro_rules! take_every_integer {
    ($($sketch:ty),*) => {$(
        impl TakesKeys<Integer> for $sketch {
            type Outcome = ();

            #[inline]
            fn insert_key<K: KeyOf<Integer>>(&mut self, key: &K) {
                // Only the kind and the length of a text are checked. The kind was checked when the
                // sketch was wrapped, and an integer has no length.
                _ = self.insert(key);
            }

            fn insert_keys<K: KeyOf<Integer>>(&mut self, keys: impl Iterator<Item = K>) {
                keys.for_each(|key| self.insert_key(&key));
            }
        }
    )*};
}
take_every_integer!(Majority, Reservoir, KeyQuantiles);
