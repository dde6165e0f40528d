//! What rank sketches promise beside their errors: batches equal single values, stored sketches go
//! on, weights equal repetition while nothing is compacted, and small sketches do not depend on
//! order or splitting.

use crivo::keys::{KeyBatch, KeyBuffer, KeyScheme};
use crivo::quantiles::{Accuracy, Bar, KeyQuantiles, NumberQuantiles};
use crivo::sketch::{AddWeights, Merge};
use crivo::{Confidence, ErrorKind};
use proptest::prelude::*;

fn sketch(size: u32, accuracy: Accuracy, values: &[f64]) -> NumberQuantiles {
    let mut sketch = NumberQuantiles::new(size, accuracy, 7).unwrap();
    sketch.insert_all(values);
    sketch
}

fn accuracy() -> impl Strategy<Value = Accuracy> {
    prop_oneof![Just(Accuracy::Uniform), Just(Accuracy::Tails)]
}

/// The number of rank ⌈share·n⌉.
fn truth(sorted: &[f64], share: f64) -> f64 {
    let rank = ((share * sorted.len() as f64).ceil() as usize).saturating_sub(1);
    sorted[rank.min(sorted.len() - 1)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn batches_equal_single_values_and_stored_sketches_go_on(
        accuracy in accuracy(), cuts in prop::collection::vec(0_usize..3000, 0..6), nans in 0_usize..3,
    ) {
        let total: usize = cuts.iter().sum();
        let mut values: Vec<f64> = (0..total).map(|i| (i * 7919 % 1009) as f64 - 500.0).collect();
        values.iter_mut().step_by(601).take(nans).for_each(|value| *value = f64::NAN);
        let (mut single, mut batches) = (sketch(8, accuracy, &[]), sketch(8, accuracy, &[]));
        values.iter().for_each(|&value| single.insert(value));
        let mut start = 0;
        for cut in cuts {
            batches.insert_all(&values[start..start + cut]);
            batches = NumberQuantiles::decode(&batches.encode()).unwrap();
            start += cut;
        }
        prop_assert_eq!(single.encode(), batches.encode());
        prop_assert_eq!(single.count() + single.not_a_number(), total as u64);
    }

    #[test]
    fn small_sketches_are_exact_in_any_order_and_split(
        mut values in prop::collection::vec(-1e9..1e9_f64, 1..60), cut in 0_usize..60, share in 0.0..=1.0_f64,
        accuracy in accuracy(), limit in -1e9..1e9_f64,
    ) {
        let whole = sketch(64, accuracy, &values);
        let (one, other) = values.split_at(cut.min(values.len()));
        let mut merged = sketch(64, accuracy, other);
        merged.merge(&sketch(64, accuracy, one)).unwrap();
        prop_assert_eq!(&whole, &merged);
        values.sort_by(f64::total_cmp);
        let answer = whole.quantile(share).unwrap();
        prop_assert!(answer.is_exact() && answer.value() == truth(&values, share));
        let below = values.partition_point(|&value| value < limit) as f64;
        prop_assert!(whole.count_below(limit).is_exact() && whole.count_below(limit).value() == below);
        prop_assert_eq!(whole.rank(values[0]).map(crivo::Estimate::is_exact), Some(true));
    }

    #[test]
    fn weights_are_exact_and_count_as_often_as_they_say(
        values in prop::collection::vec((0_u32..50, 0_u64..1 << 40), 1..20), limit in 0_u32..50,
    ) {
        let mut weighted = NumberQuantiles::new(512, Accuracy::Uniform, 7).unwrap();
        values.iter().for_each(|&(value, weight)| weighted.add(f64::from(value), weight));
        let below: u64 = values.iter().filter(|(value, _)| *value < limit).map(|(_, weight)| weight).sum();
        prop_assert_eq!(weighted.count_below(f64::from(limit)).value(), below as f64);
        prop_assert!(weighted.is_exact());
        prop_assert_eq!(weighted.count(), values.iter().map(|(_, weight)| weight).sum::<u64>());
    }

    /// A weight puts a value into levels above the lowest, which then have to be compacted too.
    #[test]
    fn weighted_sketches_of_either_accuracy_can_be_stored_at_any_time(
        accuracy in accuracy(), weights in prop::collection::vec(0_u64..8, 1..20), count in 0_usize..2000,
    ) {
        let mut numbers = NumberQuantiles::new(8, accuracy, 7).unwrap();
        let mut keys = KeyQuantiles::with_scheme(8, accuracy, KeyScheme::integers(), 7).unwrap();
        let mut total = 0;
        for (i, &weight) in (0..count).zip(weights.iter().cycle()) {
            let value = i * 7919 % 1009;
            numbers.add(value as f64, weight);
            keys.add(&(value as u64), weight).unwrap();
            total += weight;
            if i % 97 == 0 || i + 1 == count {
                prop_assert_eq!(NumberQuantiles::decode(&numbers.encode()), Ok(numbers.clone()));
                prop_assert_eq!(KeyQuantiles::decode(&keys.encode()), Ok(keys.clone()));
            }
        }
        prop_assert_eq!((numbers.count(), keys.count()), (total, total));
    }

    #[test]
    fn every_answer_is_an_interval_around_its_value(
        accuracy in accuracy(), count in 1_usize..20_000, share in 0.0..=1.0_f64, parts in 1_usize..4,
    ) {
        let values: Vec<f64> = (0..count).map(|i| (i * 7919 % 10_007) as f64).collect();
        let mut merged = sketch(8, accuracy, &[]);
        for (part, values) in values.chunks(count.div_ceil(parts)).enumerate() {
            let mut one = sketch(8, accuracy, &[]);
            one.reseed(part as u64);
            one.insert_all(values);
            merged.merge(&one).unwrap();
        }
        let answer = merged.quantile(share).unwrap();
        prop_assert!(answer.lower() <= answer.value() && answer.value() <= answer.upper());
        prop_assert!(merged.min().unwrap() <= answer.lower() && answer.upper() <= merged.max().unwrap());
        let ranks: Vec<f64> = (0..100).map(|i| merged.count_below(f64::from(i) * 100.0).value()).collect();
        prop_assert!(ranks.is_sorted(), "ranks rise with the value");
        let bars = merged.histogram(10);
        prop_assert_eq!(bars.iter().map(|bar| bar.count.value()).sum::<f64>(), count as f64);
        prop_assert_eq!(NumberQuantiles::decode(&merged.encode()).unwrap(), merged);
    }
}

#[test]
fn keys_are_ranked_as_numbers_are() {
    for scheme in [KeyScheme::bytes(), KeyScheme::integers()] {
        let mut keys = KeyQuantiles::with_scheme(16, Accuracy::Uniform, scheme, 3).unwrap();
        let mut numbers = NumberQuantiles::new(16, Accuracy::Uniform, 3).unwrap();
        for i in (0..5000_i64).map(|i| i * 7919 % 5003 + 1000) {
            numbers.insert(i as f64);
            if scheme == KeyScheme::bytes() {
                keys.insert(i.to_string().as_str()).unwrap();
            } else {
                keys.insert(&i).unwrap();
            }
        }
        let shares: Vec<f64> = (0..=20).map(|step| f64::from(step) / 20.0).collect();
        let answers = numbers.quantiles(&shares, Confidence::P99);
        for (key, number) in keys.quantiles(&shares, Confidence::P99).into_iter().zip(answers) {
            let (key, number) = (key.unwrap(), number.unwrap());
            let of_key = [&key.value, &key.lower, &key.upper].map(ToString::to_string);
            assert_eq!(of_key, [number.value(), number.lower(), number.upper()].map(|x| format!("{x}")));
        }
    }
    let mut signed = KeyQuantiles::with_scheme(8, Accuracy::Uniform, KeyScheme::integers(), 0).unwrap();
    [-5, 3, -7].iter().for_each(|key| signed.insert(key).unwrap());
    assert_eq!(signed.quantile(0.5).unwrap().value.to_string(), "-5");
    assert_eq!(signed.count_below(&0).unwrap().value(), 2.0);
}

#[test]
fn a_level_that_weights_fill_is_compacted() {
    let mut numbers = NumberQuantiles::new(32, Accuracy::Tails, 7).unwrap();
    let mut keys = KeyQuantiles::with_scheme(32, Accuracy::Tails, KeyScheme::integers(), 7).unwrap();
    for i in 0..384_u32 {
        numbers.add(f64::from(i), 2);
        keys.add(&i, 2).unwrap();
        if i == 382 {
            numbers.insert(1e6);
            keys.insert(&1_000_000).unwrap();
        }
    }
    assert_eq!(NumberQuantiles::decode(&numbers.encode()), Ok(numbers.clone()));
    assert_eq!(KeyQuantiles::decode(&keys.encode()), Ok(keys));
    assert_eq!((numbers.count(), numbers.is_exact()), (769, false));
}

#[test]
fn a_histogram_has_no_bars_if_none_are_asked_for_and_never_too_many() {
    let mut numbers = sketch(8, Accuracy::Uniform, &[0.0, 1.0, 2.0]);
    let any = crivo::codec::AnySketch::from(numbers.clone());
    assert_eq!((numbers.histogram(0), any.quantiles().unwrap().histogram(0)), (vec![], vec![]));
    for bars in [Bar::MOST + 1, 1 << 60, usize::MAX] {
        let found = numbers.histogram(bars);
        assert_eq!(found.len(), Bar::MOST);
        assert_eq!(found.iter().map(|bar| bar.count.value()).sum::<f64>(), 3.0);
    }
    let mut logarithmic = crivo::profile::DDSketch::new(0.01, 100).unwrap();
    logarithmic.insert_all(&[1.0, 2.0, 3.0]);
    let any = crivo::codec::AnySketch::from(logarithmic);
    assert_eq!(any.quantiles().unwrap().histogram(0), vec![]);
    assert_eq!(any.quantiles().unwrap().histogram(1 << 60).len(), Bar::MOST);
    numbers.insert(f64::INFINITY);
    assert_eq!((numbers.histogram(1 << 60).len(), numbers.histogram(0).len()), (1, 0));
}

#[test]
fn batches_of_keys_and_weights_are_taken_or_refused_whole() {
    let mut buffer = KeyBuffer::new(KeyScheme::bytes());
    let batch = buffer.hash_offsets(&[0, 1, 2, 3], b"bac").unwrap();
    let mut keys = KeyQuantiles::new(8, Accuracy::Uniform, 0).unwrap();
    keys.insert_batch(&batch).unwrap();
    keys.add_batch(&batch, &[10, 0, 1]).unwrap();
    assert_eq!((keys.count(), keys.count_at_most("b").unwrap().value()), (14, 12.0));
    assert_eq!(keys.add_batch(&batch, &[1]).unwrap_err().field(), "weights");
    let hashes = KeyBatch::from_hashes(KeyScheme::hashes(), &[1]).unwrap();
    assert_eq!(keys.insert_batch(&hashes).unwrap_err().kind(), ErrorKind::Incompatible);
    assert!(keys.insert(&7_u64).is_err());
    assert_eq!(keys.count(), 14);
}

#[test]
fn different_sketches_refuse_each_other() {
    let mut one = sketch(16, Accuracy::Uniform, &[1.0]);
    let before = one.clone();
    assert_eq!(one.merge(&sketch(8, Accuracy::Uniform, &[])).unwrap_err().field(), "size");
    assert_eq!(one.merge(&sketch(16, Accuracy::Tails, &[])).unwrap_err().field(), "accuracy");
    assert_eq!(one, before);
    for (size, field) in [(7, "size"), (9, "size"), (1 << 21, "size")] {
        let error = NumberQuantiles::new(size, Accuracy::Uniform, 0).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, field));
    }
    for error in [0.0, 0.5, f64::NAN, -1.0] {
        assert!(NumberQuantiles::for_bound(error, 0).is_err(), "{error}");
    }
}

