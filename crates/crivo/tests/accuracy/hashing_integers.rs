//! The hash of integer keys, held to what the theory of sketches takes for granted.
//!
//! Integers are rarely random: they are numbered in a row, are multiples of a step, or differ in
//! their high bits only. Each such set is hashed under a seed that is drawn anew by every run, and
//! measured with `crivo::hash::quality`. A χ² fails with a probability below 10⁻¹⁰ each if all is
//! chance; no test has a thousand of them.

use crivo::hash::{ChiSquare, Indexes, index, remix};
use crivo::keys::{HashFunction, KeyScheme};

use super::support::{Random, generator};

const LEVEL: f64 = 1e-10;
const KEYS: u64 = 200_000;

/// Sets of integers as programs have them.
fn sets(random: &mut Random) -> Vec<(&'static str, Vec<u64>)> {
    let numbered = |of: &dyn Fn(u64) -> u64| (0..KEYS).map(of).collect::<Vec<u64>>();
    let start = random.bits();
    vec![
        ("sequential", numbered(&|i| i)),
        ("sequential from anywhere", numbered(&|i| start.wrapping_add(i))),
        ("descending below zero", numbered(&|i| 0_u64.wrapping_sub(i))),
        ("step 64", numbered(&|i| i * 64)),
        ("step 1000", numbered(&|i| i * 1000)),
        ("step 2^32 + 1", numbered(&|i| i.wrapping_mul(0x1_0000_0001))),
        ("high bits only", numbered(&|i| i << 46)),
        ("middle bits only", numbered(&|i| i << 24)),
        ("both ends", numbered(&|i| i.rotate_right(16))),
        ("random", numbered(&|_| 0).iter().map(|_| random.bits()).collect()),
    ]
}

fn hashes(keys: &[u64], random: &mut Random) -> Vec<u64> {
    let scheme = KeyScheme::integers().with_seed(random.bits());
    assert_eq!(scheme.function(), HashFunction::Rrmxmx);
    keys.iter().map(|key| scheme.hash(key).unwrap()).collect()
}

/// Rows as sketches derive them, and any eight bits of the hash itself.
#[test]
fn integers_are_distributed_evenly() {
    let mut random = generator("integers distribution");
    for (name, keys) in sets(&mut random) {
        let hashes = hashes(&keys, &mut random);
        let rows = Indexes::of(&hashes, 8, 1000, |&hash, row| index(remix(hash, row), 1000) as u32).unwrap();
        let bytes = Indexes::of(&hashes, 8, 256, |&hash, byte| (hash >> (8 * byte) & 0xFF) as u32).unwrap();
        for function in 0..8 {
            let (row, byte) = (rows.distribution(function, 100), bytes.distribution(function, 256));
            for found in [row.unwrap(), byte.unwrap()] {
                assert!(found.is_plausible(LEVEL), "{name}, {function}: {found:?}");
            }
        }
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            let p_value = |indexes: &Indexes, groups| indexes.distribution(0, groups).unwrap().p_value();
            println!("| {name} | {:.3} | {:.3} |", p_value(&rows, 100), p_value(&bytes, 256));
        }
    }
}

/// 28 pairs of 200,000 keys exceed a coefficient of 0.015, which is 6.7 standard deviations, with a
/// probability of 6·10⁻¹⁰; a cell of a 10 × 10 grid is off by 2·10⁻⁴ on average, and by chance
/// never by 1.6·10⁻³.
#[test]
fn no_part_of_a_hash_tells_of_another() {
    let mut random = generator("integers independence");
    for (name, keys) in sets(&mut random) {
        let hashes = hashes(&keys, &mut random);
        let rows = Indexes::of(&hashes, 8, 1000, |&hash, row| index(remix(hash, row), 1000) as u32).unwrap();
        let bytes = Indexes::of(&hashes, 8, 256, |&hash, byte| (hash >> (8 * byte) & 0xFF) as u32).unwrap();
        for indexes in [&rows, &bytes] {
            let correlation = indexes.largest_correlation().unwrap();
            assert!(correlation.value.abs() < 0.015, "{name}: {correlation:?}");
            let dependence = indexes.largest_dependence(10).unwrap();
            assert!(dependence.value < 1.6e-3, "{name}: {dependence:?}");
            for second in 0..8 {
                for first in 0..second {
                    let found = indexes.independence(first, second, 16).unwrap();
                    assert!(found.is_plausible(LEVEL), "{name}, {first} and {second}: {found:?}");
                }
            }
        }
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            let (correlation, dependence) = (rows.largest_correlation(), rows.largest_dependence(10));
            println!("| {name} | {:.4} | {:.5} |", correlation.unwrap().value, dependence.unwrap().value);
        }
    }
}

