//! An index of sets against comparing all of them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

#[path = "support/mod.rs"]
mod support;

use std::collections::{BTreeMap, BTreeSet};

use crivo::ErrorKind;
use crivo::keys::KeyScheme;
use crivo::similarity::{Bands, LshIndex, MinHash};

use support::{Random, generator};

const K: u32 = 64;

fn sketch(elements: &[u64]) -> MinHash {
    let mut sketch = MinHash::with_scheme(K, KeyScheme::hashes()).unwrap();
    sketch.insert_hashes(elements);
    sketch
}

fn empty_index(bands: Bands) -> LshIndex {
    LshIndex::with_scheme(K, bands, KeyScheme::hashes()).unwrap()
}

/// Families of sets that share most of their elements, and loners.
fn sets(count: usize, random: &mut Random) -> BTreeMap<u64, MinHash> {
    let mut sets = BTreeMap::new();
    while sets.len() < count {
        let family: Vec<u64> = (0..5 + random.below(100)).map(|_| random.bits()).collect();
        let changes = random.below(10);
        for _ in 0..=random.below(6) {
            let mut member = family.clone();
            for _ in 0..changes {
                let at = random.below(member.len());
                member[at] = random.bits();
            }
            sets.insert(random.bits() >> random.below(60), sketch(&member));
        }
    }
    sets
}

/// Whether two signatures are equal in all rows of a band.
fn meet(bands: Bands, a: &MinHash, b: &MinHash) -> bool {
    let rows = bands.rows() as usize;
    a.slots()
        .chunks_exact(rows)
        .zip(b.slots().chunks_exact(rows))
        .take(bands.bands() as usize)
        .any(|(a, b)| a == b)
}

/// The share of equal slots in sixteen bits each, as the index keeps them.
fn equal_share(a: &MinHash, b: &MinHash) -> f64 {
    let short = |slot: &u64| slot.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48;
    let equal = a.slots().iter().zip(b.slots()).filter(|(a, b)| short(a) == short(b)).count();
    equal as f64 / f64::from(K)
}

fn all_pairs(bands: Bands, sets: &BTreeMap<u64, MinHash>) -> Vec<(u64, u64)> {
    let mut pairs = Vec::new();
    for (&id, set) in sets {
        pairs.extend(
            sets.range(id + 1..).filter(|(_, other)| meet(bands, set, other)).map(|(&other, _)| (id, other)),
        );
    }
    pairs
}

/// Everything that the index answers, against all comparisons.
fn check(index: &LshIndex, sets: &BTreeMap<u64, MinHash>, asked: &[MinHash]) {
    let bands = index.bands();
    let expected = all_pairs(bands, sets);
    assert!(index.candidates() == expected);
    assert_eq!(index.len(), sets.len());
    for threshold in [0.3, 0.7, 1.0] {
        let similars = index.similars(threshold).unwrap();
        let found: Vec<_> = similars.iter().map(|pair| (pair.ids(), pair.similarity())).collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|&(a, b)| ((a, b), equal_share(&sets[&a], &sets[&b])))
            .filter(|&(_, similarity)| similarity >= threshold)
            .collect();
        assert!(found == expected, "at {threshold}");
    }
    for asked in asked.iter().chain(sets.values().take(20)) {
        let near: Vec<u64> =
            sets.iter().filter(|(_, set)| meet(bands, set, asked)).map(|(&id, _)| id).collect();
        assert_eq!(index.candidates_to(asked).unwrap(), near);
        let similars = index.similars_to(asked, 0.5).unwrap();
        let expected: Vec<u64> = near.into_iter().filter(|id| equal_share(&sets[id], asked) >= 0.5).collect();
        assert_eq!(similars.iter().map(|similar| similar.id()).collect::<Vec<_>>(), expected);
        for similar in similars {
            let estimate = similar.estimate();
            assert_eq!(estimate.value(), equal_share(&sets[&similar.id()], asked));
            assert!(estimate.lower() < estimate.value() && estimate.value() <= estimate.upper());
        }
    }
}

#[test]
fn answers_are_those_of_comparing_all() {
    let mut random = generator("lsh index");
    for (bands, rows) in [(64, 1), (16, 4), (10, 6), (1, 64), (3, 2)] {
        let bands = Bands::new(bands, rows).unwrap();
        let mut sets = sets(300, &mut random);
        let asked: Vec<MinHash> = self::sets(10, &mut random).into_values().collect();
        let mut index = empty_index(bands).with_all_pairs_up_to(usize::MAX);
        sets.iter().for_each(|(&id, set)| index.insert(id, set).unwrap());
        check(&index, &sets, &asked);

        // Many removals, among them enough to clean up, and some that come back.
        let leaving: Vec<u64> = sets.keys().copied().filter(|_| random.below(4) > 0).collect();
        for id in leaving {
            let set = sets.remove(&id).unwrap();
            assert!(index.remove(id) && !index.remove(id) && !index.contains(id));
            if random.below(5) == 0 {
                index.insert(id, &set).unwrap();
                sets.insert(id, set);
            }
        }
        check(&index, &sets, &asked);
        sets.keys().for_each(|&id| assert!(index.remove(id)));
        assert!(index.is_empty() && index.candidates().is_empty());
    }
}

