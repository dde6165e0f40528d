//! `RangeCountMin` against its theory.
//!
//! A range is a sum of blocks, at most two of each level. With one row, a block is too large by the
//! keys outside it that fall on the same counter: `(N − its own)/width` on average, whatever the
//! stream. That is exact theory for the mean; the decomposition into blocks is written here a
//! second time, and more slowly. With several rows the promise is a bound, and is held to. Each
//! trial has a seed of its own.

use std::ops::RangeInclusive;

use crivo::Confidence;
use crivo::frequency::RangeCountMin;
use crivo::keys::{KeyBuffer, KeyScheme};

use super::support::{Random, generator};

const MARGIN: f64 = 0.015;

/// Deviations that a normal variable exceeds, either way, with a probability of 10⁻⁷.
const DEVIATIONS: f64 = 5.327;

/// The sketch of the keys under a new seed.
fn sketch_of(levels: u32, width: u32, depth: u32, keys: &[u64], random: &mut Random) -> RangeCountMin {
    let scheme = KeyScheme::integers().with_seed(random.bits());
    let mut sketch = RangeCountMin::with_scheme(levels, width, depth, scheme).unwrap();
    sketch.insert_batch(&KeyBuffer::new(scheme).hash_integers(keys).unwrap()).unwrap();
    sketch
}

/// How many of the sorted keys lie in the range.
fn count_in(keys: &[u64], range: &RangeInclusive<u64>) -> f64 {
    let below = keys.partition_point(|key| key < range.start());
    (keys.partition_point(|key| key <= range.end()) - below) as f64
}

/// The blocks of a range, as (level, prefix): from the left, always the largest that fits.
fn blocks(range: &RangeInclusive<u64>, highest: u32) -> Vec<(u32, u64)> {
    let (mut from, to) = (u128::from(*range.start()), u128::from(*range.end()) + 1);
    let mut blocks = Vec::new();
    while from < to {
        let fits = |level: &u32| from % (1 << level) == 0 && from + (1 << level) <= to;
        let level = (0..=highest).rev().find(fits).unwrap();
        blocks.push((level, (from >> level) as u64));
        from += 1 << level;
    }
    blocks
}

/// Keys that all lie in one leaf of the tree, so that nothing but the sketches can tell them apart.
#[test]
fn the_mean_of_a_range_is_what_its_blocks_add_up_to() {
    const TRIALS: u32 = 40_000;
    let (levels, width) = (20, 32);
    // 2^5 leaves of 2^15 keys each.
    let sketched = RangeCountMin::sketched_levels(levels, width, 1);
    assert_eq!(sketched, 15);
    let start = 11 << sketched;
    let mut keys: Vec<u64> = (0..150).map(|i| start + (i * i * 7) % (1 << sketched)).collect();
    keys.sort_unstable();
    let ranges =
        [start + 1..=start + 20_000, start + 12_345..=start + 12_345, start + 8_000..=start + 32_766];
    let mut random = generator("blocks");
    let mut sums = [(0.0, 0.0); 3];
    for _ in 0..TRIALS {
        let sketch = sketch_of(levels, width, 1, &keys, &mut random);
        for (range, (sum, squares)) in ranges.iter().zip(&mut sums) {
            // Whole ranges are capped by their leaf, so the blocks are asked for one by one.
            let (found, truth) = (sketch.range(range.clone()).unwrap(), count_in(&keys, range));
            assert!(found.value() >= truth);
            let count = blocks(range, sketched).len() as f64;
            let whole: f64 = blocks(range, sketched)
                .iter()
                .map(|&(level, prefix)| {
                    let block = prefix << level..=(prefix << level) + (1 << level) - 1;
                    sketch.range(block).unwrap().value()
                })
                .sum();
            assert!(found.value() <= whole && count <= 2.0 * f64::from(sketched));
            *sum += whole - truth;
            *squares += (whole - truth).powi(2);
        }
    }
    for (range, (sum, squares)) in ranges.iter().zip(sums) {
        let expected: f64 = blocks(range, sketched)
            .iter()
            .map(|&(level, prefix)| {
                let own = keys.iter().filter(|&&key| key >> level == prefix).count() as f64;
                (keys.len() as f64 - own) / f64::from(width)
            })
            .sum();
        let mean = sum / f64::from(TRIALS);
        let noise = (squares / f64::from(TRIALS) - mean * mean).sqrt() / expected / f64::from(TRIALS).sqrt();
        let subject = blocks(range, sketched).len();
        assert!(MARGIN >= DEVIATIONS * noise, "{subject} blocks: noise of {noise}");
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            println!("| {subject} | {} | {expected:.3} | {:.4} |", count_in(&keys, range), mean / expected);
        }
        assert!((mean / expected - 1.0).abs() <= MARGIN, "{subject} blocks: {mean} instead of {expected}");
        let wrong = 1.03 * mean / expected;
        assert!((wrong - 1.0).abs() > MARGIN, "{subject} blocks: 3 % more would not be noticed");
    }
}

const KEYS: usize = 20_000;

