//! The k smallest hashes beside the Theta sketch of Apache DataSketches, which keeps the same.

use std::hint::black_box;

use crivo::distinct::KMinValues;
use crivo::keys::{KeyBatch, KeyBuffer, KeyScheme};
use datasketches::theta::{
    ThetaIntersection, ThetaJaccardSimilarity, ThetaSketch, ThetaSketchBuilder, ThetaUnionBuilder,
};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::measure::{Contender, nanoseconds_each};
use crate::report::Page;

const ITEMS: usize = 1_000_000;
const BATCH: usize = KeyBatch::TARGET_LEN;
const LG_K: u8 = 12;

fn crivo(scheme: KeyScheme) -> KMinValues {
    KMinValues::with_scheme(1 << LG_K, scheme).expect("a valid size")
}

fn theta() -> ThetaSketch {
    ThetaSketchBuilder::default().lg_k(LG_K).build().expect("a valid size")
}

fn theta_of(keys: &[u64]) -> ThetaSketch {
    let mut sketch = theta();
    keys.iter().for_each(|&key| sketch.update(key));
    sketch
}

fn crivo_of(keys: &[u64]) -> KMinValues {
    let mut sketch = crivo(KeyScheme::integers());
    keys.iter().for_each(|key| sketch.insert(key).expect("an integer key"));
    sketch
}

fn keys(seed: u64) -> Vec<u64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..ITEMS).map(|_| random.next_u64()).collect()
}

pub fn run() -> Page {
    let mut page = Page::new(
        "How many different, and how many in common: the k smallest hashes",
        "k = 4,096. datasketches takes keys only and hashes them with murmur3: in the row of hashes it does more \
         than crivo, in the rows of u64 keys as much. crivo answers from exactly the k smallest hashes, so that \
         equal sets give equal sketches, and with bounds, so its queries select and sum where the other reads a \
         running number.",
    );
    insert_hashes(&mut page);
    insert_integers(&mut page, "a million different u64 keys", &keys(2));
    let few: Vec<u64> = keys(3).iter().map(|key| key % 1_000).collect();
    insert_integers(&mut page, "a million u64 keys, 1,000 different", &few);
    insert_integers(&mut page, "20,000 different u64 keys", &keys(4)[..20_000]);
    estimate(&mut page);
    compare(&mut page);
    merge(&mut page);
    memory(&mut page);
    page
}

fn insert_hashes(page: &mut Page) {
    let hashes = &keys(1);
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one",
            Box::new(move || {
                let mut sketch = crivo(KeyScheme::hashes());
                hashes.iter().for_each(|&hash| sketch.insert_hash(hash));
                black_box(&sketch);
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(move || {
                let mut sketch = crivo(KeyScheme::hashes());
                hashes.chunks(BATCH).for_each(|batch| sketch.insert_hashes(batch));
                black_box(&sketch);
            }),
        ),
        ("datasketches Theta (murmur3)", Box::new(move || _ = black_box(theta_of(hashes)))),
    ];
    page.add("Insert a million different hashes", "ns an insert", nanoseconds_each(ITEMS, &mut contenders));
}

fn insert_integers(page: &mut Page, what: &str, keys: &[u64]) {
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, one by one", Box::new(move || _ = black_box(crivo_of(keys)))),
        (
            "crivo, batches of 1,024",
            Box::new(move || {
                let mut sketch = crivo(KeyScheme::integers());
                let mut buffer = KeyBuffer::new(KeyScheme::integers());
                for batch in keys.chunks(BATCH) {
                    let batch = buffer.hash_integers(batch).expect("integer keys");
                    sketch.insert_batch(&batch).expect("the same scheme");
                }
                black_box(&sketch);
            }),
        ),
        ("datasketches Theta (murmur3)", Box::new(move || _ = black_box(theta_of(keys)))),
    ];
    page.add(format!("Insert {what}"), "ns an insert", nanoseconds_each(keys.len(), &mut contenders));
}

