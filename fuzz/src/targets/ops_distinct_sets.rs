//! However two sketches of the smallest hashes come about, they compare as their sets do.
//!
//! Arbitrary programs (insert, batch, merge at different sizes, write and read) run on two sketches
//! and on two exact sets. The bytes must be those of the sets' smallest hashes; answers must be the
//! truth while both sketches hold their whole sets, and beyond that within what the kept hashes
//! make certain.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use crivo::Estimate;
use crivo::distinct::KMinValues;
use crivo::keys::{KeyBatch, KeyScheme};

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(7);

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    sizes: [Size; 2],
    /// Which of the two sketches each step works on.
    steps: Vec<(bool, Step)>,
}

/// Mostly small, because what happens at the limit happens sooner there.
#[derive(Debug)]
struct Size(u32);

impl<'a> Arbitrary<'a> for Size {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let most = u.choose(&[1, 4, 40, 600])?;
        u.int_in_range(1..=*most).map(Self)
    }
}

#[derive(Debug, Arbitrary)]
enum Step {
    Insert(u64),
    /// Hashes that both sketches are likely to meet.
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
    sketch: KMinValues,
    k: u32,
    set: BTreeSet<u64>,
}

impl Pair {
    fn new(k: u32) -> Self {
        Self { sketch: empty(k), k, set: BTreeSet::new() }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert(hash) => self.insert_batch(&[hash]),
            Step::InsertNear(near) => {
                let hash = u64::from(near % 16) << 60;
                self.sketch.insert_hash(hash);
                self.set.insert(hash);
            }
            Step::InsertBatch(hashes) => self.insert_batch(&hashes),
            Step::InsertMany { start, count } => {
                let start = u64::from(start);
                let hashes: Vec<u64> = (start..start + u64::from(count % 2048)).map(mix).collect();
                self.insert_batch(&hashes);
            }
            Step::MergeOther => {
                self.sketch.merge(&other.sketch).expect("the same scheme");
                self.set.extend(&other.set);
                self.k = self.k.min(other.k);
            }
            Step::MergeItself => {
                let same = self.sketch.clone();
                self.sketch.merge(&same).expect("the same scheme");
            }
            Step::RefuseOtherSeed => {
                let before = self.sketch.clone();
                let stranger = KMinValues::with_scheme(4, SCHEME.with_seed(8)).expect("a size of the range");
                assert!(self.sketch.merge(&stranger).is_err() && self.sketch.compare(&stranger).is_err());
                assert_eq!(self.sketch, before, "a refused merge changed the sketch");
            }
            Step::WriteAndRead => {
                let read = KMinValues::decode(&self.sketch.encode()).expect("what was written can be read");
                assert_eq!(read, self.sketch);
                self.sketch = read;
            }
        }
        self.check();
    }

    fn insert_batch(&mut self, hashes: &[u64]) {
        let batch = KeyBatch::from_hashes(SCHEME, hashes).expect("a scheme of hashes");
        self.sketch.insert_batch(&batch).expect("the same scheme");
        self.set.extend(hashes);
    }

    fn is_whole(&self) -> bool {
        self.set.len() < self.k as usize
    }

    fn check(&self) {
        let estimate = self.sketch.estimate();
        assert_eq!((self.sketch.k(), self.sketch.is_empty()), (self.k, self.set.is_empty()));
        if self.is_whole() {
            assert_eq!(estimate, Estimate::exact(self.set.len() as f64));
        } else {
            assert!(!estimate.is_certain() && estimate.lower() >= f64::from(self.k), "{estimate:?}");
        }
        let mut fresh = empty(self.k);
        self.set.iter().for_each(|&hash| fresh.insert_hash(hash));
        assert!(fresh.encode() == self.sketch.encode(), "{} items of {}", self.set.len(), self.k);
        assert_eq!(fresh, self.sketch);
    }

    fn check_comparison(&self, other: &Self) {
        let compared = self.sketch.compare(&other.sketch).expect("the same scheme");
        let both = self.set.intersection(&other.set).count() as f64;
        let (first, second) = (self.set.len() as f64, other.set.len() as f64);
        let union = first + second - both;
        let similarity = if union == 0.0 { 1.0 } else { both / union };
        let answers = [
            (compared.union(), union),
            (compared.intersection(), both),
            (compared.difference(), first - both),
            (compared.jaccard(), similarity),
        ];
        for (answer, truth) in answers {
            if self.is_whole() && other.is_whole() {
                assert_eq!(answer, Estimate::exact(truth));
            }
            assert!(answer.lower() <= answer.value() && answer.value() <= answer.upper(), "{answer:?}");
            assert!(!answer.is_certain() || answer == Estimate::exact(truth), "{answer:?}, truth {truth}");
        }
        // Hashes of a fuzzer's choice are not uniform, so only certain limits can be held.
        assert!(compared.intersection().upper() <= if self.is_whole() { first } else { f64::INFINITY });
        assert!(compared.jaccard().upper() <= 1.0);
    }
}

fn empty(k: u32) -> KMinValues {
    KMinValues::with_scheme(k, SCHEME).expect("a size of the range")
}

/// A bijection that spreads small numbers over 64 bits (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let [mut first, mut second] = program.sizes.map(|Size(k)| Pair::new(k));
    for (on_first, step) in program.steps {
        if on_first {
            first.step(step, &second)
        } else {
            second.step(step, &first)
        }
        first.check_comparison(&second);
    }
    second.check_comparison(&first);
}
