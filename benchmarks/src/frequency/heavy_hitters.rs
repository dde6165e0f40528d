//! Which most often: HeavyHitters beside the frequent-items sketch of datasketches.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hint::black_box;

use crivo::frequency::HeavyHitters;
use crivo::keys::{KeyBatch, KeyBuffer, KeyRef, KeyScheme};
use datasketches::frequencies::{ErrorType, FrequentItemsSketch};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::measure::{Contender, nanoseconds_each};
use crate::report::Page;

const DRAWS: usize = 10_000_000;
const KEYS: usize = 1 << 20;
const EXPONENT: f64 = 1.1;
const BATCH: usize = KeyBatch::TARGET_LEN;
const TOP: usize = 100;

/// Bytes of a text key.
const LENGTH: usize = 11;

/// The peer's map sizes; three quarters of one may be in use.
const MAP_SIZES: [usize; 2] = [1024, 4096];

pub fn run() -> Page {
    let mut page = Page::new(
        "Which most often: HeavyHitters",
        "Ten million draws from 2^20 keys by Zipf's law with exponent 1.1. Memory is equal: crivo has as many \
         counters as fit in what the peer's map takes (26 bytes a slot for u64 keys; for texts 34, and the bytes \
         of the texts without what the allocator adds). Both give certain bounds; the peer's are equally wide \
         for every key. Where crivo is slower: in merging, because it ranks all counters exactly and keeps each \
         key's own error.",
    );
    let ranks = zipf();
    let integers: Vec<u64> = ranks.iter().map(|&rank| spread(rank)).collect();
    let text: String = ranks.iter().map(|&rank| format!("{:011}", spread(rank) >> 28)).collect();
    drop(ranks);
    for map_size in MAP_SIZES {
        count_integers(&mut page, map_size, &integers);
    }
    for map_size in MAP_SIZES {
        count_texts(&mut page, map_size, &text);
    }
    for map_size in MAP_SIZES {
        merge(&mut page, map_size, &integers);
        quality(&mut page, map_size, &integers);
    }
    page
}

/// Ranks of the draws, the most frequent key being 0.
fn zipf() -> Vec<u32> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
    let mut sum = 0.0;
    let cumulative: Vec<f64> = (1..=KEYS)
        .map(|rank| {
            sum += (rank as f64).powf(-EXPONENT);
            sum
        })
        .collect();
    (0..DRAWS)
        .map(|_| {
            let drawn = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * sum;
            cumulative.partition_point(|&upto| upto <= drawn) as u32
        })
        .collect()
}

/// The key of a rank: no order that a table could profit from.
fn spread(rank: u32) -> u64 {
    Xoshiro256PlusPlus::seed_from_u64(rank.into()).next_u64()
}

/// Returns the largest sketch that takes no more than the given number of bytes when it is full of
/// keys.
fn crivo(scheme: KeyScheme, bytes: usize) -> HeavyHitters {
    let filled = |capacity: u64| {
        let mut sketch = HeavyHitters::with_scheme(capacity, scheme).expect("a valid capacity");
        for key in 0..20 * capacity {
            let text = format!("{key:011}");
            let key = match scheme == KeyScheme::bytes() {
                true => KeyRef::Bytes(text.as_bytes()),
                false => KeyRef::Integer(key),
            };
            sketch.add_ref(key, 1).expect("a key of the scheme");
        }
        sketch.memory()
    };
    let (mut fits, mut exceeds) = (1, bytes as u64);
    while exceeds - fits > 1 {
        let middle = fits.midpoint(exceeds);
        if filled(middle) <= bytes { fits = middle } else { exceeds = middle }
    }
    HeavyHitters::with_scheme(fits, scheme).expect("a valid capacity")
}

fn datasketches<T: Eq + std::hash::Hash>(map_size: usize) -> FrequentItemsSketch<T> {
    FrequentItemsSketch::new(map_size).expect("a valid size")
}

/// What the peer's map takes when it has grown to its size.
fn integer_bytes(map_size: usize) -> usize {
    let mut sketch = datasketches(map_size);
    (0..map_size as u64).for_each(|key| sketch.update(key));
    sketch.estimated_size()
}

fn text_bytes(map_size: usize) -> usize {
    let mut sketch = datasketches::<String>(map_size);
    (0..map_size).for_each(|key| sketch.update(key.to_string()));
    sketch.estimated_size() + map_size * 3 / 4 * LENGTH
}

fn count_integers(page: &mut Page, map_size: usize, keys: &[u64]) {
    let bytes = integer_bytes(map_size);
    let empty = &crivo(KeyScheme::integers(), bytes);
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one",
            Box::new(move || {
                let mut sketch = empty.clone();
                for key in keys {
                    sketch.insert(key).expect("an integer key");
                }
                black_box(&sketch);
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(move || {
                let mut sketch = empty.clone();
                let mut buffer = KeyBuffer::new(KeyScheme::integers());
                for batch in keys.chunks(BATCH) {
                    let batch = buffer.hash_integers(batch).expect("integer keys");
                    sketch.insert_batch(&batch).expect("the same scheme");
                }
                black_box(&sketch);
            }),
        ),
        (
            "datasketches FrequentItems",
            Box::new(move || {
                let mut sketch = datasketches(map_size);
                keys.iter().for_each(|&key| sketch.update(key));
                black_box(&sketch);
            }),
        ),
    ];
    let job = format!("Count u64 keys in {} KB, crivo with {} counters", bytes / 1000, empty.capacity());
    page.add(job, "ns a key", nanoseconds_each(keys.len(), &mut contenders));
}

