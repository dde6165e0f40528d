//! The direct table: behaviour that users rely on, through the public door.

#![allow(clippy::unwrap_used)] // this is how a test fails

use crivo::ErrorKind;
use crivo::codec::{AnySketch, Family, Parameter};
use crivo::keys::{KeyBuffer, KeyScheme};
use crivo::membership::DirectTable;

#[test]
fn universes_out_of_range_are_named_with_their_range() {
    for universe in [0, (1 << 36) + 1, u64::MAX] {
        let error = DirectTable::new(universe).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, "universe"));
        assert_eq!(error.expected(), "1 to 68719476736");
    }
    for scheme in [KeyScheme::bytes(), KeyScheme::hashes()] {
        assert_eq!(DirectTable::with_scheme(10, scheme).unwrap_err().field(), "key kind");
    }
}

#[test]
fn keys_outside_the_universe_are_named_and_nothing_is_inserted() {
    let mut table = DirectTable::new(1000).unwrap();
    table.insert(&999).unwrap();
    let before = table.clone();
    for (key, found) in [(1000, "1000"), (-1, "-1"), (i64::MIN, "-9223372036854775808")] {
        let error = table.insert(&key).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, "key"));
        assert_eq!((error.expected(), error.found()), ("an integer of the universe, 0 to 999", found));
        let mut buffer = KeyBuffer::new(KeyScheme::integers());
        let keys = [1, 2, key.cast_unsigned(), 3];
        let batch = buffer.hash_integers(&keys).unwrap();
        assert_eq!(table.insert_batch(&batch).unwrap_err().found(), found);
        assert_eq!(table, before);

        assert_eq!(table.contains(&key), Ok(false), "it is certainly not in there");
        let error = table.remove(&key).unwrap_err();
        assert_eq!((error.kind(), error.found()), (ErrorKind::Absent, found));
    }
}

#[test]
fn wrong_kinds_of_key_change_nothing() {
    let mut table = DirectTable::new(1000).unwrap();
    table.insert(&7_u8).unwrap();
    let before = table.clone();
    let mut buffer = KeyBuffer::new(KeyScheme::integers().with_seed(1));
    let batch = buffer.hash_integers(&[1, 2]).unwrap();
    for (error, field) in [
        (table.insert("7").unwrap_err(), "key kind"),
        (table.remove("7").unwrap_err(), "key kind"),
        (table.contains("7").unwrap_err(), "key kind"),
        (table.insert_batch(&batch).unwrap_err(), "seed"),
        (table.contains_batch(&batch, &mut Vec::new()).unwrap_err(), "seed"),
    ] {
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
    }
    assert_eq!(table, before);
}

#[test]
fn first_and_last_integer_are_inside() {
    for universe in [1, 63, 64, 65, 128, 1_000_000] {
        let mut table = DirectTable::new(universe).unwrap();
        table.insert(&0).unwrap();
        assert_eq!(table.insert(&(universe - 1)), Ok(universe > 1));
        assert_eq!(table.iter().last(), Some(universe - 1));
        assert!(table.insert(&universe).is_err());
        assert!(table.memory() as u64 <= universe / 8 + 72);
    }
}

#[test]
fn summary_tells_universe_and_fill() {
    let mut table = DirectTable::with_scheme(8, KeyScheme::integers().with_seed(5)).unwrap();
    [1, 2, 4].iter().for_each(|key| assert_eq!(table.insert(key), Ok(true)));
    let summary = AnySketch::from(table).summary();
    assert_eq!(summary.family, Family::DirectTable);
    assert_eq!(summary.parameters, [("universe", Parameter::Count(8))]);
    assert_eq!(summary.scheme, KeyScheme::integers().with_seed(5));
    assert!(summary.items.is_exact() && summary.items.value() == 3.0);
    assert_eq!((summary.fill, summary.false_positive_rate), (Some(0.375), Some(0.0)));
}

#[test]
fn a_set_that_is_no_part_is_not_subtracted_as_a_filter() {
    let table = |keys: &[u64]| {
        let mut table = DirectTable::new(200).unwrap();
        keys.iter().for_each(|key| assert!(table.insert(key).unwrap()));
        AnySketch::from(table)
    };
    let mut set = table(&[3, 70, 150]);
    let before = set.encode();
    let error = set.membership_mut().unwrap().subtract(&table(&[3, 71, 199])).unwrap_err();
    assert_eq!((error.kind(), error.field(), error.found()), (ErrorKind::Absent, "key", "71"));
    assert_eq!(set.encode(), before);
    set.membership_mut().unwrap().subtract(&table(&[3, 150])).unwrap();
    assert_eq!(set.encode(), table(&[70]).encode());
}
