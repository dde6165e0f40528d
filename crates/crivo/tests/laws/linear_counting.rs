//! The laws of `LinearCounting`.

use crivo::ErrorKind;
use crivo::distinct::LinearCounting;
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_sets, streams};

fn linear(bits: u64) -> LinearCounting {
    LinearCounting::with_scheme(bits, KeyScheme::hashes().with_seed(3)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// From tables that are full at once to those that stay nearly empty.
    #[test]
    fn linear_counting_obeys_the_laws(streams in streams(), bits in 1_u64..=20_000) {
        laws_of_sets(|| linear(bits), &streams);
    }
}

/// Larger than what fits in a cache, where batches are inserted in another way.
#[test]
fn large_linear_countings_obey_the_laws() {
    let hashes = |from: u64| (from..from + 3_000).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    laws_of_sets(|| linear((1 << 22) + 7), &(hashes(0), hashes(2_000), hashes(9_000)));
}

#[test]
fn linear_countings_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| LinearCounting::with_scheme(100, scheme).unwrap());
}

#[test]
fn linear_countings_of_different_sizes_refuse_each_other() {
    let mut sketch = linear(100);
    sketch.insert_hash(42);
    let before = sketch.clone();
    let error = sketch.merge(&linear(200)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Incompatible);
    assert_eq!((error.field(), error.expected(), error.found()), ("bits", "100", "200"));
    assert_eq!(sketch, before, "a refused merge changes nothing");
}