#[test]
fn weights_beyond_counting_leave_the_ends() {
    for accuracy in [Accuracy::Uniform, Accuracy::Tails] {
        let mut sketch = sketch(8, accuracy, &[5.0]);
        sketch.add(-1.0, u64::MAX);
        sketch.insert(9.0);
        assert!(sketch.is_saturated());
        let median = sketch.quantile(0.5).unwrap();
        assert_eq!((median.lower(), median.upper(), median.is_certain()), (-1.0, 9.0, true));
        assert!(sketch.count_below(5.0).upper().is_infinite());
        assert_eq!(NumberQuantiles::decode(&sketch.encode()).unwrap(), sketch);
    }
}

#[test]
fn a_huge_weight_beside_many_small_ones_keeps_both_right() {
    let mut mixed = sketch(64, Accuracy::Uniform, &[]);
    mixed.add(1e6, 1 << 40);
    (0..100_000).for_each(|i| mixed.insert(f64::from(i)));
    assert_eq!(mixed.count(), (1 << 40) + 100_000);
    assert!(mixed.count_below(50_000.0).value() / (1_u64 << 40) as f64 <= 1e-3);
    assert_eq!(mixed.quantile(0.5).unwrap().value(), 1e6);
    assert_eq!(NumberQuantiles::decode(&mixed.encode()).unwrap(), mixed);
}
