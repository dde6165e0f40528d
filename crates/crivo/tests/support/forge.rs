// This file is long because it has a sketch of every family.

//! Sketches to damage, and the tools to do it.

use crivo::codec::AnySketch;
use crivo::counting::{CounterArray, MorrisCounter, SampledCounter, Tally};
use crivo::distinct::hyperloglog::HighestRank;
use crivo::distinct::ultraloglog::ThreeLevels;
use crivo::distinct::{
    ExactDistinct, HyperLogLog, KMinValues, LinearCounting, LogLog, ProbabilisticCounting, RegisterKind,
    RegisterSketch,
};
use crivo::frequency::private::{PredictableBits, PrivateClient, PrivateCountMean, Protocol};
use crivo::frequency::{CountMin, HeavyHitters, Majority, RangeCountMin};
use crivo::groups::Groups;
use crivo::keys::{HashFunction, KeyScheme};
use crivo::membership::{
    BinaryFuse, BlockedBloom, Bloom, CombinedFilter, CounterBits, CountingBloom, DirectTable,
};
use crivo::profile::{ColumnProfile, DDSketch, DistinctGrowth, NearDuplicateShare, ProfileConfig};
use crivo::quantiles::{Accuracy, KeyQuantiles, NumberQuantiles};
use crivo::sampling::{Reservoir, RowSample, WeightedReservoir};
use crivo::similarity::MinHash;
use crivo::window::Panes;

use super::Random;

/// One of each state of each family, small enough to damage often.
pub(crate) fn samples() -> Vec<Vec<u8>> {
    [
        register_sketches::<HighestRank>(),
        exact_distincts(),
        linear_countings(),
        k_min_values(),
        probabilistic_countings(),
        log_logs(),
        direct_tables(),
        blooms(),
        binary_fuses(),
        blocked_blooms(),
        counting_blooms(),
        combined_filters(),
        count_mins(),
        range_count_mins(),
        sampled_counters(),
        morris_counters(),
        counter_arrays(),
        heavy_hitters(),
        majorities(),
        register_sketches::<ThreeLevels>(),
        reservoirs(),
        weighted_reservoirs(),
        private_count_means(),
        min_hashes(),
        panes(),
        groups(),
        tallies(),
        ddsketches(),
        column_profiles(),
        row_samples(),
        near_duplicate_shares(),
        distinct_growths(),
        number_quantiles(),
        key_quantiles(),
        table_profiles(),
    ]
    .concat()
}

