//! The binary fuse filter against its theory: a byte of a stranger's hash is right by chance once
//! in 256 times.

use crivo::keys::KeyScheme;
use crivo::membership::BinaryFuse;

use super::support::{Random, generator};

/// Five of these are a chance below 10⁻⁶, two-sided.
const DEVIATIONS: f64 = 5.0;
const RATE: f64 = 1.0 / 256.0;

fn random_filter(keys: usize, random: &mut Random) -> BinaryFuse {
    let mut hashes = vec![0; keys];
    random.fill(&mut hashes);
    let filter = BinaryFuse::of_hashes(&hashes, KeyScheme::hashes()).unwrap();
    assert!(hashes.iter().all(|&hash| filter.contains_hash(hash)), "every member is found");
    filter
}

/// Checks hits against the rate, with enough probes that an error of 3 % is more than twice
/// `DEVIATIONS`.
fn hold_rate(name: &str, hits: u64, probes: u64) {
    let expected = probes as f64 * RATE;
    let (ratio, deviation) = (hits as f64 / expected, ((1.0 - RATE) / expected).sqrt());
    #[allow(clippy::print_stdout)] // with --nocapture: the rows of the table in docs/accuracy
    {
        println!("| {name} | {probes} | {ratio:.4} | {deviation:.4} |");
    }
    assert!(2.0 * DEVIATIONS * deviation < 0.03, "{name}: too few probes to see 3 %: {deviation}");
    assert!((ratio - 1.0).abs() < DEVIATIONS * deviation, "{name}: {ratio} of 1/256, deviation {deviation}");
}

#[test]
fn strangers_are_found_at_the_rate() {
    const PROBES: u64 = 30_000_000;
    let mut random = generator("binary fuse");
    // A table of a few slots has few different sums. So there are many tables, with a few queries each.
    for (keys, filters) in [(1, 30_000), (10, 30_000), (100, 3_000), (10_000, 30), (1_000_000, 1)] {
        let (mut hits, mut found, mut probes) = (0, Vec::new(), [0; 1_000]);
        for _ in 0..filters {
            let filter = random_filter(keys, &mut random);
            for _ in 0..PROBES / filters / 1_000 {
                random.fill(&mut probes);
                filter.contains_hashes(&probes, &mut found);
                hits += found.iter().filter(|&&found| found).count() as u64;
            }
        }
        hold_rate(&format!("{keys} keys"), hits, PROBES);
    }
}

/// Keys in sequence, hashed as users' keys are, behave as random ones.
#[test]
fn integers_in_sequence_have_the_same_rate() {
    const PROBES: u64 = 30_000_000;
    let filter = BinaryFuse::of_keys_with_scheme(0..1_000_000_u64, KeyScheme::integers()).unwrap();
    let strangers = 1_000_000..1_000_000 + PROBES;
    let hits = strangers.filter(|key| filter.contains(key).unwrap()).count() as u64;
    hold_rate("integers in sequence", hits, PROBES);
    assert_eq!(filter.false_positive_rate(), RATE);
}

/// Nine bits a key from a million on, and how much fewer keys cost.
#[test]
fn sizes_are_those_of_the_essay() {
    let bits = |keys: u64| 8.0 * BinaryFuse::table_bytes_for(keys) as f64 / keys as f64;
    for (keys, most) in [(100, 16.0), (1_000, 11.5), (10_000, 10.3), (100_000, 9.6), (1_000_000, 9.1)] {
        assert!(bits(keys) <= most, "{keys}: {} bits", bits(keys));
    }
    assert!((1..=2_000).all(|millions| bits(millions * 1_000_000) <= 9.1));
    let filter = random_filter(1_000_000, &mut generator("size"));
    assert!(8.0 * filter.encode().len() as f64 <= 9.1 * 1e6);
}
