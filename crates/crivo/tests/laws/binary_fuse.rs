//! The laws of the binary fuse filter: it is a function of the set of its keys, finds all of them,
//! and never grows.

use std::collections::BTreeSet;

use crivo::ErrorKind;
use crivo::codec::AnySketch;
use crivo::keys::{KeyBuffer, KeyScheme};
use crivo::membership::{BinaryFuse, Bloom, CombinedFilter};
use crivo::sketch::{ContainsHashes, Sketch as _};
use proptest::prelude::*;

fn filter_of(hashes: &[u64]) -> BinaryFuse {
    BinaryFuse::of_hashes(hashes, KeyScheme::hashes()).unwrap()
}

/// Hashes as they come from a hash function, and such that lie together or differ in a few bits
/// only.
fn hashes() -> impl Strategy<Value = Vec<u64>> {
    let length = 0..600_usize;
    prop_oneof![
        prop::collection::vec(any::<u64>(), length.clone()),
        prop::collection::vec(0..500_u64, length.clone()),
        (0..64_u32, prop::collection::vec(0..64_u64, length))
            .prop_map(|(shift, low)| low.into_iter().map(|low| low.rotate_right(shift)).collect()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn binary_fuse_is_a_function_of_the_set(hashes in hashes(), extra in prop::collection::vec(any::<u64>(), 200)) {
        let set: BTreeSet<u64> = hashes.iter().copied().collect();
        let filter = filter_of(&hashes);
        prop_assert_eq!(&filter_of(&set.iter().copied().collect::<Vec<_>>()), &filter, "repetitions count once");
        prop_assert_eq!(&filter_of(&hashes.iter().rev().copied().collect::<Vec<_>>()), &filter, "in any order");
        prop_assert_eq!(filter.items().value(), set.len() as f64);
        prop_assert!(filter.items().is_exact());
        prop_assert_eq!(filter.is_empty(), set.is_empty());
        prop_assert!(set.iter().all(|&hash| filter.contains_hash(hash)), "every member is found");
        prop_assert_eq!(BinaryFuse::decode(&filter.encode()), Ok(filter.clone()));

        let probes = [hashes, extra].concat();
        let mut found = vec![true; 3];
        filter.contains_hashes(&probes, &mut found);
        let one_by_one: Vec<bool> = probes.iter().map(|&hash| filter.contains_hash(hash)).collect();
        prop_assert_eq!(&found, &one_by_one, "many are answered as one by one");
        prop_assert!(!set.is_empty() || !found.contains(&true), "nothing is in the empty set");
    }
}

#[test]
fn binary_fuse_answers_keys_of_its_scheme_only() {
    let scheme = KeyScheme::integers().with_seed(3);
    let filter = BinaryFuse::of_keys_with_scheme(0..1_000_u64, scheme).unwrap();
    let keys: Vec<u64> = (0..3_000).collect();
    let mut buffer = KeyBuffer::new(scheme);
    let batch = buffer.hash_integers(&keys).unwrap();
    assert_eq!(BinaryFuse::of_hashes(&batch.hashes()[..1_000], scheme).unwrap(), filter);
    let mut found = Vec::new();
    filter.contains_batch(&batch, &mut found).unwrap();
    assert!(keys.iter().zip(&found).all(|(key, found)| filter.contains(key).unwrap() == *found));
    assert!(found[..1_000].iter().all(|found| *found));
    assert_eq!(filter.contains("7").unwrap_err().kind(), ErrorKind::Incompatible);
    let mut other = KeyBuffer::new(scheme.with_seed(4));
    let other = other.hash_integers(&keys).unwrap();
    assert_eq!(filter.contains_batch(&other, &mut found).unwrap_err().field(), "seed");
    assert_eq!(BinaryFuse::of_keys([1, 2]).unwrap_err().kind(), ErrorKind::Incompatible);
}

/// Everything that would change the set is refused with the reason, and changes nothing.
#[test]
fn binary_fuse_never_grows() {
    let filter = BinaryFuse::of_keys(["ana", "rui"]).unwrap();
    let bloom = Bloom::for_items(9, 0.01).unwrap();
    let mut any = AnySketch::from(filter.clone());
    let mut refusals = vec![
        filter.clone().merge(&filter).unwrap_err(),
        any.merge(&filter.clone().into()).unwrap_err(),
        any.membership().unwrap().intersection(&any).unwrap_err(),
        any.membership_mut().unwrap().insert_new(&[1], &mut Vec::new()).unwrap_err(),
    ];
    for refusal in &refusals {
        assert!(
            refusal.to_string().contains("a BinaryFuse, whose keys were placed together and are gone"),
            "{refusal}"
        );
    }
    refusals.extend([
        any.hashes_mut().err().unwrap(),
        any.keys_mut().err().unwrap(),
        any.membership_mut().unwrap().subtract(&filter.clone().into()).unwrap_err(),
        CombinedFilter::union(any.clone(), bloom.clone().into()).unwrap_err(),
        CombinedFilter::intersection(bloom.into(), any.clone()).unwrap_err(),
    ]);
    assert!(refusals.iter().all(|refusal| refusal.kind() == ErrorKind::Unsupported));
    assert_eq!(any, AnySketch::from(filter));
    assert!(any.takes_keys().is_none() && any.answers_membership().is_some());
}

/// The trait through which filters are combined answers as the filter does.
#[test]
fn binary_fuse_says_no_through_its_trait_too() {
    let filter = BinaryFuse::of_keys(["ana", "rui"]).unwrap();
    let hashes: Vec<u64> = (0..1000).collect();
    let one_by_one: Vec<bool> =
        hashes.iter().map(|&hash| ContainsHashes::contains_hash(&filter, hash)).collect();
    let mut together = Vec::new();
    ContainsHashes::contains_hashes(&filter, &hashes, &mut together);
    assert_eq!(one_by_one, together);
    assert!(one_by_one.iter().filter(|&&found| found).count() < 50);
}
