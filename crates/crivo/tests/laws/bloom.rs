//! The laws of the Bloom filters: they are sets, and splitting the building over threads changes
//! nothing.

use crivo::ErrorKind;
use crivo::keys::KeyScheme;
use crivo::membership::{BlockedBloom, Bloom, CounterBits, CountingBloom};
use crivo::sketch::ContainsHashes;
use proptest::prelude::*;

use super::{different_schemes_refuse_each_other, laws_of_sets, merged, sketch_of, streams};

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(3);

fn bloom((bits, hashes): (u64, u32)) -> Bloom {
    Bloom::with_scheme(bits, hashes, SCHEME).unwrap()
}

fn blocked(blocks: u64) -> BlockedBloom {
    BlockedBloom::with_scheme(blocks, SCHEME).unwrap()
}

/// Tiny filters, where everything collides, those that end inside a word, roomy ones, and some that
/// are fetched ahead.
fn sizes() -> impl Strategy<Value = (u64, u32)> {
    (prop_oneof![1_u64..70, 1_000_u64..60_000, Just(20_000_003)], prop_oneof![1_u32..=12, 60_u32..=64])
}

fn batches_find_what_single_questions_find(filter: &impl ContainsHashes, inserted: &[u64], others: &[u64]) {
    let probes = [inserted, others].concat();
    let mut found = vec![true; 7];
    filter.contains_hashes(&probes, &mut found);
    assert!(found[..inserted.len()].iter().all(|&found| found), "what was inserted is found");
    let singly: Vec<bool> = probes.iter().map(|&hash| filter.contains_hash(hash)).collect();
    assert_eq!(found, singly);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bloom_obeys_the_laws(streams in streams(), size in sizes()) {
        laws_of_sets(|| bloom(size), &streams);
    }

    #[test]
    fn blocked_bloom_obeys_the_laws(streams in streams(), blocks in prop_oneof![1_u64..20, 100_u64..3_000]) {
        laws_of_sets(|| blocked(blocks), &streams);
    }

    #[test]
    fn batches_of_questions_equal_single_questions((a, b, _) in streams(), size in sizes(), blocks in 1_u64..500) {
        batches_find_what_single_questions_find(&sketch_of(bloom(size), &[&a]), &a, &b);
        batches_find_what_single_questions_find(&sketch_of(blocked(blocks), &[&a]), &a, &b);
    }

    /// Inserting says `true` exactly if the key was not found before, and changes nothing
    /// otherwise.
    #[test]
    fn insertion_says_what_was_certainly_new((a, _, _) in streams(), size in sizes(), blocks in 1_u64..500) {
        let (mut bloom, mut blocked) = (bloom(size), blocked(blocks));
        for &hash in a.iter().take(300) {
            let (was_there, before) = (bloom.contains_hash(hash), bloom.clone());
            prop_assert_eq!(bloom.insert_hash(hash), !was_there);
            prop_assert_eq!(bloom == before, was_there);
            let was_there = blocked.contains_hash(hash);
            prop_assert_eq!(blocked.insert_hash(hash), !was_there);
        }
    }

    /// The AND of two filters holds what both sets hold, and no bit that not both filters have.
    #[test]
    fn intersection_holds_what_is_shared((a, b, c) in streams(), size in sizes(), blocks in 1_u64..500) {
        let (x, y) = (sketch_of(bloom(size), &[&a, &c]), sketch_of(bloom(size), &[&b, &c]));
        let both = x.shared_cells(&y).unwrap();
        prop_assert!(c.iter().all(|&hash| both.contains_hash(hash)));
        prop_assert_eq!(&merged(&both, &x), &x);
        prop_assert_eq!(&merged(&both, &y), &y);
        prop_assert!(both.false_positive_rate() <= x.false_positive_rate().min(y.false_positive_rate()));

        let (x, y) = (sketch_of(blocked(blocks), &[&a, &c]), sketch_of(blocked(blocks), &[&b, &c]));
        let both = x.shared_cells(&y).unwrap();
        prop_assert!(c.iter().all(|&hash| both.contains_hash(hash)));
        prop_assert_eq!(&merged(&both, &x), &x);
    }

    /// A counting filter of the same size uses the cells that a Bloom filter sets.
    #[test]
    fn bloom_and_counting_bloom_choose_the_same_cells((a, b, _) in streams(), size in sizes()) {
        let (cells, hashes) = (size.0.min(60_000), size.1);
        let counting = CountingBloom::with_scheme(cells, hashes, CounterBits::Four, SCHEME).unwrap();
        let (bloom, counting) = (sketch_of(bloom((cells, hashes)), &[&a]), sketch_of(counting, &[&a]));
        prop_assert_eq!(bloom.fill(), counting.fill());
        prop_assert!(b.iter().all(|&hash| bloom.contains_hash(hash) == counting.contains_hash(hash)));
    }
}

#[test]
fn filters_of_different_schemes_refuse_each_other() {
    different_schemes_refuse_each_other(|scheme| Bloom::with_scheme(100, 3, scheme).unwrap());
    different_schemes_refuse_each_other(|scheme| BlockedBloom::with_scheme(3, scheme).unwrap());
}

#[test]
fn filters_of_different_sizes_refuse_each_other() {
    let refused = |a: &Bloom, b: &Bloom| {
        let mut both = a.clone();
        let error = both.merge(b).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Incompatible);
        assert_eq!(both.shared_cells(b).unwrap_err(), error);
        assert_eq!(both.shared_items(b).unwrap_err(), error);
        assert_eq!(&both, a, "a refusal changes nothing");
        (error.field(), error.expected().to_owned(), error.found().to_owned())
    };
    let texts = |field, expected: &str, found: &str| (field, expected.to_owned(), found.to_owned());
    assert_eq!(refused(&bloom((100, 3)), &bloom((101, 3))), texts("bits", "100", "101"));
    assert_eq!(refused(&bloom((100, 3)), &bloom((100, 4))), texts("hashes", "3", "4"));
    let sized = Bloom::for_items_with_scheme(1_000_000, 0.01, SCHEME).unwrap();
    let error = sized.clone().merge(&bloom((9_592_955, 7))).unwrap_err();
    assert_eq!((error.field(), error.expected(), error.found()), ("capacity", "1000000", "949904"));

    let error = blocked(7).merge(&blocked(8)).unwrap_err();
    assert_eq!((error.field(), error.expected(), error.found()), ("blocks", "7", "8"));
}