#[test]
fn the_order_of_insertion_changes_no_answer() {
    let mut random = generator("lsh order");
    let sets = sets(200, &mut random);
    let bands = Bands::new(16, 4).unwrap();
    let (mut forth, mut back) = (empty_index(bands), empty_index(bands));
    sets.iter().for_each(|(&id, set)| forth.insert(id, set).unwrap());
    sets.iter().rev().for_each(|(&id, set)| back.insert(id, set).unwrap());
    assert_eq!(forth.candidates(), back.candidates());
    assert_eq!(forth.similars(0.4), back.similars(0.4));
    for set in sets.values().take(30) {
        assert_eq!(forth.similars_to(set, 0.2), back.similars_to(set, 0.2));
    }
}

/// Up to the limit all pairs, beyond it a star, and never the square of the crowd.
#[test]
fn a_crowd_is_a_star_around_its_smallest_id() {
    let set = sketch(&[1, 2, 3]);
    let mut index = empty_index(Bands::new(16, 4).unwrap());
    let limit = LshIndex::ALL_PAIRS_UP_TO as u64;
    (1..=limit).rev().for_each(|id| index.insert(id, &set).unwrap());
    assert_eq!(index.candidates().len() as u64, limit * (limit - 1) / 2);
    index.insert(limit + 1, &set).unwrap();
    assert_eq!(index.candidates(), (2..=limit + 1).map(|other| (1, other)).collect::<Vec<_>>());
    for id in limit + 2..=200_000 {
        index.insert(id, &set).unwrap();
    }
    let pairs = index.similars(1.0).unwrap();
    assert_eq!(pairs.len(), 199_999);
    assert!(pairs.iter().zip(2..).all(|(pair, other)| pair.ids() == (1, other)));
    assert_eq!(index.candidates_to(&set).unwrap().len(), 200_000);
    // Removing them one by one must not walk through the crowd each time.
    (1..=199_990).for_each(|id| assert!(index.remove(id)));
    assert_eq!(index.candidates().len(), 45);
    assert!(index.memory() < 200_000, "{} bytes for ten sets", index.memory());
}

/// A hundred thousand sets of 128 slots in 16 bands of 8.
#[test]
fn a_hundred_thousand_sets_take_less_than_60_megabytes() {
    let mut random = generator("lsh memory");
    let scheme = KeyScheme::hashes();
    let mut index = LshIndex::with_scheme(128, Bands::new(16, 8).unwrap(), scheme).unwrap();
    for id in 0..100_000 {
        let mut set = MinHash::with_scheme(128, scheme).unwrap();
        let elements: [u64; 20] = std::array::from_fn(|_| random.bits());
        set.insert_hashes(&elements);
        index.insert(id, &set).unwrap();
    }
    assert!(index.memory() < 60_000_000, "{}", index.memory());
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let mut index = empty_index(Bands::new(16, 4).unwrap());
    let set = sketch(&[1, 2, 3]);
    index.insert(5, &set).unwrap();
    let error = index.insert(5, &set).unwrap_err();
    assert_eq!((error.kind(), error.field(), error.found()), (ErrorKind::InvalidParameter, "id", "5"));
    let error = index.insert(6, &sketch(&[])).unwrap_err();
    assert_eq!(
        (error.kind(), error.field(), error.found()),
        (ErrorKind::Incompatible, "set", "an empty set")
    );
    let larger = MinHash::with_scheme(K + 1, KeyScheme::hashes()).unwrap();
    assert_eq!(index.insert(6, &larger).unwrap_err().field(), "k");
    assert_eq!(index.candidates_to(&larger).unwrap_err().field(), "k");
    assert_eq!(index.insert(6, &MinHash::new(K).unwrap()).unwrap_err().field(), "key kind");
    assert_eq!((index.len(), index.candidates_to(&sketch(&[])).unwrap()), (1, vec![]));
    for threshold in [0.0, -1.0, 1.1, f64::NAN] {
        assert_eq!(index.similars(threshold).unwrap_err().field(), "threshold");
        assert_eq!(index.similars_to(&set, threshold).unwrap_err().field(), "threshold");
    }
    let error = LshIndex::new(63, Bands::new(16, 4).unwrap()).unwrap_err();
    assert_eq!((error.field(), error.found()), ("bands", "16 × 4 = 64"));
    assert_eq!(LshIndex::new(0, Bands::new(1, 1).unwrap()).unwrap_err().field(), "k");
    assert_eq!(LshIndex::for_threshold(0.001, 128).unwrap_err().field(), "threshold");
}

#[test]
fn the_ids_of_a_query_are_each_there_once() {
    let mut random = generator("lsh once");
    let sets = sets(100, &mut random);
    let mut index = empty_index(Bands::new(64, 1).unwrap());
    sets.iter().for_each(|(&id, set)| index.insert(id, set).unwrap());
    for set in sets.values() {
        let found = index.candidates_to(set).unwrap();
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len());
        assert!(found.is_sorted());
    }
}
