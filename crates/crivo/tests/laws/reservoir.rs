//! What the samples promise beside their distributions: batches equal single keys, stored samples
//! go on, what is kept was shown, and a merged sample is one of both streams.

use std::collections::BTreeSet;

use crivo::ErrorKind;
use crivo::keys::{KeyBatch, KeyBuffer, KeyRef, KeyScheme, Span};
use crivo::sampling::{Reservoir, WeightedReservoir};
use proptest::prelude::*;

const SCHEME: KeyScheme = KeyScheme::hashes();

fn reservoir(capacity: u64, seed: u64, positions: std::ops::Range<u64>) -> Reservoir {
    let mut sample = Reservoir::with_scheme(capacity, SCHEME, seed).unwrap();
    let hashes: Vec<u64> = positions.collect();
    sample.insert_batch(&KeyBatch::from_hashes(SCHEME, &hashes).unwrap()).unwrap();
    sample
}

/// Weights from 0 to 4, every fifth of them 0.
fn weights(positions: std::ops::Range<u64>) -> Vec<f64> {
    positions.map(|position| (position * 7 % 5) as f64).collect()
}

fn weighted(capacity: u64, seed: u64, positions: std::ops::Range<u64>) -> WeightedReservoir {
    let mut sample = WeightedReservoir::with_scheme(capacity, SCHEME, seed).unwrap();
    let hashes: Vec<u64> = positions.clone().collect();
    sample.insert_batch(&KeyBatch::from_hashes(SCHEME, &hashes).unwrap(), &weights(positions)).unwrap();
    sample
}

fn set<'a>(keys: impl IntoIterator<Item = KeyRef<'a>>) -> BTreeSet<KeyRef<'a>> {
    keys.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn reservoir_takes_batches_as_single_keys(
        capacity in 1_u64..40, cuts in prop::collection::vec(0_u64..400, 0..6), seed: u64,
    ) {
        let total: u64 = cuts.iter().sum();
        let (mut single, mut batches) = (reservoir(capacity, seed, 0..0), reservoir(capacity, seed, 0..0));
        for position in 0..total {
            single.insert_ref(KeyRef::Hash(position)).unwrap();
        }
        let mut start = 0;
        for cut in cuts {
            let hashes: Vec<u64> = (start..start + cut).collect();
            batches.insert_batch(&KeyBatch::from_hashes(SCHEME, &hashes).unwrap()).unwrap();
            batches = Reservoir::decode(&batches.encode()).unwrap();
            start += cut;
        }
        prop_assert_eq!(single.encode(), batches.encode());
        let kept = set(single.sample());
        prop_assert_eq!(kept.len() as u64, total.min(capacity), "different items");
        prop_assert!(kept.iter().all(|key| *key < KeyRef::Hash(total)));
        prop_assert_eq!((single.seen(), single), (total, batches));
    }

    #[test]
    fn merged_reservoir_is_a_sample_of_both_streams(
        capacity in 1_u64..40, a in 0_u64..100, b in 0_u64..100, seed: u64,
    ) {
        let (x, y) = (reservoir(capacity, seed, 0..a), reservoir(capacity, !seed, a..a + b));
        let mut merged = x.clone();
        merged.merge(&y).unwrap();
        let kept = set(merged.sample());
        prop_assert_eq!(kept.len() as u64, (a + b).min(capacity), "different items");
        prop_assert!(kept.is_subset(&set(x.sample().chain(y.sample()))));
        prop_assert_eq!(merged.seen(), a + b);
        prop_assert_eq!(Reservoir::decode(&merged.encode()), Ok(merged.clone()));
        let mut with_nothing = x.clone();
        with_nothing.merge(&reservoir(capacity, !seed, 0..0)).unwrap();
        prop_assert_eq!(&with_nothing, &x, "merging an empty sample changes nothing");
        let mut from_nothing = reservoir(capacity, seed, 0..0);
        from_nothing.merge(&y).unwrap();
        prop_assert!(from_nothing.sample().eq(y.sample()), "an empty sample takes the other's");
    }

    #[test]
    fn weighted_reservoir_takes_batches_as_single_keys(
        capacity in 1_u64..40, cuts in prop::collection::vec(0_u64..400, 0..6), seed: u64,
    ) {
        let total: u64 = cuts.iter().sum();
        let (mut single, mut batches) = (weighted(capacity, seed, 0..0), weighted(capacity, seed, 0..0));
        for (position, weight) in (0..total).zip(weights(0..total)) {
            single.insert_ref(KeyRef::Hash(position), weight).unwrap();
        }
        let mut start = 0;
        for cut in cuts {
            let hashes: Vec<u64> = (start..start + cut).collect();
            let batch = KeyBatch::from_hashes(SCHEME, &hashes).unwrap();
            batches.insert_batch(&batch, &weights(start..start + cut)).unwrap();
            batches = WeightedReservoir::decode(&batches.encode()).unwrap();
            start += cut;
        }
        prop_assert_eq!(single.encode(), batches.encode());
        let light = total.div_ceil(5);
        prop_assert_eq!((single.seen(), single.weightless()), (total - light, light));
        let kept = set(single.sample());
        prop_assert_eq!(kept.len() as u64, single.seen().min(capacity), "different items");
        prop_assert!(!kept.contains(&KeyRef::Hash(0)), "items without weight are not sampled");
        prop_assert_eq!(single, batches);
    }

    /// The merged sample is what rang first of both: bit for bit in either direction and in any
    /// order, but for the generator.
    #[test]
    fn merged_weighted_reservoir_does_not_depend_on_the_order(
        capacity in 1_u64..40, a in 0_u64..100, b in 0_u64..100, c in 0_u64..100, seed: u64,
    ) {
        let x = weighted(capacity, seed, 0..a);
        let y = weighted(capacity, !seed, a..a + b);
        let z = weighted(capacity, seed ^ 1, a + b..a + b + c);
        let merged = |mine: &WeightedReservoir, theirs: &WeightedReservoir| {
            let mut merged = mine.clone();
            merged.merge(theirs).unwrap();
            merged
        };
        let all = merged(&merged(&x, &y), &z);
        let (forwards, backwards) = (merged(&x, &y), merged(&y, &x));
        prop_assert!(forwards.sample().eq(backwards.sample()), "merge commutes");
        let other_way = merged(&x, &merged(&y, &z));
        prop_assert!(all.sample().eq(other_way.sample()), "merge associates");
        prop_assert_eq!((all.seen(), all.weightless()), {
            let light = (0..a + b + c).filter(|position| position % 5 == 0).count() as u64;
            (a + b + c - light, light)
        });
        prop_assert_eq!(merged(&x, &weighted(capacity, 5, 0..0)), x, "merging an empty sample changes nothing");
        prop_assert_eq!(WeightedReservoir::decode(&all.encode()), Ok(all.clone()));
    }
}

