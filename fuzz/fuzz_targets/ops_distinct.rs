//! However two sketches come about, they are the sketches of their sets.
//!
//! Arbitrary programs (insert, batch, merge at different precisions, write and read) run on two
//! HyperLogLogs and on two exact sets. The count must be exact while it is promised to be, and
//! the bytes must always be those of a sketch built from the set in one go.
#![no_main]

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use crivo::distinct::HyperLogLog;
use crivo::keys::{KeyBatch, KeyScheme};
use libfuzzer_sys::fuzz_target;

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(7);

#[derive(Debug, Arbitrary)]
struct Program {
    precisions: [Precision; 2],
    /// Which of the two sketches each step works on.
    steps: Vec<(bool, Step)>,
}

/// Up to 14: above, a run costs more and shows no more.
#[derive(Debug)]
struct Precision(u8);

impl<'a> Arbitrary<'a> for Precision {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        u.int_in_range(*HyperLogLog::PRECISIONS.start()..=14).map(Self)
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
    /// Enough different hashes to leave the exact state.
    InsertMany {
        start: u32,
        count: u16,
    },
    MergeOther,
    MergeItself,
    RefuseOtherSeed,
    WriteAndRead,
}

/// A sketch and the set it should be the sketch of.
struct Pair {
    sketch: HyperLogLog,
    precision: u8,
    set: BTreeSet<u64>,
}

impl Pair {
    fn new(precision: u8) -> Self {
        let sketch = HyperLogLog::with_scheme(precision, SCHEME).expect("a precision of the range");
        Self { sketch, precision, set: BTreeSet::new() }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert(hash) => self.insert(hash),
            Step::InsertRare { bits, zeros } => {
                self.insert(u64::from(bits).rotate_right(16) | 1_u64 << (zeros % 64))
            }
            Step::InsertBatch(hashes) => self.insert_batch(&hashes),
            Step::InsertMany { start, count } => {
                let start = u64::from(start);
                let hashes: Vec<u64> = (start..start + u64::from(count % 4096)).map(mix).collect();
                self.insert_batch(&hashes);
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
                let stranger =
                    HyperLogLog::with_scheme(4, SCHEME.with_seed(8)).expect("a precision of the range");
                assert!(self.sketch.merge(&stranger).is_err());
                assert_eq!(self.sketch, before, "a refused merge changed the sketch");
            }
            Step::WriteAndRead => {
                let read = HyperLogLog::decode(&self.sketch.encode()).expect("what was written can be read");
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
        let exact_up_to = HyperLogLog::exact_up_to(self.precision);
        assert_eq!(self.sketch.precision(), self.precision);
        assert_eq!(self.sketch.is_empty(), count == 0);
        assert!(estimate.lower() <= estimate.value() && estimate.value() <= estimate.upper());
        if count <= exact_up_to {
            assert!(estimate.is_exact() && estimate.value() == count as f64, "{count} items, {estimate:?}");
        } else {
            assert!(
                !estimate.is_certain() && estimate.lower() > exact_up_to as f64,
                "{count} items, {estimate:?}"
            );
        }
    }

    /// The set alone decides the bytes, not the way to it.
    fn check_bytes(&self) {
        let mut fresh = Self::new(self.precision).sketch;
        self.set.iter().for_each(|&hash| fresh.insert_hash(hash));
        assert!(fresh.encode() == self.sketch.encode(), "{} items at {}", self.set.len(), self.precision);
        assert_eq!(fresh, self.sketch);
    }
}

/// A bijection that spreads small numbers over 64 bits (the finaliser of SplitMix64).
fn mix(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

fuzz_target!(|program: Program| {
    let [mut first, mut second] = program.precisions.map(|Precision(precision)| Pair::new(precision));
    for (on_first, step) in program.steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
    first.check_bytes();
    second.check_bytes();
});
