//! The files of Count-Min.

use crivo::frequency::CountMin;
use crivo::keys::KeyScheme;

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut words = CountMin::new(100, 5).unwrap();
    (0..1000_u64).for_each(|i| words.insert(format!("key {}", i * i % 300).as_str()).unwrap());
    let numbers = |mut sketch: CountMin| {
        (-100..100_i64).for_each(|i| sketch.add(&(i % 23), (i * i) as u64).unwrap());
        sketch.encode()
    };
    let scheme = crate::xxh3_integers().with_seed(7);
    let saturated = |mut sketch: CountMin| {
        (0..8_u64).for_each(|i| sketch.add_hash(i << 61, u64::MAX >> i));
        sketch.encode()
    };
    let hashes = KeyScheme::hashes().with_seed(u64::MAX);
    vec![
        ("count_min_v1_empty", CountMin::new(3, 2).unwrap().encode()),
        ("count_min_v1_words", words.encode()),
        ("count_min_v1_weights", numbers(CountMin::with_scheme(17, 7, scheme).unwrap())),
        ("count_min_v1_conservative", numbers(CountMin::conservative_with_scheme(17, 7, scheme).unwrap())),
        ("count_min_v1_saturated", saturated(CountMin::with_scheme(4, 3, hashes).unwrap())),
        (
            "count_min_v1_conservative_saturated",
            saturated(CountMin::conservative_with_scheme(4, 3, hashes).unwrap()),
        ),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| CountMin::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let words = stored("count_min_v1_words");
    let answers = ["key 0", "key 1", "key 4", "key 5"].map(|key| words.frequency(key).unwrap().value());
    assert_eq!((words.total(), answers), (1000, [34.0, 26.0, 27.0, 0.0]));
    let plain = stored("count_min_v1_weights");
    let conservative = stored("count_min_v1_conservative");
    let of = |sketch: &CountMin| [-22, 0, 5, 22].map(|key: i64| sketch.frequency(&key).unwrap().value());
    assert_eq!(of(&plain), PLAIN);
    assert_eq!(of(&conservative), CONSERVATIVE);
    assert!(stored("count_min_v1_saturated").is_saturated());
}

const PLAIN: [f64; 4] = [15414.0, 60249.0, 18295.0, 28668.0];
const CONSERVATIVE: [f64; 4] = [15414.0, 31740.0, 18295.0, 26340.0];

/// Many shapes and lengths, plain and conservative, in one number.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    for (width, depth) in [(1, 1), (2, 32), (10, 3), (1000, 4), (4096, 9)] {
        for make in [CountMin::with_scheme, CountMin::conservative_with_scheme] {
            let mut sketch = make(width, depth, crate::xxh3_integers()).unwrap();
            for i in 0..3_000_u64 {
                if i.is_power_of_two() {
                    fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&sketch.encode()).unwrap();
                }
                sketch.add(&(i * i % 1009), i % 5).unwrap();
            }
        }
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0x0DAD_80CF_E10A_4654;
