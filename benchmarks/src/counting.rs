//! How many events: an array of small counters beside a map of exact ones.

use std::hint::black_box;

use crivo::counting::{CounterArray, MorrisCounter, SampledCounter};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::measure::{Contender, nanoseconds_each};
use crate::report::Page;

const KEYS: u64 = 10_000_000;
const EVENTS: usize = 20_000_000;
const BATCH: usize = 1024;

type Map = HashMap<u64, u64, FixedState>;

fn array(bits: u8) -> CounterArray {
    CounterArray::for_reach(KEYS, if bits == 4 { 1e4 } else { 1e10 }, bits, 7).expect("valid parameters")
}

/// Uniform: the worst case for every cache.
fn indexes() -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    (0..EVENTS).map(|_| random.next_u64() % KEYS).collect()
}

pub fn run() -> Page {
    let mut page = Page::new(
        "How many events: arrays of small counters",
        "Twenty million events of ten million keys, uniformly at random. The map is made as large as it will be \
         before it is filled, which is more than most programs know. The exact array needs keys that are \
         numbered 0, 1, 2, …, as CounterArray does. CounterArray is off by 20 % a counter at 8 bits (reach \
         10^10), 1.1 % at 16, and 64 % at 4 (reach 10^4); the others are exact.",
    );
    increments(&mut page);
    memory(&mut page);
    one_counter(&mut page);
    page
}

fn increments(page: &mut Page) {
    let indexes = &indexes();
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, 8 bits, one by one",
            Box::new(move || {
                let mut array = array(8);
                indexes.iter().for_each(|&index| array.increment(index).expect("an index of the array"));
                black_box(&array);
            }),
        ),
        ("crivo, 8 bits, batches of 1,024", Box::new(move || count_batches(array(8), indexes))),
        ("crivo, 4 bits, batches of 1,024", Box::new(move || count_batches(array(4), indexes))),
        ("crivo, 16 bits, batches of 1,024", Box::new(move || count_batches(array(16), indexes))),
        (
            "hashbrown map of u64 + foldhash, exact",
            Box::new(move || {
                let mut map = Map::with_capacity_and_hasher(KEYS as usize, FixedState::default());
                indexes.iter().for_each(|&index| *map.entry(index).or_default() += 1);
                black_box(&map);
            }),
        ),
        (
            "Vec of u64, exact",
            Box::new(move || {
                let mut counts = vec![0_u64; KEYS as usize];
                indexes.iter().for_each(|&index| counts[index as usize] += 1);
                black_box(&counts);
            }),
        ),
    ];
    page.add("Count twenty million events", "ns an event", nanoseconds_each(EVENTS, &mut contenders));
}

fn count_batches(mut array: CounterArray, indexes: &[u64]) {
    for batch in indexes.chunks(BATCH) {
        array.increment_batch(batch).expect("indexes of the array");
    }
    black_box(&array);
}

fn memory(page: &mut Page) {
    let mut map = Map::default();
    indexes().iter().for_each(|&index| *map.entry(index).or_default() += 1);
    let figures = vec![
        ("crivo, 8 bits", array(8).memory() as f64),
        ("crivo, 4 bits", array(4).memory() as f64),
        ("crivo, 16 bits", array(16).memory() as f64),
        ("hashbrown map of u64, exact", (map.allocation_size() + size_of::<Map>()) as f64),
        ("Vec of u64, exact", (KEYS as usize * size_of::<u64>()) as f64),
    ];
    page.add("Memory for ten million keys", "bytes", figures);
}

fn one_counter(page: &mut Page) {
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, SampledCounter of 1/64, one by one",
            Box::new(|| {
                let mut counter = SampledCounter::new(1.0 / 64.0, 7).expect("a valid probability");
                (0..EVENTS).for_each(|_| black_box(&mut counter).increment());
            }),
        ),
        (
            "crivo, MorrisCounter of 8 bits, one by one",
            Box::new(|| {
                let mut counter = MorrisCounter::for_reach(1e10, 8, 7).expect("a valid reach");
                (0..EVENTS).for_each(|_| black_box(&mut counter).increment());
            }),
        ),
        (
            "u64, exact",
            Box::new(|| {
                let mut counter = 0_u64;
                (0..EVENTS).for_each(|_| *black_box(&mut counter) += 1);
            }),
        ),
    ];
    page.add("One counter, twenty million events", "ns an event", nanoseconds_each(EVENTS, &mut contenders));
}
