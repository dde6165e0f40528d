//! However HeavyHitters and Majority come about, no key's true count is outside its bounds.
//!
//! Arbitrary programs (insert, weights up to the highest, batches, merges, write and read) run on
//! two pairs of sketches and on two exact tables. The bounds of every key must hold its count, the
//! error must keep the guarantee, and few keys must be exact.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use crivo::Estimate;
use crivo::frequency::{HeavyHitters, Majority, Reading};
use crivo::keys::{KeyBuffer, KeyRef, KeyScheme, Span};

const SCHEME: KeyScheme = KeyScheme::bytes().with_seed(7);

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    capacities: [Capacity; 2],
    /// Which of the two each step works on.
    steps: Vec<(bool, Step)>,
}

/// Few counters, so that programs of a few steps give some up.
#[derive(Debug, Clone, Copy)]
struct Capacity(u64);

impl<'a> Arbitrary<'a> for Capacity {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        u.int_in_range(1..=80).map(Self)
    }
}

#[derive(Debug, Arbitrary)]
enum Step {
    Insert(u8),
    Add(u8, u32),
    /// A weight that soon stops the counters.
    AddHuge(u8, u64),
    InsertBatch(Vec<u8>),
    /// Many different keys, each once.
    InsertMany {
        first: u8,
        count: u8,
    },
    MergeOther,
    WriteAndRead,
}

/// A key's text: of any length from none to some tens of bytes.
fn text(key: u8) -> String {
    char::from(b'a' + key % 26).to_string().repeat(usize::from(key / 5))
}

/// The sketches, and the table they should be the sketches of.
#[derive(Clone)]
struct Triple {
    hitters: HeavyHitters,
    majority: Majority,
    table: BTreeMap<String, u128>,
}

impl Triple {
    fn new(capacity: u64) -> Self {
        let hitters = HeavyHitters::with_scheme(capacity, SCHEME).expect("a capacity of the range");
        Self { hitters, majority: Majority::with_scheme(SCHEME), table: BTreeMap::new() }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert(key) => self.add(key, 1),
            Step::Add(key, weight) => self.add(key, weight.into()),
            Step::AddHuge(key, weight) => self.add(key, weight),
            Step::InsertBatch(keys) => self.insert_batch(&keys),
            Step::InsertMany { first, count } => {
                let keys: Vec<u8> = (0..count).map(|i| first.wrapping_add(i)).collect();
                self.insert_batch(&keys);
            }
            Step::MergeOther => {
                self.hitters.merge(&other.hitters).expect("the same scheme");
                self.majority.merge(&other.majority).expect("the same scheme");
                for (key, count) in &other.table {
                    *self.table.entry(key.clone()).or_default() += count;
                }
            }
            Step::WriteAndRead => {
                let read =
                    HeavyHitters::decode(&self.hitters.encode()).expect("what was written can be read");
                assert_eq!(read, self.hitters);
                self.hitters = read;
                let read = Majority::decode(&self.majority.encode()).expect("what was written can be read");
                assert_eq!(read, self.majority);
                self.majority = read;
            }
        }
        self.check();
    }

    fn add(&mut self, key: u8, weight: u64) {
        let key = text(key);
        self.hitters.add(&key, weight).expect("a short text");
        self.majority.add(&key, weight).expect("a text");
        if weight > 0 {
            *self.table.entry(key).or_default() += u128::from(weight);
        }
    }

    /// A batch is the same as its keys one by one.
    fn insert_batch(&mut self, keys: &[u8]) {
        let mut one_by_one = self.clone();
        keys.iter().for_each(|&key| one_by_one.add(key, 1));
        let mut bytes = String::new();
        let mut buffer = KeyBuffer::new(SCHEME);
        for &key in keys {
            let start = bytes.len();
            bytes += &text(key);
            buffer.push_span(Span::new(start..bytes.len()).expect("a small range"));
        }
        let batch = buffer.hash_spans(bytes.as_bytes()).expect("spans of the bytes");
        self.hitters.insert_batch(&batch).expect("the same scheme");
        self.majority.insert_batch(&batch).expect("the same scheme");
        assert_eq!(self.hitters, one_by_one.hitters);
        assert_eq!(self.majority, one_by_one.majority);
        self.table = one_by_one.table;
    }

    fn check(&self) {
        let total: u128 = self.table.values().sum();
        let highest = u128::from(u64::MAX);
        assert_eq!(u128::from(self.hitters.total()), total.min(highest));
        assert_eq!(self.hitters.total(), self.majority.total());
        let (capacity, error) = (self.hitters.capacity(), u128::from(self.hitters.max_error()));
        let is_saturated = total >= highest;
        assert_eq!(self.hitters.is_saturated(), is_saturated);
        assert!(self.hitters.counters() as u64 <= capacity);
        if !is_saturated {
            assert!(error * u128::from(capacity + 1 - capacity / 4) <= total, "{error} of {total}");
        }
        for (key, &count) in &self.table {
            let estimate = self.hitters.frequency(key).expect("a text");
            holds(estimate, count);
            if self.table.len() as u64 <= capacity && !is_saturated {
                assert!(estimate.lower() == estimate.upper() || count > 1 << 53, "{key} is not exact");
            }
            if !is_saturated {
                holds(self.majority.frequency(key).expect("a text"), count);
                let is_candidate =
                    self.majority.candidate().is_some_and(|it| it.key() == KeyRef::Bytes(key.as_bytes()));
                assert!(is_candidate || 2 * count <= total, "{key} has the majority");
            }
        }
        let listed = self.hitters.top(usize::MAX);
        assert_eq!(listed.len(), self.hitters.counters());
        assert!(listed.windows(2).all(|pair| pair[0].count() >= pair[1].count()));
        if !is_saturated {
            for hitter in self.hitters.above(0.25, Reading::NoFalsePositives).expect("a share") {
                assert!(
                    4 * self.table[&hitter.key().to_string()] > total,
                    "{hitter:?} is not above a quarter"
                );
            }
        }
    }
}

/// Floats are too coarse for counts of more than 53 bits; the library rounds outwards, so this may
/// too.
fn holds(estimate: Estimate, count: u128) {
    assert!(estimate.is_certain() && estimate.covers(count as f64), "{count} is not in {estimate:?}");
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let [mut first, mut second] = program.capacities.map(|Capacity(capacity)| Triple::new(capacity));
    for (on_first, step) in program.steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
}
