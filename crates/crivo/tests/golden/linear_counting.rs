//! The files of `LinearCounting`.

use crivo::distinct::LinearCounting;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let integers = |bits, count: u64| {
        let mut sketch = LinearCounting::with_scheme(bits, crate::xxh3_integers().with_seed(7)).unwrap();
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    let mut words = LinearCounting::new(10_007).unwrap();
    (0..20_000).for_each(|i| words.insert(format!("key {i}").as_str()).unwrap());
    let mut hashes = LinearCounting::with_scheme(64, KeyScheme::hashes()).unwrap();
    hashes.insert_hashes(&[0, u64::MAX, 1 << 63, (1 << 63) - 1]);
    vec![
        ("linear_counting_v1_empty", integers(1_000, 0)),
        ("linear_counting_v1_words", words.encode()),
        ("linear_counting_v1_hashes", hashes.encode()),
        ("linear_counting_v1_full", integers(100, 2_000)),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let estimate = |name| LinearCounting::decode(&std::fs::read(path(name)).unwrap()).unwrap().estimate();
    assert_eq!(estimate("linear_counting_v1_empty").value(), 0.0);
    assert_eq!(estimate("linear_counting_v1_hashes").lower(), 4.0);
    let full = estimate("linear_counting_v1_full");
    assert!(full.lower() > 250.0 && full.upper().is_infinite(), "{full:?}");
    // Elementary functions come from `libm`, so these hold to the last bit on every platform.
    let words = estimate("linear_counting_v1_words");
    assert_eq!((words.value(), words.lower(), words.upper()), WORDS_ANSWER);
}

const WORDS_ANSWER: (f64, f64, f64) = (19_782.467_514_037_457, 19_378.0, 20_192.0);
