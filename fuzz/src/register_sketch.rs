//! However two register sketches come about, their bytes are those that docs/format.md gives for
//! their sets.
//!
//! Arbitrary programs (insert, batch, merge at different precisions, write and read) run on two
//! sketches and on two exact sets, from which a file of the format's first version is then written
//! by definition. It must read as the same sketch. The count must be exact while it is promised to
//! be.

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use crivo::distinct::RegisterSketch;
use crivo::keys::KeyBatch;

use crate::models::{RegisterModel, SCHEME, of_hashes, version_1};

/// What to do with two sketches.
#[derive(Debug, Arbitrary)]
pub struct RegisterProgram {
    precisions: [Precision; 2],
    /// Which of the two sketches each step works on.
    steps: Vec<(bool, Step)>,
}

/// Up to 14, the first that keeps a histogram: above, a run costs more and shows no more.
#[derive(Debug)]
struct Precision(u8);

impl<'a> Arbitrary<'a> for Precision {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        u.int_in_range(4..=14).map(Self)
    }
}

#[derive(Debug, Arbitrary)]
enum Step {
    Insert(u64),
    /// A hash with a long run of trailing zeros, which chance would not find.
    InsertRare {
        bits: u16,
        zeros: u8,
    },
    InsertBatch(Vec<u64>),
    /// Enough different hashes to leave the exact state and to raise every register.
    InsertMany {
        start: u32,
        count: u16,
        zeros: u8,
    },
    MergeOther,
    MergeItself,
    RefuseOtherSeed,
    WriteAndRead,
}

impl RegisterProgram {
    /// Runs the program on sketches of one kind, and panics if a promise is broken.
    pub fn run<K: RegisterModel>(self) {
        let [mut first, mut second] = self.precisions.map(|Precision(precision)| Pair::<K>::new(precision));
        for (on_first, step) in self.steps {
            if on_first { first.step(step, &second) } else { second.step(step, &first) }
        }
        first.check_bytes();
        second.check_bytes();
    }
}

/// A sketch and the set it should be the sketch of.
struct Pair<K: RegisterModel> {
    sketch: RegisterSketch<K>,
    precision: u8,
    set: BTreeSet<u64>,
}

impl<K: RegisterModel> Pair<K> {
    fn new(precision: u8) -> Self {
        Self { sketch: of_hashes(precision), precision, set: BTreeSet::new() }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert(hash) => self.insert(hash),
            Step::InsertRare { bits, zeros } => {
                self.insert(u64::from(bits).rotate_right(16) | 1_u64 << (zeros % 64))
            }
            Step::InsertBatch(hashes) => self.insert_batch(&hashes),
            Step::InsertMany { start, count, zeros } => {
                let start = u64::from(start);
                let hashes =
                    (start..start + u64::from(count % 4096)).map(|number| mix(number) << (zeros % 50));
                self.insert_batch(&hashes.collect::<Vec<_>>());
            }
            Step::MergeOther => {
                self.sketch.merge(&other.sketch).expect("the same scheme");
                self.set.extend(&other.set);
                self.precision = self.precision.min(other.precision);
            }
            Step::MergeItself => {
                let same = self.sketch.clone();
                self.sketch.merge(&same).expect("the same scheme");
            }
            Step::RefuseOtherSeed => {
                let before = self.sketch.clone();
                let stranger = RegisterSketch::with_scheme(4, SCHEME.with_seed(8));
                assert!(self.sketch.merge(&stranger.expect("a precision of the range")).is_err());
                assert_eq!(self.sketch, before, "a refused merge changed the sketch");
            }
            Step::WriteAndRead => {
                let read =
                    RegisterSketch::decode(&self.sketch.encode()).expect("what was written can be read");
                assert_eq!(read, self.sketch);
                self.sketch = read;
            }
        }
        self.check_count();
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

    fn check_count(&self) {
        let (count, estimate) = (self.set.len(), self.sketch.estimate());
        let exact_up_to = RegisterSketch::<K>::exact_up_to(self.precision);
        assert_eq!(self.sketch.precision(), self.precision);
        assert_eq!(self.sketch.is_empty(), count == 0);
        assert!(estimate.lower() <= estimate.value() && estimate.value() <= estimate.upper());
        if count <= exact_up_to {
            assert!(estimate.is_exact() && estimate.value() == count as f64, "{count} items, {estimate:?}");
        } else {
            let is_above = estimate.lower() > exact_up_to as f64;
            assert!(!estimate.is_certain() && is_above, "{count} items, {estimate:?}");
        }
    }

    /// The set alone decides the bytes, not the way to it.
    fn check_bytes(&self) {
        let hashes: Vec<u64> = self.set.iter().copied().collect();
        let by_definition = RegisterSketch::<K>::decode(&version_1::<K>(&hashes, self.precision));
        assert_eq!(by_definition.as_ref(), Ok(&self.sketch), "{} items at {}", hashes.len(), self.precision);
        let mut fresh = of_hashes::<K>(self.precision);
        fresh.insert_hashes(&hashes);
        assert!(fresh.encode() == self.sketch.encode(), "{} items at {}", hashes.len(), self.precision);
    }
}

/// A bijection that spreads small numbers over 64 bits (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}
