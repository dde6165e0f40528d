//! However Count-Min sketches come about, they are the sketches of their streams.
//!
//! Arbitrary programs (insert, weights up to the highest, batches, merges, write and read) run on
//! two sketches and on two exact tables. No answer may be below the truth, nor above what plain
//! counters would answer; plain sketches must have the bytes of one built from the table in one go.
//! The same keys go into a `RangeCountMin`, whose ranges are held to the same table.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use crivo::Confidence;
use crivo::frequency::{CountMin, RangeCountMin};
use crivo::keys::{KeyBuffer, KeyScheme};

const SCHEME: KeyScheme = KeyScheme::integers().with_seed(7);
const LEVELS: u32 = 10;

/// A key of that universe.
#[derive(Debug, Clone, Copy)]
struct Small(u16);

impl<'a> Arbitrary<'a> for Small {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        u.int_in_range(0..=(1 << LEVELS) - 1).map(Self)
    }
}

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    shape: Shape,
    conservative: bool,
    /// Which of the two sketches each step works on.
    steps: Vec<(bool, Step)>,
    ranges: Vec<(Small, Small)>,
}

/// Small tables: keys meet in them, and thousands are made a second.
#[derive(Debug, Clone, Copy)]
struct Shape {
    width: u32,
    depth: u32,
}

impl<'a> Arbitrary<'a> for Shape {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self { width: u.int_in_range(1..=40)?, depth: u.int_in_range(1..=6)? })
    }
}

#[derive(Debug, Arbitrary)]
enum Step {
    Insert(Small),
    Add(Small, u32),
    /// A weight that soon stops the counters.
    AddHuge(Small, u64),
    AddBatch(Vec<(Small, u8)>),
    MergeOther,
    WriteAndRead,
}

/// A sketch, the same of ranges, and the table they should be the sketches of.
struct Triple {
    shape: Shape,
    sketch: CountMin,
    ranges: RangeCountMin,
    table: BTreeMap<u16, u64>,
}

impl Triple {
    fn new(shape: Shape, conservative: bool) -> Self {
        let make = if conservative { CountMin::conservative_with_scheme } else { CountMin::with_scheme };
        let sketch = make(shape.width, shape.depth, SCHEME).expect("a valid size");
        let ranges =
            RangeCountMin::with_scheme(LEVELS, shape.width, shape.depth, SCHEME).expect("a valid size");
        Self { shape, sketch, ranges, table: BTreeMap::new() }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert(Small(key)) => {
                self.sketch.insert(&key).expect("an integer key");
                self.ranges.insert(&key).expect("a key of the universe");
                self.count(key, 1);
            }
            Step::Add(Small(key), weight) => self.add(key, weight.into()),
            Step::AddHuge(Small(key), weight) => self.add(key, weight),
            Step::AddBatch(pairs) => {
                let keys: Vec<u64> = pairs.iter().map(|&(Small(key), _)| key.into()).collect();
                let weights: Vec<u64> = pairs.iter().map(|&(_, weight)| weight.into()).collect();
                let mut buffer = KeyBuffer::new(SCHEME);
                let batch = buffer.hash_integers(&keys).expect("integer keys");
                self.sketch.add_batch(&batch, &weights).expect("as many weights");
                self.ranges.add_batch(&batch, &weights).expect("keys of the universe");
                pairs.iter().for_each(|&(Small(key), weight)| self.count(key, weight.into()));
            }
            Step::MergeOther => {
                let before = self.sketch.clone();
                if self.sketch.merge(&other.sketch).is_ok() {
                    self.ranges.merge(&other.ranges).expect("the same size");
                    other.table.iter().for_each(|(&key, &weight)| self.count(key, weight));
                } else {
                    assert!(self.sketch.is_conservative());
                    assert_eq!(self.sketch, before, "a refused merge changed the sketch");
                }
            }
            Step::WriteAndRead => {
                self.sketch = CountMin::decode(&self.sketch.encode()).expect("what was written is read");
                self.ranges = RangeCountMin::decode(&self.ranges.encode()).expect("what was written is read");
            }
        }
    }

    fn add(&mut self, key: u16, weight: u64) {
        self.sketch.add(&key, weight).expect("an integer key");
        self.ranges.add(&key, weight).expect("a key of the universe");
        self.count(key, weight);
    }

    fn count(&mut self, key: u16, weight: u64) {
        let count = self.table.entry(key).or_default();
        *count = count.saturating_add(weight);
    }

    fn total(&self) -> u64 {
        self.table.values().fold(0, |total, &count| total.saturating_add(count))
    }

    fn check(&self, ranges: &[(Small, Small)]) {
        let total = self.total();
        assert_eq!((self.sketch.total(), self.ranges.total()), (total, total));
        assert_eq!(self.sketch.is_saturated(), total == u64::MAX);
        let plain = self.rebuilt();
        if !self.sketch.is_conservative() {
            assert!(plain.sketch.encode() == self.sketch.encode(), "other bytes than the stream has");
        }
        assert!(plain.ranges.encode() == self.ranges.encode(), "other bytes than the stream has");
        for (key, &truth) in &self.table {
            let found = self.sketch.frequency(key).expect("an integer key");
            let most = plain.sketch.frequency(key).expect("an integer key");
            assert!(truth as f64 <= found.value() && found.value() <= most.value(), "{key}: {found:?}");
            assert!(found.lower() <= found.value() && found.value() <= found.upper());
        }
        let square = plain.sketch.inner_product(&plain.sketch).expect("the same sketch");
        let truth: f64 = self.table.values().map(|&count| count as f64 * count as f64).sum();
        // Sums of rounded squares differ in their last digits.
        assert!(total == u64::MAX || square.value() >= truth * (1.0 - 1e-12), "{truth}, {square:?}");
        for &(Small(a), Small(b)) in ranges {
            self.check_range(a.min(b), a.max(b));
        }
    }

    fn check_range(&self, first: u16, last: u16) {
        let truth = self.table.range(first..=last).fold(0, |sum: u64, (_, &count)| sum.saturating_add(count));
        let range = u64::from(first)..=u64::from(last);
        let found = self.ranges.range_at(range.clone(), Confidence::CERTAIN).expect("a range");
        assert!(found.covers(truth as f64) && found.value() >= truth as f64, "{range:?}: {truth}, {found:?}");
        let found = self.ranges.range(range).expect("a range of the universe");
        assert!(found.lower() <= found.value() && found.value() <= found.upper());
        if self.total() > 0 {
            let quantile = self.ranges.quantile(f64::from(first) / 1_023.0).expect("a share of something");
            assert!(quantile.lower() <= quantile.value() && quantile.value() <= quantile.upper());
        }
    }

    /// The plain sketches of the table.
    fn rebuilt(&self) -> Self {
        let mut fresh = Self::new(self.shape, false);
        self.table.iter().for_each(|(&key, &weight)| fresh.add(key, weight));
        fresh
    }
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let Program { shape, conservative, steps, ranges } = program;
    let (mut first, mut second) = (Triple::new(shape, conservative), Triple::new(shape, conservative));
    for (on_first, step) in steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
    first.check(&ranges);
    second.check(&ranges);
}
