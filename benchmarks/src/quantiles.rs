//! Which value has that rank: NumberQuantiles beside KLL and t-digest.
//!
//! KLL has the size that its makers choose, and crivo the same. The errors of both are measured.
//! That of t-digest has no bound; it is shown beside the others.

use std::hint::black_box;

use crivo::quantiles::{Accuracy, NumberQuantiles};
use datasketches::common::SearchCriteria;
use datasketches::kll::{KllFloat, KllSketch};
use datasketches::tdigest::TDigestMut;
use tdigest::TDigest;

use crate::measure::{Contender, nanoseconds_each};
use crate::membership::{millions, random};
use crate::report::Page;

/// The size of KLL: 1.33 % of all ranks, 99 % sure.
const KLL_SIZE: u16 = 200;

/// crivo's size, the same: 1.1/200 = 0.55 % of all ranks, 95 % sure.
const SIZE: u32 = 200;

/// The compression of both t-digests; the usual one.
const COMPRESSION: u16 = 100;

/// How many numbers t-digest is given at once, whose way to add is to merge.
const AT_ONCE: usize = 10_000;

/// The sketches and the numbers of each by which errors are measured.
const TRIALS: u64 = 400;
const NUMBERS: usize = 100_000;

pub fn run() -> Page {
    let mut page = Page::new(
        "Which value has that rank: NumberQuantiles",
        "Random numbers of 64 bits in random order. KLL has its usual size of 200, and crivo the same; the first table has the \
         errors of both. t-digest has its usual compression of 100, and no bound on its error. `insert_all` of crivo takes a batch, \
         `insert` one number; datasketches has one way for both. tdigest takes 10,000 at once, the others a million.",
    );
    errors(&mut page);
    for items in [1_000_000, 10_000_000] {
        speed(&mut page, items);
    }
    page
}

fn numbers(items: usize, seed: u64) -> Vec<f64> {
    random(items, seed).into_iter().map(|bits| (bits >> 11) as f64 / (1_u64 << 53) as f64).collect()
}

fn sketch(seed: u64) -> NumberQuantiles {
    NumberQuantiles::new(SIZE, Accuracy::Uniform, seed).expect("a valid size")
}

fn one_by_one(values: &[f64]) -> NumberQuantiles {
    let mut sketch = sketch(0);
    values.iter().for_each(|&value| sketch.insert(value));
    sketch
}

fn at_once(values: &[f64], seed: u64) -> NumberQuantiles {
    let mut sketch = sketch(seed);
    sketch.insert_all(values);
    sketch
}

fn kll(values: &[f64]) -> KllSketch<KllFloat<f64>> {
    let mut sketch = KllSketch::new(KLL_SIZE).expect("a valid size");
    values.iter().for_each(|&value| sketch.update(KllFloat::<f64>::new(value).expect("a number")));
    sketch
}

fn digest_of_datasketches(values: &[f64]) -> TDigestMut {
    let mut sketch = TDigestMut::new(COMPRESSION).expect("a valid size");
    values.iter().for_each(|&value| sketch.update(value));
    sketch
}

fn digest(values: &[f64]) -> TDigest {
    let empty = TDigest::new_with_size(COMPRESSION.into());
    values.chunks(AT_ONCE).fold(empty, |digest, chunk| digest.merge_unsorted(chunk.to_vec()))
}

fn speed(page: &mut Page, items: usize) {
    let values = &numbers(items, 1);
    let mut single: Vec<Contender<'_>> = vec![
        ("crivo", Box::new(|| _ = black_box(one_by_one(values)))),
        ("datasketches KLL", Box::new(|| _ = black_box(kll(values)))),
        ("datasketches TDigest", Box::new(|| _ = black_box(digest_of_datasketches(values)))),
    ];
    page.add(format!("{}: one by one", millions(items)), "ns a number", nanoseconds_each(items, &mut single));
    let mut batched: Vec<Contender<'_>> = vec![
        ("crivo", Box::new(|| _ = black_box(at_once(values, 0)))),
        ("datasketches KLL", Box::new(|| _ = black_box(kll(values)))),
        ("datasketches TDigest", Box::new(|| _ = black_box(digest_of_datasketches(values)))),
        ("tdigest", Box::new(|| _ = black_box(digest(values)))),
    ];
    page.add(format!("{}: batched", millions(items)), "ns a number", nanoseconds_each(items, &mut batched));
}

/// The root of the mean squared error of the ranks of 99 percentiles.
fn errors(page: &mut Page) {
    let mut squares = [0.0; 4];
    for trial in 0..TRIALS {
        let values = numbers(NUMBERS, 1000 + trial);
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let (mine, theirs) = (at_once(&values, trial), kll(&values));
        let (mut digest_of_datasketches, digest) = (digest_of_datasketches(&values), digest(&values));
        for share in (1..100).map(|percent| f64::from(percent) / 100.0) {
            let found = [
                mine.quantile(share).map(|found| found.value()),
                theirs.quantile(share, SearchCriteria::Inclusive).ok().flatten().map(KllFloat::into_inner),
                digest_of_datasketches.quantile(share).ok().flatten(),
                digest.estimate_quantile(share),
            ];
            for (sum, value) in squares.iter_mut().zip(found) {
                let value = value.expect("there are numbers");
                let rank = sorted.partition_point(|&other| other <= value) as f64 / NUMBERS as f64;
                *sum += (rank - share) * (rank - share);
            }
        }
    }
    let names = ["crivo", "datasketches KLL", "datasketches TDigest", "tdigest"];
    let percent = |sum: f64| 100.0 * (sum / (99.0 * TRIALS as f64)).sqrt();
    let figures = names.into_iter().zip(squares.map(percent)).collect();
    page.add("Error of the rank of percentiles", "% of all numbers", figures);
}
