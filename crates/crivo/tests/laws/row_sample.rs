//! The laws of `RowSample`: it depends on its rows only, not on their order or parts.

use crivo::ErrorKind;
use crivo::sampling::RowSample;
use proptest::prelude::*;

use super::merged;

fn sample(capacity: u64, is_weighted: bool, places: &[u64]) -> RowSample {
    let make = if is_weighted { RowSample::weighted } else { RowSample::new };
    let mut sample = make(capacity, 3).unwrap();
    for &place in places {
        let row = place.to_string();
        if is_weighted {
            // Some weights are 0, some so small or large that clocks meet at the ends of the
            // floats.
            let weight = [0.0, 1e-320, 1.0, 2.5, 1e300][place as usize % 5];
            sample.insert_weighted(place, weight, || row.as_bytes()).unwrap();
        } else {
            sample.insert(place, row.as_bytes()).unwrap();
        }
    }
    sample
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn row_samples_do_not_depend_on_parts(
        owners in prop::collection::vec(0..3_usize, 0..600), capacity in 1..80_u64, is_weighted: bool,
    ) {
        let part = |owner| -> Vec<u64> {
            owners.iter().enumerate().filter(|(_, of)| **of == owner).map(|(place, _)| place as u64 * 7).collect()
        };
        let make = |places: &[u64]| sample(capacity, is_weighted, places);
        let [x, y, z] = [0, 1, 2].map(|owner| make(&part(owner)));
        let mut all = part(0);
        all.extend(part(1));
        prop_assert_eq!(merged(&x, &y).encode(), make(&all).encode(), "merge equals the joined stream");
        prop_assert!(merged(&x, &y) == merged(&y, &x), "merge commutes");
        prop_assert!(merged(&merged(&x, &y), &z) == merged(&x, &merged(&y, &z)), "merge associates");
        prop_assert!(merged(&x, &make(&[])) == x, "an empty sample changes nothing");
        all.reverse();
        prop_assert_eq!(make(&all).encode(), merged(&x, &y).encode(), "order does not matter");
        prop_assert!(RowSample::decode(&x.encode()).as_ref() == Ok(&x), "decoding inverts encoding");
        let rows = x.rows();
        prop_assert!(rows.is_sorted_by(|a, b| a.place < b.place));
        prop_assert!(rows.iter().all(|kept| kept.row == kept.place.to_string().as_bytes()));
    }
}

#[test]
fn samples_that_are_not_of_one_table_refuse_each_other() {
    let rows = |sample: RowSample| {
        let mut sample = sample;
        (0..100).for_each(|place| sample.insert(place, b"x").unwrap());
        sample
    };
    let mut mine = rows(RowSample::new(10, 1).unwrap());
    let before = mine.clone();
    for (other, field) in [
        (RowSample::new(10, 2).unwrap(), "seed"),
        (RowSample::new(11, 1).unwrap(), "capacity"),
        (RowSample::weighted(10, 1).unwrap(), "draws"),
        (RowSample::new(10, 1).unwrap(), "places"),
    ] {
        let error = mine.merge(&rows(other)).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
        assert_eq!(mine, before, "a refused merge changes nothing");
    }
    assert_eq!(RowSample::new(0, 1).unwrap_err().field(), "capacity");
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let mut sample = RowSample::weighted(1, 1).unwrap();
        assert_eq!(sample.insert_weighted(0, weight, || b"").unwrap_err().field(), "weight");
    }
    assert_eq!(mine.insert_weighted(0, 1.0, || b"").unwrap_err().field(), "weight");
}
