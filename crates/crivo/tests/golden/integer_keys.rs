//! The files of sketches whose integer keys are hashed with Rrmxmx; in the others they are hashed
//! with XXH3.

use crivo::codec::AnySketch;
use crivo::counting::CounterArray;
use crivo::distinct::{
    ExactDistinct, HyperLogLog, KMinValues, LinearCounting, LogLog, ProbabilisticCounting, UltraLogLog,
};
use crivo::frequency::{CountMin, HeavyHitters, Majority, RangeCountMin};
use crivo::keys::KeyScheme;
use crivo::membership::{BinaryFuse, BlockedBloom, Bloom, CounterBits, CountingBloom, DirectTable};
use crivo::profile::DistinctGrowth;
use crivo::quantiles::{Accuracy, KeyQuantiles};
use crivo::sampling::{Reservoir, WeightedReservoir};
use crivo::similarity::MinHash;

use super::path;

/// Every family that holds integers, with those from -300 to 299 in it, each once. The seed is 7.
pub(crate) fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let scheme = KeyScheme::integers().with_seed(7);
    let keys = -300..300_i64;
    macro_rules! filled {
        ($name:literal, $empty:expr) => {{
            let mut sketch = $empty;
            keys.clone().for_each(|key| _ = sketch.insert(&key).unwrap());
            (concat!($name, "_v1_rrmxmx"), sketch.encode())
        }};
    }
    let mut table = DirectTable::with_scheme(700, scheme).unwrap();
    (0..600_u64).for_each(|key| assert!(table.insert(&key).unwrap()));
    let mut ranges = RangeCountMin::with_scheme(12, 20, 3, scheme).unwrap();
    (0..600_u64).for_each(|key| ranges.insert(&key).unwrap());
    let mut growth = DistinctGrowth::with_scheme(64, scheme).unwrap();
    keys.clone().zip(1..).for_each(|(key, row)| growth.insert(&key, row).unwrap());
    let mut weighted = WeightedReservoir::with_scheme(20, scheme, 7).unwrap();
    keys.clone().for_each(|key| weighted.insert(&key, 1.0).unwrap());
    let mut array = CounterArray::for_reach_with_scheme(100, 1e6, 8, scheme, 7).unwrap();
    let hashes: Vec<u64> = keys.clone().map(|key| scheme.hash(&key).unwrap()).collect();
    array.increment_hashes(&hashes).unwrap();
    vec![
        filled!("hyperloglog", HyperLogLog::with_scheme(8, scheme).unwrap()),
        filled!("ultraloglog", UltraLogLog::with_scheme(8, scheme).unwrap()),
        filled!("exact_distinct", ExactDistinct::with_scheme(scheme)),
        filled!("linear_counting", LinearCounting::with_scheme(1_000, scheme).unwrap()),
        filled!("k_min_values", KMinValues::with_scheme(64, scheme).unwrap()),
        filled!("probabilistic_counting", ProbabilisticCounting::with_scheme(scheme)),
        filled!("log_log", LogLog::with_scheme(6, scheme).unwrap()),
        filled!("bloom", Bloom::with_scheme(6_001, 4, scheme).unwrap()),
        filled!("blocked_bloom", BlockedBloom::with_scheme(16, scheme).unwrap()),
        filled!("counting_bloom", CountingBloom::with_scheme(6_001, 4, CounterBits::Eight, scheme).unwrap()),
        filled!("count_min", CountMin::with_scheme(100, 4, scheme).unwrap()),
        filled!("heavy_hitters", HeavyHitters::with_scheme(50, scheme).unwrap()),
        filled!("majority", Majority::with_scheme(scheme)),
        filled!("reservoir", Reservoir::with_scheme(50, scheme, 7).unwrap()),
        filled!("min_hash", MinHash::with_scheme(64, scheme).unwrap()),
        filled!("key_quantiles", KeyQuantiles::with_scheme(8, Accuracy::Tails, scheme, 7).unwrap()),
        ("direct_table_v1_rrmxmx", table.encode()),
        ("binary_fuse_v1_rrmxmx", BinaryFuse::of_keys_with_scheme(keys, scheme).unwrap().encode()),
        ("range_count_min_v1_rrmxmx", ranges.encode()),
        ("distinct_growth_v1_rrmxmx", growth.encode()),
        ("weighted_reservoir_v1_rrmxmx", weighted.encode()),
        ("counter_array_v1_rrmxmx", array.encode()),
    ]
}

fn stored(name: &str) -> AnySketch {
    AnySketch::decode(&std::fs::read(path(name)).unwrap()).unwrap()
}

/// A file of either function is asked and merged under its own; the two refuse each other.
#[test]
fn files_of_both_functions_are_asked_and_merged() {
    for (older, newer) in [
        ("bloom_v1_integers", "bloom_v1_rrmxmx"),
        ("hyperloglog_v1_integers", "hyperloglog_v1_rrmxmx"),
        ("k_min_values_v1_integers", "k_min_values_v1_rrmxmx"),
        ("heavy_hitters_v1_integers", "heavy_hitters_v1_rrmxmx"),
    ] {
        for name in [older, newer] {
            let mut sketch = stored(name);
            let other = sketch.clone();
            sketch.merge(&other).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let error = stored(older).merge(&stored(newer)).unwrap_err();
        let found = (error.field(), error.expected(), error.found());
        assert_eq!(found, ("hash function", "XXH3-64", "Rrmxmx"), "{older}");
    }
    let filter = Bloom::decode(&std::fs::read(path("bloom_v1_rrmxmx")).unwrap()).unwrap();
    assert!((-300..300).all(|key| filter.contains(&key).unwrap()));
    assert!((300..600).filter(|key| filter.contains(key).unwrap()).count() < 30);
    let filter = Bloom::decode(&std::fs::read(path("bloom_v1_integers")).unwrap()).unwrap();
    assert_eq!(filter.scheme().function(), crivo::keys::HashFunction::Xxh3);
    let top = HeavyHitters::decode(&std::fs::read(path("heavy_hitters_v1_rrmxmx")).unwrap()).unwrap();
    assert_eq!(top.total(), 600);
}
