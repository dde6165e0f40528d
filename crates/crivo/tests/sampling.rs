//! A fair sample: behaviour that users rely on, through the public door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::codec::{AnySketch, Family, Parameter};
use crivo::keys::{KeyRef, KeyScheme};
use crivo::sampling::{Reservoir, WeightedReservoir};
use crivo::{ErrorKind, Estimate};

#[test]
fn parameters_out_of_range_are_named_with_their_range() {
    for error in [Reservoir::new(0, 1).unwrap_err(), WeightedReservoir::new(0, 1).unwrap_err()] {
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "capacity"));
    }
    let mut sample = WeightedReservoir::new(3, 1).unwrap();
    for weight in [-1.0, -1e-300, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = sample.insert("key", weight).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "weight"));
    }
    assert_eq!((sample.seen(), sample.weightless()), (0, 0), "what is refused is not counted");
}

#[test]
fn the_largest_capacity_takes_no_memory_before_items_come() {
    let mut sample = Reservoir::new(u32::MAX.into(), 1).unwrap();
    sample.insert("key").unwrap();
    let mut weighted = WeightedReservoir::new(u32::MAX.into(), 1).unwrap();
    weighted.insert("key", 1.0).unwrap();
    assert!(sample.memory() < 300 && weighted.memory() < 500, "{} {}", sample.memory(), weighted.memory());
}

#[test]
fn memory_counts_the_keys() {
    let mut sample = Reservoir::new(10, 1).unwrap();
    let mut weighted = WeightedReservoir::new(10, 1).unwrap();
    for i in 0..1000_usize {
        let long = "x".repeat(10_000 + i);
        sample.insert(long.as_str()).unwrap();
        weighted.insert(long.as_str(), 1.0).unwrap();
    }
    assert!((100_000..111_000).contains(&sample.memory()), "{}", sample.memory());
    assert!((100_000..111_000).contains(&weighted.memory()), "{}", weighted.memory());
    let mut integers = Reservoir::with_scheme(1000, KeyScheme::integers(), 1).unwrap();
    (0..100_000_u64).for_each(|i| integers.insert(&i).unwrap());
    assert!(integers.memory() <= 1024 * 8 + 200, "{}", integers.memory());
}

#[test]
fn the_same_seed_gives_the_same_sample_and_another_seed_another() {
    let sample = |seed| {
        let mut sample = Reservoir::with_scheme(10, KeyScheme::integers(), seed).unwrap();
        (0..10_000_u64).for_each(|i| sample.insert(&i).unwrap());
        sample
    };
    assert_eq!(sample(1), sample(1));
    assert!(!sample(1).sample().eq(sample(2).sample()));
}

/// Weights at both ends of what a number can hold: nothing overflows, nothing is lost.
#[test]
fn extreme_weights_are_ordinary() {
    let least = f64::from_bits(1);
    let mut sample = WeightedReservoir::with_scheme(4, KeyScheme::integers(), 3).unwrap();
    for round in 0..1000_u64 {
        for (i, weight) in (0..).zip([least, f64::MIN_POSITIVE, 1.0, 1e300, f64::MAX]) {
            sample.insert(&(round * 10 + i), weight).unwrap();
        }
        sample = WeightedReservoir::decode(&sample.encode()).unwrap();
        let other = sample.clone();
        if round % 100 == 0 {
            sample.merge(&other).unwrap();
        }
    }
    let heavy = sample.sample().all(|key| matches!(key, KeyRef::Integer(i) if i % 10 == 4));
    assert!(heavy && sample.sample().len() == 4, "{:?}", sample.sample().collect::<Vec<_>>());

    let mut light = WeightedReservoir::with_scheme(2, KeyScheme::integers(), 3).unwrap();
    (0..10_u64).for_each(|i| light.insert(&i, least).unwrap());
    assert_eq!(light.sample().len(), 2);
    light.insert(&100_u64, 1.0).unwrap();
    assert_eq!(light.sample().next(), Some(KeyRef::Integer(100)), "any weight is more than the least");
}

#[test]
fn summaries_tell_capacity_and_items() {
    let mut sample = Reservoir::new(4, 1).unwrap();
    sample.insert("a").unwrap();
    let summary = AnySketch::from(sample).summary();
    assert_eq!((summary.family, summary.fill), (Family::Reservoir, Some(0.25)));
    assert_eq!(summary.parameters[0], ("capacity", Parameter::Count(4)));
    assert_eq!(summary.items, Estimate::exact(1.0));

    let mut weighted = WeightedReservoir::new(2, 1).unwrap();
    weighted.insert("a", 0.0).unwrap();
    weighted.insert("b", 0.5).unwrap();
    let summary = AnySketch::from(weighted).summary();
    assert_eq!((summary.family, summary.fill), (Family::WeightedReservoir, Some(0.5)));
    assert_eq!(summary.parameters[2], ("weightless", Parameter::Count(1)));
    assert_eq!(summary.items, Estimate::exact(1.0));
}
