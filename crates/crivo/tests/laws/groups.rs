//! The laws of Groups: each group is the sketch of its items, and merging is the joined stream.

use std::collections::BTreeMap;

use crivo::ErrorKind;
use crivo::codec::AnySketch;
use crivo::counting::Tally;
use crivo::distinct::{HyperLogLog, LinearCounting, UltraLogLog};
use crivo::frequency::{CountMin, RangeCountMin};
use crivo::groups::Groups;
use crivo::keys::KeyScheme;
use crivo::membership::{Bloom, DirectTable};
use crivo::sampling::Reservoir;
use proptest::prelude::*;

use super::merged;

fn group_name(number: u64) -> Vec<u8> {
    format!("{number:0>width$}", width = (number % 20) as usize).into_bytes()
}

/// Items as pairs of a group and a value; few groups get most of them.
fn groups_of(empty: &AnySketch, items: &[(u64, u64)]) -> Groups {
    let mut groups = Groups::new(empty.clone(), 1).unwrap();
    for (group, value) in items {
        groups.insert(&group_name(*group), value).unwrap();
    }
    groups
}

fn kinds() -> [AnySketch; 3] {
    let scheme = KeyScheme::integers().with_seed(3);
    [
        HyperLogLog::with_scheme(6, scheme).unwrap().into(),
        HyperLogLog::with_scheme(11, scheme).unwrap().into(),
        LinearCounting::with_scheme(1024, scheme).unwrap().into(),
    ]
}

fn items() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let group = prop_oneof![0..3_u64, 0..200_u64];
    prop::collection::vec((group, 0..2000_u64), 0..3000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn each_group_is_the_sketch_of_its_items((x, y) in (items(), items()), kind in 0..3_usize) {
        let empty = &kinds()[kind];
        let all = [x.clone(), y.clone()].concat();
        let mut model: BTreeMap<Vec<u8>, AnySketch> = BTreeMap::new();
        for (group, value) in &all {
            let hash = empty.scheme().hash(value).unwrap();
            let sketch = model.entry(group_name(*group)).or_insert_with(|| empty.clone());
            sketch.hashes_mut().unwrap().insert_hash(hash);
        }
        let joined = groups_of(empty, &all);
        prop_assert_eq!(joined.len(), model.len());
        for (name, sketch) in &model {
            prop_assert!(joined.get(name).as_ref() == Some(sketch));
        }
        let (one, two) = (groups_of(empty, &x), groups_of(empty, &y));
        prop_assert_eq!(merged(&one, &two).encode(), joined.encode(), "merge equals the joined stream");
        prop_assert_eq!(merged(&two, &one).encode(), joined.encode(), "merge commutes");
        prop_assert_eq!(merged(&one, &one).encode(), one.encode(), "merge with itself changes nothing");
        let stored: Groups = Groups::decode(&one.encode()).unwrap();
        prop_assert!(stored == one, "decoding inverts encoding");
        prop_assert_eq!(stored.encode(), one.encode());
        prop_assert_eq!(merged(&stored, &two).encode(), joined.encode(), "stored groups merge");
        prop_assert_eq!(merged(&two, &stored).encode(), joined.encode());
        let mut turned = all;
        turned.reverse();
        prop_assert_eq!(groups_of(empty, &turned).encode(), joined.encode(), "order does not matter");
    }

    #[test]
    fn batches_equal_single_insertions(items in items(), kind in 0..3_usize) {
        let empty = &kinds()[kind];
        let mut batched = Groups::new(empty.clone(), 1).unwrap();
        for chunk in items.chunks(700) {
            let numbers: Vec<u32> =
                chunk.iter().map(|(group, _)| batched.find_or_add(&group_name(*group)).unwrap()).collect();
            let hashes: Vec<u64> = chunk.iter().map(|(_, v)| empty.scheme().hash(v).unwrap()).collect();
            batched.insert_hashes(&numbers, &hashes).unwrap();
        }
        prop_assert_eq!(batched.encode(), groups_of(empty, &items).encode());
    }

    #[test]
    fn tallies_do_not_depend_on_order(numbers in prop::collection::vec(-1e300..1e300_f64, 0..50), cut in 0..50_usize) {
        let tally = |numbers: &[f64]| {
            let mut tally = Tally::new();
            numbers.iter().for_each(|number| tally.add_number(*number));
            tally
        };
        let (left, right) = numbers.split_at(cut.min(numbers.len()));
        prop_assert_eq!(merged(&tally(right), &tally(left)).encode(), tally(&numbers).encode());
        prop_assert!(Tally::decode(&tally(left).encode()).as_ref() == Ok(&tally(left)));
    }
}

