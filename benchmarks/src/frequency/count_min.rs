//! How often: Count-Min beside the one of Apache DataSketches.

use std::hint::black_box;

use crivo::frequency::CountMin;
use crivo::keys::{KeyBatch, KeyBuffer, KeyScheme};
use datasketches::countmin::CountMinSketch;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::measure::{Contender, nanoseconds_each};
use crate::report::Page;

const ITEMS: usize = 1_000_000;
const BATCH: usize = KeyBatch::TARGET_LEN;
const DEPTH: u32 = 4;
const SMALL: u32 = 4096;
const LARGE: u32 = 1 << 20;

type Peer = CountMinSketch<u64>;

fn crivo(width: u32, scheme: KeyScheme) -> CountMin {
    CountMin::with_scheme(width, DEPTH, scheme).expect("a valid size")
}

fn conservative(width: u32, scheme: KeyScheme) -> CountMin {
    CountMin::conservative_with_scheme(width, DEPTH, scheme).expect("a valid size")
}

fn datasketches(width: u32) -> Peer {
    Peer::new(DEPTH as u8, width).expect("a valid size")
}

fn random_integers(seed: u64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..ITEMS).map(|_| random.next_u64()).collect()
}

pub fn run() -> Page {
    let mut page = Page::new(
        "How often: Count-Min",
        "Tables of 4,096 and of 2^20 columns by 4 rows, a million random keys. datasketches takes no hashes: \
         in the rows that give one it takes the same numbers as u64 keys, which it hashes once a row. Its \
         `lower_bound` is its estimate, which is above the truth for every key that met another; crivo's \
         bounds are tested against the truth. Where crivo falls short of twice the peer: asked one by one \
         from keys, where the answer, an interval or an error, is written to memory for each key; batches \
         have no such cost.",
    );
    for width in [SMALL, LARGE] {
        update_with_hashes(&mut page, width);
        update_with_integers(&mut page, width);
        query_hashes(&mut page, width);
        query_integers(&mut page, width);
    }
    error(&mut page);
    page
}

fn size_of_table(width: u32) -> &'static str {
    if width == SMALL { "4,096 × 4 (128 KiB)" } else { "2^20 × 4 (32 MiB)" }
}

/// Tables are made before and filled further each round: what is measured is counting alone.
fn update_with_hashes(page: &mut Page, width: u32) {
    let hashes = &random_integers(1);
    let (mut single, mut batched) = (crivo(width, KeyScheme::hashes()), crivo(width, KeyScheme::hashes()));
    let (mut careful, mut peer) = (conservative(width, KeyScheme::hashes()), datasketches(width));
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one",
            Box::new(|| {
                hashes.iter().for_each(|&hash| single.insert_hash(hash));
                black_box(&single);
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(|| {
                hashes.chunks(BATCH).for_each(|batch| batched.insert_hashes(batch));
                black_box(&batched);
            }),
        ),
        (
            "crivo, conservative, batches of 1,024",
            Box::new(|| {
                hashes.chunks(BATCH).for_each(|batch| careful.insert_hashes(batch));
                black_box(&careful);
            }),
        ),
        (
            "datasketches, from u64 (murmur3)",
            Box::new(|| {
                hashes.iter().for_each(|&hash| peer.update(hash));
                black_box(&peer);
            }),
        ),
    ];
    let job = format!("Update with a million hashes, {}", size_of_table(width));
    page.add(job, "ns an update", nanoseconds_each(ITEMS, &mut contenders));
}

fn update_with_integers(page: &mut Page, width: u32) {
    let keys = &random_integers(2);
    let (mut single, mut batched) =
        (crivo(width, KeyScheme::integers()), crivo(width, KeyScheme::integers()));
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    let mut peer = datasketches(width);
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one",
            Box::new(|| {
                for key in keys {
                    single.insert(key).expect("an integer key");
                }
                black_box(&single);
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(|| {
                for batch in keys.chunks(BATCH) {
                    let batch = buffer.hash_integers(batch).expect("integer keys");
                    batched.insert_batch(&batch).expect("the same scheme");
                }
                black_box(&batched);
            }),
        ),
        (
            "datasketches (murmur3)",
            Box::new(|| {
                keys.iter().for_each(|&key| peer.update(key));
                black_box(&peer);
            }),
        ),
    ];
    let job = format!("Update with a million u64 keys, {}", size_of_table(width));
    page.add(job, "ns an update", nanoseconds_each(ITEMS, &mut contenders));
}

