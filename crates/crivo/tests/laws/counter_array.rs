//! What `CounterArray` promises: batches equal single events, stored arrays go on, and joining is
//! by index.

use crivo::ErrorKind;
use crivo::counting::CounterArray;
use proptest::prelude::*;

const LEN: u64 = 501;

fn array(bits: u8, seed: u64) -> CounterArray {
    CounterArray::new(LEN, 1.2, bits, seed).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counter_array_takes_batches_as_single_events(
        indexes in prop::collection::vec(0..LEN, 0..3000), cut in 0_usize..3000, seed: u64,
    ) {
        for bits in CounterArray::COUNTER_BITS {
            let (mut batches, mut single) = (array(bits, seed), array(bits, seed));
            let (first, second) = indexes.split_at(cut.min(indexes.len()));
            batches.increment_batch(first).unwrap();
            batches = CounterArray::decode(&batches.encode()).unwrap();
            batches.increment_batch(second).unwrap();
            indexes.iter().for_each(|&index| single.increment(index).unwrap());
            prop_assert_eq!(&batches, &single);
            prop_assert_eq!(batches.encode(), single.encode());
            // No index was touched that had no event, and none was raised more often than it had.
            for (index, value) in (0..).zip(single.values()) {
                let events = indexes.iter().filter(|&&other| other == index).count();
                prop_assert!(usize::from(value) <= events && (value > 0) == (events > 0));
            }
        }
    }

    #[test]
    fn counter_array_is_joined_index_by_index(
        a in prop::collection::vec(0..LEN, 0..2000), b in prop::collection::vec(0..LEN, 0..2000), seed: u64,
    ) {
        for bits in CounterArray::COUNTER_BITS {
            let (mut x, mut y) = (array(bits, seed), array(bits, !seed));
            x.increment_batch(&a).unwrap();
            y.increment_batch(&b).unwrap();
            let mut merged = x.clone();
            merged.merge(&y).unwrap();
            for ((joined, mine), theirs) in merged.values().zip(x.values()).zip(y.values()) {
                prop_assert!(joined >= mine.max(theirs) && joined <= mine + theirs);
            }
            let mut with_nothing = x.clone();
            with_nothing.merge(&array(bits, !seed)).unwrap();
            prop_assert_eq!(&with_nothing, &x, "merging an empty array changes nothing");
        }
    }
}

#[test]
fn counter_arrays_of_different_shapes_refuse_each_other() {
    let mut mine = array(8, 1);
    mine.increment(3).unwrap();
    let before = mine.clone();
    for (other, field) in [
        (CounterArray::new(LEN + 1, 1.2, 8, 2), "len"),
        (CounterArray::new(LEN, 1.2, 16, 2), "counter bits"),
        (CounterArray::new(LEN, 1.3, 8, 2), "base"),
    ] {
        let error = mine.merge(&other.unwrap()).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
        assert_eq!(mine, before, "a refused merge changes nothing");
    }
}

#[test]
fn a_batch_with_a_wrong_index_changes_nothing() {
    for bits in CounterArray::COUNTER_BITS {
        let mut array = array(bits, 1);
        array.increment_batch(&[1, 2, 3]).unwrap();
        let before = array.clone();
        for index in [LEN, u64::MAX] {
            let error = array.increment_batch(&[1, index, 2]).unwrap_err();
            assert_eq!((error.field(), error.expected()), ("index", "0 to 500"));
            assert!(array.increment(index).is_err() && array.add(index, 1).is_err());
            assert!(array.estimate(index).is_err() && array.value(index).is_err());
            assert_eq!(array, before);
        }
    }
}
