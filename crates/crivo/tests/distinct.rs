//! How many different: behaviour of the register sketches that users rely on, through the public
//! door.

#![allow(clippy::unwrap_used, clippy::panic)] // this is how a test fails

#[path = "support/mod.rs"]
#[allow(dead_code)] // only what is said of register sketches is used
mod support;

use crivo::ErrorKind;
use crivo::codec::{AnySketch, Parameter};
use crivo::distinct::{HyperLogLog, RegisterSketch, UltraLogLog};
use crivo::keys::{KeyBuffer, KeyScheme};

use support::register_sketches::{RegisterModel, for_each_register_sketch};

fn parameters_out_of_range_are_named_with_their_range<K: RegisterModel>() {
    for precision in [0, 3, 19, 255] {
        let error = RegisterSketch::<K>::new(precision).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "precision"));
        assert_eq!(error.expected(), "4 to 18");
    }
    for target in [0.0, -0.01, 1.0, 7.0, 0.0001, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let error = RegisterSketch::<K>::for_error(target).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "error"), "{target}");
    }
}

fn precision_for_is_the_smallest_that_reaches_the_error<K: RegisterModel>() {
    for precision in 5..=18 {
        let reached = RegisterSketch::<K>::standard_error(precision);
        let slightly_missed = RegisterSketch::<K>::standard_error(precision - 1) * 0.999;
        for error in [reached, reached * 1.001, slightly_missed] {
            assert_eq!(RegisterSketch::<K>::precision_for(error), Ok(precision));
        }
    }
}

fn exact_state_takes_no_more_memory_than_the_dense_one<K: RegisterModel>() {
    for precision in RegisterSketch::<K>::PRECISIONS {
        let mut sketch = RegisterSketch::<K>::with_scheme(precision, KeyScheme::integers()).unwrap();
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

fn wrong_kinds_of_key_change_nothing<K: RegisterModel>() {
    let mut sketch = RegisterSketch::<K>::new(12).unwrap();
    sketch.insert("a").unwrap();
    let before = sketch.clone();
    assert_eq!(sketch.insert(&7_u32).unwrap_err().kind(), ErrorKind::Incompatible);
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let integers = buffer.hash_integers(&[1, 2, 3]).unwrap();
    assert_eq!(sketch.insert_batch(&integers).unwrap_err().field(), "key kind");
    let mut buffer = KeyBuffer::new(KeyScheme::bytes().with_seed(1));
    let texts = buffer.hash_offsets(&[0, 1, 2], b"ab").unwrap();
    assert_eq!(sketch.insert_batch(&texts).unwrap_err().field(), "seed");
    assert_eq!(sketch, before);
}

fn summary_tells_size_state_and_keys<K: RegisterModel>() {
    let mut sketch = RegisterSketch::<K>::with_scheme(8, KeyScheme::integers().with_seed(3)).unwrap();
    assert_eq!(sketch.summary().parameters[1], ("state", Parameter::Name("exact")));
    (0..1000_u64).for_each(|i| sketch.insert(&i).unwrap());
    let summary = AnySketch::decode(&sketch.encode()).unwrap().summary();
    assert_eq!(summary.family, K::FAMILY);
    assert_eq!(summary.parameters[0], ("precision", Parameter::Count(8)));
    assert_eq!(summary.parameters[1], ("state", Parameter::Name("dense")));
    assert_eq!(summary.parameters[..1], sketch.parameters(), "the sizes come first");
    assert_eq!(summary.scheme, KeyScheme::integers().with_seed(3));
    assert_eq!(summary.items, sketch.estimate());
    assert!(summary.fill.is_some_and(|fill| fill > 0.9 && fill <= 1.0));
}

/// The entropy of one register in bits, from the Poisson model with floats: the sum over all sets
/// of levels that the register tells apart.
fn entropy<K: RegisterModel>(rate: f64, precision: u8) -> f64 {
    let highest = 65 - u32::from(precision);
    let absent = |level: u32| (-rate * 2_f64.powi(-(level.min(highest - 1) as i32))).exp();
    let mut none_above = 1.0;
    let mut bits = 0.0;
    let mut add = |probability: f64| {
        if probability > 0.0 {
            bits -= probability * probability.log2();
        }
    };
    for level in (1..=highest).rev() {
        for pattern in 0..1_u32 << K::BELOW {
            let mut probability = none_above * (1.0 - absent(level));
            for back in 1..=K::BELOW {
                let is_set = pattern >> (K::BELOW - back) & 1 == 1;
                let occurs = if level > back { 1.0 - absent(level - back) } else { 0.0 };
                probability *= if is_set { occurs } else { 1.0 - occurs };
            }
            add(probability);
        }
        none_above *= absent(level);
    }
    add(none_above);
    bits
}

/// Twenty sketches of each size take what their entropy says, and what else a file needs: 36 bytes
/// of envelope and fields, and 12 of the coder. Each of its two states begins with 31 bits, and
/// leaves 17 of 64 empty on average.
fn stored_registers_take_their_entropy<K: RegisterModel>() {
    for (precision, items) in [(12, 500_u64), (12, 4_000), (12, 100_000), (14, 50_000), (8, 10_000)] {
        let stored: usize = (0..20)
            .map(|seed| {
                let scheme = KeyScheme::integers().with_seed(seed);
                let mut sketch = RegisterSketch::<K>::with_scheme(precision, scheme).unwrap();
                (0..items).for_each(|item| sketch.insert(&item).unwrap());
                sketch.encode().len()
            })
            .sum();
        let registers = f64::from(1_u32 << precision);
        let expected = registers * entropy::<K>(items as f64 / registers, precision) / 8.0 + 48.0;
        let found = stored as f64 / 20.0;
        assert!((found / expected - 1.0).abs() < 0.02, "{found} bytes, not {expected}: {precision}, {items}");
    }
}

macro_rules! behaviour {
    ($($name:ident: $kind:ty;)*) => {
        $(mod $name {
            #[test]
            fn parameters_out_of_range_are_named_with_their_range() {
                super::parameters_out_of_range_are_named_with_their_range::<$kind>();
            }

            #[test]
            fn precision_for_is_the_smallest_that_reaches_the_error() {
                super::precision_for_is_the_smallest_that_reaches_the_error::<$kind>();
            }

            #[test]
            fn exact_state_takes_no_more_memory_than_the_dense_one() {
                super::exact_state_takes_no_more_memory_than_the_dense_one::<$kind>();
            }

            #[test]
            fn wrong_kinds_of_key_change_nothing() {
                super::wrong_kinds_of_key_change_nothing::<$kind>();
            }

            #[test]
            fn stored_registers_take_their_entropy() {
                super::stored_registers_take_their_entropy::<$kind>();
            }

            #[test]
            fn summary_tells_size_state_and_keys() {
                super::summary_tells_size_state_and_keys::<$kind>();
            }
        })*
    };
}
for_each_register_sketch!(behaviour);

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
