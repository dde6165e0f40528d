//! Which are alike: signatures and the index of them, beside those of crates.io.

use std::hash::BuildHasherDefault;
use std::hint::black_box;

use crivo::keys::KeyScheme;
use crivo::similarity::jaccard::{at_least, jaccard_sorted};
use crivo::similarity::min_hash::sign;
use crivo::similarity::{Bands, LshIndex, MinHash};
use gaoya::minhash::{MinHashIndex, MinHasher, MinHasher32};
use probminhash::densminhash::OptDensMinHash;
use probminhash::nohasher::NoHashHasher;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::measure::{Contender, PhasedContender, nanoseconds_each, nanoseconds_of_phases, seconds};
use crate::report::Page;

/// How many sets are signed in a round.
const SETS: usize = 200;

const K: usize = 128;
const BANDS: usize = 16;
const ROWS: usize = 8;

/// How many sets are in the index.
const INDEXED: usize = 100_000;

pub fn run() -> Page {
    let mut page = Page::new(
        "Which are alike: MinHash and LshIndex",
        "Sets of random 64-bit hashes. crivo's signature is that of Fast Similarity Sketching: it merges, and its \
         error is that of independent hashes or less at every size. probminhash's one-permutation \
         signature (optimal densification) is taken with its own no-op hasher, because it is given hashes; gaoya's \
         32-bit one with its default. gaoya's index holds signatures of 32 bits a slot, crivo's of 16. Where crivo \
         is slower: signatures of sets far smaller than k take several rounds.",
    );
    for k in [K, 400] {
        for size in [50, 1_000] {
            signatures(&mut page, k, size);
        }
    }
    index(&mut page);
    exact(&mut page);
    error(&mut page);
    page
}

fn random_sets(count: usize, size: usize, seed: u64) -> Vec<Vec<u64>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..count).map(|_| (0..size).map(|_| random.next_u64()).collect()).collect()
}

fn one_permutation(k: usize, set: &[u64]) -> OptDensMinHash<f64, u64, NoHashHasher> {
    let mut sketch = OptDensMinHash::new(k, BuildHasherDefault::default());
    sketch.sketch_slice(set).expect("a set with elements");
    sketch
}

fn signatures(page: &mut Page, k: usize, size: usize) {
    let sets = &random_sets(SETS, size, 1);
    let mut slots = vec![0; k];
    let gaoya = MinHasher32::new(k);
    let mut contenders: Vec<Contender<'_>> = vec![
        (
            "crivo, into a buffer",
            Box::new(|| {
                for set in sets {
                    sign(set, &mut slots).expect("a size of the range");
                    black_box(&slots);
                }
            }),
        ),
        (
            "crivo, a sketch",
            Box::new(|| {
                for set in sets {
                    let mut sketch =
                        MinHash::with_scheme(k as u32, KeyScheme::hashes()).expect("a size of the range");
                    sketch.insert_hashes(set);
                    black_box(&sketch);
                }
            }),
        ),
        (
            "probminhash, one permutation",
            Box::new(|| {
                for set in sets {
                    black_box(one_permutation(k, set));
                }
            }),
        ),
        (
            "gaoya, 32 bits",
            Box::new(|| {
                for set in sets {
                    black_box(gaoya.create_signature(set.iter()));
                }
            }),
        ),
    ];
    let job = format!("Signature of {size} hashes, k = {k}");
    page.add(job, "ns a signature", nanoseconds_each(SETS, &mut contenders));
}

/// Sets of 50 elements: one in two is an earlier one with three elements changed.
fn indexed_sets() -> Vec<Vec<u64>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut sets = random_sets(INDEXED, 50, 3);
    for position in (1..INDEXED).step_by(2) {
        let mut near = sets[random.next_u64() as usize % position].clone();
        (0..3).for_each(|at| near[at] = random.next_u64());
        sets[position] = near;
    }
    sets
}

