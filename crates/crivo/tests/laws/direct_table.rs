//! The laws of the direct table: it is the set of its integers.

use std::collections::BTreeSet;

use crivo::ErrorKind;
use crivo::keys::{KeyBuffer, KeyScheme};
use crivo::membership::DirectTable;
use proptest::prelude::*;

type Set = BTreeSet<u64>;

/// A universe and three sets of integers in it.
fn sets() -> impl Strategy<Value = (u64, [Set; 3])> {
    (1_u64..400).prop_flat_map(|universe| {
        let set = || prop::collection::btree_set(0..universe, 0..200);
        (Just(universe), [set(), set(), set()])
    })
}

fn table_of(universe: u64, integers: impl IntoIterator<Item = u64>) -> DirectTable {
    let mut table = DirectTable::new(universe).unwrap();
    integers.into_iter().for_each(|integer| assert!(table.insert(&integer).unwrap()));
    table
}

/// A table is the set: by its answers, its order, its size, and its bytes.
fn assert_same(table: &DirectTable, set: &Set) {
    assert!(table.iter().eq(set.iter().copied()));
    assert_eq!((table.len(), table.is_empty()), (set.len() as u64, set.is_empty()));
    assert_eq!(table.items().value(), set.len() as f64);
    for key in 0..table.universe() + 70 {
        assert_eq!(table.contains(&key).unwrap(), set.contains(&key), "{key}");
    }
    let fresh = table_of(table.universe(), set.iter().copied());
    assert_eq!(table.encode(), fresh.encode());
    assert_eq!(DirectTable::decode(&table.encode()).as_ref(), Ok(table));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn direct_table_is_the_set((universe, [a, b, c]) in sets()) {
        let [x, y, z] = [&a, &b, &c].map(|set| table_of(universe, set.iter().copied()));
        assert_same(&x, &a);
        let apply = |operation: fn(&mut DirectTable, &DirectTable) -> crivo::Result<()>, second: &DirectTable| {
            let mut first = x.clone();
            operation(&mut first, second).unwrap();
            first
        };
        assert_same(&apply(DirectTable::merge, &y), &(&a | &b));
        assert_same(&apply(DirectTable::intersect, &y), &(&a & &b));
        assert_same(&apply(DirectTable::subtract, &y), &(&a - &b));
        assert_eq!(apply(DirectTable::merge, &x), x.clone(), "self-merge changes nothing");
        assert!(apply(DirectTable::subtract, &x).is_empty());

        let mut left = apply(DirectTable::merge, &y);
        left.merge(&z).unwrap();
        assert_same(&left, &(&(&a | &b) | &c));

        let (shared, united) = ((&a & &b).len(), (&a | &b).len());
        let expected = if united == 0 { 1.0 } else { shared as f64 / united as f64 };
        prop_assert_eq!(x.jaccard(&y), Ok(expected));
        prop_assert_eq!(y.jaccard(&x), Ok(expected));
        prop_assert_eq!(x.jaccard(&x), Ok(1.0));
    }

    #[test]
    fn direct_table_batches_are_their_keys(universe in 1_u64..3000, seed in any::<u64>(), length in 0_usize..500) {
        let mut random = super::generator(&format!("table {seed}"));
        let keys: Vec<u64> = (0..length).map(|_| random.below(universe as usize) as u64).collect();
        let mut buffer = KeyBuffer::new(KeyScheme::integers());
        let batch = buffer.hash_integers(&keys).unwrap();
        let mut table = DirectTable::new(universe).unwrap();
        table.insert_batch(&batch).unwrap();
        assert_same(&table, &keys.iter().copied().collect());
        let mut found = vec![false; 9];
        table.contains_batch(&batch, &mut found).unwrap();
        prop_assert_eq!(found, vec![true; keys.len()]);
    }

    #[test]
    fn direct_table_removal_undoes_insertion((universe, [a, b, _]) in sets()) {
        let mut table = table_of(universe, &a | &b);
        for key in &b - &a {
            table.remove(&key).unwrap();
            prop_assert_eq!(table.remove(&key).unwrap_err().kind(), ErrorKind::Absent);
        }
        assert_same(&table, &a);
    }
}

#[test]
fn direct_tables_that_differ_refuse_each_other() {
    let mut table = table_of(100, [1, 99]);
    let before = table.clone();
    let seeded = |seed| DirectTable::with_scheme(100, KeyScheme::integers().with_seed(seed)).unwrap();
    for (other, field, expected, found) in
        [(DirectTable::new(101).unwrap(), "universe", "100", "101"), (seeded(2), "seed", "0", "2")]
    {
        for error in [
            table.merge(&other).unwrap_err(),
            table.intersect(&other).unwrap_err(),
            table.subtract(&other).unwrap_err(),
            table.jaccard(&other).unwrap_err(),
        ] {
            assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
            assert_eq!((error.expected(), error.found()), (expected, found));
        }
        assert_eq!(table, before, "a refusal changes nothing");
    }
}