#[test]
fn samples_that_differ_refuse_each_other() {
    let mut uniform = Reservoir::with_scheme(5, KeyScheme::bytes().with_seed(1), 1).unwrap();
    let mut heavy = WeightedReservoir::with_scheme(5, KeyScheme::bytes().with_seed(1), 1).unwrap();
    uniform.insert("a").unwrap();
    heavy.insert("a", 1.0).unwrap();
    let before = (uniform.clone(), heavy.clone());
    for (capacity, scheme, field) in [
        (6, KeyScheme::bytes().with_seed(1), "capacity"),
        (5, KeyScheme::bytes().with_seed(2), "seed"),
        (5, KeyScheme::integers().with_seed(1), "key kind"),
    ] {
        let other = Reservoir::with_scheme(capacity, scheme, 2).unwrap();
        let error = uniform.merge(&other).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
        let other = WeightedReservoir::with_scheme(capacity, scheme, 2).unwrap();
        let error = heavy.merge(&other).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
    }
    assert_eq!((uniform, heavy), before, "a refused merge changes nothing");
}

#[test]
fn a_batch_that_does_not_fit_changes_nothing() {
    let mut uniform = Reservoir::new(2, 1).unwrap();
    let mut heavy = WeightedReservoir::new(2, 1).unwrap();
    let before = (uniform.clone(), heavy.clone());
    let mut buffer = KeyBuffer::new(KeyScheme::bytes());
    let spans = [0..1, 1..2].map(|range| Span::new(range).unwrap());
    let batch = buffer.hash_spans_of(&spans, b"ab").unwrap();
    for wrong in [&[1.0][..], &[1.0, -1.0], &[1.0, f64::NAN], &[f64::INFINITY, 1.0], &[1.0; 3]] {
        let error = heavy.insert_batch(&batch, wrong).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{wrong:?}");
    }
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let batch = buffer.hash_integers(&[1, 2]).unwrap();
    assert_eq!(uniform.insert_batch(&batch).unwrap_err().field(), "key kind");
    assert_eq!(heavy.insert_batch(&batch, &[1.0, 1.0]).unwrap_err().field(), "key kind");
    assert_eq!(uniform.insert(&7_u8).unwrap_err().field(), "key kind");
    assert_eq!((uniform, heavy), before);
}
