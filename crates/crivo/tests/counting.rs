//! How many events: behaviour that users rely on, through the public door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::codec::{AnySketch, Family, Parameter};
use crivo::counting::{CounterArray, MorrisCounter, SampledCounter};
use crivo::keys::{KeyBatch, KeyBuffer, KeyRef, KeyScheme};
use crivo::{Confidence, ErrorKind, Estimate};

#[test]
fn parameters_out_of_range_are_named_with_their_range() {
    for probability in [0.0, -0.5, 1.1, 1e-20, f64::NAN, f64::INFINITY] {
        let error = SampledCounter::new(probability, 0).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "probability"));
    }
    assert_eq!(SampledCounter::for_error(0.0, 1e6, 0).unwrap_err().field(), "error");
    assert_eq!(SampledCounter::for_error(f64::NAN, 1e6, 0).unwrap_err().field(), "error");
    assert_eq!(SampledCounter::for_error(0.1, 0.0, 0).unwrap_err().field(), "events");
    for base in [1.0, 0.0, -2.0, 2.1, f64::NAN, f64::INFINITY] {
        let error = MorrisCounter::new(base, 8, 0).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "base"));
        assert_eq!(CounterArray::new(10, base, 8, 0).unwrap_err().field(), "base");
    }
    for bits in [0, 3, 17, 255] {
        assert_eq!(MorrisCounter::new(1.5, bits, 0).unwrap_err().expected(), "4 to 16");
        assert_eq!(MorrisCounter::base_for(1e6, bits).unwrap_err().field(), "counter bits");
        assert_eq!(CounterArray::new(10, 1.5, bits, 0).unwrap_err().expected(), "4, 8 or 16");
    }
    for reach in [0.0, 200.0, 1e200, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(MorrisCounter::base_for(reach, 8).unwrap_err().field(), "reach", "{reach}");
    }
    for error in [0.0, 0.00001, 0.8, -0.1, f64::NAN] {
        assert_eq!(MorrisCounter::for_error(error, 8, 0).unwrap_err().field(), "error");
    }
    assert_eq!(CounterArray::new(0, 1.5, 8, 0).unwrap_err().field(), "len");
    assert_eq!(CounterArray::new(u64::MAX, 1.5, 16, 0).unwrap_err().kind(), ErrorKind::OutOfMemory);
}

#[test]
fn bases_reach_what_they_were_asked_for() {
    for bits in 4..=16_u8 {
        for reach in [1e5, 1e10, 1e15] {
            match MorrisCounter::for_reach(reach, bits, 0) {
                Ok(counter) => {
                    assert!(
                        counter.reach() >= reach && counter.reach() < 1.000_001 * reach,
                        "{}",
                        counter.reach()
                    );
                    assert_eq!(u32::from(counter.highest()), (1 << bits) - 1);
                }
                Err(error) => assert!(bits < 6, "{error}"),
            }
        }
    }
    // The known example: 8 bits to 10^10 take a base of 1.084 and an error of 20 %.
    let counter = MorrisCounter::for_reach(1e10, 8, 0).unwrap();
    assert_eq!(format!("{:.3}", counter.base()), "1.084");
    assert_eq!(format!("{:.2}", MorrisCounter::standard_error(counter.base())), "0.20");
    assert_eq!(MorrisCounter::new(2.0, 4, 0).unwrap().reach(), 32_767.0);
    assert_eq!(MorrisCounter::new(2.0, 8, 0).unwrap().reach(), 2_f64.powi(255) - 1.0);
}

#[test]
fn sizes_from_an_error_have_that_error() {
    let counter = SampledCounter::for_error(0.01, 1e6, 0).unwrap();
    assert!((SampledCounter::standard_error(counter.probability(), 1e6) / 0.01 - 1.0).abs() < 1e-9);
    let counter = MorrisCounter::for_error(0.05, 16, 0).unwrap();
    assert!((MorrisCounter::standard_error(counter.base()) / 0.05 - 1.0).abs() < 1e-9);
}

#[test]
fn nothing_counted_is_zero_for_certain_where_the_first_event_always_counts() {
    assert_eq!(MorrisCounter::new(1.5, 8, 0).unwrap().estimate(), Estimate::exact(0.0));
    assert_eq!(CounterArray::new(5, 1.5, 4, 0).unwrap().estimate(4), Ok(Estimate::exact(0.0)));
    // One in a thousand may well have missed the first few thousand.
    let estimate = SampledCounter::new(0.001, 0).unwrap().estimate();
    assert!(!estimate.is_certain() && estimate.value() == 0.0 && estimate.lower() == 0.0);
    assert!((3_600.0..3_800.0).contains(&estimate.upper()), "{estimate:?}");
}

