//! Reservoir: is every set of items as likely as any other?
//!
//! Where there are few enough of them, whole sets are counted: if all sets of `k` are equally
//! likely, so is everything else about the sample. In long streams a random one of the sampled
//! items is looked at, which must be any item of the stream with the same probability.

use crivo::keys::{KeyBatch, KeyRef, KeyScheme};
use crivo::sampling::Reservoir;

use super::chi_square::chi_square;
use super::support::{Random, generator};

/// The positions in the stream serve as keys.
const SCHEME: KeyScheme = KeyScheme::hashes();

fn empty(capacity: u64, random: &mut Random) -> Reservoir {
    Reservoir::with_scheme(capacity, SCHEME, random.bits()).unwrap()
}

/// Shows positions, by ones or in batches that end anywhere.
fn show(sample: &mut Reservoir, positions: &[u64], random: &mut Random) {
    let (single, batch) = positions.split_at(random.below(positions.len().min(5) + 1));
    for &position in single {
        sample.insert_ref(KeyRef::Hash(position)).unwrap();
    }
    sample.insert_batch(&KeyBatch::from_hashes(SCHEME, batch).unwrap()).unwrap();
}

fn positions(sample: &Reservoir) -> Vec<u64> {
    let position = |key| if let KeyRef::Hash(position) = key { position } else { panic!("{key}") };
    sample.sample().map(position).collect()
}

/// Counts which of all sets of `k` out of `n` positions come up.
pub(crate) fn sets_observed(n: u64, k: u32, trials: u32, mut draw: impl FnMut() -> Vec<u64>) -> Vec<u64> {
    let sets: Vec<u64> = (0..1_u64 << n).filter(|set| set.count_ones() == k).collect();
    let mut observed = vec![0; sets.len()];
    for _ in 0..trials {
        let set = draw().iter().fold(0, |set, position| set | 1 << position);
        observed[sets.binary_search(&set).expect("k different positions")] += 1;
    }
    observed
}

fn uniform(cells: usize) -> Vec<f64> {
    vec![1.0 / cells as f64; cells]
}

/// Every set of k out of n is equally likely.
fn hold_sets(subject: &str, n: u64, k: u32, mut draw: impl FnMut(&mut Random) -> Reservoir) {
    let mut random = generator(subject);
    let observed = sets_observed(n, k, 200_000, || positions(&draw(&mut random)));
    let subject = format!("{k} | {subject}");
    assert_eq!(chi_square(&subject, &observed, &uniform(observed.len())), Ok(()));
}

/// A random one of the sampled items is in any of `bins` parts of the stream with the same
/// probability.
fn hold_positions(
    subject: &str,
    n: u64,
    k: u32,
    bins: u64,
    trials: u32,
    mut draw: impl FnMut(&mut Random) -> Reservoir,
) {
    let mut random = generator(subject);
    let mut observed = vec![0; bins as usize];
    for _ in 0..trials {
        let sample = draw(&mut random);
        assert_eq!((sample.seen(), sample.sample().len() as u64), (n, n.min(k.into())));
        let positions = positions(&sample);
        let position = positions[random.below(positions.len())];
        observed[(position * bins / n) as usize] += 1;
    }
    let probabilities: Vec<f64> = (0..bins)
        .map(|bin| (0..n).filter(|position| position * bins / n == bin).count() as f64 / n as f64)
        .collect();
    assert_eq!(chi_square(&format!("{k} | {subject}"), &observed, &probabilities), Ok(()));
}

#[test]
fn every_set_of_a_short_stream_is_as_likely() {
    for (n, k) in [(2, 1), (3, 1), (10, 1), (4, 3), (5, 2), (6, 3), (8, 4), (9, 8), (12, 2)] {
        hold_sets(&format!("{n}"), n, k, |random| {
            let mut sample = empty(k.into(), random);
            show(&mut sample, &(0..n).collect::<Vec<_>>(), random);
            sample
        });
    }
}

#[test]
fn streams_no_longer_than_the_sample_are_kept_whole() {
    let mut random = generator("whole");
    for n in 0..=10 {
        let mut sample = empty(10, &mut random);
        let stream: Vec<u64> = (0..n).collect();
        show(&mut sample, &stream, &mut random);
        assert_eq!(positions(&sample), stream, "and in order");
        assert_eq!(sample.seen(), n);
    }
}

