//! The laws of `MinHash`.

use crivo::ErrorKind;
use crivo::keys::KeyScheme;
use crivo::similarity::MinHash;
use crivo::similarity::min_hash::sign;
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_sets, merged, sketch_of, streams};

fn min_hash(k: u32) -> MinHash {
    MinHash::with_scheme(k, KeyScheme::hashes().with_seed(3)).unwrap()
}

/// From one slot, which is always filled at once, to more than most streams have elements.
fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![1_u32..=10, 1_u32..=300, 1_000_u32..=2_000]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn min_hash_obeys_the_laws(streams in streams(), k in sizes()) {
        laws_of_sets(|| min_hash(k), &streams);
    }

    /// Sets far smaller than the sketch take many rounds, and some rounds only because of later
    /// elements.
    #[test]
    fn min_hash_obeys_the_laws_on_small_sets(
        a in proptest::collection::vec(0_u64..40, 0..20),
        b in proptest::collection::vec(0_u64..40, 0..4),
        c in proptest::collection::vec(any::<u64>(), 0..40),
        k in sizes(),
    ) {
        laws_of_sets(|| min_hash(k), &(a, b, c));
    }

    /// A signature in the caller's memory is the sketch's own.
    #[test]
    fn min_hash_and_signatures_are_the_same(streams in streams(), k in sizes()) {
        let mut slots = vec![7; k as usize];
        sign(&streams.0, &mut slots).unwrap();
        let sketch = sketch_of(min_hash(k), &[&streams.0]);
        prop_assert!(sketch.is_empty() == streams.0.is_empty());
        prop_assert!(sketch.is_empty() || sketch.slots() == slots);
    }

    /// Which set is called first changes nothing; a set is like itself, and a union no less like
    /// its parts than they are like each other, slot by slot.
    #[test]
    fn min_hash_compares_both_ways(streams in streams(), k in sizes()) {
        let (a, b, _) = &streams;
        let (x, y) = (sketch_of(min_hash(k), &[a, &[1]]), sketch_of(min_hash(k), &[b, &[1]]));
        let similarity = x.similarity(&y).unwrap();
        prop_assert_eq!(similarity, y.similarity(&x).unwrap());
        prop_assert_eq!(x.similarity(&x).unwrap().value(), 1.0);
        prop_assert!(merged(&x, &y).similarity(&y).unwrap().value() >= similarity.value());
    }
}

#[test]
fn min_hash_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| MinHash::with_scheme(10, scheme).unwrap());
    let other = MinHash::with_scheme(10, KeyScheme::hashes().with_seed(4)).unwrap();
    assert_eq!(min_hash(10).similarity(&other).unwrap_err().field(), "seed");
}

#[test]
fn min_hash_of_different_sizes_refuse_each_other() {
    let (mut a, mut b) = (min_hash(10), min_hash(11));
    for sketch in [&mut a, &mut b] {
        sketch.insert_hash(5);
    }
    let before = a.clone();
    for error in [a.merge(&b).unwrap_err(), a.similarity(&b).unwrap_err()] {
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, "k"));
        assert_eq!((error.expected(), error.found()), ("10", "11"));
    }
    assert_eq!(a, before, "a refused merge changes nothing");
}

#[test]
fn empty_sets_are_not_alike() {
    let (empty, mut one) = (min_hash(10), min_hash(10));
    let error = empty.similarity(&empty).unwrap_err();
    assert_eq!(
        (error.kind(), error.field(), error.found()),
        (ErrorKind::Incompatible, "sets", "two empty sets")
    );
    one.insert_hash(1);
    for similarity in [one.similarity(&empty).unwrap(), empty.similarity(&one).unwrap()] {
        assert!(similarity.is_exact() && similarity.value() == 0.0);
    }
    assert!(empty.slots().is_empty() && one.slots().len() == 10);
}

#[test]
fn sizes_and_errors_out_of_range_are_refused() {
    for k in [0, 32_768, u32::MAX] {
        assert_eq!(MinHash::new(k).unwrap_err().to_string(), format!("k: expected 1 to 32767, found {k}"));
    }
    for error in [0.0, -0.1, 1.0, 0.001, f64::NAN, f64::INFINITY] {
        assert_eq!(MinHash::for_bound(error).unwrap_err().field(), "bound", "{error}");
    }
    for (error, k) in [(0.05, 400), (0.1, 100), (0.01, 10_000), (0.5, 4), (0.9, 2), (0.03, 1_112)] {
        assert_eq!(MinHash::k_for(error), Ok(k));
        assert!(MinHash::bound(k) <= error * (1.0 + 1e-9) && (k == 1 || MinHash::bound(k - 1) > error));
    }
}
