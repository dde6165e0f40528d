//! A fair sample: reservoirs beside those of rand.

use std::hint::black_box;

use crivo::keys::{KeyBatch, KeyRef, KeyScheme};
use crivo::sampling::{Reservoir, WeightedReservoir};
use rand::seq::IteratorRandom;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use crate::measure::{Contender, nanoseconds_each};
use crate::report::Page;

const ITEMS: u64 = 100_000_000;
const CAPACITY: u64 = 1_000;
const BATCH: usize = KeyBatch::TARGET_LEN;
const SCHEME: KeyScheme = KeyScheme::hashes();

pub fn run() -> Page {
    let mut page = Page::new(
        "A fair sample: reservoirs",
        "A thousand of a hundred million 64-bit items. crivo's reservoir is a sketch: it stores its state, goes on \
         and merges; rand's draws a random number for each item. A batch is 1,024 items that lie in memory \
         already, the same ones each time; nearly all of them are passed over without a look. Where crivo is \
         slower: by weight, where every weight has to be subtracted in order so that batches give the same \
         bytes as single items, and is checked; rand takes a slice whose length it knows.",
    );
    many(&mut page);
    one(&mut page);
    weighted(&mut page);
    page
}

fn reservoir(capacity: u64, seed: u64) -> Reservoir {
    Reservoir::with_scheme(capacity, SCHEME, seed).expect("a capacity above 0")
}

fn one_by_one(capacity: u64, items: u64) {
    let mut sample = reservoir(capacity, 7);
    for item in 0..items {
        sample.insert_ref(KeyRef::Hash(item)).expect("a hash");
    }
    black_box(&sample);
}

fn in_batches(capacity: u64, items: u64) {
    let batch: Vec<u64> = (0..BATCH as u64).collect();
    let mut sample = reservoir(capacity, 7);
    for _ in 0..items / BATCH as u64 {
        let batch = KeyBatch::from_hashes(SCHEME, black_box(&batch)).expect("a scheme of hashes");
        sample.insert_batch(&batch).expect("the same scheme");
    }
    black_box(&sample);
}

fn many(page: &mut Page) {
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, one by one", Box::new(|| one_by_one(CAPACITY, ITEMS))),
        ("crivo, batches of 1,024", Box::new(|| in_batches(CAPACITY, ITEMS))),
        (
            "rand, IteratorRandom::sample",
            Box::new(|| {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
                black_box((0..ITEMS).sample(&mut random, CAPACITY as usize));
            }),
        ),
    ];
    page.add(
        "A thousand of a hundred million",
        "ns an item",
        nanoseconds_each(ITEMS as usize, &mut contenders),
    );
}

fn one(page: &mut Page) {
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, one by one", Box::new(|| one_by_one(1, ITEMS))),
        ("crivo, batches of 1,024", Box::new(|| in_batches(1, ITEMS))),
        (
            "rand, IteratorRandom::choose_stable of a filtered iterator",
            Box::new(|| {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
                black_box((0..ITEMS).filter(|item| *black_box(item) < ITEMS).choose_stable(&mut random));
            }),
        ),
    ];
    page.add(
        "One of a hundred million, their number unknown",
        "ns an item",
        nanoseconds_each(ITEMS as usize, &mut contenders),
    );
}

/// rand's weighted sample takes a slice and its length; a tenth of the items, because all of them
/// are in memory.
fn weighted(page: &mut Page) {
    const WEIGHTED: u64 = ITEMS / 10;
    let weights: &Vec<f64> = &(0..WEIGHTED).map(|item| 1.0 + (item % 100) as f64).collect();
    let items: &Vec<u64> = &(0..WEIGHTED).collect();
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one",
            Box::new(move || {
                let mut sample = weighted_reservoir();
                for (&item, &weight) in items.iter().zip(weights) {
                    sample.insert_ref(KeyRef::Hash(item), weight).expect("a weight");
                }
                black_box(&sample);
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(move || {
                let mut sample = weighted_reservoir();
                for (items, weights) in items.chunks(BATCH).zip(weights.chunks(BATCH)) {
                    let batch = KeyBatch::from_hashes(SCHEME, items).expect("a scheme of hashes");
                    sample.insert_batch(&batch, weights).expect("weights");
                }
                black_box(&sample);
            }),
        ),
        (
            "rand, sample_weighted",
            Box::new(move || {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
                let weight = |index: usize| weights[index];
                let chosen =
                    rand::seq::index::sample_weighted(&mut random, items.len(), weight, CAPACITY as usize);
                black_box(chosen.expect("weights"));
            }),
        ),
    ];
    page.add(
        "A thousand of ten million, by weight",
        "ns an item",
        nanoseconds_each(WEIGHTED as usize, &mut contenders),
    );
}

fn weighted_reservoir() -> WeightedReservoir {
    WeightedReservoir::with_scheme(CAPACITY, SCHEME, 7).expect("a capacity above 0")
}
