//! Bounds that are asked for with certainty: whatever the sketch saw, the truth lies between them,
//! and they are never narrower than what is known for certain.

use crivo::counting::{CounterArray, MorrisCounter, SampledCounter};
use crivo::distinct::{HyperLogLog, KMinValues, LinearCounting, LogLog, ProbabilisticCounting, UltraLogLog};
use crivo::frequency::private::{PredictableBits, PrivateClient, PrivateCountMean, Protocol};
use crivo::frequency::{CountMin, RangeCountMin};
use crivo::keys::{KeyRef, KeyScheme};
use crivo::membership::{BlockedBloom, Bloom, CounterBits, CountingBloom};
use crivo::profile::{ColumnProfile, DistinctGrowth, ProfileConfig};
use crivo::quantiles::{Accuracy, KeyQuantiles, NumberQuantiles};
use crivo::similarity::{Bands, MinHash};
use crivo::{Confidence, Estimate};

use super::support::{Random, generator};

/// Holds an answer to the truth: its bounds are certain and contain it.
#[track_caller]
fn holds(answer: Estimate, truth: f64) {
    assert!(answer.is_certain() && !answer.value().is_nan(), "{answer:?}");
    assert!(answer.covers(truth), "{answer:?} without {truth}");
}

fn hashes(count: usize, random: &mut Random) -> Vec<u64> {
    let mut hashes = vec![0; count];
    random.fill(&mut hashes);
    hashes
}

/// Numbers of items from one to far more than a small sketch distinguishes.
const COUNTS: [usize; 8] = [1, 2, 3, 10, 60, 300, 2_000, 50_000];

#[test]
fn certain_bounds_of_different_items_hold() {
    let mut random = generator("certain distinct");
    for count in COUNTS {
        let (hashes, n) = (hashes(count, &mut random), count as f64);
        macro_rules! sketches {
            ($($empty:expr),*) => {$(
                let mut sketch = $empty.unwrap();
                sketch.insert_hashes(&hashes);
                holds(sketch.estimate_at(Confidence::CERTAIN), n);
            )*};
        }
        let scheme = KeyScheme::hashes();
        sketches!(
            LinearCounting::with_scheme(1, scheme),
            LinearCounting::with_scheme(64, scheme),
            LinearCounting::with_scheme(5_000, scheme),
            HyperLogLog::with_scheme(4, scheme),
            HyperLogLog::with_scheme(8, scheme),
            UltraLogLog::with_scheme(4, scheme),
            UltraLogLog::with_scheme(8, scheme),
            HyperLogLog::with_scheme(4, scheme).and_then(HyperLogLog::with_history),
            UltraLogLog::with_scheme(8, scheme).and_then(UltraLogLog::with_history),
            LogLog::with_scheme(6, scheme),
            KMinValues::with_scheme(1, scheme),
            KMinValues::with_scheme(20, scheme)
        );
        let mut longest = ProbabilisticCounting::with_scheme(scheme);
        longest.insert_hashes(&hashes);
        holds(longest.estimate_at(Confidence::CERTAIN), n);
    }
}

/// The first item past the exact state may change no register, and then nothing has varied yet.
#[test]
fn a_history_that_has_just_begun_is_not_exact() {
    let mut random = generator("certain history");
    for more in (1..=4).cycle().take(400) {
        let mut sketch =
            UltraLogLog::with_scheme(8, KeyScheme::hashes()).and_then(UltraLogLog::with_history).unwrap();
        let count = UltraLogLog::exact_up_to(8) + more;
        sketch.insert_hashes(&hashes(count, &mut random));
        holds(sketch.estimate_at(Confidence::CERTAIN), count as f64);
        assert!(!sketch.estimate_at(Confidence::CERTAIN).is_exact());
    }
}

