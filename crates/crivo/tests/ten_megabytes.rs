//! Ten megabytes of any family decode in a second and in 256 MB, whether they are accepted or
//! refused.
//!
//! The files are those that fill ten megabytes with the smallest parts that their family has,
//! because each part costs a step; hashes are forged to collide. Some have damage behind a right
//! checksum. Families whose files are always small are not listed here; [`SMALL`] holds them to
//! that.
//!
//! The limit is four times as long here, because tests share a machine. Decoding that is quadratic
//! takes minutes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)] // this is how a test fails, and how the times are read

#[path = "support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use allocation_counter::measure;
use crivo::codec::{AnySketch, Family};
use crivo::counting::{CounterArray, Tally};
use crivo::distinct::{ExactDistinct, HyperLogLog, KMinValues, LinearCounting};
use crivo::frequency::private::{PrivateCountMean, Protocol};
use crivo::frequency::{CountMin, HeavyHitters, Majority, RangeCountMin};
use crivo::groups::Groups;
use crivo::keys::{KeyRef, KeyScheme};
use crivo::membership::{
    BinaryFuse, BlockedBloom, Bloom, CombinedFilter, CounterBits, CountingBloom, DirectTable,
};
use crivo::profile::{ColumnProfile, DistinctGrowth, ProfileConfig};
use crivo::quantiles::{Accuracy, KeyQuantiles, NumberQuantiles};
use crivo::sampling::{Reservoir, RowSample, WeightedReservoir};
use crivo::similarity::MinHash;
use crivo::window::Panes;

use support::forge::{damage, samples, seal};
use support::generator;
use support::tables::{self, Texts, mixed, small};

/// The bytes of a file, about.
const SIZE: u64 = 10_000_000;
/// Four times what is promised of an optimised build on a machine of its own.
const LONGEST: Duration = Duration::from_secs(4);
const MOST_MEMORY: u64 = 256_000_000;
/// How often each file is damaged.
const DAMAGED: usize = 6;

/// Families whose largest file has less than half a megabyte, or one value whose length is the
/// file's.
const SMALL: [Family; 8] = [
    Family::SampledCounter,
    Family::MorrisCounter,
    Family::Tally,
    Family::ProbabilisticCounting,
    Family::LogLog,
    Family::UltraLogLog,
    Family::DDSketch,
    Family::NearDuplicateShare,
];

/// Different hashes that want the first slots of every table whose multiplier is the usual one.
fn forged(count: u64) -> Vec<u64> {
    (1..=count).map(|product| product.wrapping_mul(0xF1DE_83E1_9937_733D)).collect()
}

