//! The laws of `ProbabilisticCounting`.

use crivo::distinct::ProbabilisticCounting;
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_sets, sketch_of, streams};

fn probabilistic() -> ProbabilisticCounting {
    ProbabilisticCounting::with_scheme(KeyScheme::hashes().with_seed(3))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn probabilistic_counting_obeys_the_laws(streams in streams()) {
        laws_of_sets(probabilistic, &streams);
    }

    #[test]
    fn probabilistic_counting_keeps_the_longest_run(streams in streams()) {
        let (a, b, _) = &streams;
        let longest = a.iter().chain(b).map(|hash| hash.trailing_zeros() as u8).max();
        prop_assert_eq!(sketch_of(probabilistic(), &[a, b]).longest_run(), longest);
    }
}

#[test]
fn probabilistic_countings_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(ProbabilisticCounting::with_scheme);
}
