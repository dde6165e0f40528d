//! The rounds of work that every register sketch of crivo is measured with.

use std::hint::black_box;

use crivo::distinct::{RegisterKind, RegisterSketch};
use crivo::keys::{KeyBatch, KeyBuffer, KeyScheme};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// The number of hashes of a round.
pub const ITEMS: usize = 1_000_000;
/// The number of keys of a batch.
pub const BATCH: usize = KeyBatch::TARGET_LEN;

/// A round of work.
type Round<'a> = Box<dyn FnMut() + 'a>;

/// Returns a million random hashes.
pub fn hashes(seed: u64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..ITEMS).map(|_| random.next_u64()).collect()
}

/// Creates an empty sketch.
pub fn empty<K: RegisterKind>(precision: u8, scheme: KeyScheme) -> RegisterSketch<K> {
    RegisterSketch::with_scheme(precision, scheme).expect("a valid precision")
}

/// Fills a sketch with hashes, one by one.
pub fn hashes_one_by_one<K: RegisterKind>(precision: u8, hashes: &[u64]) -> Round<'_> {
    Box::new(move || {
        let mut sketch = empty::<K>(precision, KeyScheme::hashes());
        hashes.iter().for_each(|&hash| sketch.insert_hash(hash));
        black_box(&sketch);
    })
}

/// Fills a sketch with hashes, in batches.
pub fn hashes_in_batches<K: RegisterKind>(precision: u8, hashes: &[u64]) -> Round<'_> {
    Box::new(move || {
        let mut sketch = empty::<K>(precision, KeyScheme::hashes());
        hashes.chunks(BATCH).for_each(|batch| sketch.insert_hashes(batch));
        black_box(&sketch);
    })
}

/// Fills a sketch of precision 12 with integer keys, one by one.
pub fn integers_one_by_one<K: RegisterKind>(keys: &[u64]) -> Round<'_> {
    Box::new(move || {
        let mut sketch = empty::<K>(12, KeyScheme::integers());
        for key in keys {
            sketch.insert(key).expect("an integer key");
        }
        black_box(&sketch);
    })
}

/// Fills a sketch of precision 12 with integer keys, in batches.
pub fn integers_in_batches<K: RegisterKind>(keys: &[u64]) -> Round<'_> {
    Box::new(move || {
        let mut sketch = empty::<K>(12, KeyScheme::integers());
        let mut buffer = KeyBuffer::new(KeyScheme::integers());
        for batch in keys.chunks(BATCH) {
            let batch = buffer.hash_integers(batch).expect("integer keys");
            sketch.insert_batch(&batch).expect("the same scheme");
        }
        black_box(&sketch);
    })
}

/// Returns a copy of one sketch merged with another.
pub fn merged<K: RegisterKind>(a: &RegisterSketch<K>, b: &RegisterSketch<K>) -> RegisterSketch<K> {
    let mut merged = a.clone();
    merged.merge(b).expect("the same scheme");
    merged
}