/// What a key's neighbour hashes to says nothing: pairs of successive keys fall into the cells of a
/// grid by chance.
#[test]
fn neighbours_are_hashed_independently() {
    let mut random = generator("integers neighbours");
    for (name, keys) in sets(&mut random) {
        let hashes = hashes(&keys, &mut random);
        for shift in [0, 29, 60] {
            let nibble = |hash: u64| (hash >> shift & 15) as u32;
            let columns = vec![
                hashes[1..].iter().map(|&hash| nibble(hash)).collect(),
                hashes[..hashes.len() - 1].iter().map(|&hash| nibble(hash)).collect(),
            ];
            let found = Indexes::from_columns(16, columns).unwrap().independence(0, 1, 16).unwrap();
            assert!(found.is_plausible(LEVEL), "{name}, bit {shift}: {found:?}");
        }
    }
}

/// Every bit of the key changes every bit of the hash half of the time.
///
/// If both keys of a pair are in a set, 20,000 keys make 10,000 independent pairs, and the share of
/// changes has a standard deviation of 0.005. One of 40,960 shares is off by 7 of these with a
/// probability of 10⁻⁷; the limit of 8 leaves room for what the function itself is off by. A
/// function with one multiplication less is off by 0.5.
#[test]
fn every_bit_of_a_key_changes_half_of_the_hash() {
    const TRIALS: usize = 20_000;
    let mut random = generator("integers avalanche");
    for (name, keys) in sets(&mut random) {
        let scheme = KeyScheme::integers().with_seed(random.bits());
        let mut changes = vec![[0_u32; 64]; 64];
        for key in &keys[..TRIALS] {
            let hash = scheme.hash(key).unwrap();
            for (bit, changed) in changes.iter_mut().enumerate() {
                let difference = hash ^ scheme.hash(&(key ^ 1 << bit)).unwrap();
                changed
                    .iter_mut()
                    .enumerate()
                    .for_each(|(at, count)| *count += (difference >> at & 1) as u32);
            }
        }
        let shares = changes.as_flattened().iter().map(|&count| f64::from(count) / TRIALS as f64);
        let worst = shares.map(|share| (share - 0.5).abs()).fold(0.0, f64::max);
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            println!("| {name} | {worst:.4} |");
        }
        assert!(worst < 0.04, "{name}: {worst}");
    }
}

/// Seeds in a row, as repeated trials have them, hash the same keys independently. (If the seed
/// were only combined with the key, the keys from 0 to 2^k − 1 would have the same set of hashes
/// under every small seed.)
#[test]
fn seeds_in_a_row_are_independent() {
    let nibbles = |seed: u64| {
        let scheme = KeyScheme::integers().with_seed(seed);
        (0..1_u64 << 16).map(|key| scheme.hash(&key).unwrap()).collect::<Vec<u64>>()
    };
    let all: Vec<Vec<u64>> = (0..16).map(nibbles).collect();
    let columns = all.iter().map(|hashes| hashes.iter().map(|hash| (hash >> 60) as u32).collect()).collect();
    let indexes = Indexes::from_columns(16, columns).unwrap();
    for second in 0..16 {
        for first in 0..second {
            let found = indexes.independence(first, second, 16).unwrap();
            assert!(found.is_plausible(LEVEL), "seeds {first} and {second}: {found:?}");
        }
    }
    // The smallest hash of the keys is a draw of its own under each seed.
    let least: std::collections::BTreeSet<u64> =
        all.iter().filter_map(|hashes| hashes.iter().min().copied()).collect();
    assert_eq!(least.len(), 16);
}

/// Ranks of registers halve, also where keys differ in a few bits only.
#[test]
fn ranks_of_integers_halve() {
    let mut random = generator("integers ranks");
    let mut halves: Vec<f64> = (1..=12).map(|rank| 0.5_f64.powi(rank)).collect();
    halves.push(0.5_f64.powi(12));
    for (name, keys) in sets(&mut random) {
        for from_the_top in [false, true] {
            let mut counts = [0_u64; 13];
            for hash in hashes(&keys, &mut random) {
                let zeros = if from_the_top { hash.leading_zeros() } else { hash.trailing_zeros() };
                counts[zeros.min(12) as usize] += 1;
            }
            let ranks = ChiSquare::of(&counts, &halves).unwrap();
            assert!(ranks.is_plausible(LEVEL), "{name}: {ranks:?}");
        }
    }
}
