//! How many different, by the other methods: behaviour that users rely on, through the public door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::ErrorKind::{self, InvalidParameter};
use crivo::codec::{AnySketch, Family, Parameter};
use crivo::distinct::{ExactDistinct, KMinValues, LinearCounting, LogLog, ProbabilisticCounting};
use crivo::keys::{KeyBuffer, KeyScheme};
use crivo::{Confidence, Error, Estimate};

/// Kind, field and expectation of the error that a constructor gives.
fn refusal<S: std::fmt::Debug>(outcome: Result<S, Error>) -> (ErrorKind, &'static str, String) {
    let error = outcome.unwrap_err();
    (error.kind(), error.field(), error.expected().to_string())
}

#[test]
fn parameters_out_of_range_are_named_with_their_range() {
    for bits in [0, (1 << 36) + 1, u64::MAX] {
        assert_eq!(refusal(LinearCounting::new(bits)), (InvalidParameter, "bits", "1 to 68719476736".into()));
    }
    for k in [0, (1 << 26) + 1, u32::MAX] {
        assert_eq!(refusal(KMinValues::new(k)), (InvalidParameter, "k", "1 to 67108864".into()));
    }
    for precision in [0, 5, 19, 255] {
        assert_eq!(refusal(LogLog::new(precision)), (InvalidParameter, "precision", "6 to 18".into()));
    }
    for error in [0.0, -0.01, 1.0, 7.0, 1e-9, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let fields = [
            refusal(LinearCounting::for_items(1 << 50, error)).1,
            refusal(KMinValues::for_error(error)).1,
            refusal(LogLog::for_error(error)).1,
        ];
        assert_eq!(fields, ["error"; 3], "{error}");
    }
    assert_eq!(refusal(LinearCounting::for_items(0, 0.01)).1, "items");
}

#[test]
fn sizes_for_a_goal_are_the_smallest_that_reach_it() {
    // The table of Whang, Vander-Zanden and Taylor for an error of 1 %.
    for (items, bits) in [(1_000, 5_329), (10_000, 7_960), (100_000, 26_729), (1_000_000, 154_171)] {
        assert_eq!(LinearCounting::bits_for(items, 0.01), Ok(bits));
    }
    for items in [1, 10, 1_000, 1_000_000_000] {
        for error in [0.3, 0.05, 0.001] {
            let bits = LinearCounting::bits_for(items, error).unwrap();
            assert!(LinearCounting::standard_error(bits, items) <= error, "{items} items, {error}");
        }
    }
    for k in [4, 100, 10_000, 1 << 26] {
        assert_eq!(KMinValues::k_for(KMinValues::standard_error(k)), Ok(k));
        assert_eq!(KMinValues::k_for(KMinValues::standard_error(k - 1) * 0.999_999_999), Ok(k));
    }
    assert!(KMinValues::standard_error(1).is_infinite() && KMinValues::standard_error(2).is_infinite());
    for precision in 7..=18 {
        let reached = LogLog::standard_error(precision);
        assert_eq!(LogLog::precision_for(reached), Ok(precision));
        assert_eq!(LogLog::precision_for(LogLog::standard_error(precision - 1) * 0.999), Ok(precision));
    }
}

#[test]
fn nothing_inserted_is_exactly_zero() {
    let scheme = KeyScheme::integers();
    let empty = [
        ExactDistinct::with_scheme(scheme).estimate(),
        LinearCounting::with_scheme(100, scheme).unwrap().estimate(),
        KMinValues::with_scheme(1, scheme).unwrap().estimate(),
        ProbabilisticCounting::with_scheme(scheme).estimate(),
        LogLog::with_scheme(6, scheme).unwrap().estimate(),
    ];
    assert_eq!(empty, [Estimate::exact(0.0); 5]);
}

/// One item is one item, at the least, for everyone.
#[test]
fn one_item_is_within_every_interval() {
    for key in 0..200_u64 {
        let hash = KeyScheme::integers().hash(&key).unwrap();
        let scheme = KeyScheme::hashes();
        let mut linear = LinearCounting::with_scheme(64, scheme).unwrap();
        let mut smallest = KMinValues::with_scheme(2, scheme).unwrap();
        let mut loglog = LogLog::with_scheme(6, scheme).unwrap();
        linear.insert_hash(hash);
        smallest.insert_hash(hash);
        loglog.insert_hash(hash);
        assert_eq!((linear.estimate().lower(), linear.estimate().upper() < 2.0), (1.0, true));
        assert_eq!(smallest.estimate(), Estimate::exact(1.0));
        assert!(loglog.estimate().lower() >= 1.0);
    }
}

