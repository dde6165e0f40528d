//! The laws of `ExactDistinct`.

use std::collections::BTreeSet;

use crivo::distinct::ExactDistinct;
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_sets, sketch_of, streams};

fn exact() -> ExactDistinct {
    ExactDistinct::with_scheme(KeyScheme::hashes().with_seed(3))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn exact_distinct_obeys_the_laws(streams in streams()) {
        laws_of_sets(exact, &streams);
    }

    #[test]
    fn exact_distinct_counts_each_hash_once(streams in streams()) {
        let (a, b, _) = &streams;
        let sketch = sketch_of(exact(), &[a, b, a]);
        let set: BTreeSet<u64> = a.iter().chain(b).copied().collect();
        prop_assert!(sketch.estimate().is_exact());
        prop_assert_eq!(sketch.estimate().value(), set.len() as f64);
    }
}

#[test]
fn exact_distincts_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(ExactDistinct::with_scheme);
}
