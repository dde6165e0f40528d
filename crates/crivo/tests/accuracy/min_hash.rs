//! MinHash against its theory.
//!
//! A slot of the union holds a random one of its `N` elements, and the slots of the two sets are
//! equal exactly if that one is in both. Two slots filled in the same round hold different
//! elements; filled in different rounds, independent ones. So with `q` the chance that two slots
//! are filled in the same round, the variance of the share of equal slots is
//!
//! `J(1 − J)/k · (1 − q (k − 1)/(N − 1))`, `q = (1 − 2a + b)/(1 − b)`,
//!
//! where `a = (1 − 1/k)^N` is the chance that a round leaves a slot empty and `b = (1 − 2/k)^N`
//! that it leaves two empty. It is never above `J(1 − J)/k`, that of independent slots, from which
//! the bounds come: they hold the truth in more than 95 % of trials where sets are small.

use crivo::keys::KeyScheme;
use crivo::similarity::MinHash;
use crivo::{Confidence, Estimate};

use super::harness::{Claim, Measured, judge};
use super::shares::{Share, feed};
use super::support::{Random, generator};

/// At 30,000 trials half of each margin below is five deviations of its noise.
const TRIALS: u32 = 30_000;

/// Two sets of `size` elements with `common` of them in both.
#[derive(Debug, Clone, Copy)]
struct Sets {
    size: usize,
    common: usize,
}

impl Sets {
    fn union(self) -> usize {
        2 * self.size - self.common
    }

    fn similarity(self) -> f64 {
        self.common as f64 / self.union() as f64
    }
}

fn claim(k: u32, sets: Sets) -> Claim {
    let (k, n, j) = (f64::from(k), sets.union() as f64, sets.similarity());
    let (one_empty, two_empty) = ((1.0 - 1.0 / k).powf(n), (1.0 - 2.0 / k).powf(n));
    let same_round = (1.0 - 2.0 * one_empty + two_empty) / (1.0 - two_empty);
    let variance = j * (1.0 - j) / k * (1.0 - same_round * (k - 1.0) / (n - 1.0));
    // Relative to the truth, as the harness measures. Bounds are those of whole numbers of slots,
    // and of independent ones.
    Claim { rmse: variance.sqrt() / j, rmse_margin: 0.05, bias_margin: 0.06, coverage: (0.94, 1.0) }
}

fn sketches_of(k: u32, sets: Sets, elements: &[u64]) -> [MinHash; 2] {
    let mut sketches = [k; 2].map(|k| MinHash::with_scheme(k, KeyScheme::hashes()).unwrap());
    sketches[0].insert_hashes(&elements[..sets.size]);
    sketches[1].insert_hashes(&elements[sets.union() - sets.size..]);
    sketches
}

/// Many pairs of sets, whose elements `draw` brings.
fn measure(k: u32, sets: Sets, mut draw: impl FnMut(&mut [u64])) -> Measured {
    // Bounds depend on the number of equal slots alone: computing them once for each saves most of
    // the time.
    let mut answers: Vec<Option<Estimate>> = vec![None; k as usize + 1];
    let mut elements = vec![0; sets.union()];
    let mut measured = Measured::default();
    for _ in 0..TRIALS {
        draw(&mut elements);
        let [a, b] = sketches_of(k, sets, &elements);
        let equal = a.slots().iter().zip(b.slots()).filter(|(a, b)| a == b).count();
        let answer = *answers[equal].get_or_insert_with(|| a.similarity(&b).unwrap());
        assert_eq!(answer.value(), equal as f64 / f64::from(k));
        measured.add(sets.similarity(), answer);
    }
    measured
}

fn holds(k: u32, sets: Sets, what: &str, draw: impl FnMut(&mut [u64])) {
    let (claim, measured) = (claim(k, sets), measure(k, sets, draw));
    let independent = ((1.0 - sets.similarity()) / sets.similarity() / f64::from(k)).sqrt();
    assert!(measured.rmse() <= 1.05 * independent, "{sets:?} in {k} slots: worse than independent slots");
    let subject = format!("{k} | {} | {:.2} | {what}", sets.size, sets.similarity());
    assert_eq!(judge(&subject, &claim, &measured), Ok(()), "{subject}");
}

