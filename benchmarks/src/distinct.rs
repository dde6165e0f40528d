//! How many different: HyperLogLog beside the HyperLogLogs of crates.io.

use std::hint::black_box;

use cardinality_estimator::CardinalityEstimator;
use crivo::distinct::hyperloglog::HighestRank;
use crivo::keys::{Integers, KeyBuffer, KeyScheme, Span};
use datasketches::hll::{HllSketch, HllType, HllUnion};
use foldhash::fast::FixedState;
use hyperloglockless::HyperLogLog as Lockless;
use hyperloglogplus::{HyperLogLog as _, HyperLogLogPlus};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::measure::{Contender, nanoseconds_each};
use crate::register_sketch::{
    BATCH, ITEMS, empty, hashes, hashes_in_batches, hashes_one_by_one, integers_in_batches,
    integers_one_by_one, merged,
};
use crate::report::Page;

type Cardinality = CardinalityEstimator<u64>;

fn datasketches(precision: u8) -> HllSketch {
    HllSketch::new(precision, HllType::Hll8).expect("a valid precision")
}

pub fn run() -> Page {
    let mut page = Page::new(
        "How many different: HyperLogLog",
        "All at precision 12 (4,096 registers) unless said. Peers that take no hash are left out of the rows \
         that give one. crivo counts small sets exactly; the figures include what that costs. Where it is \
         slower: one by one from u64 keys, by a third, because the mixer of integers \
         takes twice the instructions of foldhash and the processor is busy with nothing but instructions \
         (batches and Integers::extend hash eight keys at a time); at precision 18, where the first \
         24,576 hashes are kept in a table before there are registers; and in answering, where the \
         others return a running number and crivo counts its registers and solves for the likeliest count and its bounds. \
         datasketches' smaller error comes from the order of arrival, and is lost when sketches merge.",
    );
    insert_hashes(&mut page, 12);
    insert_hashes(&mut page, 14);
    insert_hashes(&mut page, 18);
    insert_integers(&mut page);
    insert_strings(&mut page);
    estimate(&mut page);
    merge(&mut page);
    memory(&mut page);
    error(&mut page);
    page
}

fn insert_hashes(page: &mut Page, precision: u8) {
    let hashes = &hashes(1);
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, one by one", hashes_one_by_one::<HighestRank>(precision, hashes)),
        ("crivo, batches of 1,024", hashes_in_batches::<HighestRank>(precision, hashes)),
        (
            "hyperloglockless",
            Box::new(move || {
                let mut sketch = Lockless::new(precision);
                hashes.iter().for_each(|&hash| sketch.insert_hash(hash));
                black_box(sketch.raw_count());
            }),
        ),
    ];
    if precision == 12 {
        contenders.push((
            "cardinality-estimator",
            Box::new(move || {
                let mut sketch = Cardinality::new();
                hashes.iter().for_each(|&hash| sketch.insert_hash(hash));
                black_box(&sketch);
            }),
        ));
    }
    let job = format!("Insert a million different hashes, precision {precision}");
    page.add(job, "ns an insert", nanoseconds_each(ITEMS, &mut contenders));
}

pub fn insert_integers(page: &mut Page) {
    let keys = &hashes(2);
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, one by one", integers_one_by_one::<HighestRank>(keys)),
        ("crivo, batches of 1,024", integers_in_batches::<HighestRank>(keys)),
        (
            "crivo, Integers::extend",
            Box::new(move || {
                let sketch = empty::<HighestRank>(12, KeyScheme::integers());
                let mut sketch = Integers::new(sketch).expect("a sketch of integers");
                sketch.extend(keys);
                black_box(&sketch);
            }),
        ),
        (
            "hyperloglockless + foldhash",
            Box::new(move || {
                let mut sketch = Lockless::with_hasher(12, FixedState::default());
                keys.iter().for_each(|key| sketch.insert(key));
                black_box(sketch.raw_count());
            }),
        ),
        (
            "cardinality-estimator (wyhash)",
            Box::new(move || {
                let mut sketch = Cardinality::new();
                keys.iter().for_each(|key| sketch.insert(key));
                black_box(&sketch);
            }),
        ),
        (
            "hyperloglogplus + foldhash",
            Box::new(move || {
                let mut sketch =
                    HyperLogLogPlus::<u64, _>::new(12, FixedState::default()).expect("a valid precision");
                keys.iter().for_each(|key| sketch.insert(key));
                black_box(&sketch);
            }),
        ),
        (
            "datasketches HLL_8 (murmur3)",
            Box::new(move || {
                let mut sketch = datasketches(12);
                keys.iter().for_each(|&key| sketch.update(key));
                black_box(&sketch);
            }),
        ),
    ];
    page.add("Insert a million different u64 keys", "ns an insert", nanoseconds_each(ITEMS, &mut contenders));
}

