//! The files of `ProbabilisticCounting`.

use crivo::distinct::ProbabilisticCounting;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut words = ProbabilisticCounting::new();
    (0..1_000).for_each(|i| words.insert(format!("key {i}").as_str()).unwrap());
    let mut zero = ProbabilisticCounting::with_scheme(KeyScheme::hashes());
    zero.insert_hashes(&[5, 0, 12]);
    vec![
        ("probabilistic_counting_v1_empty", ProbabilisticCounting::new().encode()),
        ("probabilistic_counting_v1_words", words.encode()),
        ("probabilistic_counting_v1_zero", zero.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let estimate =
        |name| ProbabilisticCounting::decode(&std::fs::read(path(name)).unwrap()).unwrap().estimate();
    assert_eq!(estimate("probabilistic_counting_v1_empty").value(), 0.0);
    let words = estimate("probabilistic_counting_v1_words");
    assert_eq!((words.value(), words.lower(), words.upper()), WORDS_ANSWER);
    let zero = estimate("probabilistic_counting_v1_zero");
    assert!(zero.value() == 2_f64.powi(64) && zero.upper().is_infinite(), "{zero:?}");
}

const WORDS_ANSWER: (f64, f64, f64) = (512.0, 13.0, 3_775.0);
