//! The laws of Panes: what a ring holds is what came in the window, by an exact model; and rings
//! merge as their sketches.

use std::collections::{BTreeMap, BTreeSet};

use crivo::ErrorKind;
use crivo::codec::AnySketch;
use crivo::distinct::ExactDistinct;
use crivo::frequency::CountMin;
use crivo::keys::KeyScheme;
use crivo::sketch::{InsertHashes, Merge};
use crivo::window::{Pane, Panes};
use proptest::prelude::*;

use super::{merged, support::forge};

type Items = Vec<(i64, u64)>;

/// Times that wander forwards and sometimes back, also across 0, with hashes that repeat.
fn items() -> impl Strategy<Value = Items> {
    let steps = prop::collection::vec((-12_i64..15, any::<u64>().prop_map(|bits| bits & 0xFF)), 0..300);
    (steps, -300_i64..300).prop_map(|(steps, start)| {
        let mut time = start;
        steps
            .into_iter()
            .map(|(step, hash)| {
                time += step;
                (time, hash)
            })
            .collect()
    })
}

fn fill<S: Pane + InsertHashes>(mut ring: Panes<S>, items: &[(i64, u64)]) -> Panes<S> {
    for &(time, hash) in items {
        if let Some(pane) = ring.pane_mut(time, 1) {
            pane.insert_hash(hash);
        }
    }
    ring
}

fn exact(width: u64, panes: u32) -> Panes<ExactDistinct> {
    Panes::new(ExactDistinct::with_scheme(KeyScheme::hashes()), width, panes).unwrap()
}

fn counts(width: u64, panes: u32) -> Panes<CountMin> {
    Panes::new(CountMin::with_scheme(16, 2, KeyScheme::hashes()).unwrap(), width, panes).unwrap()
}

