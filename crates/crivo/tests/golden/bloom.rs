//! The files of the Bloom filters.

use crivo::keys::KeyScheme;
use crivo::membership::{BlockedBloom, Bloom, CombinedFilter};

use super::path;

/// The states that stored files hold, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let mut texts = Bloom::for_items(1_000, 0.01).unwrap();
    (0..1_000).for_each(|i| drop(texts.insert(format!("key {i}").as_str())));
    let mut integers = Bloom::with_scheme(1_001, 4, crate::xxh3_integers().with_seed(7)).unwrap();
    (-100..100).for_each(|i: i64| drop(integers.insert(&i)));
    let hashes = KeyScheme::hashes().with_seed(u64::MAX);
    let mut extremes = Bloom::with_scheme(100, 64, hashes).unwrap();
    extremes.insert_hashes(&[0, 1, u64::MAX, 1 << 63]);
    let mut full = Bloom::with_scheme(65, 1, crate::xxh3_integers()).unwrap();
    (0..2_000_u64).for_each(|i| drop(full.insert(&i)));

    let mut blocked_texts = BlockedBloom::for_items(1_000, 0.01).unwrap();
    (0..1_000).for_each(|i| drop(blocked_texts.insert(format!("key {i}").as_str())));
    let mut blocked_integers = BlockedBloom::with_scheme(3, crate::xxh3_integers().with_seed(7)).unwrap();
    (-100..100).for_each(|i: i64| drop(blocked_integers.insert(&i)));
    let mut blocked_extremes = BlockedBloom::with_scheme(5, hashes).unwrap();
    blocked_extremes.insert_hashes(&[0, 1, u64::MAX, 1 << 63]);
    let mut few = Bloom::for_items(10, 0.01).unwrap();
    (0..10).for_each(|i| drop(few.insert(format!("key {i}").as_str())));
    let united = CombinedFilter::union(texts.clone().into(), few.clone().into()).unwrap();
    let shared = CombinedFilter::intersection(texts.clone().into(), blocked_texts.clone().into()).unwrap();
    let both = CombinedFilter::union(shared.clone().into(), few.into()).unwrap();
    vec![
        ("combined_filter_v1_union", united.encode()),
        ("combined_filter_v1_intersection", shared.encode()),
        ("combined_filter_v1_both", both.encode()),
        ("bloom_v1_empty", Bloom::for_items(1_000, 0.01).unwrap().encode()),
        ("bloom_v1_texts", texts.encode()),
        ("bloom_v1_integers", integers.encode()),
        ("bloom_v1_hashes", extremes.encode()),
        ("bloom_v1_full", full.encode()),
        ("blocked_bloom_v1_empty", BlockedBloom::for_items(1_000, 0.01).unwrap().encode()),
        ("blocked_bloom_v1_texts", blocked_texts.encode()),
        ("blocked_bloom_v1_integers", blocked_integers.encode()),
        ("blocked_bloom_v1_hashes", blocked_extremes.encode()),
    ]
}

#[test]
fn answers_of_stored_files_do_not_change() {
    let read = |name| Bloom::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    assert!(read("bloom_v1_empty").is_empty());
    assert!(read("bloom_v1_texts").contains("key 999").unwrap());
    assert!(!read("bloom_v1_texts").contains("stranger").unwrap());
    assert!(read("bloom_v1_integers").contains(&-100).unwrap());
    assert_eq!(read("bloom_v1_full").fill(), 1.0);
    assert!(read("bloom_v1_full").items().upper().is_infinite());
    let read = |name| BlockedBloom::decode(&std::fs::read(path(name)).unwrap()).unwrap();
    assert!(read("blocked_bloom_v1_empty").is_empty());
    assert!(read("blocked_bloom_v1_texts").contains("key 999").unwrap());
    assert!(!read("blocked_bloom_v1_texts").contains("stranger").unwrap());
}

/// Many sizes, from empty to overfull, in one number.
#[test]
fn fingerprint_of_many_states_does_not_change() {
    let mut fingerprint = 0;
    let mut take =
        |bytes: Vec<u8>| fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&bytes).unwrap();
    for (bits, hashes) in [(1, 1), (64, 2), (1_000, 7), (4_099, 13), (17_000_000, 7)] {
        let mut filter = Bloom::with_scheme(bits, hashes, crate::xxh3_integers()).unwrap();
        for i in 0..1_000_u64 {
            if i.is_power_of_two() {
                take(filter.encode());
            }
            filter.insert(&i).unwrap();
        }
    }
    for blocks in [1, 2, 9, 500] {
        let mut filter = BlockedBloom::with_scheme(blocks, crate::xxh3_integers()).unwrap();
        for i in 0..1_000_u64 {
            if i.is_power_of_two() {
                take(filter.encode());
            }
            filter.insert(&i).unwrap();
        }
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0x9CB7_82B4_671E_12A8;