#[test]
fn there_are_never_fewer_events_than_the_value() {
    let unlikely = Confidence::new(1.0 - 1e-12).unwrap();
    for seed in 0..50 {
        let mut sampled = SampledCounter::new(0.9, seed).unwrap();
        let mut morris = MorrisCounter::new(1.01, 16, seed).unwrap();
        sampled.add(20);
        morris.add(20);
        assert!(sampled.estimate_at(unlikely).lower() >= sampled.value() as f64);
        assert!(morris.estimate_at(unlikely).lower() >= f64::from(morris.value()));
    }
}

#[test]
fn huge_numbers_of_events_neither_overflow_nor_take_long() {
    let mut every = SampledCounter::new(1.0, 0).unwrap();
    every.add(u64::MAX);
    every.add(u64::MAX);
    assert!(every.is_saturated() && every.estimate().upper().is_infinite());
    let mut rare = SampledCounter::new(*SampledCounter::PROBABILITIES.start(), 0).unwrap();
    let mut morris = MorrisCounter::new(2.0, 8, 0).unwrap();
    for _ in 0..1000 {
        rare.add(u64::MAX);
        morris.add(u64::MAX);
    }
    let events = 1000.0 * u64::MAX as f64;
    assert!(rare.estimate_at(Confidence::P99).covers(events), "{:?}", rare.estimate());
    assert!(morris.estimate_at(Confidence::P99).covers(events), "{:?}", morris.estimate());
}

#[test]
fn an_array_takes_its_counters_and_little_more() {
    for (bits, bytes) in [(4, 500_000), (8, 1_000_000), (16, 2_000_000)] {
        let array = CounterArray::new(1_000_000, 1.1, bits, 0).unwrap();
        assert!((bytes..bytes + 5_000).contains(&array.memory()), "{bits} bits: {}", array.memory());
    }
}

#[test]
fn saturated_counters_are_counted() {
    let mut array = CounterArray::new(10, 2.0, 4, 0).unwrap();
    array.add(3, 1 << 40).unwrap();
    array.add(4, 5).unwrap();
    assert_eq!((array.saturated(), array.value(3)), (1, Ok(15)));
    assert!(array.estimate(3).unwrap().upper().is_infinite() && array.total().upper().is_infinite());
    assert!(array.estimate(4).unwrap().upper().is_finite());
}

#[test]
fn summaries_tell_parameters_and_answers() {
    let mut sampled = SampledCounter::new(0.25, 1).unwrap();
    sampled.add(1000);
    let summary = AnySketch::from(sampled.clone()).summary();
    assert_eq!(summary.family, Family::SampledCounter);
    assert_eq!(summary.parameters[0], ("probability", Parameter::Ratio(0.25)));
    assert_eq!(summary.items, sampled.estimate());

    let mut morris = MorrisCounter::new(2.0, 4, 1).unwrap();
    morris.add(1 << 40);
    let summary = AnySketch::from(morris).summary();
    assert_eq!(summary.parameters[1], ("counter_bits", Parameter::Count(4)));
    assert_eq!(summary.fill, Some(1.0));

    let mut array = CounterArray::new(4, 1.5, 8, 1).unwrap();
    array.increment_batch(&[0, 3]).unwrap();
    let summary = AnySketch::from(array.clone()).summary();
    assert_eq!(summary.parameters[0], ("len", Parameter::Count(4)));
    assert_eq!((summary.items, summary.fill), (array.total(), Some(0.5)));
}

#[test]
fn a_batch_is_counted_where_queries_look() {
    let (scheme, len) = (KeyScheme::hashes(), 1000);
    let indexes = [0, 999, 7, 7];
    for array in [
        CounterArray::new(len, 1.5, 8, 7).unwrap(),
        CounterArray::with_scheme(len, 1.5, 8, scheme.with_seed(3), 7).unwrap(),
    ] {
        let mut any = AnySketch::from(array);
        let batch = KeyBatch::from_hashes(scheme, &indexes).unwrap();
        any.keys_mut().unwrap().insert_batch(&batch).unwrap();
        let outside = [1, len];
        let beyond = KeyBatch::from_hashes(scheme, &outside).unwrap();
        assert_eq!(any.keys_mut().unwrap().insert_batch(&beyond).unwrap_err().field(), "index");
        let answers = any.frequency().unwrap();
        let count = |index| answers.frequency_ref(KeyRef::Hash(index)).unwrap();
        assert_eq!([0, 999, 1].map(|index| count(index).value()), [1.0, 1.0, 0.0]);
        assert!(count(7).covers(2.0));
    }
    let scheme = KeyScheme::integers();
    let mut any = AnySketch::from(CounterArray::with_scheme(len, 1.5, 8, scheme, 7).unwrap());
    let mut buffer = KeyBuffer::new(scheme);
    any.keys_mut().unwrap().insert_batch(&buffer.hash_integers(&[u64::MAX, 5]).unwrap()).unwrap();
    assert_eq!(any.frequency().unwrap().frequency_ref(KeyRef::Integer(5)).unwrap().value(), 1.0);
}
