//! The files of `RangeCountMin`.

use crivo::frequency::RangeCountMin;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let squares = |levels: u32, width, depth, seed| {
        let scheme = crate::xxh3_integers().with_seed(seed);
        let mut sketch = RangeCountMin::with_scheme(levels, width, depth, scheme).unwrap();
        (0..500_u64).for_each(|i| sketch.add(&((i * i) << (64 - levels) >> (64 - levels)), i % 4).unwrap());
        sketch.encode()
    };
    let mut saturated = RangeCountMin::with_scheme(8, 3, 2, crate::xxh3_integers()).unwrap();
    [7_u64, 8, 200].iter().for_each(|key| saturated.add(key, u64::MAX / 2).unwrap());
    vec![
        (
            "range_count_min_v1_empty",
            RangeCountMin::with_scheme(5, 2, 2, crate::xxh3_integers()).unwrap().encode(),
        ),
        ("range_count_min_v1_exact", squares(7, 50, 3, 0)),
        ("range_count_min_v1_sketched", squares(20, 20, 4, 7)),
        ("range_count_min_v1_widest", squares(64, 3, 3, u64::MAX)),
        ("range_count_min_v1_one_leaf", squares(10, 1, 1, 0)),
        ("range_count_min_v1_saturated", saturated.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| RangeCountMin::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let exact = stored("range_count_min_v1_exact");
    assert!(exact.range(3..=40).unwrap().is_exact());
    assert_eq!((exact.total(), exact.range(3..=40).unwrap().value()), (750, EXACT));
    let sketched = stored("range_count_min_v1_sketched");
    let values = [0..=99, 5000..=200_000, 77..=77].map(|range| sketched.range(range).unwrap().value());
    assert_eq!(values, SKETCHED);
    assert_eq!(sketched.quantile(0.5).unwrap().value(), MEDIAN);
    assert!(stored("range_count_min_v1_saturated").is_saturated());
}

const EXACT: f64 = 248.0;
const SKETCHED: [f64; 3] = [82.0, 691.0, 21.0];
const MEDIAN: f64 = 61375.0;

/// Universes of every size, in one number.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    for levels in RangeCountMin::LEVELS {
        let mut sketch = RangeCountMin::with_scheme(levels, 9, 3, crate::xxh3_integers()).unwrap();
        for i in 0..300_u64 {
            let key = (i * i).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - levels);
            sketch.add(&key, i % 5).unwrap();
        }
        fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&sketch.encode()).unwrap();
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0xF6F2_6A46_09CA_773C;