const SETS: [Sets; 6] = [
    Sets { size: 10, common: 6 },
    Sets { size: 30, common: 10 },
    Sets { size: 100, common: 80 },
    Sets { size: 200, common: 130 },
    Sets { size: 1_000, common: 500 },
    Sets { size: 10_000, common: 9_000 },
];

#[test]
fn similarity_in_128_slots_holds_at_every_size() {
    let mut random = generator("min hash 128");
    SETS.into_iter().for_each(|sets| holds(128, sets, "random", |elements| random.fill(elements)));
}

#[test]
fn similarity_in_400_slots_holds_at_every_size() {
    let mut random = generator("min hash 400");
    SETS.into_iter().for_each(|sets| holds(400, sets, "random", |elements| random.fill(elements)));
}

/// Small integers, multiples of a power of two, and numbers that differ in their highest bits only
/// do not look random, and are taken as they are.
#[test]
fn similarity_of_integers_holds_without_a_hash() {
    let mut random = generator("min hash integers");
    for shift in [0, 8, 44] {
        for sets in [Sets { size: 30, common: 10 }, Sets { size: 300, common: 200 }] {
            holds(128, sets, &format!("integers << {shift}"), |elements| {
                let start = random.bits() >> 44;
                elements.iter_mut().zip(start..).for_each(|(element, i)| *element = i << shift);
                shuffle(elements, &mut random);
            });
        }
    }
}

fn shuffle(elements: &mut [u64], random: &mut Random) {
    for last in (1..elements.len()).rev() {
        elements.swap(last, random.below(last + 1));
    }
}

/// Multiplied by 1.03, the answer fails every check.
#[test]
fn a_similarity_wrong_by_three_percent_is_caught() {
    let (k, sets) = (4_096, Sets { size: 6_000, common: 4_000 });
    let mut random = generator("min hash wrong");
    let mut elements = vec![0; sets.union()];
    let mut measured = Measured::default();
    let mut answers: Vec<Option<Estimate>> = vec![None; k as usize + 1];
    for _ in 0..27_000 {
        random.fill(&mut elements);
        let [a, b] = sketches_of(k, sets, &elements);
        let equal = a.slots().iter().zip(b.slots()).filter(|(a, b)| a == b).count();
        let answer = *answers[equal].get_or_insert_with(|| a.similarity(&b).unwrap());
        let [value, lower, upper] = [answer.value(), answer.lower(), answer.upper()].map(|x| 1.03 * x);
        measured.add(sets.similarity(), Estimate::probable(value, lower, upper, answer.confidence()));
    }
    let failures = judge("wrong by 3 %", &claim(k, sets), &measured).unwrap_err();
    for check in ["rmse", "bias", "95 % intervals"] {
        assert!(failures.contains(check), "{check} did not object: {failures}");
    }
}

/// The size of the set, which the slots tell too: bounds hold the truth in at least 94 % of trials,
/// and the error is about `1/√k`.
#[test]
fn sizes_are_told_from_one_element_on() {
    let mut random = generator("min hash sizes");
    for k in [16, 128] {
        for size in [1, 3, 30, 1_000, 20_000] {
            let (mut held, mut squares) = (Share::default(), 0.0);
            for _ in 0..4_000 {
                let mut sketch = MinHash::with_scheme(k, KeyScheme::hashes()).unwrap();
                feed(&mut sketch, size, &mut random);
                let items = sketch.items();
                held.add(items.covers(size as f64));
                squares += (items.value() / size as f64 - 1.0).powi(2);
            }
            assert!(held.may_reach(0.94), "{size} in {k} slots: held in {}", held.value());
            let error = (squares / 4_000.0).sqrt();
            let expected = 1.0 / f64::from(k - 2).sqrt();
            assert!(error < 1.1 * expected, "{size} in {k} slots: an error of {error}, not {expected}");
        }
    }
}

#[test]
fn more_confidence_is_a_wider_interval() {
    let sets = Sets { size: 200, common: 150 };
    let mut elements = vec![0; sets.union()];
    generator("min hash levels").fill(&mut elements);
    let [a, b] = sketches_of(128, sets, &elements);
    let at = |level| a.similarity_at(&b, Confidence::new(level).unwrap()).unwrap();
    let widths = [0.5, 0.95, 0.99, 0.999_999].map(|level| at(level).upper() - at(level).lower());
    assert!(widths.is_sorted_by(|narrow, wide| narrow < wide), "{widths:?}");
    assert!(at(0.999_999).covers(sets.similarity()));
}
