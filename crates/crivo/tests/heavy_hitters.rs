//! Which most often: behaviour of HeavyHitters and Majority that users rely on, through the public
//! door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::codec::{AnySketch, Family, Parameter};
use crivo::frequency::{HeavyHitters, Majority, Reading};
use crivo::keys::{KeyBuffer, KeyRef, KeyScheme, OwnedKey, Span};
use crivo::{ErrorKind, Estimate};

fn integers(capacity: u64) -> HeavyHitters {
    HeavyHitters::with_scheme(capacity, KeyScheme::integers()).unwrap()
}

#[test]
fn parameters_out_of_range_are_named_with_their_range() {
    for capacity in [0, (1 << 24) + 1, u64::MAX] {
        let error = HeavyHitters::new(capacity).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "capacity"));
        assert_eq!(error.expected(), "1 to 16777216");
    }
    assert!(HeavyHitters::new(1 << 24).unwrap().memory() < 1000, "memory is taken when keys come");
    for share in [0.0, -0.1, 1.0, 2.0, 1e-9, f64::NAN, f64::INFINITY] {
        let error = HeavyHitters::for_share(share).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "share"), "{share}");
    }
    for share in [-1e-9, 1.0, f64::NAN, f64::INFINITY] {
        let error = integers(9).above(share, Reading::NoFalsePositives).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "share"), "{share}");
    }
}

#[test]
fn capacity_for_is_the_smallest_that_reaches_the_share() {
    for capacity in (1..3000).chain([65_536, 1_000_003, 1 << 24]) {
        let wanted = HeavyHitters::guaranteed_share(capacity);
        let found = HeavyHitters::capacity_for(wanted).unwrap();
        assert_eq!(HeavyHitters::guaranteed_share(found), wanted, "{capacity}");
        assert!(found <= capacity && (found == 1 || HeavyHitters::guaranteed_share(found - 1) > wanted));
    }
    assert_eq!(HeavyHitters::capacity_for(0.999), Ok(1), "more than half of everything, at worst");
}

#[test]
fn few_keys_are_counted_exactly_and_listed_in_order() {
    let mut words = HeavyHitters::new(5).unwrap();
    for (word, weight) in [("the", 4), ("a", 2), ("of", 2), ("and", 0), ("", 1), ("the", 3)] {
        words.add(word, weight).unwrap();
    }
    let listed: Vec<(String, u64)> =
        words.top(9).iter().map(|hitter| (hitter.key().to_string(), hitter.count())).collect();
    let expected = [("the", 7), ("a", 2), ("of", 2), ("", 1)].map(|(word, count)| (word.to_owned(), count));
    assert_eq!(listed, expected, "by count, then by key; a weight of 0 is nothing");
    assert_eq!(words.top(2).len(), 2);
    assert_eq!(words.top(0), []);
    assert_eq!(words.frequency("the"), Ok(Estimate::exact(7.0)));
    assert_eq!(
        words.frequency("and"),
        Ok(Estimate::exact(0.0)),
        "all keys have a counter, this one never came"
    );
    assert_eq!((words.total(), words.counters(), words.max_error()), (12, 4, 0));
    assert!(words.top(4).iter().all(crivo::frequency::Hitter::is_exact));
    assert_eq!(words.top(1).remove(0).into_key(), OwnedKey::Bytes((*b"the").into()));
}

#[test]
fn every_kind_of_key_is_given_back() {
    for seed in [0, 9, u64::MAX] {
        let mut sketch = HeavyHitters::with_scheme(3, KeyScheme::integers().with_seed(seed)).unwrap();
        sketch.add(&-7_i64, 5).unwrap();
        sketch.add(&u64::MAX, 4).unwrap();
        sketch.add(&3_u8, 3).unwrap();
        let keys: Vec<String> = sketch.top(9).iter().map(|hitter| hitter.key().to_string()).collect();
        assert_eq!(keys, ["-7", "-1", "3"]);
    }
    let mut sketch = HeavyHitters::with_scheme(3, KeyScheme::hashes()).unwrap();
    sketch.add_ref(KeyRef::Hash(255), 1).unwrap();
    sketch.add_ref(KeyRef::Hash(0), 2).unwrap();
    let keys: Vec<OwnedKey> = sketch.top(9).into_iter().map(crivo::frequency::Hitter::into_key).collect();
    assert_eq!(keys, [OwnedKey::Hash(0), OwnedKey::Hash(255)]);
    assert_eq!(sketch.frequency_ref(KeyRef::Hash(255)), Ok(Estimate::exact(1.0)));
}

#[test]
fn keys_of_another_kind_are_refused() {
    let mut sketch = integers(3);
    sketch.insert(&1).unwrap();
    let before = sketch.clone();
    for error in [
        sketch.insert("1").unwrap_err(),
        sketch.add("1", 0).unwrap_err(),
        sketch.add_ref(KeyRef::Hash(1), 1).unwrap_err(),
        sketch.frequency("1").unwrap_err(),
        sketch.frequency_ref(KeyRef::Bytes(b"1")).unwrap_err(),
        Majority::new().insert(&1).unwrap_err(),
        Majority::new().frequency(&1).unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, "key kind"));
    }
    assert_eq!(sketch, before);
}