fn estimate(page: &mut Page) {
    const QUERIES: usize = 1_000;
    let keys = keys(5);
    let (ours, theirs) = (crivo_of(&keys), theta_of(&keys));
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, value and bounds",
            Box::new(|| {
                for _ in 0..QUERIES {
                    black_box(black_box(&ours).estimate());
                }
            }),
        ),
        (
            "datasketches Theta, value",
            Box::new(|| {
                for _ in 0..QUERIES {
                    black_box(black_box(&theirs).estimate());
                }
            }),
        ),
    ];
    page.add("Estimate, a million inserted", "ns a query", nanoseconds_each(QUERIES, &mut contenders));
}

fn compare(page: &mut Page) {
    const QUERIES: usize = 200;
    let keys = keys(6);
    let (first, second) = (&keys[..700_000], &keys[300_000..]);
    let (a, b) = (crivo_of(first), crivo_of(second));
    let (c, d) = (theta_of(first), theta_of(second));
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, value and bounds",
            Box::new(|| {
                for _ in 0..QUERIES {
                    black_box(a.compare(&b).expect("the same scheme").intersection());
                }
            }),
        ),
        (
            "datasketches Theta, value",
            Box::new(|| {
                for _ in 0..QUERIES {
                    let mut intersection = ThetaIntersection::default();
                    intersection.update(&c).expect("the same seed");
                    intersection.update(&d).expect("the same seed");
                    black_box(intersection.to_sketch(false).map(|sketch| sketch.estimate()));
                }
            }),
        ),
    ];
    let sets = "two sketches of 700,000 with 400,000 in common";
    page.add(format!("Intersect {sets}"), "ns a query", nanoseconds_each(QUERIES, &mut contenders));
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, value and bounds",
            Box::new(|| {
                for _ in 0..QUERIES {
                    black_box(a.compare(&b).expect("the same scheme").jaccard());
                }
            }),
        ),
        (
            "datasketches Theta, value and bounds",
            Box::new(|| {
                for _ in 0..QUERIES {
                    black_box(ThetaJaccardSimilarity::default().compute(&c, &d).expect("the same seed"));
                }
            }),
        ),
    ];
    page.add(format!("Similarity of {sets}"), "ns a query", nanoseconds_each(QUERIES, &mut contenders));
}

fn merge(page: &mut Page) {
    const MERGES: usize = 200;
    let (left, right) = (keys(7), keys(8));
    let (a, b) = (crivo_of(&left), crivo_of(&right));
    let (c, d) = (theta_of(&left), theta_of(&right));
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo",
            Box::new(|| {
                for _ in 0..MERGES {
                    let mut merged = a.clone();
                    merged.merge(&b).expect("the same scheme");
                    black_box(&merged);
                }
            }),
        ),
        (
            "datasketches Theta",
            Box::new(|| {
                for _ in 0..MERGES {
                    let mut union = ThetaUnionBuilder::default().lg_k(LG_K).build().expect("a valid size");
                    union.update(&c).expect("the same seed");
                    union.update(&d).expect("the same seed");
                    black_box(union.to_sketch(false));
                }
            }),
        ),
    ];
    let job = "Copy and merge two sketches of a million";
    page.add(job, "ns a merge", nanoseconds_each(MERGES, &mut contenders));
}

fn memory(page: &mut Page) {
    let keys = keys(9);
    for (items, label) in [(100, "a hundred"), (ITEMS, "a million")] {
        let (ours, theirs) = (crivo_of(&keys[..items]), theta_of(&keys[..items]));
        let figures =
            vec![("crivo", ours.memory() as f64), ("datasketches Theta", theirs.estimated_size() as f64)];
        page.add(format!("Memory with {label} items"), "bytes", figures);
        let figures = vec![
            ("crivo", ours.encode().len() as f64),
            ("datasketches Theta, compressed", theirs.compact(true).serialize_compressed().len() as f64),
        ];
        page.add(format!("Stored, {label} items"), "bytes", figures);
    }
}
