//! The counting Bloom filter: behaviour that users rely on, through the public door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::codec::{AnySketch, Family, Parameter};
use crivo::keys::{KeyBatch, KeyBuffer, KeyScheme};
use crivo::membership::{CounterBits, CountingBloom};
use crivo::{Confidence, ErrorKind, Estimate};

fn integers(cells: u64, hashes: u32, width: CounterBits) -> CountingBloom {
    CountingBloom::with_scheme(cells, hashes, width, KeyScheme::integers()).unwrap()
}

#[test]
fn parameters_out_of_range_are_named() {
    for (cells, hashes, field) in
        [(0, 3, "cells"), (u64::MAX, 3, "cells"), (100, 0, "hashes"), (100, 65, "hashes")]
    {
        let error = CountingBloom::new(cells, hashes, CounterBits::Four).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, field));
    }
    for (items, rate, field) in
        [(0, 0.1, "items"), (10, 0.0, "rate"), (10, 1.0, "rate"), (10, f64::NAN, "rate")]
    {
        assert_eq!(CountingBloom::for_items(items, rate, CounterBits::Eight).unwrap_err().field(), field);
    }
    for bits in [0, 1, 5, 64] {
        assert_eq!(CounterBits::of(bits).unwrap_err().field(), "counter bits");
    }
    // 2^43 counters of 32 bits are within the limits, but not within any memory here.
    let huge = CountingBloom::new(1 << 43, 1, CounterBits::ThirtyTwo);
    assert!(huge.is_err_and(|error| error.kind() == ErrorKind::OutOfMemory));
}

#[test]
fn goal_decides_size_and_capacity() {
    let filter = CountingBloom::for_items(10_000, 0.01, CounterBits::Eight).unwrap();
    assert_eq!((filter.cells(), filter.hashes()), CountingBloom::size_for(10_000, 0.01).unwrap());
    assert_eq!((filter.capacity(), filter.counter_bits()), (10_000, CounterBits::Eight));
    assert!(filter.memory() as u64 >= filter.cells() && filter.memory() as u64 <= filter.cells() + 200);
    assert_eq!(integers(7000, 7, CounterBits::Four).capacity(), 693);
}

#[test]
fn insertion_says_what_is_certainly_new() {
    let mut filter = CountingBloom::for_items(1000, 1e-9, CounterBits::Eight).unwrap();
    assert!(filter.is_empty() && filter.insert("ana").unwrap());
    assert!(!filter.insert("ana").unwrap() && filter.insert("rui").unwrap());
    filter.add("eva", 0).unwrap();
    assert!(!filter.contains("eva").unwrap(), "adding nothing adds nothing");
    filter.add("eva", 12).unwrap();
    assert_eq!(filter.count("eva").unwrap().value(), 12.0);
}

#[test]
fn wrong_kinds_of_key_change_nothing() {
    let mut filter = CountingBloom::for_items(1000, 0.01, CounterBits::Eight).unwrap();
    filter.insert("a").unwrap();
    let before = filter.clone();
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let batch = buffer.hash_integers(&[1, 2, 3]).unwrap();
    for error in [
        filter.insert(&7).unwrap_err(),
        filter.add(&7, 2).unwrap_err(),
        filter.remove(&7).unwrap_err(),
        filter.contains(&7).unwrap_err(),
        filter.count(&7).unwrap_err(),
        filter.insert_batch(&batch).unwrap_err(),
        filter.remove_batch(&batch).unwrap_err(),
    ] {
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, "key kind"));
    }
    assert_eq!(filter, before);
}

#[test]
fn removing_what_is_certainly_absent_is_refused() {
    let mut filter = integers(10_000, 5, CounterBits::Four);
    (0..100).for_each(|key| assert!(filter.insert(&key).is_ok()));
    let before = filter.clone();
    let error = filter.remove(&1_000_000).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::Absent, "key"));
    assert!(error.found().starts_with("0 in cell "), "{error}");
    assert_eq!(filter, before);

    // A batch is removed as a whole or not at all, also when only its repetition is too much.
    for keys in [vec![1, 2, 1_000_000, 3], vec![1, 2, 3, 1]] {
        let mut buffer = KeyBuffer::new(KeyScheme::integers());
        let error = filter.remove_batch(&buffer.hash_integers(&keys).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Absent);
        assert_eq!(filter, before);
    }
}

/// What the documentation warns of: a false positive that is removed takes others with it.
#[test]
fn removing_a_false_positive_harms_others() {
    let mut filter = integers(40, 3, CounterBits::Eight);
    (0..10).for_each(|key| assert!(filter.insert(&key).is_ok()));
    let stranger = (1000..100_000).find(|key| filter.contains(key).unwrap()).unwrap();
    filter.remove(&stranger).unwrap();
    assert!((0..10).any(|key| !filter.contains(&key).unwrap()));
}

/// Two rows that choose the same cell raise it once: the count of a lone key is its count, whatever
/// the size, and its removal leaves nothing behind.
#[test]
fn colliding_rows_count_once() {
    for cells in 1..20 {
        let mut filter = integers(cells, 8, CounterBits::Eight);
        filter.add(&7, 5).unwrap();
        assert_eq!(filter.count(&7).unwrap().upper(), 5.0, "{cells} cells");
        (0..5).for_each(|_| filter.remove(&7).unwrap());
        assert!(filter.is_empty());
    }
}

