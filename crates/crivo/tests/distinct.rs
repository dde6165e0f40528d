//! How many different: behaviour that users rely on, through the public door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::ErrorKind;
use crivo::codec::{AnySketch, Family, Parameter};
use crivo::distinct::{HyperLogLog, UltraLogLog};
use crivo::keys::{KeyBuffer, KeyScheme};

#[test]
fn parameters_out_of_range_are_named_with_their_range() {
    for precision in [0, 3, 19, 255] {
        let error = HyperLogLog::new(precision).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "precision"));
        assert_eq!(error.expected(), "4 to 18");
    }
    for target in [0.0, -0.01, 1.0, 7.0, 0.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = HyperLogLog::for_error(target).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "error"), "{target}");
    }
}

#[test]
fn precision_for_is_the_smallest_that_reaches_the_error() {
    for precision in 5..=18 {
        let reached = HyperLogLog::standard_error(precision);
        assert_eq!(HyperLogLog::precision_for(reached), Ok(precision));
        assert_eq!(HyperLogLog::precision_for(reached * 1.001), Ok(precision));
        assert_eq!(
            HyperLogLog::precision_for(HyperLogLog::standard_error(precision - 1) * 0.999),
            Ok(precision)
        );
    }
}

#[test]
fn exact_state_takes_no_more_memory_than_the_dense_one() {
    for precision in HyperLogLog::PRECISIONS {
        let mut sketch = HyperLogLog::with_scheme(precision, KeyScheme::integers()).unwrap();
        let mut most = sketch.memory();
        let mut next = 0_u64;
        while sketch.estimate().is_certain() {
            most = most.max(sketch.memory());
            sketch.insert(&next).unwrap();
            next += 1;
        }
        assert!(most <= sketch.memory(), "{most} bytes before {} at precision {precision}", sketch.memory());
    }
}

#[test]
fn wrong_kinds_of_key_change_nothing() {
    let mut sketch = HyperLogLog::new(12).unwrap();
    sketch.insert("a").unwrap();
    let before = sketch.clone();
    assert_eq!(sketch.insert(&7_u32).unwrap_err().kind(), ErrorKind::Incompatible);
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let batch = buffer.hash_integers(&[1, 2, 3]).unwrap();
    assert_eq!(sketch.insert_batch(&batch).unwrap_err().field(), "key kind");
    assert_eq!(sketch, before);
}

#[test]
fn summary_tells_size_state_and_keys() {
    let mut sketch = HyperLogLog::with_scheme(8, KeyScheme::integers().with_seed(3)).unwrap();
    (0..1000_u64).for_each(|i| sketch.insert(&i).unwrap());
    let summary = AnySketch::from(sketch.clone()).summary();
    assert_eq!(summary.family, Family::HyperLogLog);
    assert_eq!(summary.parameters[0], ("precision", Parameter::Count(8)));
    assert_eq!(summary.parameters[1], ("state", Parameter::Name("dense")));
    assert_eq!(summary.scheme, KeyScheme::integers().with_seed(3));
    assert_eq!(summary.items, sketch.estimate());
    assert!(summary.fill.is_some_and(|fill| fill > 0.9 && fill <= 1.0));
}

#[test]
fn ultraloglog_names_parameters_out_of_range() {
    for precision in [0, 3, 19, 255] {
        let error = UltraLogLog::new(precision).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "precision"));
        assert_eq!(error.expected(), "4 to 18");
    }
    for target in [0.0, -0.01, 1.0, 7.0, 0.001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = UltraLogLog::for_error(target).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "error"), "{target}");
    }
}

#[test]
fn ultraloglog_needs_no_more_memory_for_an_error_than_hyperloglog() {
    for error in [0.1, 0.03, 0.02, 0.01, 0.005, 0.0025] {
        let ultra = UltraLogLog::precision_for(error).unwrap();
        let hyper = HyperLogLog::precision_for(error).unwrap();
        assert!(ultra <= hyper, "{ultra} for {error}, HyperLogLog {hyper}");
        assert!(UltraLogLog::standard_error(ultra) <= error);
    }
    let ratio = HyperLogLog::standard_error(12) / UltraLogLog::standard_error(12);
    assert!((ratio - 1.3625).abs() < 1e-3, "{ratio}");
}

#[test]
fn ultraloglog_is_no_larger_while_it_is_exact() {
    for precision in UltraLogLog::PRECISIONS {
        let mut sketch = UltraLogLog::with_scheme(precision, KeyScheme::integers()).unwrap();
        let mut most = sketch.memory();
        let mut next = 0_u64;
        while sketch.estimate().is_certain() {
            most = most.max(sketch.memory());
            sketch.insert(&next).unwrap();
            next += 1;
        }
        assert!(most <= sketch.memory(), "{most} bytes before {} at precision {precision}", sketch.memory());
    }
}

#[test]
fn ultraloglog_refuses_wrong_kinds_of_key_and_tells_its_state() {
    let mut sketch = UltraLogLog::with_scheme(8, KeyScheme::integers().with_seed(3)).unwrap();
    (0..1000_u64).for_each(|i| sketch.insert(&i).unwrap());
    let before = sketch.clone();
    assert_eq!(sketch.insert("a").unwrap_err().kind(), ErrorKind::Incompatible);
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let batch = buffer.hash_integers(&[1, 2, 3]).unwrap();
    assert_eq!(sketch.insert_batch(&batch).unwrap_err().field(), "seed");
    assert_eq!(sketch, before);

    let summary = AnySketch::from(sketch.clone()).summary();
    assert_eq!(summary.family, Family::UltraLogLog);
    assert_eq!(summary.parameters[0], ("precision", Parameter::Count(8)));
    assert_eq!(summary.parameters[1], ("state", Parameter::Name("dense")));
    assert_eq!(summary.scheme, KeyScheme::integers().with_seed(3));
    assert_eq!(summary.items, sketch.estimate());
    assert!(summary.fill.is_some_and(|fill| fill > 0.9 && fill <= 1.0));
}
