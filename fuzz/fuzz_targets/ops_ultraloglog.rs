//! However two UltraLogLogs come about, their bytes are those that docs/format.md gives for their sets.
//!
//! Arbitrary programs (insert, batch, merge at different precisions, write and read) run on two
//! sketches and on two exact sets, from which the payload is then written by definition.
#![no_main]

use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use crivo::distinct::UltraLogLog;
use crivo::keys::KeyScheme;
use libfuzzer_sys::fuzz_target;

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(7);

/// Where the payload begins, and how much follows it.
const HEADER_LEN: usize = 28;
const CHECKSUM_LEN: usize = 4;

#[derive(Debug, Arbitrary)]
struct Program {
    precisions: [Precision; 2],
    /// Which of the two sketches each step works on.
    steps: Vec<(bool, Step)>,
}

/// Up to 14, the first that keeps a histogram: above, a run costs more and shows no more.
#[derive(Debug)]
struct Precision(u8);

impl<'a> Arbitrary<'a> for Precision {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        u.int_in_range(*UltraLogLog::PRECISIONS.start()..=14).map(Self)
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
    WriteAndRead,
}

/// A sketch and the set it should be the sketch of.
struct Pair {
    sketch: UltraLogLog,
    precision: u8,
    set: BTreeSet<u64>,
}

impl Pair {
    fn new(precision: u8) -> Self {
        let sketch = UltraLogLog::with_scheme(precision, SCHEME).expect("a precision of the range");
        Self { sketch, precision, set: BTreeSet::new() }
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
            Step::WriteAndRead => {
                let read = UltraLogLog::decode(&self.sketch.encode()).expect("what was written can be read");
                assert_eq!(read, self.sketch);
                self.sketch = read;
            }
        }
        let (count, estimate) = (self.set.len(), self.sketch.estimate());
        assert!(estimate.lower() <= estimate.value() && estimate.value() <= estimate.upper());
        if count <= UltraLogLog::exact_up_to(self.precision) {
            assert!(estimate.is_exact() && estimate.value() == count as f64, "{count} items, {estimate:?}");
        } else {
            assert!(!estimate.is_certain(), "{count} items, {estimate:?}");
        }
    }

    fn insert(&mut self, hash: u64) {
        self.sketch.insert_hash(hash);
        self.set.insert(hash);
    }

    fn insert_batch(&mut self, hashes: &[u64]) {
        self.sketch.insert_hashes(hashes);
        self.set.extend(hashes);
    }

    fn check_bytes(&self) {
        let encoded = self.sketch.encode();
        let payload = &encoded[HEADER_LEN..encoded.len() - CHECKSUM_LEN];
        assert!(payload == self.expected_payload(), "{} items at {}", self.set.len(), self.precision);
    }

    /// By definition: the set alone decides the bytes, not the way to it.
    fn expected_payload(&self) -> Vec<u8> {
        if self.set.len() <= UltraLogLog::exact_up_to(self.precision) {
            let mut payload = vec![self.precision, 0];
            payload.extend((self.set.len() as u32).to_le_bytes());
            payload.extend(self.set.iter().flat_map(|hash| hash.to_le_bytes()));
            return payload;
        }
        let low_bits = 64 - u32::from(self.precision);
        let mut levels = vec![BTreeSet::new(); 1 << self.precision];
        for hash in &self.set {
            levels[(hash >> low_bits) as usize].insert(hash.trailing_zeros().min(low_bits) as u8 + 1);
        }
        let registers = levels.iter().map(|levels| match levels.last() {
            None => 0,
            Some(&highest) => {
                let saw = |back: u8| u8::from(highest > back && levels.contains(&(highest - back)));
                4 * highest + 2 * saw(1) + saw(2)
            }
        });
        [self.precision, 1].into_iter().chain(registers).collect()
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
