//! The files of `ExactDistinct`.

use crivo::distinct::ExactDistinct;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut words = ExactDistinct::new();
    (0..1_000).for_each(|i| words.insert(format!("key {}", i % 300).as_str()).unwrap());
    let mut hashes = ExactDistinct::with_scheme(KeyScheme::hashes().with_seed(u64::MAX));
    hashes.insert_hashes(&[u64::MAX, 0, 1, 1 << 63, 0]);
    vec![
        ("exact_distinct_v1_empty", ExactDistinct::with_scheme(crate::xxh3_integers().with_seed(9)).encode()),
        ("exact_distinct_v1_words", words.encode()),
        ("exact_distinct_v1_hashes", hashes.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let value = |name| ExactDistinct::decode(&std::fs::read(path(name)).unwrap()).unwrap().estimate().value();
    assert_eq!(value("exact_distinct_v1_empty"), 0.0);
    assert_eq!(value("exact_distinct_v1_words"), 300.0);
    assert_eq!(value("exact_distinct_v1_hashes"), 4.0);
}