#[test]
fn certain_bounds_of_two_sets_hold() {
    let mut random = generator("certain sets");
    for count in COUNTS {
        let (all, n) = (hashes(3 * count, &mut random), count as f64);
        let (scheme, certain) = (KeyScheme::hashes(), Confidence::CERTAIN);
        macro_rules! two {
            ($empty:expr) => {{
                let (mut first, mut second) = ($empty.unwrap(), $empty.unwrap());
                first.insert_hashes(&all[..2 * count]);
                second.insert_hashes(&all[count..]);
                (first, second)
            }};
        }
        let (first, second) = two!(KMinValues::with_scheme(20, scheme));
        let compared = first.compare(&second).unwrap();
        holds(compared.union_at(certain), 3.0 * n);
        holds(compared.intersection_at(certain), n);
        holds(compared.difference_at(certain), n);
        holds(compared.jaccard_at(certain), 1.0 / 3.0);
        holds(compared.containment_at(certain), 0.5);
        let (first, second) = two!(MinHash::with_scheme(20, scheme));
        holds(first.similarity_at(&second, certain).unwrap(), 1.0 / 3.0);
        holds(first.items_at(certain), 2.0 * n);
        macro_rules! filters {
            ($($empty:expr),*) => {$(
                let (first, second) = two!($empty);
                holds(first.items_at(certain), 2.0 * n);
                holds(first.shared_items_at(&second, certain).unwrap(), n);
            )*};
        }
        filters!(
            Bloom::with_scheme(1_000, 3, scheme),
            BlockedBloom::with_scheme(2, scheme),
            CountingBloom::with_scheme(1_000, 3, CounterBits::Eight, scheme)
        );
        let (counting, _) = two!(CountingBloom::with_scheme(1_000, 3, CounterBits::Sixteen, scheme));
        all[..2 * count].iter().for_each(|&hash| holds(counting.count_hash_at(hash, certain), 1.0));
        holds(counting.count_hash_at(random.bits(), certain), 0.0);
    }
}

/// With 64 hashes a key, the rate of a nearly empty filter is 0 in floating point.
#[test]
fn a_count_whose_rate_is_too_small_for_a_float_is_not_exact() {
    let mut filter = CountingBloom::with_scheme(1 << 24, 64, CounterBits::Four, KeyScheme::hashes()).unwrap();
    filter.insert_hash(7);
    holds(filter.count_hash_at(7, Confidence::CERTAIN), 1.0);
    assert_eq!(
        (filter.false_positive_rate(), filter.count_hash_at(7, Confidence::CERTAIN).lower()),
        (0.0, 0.0)
    );
}

#[test]
fn certain_bounds_of_counters_hold() {
    for events in COUNTS {
        for seed in 0..20 {
            let (n, certain) = (events as f64, Confidence::CERTAIN);
            for probability in [1.0, 0.9, 0.5, 0.001] {
                let mut counter = SampledCounter::new(probability, seed).unwrap();
                counter.add(events as u64);
                holds(counter.estimate_at(certain), n);
                assert_eq!(counter.estimate_at(certain).upper().is_infinite(), probability < 1.0);
            }
            for base in [1.000_01, 1.1, 2.0] {
                let mut counter = MorrisCounter::new(base, 8, seed).unwrap();
                counter.add(events as u64);
                holds(counter.estimate_at(certain), n);
                let mut array = CounterArray::new(3, base, 8, seed).unwrap();
                array.add(0, events as u64).unwrap();
                array.add(1, 1).unwrap();
                holds(array.estimate_at(0, certain).unwrap(), n);
                holds(array.estimate_at(2, certain).unwrap(), 0.0);
                holds(array.total_at(certain), n + 1.0);
                let answers = [counter.estimate_at(certain), array.total_at(certain)];
                assert!(answers.iter().all(|answer| answer.upper().is_infinite()), "{answers:?}");
            }
        }
    }
    let sampled = crivo::math::sampled_total(7, 0.01, Confidence::CERTAIN);
    assert_eq!((sampled.lower(), sampled.upper()), (7.0, f64::INFINITY));
}

