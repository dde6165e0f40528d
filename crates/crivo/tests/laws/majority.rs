//! The laws of Majority. Its candidate depends on the order of the votes; `accuracy/majority.rs`
//! holds it to the guarantee.

use crivo::ErrorKind;
use crivo::frequency::{Hitter, Majority};
use crivo::keys::{KeyBatch, KeyRef, KeyScheme};
use proptest::prelude::*;

use super::merged;

const HASHES: KeyScheme = KeyScheme::hashes().with_seed(3);

fn votes(votes: &[(u64, u64)]) -> Majority {
    let mut sketch = Majority::with_scheme(HASHES);
    votes.iter().for_each(|&(key, weight)| sketch.add_ref(KeyRef::Hash(key), weight).unwrap());
    sketch
}

/// Votes for few keys, with small weights, so that ties are common.
fn stream() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..4_u64, 0..4_u64), 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_commutes_and_no_votes_change_nothing(a in stream(), b in stream()) {
        let (x, y) = (votes(&a), votes(&b));
        prop_assert_eq!(merged(&x, &y).encode(), merged(&y, &x).encode());
        prop_assert_eq!(&merged(&x, &votes(&[])), &x);
        prop_assert_eq!(&merged(&votes(&[]), &x), &x);
    }

    #[test]
    fn a_vote_is_the_merge_with_a_sketch_of_that_vote(a in stream(), key in 0..4_u64, weight in 0..40_u64) {
        let mut voted = votes(&a);
        voted.add_ref(KeyRef::Hash(key), weight).unwrap();
        prop_assert_eq!(&voted, &merged(&votes(&a), &votes(&[(key, weight)])));
        let mut repeated = votes(&a);
        (0..weight).for_each(|_| repeated.add_ref(KeyRef::Hash(key), 1).unwrap());
        prop_assert_eq!(voted.candidate().map(Hitter::into_key),
            repeated.candidate().map(Hitter::into_key), "a weight is as many votes");
    }

    #[test]
    fn batches_equal_single_votes(a in stream()) {
        let (keys, weights): (Vec<u64>, Vec<u64>) = a.iter().copied().unzip();
        let batch = KeyBatch::from_hashes(HASHES, &keys).unwrap();
        let mut batched = Majority::with_scheme(HASHES);
        batched.insert_batch(&batch).unwrap();
        prop_assert_eq!(&batched, &votes(&keys.iter().map(|&key| (key, 1)).collect::<Vec<_>>()));
        let mut weighted = Majority::with_scheme(HASHES);
        weighted.add_batch(&batch, &weights).unwrap();
        prop_assert_eq!(&weighted, &votes(&a));
        prop_assert_eq!(Majority::decode(&weighted.encode()), Ok(weighted));
    }
}

#[test]
fn majorities_of_different_schemes_refuse_each_other() {
    let mut sketch = Majority::with_scheme(KeyScheme::bytes().with_seed(1));
    sketch.insert("ana").unwrap();
    let before = sketch.clone();
    for (scheme, field, found) in [
        (KeyScheme::bytes().with_seed(2), "seed", "2"),
        (KeyScheme::integers().with_seed(1), "key kind", "integer"),
        (KeyScheme::hashes().with_seed(1), "key kind", "hash"),
    ] {
        let error = sketch.merge(&Majority::with_scheme(scheme)).unwrap_err();
        assert_eq!((error.kind(), error.field(), error.found()), (ErrorKind::Incompatible, field, found));
        assert_eq!(sketch, before, "a refused merge changes nothing");
    }
}

/// A tie leaves nothing behind: the sketch in memory is the one that its bytes give.
#[test]
fn stored_ties_are_the_ties_in_memory() {
    for stream in [&[(1, 2), (2, 2)][..], &[(1, 3), (2, 1), (3, 2)], &[(1, 1), (2, 1), (3, 1), (4, 1)]] {
        let tie = votes(stream);
        assert_eq!((tie.candidate(), &Majority::decode(&tie.encode()).unwrap()), (None, &tie));
    }
}
