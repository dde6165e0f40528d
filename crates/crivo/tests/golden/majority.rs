//! The files of Majority.

use crivo::frequency::Majority;
use crivo::keys::{KeyRef, KeyScheme};

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let votes = |votes: &[(&str, u64)]| {
        let mut sketch = Majority::new();
        votes.iter().for_each(|&(key, weight)| sketch.add(key, weight).unwrap());
        sketch.encode()
    };
    let mut integers = Majority::with_scheme(crate::xxh3_integers().with_seed(7));
    [-1_i64, 2, 2, 2, -1].iter().for_each(|key| integers.insert(key).unwrap());
    let mut hashes = Majority::with_scheme(KeyScheme::hashes().with_seed(u64::MAX));
    hashes.add_ref(KeyRef::Hash(1 << 63), 1).unwrap();
    vec![
        ("majority_v1_empty", votes(&[])),
        ("majority_v1_texts", votes(&[("á", 5), ("b", 2), ("á", 1)])),
        ("majority_v1_tie", votes(&[("á", 5), ("b", 5)])),
        ("majority_v1_nameless", votes(&[("a", 1), ("", 3)])),
        ("majority_v1_integers", integers.encode()),
        ("majority_v1_hashes", hashes.encode()),
        ("majority_v1_saturated", votes(&[("a", u64::MAX - 1), ("b", 7)])),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| Majority::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let candidate = |name| {
        let candidate = stored(name).candidate().unwrap();
        (candidate.key().to_string(), candidate.lower(), candidate.upper())
    };
    assert_eq!(stored("majority_v1_empty").candidate(), None);
    assert_eq!(stored("majority_v1_tie").candidate(), None);
    assert_eq!(stored("majority_v1_tie").total(), 10);
    assert_eq!(candidate("majority_v1_texts"), ("á".into(), 6, 6));
    assert_eq!(candidate("majority_v1_nameless"), (String::new(), 3, 3));
    assert_eq!(candidate("majority_v1_integers"), ("2".into(), 2, 3));
    assert_eq!(candidate("majority_v1_saturated"), ("a".into(), u64::MAX - 1, u64::MAX));
}