#[test]
fn every_position_of_a_long_stream_is_as_likely() {
    for (n, k, bins, trials) in [
        (101_u64, 100_u32, 101, 200_000),
        (110, 100, 110, 200_000),
        (1_000, 10, 100, 200_000),
        (100_000, 1, 100, 200_000),
        (100_000, 100, 50, 60_000),
        (3_000_000, 20, 50, 60_000),
    ] {
        let stream: Vec<u64> = (0..n).collect();
        hold_positions(&format!("{n}"), n, k, bins, trials, |random| {
            let mut sample = empty(k.into(), random);
            show(&mut sample, &stream, random);
            sample
        });
    }
}

/// Samples of parts of the stream, merged in the given order, and then shown the rest.
fn merged(k: u32, parts: &[u64], rest: u64, random: &mut Random) -> Reservoir {
    let mut next = 0;
    let mut range = |length: u64| {
        next += length;
        (next - length..next).collect::<Vec<_>>()
    };
    let mut samples: Vec<Reservoir> = Vec::new();
    for &part in parts {
        let mut sample = empty(k.into(), random);
        show(&mut sample, &range(part), random);
        samples.push(sample);
    }
    // Neighbours first, then the results: a tree, as threads would merge.
    while samples.len() > 1 {
        for pair in 0..samples.len() / 2 {
            let other = samples.remove(pair + 1);
            samples[pair].merge(&other).unwrap();
        }
    }
    let mut sample = samples.remove(0);
    show(&mut sample, &range(rest), random);
    sample
}

#[test]
fn every_set_is_as_likely_after_merges() {
    let cases: [(u32, &[u64], u64); 9] = [
        (1, &[1, 4], 0),
        (1, &[5, 1, 2], 2),
        (3, &[3, 4], 0),
        (3, &[1, 6], 0),
        (3, &[6, 1], 0),
        (3, &[2, 2], 0),
        (3, &[2, 1, 5], 0),
        (3, &[2, 2, 2, 2], 1),
        (2, &[3, 2], 3),
    ];
    for (k, parts, rest) in cases {
        let n = parts.iter().sum::<u64>() + rest;
        hold_sets(&format!("{parts:?} merged, then {rest}"), n, k, |random| merged(k, parts, rest, random));
    }
}

#[test]
fn every_position_is_as_likely_after_merges_of_unequal_streams() {
    let cases: [(u32, &[u64], u64); 4] = [
        (10, &[1_000, 50], 0),
        (10, &[7, 2_000], 500),
        (100, &[50, 30, 20, 40], 60),
        (5, &[100, 900, 10, 3, 500, 87], 400),
    ];
    for (k, parts, rest) in cases {
        let n = parts.iter().sum::<u64>() + rest;
        let subject = format!("{parts:?} merged, then {rest}");
        hold_positions(&subject, n, k, 50, 100_000, |random| merged(k, parts, rest, random));
    }
}

const MUTANT_TRIALS: u32 = 1_000_000;

/// Some samples are given an item of the second half instead of any, so that items there are 3 %
/// more likely than those of the first.
#[test]
fn a_sample_that_prefers_late_items_by_three_percent_is_caught() {
    let (n, k) = (200_u64, 10);
    let stream: Vec<u64> = (0..n).collect();
    let mut random = generator("late");
    let mut observed = vec![0; 10];
    for _ in 0..MUTANT_TRIALS {
        let mut sample = empty(k, &mut random);
        show(&mut sample, &stream, &mut random);
        let positions = positions(&sample);
        let mut position = positions[random.below(positions.len())];
        if random.unit() < 0.03 / 2.03 {
            position = n / 2 + random.bits() % (n / 2);
        }
        observed[(position * 10 / n) as usize] += 1;
    }
    assert!(chi_square("10 | 200, late items 3 % too likely", &observed, &uniform(10)).is_err());
}

/// Algorithm L as in the paper, but with an exponent that is 3 % too large: the chance falls too
/// fast.
#[test]
fn an_exponent_wrong_by_three_percent_is_caught() {
    let (n, k) = (1_000_u64, 10_u64);
    let mut random = generator("wrong exponent");
    let power = 1.03 / k as f64;
    let mut observed = vec![0; 10];
    for _ in 0..MUTANT_TRIALS {
        let mut sample: Vec<u64> = (0..k).collect();
        let mut chance = random.unit().powf(power);
        let mut next = k;
        while next < n {
            next += (random.unit().ln() / (-chance).ln_1p()) as u64;
            if next < n {
                sample[random.below(k as usize)] = next;
                chance *= random.unit().powf(power);
                next += 1;
            }
        }
        observed[(sample[random.below(k as usize)] * 10 / n) as usize] += 1;
    }
    assert!(chi_square("10 | 1000, exponent 3 % too large", &observed, &uniform(10)).is_err());
}
