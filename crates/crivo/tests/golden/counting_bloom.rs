//! The files of the counting Bloom filter.

use crivo::keys::KeyScheme;
use crivo::membership::{CounterBits, CountingBloom};

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let texts = |items, rate, count: u32| {
        let mut filter = CountingBloom::for_items(items, rate, CounterBits::Eight).unwrap();
        (0..count).for_each(|i| filter.add(format!("key {i}").as_str(), u64::from(i % 3) + 1).unwrap());
        filter.encode()
    };
    let numbers = |cells, hashes, width, range: std::ops::Range<i64>| {
        let scheme = crate::xxh3_integers().with_seed(7);
        let mut filter = CountingBloom::with_scheme(cells, hashes, width, scheme).unwrap();
        range.for_each(|i| assert!(filter.insert(&i).is_ok()));
        filter
    };
    let mut removed = numbers(1001, 4, CounterBits::Four, -100..100);
    (0..100_i64).for_each(|i| removed.remove(&i).unwrap());
    let mut wide = numbers(101, 3, CounterBits::ThirtyTwo, 0..20);
    wide.add(&5, u64::MAX).unwrap();
    let hashes = KeyScheme::hashes().with_seed(u64::MAX);
    let mut extremes = CountingBloom::with_scheme(50, 64, CounterBits::Sixteen, hashes).unwrap();
    extremes.insert_hashes(&[0, 1, u64::MAX, 1 << 63]);
    vec![
        ("counting_bloom_v1_empty", texts(500, 0.01, 0)),
        ("counting_bloom_v1_texts", texts(500, 0.01, 600)),
        ("counting_bloom_v1_integers", numbers(1001, 4, CounterBits::Four, -100..100).encode()),
        ("counting_bloom_v1_removed", removed.encode()),
        ("counting_bloom_v1_saturated", numbers(15, 2, CounterBits::Four, 0..200).encode()),
        ("counting_bloom_v1_wide", wide.encode()),
        ("counting_bloom_v1_hashes", extremes.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let stored = |name| CountingBloom::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    let texts = stored("counting_bloom_v1_texts");
    assert_eq!(texts.count("key 2").unwrap().value(), 3.0);
    assert!((texts.items().value() - 600.0).abs() < 20.0, "{:?}", texts.items());
    // Elementary functions come from `libm`, so this holds to the last bit on every platform.
    assert_eq!(texts.items().value(), TEXTS_ANSWER);
    let removed = stored("counting_bloom_v1_removed");
    assert!((-100..0_i64).all(|key| removed.contains(&key).unwrap()));
    assert_eq!(stored("counting_bloom_v1_saturated").saturated(), 15);
    assert!(stored("counting_bloom_v1_wide").count(&5).unwrap().upper().is_infinite());
}

const TEXTS_ANSWER: f64 = 582.834_860_735_249_5;

/// Every width, several shapes, from empty to crowded, with removals, in one number.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    for width in CounterBits::ALL {
        for (cells, hashes) in [(1, 1), (63, 2), (1000, 7), (4096, 64)] {
            let mut filter =
                CountingBloom::with_scheme(cells, hashes, width, crate::xxh3_integers()).unwrap();
            for i in 0..3_000_u64 {
                if i.is_power_of_two() {
                    fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&filter.encode()).unwrap();
                }
                filter.add(&i, i % 5 + 1).unwrap();
                if i % 7 == 3 {
                    filter.remove(&i).unwrap();
                }
            }
        }
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0x451D_8A32_26AF_D37F;