/// Streams to ask about: spread over the universe, in a few clusters, and skewed. Sorted.
fn streams(levels: u32, random: &mut Random) -> [(&'static str, Vec<u64>); 3] {
    let universe = (1_u64 << levels) as f64;
    let clusters: Vec<f64> = (0..3).map(|_| 0.9 * universe * random.unit()).collect();
    let mut draw = |draw: &dyn Fn(usize, f64) -> f64| {
        let mut keys: Vec<u64> = (0..KEYS).map(|i| draw(i, random.unit()) as u64).collect();
        keys.sort_unstable();
        keys
    };
    [
        ("uniform", draw(&|_, unit| universe * unit)),
        ("clustered", draw(&|i, unit| clusters[i % 3] + 10_000.0 * unit)),
        ("logarithmic", draw(&|_, unit| universe.powf(unit) - 1.0)),
    ]
}

/// Ranges from one key to nearly everything, with ends among the keys.
fn random_range(keys: &[u64], random: &mut Random) -> RangeInclusive<u64> {
    let (a, b) = (keys[random.below(keys.len())], keys[random.below(keys.len())]);
    match random.below(4) {
        0 => a..=a,
        1 => a..=a + random.below(50) as u64,
        _ => a.min(b)..=a.max(b),
    }
}

#[test]
fn ranges_keep_the_promise_of_for_bound() {
    let mut random = generator("ranges");
    let (levels, delta) = (24, 0.05);
    for epsilon in [0.02, 0.2] {
        let (width, depth) = RangeCountMin::size_for(levels, epsilon, delta).unwrap();
        for (name, keys) in streams(levels, &mut random) {
            let greatest = (1 << levels) - 1;
            let n = KEYS as f64;
            let (mut asked, mut outside, mut above) = (0.0, [0.0; 2], 0.0);
            let (mut excess, mut most) = (0.0, 0.0_f64);
            for _ in 0..8 {
                let sketch = sketch_of(levels, width, depth, &keys, &mut random);
                for _ in 0..400 {
                    let range = random_range(&keys, &mut random);
                    let range = *range.start()..=*range.end().min(&greatest);
                    let truth = count_in(&keys, &range);
                    asked += 1.0;
                    for (outside, level) in outside.iter_mut().zip([0.5, 1.0 - delta]) {
                        let confidence = Confidence::new(level).unwrap();
                        let found = sketch.range_at(range.clone(), confidence).unwrap();
                        assert!(found.value() >= truth, "{name}: {range:?}");
                        *outside += f64::from(u8::from(!found.covers(truth)));
                    }
                    let found = sketch.range(range).unwrap();
                    above += f64::from(u8::from(found.value() - truth > epsilon * n));
                    excess += found.value() - truth;
                    most = most.max(found.value() - truth);
                }
            }
            #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
            {
                println!(
                    "| {name} | {epsilon} | {width} × {depth} | {:.5} | {:.5} | {:.2} % |",
                    excess / asked / n,
                    most / n,
                    100.0 * outside[1] / asked
                );
            }
            // The bounds follow from Markov's inequality, which is so loose that chance never reaches them.
            assert!(above <= delta * asked, "{name}: {above} of {asked} are off by more than ε");
            for (outside, allowed) in outside.iter().zip([0.5, delta]) {
                assert!(*outside <= allowed * asked, "{name}: {outside} of {asked} at {allowed}");
            }
        }
    }
}

#[test]
fn quantiles_lie_between_their_bounds() {
    let mut random = generator("quantiles");
    let levels = 24;
    let (width, depth) = RangeCountMin::size_for(levels, 0.05, 0.05).unwrap();
    for (name, keys) in streams(levels, &mut random) {
        let (mut asked, mut above, mut off) = (0.0, 0.0, 0.0_f64);
        for _ in 0..10 {
            let sketch = sketch_of(levels, width, depth, &keys, &mut random);
            for percent in [0, 1, 10, 25, 50, 75, 90, 99, 100] {
                let found = sketch.quantile(f64::from(percent) / 100.0).unwrap();
                let rank = (keys.len() * percent as usize).div_ceil(100).max(1);
                let truth = keys[rank - 1] as f64;
                assert!(found.lower() <= truth, "{name}: the lower bound is certain");
                asked += 1.0;
                above += f64::from(u8::from(found.upper() < truth));
                // By how many keys the answer is off, as a share of all.
                let position = |key: f64| keys.partition_point(|&other| (other as f64) < key) as f64;
                let first = position(found.value());
                let last = position(found.value() + 1.0).max(first + 1.0);
                let distance = (first + 1.0 - rank as f64).max(rank as f64 - last).max(0.0);
                off = off.max(distance / keys.len() as f64);
                let width = position(found.upper() + 1.0) - position(found.lower());
                assert!(width <= 2.0 * 0.05 * keys.len() as f64 + 2.0, "{name}: {width} keys wide");
            }
        }
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            println!("| {name} | {width} × {depth} | {off:.4} | {above} of {asked} |");
        }
        assert!(above <= 0.05 * asked && off <= 0.05, "{name}: {above} above, {off} off");
    }
}
