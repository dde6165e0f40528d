//! The hash that sketches use, held to what their theory takes for granted. The textbook's is shown
//! to fail in `hashing_study.rs`.
//!
//! Indexes are measured as each sketch derives them. That they are derived so is read off the bytes
//! of sketches that hold one key. Keys are random texts, and those that are anything but random:
//! numbers in a row. The seed is drawn anew by every run. A χ² fails with a probability below 10⁻¹⁰
//! each if all is chance; no test has a thousand of them.

use std::collections::BTreeSet;

use crivo::distinct::{LinearCounting, LogLog};
use crivo::frequency::CountMin;
use crivo::frequency::private::{PredictableBits, PrivateClient, Protocol};
use crivo::hash::{ChiSquare, FeatureHasher, Indexes, index, remix};
use crivo::keys::KeyScheme;
use crivo::membership::{BlockedBloom, Bloom, CounterBits, CountingBloom};
use crivo::similarity::MinHash;

use super::support::{Random, generator};

const LEVEL: f64 = 1e-10;

// ---- keys ----

/// The hashes of random texts of up to twenty characters.
fn random_texts(count: usize, random: &mut Random) -> Vec<u64> {
    let scheme = KeyScheme::bytes().with_seed(random.bits());
    let mut text = String::new();
    (0..count)
        .map(|_| {
            text.clear();
            (0..8 + random.below(13)).for_each(|_| text.push((b'a' + random.below(26) as u8) as char));
            scheme.hash(&text).unwrap()
        })
        .collect()
}

/// The hashes of `key 0`, `key 1` and so on.
fn numbered_texts(count: u32, random: &mut Random) -> Vec<u64> {
    let scheme = KeyScheme::bytes().with_seed(random.bits());
    (0..count).map(|i| scheme.hash(&format!("key {i}")).unwrap()).collect()
}

/// The hashes of 0, 1 and so on.
fn integers(count: u32, random: &mut Random) -> Vec<u64> {
    let scheme = KeyScheme::integers().with_seed(random.bits());
    (0..count).map(|i| scheme.hash(&i).unwrap()).collect()
}

