//! Laws that hold for every mergeable sketch, on random streams.
//!
//! Merging joins streams, bit for bit: it commutes and associates. Batches equal single insertions,
//! and bytes do not depend on the order in which items came. A sketch of a set also changes nothing
//! when it is merged with itself. Sketches whose algorithm cannot promise these laws are held to
//! what they do promise, in the file of their name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "../support/mod.rs"]
mod support;

mod binary_fuse;
mod bloom;
mod certainty;
mod column_profile;
mod combined_filter;
mod count_min;
mod counter_array;
mod counting_bloom;
mod ddsketch;
mod direct_table;
mod distinct_growth;
mod exact_distinct;
mod groups;
mod heavy_hitters;
mod k_min_values;
mod linear_counting;
mod log_log;
mod majority;
mod min_hash;
mod morris_counter;
mod near_duplicate_share;
mod panes;
mod private_count_mean;
mod probabilistic_counting;
mod quantiles;
mod range_count_min;
mod register_sketch;
mod reservoir;
mod row_sample;
mod sampled_counter;
mod table_profile;

use crivo::ErrorKind;
use crivo::codec::{AnySketch, Decode, Encode};
use crivo::keys::KeyScheme;
use crivo::sketch::{InsertHashes, Merge};
use proptest::prelude::*;

use support::generator;

/// Small streams exercise the exact states, long ones the dense; values repeat.
fn streams() -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<u64>)> {
    let stream = || {
        (0..4000_usize, any::<u64>()).prop_map(|(length, seed)| {
            let mut random = generator(&format!("stream {seed}"));
            (0..length)
                .map(|_| random.bits() & !(random.bits() & 0xFF) | 1 << random.below(64))
                .collect::<Vec<_>>()
        })
    };
    (stream(), stream(), stream())
}

fn sketch_of<S: InsertHashes>(mut sketch: S, streams: &[&[u64]]) -> S {
    streams.iter().for_each(|stream| sketch.insert_hashes(stream));
    sketch
}

fn merged<S: Merge + Clone>(a: &S, b: &S) -> S {
    let mut merged = a.clone();
    merged.merge(b).expect("same parameters");
    merged
}

/// The laws of sketches that count: a stream joined to itself is twice the stream.
fn laws_of_streams<S>(make: impl Fn() -> S, (a, b, c): &(Vec<u64>, Vec<u64>, Vec<u64>))
where
    S: InsertHashes + Merge + Encode + Decode + Clone + PartialEq + std::fmt::Debug,
{
    let [x, y, z] = [a, b, c].map(|stream| sketch_of(make(), &[stream]));

    assert_eq!(merged(&x, &y), sketch_of(make(), &[a, b]), "merge equals the joined stream");
    assert_eq!(merged(&x, &y), merged(&y, &x), "merge commutes");
    assert_eq!(merged(&merged(&x, &y), &z), merged(&x, &merged(&y, &z)), "merge associates");
    assert_eq!(merged(&x, &make()), x, "merging an empty sketch changes nothing");

    let mut one_by_one = make();
    a.iter().for_each(|&hash| one_by_one.insert_hash(hash));
    assert_eq!(one_by_one, x, "batches equal single insertions");
    let mut backwards = a.clone();
    backwards.reverse();
    assert_eq!(sketch_of(make(), &[&backwards]).encode(), x.encode(), "bytes do not depend on order");
    assert_eq!(
        merged(&x, &y).encode(),
        sketch_of(make(), &[a, b]).encode(),
        "equal sketches have equal bytes"
    );
    assert_eq!(S::decode(&x.encode()).as_ref(), Ok(&x), "decoding inverts encoding");
}

/// The laws of sketches of sets, which know each item once.
fn laws_of_sets<S>(make: impl Fn() -> S, streams: &(Vec<u64>, Vec<u64>, Vec<u64>))
where
    S: InsertHashes + Merge + Encode + Decode + Clone + PartialEq + std::fmt::Debug,
{
    laws_of_streams(&make, streams);
    let x = sketch_of(make(), &[&streams.0]);
    assert_eq!(merged(&x, &x), x, "self-merge changes nothing");
}

/// Sketches of different schemes refuse each other with an error that names the difference.
fn different_schemes_refuse_each_other<S>(make: impl Fn(KeyScheme) -> S)
where
    S: InsertHashes + Merge + Clone + PartialEq + std::fmt::Debug,
{
    let mut sketch = make(KeyScheme::bytes().with_seed(1));
    sketch.insert_hash(42);
    let before = sketch.clone();
    for (scheme, field, found) in [
        (KeyScheme::bytes().with_seed(2), "seed", "2"),
        (KeyScheme::integers().with_seed(1), "key kind", "integer"),
        (KeyScheme::hashes().with_seed(1), "key kind", "hash"),
    ] {
        let error = sketch.merge(&make(scheme)).unwrap_err();
        assert_eq!((error.field(), error.found()), (field, found));
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert_eq!(sketch, before, "a refused merge changes nothing");
    }
}

#[test]
fn different_families_refuse_each_other() {
    let sketches: Vec<AnySketch> =
        support::forge::samples().iter().map(|bytes| AnySketch::decode(bytes).unwrap()).collect();
    for a in &sketches {
        for b in sketches.iter().filter(|b| b.family() != a.family()) {
            let error = a.clone().merge(b).unwrap_err();
            assert_eq!((error.kind(), error.field()), (ErrorKind::WrongFamily, "family"));
            assert_eq!((error.expected(), error.found()), (a.family().name(), b.family().name()));
        }
    }
}