#[test]
fn saturated_counters_stay_and_are_reported() {
    for (width, largest) in
        [(CounterBits::Four, 15), (CounterBits::Eight, 255), (CounterBits::Sixteen, 65_535)]
    {
        let mut filter = integers(1000, 3, width);
        filter.add(&1, largest - 1).unwrap();
        assert_eq!(filter.saturated(), 0);
        assert_eq!(filter.count(&1).unwrap().upper(), (largest - 1) as f64);
        filter.insert(&1).unwrap();
        let cells = filter.saturated();
        assert!((1..=3).contains(&cells));
        filter.add(&1, u64::MAX).unwrap();
        let saturated = filter.clone();
        assert_eq!(filter.saturated(), cells);
        let count = filter.count(&1).unwrap();
        assert_eq!((count.value(), count.upper()), (largest as f64, f64::INFINITY));
        assert_eq!(count.lower(), largest as f64, "no other key is in there");
        filter.remove(&1).unwrap();
        assert_eq!(filter, saturated, "a saturated counter does not know what it counted");
        filter.subtract(&saturated).unwrap();
        assert_eq!(filter, saturated);
        filter.merge(&saturated).unwrap();
        assert_eq!(filter, saturated);
        assert_eq!(filter.summary().parameters[4], ("saturated", Parameter::Count(cells)));
    }
}

#[test]
fn subtracting_more_than_there_is_is_refused() {
    let mut filter = integers(10_000, 4, CounterBits::Eight);
    let mut more = filter.clone();
    (0..50).for_each(|key| assert!(filter.insert(&key).is_ok()));
    (10..20).for_each(|key| more.add(&key, 2).unwrap());
    let before = filter.clone();
    let error = filter.subtract(&more).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::Absent, "counters"));
    assert!(error.expected().starts_with("at most 1 in cell ") && error.found() == "2", "{error}");
    assert_eq!(filter, before);

    // A saturated counter of the other is above any that is not.
    let mut saturated = integers(10_000, 4, CounterBits::Eight);
    saturated.add(&3, 1000).unwrap();
    assert_eq!(filter.subtract(&saturated).unwrap_err().found(), "255");
    assert_eq!(filter, before);
}

#[test]
fn difference_of_sets_is_the_filter_of_the_difference() {
    let of = |keys: std::ops::Range<u64>| {
        let mut filter = integers(5000, 4, CounterBits::Four);
        keys.for_each(|key| assert!(filter.insert(&key).is_ok()));
        filter
    };
    let mut difference = of(0..500);
    difference.subtract(&of(200..500)).unwrap();
    assert_eq!(difference, of(0..200));
    let intersection = of(0..300).intersection(&of(200..500)).unwrap();
    assert!((200..300).all(|key| intersection.contains(&key).unwrap()));
    let sure = Confidence::new(0.9999).unwrap();
    let shared = of(0..300).shared_items_at(&of(200..500), sure).unwrap();
    assert!(shared.covers(100.0) && shared.upper() < 150.0, "{shared:?}");
    assert_eq!(of(0..300).shared_items(&of(0..0)), Ok(Estimate::exact(0.0)));
}

#[test]
fn counts_are_certain_from_above_and_say_how_sure_they_are_from_below() {
    let mut filter = integers(100, 4, CounterBits::ThirtyTwo);
    (0..40).for_each(|key| filter.add(&key, 10).unwrap());
    assert!(filter.false_positive_rate() > 0.05, "crowded");
    filter.add(&0, 990).unwrap();
    let count = filter.count(&0).unwrap();
    assert!(count.upper() >= 1000.0 && !count.is_certain());
    assert!(count.lower() > 850.0 && count.lower() < 1000.0, "{count:?}");
    let certain = filter.count_at(&0, Confidence::CERTAIN).unwrap();
    assert_eq!((certain.lower(), certain.upper()), (0.0, count.upper()));
    let roomy = integers(100_000, 4, CounterBits::ThirtyTwo);
    assert_eq!(roomy.count(&0), Ok(Estimate::exact(0.0)), "an empty cell is certain");
}

#[test]
fn summary_tells_sizes_fill_and_rate() {
    let scheme = KeyScheme::hashes().with_seed(3);
    let mut filter = CountingBloom::with_scheme(1000, 2, CounterBits::Sixteen, scheme).unwrap();
    filter.insert_batch(&KeyBatch::from_hashes(scheme, &[1 << 60, 2 << 60, 3 << 60]).unwrap()).unwrap();
    let summary = AnySketch::from(filter.clone()).summary();
    assert_eq!(summary.family, Family::CountingBloom);
    assert_eq!(
        summary.parameters,
        [
            ("cells", Parameter::Count(1000)),
            ("hashes", Parameter::Count(2)),
            ("counter_bits", Parameter::Count(16)),
            ("capacity", Parameter::Count(346)),
            ("saturated", Parameter::Count(0)),
        ]
    );
    assert_eq!((summary.scheme, summary.items), (scheme, filter.items()));
    assert!(summary.items.covers(3.0));
    let fill = summary.fill.unwrap();
    assert_eq!(fill, 0.006);
    assert!((summary.false_positive_rate.unwrap() - fill * fill).abs() < 1e-15);
}

#[test]
fn keys_that_are_known_are_counted_again() {
    let scheme = KeyScheme::integers();
    let filter = CountingBloom::for_items_with_scheme(100, 1e-9, CounterBits::Eight, scheme).unwrap();
    let mut any = AnySketch::from(filter);
    let hashes: Vec<u64> = [1_u64, 2, 1, 1].iter().map(|key| scheme.hash(key).unwrap()).collect();
    let mut fresh = vec![false; 9];
    any.membership_mut().unwrap().insert_new(&hashes, &mut fresh).unwrap();
    assert_eq!(fresh, [true, true, false, false]);
    any.membership_mut().unwrap().insert_new(&hashes[1..], &mut fresh).unwrap();
    assert_eq!(fresh, [false; 3]);
    let filter = any.downcast::<CountingBloom>().unwrap();
    assert_eq!([1_u64, 2, 3].map(|key| filter.count(&key).unwrap().value()), [5.0, 2.0, 0.0]);
}