fn query_hashes(page: &mut Page, width: u32) {
    let hashes = &random_integers(3);
    let mut ours = crivo(width, KeyScheme::hashes());
    ours.insert_hashes(hashes);
    let mut peer = datasketches(width);
    hashes.iter().for_each(|&hash| peer.update(hash));
    let mut counts = Vec::new();
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one, with bounds",
            Box::new(|| {
                let sum: f64 = hashes.iter().map(|&hash| ours.frequency_of_hash(hash).lower()).sum();
                black_box(sum);
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(|| {
                for batch in hashes.chunks(BATCH) {
                    ours.frequencies_of_hashes(batch, &mut counts);
                    black_box(&counts);
                }
            }),
        ),
        (
            "datasketches, from u64 (murmur3)",
            Box::new(|| {
                let sum = hashes.iter().fold(0_u64, |sum, &hash| sum.wrapping_add(peer.estimate(hash)));
                black_box(sum);
            }),
        ),
    ];
    let job = format!("Ask for a million hashes, {}", size_of_table(width));
    page.add(job, "ns a query", nanoseconds_each(ITEMS, &mut contenders));
}

fn query_integers(page: &mut Page, width: u32) {
    let keys = &random_integers(4);
    let mut ours = crivo(width, KeyScheme::integers());
    let mut buffer = KeyBuffer::new(KeyScheme::integers());
    ours.insert_batch(&buffer.hash_integers(keys).expect("integer keys")).expect("the same scheme");
    let mut peer = datasketches(width);
    keys.iter().for_each(|&key| peer.update(key));
    let mut counts = Vec::new();
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one, with bounds",
            Box::new(|| {
                let lower = |key| ours.frequency(key).expect("an integer key").lower();
                black_box(keys.iter().map(lower).sum::<f64>());
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(|| {
                for batch in keys.chunks(BATCH) {
                    let batch = buffer.hash_integers(batch).expect("integer keys");
                    ours.frequencies(&batch, &mut counts).expect("the same scheme");
                    black_box(&counts);
                }
            }),
        ),
        (
            "datasketches (murmur3)",
            Box::new(|| {
                let sum = keys.iter().fold(0_u64, |sum, &key| sum.wrapping_add(peer.estimate(key)));
                black_box(sum);
            }),
        ),
    ];
    let job = format!("Ask for a million u64 keys, {}", size_of_table(width));
    page.add(job, "ns a query", nanoseconds_each(ITEMS, &mut contenders));
}

/// By how much answers are too large on average, over the different keys of a skewed stream.
fn error(page: &mut Page) {
    const KEYS: usize = 100_000;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut cumulated: Vec<f64> = (1..=KEYS).map(|rank| (rank as f64).powf(-1.1)).collect();
    for rank in 1..KEYS {
        cumulated[rank] += cumulated[rank - 1];
    }
    let stream: Vec<u64> = (0..ITEMS)
        .map(|_| {
            let share = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            cumulated.partition_point(|&sum| sum < share * cumulated[KEYS - 1]) as u64
        })
        .collect();
    let mut truth = vec![0_u64; KEYS + 1];
    stream.iter().for_each(|&key| truth[key as usize] += 1);

    let mut plain = crivo(SMALL, KeyScheme::integers());
    let mut careful = conservative(SMALL, KeyScheme::integers());
    let mut peer = datasketches(SMALL);
    for key in &stream {
        plain.insert(key).expect("an integer key");
        careful.insert(key).expect("an integer key");
        peer.update(*key);
    }
    let mean = |answer: &dyn Fn(u64) -> f64| {
        let came = truth.iter().enumerate().filter(|(_, count)| **count > 0);
        let (sum, keys) = came.fold((0.0, 0.0), |(sum, keys), (key, &count)| {
            (sum + answer(key as u64) - count as f64, keys + 1.0)
        });
        sum / keys
    };
    let figures = vec![
        ("crivo, plain", mean(&|key| plain.frequency(&key).expect("an integer key").value())),
        ("crivo, conservative", mean(&|key| careful.frequency(&key).expect("an integer key").value())),
        ("datasketches", mean(&|key| peer.estimate(key) as f64)),
    ];
    page.add("Mean error, Zipf 1.1 over 100,000 keys, 4,096 × 4", "too many", figures);
}
