//! The files of the samples.

use crivo::keys::{KeyRef, KeyScheme};
use crivo::sampling::{Reservoir, WeightedReservoir};

use super::path;

/// The state a stored file holds, built anew. The recipes are also in docs/format.md.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let words = |capacity, seed, range: std::ops::Range<u32>| {
        let mut sample = Reservoir::new(capacity, seed).unwrap();
        range.for_each(|i| sample.insert(format!("key {i}").as_str()).unwrap());
        sample
    };
    let mut integers = Reservoir::with_scheme(50, crate::xxh3_integers().with_seed(7), 7).unwrap();
    (-1000..1000).for_each(|i| integers.insert(&i).unwrap());
    let mut hashes = Reservoir::with_scheme(1, KeyScheme::hashes(), 7).unwrap();
    (0..100).for_each(|i| hashes.insert_ref(KeyRef::Hash(i << 57)).unwrap());
    let mut merged = words(10, 1, 0..1000);
    merged.merge(&words(10, 2, 1000..1500)).unwrap();

    let weighted = |capacity, seed, range: std::ops::Range<u32>| {
        let mut sample = WeightedReservoir::new(capacity, seed).unwrap();
        range.for_each(|i| sample.insert(format!("key {i}").as_str(), f64::from(i)).unwrap());
        sample
    };
    let mut weighted_integers = WeightedReservoir::with_scheme(20, crate::xxh3_integers(), 7).unwrap();
    (0..500_u32).for_each(|i| weighted_integers.insert(&i, f64::from(i % 3) / 8.0).unwrap());
    let mut weighted_merged = weighted(10, 1, 0..1000);
    weighted_merged.merge(&weighted(10, 2, 1000..1500)).unwrap();
    vec![
        ("reservoir_v1_empty", words(5, 0, 0..0).encode()),
        ("reservoir_v1_filling", words(100, 7, 0..60).encode()),
        ("reservoir_v1_texts", words(20, 7, 0..100_000).encode()),
        ("reservoir_v1_integers", integers.encode()),
        ("reservoir_v1_hash", hashes.encode()),
        ("reservoir_v1_merged", merged.encode()),
        ("weighted_reservoir_v1_empty", weighted(5, 0, 0..0).encode()),
        ("weighted_reservoir_v1_filling", weighted(100, 7, 0..60).encode()),
        ("weighted_reservoir_v1_texts", weighted(20, 7, 0..10_000).encode()),
        ("weighted_reservoir_v1_integers", weighted_integers.encode()),
        ("weighted_reservoir_v1_merged", weighted_merged.encode()),
    ]
}

#[test]
fn answers_of_stored_samples_do_not_change() {
    let stored = |name| std::fs::read(path(name)).unwrap();
    let sample = Reservoir::decode(&stored("reservoir_v1_merged")).unwrap();
    assert_eq!((sample.seen(), sample.capacity(), sample.sample().len()), (1500, 10, 10));
    let sample = Reservoir::decode(&stored("reservoir_v1_filling")).unwrap();
    let kept: Vec<String> = sample.sample().map(|key| key.to_string()).collect();
    assert_eq!((kept.len(), kept[59].as_str()), (60, "key 59"));
    let sample = WeightedReservoir::decode(&stored("weighted_reservoir_v1_integers")).unwrap();
    assert_eq!((sample.seen(), sample.weightless(), sample.sample().len()), (333, 167, 20));
}

/// Many capacities and lengths of stream in one number: it freezes every draw.
#[test]
fn fingerprint_of_many_samples_does_not_change() {
    let mut fingerprint = 0;
    let mut take = |bytes: Vec<u8>| {
        fingerprint = KeyScheme::bytes().with_seed(fingerprint).hash(&bytes).unwrap();
    };
    for capacity in [1, 2, 3, 10, 100] {
        let mut uniform = Reservoir::with_scheme(capacity, crate::xxh3_integers(), capacity).unwrap();
        let mut heavy = WeightedReservoir::with_scheme(capacity, crate::xxh3_integers(), capacity).unwrap();
        for i in 0..5_000_u32 {
            if i.is_power_of_two() {
                take(uniform.encode());
                take(heavy.encode());
            }
            uniform.insert(&i).unwrap();
            heavy.insert(&i, f64::from(i % 17).powi(3)).unwrap();
        }
        let (uniform_twin, heavy_twin) = (uniform.clone(), heavy.clone());
        uniform.merge(&uniform_twin).unwrap();
        heavy.merge(&heavy_twin).unwrap();
        take(uniform.encode());
        take(heavy.encode());
    }
    assert_eq!(fingerprint, FINGERPRINT, "{fingerprint:#018x}");
}

const FINGERPRINT: u64 = 0xE7FF_7DD3_1D23_A74B;