pub(crate) fn register_sketches<K: RegisterKind>() -> Vec<Vec<u8>> {
    let sketch = |precision, count: u64| {
        let scheme = KeyScheme::integers().with_seed(5);
        let mut sketch = RegisterSketch::<K>::with_scheme(precision, scheme).unwrap();
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    vec![sketch(4, 0), sketch(8, 20), sketch(4, 100), sketch(8, 10_000), sketch(18, 9)]
}

pub(crate) fn direct_tables() -> Vec<Vec<u8>> {
    let table = |universe: u64, step| {
        let mut table = DirectTable::with_scheme(universe, KeyScheme::integers().with_seed(5)).unwrap();
        (0..universe).step_by(step).for_each(|i| assert!(table.insert(&i).unwrap()));
        table.encode()
    };
    vec![table(1, 1), table(100, 3), table(128, 1), table(2000, 1999)]
}

pub(crate) fn blooms() -> Vec<Vec<u8>> {
    let filter = |bits, hashes, count: u64| {
        let mut filter = Bloom::with_scheme(bits, hashes, KeyScheme::integers().with_seed(5)).unwrap();
        (0..count).for_each(|i| assert!(filter.insert(&i).is_ok()));
        filter.encode()
    };
    vec![filter(1, 1, 0), filter(100, 3, 20), filter(128, 64, 1), filter(1, 1, 1)]
}

pub(crate) fn blocked_blooms() -> Vec<Vec<u8>> {
    let filter = |blocks, count: u64| {
        let mut filter = BlockedBloom::with_scheme(blocks, KeyScheme::integers().with_seed(5)).unwrap();
        (0..count).for_each(|i| assert!(filter.insert(&i).is_ok()));
        filter.encode()
    };
    vec![filter(1, 0), filter(1, 20), filter(3, 100)]
}

pub(crate) fn binary_fuses() -> Vec<Vec<u8>> {
    let filter = |count: u64| {
        BinaryFuse::of_keys_with_scheme(0..count, KeyScheme::integers().with_seed(5)).unwrap().encode()
    };
    vec![filter(0), filter(20), filter(1), filter(300)]
}

pub(crate) fn combined_filters() -> Vec<Vec<u8>> {
    let scheme = KeyScheme::integers().with_seed(5);
    let mut bloom = Bloom::with_scheme(100, 3, scheme).unwrap();
    (0..20_u64).for_each(|i| assert!(bloom.insert(&i).is_ok()));
    let mut blocked = BlockedBloom::with_scheme(1, scheme).unwrap();
    (0..20_u64).for_each(|i| assert!(blocked.insert(&i).is_ok()));
    let (bloom, blocked) = (AnySketch::from(bloom), AnySketch::from(blocked));
    let union = CombinedFilter::union(bloom.clone(), blocked.clone()).unwrap();
    let both = CombinedFilter::intersection(bloom, blocked).unwrap();
    vec![union.encode(), both.encode()]
}

pub(crate) fn counting_blooms() -> Vec<Vec<u8>> {
    let filter = |cells, hashes, bits, count: u64, times| {
        let width = CounterBits::of(bits).unwrap();
        let scheme = KeyScheme::integers().with_seed(5);
        let mut filter = CountingBloom::with_scheme(cells, hashes, width, scheme).unwrap();
        (0..count).for_each(|i| filter.add(&i, times).unwrap());
        filter.encode()
    };
    vec![
        filter(1, 1, 4, 0, 0),
        filter(37, 3, 4, 8, 2),
        filter(37, 3, 4, 8, 100),
        filter(101, 7, 8, 10, 50),
        filter(33, 2, 16, 10, 1000),
        filter(21, 64, 32, 3, u64::MAX),
    ]
}

pub(crate) fn count_mins() -> Vec<Vec<u8>> {
    let filled = |mut sketch: CountMin, weight: u64| {
        (0..20_u64).for_each(|i| sketch.add(&i, weight).unwrap());
        sketch.encode()
    };
    let scheme = KeyScheme::integers().with_seed(5);
    vec![
        filled(CountMin::with_scheme(5, 2, scheme).unwrap(), 0),
        filled(CountMin::with_scheme(9, 4, scheme).unwrap(), 3),
        filled(CountMin::conservative_with_scheme(9, 4, scheme).unwrap(), 3),
        filled(CountMin::with_scheme(9, 2, scheme).unwrap(), u64::MAX / 3),
        filled(CountMin::conservative_with_scheme(9, 2, scheme).unwrap(), u64::MAX / 3),
    ]
}

pub(crate) fn range_count_mins() -> Vec<Vec<u8>> {
    let filled = |levels: u32, width, weight: u64| {
        let scheme = KeyScheme::integers().with_seed(5);
        let mut sketch = RangeCountMin::with_scheme(levels, width, 2, scheme).unwrap();
        (0..20_u64).for_each(|i| sketch.add(&(i % (1 << levels)), weight).unwrap());
        sketch.encode()
    };
    vec![filled(4, 8, 0), filled(4, 9, 3), filled(6, 5, 3), filled(5, 2, u64::MAX / 3)]
}

pub(crate) fn exact_distincts() -> Vec<Vec<u8>> {
    let exact = |count: u64| {
        let mut sketch = ExactDistinct::with_scheme(KeyScheme::integers().with_seed(5));
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    vec![exact(0), exact(20), exact(700)]
}

pub(crate) fn linear_countings() -> Vec<Vec<u8>> {
    let linear = |bits, count: u64| {
        let mut sketch = LinearCounting::with_scheme(bits, KeyScheme::integers().with_seed(5)).unwrap();
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    vec![linear(64, 0), linear(100, 50), linear(1, 1), linear(1_001, 100_000), linear(5_000, 9_000)]
}

pub(crate) fn k_min_values() -> Vec<Vec<u8>> {
    let smallest = |k, count: u64| {
        let mut sketch = KMinValues::with_scheme(k, KeyScheme::integers().with_seed(5)).unwrap();
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    vec![smallest(100, 0), smallest(16, 9_000), smallest(50, 9), smallest(1, 77), smallest(2, 2)]
}

pub(crate) fn probabilistic_countings() -> Vec<Vec<u8>> {
    let probabilistic = |count: u64| {
        let mut sketch = ProbabilisticCounting::with_scheme(KeyScheme::integers().with_seed(5));
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    vec![probabilistic(0), probabilistic(1_000)]
}

pub(crate) fn log_logs() -> Vec<Vec<u8>> {
    let loglog = |precision, count: u64| {
        let mut sketch = LogLog::with_scheme(precision, KeyScheme::integers().with_seed(5)).unwrap();
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    vec![loglog(6, 0), loglog(6, 20), loglog(8, 10_000)]
}

pub(crate) fn sampled_counters() -> Vec<Vec<u8>> {
    let counter = |probability, events| {
        let mut counter = SampledCounter::new(probability, 5).unwrap();
        counter.add(events);
        counter.encode()
    };
    vec![counter(0.5, 0), counter(0.25, 1000), counter(1.0, 1000)]
}

pub(crate) fn morris_counters() -> Vec<Vec<u8>> {
    let counter = |base, bits, events| {
        let mut counter = MorrisCounter::new(base, bits, 5).unwrap();
        counter.add(events);
        counter.encode()
    };
    vec![counter(2.0, 4, 0), counter(1.1, 8, 1000), counter(2.0, 4, 1 << 40), counter(2.0, 16, 1000)]
}

pub(crate) fn counter_arrays() -> Vec<Vec<u8>> {
    let array = |len, bits, base| {
        let mut array = CounterArray::new(len, base, bits, 5).unwrap();
        (0..len).for_each(|index| array.add(index, 10 * index).unwrap());
        array.encode()
    };
    vec![array(9, 4, 1.5), array(20, 8, 1.1), array(10, 16, 1.9)]
}

pub(crate) fn heavy_hitters() -> Vec<Vec<u8>> {
    let integers = |capacity, count: u64, weight: u64| {
        let mut sketch = HeavyHitters::with_scheme(capacity, KeyScheme::integers().with_seed(5)).unwrap();
        (1..=count).for_each(|i| sketch.add(&i, i * i % 7 * weight + 1).unwrap());
        sketch.encode()
    };
    let mut texts = HeavyHitters::new(6).unwrap();
    for length in [0, 3, 1, 4, 1, 5, 2, 6, 0, 3, 3, 5, 7, 8, 0, 9] {
        texts.insert("x".repeat(length).as_str()).unwrap();
    }
    let huge = integers(2, 3, u64::MAX / 14);
    vec![integers(1 << 24, 0, 1), integers(9, 9, 1), integers(9, 40, 3), texts.encode(), huge]
}

pub(crate) fn majorities() -> Vec<Vec<u8>> {
    let votes = |votes: &[(&str, u64)]| {
        let mut sketch = Majority::with_scheme(KeyScheme::bytes().with_seed(5));
        votes.iter().for_each(|&(key, weight)| sketch.add(key, weight).unwrap());
        sketch.encode()
    };
    vec![
        votes(&[]),
        votes(&[("ana", 6), ("rui", 2)]),
        votes(&[("ana", 3), ("rui", 4)]),
        votes(&[("", u64::MAX)]),
    ]
}

pub(crate) fn reservoirs() -> Vec<Vec<u8>> {
    let words = |capacity, count: usize| {
        let mut sample = Reservoir::new(capacity, 5).unwrap();
        (0..count).for_each(|i| sample.insert("x".repeat(i % 9).as_str()).unwrap());
        sample.encode()
    };
    let mut integers = Reservoir::with_scheme(6, KeyScheme::integers().with_seed(5), 5).unwrap();
    (0..1000_u64).for_each(|i| integers.insert(&i).unwrap());
    vec![words(4, 0), words(9, 3), words(4, 500), integers.encode()]
}

pub(crate) fn weighted_reservoirs() -> Vec<Vec<u8>> {
    let words = |capacity, count: u32| {
        let mut sample = WeightedReservoir::new(capacity, 5).unwrap();
        (0..count)
            .for_each(|i| sample.insert("x".repeat(i as usize % 9).as_str(), f64::from(i + 1)).unwrap());
        sample.encode()
    };
    let mut integers = WeightedReservoir::with_scheme(6, KeyScheme::integers().with_seed(5), 5).unwrap();
    (0..1000_u32).for_each(|i| integers.insert(&i, f64::from(i % 4)).unwrap());
    vec![words(4, 0), words(9, 3), words(4, 500), integers.encode()]
}

/// Integers as older files have them hashed.
fn xxh3_integers() -> KeyScheme {
    KeyScheme::integers().with_function(HashFunction::Xxh3).unwrap()
}

pub(crate) fn private_count_means() -> Vec<Vec<u8>> {
    let sketch = |epsilon, rows, width, reports: u64| {
        let scheme = xxh3_integers().with_seed(5);
        let protocol = Protocol::new(epsilon, rows, width).unwrap().with_scheme(scheme);
        let mut client = PrivateClient::new(protocol, 1e6).unwrap();
        let (mut sketch, mut coins) = (PrivateCountMean::new(protocol).unwrap(), PredictableBits::new(5));
        (0..reports).for_each(|i| sketch.insert(&client.encode(&(i % 3), &mut coins).unwrap()).unwrap());
        sketch.encode()
    };
    vec![sketch(1.0, 1, 2, 0), sketch(4.0, 3, 9, 50), sketch(0.5, 20, 5, 1)]
}

pub(crate) fn min_hashes() -> Vec<Vec<u8>> {
    let min_hash = |k, count: u64| {
        let mut sketch = MinHash::with_scheme(k, KeyScheme::integers().with_seed(5)).unwrap();
        (0..count).for_each(|i| sketch.insert(&i).unwrap());
        sketch.encode()
    };
    vec![min_hash(100, 0), min_hash(5, 1), min_hash(16, 200), min_hash(40, 3), min_hash(1, 9)]
}

pub(crate) fn panes() -> Vec<Vec<u8>> {
    let scheme = KeyScheme::integers().with_seed(5);
    let hyperloglog = HyperLogLog::with_scheme(4, scheme).unwrap();
    let mut visitors = Panes::new(hyperloglog.clone(), 10, 4).unwrap();
    for time in [-25, -7, 3, 4, -40, 17] {
        if let Some(pane) = visitors.pane_mut(time, 3) {
            (0..20 * time.unsigned_abs()).for_each(|i| pane.insert(&i).unwrap());
        }
    }
    let mut samples = Panes::for_window(Reservoir::with_scheme(2, scheme, 5).unwrap(), 60, 2).unwrap();
    (0..100_u32).for_each(|i| samples.pane_mut(i64::from(i), 1).unwrap().insert(&i).unwrap());
    let mut votes = Panes::new(Majority::with_scheme(scheme), 1, 2).unwrap();
    (0..4_u32).for_each(|i| votes.pane_mut(i64::MAX, 1).unwrap().insert(&i).unwrap());
    let empty = Panes::new(hyperloglog, u64::MAX >> 1, 1 << 16).unwrap();
    vec![empty.encode(), visitors.encode(), samples.encode(), votes.encode()]
}

pub(crate) fn groups() -> Vec<Vec<u8>> {
    let scheme = KeyScheme::integers().with_seed(5);
    let hyperloglog = HyperLogLog::with_scheme(4, scheme).unwrap();
    let empty = Groups::new(hyperloglog.clone(), 3).unwrap();
    let mut visitors = Groups::new(hyperloglog, 1).unwrap();
    (0..60_u64).for_each(|i| visitors.insert(&[b'a'; 9][..(i * i % 7) as usize], &i).unwrap());
    let mut sums = Groups::new(Tally::new(), 1).unwrap();
    for number in [1.5, -3.0, 1e9] {
        let add = |tally: &mut Tally| {
            tally.add_number(number);
            Ok(())
        };
        sums.update(number.to_string().as_bytes(), add).unwrap();
    }
    vec![empty.encode(), visitors.encode(), sums.encode()]
}

pub(crate) fn tallies() -> Vec<Vec<u8>> {
    let mut numbers = Tally::new();
    [2.5, -0.1, 1e-300].iter().for_each(|number| numbers.add_number(*number));
    vec![Tally::new().encode(), numbers.encode()]
}

pub(crate) fn ddsketches() -> Vec<Vec<u8>> {
    let numbers = |bins, numbers: &[f64]| {
        let mut sketch = DDSketch::new(0.01, bins).unwrap();
        sketch.insert_all(numbers);
        sketch.encode()
    };
    let many: Vec<f64> = (0..60).map(|i| 1.5_f64.powi(i - 30)).collect();
    let mut saturated = DDSketch::new(0.01, 16).unwrap();
    saturated.add(1.0, u64::MAX);
    vec![
        numbers(16, &[]),
        numbers(100, &[-5.0, -5.0, 3.0, -9.5, 0.0, 2.25, 8.0, 1e3, f64::NAN]),
        numbers(32, &many),
        saturated.encode(),
    ]
}

pub(crate) fn column_profiles() -> Vec<Vec<u8>> {
    let config = ProfileConfig { precision: 4, counters: 5, sample: 3, accuracy: 0.1, bins: 16, longest: 8 };
    let column = |values: &[&str], missing| {
        let scheme = KeyScheme::bytes().with_seed(5);
        let mut profile = ColumnProfile::with_scheme(config, scheme, 5).unwrap();
        values.iter().for_each(|value| profile.insert(value).unwrap());
        profile.add_missing(missing);
        profile.encode()
    };
    let numbers = ["12", "-7", "9007199254740993", "12", "0", "+3", "3.25", "nan"];
    let words = ["ana", "rui", "ana", "anastasia", "", "true", "eva", "zoe", "2024-01-31", "rui", "7"];
    vec![column(&[], 0), column(&[], 9), column(&numbers, 1), column(&words, 2)]
}

pub(crate) fn table_profiles() -> Vec<Vec<u8>> {
    use super::tables::{mixed, small, table};
    let rows = mixed(0..15);
    let one = table(small(), 0, &[("n", &rows)]);
    vec![table(small(), 0, &[]).encode(), table(small(), 0, &[("empty", &[])]).encode(), one.encode()]
}

pub(crate) fn row_samples() -> Vec<Vec<u8>> {
    let rows = |capacity, count: u64| {
        let mut sample = RowSample::new(capacity, 5).unwrap();
        (0..count).for_each(|place| sample.insert(place, &b"a row of text"[..place as usize % 9]).unwrap());
        sample.encode()
    };
    let mut weighted = RowSample::weighted(6, 5).unwrap();
    for place in 0..100_u32 {
        let weight = f64::from(place % 4);
        weighted.insert_weighted(place.into(), weight, || b"row").unwrap();
    }
    vec![rows(4, 0), rows(9, 3), rows(4, 500), weighted.encode()]
}

pub(crate) fn near_duplicate_shares() -> Vec<Vec<u8>> {
    let texts = |count: u64| {
        let mut sketch = NearDuplicateShare::with_scheme(64, KeyScheme::bytes().with_seed(5)).unwrap();
        for i in 0..count {
            let word = KeyScheme::integers().hash(&(i / 2)).unwrap();
            sketch.insert(&format!("letter {word:016x} from {word:016o} of the month, again {}", i % 3));
        }
        sketch.encode()
    };
    vec![texts(0), texts(5), texts(400)]
}

pub(crate) fn distinct_growths() -> Vec<Vec<u8>> {
    let rows = |k, count: u64| {
        let mut sketch = DistinctGrowth::with_scheme(k, KeyScheme::integers().with_seed(5)).unwrap();
        (0..count).for_each(|row| sketch.insert(&(row * 2 / 3), row + 1).unwrap());
        sketch.encode()
    };
    vec![rows(16, 0), rows(50, 9), rows(16, 9_000)]
}

/// A few random changes, most of them where they hurt.
pub(crate) fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len().max(1));
        match random.below(7) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            2 if !bytes.is_empty() => bytes[at] = random.bits() as u8,
            3 => bytes.extend((0..random.below(40)).map(|_| random.bits() as u8)),
            4 if !bytes.is_empty() => {
                bytes.remove(at);
            }
            // The header, where lengths and versions are: extreme values.
            5 if bytes.len() > 28 => bytes[random.below(28)] = [0, 1, 0x7F, 0xFF][random.below(4)],
            // The payload's first fields: sizes and states.
            6 if bytes.len() > 36 => bytes[28 + random.below(6)] = [0, 1, 2, 18, 19, 0xFF][random.below(6)],
            _ => {}
        }
    }
}

/// Makes length and checksum fit again, as an attacker who forges a file would.
pub(crate) fn seal(bytes: &mut [u8]) {
    if bytes.len() >= 32 {
        let payload_len = bytes.len() as u64 - 32;
        bytes[..5].copy_from_slice(b"CRVO\x01");
        bytes[20..28].copy_from_slice(&payload_len.to_le_bytes());
        let body = bytes.len() - 4;
        let checksum = crc32fast::hash(&bytes[..body]);
        bytes[body..].copy_from_slice(&checksum.to_le_bytes());
    }
}

/// Empty, exact with the values 1 to 4, sampled below its levels, and with tails.
pub(crate) fn number_quantiles() -> Vec<Vec<u8>> {
    let sketch = |accuracy, count: u32| {
        let mut sketch = NumberQuantiles::new(8, accuracy, 5).unwrap();
        (1..=count).for_each(|i| sketch.insert(f64::from(i % 1009)));
        sketch.encode()
    };
    vec![
        sketch(Accuracy::Uniform, 0),
        sketch(Accuracy::Uniform, 4),
        sketch(Accuracy::Uniform, 3001),
        sketch(Accuracy::Tails, 400),
        sketch(Accuracy::Uniform, 100),
    ]
}

pub(crate) fn key_quantiles() -> Vec<Vec<u8>> {
    let sketch = |accuracy, count: u32| {
        let mut sketch = KeyQuantiles::new(8, accuracy, 5).unwrap();
        (1..=count).for_each(|i| sketch.insert(i.to_string().as_str()).unwrap());
        sketch.encode()
    };
    let mut integers = KeyQuantiles::with_scheme(8, Accuracy::Uniform, KeyScheme::integers(), 5).unwrap();
    (0..90_u64).for_each(|i| integers.insert(&i).unwrap());
    vec![
        sketch(Accuracy::Uniform, 5),
        sketch(Accuracy::Uniform, 200),
        sketch(Accuracy::Tails, 300),
        integers.encode(),
    ]
}
