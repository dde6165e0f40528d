//! Laws that hold for every mergeable sketch, on random streams.
//!
//! Merging is the union of streams, bit for bit: it commutes, associates, and merging a sketch
//! with itself changes nothing. Batches equal single insertions, and bytes do not depend on the
//! order in which items came.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "support/mod.rs"]
mod support;

use crivo::codec::{Decode, Encode};
use crivo::distinct::HyperLogLog;
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

/// Every law, for sketches whose merge is exact.
fn laws<S>(make: impl Fn() -> S, (a, b, c): &(Vec<u64>, Vec<u64>, Vec<u64>))
where
    S: InsertHashes + Merge + Encode + Decode + Clone + PartialEq + std::fmt::Debug,
{
    let [x, y, z] = [a, b, c].map(|stream| sketch_of(make(), &[stream]));

    assert_eq!(merged(&x, &y), sketch_of(make(), &[a, b]), "merge equals the joined stream");
    assert_eq!(merged(&x, &y), merged(&y, &x), "merge commutes");
    assert_eq!(merged(&merged(&x, &y), &z), merged(&x, &merged(&y, &z)), "merge associates");
    assert_eq!(merged(&x, &x), x, "self-merge changes nothing");
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

fn hyperloglog(precision: u8) -> HyperLogLog {
    HyperLogLog::with_scheme(precision, KeyScheme::hashes().with_seed(3)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hyperloglog_obeys_the_laws(streams in streams(), precision in 4_u8..=18) {
        laws(|| hyperloglog(precision), &streams);
    }

    /// Of two precisions the lower one stays, as if it had been used from the start.
    #[test]
    fn hyperloglog_merges_down_to_the_lower_precision(
        streams in streams(), p in 4_u8..=18, q in 4_u8..=18,
    ) {
        let (a, b, _) = &streams;
        let x = sketch_of(hyperloglog(p), &[a]);
        let y = sketch_of(hyperloglog(q), &[b]);
        let joined = sketch_of(hyperloglog(p.min(q)), &[a, b]);
        prop_assert_eq!(merged(&x, &y).encode(), joined.encode());
        prop_assert_eq!(merged(&y, &x).encode(), joined.encode());
    }
}

/// Registers at their highest value keep information in their index that folding must use:
/// hashes with long runs of zeros, at every pair of precisions.
#[test]
fn hyperloglog_folds_saturated_registers_exactly() {
    let mut random = generator("saturated");
    let extreme: Vec<u64> = (0..20_000)
        .map(|_| match random.below(3) {
            0 => random.bits() << (40 + random.below(24)),
            1 => random.bits() << 46,
            _ => random.bits(),
        })
        .collect();
    for p in HyperLogLog::PRECISIONS {
        for q in *HyperLogLog::PRECISIONS.start()..=p {
            let fine = sketch_of(hyperloglog(p), &[&extreme]);
            let coarse = sketch_of(hyperloglog(q), &[&extreme]);
            assert_eq!(merged(&fine, &hyperloglog(q)), coarse, "{p} folded to {q}");
        }
    }
}

#[test]
fn different_seeds_and_kinds_refuse_each_other() {
    let mut sketch = HyperLogLog::with_scheme(12, KeyScheme::bytes().with_seed(1)).unwrap();
    sketch.insert("a").unwrap();
    let before = sketch.clone();
    for (scheme, field, found) in [
        (KeyScheme::bytes().with_seed(2), "seed", "2"),
        (KeyScheme::integers().with_seed(1), "key kind", "integer"),
        (KeyScheme::hashes().with_seed(1), "key kind", "hash"),
    ] {
        let error = sketch.merge(&HyperLogLog::with_scheme(12, scheme).unwrap()).unwrap_err();
        assert_eq!((error.field(), error.found()), (field, found));
        assert_eq!(error.kind(), crivo::ErrorKind::Incompatible);
        assert_eq!(sketch, before, "a refused merge changes nothing");
    }
}
