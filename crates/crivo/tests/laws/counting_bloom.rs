//! The laws of the counting Bloom filter: it is a multiset, as far as its counters reach.

use crivo::ErrorKind;
use crivo::keys::KeyScheme;
use crivo::membership::{CounterBits, CountingBloom};
use crivo::sketch::{ContainsHashes, InsertHashes};
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_streams, merged, sketch_of, streams};

type Size = (u64, u32, CounterBits);

fn filter((cells, hashes, width): Size) -> CountingBloom {
    CountingBloom::with_scheme(cells, hashes, width, KeyScheme::hashes().with_seed(3)).unwrap()
}

/// Tiny filters, where every key collides with itself and all others, and roomy ones.
fn sizes(width: impl Strategy<Value = CounterBits>) -> impl Strategy<Value = Size> {
    (prop_oneof![1_u64..40, 1_000_u64..50_000], prop_oneof![1_u32..=8, 60_u32..=64], width)
}

fn any_width() -> impl Strategy<Value = CounterBits> {
    prop::sample::select(&CounterBits::ALL)
}

/// Counters that 12,000 insertions cannot saturate.
fn wide() -> impl Strategy<Value = CounterBits> {
    prop::sample::select(vec![CounterBits::Sixteen, CounterBits::ThirtyTwo])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counting_bloom_obeys_the_laws(streams in streams(), size in sizes(any_width())) {
        laws_of_streams(|| filter(size), &streams);
    }

    #[test]
    fn counting_bloom_subtraction_undoes_a_merge((a, b, _) in streams(), size in sizes(wide())) {
        let (x, y) = (sketch_of(filter(size), &[&a]), sketch_of(filter(size), &[&b]));
        let mut both = merged(&x, &y);
        both.subtract(&y).unwrap();
        prop_assert_eq!(&both, &x);
        both.subtract(&x).unwrap();
        prop_assert!(both.is_empty());
    }

    /// What was put in after the rest and taken out again leaves no trace, in whatever order.
    #[test]
    fn counting_bloom_removal_undoes_insertion((a, mut b, _) in streams(), size in sizes(wide())) {
        let x = sketch_of(filter(size), &[&a]);
        let mut both = sketch_of(filter(size), &[&a, &b]);
        b.reverse();
        both.remove_hashes(&b).unwrap();
        prop_assert_eq!(both, x);
    }

    #[test]
    fn counting_bloom_adds_as_often_as_it_is_told(hash in any::<u64>(), times in 0_u64..600, size in sizes(any_width())) {
        let (mut at_once, mut one_by_one) = (filter(size), filter(size));
        prop_assert!(at_once.add_hash(hash, times));
        (0..times).for_each(|time| assert_eq!(one_by_one.insert_hash(hash), time == 0));
        prop_assert_eq!(at_once, one_by_one);
    }

    /// The intersection has no false negatives, no more than either filter, and the usual laws.
    #[test]
    fn counting_bloom_intersection_keeps_what_is_shared((a, b, c) in streams(), size in sizes(wide())) {
        let (x, y) = (sketch_of(filter(size), &[&a, &c]), sketch_of(filter(size), &[&b, &c]));
        let [xy, yx, xx] = [(&x, &y), (&y, &x), (&x, &x)].map(|(a, b)| a.shared_cells(b).unwrap());
        prop_assert_eq!(&xy, &yx);
        prop_assert_eq!(&xx, &x);
        for &hash in &c {
            let least = x.count_hash(hash).value().min(y.count_hash(hash).value());
            prop_assert!(xy.contains_hash(hash) && xy.count_hash(hash).value() >= 1.0);
            prop_assert!(xy.count_hash(hash).value() <= least);
        }
        prop_assert!(xy.fill() <= x.fill().min(y.fill()));
    }

    #[test]
    fn counting_bloom_lookups_of_a_batch_are_those_of_its_keys((a, b, _) in streams(), size in sizes(any_width())) {
        let x = sketch_of(filter(size), &[&a]);
        let mut found = vec![true; 3];
        ContainsHashes::contains_hashes(&x, &[&a[..], &b[..]].concat(), &mut found);
        prop_assert_eq!(found.len(), a.len() + b.len());
        prop_assert!(found[..a.len()].iter().all(|&found| found), "nothing inserted is ever missed");
        for (&hash, &found) in b.iter().zip(&found[a.len()..]) {
            prop_assert_eq!(found, x.contains_hash(hash));
            prop_assert_eq!(found, x.count_hash(hash).value() >= 1.0, "found means counted");
        }
    }
}

#[test]
fn counting_blooms_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| {
        CountingBloom::with_scheme(100, 3, CounterBits::Eight, scheme).unwrap()
    });
}

#[test]
fn counting_blooms_of_different_sizes_refuse_each_other_naming_the_difference() {
    let scheme = KeyScheme::hashes();
    let wide = |bits| CountingBloom::for_items_with_scheme(100, 0.01, bits, scheme).unwrap();
    let mut original = wide(CounterBits::Eight);
    InsertHashes::insert_hash(&mut original, 42);
    let (cells, hashes) = (original.cells(), original.hashes());
    let same_cells = CountingBloom::with_scheme(cells, hashes, CounterBits::Eight, scheme).unwrap();
    let sized =
        |cells, hashes| CountingBloom::with_scheme(cells, hashes, CounterBits::Eight, scheme).unwrap();
    for (other, field, expected, found) in [
        (sized(cells + 1, hashes), "cells", cells, cells + 1),
        (sized(cells, hashes + 1), "hashes", hashes.into(), u64::from(hashes) + 1),
        (wide(CounterBits::Four), "counter bits", 8, 4),
        (same_cells.clone(), "capacity", 100, same_cells.capacity()),
    ] {
        let before = original.clone();
        for error in [
            original.merge(&other).unwrap_err(),
            original.subtract(&other).unwrap_err(),
            original.shared_cells(&other).unwrap_err(),
            original.shared_items(&other).unwrap_err(),
        ] {
            assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
            assert_eq!((error.expected(), error.found()), (&*expected.to_string(), &*found.to_string()));
        }
        assert_eq!(original, before, "a refusal changes nothing");
    }
}
