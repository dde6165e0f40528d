//! The laws of `KMinValues`.

use std::collections::BTreeSet;

use crivo::distinct::KMinValues;
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_sets, merged, sketch_of, streams};

fn smallest(k: u32) -> KMinValues {
    KMinValues::with_scheme(k, KeyScheme::hashes().with_seed(3)).unwrap()
}

/// From one hash to more than any stream has.
fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![1_u32..=10, 1_u32..=1_000, 1_000_u32..=10_000]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn k_min_values_obeys_the_laws(streams in streams(), k in sizes()) {
        laws_of_sets(|| smallest(k), &streams);
    }

    /// Of two sizes the smaller one stays, as if it had been used from the start.
    #[test]
    fn k_min_values_merges_down_to_the_smaller_size(streams in streams(), k in sizes(), l in sizes()) {
        let (a, b, _) = &streams;
        let (x, y) = (sketch_of(smallest(k), &[a]), sketch_of(smallest(l), &[b]));
        let joined = sketch_of(smallest(k.min(l)), &[a, b]);
        prop_assert_eq!(merged(&x, &y).encode(), joined.encode());
        prop_assert_eq!(merged(&y, &x).encode(), joined.encode());
    }

    /// What is written is the k smallest hashes of the set and nothing else.
    #[test]
    fn k_min_values_writes_the_smallest_hashes(streams in streams(), k in sizes()) {
        let (a, b, _) = &streams;
        let set: BTreeSet<u64> = a.iter().chain(b).copied().collect();
        let expected: Vec<u8> = set.iter().take(k as usize).flat_map(|hash| hash.to_le_bytes()).collect();
        let bytes = sketch_of(smallest(k), &[a, b, a]).encode();
        prop_assert_eq!(&bytes[36..bytes.len() - 4], &expected[..]);
    }

    /// Which set is called first changes the difference only.
    #[test]
    fn k_min_values_compares_both_ways(streams in streams(), k in sizes(), l in sizes()) {
        let (a, b, _) = &streams;
        let (x, y) = (sketch_of(smallest(k), &[a, b]), sketch_of(smallest(l), &[b]));
        let (forth, back) = (x.compare(&y).unwrap(), y.compare(&x).unwrap());
        prop_assert_eq!(forth.union(), back.union());
        prop_assert_eq!(forth.intersection(), back.intersection());
        prop_assert_eq!(forth.jaccard(), back.jaccard());
        prop_assert_eq!(back.difference().value(), 0.0, "b is a subset");
        let itself = x.compare(&x).unwrap();
        prop_assert_eq!(itself.jaccard().value(), 1.0);
        prop_assert_eq!(itself.difference().value(), 0.0);
        prop_assert_eq!(itself.intersection(), itself.union());
    }
}

#[test]
fn k_min_values_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| KMinValues::with_scheme(10, scheme).unwrap());
    let other = KMinValues::with_scheme(10, KeyScheme::hashes().with_seed(4)).unwrap();
    assert_eq!(smallest(10).compare(&other).unwrap_err().field(), "seed");
}
