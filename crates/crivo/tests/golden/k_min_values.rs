//! The files of `KMinValues`.

use crivo::distinct::KMinValues;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let words = |k, count: u32| {
        let mut sketch = KMinValues::new(k).unwrap();
        (0..count).for_each(|i| sketch.insert(format!("key {i}").as_str()).unwrap());
        sketch.encode()
    };
    let mut integers = KMinValues::with_scheme(64, crate::xxh3_integers().with_seed(7)).unwrap();
    (0..10_000_u64).for_each(|i| integers.insert(&i).unwrap());
    let mut hashes = KMinValues::with_scheme(3, KeyScheme::hashes().with_seed(u64::MAX)).unwrap();
    hashes.insert_hashes(&[u64::MAX, 1 << 63, 0, 1, 0]);
    vec![
        ("k_min_values_v1_empty", words(1, 0)),
        ("k_min_values_v1_one", words(1, 1_000)),
        ("k_min_values_v1_exact", words(1_000, 300)),
        ("k_min_values_v1_limit", words(300, 300)),
        ("k_min_values_v1_sampling", words(1_024, 100_000)),
        ("k_min_values_v1_integers", integers.encode()),
        ("k_min_values_v1_hashes", hashes.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let sketch = |name| KMinValues::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let value = |name| sketch(name).estimate().value();
    assert_eq!(value("k_min_values_v1_empty"), 0.0);
    assert_eq!(value("k_min_values_v1_exact"), 300.0);
    // Elementary functions come from `libm`, so these hold to the last bit on every platform.
    assert_eq!(value("k_min_values_v1_one"), ONE_ANSWER);
    assert_eq!(value("k_min_values_v1_sampling"), SAMPLING_ANSWER);
    assert_eq!(value("k_min_values_v1_integers"), INTEGERS_ANSWER);
    let compared = sketch("k_min_values_v1_exact").compare(&sketch("k_min_values_v1_sampling")).unwrap();
    assert_eq!(compared.jaccard().value(), JACCARD_ANSWER);
}

const ONE_ANSWER: f64 = 2_248.604_123_900_129;
const SAMPLING_ANSWER: f64 = 96_153.292_513_752_52;
const INTEGERS_ANSWER: f64 = 9_936.940_502_803_325;
const JACCARD_ANSWER: f64 = 0.001_955_034_213_098_729_2;

/// Many sizes, from empty to well past the exact state, in one number.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    for k in [1, 2, 3, 7, 64, 500, 5_000] {
        let mut sketch = KMinValues::with_scheme(k, crate::xxh3_integers()).unwrap();
        for i in 0..40_000_u64 {
            if i.is_power_of_two() {
                fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&sketch.encode()).unwrap();
            }
            sketch.insert(&i).unwrap();
        }
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0x6871_BC2C_42D4_F341;
