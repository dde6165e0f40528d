//! The files of HeavyHitters.

use crivo::frequency::HeavyHitters;
use crivo::keys::{KeyRef, KeyScheme};

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    // Key i comes 100 div i times.
    let words = |capacity, range: std::ops::Range<u64>| {
        let mut sketch = HeavyHitters::new(capacity).unwrap();
        for i in range {
            sketch.add(format!("key {i}").as_str(), 100 / i).unwrap();
        }
        sketch
    };
    let seeded = KeyScheme::bytes().with_seed(11_400_714_785_074_694_797);
    let mut texts = HeavyHitters::with_scheme(8, seeded).unwrap();
    (0..=150).for_each(|length| texts.insert("á".repeat(length).as_str()).unwrap());
    let mut integers = HeavyHitters::with_scheme(50, crate::xxh3_integers().with_seed(7)).unwrap();
    (0..10_000_i64).for_each(|i| integers.add(&(i * i % 101 - 50), 1 + i as u64 % 7).unwrap());
    let mut hashes = HeavyHitters::with_scheme(3, KeyScheme::hashes().with_seed(u64::MAX)).unwrap();
    [0, 1, u64::MAX].into_iter().for_each(|hash| hashes.add_ref(KeyRef::Hash(hash), 2).unwrap());
    let mut saturated = HeavyHitters::with_scheme(2, crate::xxh3_integers()).unwrap();
    (0..4_u64).for_each(|i| saturated.add(&i, u64::MAX / 3).unwrap());
    let mut merged = words(20, 1..61);
    merged.merge(&words(10, 5..101)).unwrap();
    vec![
        ("heavy_hitters_v1_empty", words(100, 1..1).encode()),
        ("heavy_hitters_v1_exact", words(100, 1..101).encode()),
        ("heavy_hitters_v1_purged", words(10, 1..101).encode()),
        ("heavy_hitters_v1_merged", merged.encode()),
        ("heavy_hitters_v1_texts", texts.encode()),
        ("heavy_hitters_v1_integers", integers.encode()),
        ("heavy_hitters_v1_hashes", hashes.encode()),
        ("heavy_hitters_v1_saturated", saturated.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| HeavyHitters::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let first = |name| {
        let hitter = stored(name).top(1).remove(0);
        (hitter.key().to_string(), hitter.lower(), hitter.upper())
    };
    assert_eq!(stored("heavy_hitters_v1_empty").top(1), []);
    assert_eq!(first("heavy_hitters_v1_exact"), ("key 1".into(), 100, 100));
    assert_eq!(first("heavy_hitters_v1_purged"), ("key 1".into(), 100, 100));
    assert_eq!(first("heavy_hitters_v1_merged"), ("key 1".into(), 100, 125));
    assert_eq!(stored("heavy_hitters_v1_purged").max_error(), 39);
    assert_eq!(stored("heavy_hitters_v1_hashes").counters(), 3);
    assert!(stored("heavy_hitters_v1_saturated").is_saturated());
}

/// States after every kind of operation, at many capacities, in one number: what is given up, and
/// when, is part of the promise.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    for capacity in [1, 2, 3, 4, 7, 8, 30, 31, 32, 33, 100, 1000] {
        for weights in [1, 3, 1 << 40] {
            let empty = HeavyHitters::with_scheme(capacity, crate::xxh3_integers()).unwrap();
            let (mut sketch, mut other) = (empty.clone(), empty);
            for i in 0..10_000_u64 {
                let product = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
                let (key, weight) = (product % (1 << (i % 13)), 1 + product % weights);
                if i % 3 == 0 { &mut other } else { &mut sketch }.add(&key, weight).unwrap();
                if i.is_power_of_two() {
                    let scheme = KeyScheme::bytes().with_seed(fingerprint);
                    fingerprint = scheme.hash(&sketch.encode()).unwrap();
                    sketch.merge(&other).unwrap();
                }
            }
        }
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0xF4B3_743C_BD24_78AA;