#[test]
fn of_two_precisions_the_lower_stays_in_every_group() {
    let [low, high, _] = kinds();
    let items: Vec<(u64, u64)> = (0..4000).map(|i| (i % 7, i)).collect();
    let (left, right) = items.split_at(2000);
    let joined = merged(&groups_of(&high, left), &groups_of(&low, right));
    assert_eq!(joined.encode(), groups_of(&low, &items).encode());
}

#[test]
fn groups_that_differ_refuse_each_other() {
    let [low, ..] = kinds();
    let mut one = groups_of(&low, &[(1, 2)]);
    let before = one.clone();
    let two: Groups = Groups::new(low, 2).unwrap();
    assert_eq!(one.merge(&two).unwrap_err().kind(), ErrorKind::Incompatible);
    let tallies: Groups = Groups::new(AnySketch::from(Tally::new()), 1).unwrap();
    assert!(one.merge(&tallies).is_err());
    assert!(one == before);
}

/// Numbers that no group has are refused before anything is added, whether the hashes of a batch are
/// sorted by group or not.
#[test]
fn numbers_of_no_group_are_refused_whole() {
    let [low, ..] = kinds();
    let empty: Groups = Groups::new(low.clone(), 1).unwrap();
    for groups in [0, 1, 100, 200] {
        for length in [1, 300] {
            let mut counts = empty.clone();
            (0..groups).for_each(|group| drop(counts.find_or_add(&group_name(group))));
            let before = counts.encode();
            let mut numbers = vec![0; length];
            numbers[length - 1] = groups as u32;
            let hashes: Vec<u64> = (0..length as u64).collect();
            let error = counts.insert_hashes(&numbers, &hashes).unwrap_err();
            assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "group"));
            let expected = counts.update_at(groups as u32, |_| Ok(())).unwrap_err();
            assert_eq!((error.expected(), error.found()), (expected.expected(), expected.found()));
            assert_eq!(counts.encode(), before);
            counts.insert_hashes(&[], &[]).unwrap();
        }
    }
}

#[test]
fn a_group_takes_a_key_in_any_way_its_sketch_does() {
    let mut filters = Groups::new(Bloom::for_items(100, 1e-9).unwrap(), 1).unwrap();
    filters.insert(b"g", "k").unwrap();
    filters.insert(b"g", "l").unwrap();
    let filter = filters.get(b"g").unwrap();
    assert!(filter.contains("k").unwrap() && filter.contains("l").unwrap());
    assert!(!filter.contains("m").unwrap());

    let mut tables = Groups::new(DirectTable::new(100).unwrap(), 1).unwrap();
    tables.insert(b"g", &7).unwrap();
    assert_eq!(tables.get(b"g").unwrap().iter().collect::<Vec<_>>(), [7]);
    let mut samples = Groups::new(Reservoir::new(3, 7).unwrap(), 1).unwrap();
    samples.insert(b"g", "k").unwrap();
    assert_eq!(samples.get(b"g").unwrap().seen(), 1);
    let mut counts = Groups::new(CountMin::new(100, 3).unwrap(), 1).unwrap();
    ["k", "k", "l"].iter().for_each(|key| counts.insert(b"g", *key).unwrap());
    assert_eq!(counts.get(b"g").unwrap().frequency("k").unwrap().value(), 2.0);
}

#[test]
fn a_refused_key_leaves_no_group() {
    let mut tables = Groups::new(DirectTable::new(100).unwrap(), 1).unwrap();
    let mut ranges = Groups::new(RangeCountMin::new(4, 10, 2).unwrap(), 1).unwrap();
    let mut counts = Groups::new(CountMin::new(100, 3).unwrap(), 1).unwrap();
    let mut tallies = Groups::new(Tally::new(), 1).unwrap();
    assert_eq!(tables.insert(b"g", &100).unwrap_err().field(), "key");
    assert_eq!(ranges.insert(b"g", &16).unwrap_err().field(), "key");
    assert_eq!(counts.insert(b"g", &7).unwrap_err().field(), "key kind");
    assert_eq!(tallies.insert(b"g", "k").unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!([tables.len(), ranges.len(), counts.len(), tallies.len()], [0; 4]);
    tables.insert(b"g", &99).unwrap();
    assert!(tables.insert(b"g", &100).is_err());
    assert_eq!((tables.len(), tables.get(b"g").unwrap().len()), (1, 1));
}

/// The hashes of a small group are sorted, and a history is a count from the order of the items.
#[test]
fn sketches_that_keep_a_history_are_no_groups() {
    let sketch = UltraLogLog::new(8).and_then(UltraLogLog::with_history).unwrap();
    for error in [
        Groups::new(AnySketch::from(sketch.clone()), 1).err().unwrap(),
        Groups::new(sketch, 1).err().unwrap(),
    ] {
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "sketch of a group"));
        assert!(error.expected().contains("without a history"), "{error}");
    }
}
