//! The laws of `DistinctGrowth`: it depends on its rows only, not on their order or parts.

use crivo::ErrorKind;
use crivo::distinct::KMinValues;
use crivo::keys::KeyScheme;
use crivo::profile::DistinctGrowth;
use proptest::prelude::*;

use super::merged;

type Rows = Vec<(u64, u64)>;

fn sketch(k: u32, rows: &Rows) -> DistinctGrowth {
    let mut sketch = DistinctGrowth::with_scheme(k, KeyScheme::integers()).unwrap();
    rows.iter().for_each(|(value, row)| sketch.insert(value, *row).unwrap());
    sketch
}

/// Values of few and of many, in any order of rows.
fn rows() -> impl Strategy<Value = Rows> {
    (1..2000_u64).prop_flat_map(|values| prop::collection::vec((0..values, 1..1000_u64), 0..1500))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn distinct_growth_depends_on_its_rows_only((a, b, c) in (rows(), rows(), rows()), k in 2..300_u32) {
        let [x, y, z] = [&a, &b, &c].map(|rows| sketch(k, rows));
        let mut joined = [a.clone(), b].concat();
        prop_assert_eq!(merged(&x, &y).encode(), sketch(k, &joined).encode(), "merge equals the joined stream");
        prop_assert!(merged(&x, &y) == merged(&y, &x), "merge commutes");
        prop_assert!(merged(&merged(&x, &y), &z) == merged(&x, &merged(&y, &z)), "merge associates");
        prop_assert!(merged(&x, &sketch(k, &vec![])) == x, "an empty sketch changes nothing");
        joined.reverse();
        prop_assert_eq!(sketch(k, &joined).encode(), merged(&x, &y).encode(), "order does not matter");
        prop_assert!(DistinctGrowth::decode(&x.encode()).as_ref() == Ok(&x), "decoding inverts encoding");

        let mut set = KMinValues::with_scheme(k, KeyScheme::integers()).unwrap();
        a.iter().for_each(|(value, _)| set.insert(value).unwrap());
        prop_assert_eq!(x.keys().unwrap(), set, "the hashes are the sketch of the column's values");
        let smaller = sketch(2, &a);
        prop_assert!(merged(&x, &sketch(2, &vec![])) == smaller, "of two sizes the smaller one stays");

        // Exact models of the curve and of repetitions, while everything is known.
        let distinct = |up_to: u64| {
            let seen: std::collections::BTreeSet<u64> =
                a.iter().filter(|(_, row)| *row <= up_to).map(|(value, _)| *value).collect();
            seen.len() as f64
        };
        if distinct(u64::MAX) < f64::from(k) {
            for row in [1, 10, 500, 1000] {
                let found = x.growth(&[row])[0];
                prop_assert!(found.is_exact() && found.value() == distinct(row));
            }
            prop_assert_eq!(x.is_repeated(), distinct(u64::MAX) < a.len() as f64);
        }
    }
}

#[test]
fn rows_get_other_numbers() {
    let mut part = sketch(64, &vec![(1, 1), (2, 2), (1, 3)]);
    part.renumber(|row| row + 10);
    assert_eq!(part, sketch(64, &vec![(1, 11), (2, 12), (1, 13)]));
    part.insert(&1_u64, 5).unwrap();
    assert_eq!(part.growth(&[5, 12]).iter().map(|distinct| distinct.value()).collect::<Vec<_>>(), [1.0, 2.0]);
    // Beyond the last row there is no other.
    assert_eq!(sketch(64, &vec![(1, u64::MAX)]), sketch(64, &vec![(1, DistinctGrowth::LAST_ROW)]));
}

#[test]
fn growths_of_other_schemes_and_sizes_are_refused() {
    let mut mine = sketch(16, &vec![(1, 1)]);
    let error = mine.merge(&DistinctGrowth::new(16).unwrap()).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, "key kind"));
    for k in [0, 1, (1 << 20) + 1] {
        assert_eq!(DistinctGrowth::new(k).unwrap_err().field(), "k");
    }
}
