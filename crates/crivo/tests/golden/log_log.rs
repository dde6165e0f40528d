//! The files of LogLog.

use crivo::distinct::LogLog;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let words = |precision, count: u32| {
        let mut sketch = LogLog::new(precision).unwrap();
        (0..count).for_each(|i| sketch.insert(format!("key {i}").as_str()).unwrap());
        sketch.encode()
    };
    let mut integers = LogLog::with_scheme(6, crate::xxh3_integers().with_seed(7)).unwrap();
    (0..40_u64).for_each(|i| integers.insert(&i).unwrap());
    let mut saturated = LogLog::with_scheme(6, KeyScheme::hashes()).unwrap();
    (0..64).for_each(|register| saturated.insert_hash(register << 58));
    vec![
        ("log_log_v1_empty", words(6, 0)),
        ("log_log_v1_words", words(10, 100_000)),
        ("log_log_v1_few", integers.encode()),
        ("log_log_v1_saturated", saturated.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let estimate = |name| LogLog::decode(&std::fs::read(path(name)).unwrap()).unwrap().estimate();
    assert_eq!(estimate("log_log_v1_empty").value(), 0.0);
    let saturated = estimate("log_log_v1_saturated");
    assert!(saturated.lower() > 2_f64.powi(64) && saturated.upper().is_infinite(), "{saturated:?}");
    // Elementary functions come from `libm`, so these hold to the last bit on every platform.
    assert_eq!(estimate("log_log_v1_words").value(), WORDS_ANSWER);
    assert!(estimate("log_log_v1_few").covers(40.0));
}

const WORDS_ANSWER: f64 = 103_722.146_301_570_13;
