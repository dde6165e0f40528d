//! What `MorrisCounter` promises: events can be counted in any portions, stored and continued, and
//! joined.

use crivo::ErrorKind;
use crivo::counting::MorrisCounter;
use proptest::prelude::*;

fn counted(base: f64, bits: u8, events: u64, seed: u64) -> MorrisCounter {
    let mut counter = MorrisCounter::new(base, bits, seed).unwrap();
    counter.add(events);
    counter
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn morris_counter_takes_events_in_any_portions(
        portions in prop::collection::vec(0_u64..3000, 0..8), base in 1.0001_f64..=2.0, bits in 4_u8..=16, seed: u64,
    ) {
        let total = portions.iter().sum();
        let at_once = counted(base, bits, total, seed);
        let (mut in_portions, mut one_by_one) = (counted(base, bits, 0, seed), counted(base, bits, 0, seed));
        for &portion in &portions {
            in_portions.add(portion);
            in_portions = MorrisCounter::decode(&in_portions.encode()).unwrap();
        }
        (0..total).for_each(|_| one_by_one.increment());
        prop_assert_eq!(at_once.encode(), in_portions.encode(), "bytes do not depend on portions, nor on being stored");
        prop_assert_eq!(at_once, one_by_one);
    }

    /// A joined counter is at least the larger of the two and at most their sum.
    #[test]
    fn morris_counter_is_joined_between_the_larger_and_the_sum(
        a in 0_u64..100_000, b in 0_u64..100_000, base in 1.0001_f64..=2.0, bits in 4_u8..=16, seed: u64,
    ) {
        let (x, y) = (counted(base, bits, a, seed), counted(base, bits, b, !seed));
        let mut merged = x.clone();
        merged.merge(&y).unwrap();
        let most = (u32::from(x.value()) + u32::from(y.value())).min(u32::from(x.highest()));
        prop_assert!(merged.value() >= x.value().max(y.value()) && u32::from(merged.value()) <= most);
        prop_assert_eq!(MorrisCounter::decode(&merged.encode()), Ok(merged));

        let mut with_nothing = x.clone();
        with_nothing.merge(&counted(base, bits, 0, !seed)).unwrap();
        prop_assert_eq!(&with_nothing, &x, "merging an empty counter changes nothing");
        let mut from_nothing = counted(base, bits, 0, !seed);
        from_nothing.merge(&x).unwrap();
        prop_assert_eq!(from_nothing.value(), x.value(), "an empty counter takes the other's value");
    }
}

#[test]
fn morris_counters_of_different_scales_refuse_each_other() {
    let mut counter = counted(1.5, 8, 100, 1);
    let before = counter.clone();
    for (other, field, found) in
        [(counted(1.25, 8, 100, 2), "base", "1.25"), (counted(1.5, 9, 100, 2), "counter bits", "9")]
    {
        let error = counter.merge(&other).unwrap_err();
        assert_eq!((error.kind(), error.field(), error.found()), (ErrorKind::Incompatible, field, found));
        assert_eq!(counter, before, "a refused merge changes nothing");
    }
}

#[test]
fn a_saturated_morris_counter_stays() {
    let mut counter = counted(2.0, 4, u64::MAX, 1);
    let saturated = counter.clone();
    assert!(saturated.is_saturated());
    counter.add(u64::MAX);
    counter.merge(&counted(2.0, 4, u64::MAX, 2)).unwrap();
    assert_eq!(counter.value(), 15);
    counter.increment();
    assert_eq!(counter.value(), 15);
}