fn files() -> Vec<Vec<u8>> {
    let (integers, hashes) = (KeyScheme::integers(), KeyScheme::hashes());
    let forged = forged(SIZE / 8);
    let mut exact = ExactDistinct::with_scheme(hashes);
    exact.insert_hashes(&forged);
    let mut smallest = KMinValues::with_scheme((SIZE / 8) as u32, hashes).unwrap();
    smallest.insert_hashes(&forged);
    let mut hitters = HeavyHitters::with_scheme(SIZE / 24, hashes).unwrap();
    forged.iter().take(SIZE as usize / 24).for_each(|&hash| hitters.add_ref(KeyRef::Hash(hash), 1).unwrap());
    let mut array = CounterArray::new(SIZE, 1.1, 8, 5).unwrap();
    (0..SIZE).step_by(97).for_each(|index| array.add(index, index).unwrap());
    let bloom = || AnySketch::from(Bloom::with_scheme(SIZE * 4, 3, integers).unwrap());
    let mut combined = CombinedFilter::union(bloom(), bloom()).unwrap();
    combined.merge(&combined.clone()).unwrap();
    let width = CounterBits::of(4).unwrap();
    let protocol = Protocol::new(2.0, 1000, (SIZE / 4000) as u32).unwrap();
    let mut majority = Majority::new();
    majority.add("x".repeat(SIZE as usize).as_str(), 3).unwrap();
    let mut reservoir = Reservoir::with_scheme(SIZE / 8, integers, 5).unwrap();
    let mut weighted = WeightedReservoir::with_scheme(SIZE / 16, integers, 5).unwrap();
    let mut rows = RowSample::new(SIZE / 24, 5).unwrap();
    let mut growth = DistinctGrowth::with_scheme((SIZE / 16) as u32, integers).unwrap();
    let mut numbers = NumberQuantiles::new(8, Accuracy::Uniform, 5).unwrap();
    let mut keys = KeyQuantiles::new(8, Accuracy::Tails, 5).unwrap();
    for number in 0..SIZE / 8 {
        reservoir.insert(&number).unwrap();
        weighted.insert(&number, 1.0 + number as f64).unwrap();
        rows.insert(number, b"").unwrap();
        growth.insert(&number, number + 1).unwrap();
        numbers.insert(number as f64);
        keys.insert(number.to_string().as_str()).unwrap();
    }
    let mut panes = Panes::new(HyperLogLog::with_scheme(18, integers).unwrap(), 1, 1 << 16).unwrap();
    (0..1_i64 << 16).for_each(|time| panes.pane_mut(time, 1).unwrap().insert(&time).unwrap());
    let mut groups = Groups::new(Tally::new(), 1).unwrap();
    (0..SIZE / 80).for_each(|group| groups.update(&group.to_le_bytes(), |_| Ok(())).unwrap());
    let mut visitors = Groups::new(HyperLogLog::with_scheme(18, integers).unwrap(), 1).unwrap();
    (0..SIZE / 40).for_each(|group| visitors.insert(&group.to_le_bytes(), &group).unwrap());
    let config =
        ProfileConfig { sample: 1 << 16, counters: 1 << 16, longest: 1 << 10, ..ProfileConfig::default() };
    let mut profile = ColumnProfile::with_scheme(config, KeyScheme::bytes(), 5).unwrap();
    (0..1 << 17).for_each(|value| profile.insert(&format!("value {value}")).unwrap());
    let table = DirectTable::with_scheme(SIZE * 8, integers).unwrap();
    let names: Vec<String> = (0..SIZE / 2_000).map(|number| format!("column {number}")).collect();
    let values = mixed(0..15);
    let columns: Vec<Texts<'_>> = names.iter().map(|name| (name.as_str(), values.as_slice())).collect();
    let tables = tables::table(small(), 0, &columns);
    vec![
        tables.encode(),
        exact.encode(),
        smallest.encode(),
        hitters.encode(),
        array.encode(),
        combined.encode(),
        majority.encode(),
        reservoir.encode(),
        weighted.encode(),
        rows.encode(),
        growth.encode(),
        numbers.encode(),
        keys.encode(),
        panes.encode(),
        groups.encode(),
        visitors.encode(),
        profile.encode(),
        table.encode(),
        HyperLogLog::with_scheme(18, integers).unwrap().encode(),
        LinearCounting::with_scheme(SIZE * 8, integers).unwrap().encode(),
        Bloom::with_scheme(SIZE * 8, 3, integers).unwrap().encode(),
        BinaryFuse::of_hashes(&forged, hashes).unwrap().encode(),
        BlockedBloom::with_scheme(SIZE / 32, integers).unwrap().encode(),
        CountingBloom::with_scheme(SIZE * 2, 3, width, integers).unwrap().encode(),
        CountMin::with_scheme((SIZE / 32) as u32, 4, integers).unwrap().encode(),
        RangeCountMin::with_scheme(64, (SIZE / 8 / 64 / 4) as u32, 4, integers).unwrap().encode(),
        PrivateCountMean::new(protocol).unwrap().encode(),
        MinHash::with_scheme(32_767, integers).unwrap().encode(),
    ]
}

fn decode(bytes: &[u8]) -> (crivo::Result<AnySketch>, Duration, u64) {
    let began = Instant::now();
    let mut decoded = None;
    let memory = measure(|| decoded = Some(AnySketch::decode(bytes))).bytes_max;
    (decoded.unwrap(), began.elapsed(), memory)
}

#[test]
fn any_ten_megabytes_decode_soon_and_in_little_memory() {
    let mut random = generator("ten megabytes");
    let mut seen = SMALL.to_vec();
    for bytes in files() {
        let (sketch, took, memory) = decode(&bytes);
        let family = sketch.unwrap().family();
        seen.push(family);
        println!("{family:24} {:>9} bytes {took:>8.0?} {memory:>10} bytes of memory", bytes.len());
        assert!(took < LONGEST && memory < MOST_MEMORY, "{family}: {took:?}, {memory} bytes");
        for _ in 0..DAMAGED {
            let mut damaged = bytes.clone();
            damage(&mut damaged, &mut random);
            seal(&mut damaged);
            let (_, took, memory) = decode(&damaged);
            assert!(took < LONGEST && memory < MOST_MEMORY, "damaged {family}: {took:?}, {memory} bytes");
        }
    }
    let missing: Vec<_> = Family::ALL.iter().filter(|family| !seen.contains(family)).collect();
    assert!(missing.is_empty(), "without a file: {missing:?}");
}

/// A header of each family before ten megabytes of the same byte.
#[test]
fn ten_megabytes_of_nothing_are_refused_soon() {
    for sample in samples() {
        for byte in [0, 1, 0xFF] {
            let mut bytes = sample.clone();
            bytes.truncate(bytes.len().min(100));
            bytes.resize(SIZE as usize, byte);
            seal(&mut bytes);
            let (_, took, memory) = decode(&bytes);
            assert!(took < LONGEST && memory < MOST_MEMORY, "family {}: {took:?}, {memory} bytes", bytes[5]);
        }
    }
}