fn count_texts(page: &mut Page, map_size: usize, text: &str) {
    let bytes = text_bytes(map_size);
    let empty = &crivo(KeyScheme::bytes(), bytes);
    let keys = text.len() / LENGTH;
    let key = |index: usize| &text[index * LENGTH..(index + 1) * LENGTH];
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one",
            Box::new(move || {
                let mut sketch = empty.clone();
                for index in 0..keys {
                    sketch.insert(key(index)).expect("a text key");
                }
                black_box(&sketch);
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(move || {
                let mut sketch = empty.clone();
                let mut buffer = KeyBuffer::new(KeyScheme::bytes());
                let offsets: Vec<i32> = (0..=BATCH as i32).map(|key| key * LENGTH as i32).collect();
                for part in text.as_bytes().chunks(BATCH * LENGTH) {
                    let offsets = &offsets[..=part.len() / LENGTH];
                    let batch = buffer.hash_offsets(offsets, part).expect("offsets inside the text");
                    sketch.insert_batch(&batch).expect("the same scheme");
                }
                black_box(&sketch);
            }),
        ),
        (
            "datasketches FrequentItems",
            Box::new(move || {
                let mut sketch = datasketches::<String>(map_size);
                (0..keys).for_each(|index| sketch.update_ref(key(index)));
                black_box(&sketch);
            }),
        ),
    ];
    let job = format!(
        "Count texts of {LENGTH} bytes in {} KB, crivo with {} counters",
        bytes / 1000,
        empty.capacity()
    );
    page.add(job, "ns a key", nanoseconds_each(keys, &mut contenders));
}

fn merge(page: &mut Page, map_size: usize, keys: &[u64]) {
    const MERGES: usize = 100;
    let bytes = integer_bytes(map_size);
    let (left, right) = keys.split_at(keys.len() / 2);
    let empty = crivo(KeyScheme::integers(), bytes);
    let count = |keys: &[u64]| {
        let (mut ours, mut theirs) = (empty.clone(), datasketches(map_size));
        for key in keys {
            ours.insert(key).expect("an integer key");
            theirs.update(*key);
        }
        (ours, theirs)
    };
    let ((a, c), (b, d)) = (count(left), count(right));
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
            "datasketches FrequentItems",
            Box::new(|| {
                for _ in 0..MERGES {
                    let mut merged = c.clone();
                    merged.merge(&d);
                    black_box(&merged);
                }
            }),
        ),
    ];
    let job = format!("Copy and merge two sketches of {} KB", bytes / 1000);
    page.add(job, "ns a merge", nanoseconds_each(MERGES, &mut contenders));
}

/// What the same memory knows after the same stream.
fn quality(page: &mut Page, map_size: usize, keys: &[u64]) {
    let bytes = integer_bytes(map_size);
    let mut ours = crivo(KeyScheme::integers(), bytes);
    let mut theirs = datasketches(map_size);
    let mut truth = HashMap::new();
    for &key in keys {
        ours.insert(&key).expect("an integer key");
        theirs.update(key);
        *truth.entry(key).or_insert(0_u64) += 1;
    }
    let mut most: Vec<(u64, u64)> = truth.iter().map(|(&key, &count)| (count, key)).collect();
    most.sort_unstable_by_key(|&(count, key)| (Reverse(count), key));
    most.truncate(TOP);
    let is_top = |key: u64| most.iter().any(|&(_, other)| other == key);

    let top = ours.top(TOP);
    let rows = theirs.frequent_items(ErrorType::NoFalseNegatives);
    let our_keys = top
        .iter()
        .filter_map(|hitter| if let KeyRef::Integer(key) = hitter.key() { Some(key) } else { None });
    let missed = |found: usize| 100.0 * (1.0 - found as f64 / TOP as f64);
    let label = format!("{} KB", bytes / 1000);
    page.add(
        format!("Recall of the top {TOP}, {label}"),
        "% of them missed",
        vec![
            ("crivo", missed(our_keys.filter(|&key| is_top(key)).count())),
            ("datasketches", missed(rows.iter().take(TOP).filter(|row| is_top(*row.item())).count())),
        ],
    );
    let width =
        |bounds: &dyn Fn(u64) -> f64| most.iter().map(|&(_, key)| bounds(key)).sum::<f64>() / TOP as f64;
    page.add(
        format!("Mean width of the bounds of the true top {TOP}, {label}"),
        "counts",
        vec![
            (
                "crivo",
                width(&|key| {
                    let estimate = ours.frequency(&key).expect("an integer key");
                    estimate.upper() - estimate.lower()
                }),
            ),
            ("datasketches", width(&|key| (theirs.upper_bound(&key) - theirs.lower_bound(&key)) as f64)),
        ],
    );
    page.add(
        format!("Largest error of a key without a counter, {label}"),
        "counts",
        vec![("crivo", ours.max_error() as f64), ("datasketches", theirs.maximum_error() as f64)],
    );
    page.add(
        format!("Memory, {label}"),
        "bytes",
        vec![("crivo", ours.memory() as f64), ("datasketches", theirs.estimated_size() as f64)],
    );
}