#[test]
fn keys_that_are_too_long_are_refused_and_say_what_to_do() {
    let mut sketch = HeavyHitters::new(3).unwrap();
    let longest = "x".repeat(HeavyHitters::MAX_KEY_BYTES);
    sketch.insert(&longest).unwrap();
    sketch.add(&longest, 2).unwrap();
    let before = sketch.clone();
    let error = sketch.insert(&(longest.clone() + "y")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "key: expected at most 4096 bytes, found 4097 (count long keys by their hash: build the sketch with \
         KeyScheme::hashes)"
    );
    assert_eq!(sketch, before, "nothing was counted");
    assert_eq!(sketch.frequency(&(longest.clone() + "y")), Ok(Estimate::exact(0.0)));

    let text = format!("ab{longest}y");
    let mut buffer = KeyBuffer::new(KeyScheme::bytes());
    for range in [0..1, 1..text.len(), 1..2] {
        buffer.push_span(Span::new(range).unwrap());
    }
    let error = sketch.insert_batch(&buffer.hash_spans(text.as_bytes()).unwrap()).unwrap_err();
    assert_eq!(error.field(), "key");
    assert_eq!(sketch.total(), 4, "the key before it was counted, the one after it was not");
}

#[test]
fn shares_that_may_be_missed_are_refused_with_the_least_that_is_not() {
    let mut sketch = integers(100);
    (0..10_000_u64).for_each(|key| sketch.insert(&(key % 1000)).unwrap());
    let least = sketch.max_error() as f64 / sketch.total() as f64;
    assert!(least > 0.0 && sketch.above(least, Reading::NoFalseNegatives).is_ok());
    let error = sketch.above(least / 2.0, Reading::NoFalseNegatives).unwrap_err();
    assert_eq!(error.expected(), format!("at least {least:.3e}, the error of this sketch"));
    assert!(sketch.above(least / 2.0, Reading::NoFalsePositives).is_ok(), "what is listed is certain anyway");
}

/// Exactly a share is not above it, however large the numbers are.
#[test]
fn shares_are_compared_exactly() {
    let mut sketch = integers(9);
    sketch.add(&1, 1 << 60).unwrap();
    sketch.add(&2, (1 << 60) + 1).unwrap();
    sketch.add(&3, (1 << 61) - 1).unwrap();
    for reading in [Reading::NoFalsePositives, Reading::NoFalseNegatives] {
        let keys = |share| sketch.above(share, reading).unwrap().len();
        assert_eq!((keys(0.0), keys(0.25), keys(0.5), keys(f64::MIN_POSITIVE)), (3, 2, 0, 3));
        assert_eq!(keys(0.25 - f64::EPSILON / 8.0), 3);
    }
}

#[test]
fn past_the_highest_total_bounds_stay_true_and_say_so() {
    for capacity in [1, 2, 3, 40] {
        let mut sketch = integers(capacity);
        for round in 0..5 {
            (0..4_u64).for_each(|key| sketch.add(&key, u64::MAX / 8 + key + round).unwrap());
        }
        assert!(sketch.is_saturated() && sketch.total() == u64::MAX);
        assert_eq!(sketch.above(0.5, Reading::NoFalsePositives).unwrap_err().field(), "total");
        for key in 0..4_u64 {
            let truth = (u64::MAX / 8) as f64 * 5.0;
            let estimate = sketch.frequency(&key).unwrap();
            assert!(estimate.covers(truth), "{capacity} counters: {estimate:?}");
        }
        assert_eq!(HeavyHitters::decode(&sketch.encode()).as_ref(), Ok(&sketch));
        // Nothing changes any more for the worse.
        let mut merged = sketch.clone();
        merged.merge(&sketch).unwrap();
        assert!((0..4_u64).all(|key| merged.frequency(&key).unwrap().upper() == f64::INFINITY));
        assert_eq!(HeavyHitters::decode(&merged.encode()), Ok(merged));
    }
}

#[test]
fn weights_of_a_batch_are_those_of_its_keys() {
    let mut sketch = integers(9);
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    sketch.add_batch(&buffer.hash_integers(&[4, 5, 4]).unwrap(), &[10, 20, 30]).unwrap();
    assert_eq!(sketch.frequency(&4), Ok(Estimate::exact(40.0)));
    let error = sketch.add_batch(&buffer.hash_integers(&[4, 5]).unwrap(), &[1]).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidBatch, "weights"));
    assert_eq!(sketch.total(), 60);
}

#[test]
fn summaries_say_what_they_are() {
    let mut sketch = integers(4);
    (0..5).for_each(|key| sketch.add(&key, 10 + key as u64).unwrap());
    let summary = AnySketch::decode(&sketch.encode()).unwrap().summary();
    assert_eq!((summary.family, summary.items), (Family::HeavyHitters, Estimate::exact(60.0)));
    assert_eq!(
        summary.parameters[..3],
        [
            ("capacity", Parameter::Count(4)),
            ("counters", Parameter::Count(3)),
            ("max_error", Parameter::Count(11)),
        ]
    );
    assert_eq!(summary.fill, Some(0.75));

    let mut votes = Majority::new();
    votes.add("ana", 5).unwrap();
    votes.add("rui", 2).unwrap();
    let summary = AnySketch::decode(&votes.encode()).unwrap().summary();
    assert_eq!((summary.family, summary.items), (Family::Majority, Estimate::exact(7.0)));
    assert_eq!(summary.parameters, [("lead", Parameter::Count(3)), ("counted", Parameter::Count(5))]);
}

#[test]
fn a_majority_past_the_highest_total_claims_nothing() {
    let mut votes = Majority::new();
    votes.add("ana", u64::MAX - 1).unwrap();
    assert!(votes.is_certain());
    votes.add("rui", 7).unwrap();
    let leader = votes.candidate().unwrap();
    assert!(votes.is_saturated() && !votes.is_certain() && !votes.is_majority(u64::MAX));
    assert_eq!((leader.lower(), leader.upper()), (u64::MAX - 1, u64::MAX));
    assert_eq!(leader.estimate().upper(), f64::INFINITY);
    assert!(!leader.is_exact());
}
