//! The files of `MinHash`.

use crivo::keys::KeyScheme;
use crivo::similarity::MinHash;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let words = |k, from: u32, to: u32| {
        let mut sketch = MinHash::new(k).unwrap();
        (from..to).for_each(|i| sketch.insert(format!("key {i}").as_str()).unwrap());
        sketch.encode()
    };
    let mut integers = MinHash::with_scheme(100, crate::xxh3_integers().with_seed(7)).unwrap();
    (-50..50_i64).for_each(|i| integers.insert(&i).unwrap());
    let mut hashes = MinHash::with_scheme(9, KeyScheme::hashes().with_seed(u64::MAX)).unwrap();
    hashes.insert_hashes(&[u64::MAX, 1 << 63, 0, 1, 0]);
    vec![
        ("min_hash_v1_empty", words(128, 0, 0)),
        ("min_hash_v1_one_slot", words(1, 0, 1_000)),
        ("min_hash_v1_one_key", words(50, 0, 1)),
        ("min_hash_v1_words", words(400, 0, 300)),
        ("min_hash_v1_other_words", words(400, 100, 400)),
        ("min_hash_v1_many", words(128, 0, 100_000)),
        ("min_hash_v1_integers", integers.encode()),
        ("min_hash_v1_hashes", hashes.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let sketch = |name| MinHash::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let (words, others) = (sketch("min_hash_v1_words"), sketch("min_hash_v1_other_words"));
    let similarity = words.similarity(&others).unwrap();
    assert_eq!(similarity.value(), SIMILARITY, "of a true 0.5");
    // One element takes rounds of both kinds; a hundred thousand take one.
    let rounds = |name| sketch(name).slots().iter().map(|slot| slot >> 48).max();
    assert!(rounds("min_hash_v1_one_key") >= Some(50));
    assert_eq!(rounds("min_hash_v1_many"), Some(0));
    assert_eq!(sketch("min_hash_v1_empty").items().value(), 0.0);
    // Elementary functions come from `libm`, so these hold to the last bit on every platform.
    assert_eq!(words.items().value(), WORDS_ITEMS);
    assert_eq!(sketch("min_hash_v1_many").items().value(), MANY_ITEMS);
}

const SIMILARITY: f64 = 0.4875;
const WORDS_ITEMS: f64 = 302.558_373_282_556_3;
const MANY_ITEMS: f64 = 84_056.098_342_322_16;

/// Many sizes, from empty to well past one round, in one number.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    for k in [1, 2, 3, 7, 64, 500, 3_000] {
        let mut sketch = MinHash::with_scheme(k, crate::xxh3_integers()).unwrap();
        for i in 0..10_000_u64 {
            if i.is_power_of_two() {
                fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&sketch.encode()).unwrap();
            }
            sketch.insert(&i).unwrap();
        }
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0x84DD_68DB_6C9C_15F7;
