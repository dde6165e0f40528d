//! What `SampledCounter` promises: events can be counted in any portions, stored and continued, and
//! joined.

use crivo::ErrorKind;
use crivo::counting::SampledCounter;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sampled_counter_takes_events_in_any_portions(
        portions in prop::collection::vec(0_u64..3000, 0..8), probability in 0.001_f64..=1.0, seed: u64,
    ) {
        let empty = || SampledCounter::new(probability, seed).unwrap();
        let (mut at_once, mut in_portions, mut one_by_one) = (empty(), empty(), empty());
        at_once.add(portions.iter().sum());
        for &portion in &portions {
            in_portions.add(portion);
            in_portions = SampledCounter::decode(&in_portions.encode()).unwrap();
        }
        (0..portions.iter().sum()).for_each(|_| one_by_one.increment());
        prop_assert_eq!(at_once.encode(), in_portions.encode(), "bytes do not depend on portions, nor on being stored");
        prop_assert_eq!(at_once, one_by_one);
    }

    #[test]
    fn sampled_counter_adds_values_when_merged(a in 0_u64..5000, b in 0_u64..5000, seed: u64) {
        let counted = |events, seed| {
            let mut counter = SampledCounter::new(0.25, seed).unwrap();
            counter.add(events);
            counter
        };
        let (x, y) = (counted(a, seed), counted(b, !seed));
        let mut merged = x.clone();
        merged.merge(&y).unwrap();
        prop_assert_eq!(merged.value(), x.value() + y.value());
        let mut with_nothing = x.clone();
        with_nothing.merge(&counted(0, !seed)).unwrap();
        prop_assert_eq!(with_nothing, x, "merging an empty counter changes nothing");
    }
}

#[test]
fn sampled_counters_of_different_probabilities_refuse_each_other() {
    let mut half = SampledCounter::new(0.5, 1).unwrap();
    half.add(10);
    let before = half.clone();
    let error = half.merge(&SampledCounter::new(0.25, 2).unwrap()).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, "probability"));
    assert_eq!((error.expected(), error.found()), ("0.5", "0.25"));
    assert_eq!(half, before, "a refused merge changes nothing");
}
