//! `WeightedReservoir` against all sequences of draws, enumerated.
//!
//! The probability of a set is the sum over its orders of the product of `w_i/(what is left)`:
//! draws without replacement, by definition, with no clock and no jump.

use crivo::keys::{KeyBatch, KeyRef, KeyScheme};
use crivo::sampling::WeightedReservoir;

use super::chi_square::chi_square;
use super::reservoir::sets_observed;
use super::support::{Random, generator};

const SCHEME: KeyScheme = KeyScheme::hashes();

/// The probability of each sequence of `k` draws, visited with the items drawn.
fn sequences(
    weights: &[f64],
    k: usize,
    drawn: &mut Vec<u64>,
    probability: f64,
    visit: &mut impl FnMut(&[u64], f64),
) {
    if drawn.len() == k {
        return visit(drawn, probability);
    }
    let is_left = |item: u64, drawn: &[u64]| !drawn.contains(&item);
    let left: f64 =
        (0..).zip(weights).filter(|(item, _)| is_left(*item, drawn)).map(|(_, weight)| weight).sum();
    for (item, &weight) in (0..).zip(weights) {
        if is_left(item, drawn) {
            drawn.push(item);
            sequences(weights, k, drawn, probability * weight / left, visit);
            drawn.pop();
        }
    }
}

/// The probability of each set of `k` items, in the order of `sets_observed`.
pub(crate) fn sets_expected(weights: &[f64], k: usize) -> Vec<f64> {
    let sets: Vec<u64> = (0..1_u64 << weights.len()).filter(|set| set.count_ones() as usize == k).collect();
    let mut expected = vec![0.0; sets.len()];
    sequences(weights, k, &mut Vec::new(), 1.0, &mut |drawn, probability| {
        let set = drawn.iter().fold(0, |set, item| set | 1 << item);
        expected[sets.binary_search(&set).unwrap()] += probability;
    });
    expected
}

fn sampled(k: u32, weights: &[f64], first: u64, random: &mut Random) -> WeightedReservoir {
    let mut sample = WeightedReservoir::with_scheme(k.into(), SCHEME, random.bits()).unwrap();
    let items: Vec<u64> = (first..first + weights.len() as u64).collect();
    let single = random.below(items.len() + 1);
    for (item, weight) in items.iter().zip(weights).take(single) {
        sample.insert_ref(KeyRef::Hash(*item), *weight).unwrap();
    }
    let batch = KeyBatch::from_hashes(SCHEME, &items[single..]).unwrap();
    sample.insert_batch(&batch, &weights[single..]).unwrap();
    sample
}

fn items(sample: &WeightedReservoir) -> Vec<u64> {
    let item = |key| if let KeyRef::Hash(item) = key { item } else { panic!("{key}") };
    sample.sample().map(item).collect()
}

pub(crate) const WEIGHTS: [&[f64]; 6] = [
    &[1.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    &[6.0, 5.0, 4.0, 3.0, 2.0, 1.0],
    &[10.0, 1.0, 1.0, 1.0, 1.0, 7.0],
    &[1e-3, 2e-3, 0.5e-3, 8e-3, 3e-3],
    &[1e200, 3e200, 2e200, 0.5e200, 2.5e200],
];

#[test]
fn sets_have_the_probabilities_of_successive_draws() {
    for weights in WEIGHTS {
        for k in 1..=3 {
            let mut random = generator("weighted sets");
            let observed = sets_observed(weights.len() as u64, k, 100_000, || {
                items(&sampled(k, weights, 0, &mut random))
            });
            let subject = format!("{k} | {weights:?}");
            assert_eq!(chi_square(&subject, &observed, &sets_expected(weights, k as usize)), Ok(()));
        }
    }
}

/// Not only the set: the items come in the order in which they would have been drawn.
#[test]
fn samples_are_in_the_order_of_the_draws() {
    let weights = [1.0, 2.0, 3.0, 4.0];
    let (mut orders, mut expected) = (Vec::new(), Vec::new());
    sequences(&weights, 3, &mut Vec::new(), 1.0, &mut |drawn, probability| {
        orders.push(drawn.to_vec());
        expected.push(probability);
    });
    let mut random = generator("weighted orders");
    let mut observed = vec![0; orders.len()];
    for _ in 0..200_000 {
        let drawn = items(&sampled(3, &weights, 0, &mut random));
        observed[orders.iter().position(|order| *order == drawn).unwrap()] += 1;
    }
    assert_eq!(chi_square("3 | in order, of [1, 2, 3, 4]", &observed, &expected), Ok(()));
}

#[test]
fn merged_samples_are_those_of_the_joined_stream() {
    for weights in WEIGHTS {
        for (k, cut) in [(1, 2), (2, 1), (3, 3), (3, 4)] {
            let mut random = generator("weighted merged");
            let observed = sets_observed(weights.len() as u64, k, 100_000, || {
                // The first part, the last but one merged to it, then the last one shown.
                let (first, rest) = weights.split_at(cut);
                let (second, last) = rest.split_at(rest.len() - 1);
                let mut sample = sampled(k, first, 0, &mut random);
                sample.merge(&sampled(k, second, cut as u64, &mut random)).unwrap();
                sample.insert_ref(KeyRef::Hash(weights.len() as u64 - 1), last[0]).unwrap();
                items(&sample)
            });
            let subject = format!("{k} | {weights:?}, merged at {cut}, then one more");
            assert_eq!(chi_square(&subject, &observed, &sets_expected(weights, k as usize)), Ok(()));
        }
    }
}

/// A long stream of equal weights is sampled uniformly, whatever the weights are.
#[test]
fn every_position_of_a_long_stream_of_equal_weights_is_as_likely() {
    let n = 2_000_u64;
    for weight in [1.0, 1e-12] {
        let weights = vec![weight; n as usize];
        let mut random = generator("weighted positions");
        let mut observed = vec![0; 50];
        for _ in 0..60_000 {
            let items = items(&sampled(10, &weights, 0, &mut random));
            observed[(items[random.below(10)] * 50 / n) as usize] += 1;
        }
        assert_eq!(chi_square(&format!("10 | {n} of weight {weight}"), &observed, &[0.02; 50]), Ok(()));
    }
}

/// One item among a thousand others, with weights from 1 to 1,000: it is drawn first in proportion.
#[test]
fn the_first_of_a_long_stream_is_drawn_by_weight() {
    let weights: Vec<f64> = (1..=1000).map(f64::from).collect();
    let total: f64 = weights.iter().sum();
    let mut random = generator("weighted first");
    let mut observed = vec![0; 1000];
    (0..100_000).for_each(|_| observed[items(&sampled(5, &weights, 0, &mut random))[0] as usize] += 1);
    let expected: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    assert_eq!(chi_square("5 | the first, of 1 to 1000", &observed, &expected), Ok(()));
}

#[test]
fn a_weight_wrong_by_three_percent_is_caught() {
    let (right, wrong) = ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.12]);
    let mut random = generator("weighted mutant");
    let observed = sets_observed(4, 1, 1_000_000, || items(&sampled(1, &wrong, 0, &mut random)));
    assert!(chi_square("1 | a weight 3 % too large", &observed, &sets_expected(&right, 1)).is_err());
}