/// The same panes with the same contents; late items are counted by the order in which they came.
fn contents<S: Pane>(ring: &Panes<S>) -> (Option<i64>, BTreeMap<i64, &S>) {
    (
        ring.latest().map(|times| *times.start()),
        ring.panes().map(|(times, pane)| (*times.start(), pane)).collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// The model keeps every item; a window of it is compared with the ring's.
    #[test]
    fn a_window_holds_exactly_what_came_in_the_time_it_covers(
        items in items(), width in 1_u64..40, panes in 1_u32..9, ask in -50_i64..80,
    ) {
        let ring = fill(exact(width, panes), &items);
        let Some(latest) = items.iter().map(|item| item.0).max() else {
            prop_assert!(ring.is_empty() && ring.latest().is_none());
            return Ok(());
        };
        let now = latest + ask;
        let width = width as i64;
        let oldest = (latest.div_euclid(width) - i64::from(panes) + 1) * width;
        if now.div_euclid(width) * width < oldest {
            prop_assert_eq!(ring.covered(now).unwrap_err().field(), "now");
            prop_assert_eq!(ring.merged(now).unwrap_err().field(), "now");
            return Ok(());
        }
        let (from, to) = ring.covered(now).unwrap().into_inner();
        prop_assert!(to - now >= 0 && to - now < width, "the pane of now, whole");
        let reach = now - from;
        prop_assert!(reach < i64::from(panes) * width);
        prop_assert!(reach >= (i64::from(panes) - 1) * width || from == oldest, "all panes that are still kept");
        let expected: BTreeSet<u64> =
            items.iter().filter(|item| (from..=to).contains(&item.0)).map(|item| item.1).collect();
        let mut sketch = ExactDistinct::with_scheme(KeyScheme::hashes());
        expected.iter().for_each(|&hash| sketch.insert_hash(hash));
        prop_assert_eq!(ring.merged(now).unwrap(), sketch);

        // Items are late if the window had passed them when they came.
        let mut latest = i64::MIN;
        let late = items.iter().filter(|(time, _)| {
            latest = latest.max(time.div_euclid(width));
            time.div_euclid(width) < latest - i64::from(panes) + 1
        });
        prop_assert_eq!(ring.late(), late.count() as u64);
    }

    #[test]
    fn rings_merge_into_the_ring_of_the_joined_stream(
        (a, b, c) in (items(), items(), items()), width in 1_u64..40, panes in 1_u32..9,
    ) {
        let [x, y, z] = [&a, &b, &c].map(|items| fill(counts(width, panes), items));
        let (joined, both) = (fill(x.clone(), &b), merged(&x, &y));
        prop_assert_eq!(contents(&both), contents(&joined));
        prop_assert_eq!(both.late(), x.late() + y.late());
        prop_assert!(both == merged(&y, &x), "merge commutes");
        prop_assert_eq!(merged(&both, &z), merged(&x, &merged(&y, &z)), "merge associates");
        prop_assert!(merged(&x, &counts(width, panes)) == x, "an empty ring changes nothing");
        prop_assert!(Panes::decode(&both.encode()) == Ok(both), "decoding inverts encoding");

        // In another order nothing else is in the window, if nothing is late.
        let mut sorted = a.clone();
        sorted.sort_unstable();
        let sorted = fill(counts(width, panes), &sorted);
        prop_assert_eq!(contents(&sorted), contents(&x));
        if x.late() == 0 {
            prop_assert_eq!(sorted.encode(), x.encode());
        }
    }

    #[test]
    fn advancing_is_an_item_that_leaves_nothing(items in items(), width in 1_u64..40, ahead in -100_i64..400) {
        let ring = fill(exact(width, 5), &items);
        let now = items.last().map_or(0, |item| item.0) + ahead;
        let mut advanced = ring.clone();
        advanced.advance(now);
        match (ring.merged(now), advanced.merged(now)) {
            (Ok(before), Ok(after)) => prop_assert_eq!(before, after),
            (before, after) => prop_assert_eq!(before.is_err(), after.is_err()),
        }
        prop_assert_eq!(advanced.late(), ring.late());
        prop_assert!(contents(&advanced).0 >= contents(&ring).0);
    }
}

#[test]
fn rings_of_other_panes_or_sketches_refuse_each_other() {
    let mut ring = fill(counts(10, 4), &[(3, 1), (17, 2)]);
    let before = ring.clone();
    let wider = Panes::new(CountMin::with_scheme(17, 2, KeyScheme::hashes()).unwrap(), 10, 4).unwrap();
    let seeded = CountMin::with_scheme(16, 2, KeyScheme::hashes().with_seed(1)).unwrap();
    let seeded = Panes::new(seeded, 10, 4).unwrap();
    for (other, field, expected, found) in [
        (counts(11, 4), "pane width", "10", "11"),
        (counts(10, 5), "panes", "4", "5"),
        (wider, "width", "16", "17"),
        (seeded, "seed", "0", "1"),
    ] {
        let error = ring.merge(&other).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::Incompatible, field));
        assert_eq!((error.expected(), error.found()), (expected, found));
        assert_eq!(ring, before, "a refused merge changes nothing");
    }
}

/// Whatever can be stored can be in a ring, whose bytes are the same under any type.
#[test]
fn every_family_can_be_in_a_ring() {
    for bytes in forge::samples() {
        let sample = AnySketch::decode(&bytes).unwrap();
        let is_empty = sample.summary().items.value() == 0.0;
        match Panes::new(sample.clone(), 10, 3) {
            Ok(mut ring) => {
                assert!(is_empty, "{:?}", sample.family());
                let mut other = ring.clone();
                other.reseed(1);
                ring.pane_mut(5, 1).unwrap().merge(&sample).unwrap();
                other.pane_mut(25, 1).unwrap().merge(&sample).unwrap();
                ring.merge(&other).unwrap();
                let stored = AnySketch::decode(&ring.encode()).unwrap();
                assert_eq!(stored, AnySketch::from(ring.clone()));
                assert_eq!(stored.summary().items.value(), ring.merged(25).unwrap().summary().items.value());
            }
            Err(error) => {
                let family = sample.family();
                assert!(!is_empty || family.is_container() || family.is_finished(), "{error}");
            }
        }
    }
}