fn keys(count: u32, random: &mut Random) -> [(&'static str, Vec<u64>); 3] {
    [
        ("random texts", random_texts(count as usize, random)),
        ("numbered texts", numbered_texts(count, random)),
        ("integers", integers(count, random)),
    ]
}

// ---- indexes, as sketches derive them ----

fn rows(hashes: &[u64], rows: u32, size: u32) -> Indexes {
    Indexes::of(hashes, rows, size, |&hash, row| index(remix(hash, row), size.into()) as u32).unwrap()
}

/// The block, and the bit in each of its eight words.
fn block_part(hash: u64, part: u32) -> u32 {
    match part {
        0 => index(hash, 64) as u32,
        word => (remix(hash, 1) >> (58 - 6 * (word - 1)) & 63) as u32,
    }
}

fn blocks(hashes: &[u64]) -> Indexes {
    Indexes::of(hashes, 9, 64, |&hash, part| block_part(hash, part)).unwrap()
}

/// The register, and the rank of a hash in it, up to 16.
fn registers(hashes: &[u64]) -> Indexes {
    let part = |&hash: &u64, function: u32| match function {
        0 => (hash >> 60) as u32,
        _ => (hash << 4 >> 4).trailing_zeros().min(15),
    };
    Indexes::of(hashes, 2, 16, part).unwrap()
}

/// Returns the positions of the elements that are not zero. Elements have `bytes` bytes each and
/// begin at `offset` of the payload.
fn nonzero(encoded: &[u8], offset: usize, bytes: usize) -> Vec<u32> {
    let payload = &encoded[28 + offset..encoded.len() - 4];
    (0..)
        .zip(payload.chunks_exact(bytes))
        .filter(|(_, cell)| cell.iter().any(|&b| b > 0))
        .map(|(at, _)| at)
        .collect()
}

fn ones(encoded: &[u8], offset: usize) -> Vec<u32> {
    let payload = &encoded[28 + offset..encoded.len() - 4];
    (0..payload.len() as u32 * 8).filter(|at| payload[*at as usize / 8] >> (at % 8) & 1 == 1).collect()
}

fn sorted(places: impl Iterator<Item = u32>) -> Vec<u32> {
    let places: BTreeSet<u32> = places.collect();
    places.into_iter().collect()
}

/// What is measured below is what sketches do: one key in each, and where it left its mark.
#[test]
fn sketches_have_the_indexes_that_are_measured() {
    let mut random = generator("marks");
    for _ in 0..300 {
        let hash = random.bits();
        let at = |row: u32, size: u64| index(remix(hash, row), size) as u32;

        let mut bloom = Bloom::with_scheme(1000, 7, KeyScheme::hashes()).unwrap();
        bloom.insert_hash(hash);
        assert_eq!(ones(&bloom.encode(), 20), sorted((0..7).map(|row| at(row, 1000))));

        let mut counting =
            CountingBloom::with_scheme(1000, 7, CounterBits::Eight, KeyScheme::hashes()).unwrap();
        counting.insert_hash(hash);
        assert_eq!(nonzero(&counting.encode(), 18, 1), sorted((0..7).map(|row| at(row, 1000))));

        let mut blocked = BlockedBloom::with_scheme(64, KeyScheme::hashes()).unwrap();
        blocked.insert_hash(hash);
        let expected =
            (1..=8).map(|word| block_part(hash, 0) * 512 + (word - 1) * 64 + block_part(hash, word));
        assert_eq!(ones(&blocked.encode(), 16), sorted(expected));

        let mut counts = CountMin::with_scheme(100, 5, KeyScheme::hashes()).unwrap();
        counts.insert_hash(hash);
        assert_eq!(nonzero(&counts.encode(), 14, 8), sorted((0..5).map(|row| row * 100 + at(row, 100))));

        let mut linear = LinearCounting::with_scheme(1000, KeyScheme::hashes()).unwrap();
        linear.insert_hash(hash);
        assert_eq!(ones(&linear.encode(), 8), [at(0, 1000)]);

        let mut registers = LogLog::with_scheme(6, KeyScheme::hashes()).unwrap();
        registers.insert_hash(hash);
        let encoded = registers.encode();
        assert_eq!(nonzero(&encoded, 1, 1), [(hash >> 58) as u32]);
        assert_eq!(u32::from(encoded[29 + (hash >> 58) as usize]), hash.trailing_zeros() + 1);

        // Hardly any bit is flipped at this ε.
        let protocol = Protocol::new(32.0, 5, 64).unwrap().with_scheme(KeyScheme::hashes());
        let mut coins = PredictableBits::new(hash);
        let report = PrivateClient::new(protocol, 32.0).unwrap().encode_hash(hash, &mut coins).unwrap();
        assert_eq!(report.bit_vector()[at(report.row(), 64) as usize / 8] >> (at(report.row(), 64) % 8), 1);
    }
}

/// Every row of every sketch with rows: Bloom and its kin, Count-Min, private counts, linear
/// counting (row 0).
#[test]
fn every_row_is_distributed_evenly() {
    let mut random = generator("distribution");
    for (name, hashes) in keys(100_000, &mut random) {
        for (size, groups) in [(1000, 100), (1 << 20, 64), (9593, 97), (64, 64)] {
            let rows = rows(&hashes, 64, size);
            for row in 0..64 {
                let found = rows.distribution(row, groups).unwrap();
                assert!(found.is_plausible(LEVEL), "{name}, size {size}, row {row}: {found:?}");
            }
            let first = rows.distribution(0, groups).unwrap();
            #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
            {
                println!(
                    "| {name} | {size} | {groups} | {:.1} | {:.3} |",
                    first.statistic(),
                    first.p_value()
                );
            }
        }
    }
}

#[test]
fn blocks_and_their_bits_are_even_and_independent() {
    let mut random = generator("blocks");
    for (name, hashes) in keys(100_000, &mut random) {
        let blocks = blocks(&hashes);
        for function in 0..9 {
            let found = blocks.distribution(function, 64).unwrap();
            assert!(found.is_plausible(LEVEL), "{name}, {function}: {found:?}");
            for other in 0..function {
                let found = blocks.independence(other, function, 16).unwrap();
                assert!(found.is_plausible(LEVEL), "{name}, {other} and {function}: {found:?}");
            }
        }
    }
}

/// Private counts have more rows than the others. Coins that never flip show where a client puts a
/// key in a given row.
#[test]
fn private_rows_past_the_64th_are_even_and_independent() {
    let mut random = generator("many rows");
    let rows = [0_u64, 1, 62, 63, 64, 65, 127, 128, 1000, 4096, 30_000, 50_001, 65_534, 65_535];
    let protocol = Protocol::new(32.0, 65_536, 64).unwrap().with_scheme(KeyScheme::hashes());
    let mut client = PrivateClient::new(protocol, 1e12).unwrap();
    let mut place = |hash: u64, row: u64| {
        let mut words = std::iter::once(row << 48);
        let report = client.encode_hash(hash, &mut || words.next().unwrap_or(u64::MAX)).unwrap();
        let bits = u64::from_le_bytes(report.bit_vector().try_into().unwrap());
        assert!(u64::from(report.row()) == row && bits.is_power_of_two());
        bits.trailing_zeros()
    };
    let hashes = numbered_texts(100_000, &mut random);
    let columns = rows.map(|row| hashes.iter().map(|&hash| place(hash, row)).collect()).to_vec();
    let indexes = Indexes::from_columns(64, columns).unwrap();
    for second in 0..rows.len() {
        let found = indexes.distribution(second, 64).unwrap();
        assert!(found.is_plausible(LEVEL), "row {}: {found:?}", rows[second]);
        for first in 0..second {
            let found = indexes.independence(first, second, 16).unwrap();
            assert!(found.is_plausible(LEVEL), "rows {} and {}: {found:?}", rows[first], rows[second]);
        }
    }
}

/// HyperLogLog, UltraLogLog and LogLog: registers are even, ranks geometric, and neither knows of
/// the other.
#[test]
fn registers_are_even_and_ranks_halve() {
    let mut random = generator("registers");
    for (name, hashes) in keys(400_000, &mut random) {
        let registers = registers(&hashes);
        let found = registers.distribution(0, 16).unwrap();
        assert!(found.is_plausible(LEVEL), "{name}: {found:?}");

        let mut counts = [0_u64; 13];
        hashes.iter().for_each(|hash| counts[hash.trailing_zeros().min(12) as usize] += 1);
        let mut halves: Vec<f64> = (1..=12).map(|rank| 0.5_f64.powi(rank)).collect();
        halves.push(0.5_f64.powi(12));
        let ranks = ChiSquare::of(&counts, &halves).unwrap();
        assert!(ranks.is_plausible(LEVEL), "{name}: {ranks:?}");

        let mut table = vec![[0_u64; 4]; 16];
        for hash in &hashes {
            table[(hash >> 60) as usize][hash.trailing_zeros().min(3) as usize] += 1;
        }
        let cells: Vec<u64> = table.concat();
        let expected: Vec<f64> = (0..64).map(|cell| [0.5, 0.25, 0.125, 0.125][cell % 4] / 16.0).collect();
        let together = ChiSquare::of(&cells, &expected).unwrap();
        assert!(together.is_plausible(LEVEL), "{name}: {together:?}");
        #[allow(clippy::print_stdout)] // with --nocapture: a table of docs/accuracy
        {
            println!(
                "| {name} | {:.3} | {:.3} | {:.3} |",
                found.p_value(),
                ranks.p_value(),
                together.p_value()
            );
        }
    }
}

/// As the textbook asks: below 0.01 for every pair. 2,016 pairs of 400,000 keys exceed that by
/// chance with a probability of 5·10⁻⁷; 10⁴ keys would do so always.
#[test]
fn no_two_rows_are_correlated() {
    let mut random = generator("correlation");
    let hashes = random_texts(400_000, &mut random);
    let largest = rows(&hashes, 64, 1 << 16).largest_correlation().unwrap();
    #[allow(clippy::print_stdout)] // with --nocapture: a figure of docs/accuracy
    {
        println!("largest correlation of 2016 pairs: {largest:?}");
    }
    assert!(largest.value.abs() < 0.01, "{largest:?}");
    let few = rows(&hashes[..10_000], 64, 1 << 16).largest_correlation().unwrap();
    assert!(few.value.abs() > 0.01, "{few:?}: even good functions are not below it with so few keys");
}

/// Cells of a 10 × 10 grid differ from the product of their shares by 1.4·10⁻⁴ on average, and by
/// chance never by 10⁻³, which is seven standard deviations.
#[test]
fn no_two_rows_depend_on_each_other() {
    let mut random = generator("independence");
    for (name, hashes) in keys(400_000, &mut random) {
        let rows = rows(&hashes, 10, 1000);
        let largest = rows.largest_dependence(10).unwrap();
        #[allow(clippy::print_stdout)] // with --nocapture: a figure of docs/accuracy
        {
            println!("| {name} | {:.5} |", largest.value);
        }
        assert!(largest.value < 1e-3, "{name}: {largest:?}");
        for second in 0..10 {
            for first in 0..second {
                let found = rows.independence(first, second, 10).unwrap();
                assert!(found.is_plausible(LEVEL), "{name}, {first} and {second}: {found:?}");
            }
        }
    }
}

/// MinHash: where the only element of a set falls in the first round and as what, and where from
/// there in the second (unless it is the same slot, which keeps the first).
#[test]
fn slots_and_values_of_signatures_are_even_and_independent() {
    let mut random = generator("signatures");
    for (name, hashes) in keys(50_000, &mut random) {
        let (mut slots, mut values, mut steps) = (Vec::new(), Vec::new(), vec![0_u64; 15]);
        for &hash in &hashes {
            let mut set = MinHash::with_scheme(16, KeyScheme::hashes()).unwrap();
            set.insert_hash(hash);
            let filled_in = |round: u64| set.slots().iter().position(|slot| slot >> 48 == round);
            let first = filled_in(0).unwrap();
            slots.push(first as u32);
            values.push((set.slots()[first] << 16 >> 60) as u32);
            if let Some(second) = filled_in(1) {
                steps[(second + 15 - first) % 16] += 1;
            }
        }
        let indexes = Indexes::from_columns(16, vec![slots, values]).unwrap();
        let found = [
            indexes.distribution(0, 16).unwrap(),
            indexes.distribution(1, 16).unwrap(),
            indexes.independence(0, 1, 16).unwrap(),
            ChiSquare::of(&steps, &[1.0 / 15.0; 15]).unwrap(),
        ];
        assert!(found.iter().all(|found| found.is_plausible(LEVEL)), "{name}: {found:?}");
    }
}

#[test]
fn slots_and_signs_of_features_are_even_and_independent() {
    let mut random = generator("slots");
    let hasher = FeatureHasher::new(6).unwrap().with_seed(random.bits());
    let mut cells = vec![0_u64; 128];
    for i in 0..200_000_u32 {
        let (slot, sign) = hasher.place(format!("word:{i}"), 1.0);
        cells[slot as usize * 2 + usize::from(sign < 0.0)] += 1;
    }
    let found = ChiSquare::of(&cells, &[1.0 / 128.0; 128]).unwrap();
    assert!(found.is_plausible(LEVEL), "{found:?}");
}
