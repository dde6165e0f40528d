//! Sketches of u64 keys, hash included: the rows of other groups that depend on the hash of
//! integers, and the hash alone.

use std::hash::BuildHasher;
use std::hint::black_box;

use crivo::keys::{HashFunction, KeyBatch, KeyBuffer, KeyScheme};
use foldhash::fast::FixedState;

use crate::measure::{Contender, nanoseconds_each};
use crate::register_sketch::{ITEMS, hashes};
use crate::report::Page;
use crate::{distinct, membership};

pub fn run() -> Page {
    let mut page = Page::new(
        "Integer keys",
        "Random u64 keys, each hashed by its library: crivo with Rrmxmx, which is specified bit \
         for bit, and the peers with foldhash. The rows stand in the pages of HyperLogLog and \
         Bloom too. Where crivo falls short of what it aims at: HyperLogLog one by one (aim: as fast as \
         hyperloglockless; 0.65 of it), because a mixer that passes every test of docs/accuracy/hashing.md takes two \
         rotations, two multiplications and two shifts, about twice the instructions of foldhash: 1.2 ns of the \
         1.8 ns of an insert are the hash, and hyperloglockless takes 1.2 ns for both; Bloom one by one \
         of a million keys (aim: as fast as fastbloom; inserts 0.85 to 0.89 of it, hits 0.91 to 0.94, misses 1.20 to 1.33) and \
         of ten million (inserts 0.92 to 1.52, hits 1.02 to 1.51, misses 0.96 to 1.18), from three runs. Tried: \
         registers without a histogram and without a branch, which made batches faster (2.1 to 2.3 times \
         the peer) and single keys no faster. What knows its keys beforehand gives them together: batches, or \
         Integers::extend.",
    );
    hash_alone(&mut page);
    distinct::insert_integers(&mut page);
    for items in [1_000_000, 10_000_000] {
        membership::one_by_one_from_keys(&mut page, items);
    }
    page
}

/// The hashes of a million integers, in batches and one by one.
fn hash_alone(page: &mut Page) {
    let keys = &hashes(3);
    let older = KeyScheme::integers().with_function(HashFunction::Xxh3).expect("a function of integers");
    let batches = |scheme: KeyScheme| {
        move || {
            let mut buffer = KeyBuffer::new(scheme);
            for batch in keys.chunks(KeyBatch::TARGET_LEN) {
                black_box(buffer.hash_integers(batch).expect("integer keys").hashes());
            }
        }
    };
    let single = |scheme: KeyScheme| {
        move || {
            let sum = keys.iter().fold(0, |sum, key| sum ^ scheme.hash(key).expect("an integer key"));
            black_box(sum);
        }
    };
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, Rrmxmx, batches of 1,024", Box::new(batches(KeyScheme::integers()))),
        ("crivo, Rrmxmx, one by one", Box::new(single(KeyScheme::integers()))),
        ("crivo before, XXH3, batches of 1,024", Box::new(batches(older))),
        ("crivo before, XXH3, one by one", Box::new(single(older))),
        (
            "foldhash",
            Box::new(move || {
                let state = FixedState::default();
                let sum = keys.iter().fold(0, |sum, key| sum ^ state.hash_one(key));
                black_box(sum);
            }),
        ),
    ];
    page.add("Hash a million integers", "ns a key", nanoseconds_each(ITEMS, &mut contenders));
}