fn insert_strings(page: &mut Page) {
    let keys: &Vec<String> = &hashes(3).into_iter().map(|hash| format!("{:011}", hash >> 28)).collect();
    let text = &keys.concat();
    let spans: &Vec<Span> = &keys
        .iter()
        .scan(0, |start, key| {
            let span = Span::new(*start..*start + key.len()).ok();
            *start += key.len();
            span
        })
        .collect();
    let offsets: &Vec<i32> = &(0..=ITEMS as i32).map(|key| 11 * key).collect();
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, one by one",
            Box::new(move || {
                let mut sketch = empty::<HighestRank>(12, KeyScheme::bytes());
                for key in keys {
                    sketch.insert(key).expect("a text key");
                }
                black_box(&sketch);
            }),
        ),
        (
            "crivo, batches of 1,024",
            Box::new(move || {
                let mut sketch = empty::<HighestRank>(12, KeyScheme::bytes());
                let mut buffer = KeyBuffer::new(KeyScheme::bytes());
                for batch in spans.chunks(BATCH) {
                    let batch = buffer.hash_spans_of(batch, text.as_bytes()).expect("spans inside the text");
                    sketch.insert_batch(&batch).expect("the same scheme");
                }
                black_box(&sketch);
            }),
        ),
        (
            "crivo, an Arrow column",
            Box::new(move || {
                let mut sketch = empty::<HighestRank>(12, KeyScheme::bytes());
                let mut buffer = KeyBuffer::new(KeyScheme::bytes());
                for first in (0..ITEMS).step_by(BATCH) {
                    let batch = &offsets[first..=(first + BATCH).min(ITEMS)];
                    let batch = buffer.hash_offsets(batch, text.as_bytes()).expect("offsets inside the text");
                    sketch.insert_batch(&batch).expect("the same scheme");
                }
                black_box(&sketch);
            }),
        ),
        (
            "hyperloglockless + foldhash",
            Box::new(move || {
                let mut sketch = Lockless::with_hasher(12, FixedState::default());
                keys.iter().for_each(|key| sketch.insert(key));
                black_box(sketch.raw_count());
            }),
        ),
        (
            "datasketches HLL_8 (murmur3)",
            Box::new(move || {
                let mut sketch = datasketches(12);
                keys.iter().for_each(|key| sketch.update(key));
                black_box(&sketch);
            }),
        ),
    ];
    page.add("Insert a million texts of 11 bytes", "ns an insert", nanoseconds_each(ITEMS, &mut contenders));
}

fn estimate(page: &mut Page) {
    const QUERIES: usize = 10_000;
    let hashes = hashes(4);
    let mut ours = empty::<HighestRank>(12, KeyScheme::hashes());
    ours.insert_hashes(&hashes);
    let mut lockless = Lockless::new(12);
    hashes.iter().for_each(|&hash| lockless.insert_hash(hash));
    let mut cardinality = Cardinality::new();
    hashes.iter().for_each(|&hash| cardinality.insert_hash(hash));
    let mut sketch = datasketches(12);
    hashes.iter().for_each(|&hash| sketch.update(hash));
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
            "hyperloglockless, value",
            Box::new(|| {
                for _ in 0..QUERIES {
                    black_box(black_box(&lockless).raw_count());
                }
            }),
        ),
        (
            "cardinality-estimator, value",
            Box::new(|| {
                for _ in 0..QUERIES {
                    black_box(black_box(&cardinality).estimate());
                }
            }),
        ),
        (
            "datasketches HLL_8, value",
            Box::new(|| {
                for _ in 0..QUERIES {
                    black_box(black_box(&sketch).estimate());
                }
            }),
        ),
    ];
    page.add("Estimate, a million inserted", "ns a query", nanoseconds_each(QUERIES, &mut contenders));
}

