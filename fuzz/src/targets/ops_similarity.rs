//! However two sketches come about, they are the sketches of their sets, and exact comparisons
//! agree.
//!
//! Arbitrary programs (insert, batch, merge, write and read) run on two MinHashes and on two exact
//! sets. The bytes must always be those of a sketch built from the set in one go, and the
//! similarity 1 for equal sets, 0 beside an empty one, and refused for two empty ones.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use crivo::keys::{KeyBatch, KeyScheme};
use crivo::similarity::MinHash;
use crivo::similarity::jaccard::{at_least, overlap_sorted, overlap_unsorted};
use crivo::similarity::min_hash::sign;

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(7);

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    k: Size,
    /// Which of the two sketches each step works on.
    steps: Vec<(bool, Step)>,
    threshold: f64,
}

/// Mostly small, because what happens in late rounds happens sooner there.
#[derive(Debug)]
struct Size(u32);

impl<'a> Arbitrary<'a> for Size {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let most = u.choose(&[1, 4, 40, 300])?;
        u.int_in_range(1..=*most).map(Self)
    }
}

#[derive(Debug, Arbitrary)]
enum Step {
    Insert(u64),
    /// Elements that both sketches are likely to meet.
    InsertNear(u8),
    InsertBatch(Vec<u64>),
    InsertMany {
        start: u16,
        count: u16,
    },
    MergeOther,
    MergeItself,
    RefuseOtherSeed,
    WriteAndRead,
}

/// A sketch and the set it should be the sketch of.
struct Pair {
    sketch: MinHash,
    set: BTreeSet<u64>,
}

impl Pair {
    fn new(k: u32) -> Self {
        Self { sketch: MinHash::with_scheme(k, SCHEME).expect("a size of the range"), set: BTreeSet::new() }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert(hash) => self.insert(hash),
            Step::InsertNear(hash) => self.insert(hash.into()),
            Step::InsertBatch(hashes) => self.insert_batch(&hashes),
            Step::InsertMany { start, count } => {
                let start = u64::from(start);
                let hashes: Vec<u64> = (start..start + u64::from(count % 1024)).collect();
                self.insert_batch(&hashes);
            }
            Step::MergeOther => {
                self.sketch.merge(&other.sketch).expect("the same size and scheme");
                self.set.extend(&other.set);
            }
            Step::MergeItself => {
                let same = self.sketch.clone();
                self.sketch.merge(&same).expect("the same size and scheme");
            }
            Step::RefuseOtherSeed => {
                let before = self.sketch.clone();
                let stranger =
                    MinHash::with_scheme(before.k(), SCHEME.with_seed(8)).expect("a size of the range");
                assert!(self.sketch.merge(&stranger).is_err() && self.sketch.similarity(&stranger).is_err());
                assert_eq!(self.sketch, before, "a refused merge changed the sketch");
            }
            Step::WriteAndRead => {
                let read = MinHash::decode(&self.sketch.encode()).expect("what was written can be read");
                assert_eq!(read, self.sketch);
                self.sketch = read;
            }
        }
    }

    fn insert(&mut self, hash: u64) {
        self.sketch.insert_hash(hash);
        self.set.insert(hash);
    }

    fn insert_batch(&mut self, hashes: &[u64]) {
        let batch = KeyBatch::from_hashes(SCHEME, hashes).expect("a scheme of hashes");
        self.sketch.insert_batch(&batch).expect("the same scheme");
        self.set.extend(hashes);
    }

    /// The set alone decides the bytes, not the way to it.
    fn check_bytes(&self) {
        let mut fresh = Self::new(self.sketch.k()).sketch;
        let elements: Vec<u64> = self.set.iter().copied().collect();
        fresh.insert_hashes(&elements);
        assert!(fresh.encode() == self.sketch.encode(), "{} elements", self.set.len());
        let mut slots = vec![0; self.sketch.k() as usize];
        sign(&elements, &mut slots).expect("a size of the range");
        assert!(self.sketch.is_empty() || self.sketch.slots() == slots);
        let items = self.sketch.items();
        assert!(items.lower() <= items.value() && items.value() <= items.upper());
    }
}

fn check_comparisons(first: &Pair, second: &Pair, threshold: f64) {
    let [a, b] = [first, second].map(|pair| pair.set.iter().copied().collect::<Vec<u64>>());
    let common = first.set.intersection(&second.set).count();
    let overlap = overlap_sorted(&a, &b);
    assert_eq!((overlap.common(), overlap.union()), (common, a.len() + b.len() - common));
    let reversed: Vec<u64> = b.iter().rev().copied().collect();
    assert_eq!(overlap_unsorted(&a, &reversed), overlap);
    let expected = overlap.jaccard().filter(|&similarity| similarity >= threshold);
    assert_eq!(at_least(&a, &b, threshold), expected);

    match (first.sketch.similarity(&second.sketch), overlap.jaccard()) {
        (Err(_), exact) => assert_eq!(exact, None),
        (Ok(estimate), Some(exact)) => {
            assert!(estimate.lower() <= estimate.value() && estimate.value() <= estimate.upper());
            assert!(exact < 1.0 || estimate.value() == 1.0, "equal sets differ");
            assert!(!estimate.is_certain() || exact == 0.0);
        }
        (Ok(_), None) => panic!("two empty sets are alike"),
    }
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let [mut first, mut second] = [(); 2].map(|()| Pair::new(program.k.0));
    for (on_first, step) in program.steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
    first.check_bytes();
    second.check_bytes();
    check_comparisons(&first, &second, program.threshold);
}