fn index(page: &mut Page) {
    let sets = indexed_sets();
    let sketches: &Vec<MinHash> = &sets
        .iter()
        .map(|set| {
            let mut sketch =
                MinHash::with_scheme(K as u32, KeyScheme::hashes()).expect("a size of the range");
            sketch.insert_hashes(set);
            sketch
        })
        .collect();
    let gaoya = MinHasher32::new(K);
    let signatures: &Vec<Vec<u32>> = &sets.iter().map(|set| gaoya.create_signature(set.iter())).collect();
    let ours = move || {
        let bands = Bands::new(BANDS as u32, ROWS as u32).expect("few slots");
        let mut index = LshIndex::with_scheme(K as u32, bands, KeyScheme::hashes()).expect("as many slots");
        for (id, sketch) in sketches.iter().enumerate() {
            index.insert(id as u64, sketch).expect("a new id");
        }
        index
    };
    let theirs = move || {
        let mut index = MinHashIndex::<u32, u64>::new(BANDS, ROWS, 0.5);
        for (id, signature) in signatures.iter().enumerate() {
            index.insert(id as u64, signature.clone());
        }
        index
    };
    let mut contenders: Vec<PhasedContender<'_, 2>> = vec![
        (
            "crivo",
            Box::new(move || {
                let mut index = None;
                let insert = seconds(|| index = Some(ours()));
                let query = seconds(|| {
                    for sketch in sketches {
                        black_box(index.as_ref().and_then(|index| index.similars_to(sketch, 0.5).ok()));
                    }
                });
                [insert, query]
            }),
        ),
        (
            "gaoya",
            Box::new(move || {
                let mut index = None;
                let insert = seconds(|| index = Some(theirs()));
                let query = seconds(|| {
                    for signature in signatures {
                        black_box(index.as_ref().map(|index| index.query_owned_return_similarity(signature)));
                    }
                });
                [insert, query]
            }),
        ),
    ];
    let [insert, query] = nanoseconds_of_phases(3, INDEXED, &mut contenders);
    page.add("Index of 100,000 sets, 16 bands of 8: insert a signature", "ns an insert", insert);
    page.add("The same: sets of similarity 0.5 or more to one", "ns a query", query);

    let (index, our_memory) = allocated(ours);
    drop(index);
    let (index, their_memory) = allocated(theirs);
    drop(index);
    page.add(
        "The same: memory",
        "megabytes",
        vec![("crivo", our_memory / 1e6), ("gaoya", their_memory / 1e6)],
    );
}

/// How many bytes a value holds, as the allocator counts them.
fn allocated<T>(make: impl FnOnce() -> T) -> (T, f64) {
    let before = in_use();
    let value = make();
    (value, in_use() - before)
}

#[cfg(target_env = "gnu")]
fn in_use() -> f64 {
    // SAFETY: reads the allocator's own counters.
    let info = unsafe { libc::mallinfo2() };
    (info.uordblks + info.hblkhd) as f64
}

#[cfg(not(target_env = "gnu"))]
fn in_use() -> f64 {
    f64::NAN
}

/// Exact similarity of sorted sets; the yardstick is the plainest merge.
fn exact(page: &mut Page) {
    let sorted = |seed| {
        let mut sets = random_sets(SETS, 1_000, seed);
        sets.iter_mut().for_each(|set| set.sort_unstable());
        sets
    };
    let (firsts, seconds) = (&sorted(4), &sorted(5));
    let each = |compare: fn(&[u64], &[u64]) -> Option<f64>| {
        move || {
            for (first, second) in firsts.iter().zip(seconds) {
                black_box(compare(first, second));
            }
        }
    };
    let mut contenders: Vec<Contender<'_>> = vec![
        ("crivo, similarity", Box::new(each(jaccard_sorted))),
        ("crivo, similarity if at least 0.8", Box::new(each(|a, b| at_least(a, b, 0.8)))),
        ("a plain merge", Box::new(each(plain_merge))),
    ];
    let figures = nanoseconds_each(SETS, &mut contenders);
    page.add("Exact similarity of two sorted sets of 1,000 that share nothing", "ns a pair", figures);
}

fn plain_merge(a: &[u64], b: &[u64]) -> Option<f64> {
    let (mut i, mut j, mut common) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, common) = (i + 1, j + 1, common + 1),
        }
    }
    Some(common as f64 / (a.len() + b.len() - common) as f64)
}

/// The root-mean-square error of many comparisons; independent hashes would have 0.0417 at J = 1/3.
fn error(page: &mut Page) {
    const TRIALS: usize = 2_000;
    let gaoya = MinHasher32::new(K);
    for size in [30, 300, 3_000] {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        let mut squares = [0.0; 3];
        for _ in 0..TRIALS {
            let union: Vec<u64> = (0..size * 3 / 2).map(|_| random.next_u64()).collect();
            let (a, b) = (&union[..size], &union[size / 2..]);
            let share = |equal: usize| equal as f64 / K as f64;
            let (mut x, mut y) = ([0; K], [0; K]);
            sign(a, &mut x).expect("a size of the range");
            sign(b, &mut y).expect("a size of the range");
            let ours = share(x.iter().zip(&y).filter(|(x, y)| x == y).count());
            let (x, y) = (one_permutation(K, a), one_permutation(K, b));
            let permuted = share(x.get_hsketch().iter().zip(y.get_hsketch()).filter(|(x, y)| x == y).count());
            let (x, y) = (gaoya.create_signature(a.iter()), gaoya.create_signature(b.iter()));
            let multiplied = share(x.iter().zip(&y).filter(|(x, y)| x == y).count());
            for (square, value) in squares.iter_mut().zip([ours, permuted, multiplied]) {
                *square += (value - 1.0 / 3.0).powi(2);
            }
        }
        let names = ["crivo", "probminhash, one permutation", "gaoya, 32 bits"];
        let figures = names.into_iter().zip(squares.map(|square| (square / TRIALS as f64).sqrt())).collect();
        page.add(format!("Error of a similarity of 1/3, sets of {size}, k = 128"), "RMSE", figures);
    }
}