fn merge(page: &mut Page) {
    const MERGES: usize = 1_000;
    let (left, right) = (hashes(5), hashes(6));
    let (mut a, mut b) = (empty::<HighestRank>(12, KeyScheme::hashes()), empty(12, KeyScheme::hashes()));
    a.insert_hashes(&left);
    b.insert_hashes(&right);
    let (mut c, mut d) =
        (Lockless::with_hasher(12, FixedState::default()), Lockless::with_hasher(12, FixedState::default()));
    left.iter().for_each(|&hash| c.insert_hash(hash));
    right.iter().for_each(|&hash| d.insert_hash(hash));
    let (mut e, mut f) = (datasketches(12), datasketches(12));
    left.iter().for_each(|&hash| e.update(hash));
    right.iter().for_each(|&hash| f.update(hash));
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo",
            Box::new(|| {
                for _ in 0..MERGES {
                    black_box(merged(&a, &b));
                }
            }),
        ),
        (
            "hyperloglockless",
            Box::new(|| {
                for _ in 0..MERGES {
                    let mut merged = c.clone();
                    merged.union(&d).expect("the same precision");
                    black_box(merged.raw_count());
                }
            }),
        ),
        (
            "datasketches HLL_8",
            Box::new(|| {
                for _ in 0..MERGES {
                    let mut union = HllUnion::new(12).expect("a valid precision");
                    union.update(&e);
                    union.update(&f);
                    black_box(&union);
                }
            }),
        ),
    ];
    page.add(
        "Copy and merge two sketches of a million",
        "ns a merge",
        nanoseconds_each(MERGES, &mut contenders),
    );
}

fn memory(page: &mut Page) {
    for (items, label) in [(100, "a hundred"), (ITEMS, "a million")] {
        let hashes = hashes(7);
        let mut ours = empty::<HighestRank>(12, KeyScheme::hashes());
        ours.insert_hashes(&hashes[..items]);
        let mut cardinality = Cardinality::new();
        hashes[..items].iter().for_each(|&hash| cardinality.insert_hash(hash));
        let mut sketch = datasketches(12);
        hashes[..items].iter().for_each(|&hash| sketch.update(hash));
        let figures = vec![
            ("crivo", ours.memory() as f64),
            ("hyperloglockless", (1 << 12) as f64 + size_of::<Lockless>() as f64),
            ("cardinality-estimator", cardinality.size_of() as f64),
            ("datasketches HLL_8", sketch.estimated_size() as f64),
        ];
        page.add(format!("Memory with {label} items"), "bytes", figures);
    }
}

/// The root-mean-square error of many sketches, in per cent; what theory says is 1.62 %.
fn error(page: &mut Page) {
    const TRIALS: usize = 2_000;
    for n in [1_000, 10_240, 100_000] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        let mut squares = [0.0; 4];
        for _ in 0..TRIALS {
            let mut ours = empty::<HighestRank>(12, KeyScheme::hashes());
            let mut lockless = Lockless::new(12);
            let mut cardinality = Cardinality::new();
            let mut sketch = datasketches(12);
            for _ in 0..n {
                let hash = random.next_u64();
                ours.insert_hash(hash);
                lockless.insert_hash(hash);
                cardinality.insert_hash(hash);
                sketch.update(hash);
            }
            let values = [
                ours.estimate().value(),
                lockless.raw_count(),
                cardinality.estimate() as f64,
                sketch.estimate(),
            ];
            for (square, value) in squares.iter_mut().zip(values) {
                *square += (value / n as f64 - 1.0).powi(2);
            }
        }
        let names = [
            "crivo",
            "hyperloglockless",
            "cardinality-estimator",
            "datasketches HLL_8 (history, lost on merge)",
        ];
        let figures =
            names.into_iter().zip(squares.map(|square| 100.0 * (square / TRIALS as f64).sqrt())).collect();
        page.add(format!("Error at {n} different items, 2,000 sketches"), "RMSE in %", figures);
    }
}