#[test]
fn certain_bounds_of_frequencies_hold() {
    let certain = Confidence::CERTAIN;
    for count in COUNTS {
        let mut random = generator("certain frequencies");
        let mut rows = CountMin::with_scheme(20, 3, KeyScheme::integers()).unwrap();
        let mut ranges = RangeCountMin::new(12, 20, 3).unwrap();
        let keys: Vec<u64> = (0..count).map(|_| random.below(1000) as u64).collect();
        keys.iter().for_each(|key| {
            rows.insert(key).unwrap();
            ranges.insert(key).unwrap();
        });
        let of = |key: u64| keys.iter().filter(|&&other| other == key).count() as f64;
        let up_to = |key: u64| keys.iter().filter(|&&other| other <= key).count() as f64;
        for key in [0, keys[0], 999, 2000] {
            holds(rows.frequency_at(&key, certain).unwrap(), of(key));
            holds(ranges.range_at(0..=key, certain).unwrap(), up_to(key));
        }
        let joined: f64 = (0..1000).map(|key| of(key) * of(key)).sum();
        holds(rows.inner_product_at(&rows, certain).unwrap(), joined);
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        holds(ranges.quantile_at(0.5, certain).unwrap(), sorted[count.div_ceil(2) - 1] as f64);

        for (epsilon, rows) in [(1.0, 1), (32.0, 1), (1.0, 100), (32.0, 100)] {
            let protocol = Protocol::new(epsilon, rows, 50).unwrap().with_scheme(KeyScheme::hashes());
            let mut client = PrivateClient::new(protocol, 1e12).unwrap();
            let (mut coins, mut sketch) =
                (PredictableBits::new(count as u64), PrivateCountMean::new(protocol).unwrap());
            for &key in &keys[..count.min(500)] {
                sketch.insert(&client.encode_hash((key % 3) << 60, &mut coins).unwrap()).unwrap();
            }
            let truth = keys[..count.min(500)].iter().filter(|&key| key % 3 == 1).count() as f64;
            holds(sketch.frequency_of_hash_at(1 << 60, certain), truth);
        }
    }
}

#[test]
fn certain_bounds_of_ranks_hold() {
    let certain = Confidence::CERTAIN;
    for count in COUNTS {
        for accuracy in [Accuracy::Uniform, Accuracy::Tails] {
            let mut numbers = NumberQuantiles::new(8, accuracy, 7).unwrap();
            let mut keys = KeyQuantiles::with_scheme(8, accuracy, KeyScheme::integers(), 7).unwrap();
            let values: Vec<usize> = (0..count).map(|i| i * 7919 % 1009).collect();
            for &value in &values {
                numbers.insert(value as f64);
                keys.insert(&(value as u64)).unwrap();
            }
            let mut sorted = values.clone();
            sorted.sort_unstable();
            for limit in [0, 1, 3, 500, 1000, 1008] {
                let below = sorted.partition_point(|&value| value < limit) as f64;
                let at_most = sorted.partition_point(|&value| value <= limit) as f64;
                holds(numbers.count_below_at(limit as f64, certain), below);
                holds(numbers.count_at_most_at(limit as f64, certain), at_most);
                holds(numbers.count_between_at(0.0, limit as f64, certain), below);
            }
            for share in [0.0, 0.01, 0.5, 0.9, 1.0] {
                let truth = sorted[((share * count as f64).ceil() as usize).saturating_sub(1)];
                holds(numbers.quantiles(&[share], certain)[0].unwrap(), truth as f64);
                let answer = keys.quantiles(&[share], certain).remove(0).unwrap();
                let integer = |key: &crivo::keys::OwnedKey| match key.as_ref() {
                    KeyRef::Integer(integer) => integer as usize,
                    other => panic!("{other:?}"),
                };
                assert!(answer.confidence.is_certain());
                assert!((integer(&answer.lower)..=integer(&answer.upper)).contains(&truth), "{answer:?}");
            }
        }
    }
}

#[test]
fn certain_bounds_of_profiles_and_pairs_hold() {
    let certain = Confidence::CERTAIN;
    for count in COUNTS {
        let mut growth = DistinctGrowth::with_scheme(16, KeyScheme::integers()).unwrap();
        let mut profile = ColumnProfile::new(ProfileConfig::default()).unwrap();
        for row in 1..=count as u64 {
            growth.insert(&row, row).unwrap();
            profile.insert(&row.to_string()).unwrap();
        }
        holds(growth.growth_at(&[count as u64], certain)[0], count as f64);
        holds(profile.distinct_at(certain), count as f64);
    }
    let bands = Bands::new(2, 10).unwrap();
    for found in [vec![], vec![0.5], vec![0.5, 0.9]] {
        let missed = bands.expected_missed_at(found, certain).unwrap();
        assert_eq!((missed.lower(), missed.upper()), (0.0, f64::INFINITY));
    }
}
