//! The laws of Count-Min: as long as counters are sums, streams add up.

use crivo::frequency::CountMin;
use crivo::keys::KeyScheme;
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_streams, sketch_of, streams};

fn plain(width: u32, depth: u32) -> CountMin {
    CountMin::with_scheme(width, depth, KeyScheme::hashes().with_seed(3)).unwrap()
}

fn conservative(width: u32, depth: u32) -> CountMin {
    CountMin::conservative_with_scheme(width, depth, KeyScheme::hashes().with_seed(3)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn count_min_obeys_the_laws(streams in streams(), width in 1_u32..3000, depth in 1_u32..=32) {
        laws_of_streams(|| plain(width, depth), &streams);
    }

    /// Near the highest number too: counters that stop are still the same in any order.
    #[test]
    fn stopped_counters_obey_the_laws(
        hashes in proptest::collection::vec((any::<u64>(), any::<u64>()), 0..60), width in 1_u32..9, cut in 0..60_usize,
    ) {
        let cut = cut.min(hashes.len());
        let sketch = |part: &[(u64, u64)]| {
            let mut sketch = plain(width, 3);
            part.iter().for_each(|&(hash, weight)| sketch.add_hash(hash, weight));
            sketch
        };
        let mut merged = sketch(&hashes[cut..]);
        merged.merge(&sketch(&hashes[..cut])).unwrap();
        prop_assert_eq!(&merged, &sketch(&hashes));
        prop_assert_eq!(CountMin::decode(&merged.encode()), Ok(merged));
    }

    /// What conservative update promises instead: batches are single updates in order, answers lie
    /// between the truth and the plain answer, and bytes come back.
    #[test]
    fn conservative_update_lies_between_the_truth_and_plain(
        streams in streams(), width in 1_u32..3000, depth in 1_u32..=32,
    ) {
        let (a, b, c) = &streams;
        let sketch = sketch_of(conservative(width, depth), &[a, b, c, a]);
        let mut one_by_one = conservative(width, depth);
        [a, b, c, a].into_iter().flatten().for_each(|&hash| one_by_one.insert_hash(hash));
        prop_assert_eq!(&one_by_one, &sketch);
        prop_assert_eq!(CountMin::decode(&sketch.encode()), Ok(sketch.clone()));

        let plain = sketch_of(plain(width, depth), &[a, b, c, a]);
        let mut counts = std::collections::HashMap::new();
        [a, b, c, a].into_iter().flatten().for_each(|hash| *counts.entry(*hash).or_insert(0.0) += 1.0);
        for hash in a.iter().chain(b).chain(c) {
            let (truth, found) = (counts[hash], sketch.frequency_of_hash(*hash).value());
            prop_assert!(truth <= found && found <= plain.frequency_of_hash(*hash).value());
        }
    }
}

#[test]
fn count_mins_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| CountMin::with_scheme(64, 3, scheme).unwrap());
}