#[test]
fn wrong_kinds_of_key_change_nothing() {
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let batch = buffer.hash_integers(&[1, 2, 3]).unwrap();
    let mut exact = ExactDistinct::new();
    let mut linear = LinearCounting::new(10).unwrap();
    let mut smallest = KMinValues::new(10).unwrap();
    let mut probabilistic = ProbabilisticCounting::new();
    let mut loglog = LogLog::new(6).unwrap();
    let refused = [
        exact.insert(&7_u32),
        linear.insert(&7_u32),
        smallest.insert(&7_u32),
        probabilistic.insert(&7_u32),
        loglog.insert(&7_u32),
        exact.insert_batch(&batch),
        linear.insert_batch(&batch),
        smallest.insert_batch(&batch),
        probabilistic.insert_batch(&batch),
        loglog.insert_batch(&batch),
    ];
    for outcome in refused {
        assert_eq!(outcome.unwrap_err().field(), "key kind");
    }
    assert!(exact.is_empty() && linear.is_empty() && smallest.is_empty());
    assert!(probabilistic.is_empty() && loglog.is_empty());
}

#[test]
fn summaries_tell_size_state_and_keys() {
    let scheme = KeyScheme::integers().with_seed(3);
    let keys: Vec<u64> = (0..1_000).collect();
    let mut buffer = KeyBuffer::new(scheme);
    let batch = buffer.hash_integers(&keys).unwrap();

    let mut linear = LinearCounting::with_scheme(500, scheme).unwrap();
    linear.insert_batch(&batch).unwrap();
    let summary = AnySketch::from(linear).summary();
    assert_eq!(summary.parameters[0], ("bits", Parameter::Count(500)));
    assert_eq!(summary.parameters[1], ("state", Parameter::Name("counting")));
    assert!(summary.fill.is_some_and(|fill| fill > 0.8 && fill < 0.92), "{:?}", summary.fill);

    let mut smallest = KMinValues::with_scheme(100, scheme).unwrap();
    smallest.insert_batch(&batch).unwrap();
    let summary = AnySketch::from(smallest).summary();
    assert_eq!((summary.family, summary.scheme), (Family::KMinValues, scheme));
    assert_eq!(
        summary.parameters[..2],
        [("k", Parameter::Count(100)), ("state", Parameter::Name("sampling"))]
    );
    assert_eq!(summary.fill, Some(1.0));

    let mut exact = ExactDistinct::with_scheme(scheme);
    exact.insert_batch(&batch).unwrap();
    let summary = AnySketch::from(exact).summary();
    assert_eq!((summary.items, summary.fill), (Estimate::exact(1_000.0), None));
    assert!(summary.memory >= 8_000 && summary.memory < 22_000, "{} bytes", summary.memory);

    let mut probabilistic = ProbabilisticCounting::with_scheme(scheme);
    probabilistic.insert_batch(&batch).unwrap();
    let longest = probabilistic.longest_run().unwrap();
    let summary = AnySketch::from(probabilistic).summary();
    assert_eq!(summary.parameters, [("longest_run", Parameter::Count(longest.into()))]);

    let mut loglog = LogLog::with_scheme(6, scheme).unwrap();
    loglog.insert_batch(&batch).unwrap();
    let summary = AnySketch::from(loglog).summary();
    assert_eq!(summary.parameters[0], ("precision", Parameter::Count(6)));
    assert_eq!(summary.fill, Some(1.0));
}

/// Every hash at its limit, where formulas divide by zero or take its logarithm.
#[test]
fn extreme_hashes_have_answers_too() {
    let scheme = KeyScheme::hashes();
    for hashes in [&[0][..], &[u64::MAX], &[0, 1], &[0, u64::MAX], &[u64::MAX - 1, u64::MAX]] {
        for level in [1e-9, 0.5, 0.95, 1.0 - 1e-15] {
            let level = Confidence::new(level).unwrap();
            for k in [1, 2, 3] {
                let mut sketch = KMinValues::with_scheme(k, scheme).unwrap();
                sketch.insert_hashes(hashes);
                let compared = sketch.compare(&sketch).unwrap();
                for answer in [
                    sketch.estimate_at(level),
                    compared.union_at(level),
                    compared.intersection_at(level),
                    compared.difference_at(level),
                    compared.jaccard_at(level),
                ] {
                    assert!(
                        answer.lower() <= answer.value() && answer.value() <= answer.upper(),
                        "{answer:?}"
                    );
                    assert!(answer.value().is_finite(), "{answer:?}");
                }
            }
            let mut longest = ProbabilisticCounting::with_scheme(scheme);
            longest.insert_hashes(hashes);
            let answer = longest.estimate_at(level);
            assert!(answer.lower() >= 1.0 && answer.lower() <= answer.value(), "{answer:?}");
        }
    }
}
