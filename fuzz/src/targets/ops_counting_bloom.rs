//! However two counting Bloom filters come about, they are the filters of their multisets.
//!
//! Arbitrary programs (insert, add, remove, batches, merge, subtract, write and read) run on two
//! filters and on two exact multisets. Nothing that is in there may be missed or counted too low;
//! removal and subtraction are refused only if the multiset agrees; and while no counter is
//! saturated, the bytes must be those of a filter built from the multiset in one go.

use std::collections::BTreeMap;

use arbitrary::{Arbitrary, Unstructured};
use crivo::ErrorKind;
use crivo::keys::{KeyBatch, KeyScheme};
use crivo::membership::{CounterBits, CountingBloom};

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(7);

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    size: Size,
    /// Which of the two filters each step works on.
    steps: Vec<(bool, Step)>,
}

/// Small filters: keys must meet each other to show anything.
#[derive(Debug, Clone, Copy)]
struct Size {
    cells: u64,
    hashes: u32,
    width: CounterBits,
}

impl<'a> Arbitrary<'a> for Size {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let width = *u.choose(&CounterBits::ALL)?;
        Ok(Self { cells: u.int_in_range(1..=600)?, hashes: u.int_in_range(1..=64)?, width })
    }
}

#[derive(Debug, Arbitrary)]
enum Step {
    Insert(u8),
    Add(u8, u16),
    /// A key that is in there.
    Remove(u8),
    /// A key that may never have been: done only if it must be refused.
    RemoveStranger(u64),
    InsertBatch(Vec<u8>),
    RemoveBatch(Vec<u8>),
    MergeOther,
    /// The other filter, if all that it holds is in there; otherwise it may be refused.
    SubtractOther,
    MergeAndSubtractOther,
    Intersect,
    RefuseOtherSize,
    WriteAndRead,
}

/// A filter and the multiset it should be the filter of.
struct Pair {
    filter: CountingBloom,
    size: Size,
    counts: BTreeMap<u64, u64>,
    /// A counter was saturated, so what it held is forgotten.
    forgot: bool,
}

impl Pair {
    fn new(size: Size) -> Self {
        let filter = CountingBloom::with_scheme(size.cells, size.hashes, size.width, SCHEME)
            .expect("a size of the range");
        Self { filter, size, counts: BTreeMap::new(), forgot: false }
    }

    fn count(&self, hash: u64) -> u64 {
        self.counts.get(&hash).copied().unwrap_or(0)
    }

    fn add(&mut self, hash: u64, times: u64) {
        self.set(hash, self.count(hash).saturating_add(times));
    }

    fn take(&mut self, hash: u64, times: u64) {
        self.set(hash, self.count(hash) - times);
    }

    fn set(&mut self, hash: u64, count: u64) {
        if count > 0 {
            self.counts.insert(hash, count);
        } else {
            self.counts.remove(&hash);
        }
    }

    /// Whether the multiset holds the other.
    fn holds(&self, other: &Self) -> bool {
        other.counts.iter().all(|(&hash, &count)| self.count(hash) >= count)
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert(key) => {
                let is_new = self.filter.insert_hash(mix(key));
                assert!(!is_new || self.count(mix(key)) == 0, "what is in there was called new");
                self.add(mix(key), 1);
            }
            Step::Add(key, times) => {
                self.filter.add_hash(mix(key), times.into());
                self.add(mix(key), times.into());
            }
            Step::Remove(key) if self.count(mix(key)) > 0 => {
                self.filter.remove_hash(mix(key)).expect("it is in there");
                self.take(mix(key), 1);
            }
            Step::RemoveStranger(hash) if !self.filter.contains_hash(hash) => {
                let before = self.filter.clone();
                let error = self.filter.remove_hash(hash).expect_err("a counter is zero");
                assert_eq!(error.kind(), ErrorKind::Absent);
                assert_eq!(self.filter, before, "a refused removal changed the filter");
            }
            Step::Remove(_) | Step::RemoveStranger(_) => {}
            Step::InsertBatch(keys) => {
                let hashes: Vec<u64> = keys.iter().map(|&key| mix(key)).collect();
                let batch = KeyBatch::from_hashes(SCHEME, &hashes).expect("a scheme of hashes");
                self.filter.insert_batch(&batch).expect("the same scheme");
                hashes.iter().for_each(|&hash| self.add(hash, 1));
            }
            Step::RemoveBatch(keys) => self.remove_batch(&keys),
            Step::MergeOther => {
                self.filter.merge(&other.filter).expect("the same size");
                other.counts.iter().for_each(|(&hash, &count)| self.add(hash, count));
                self.forgot |= other.forgot;
            }
            Step::SubtractOther => self.subtract(other),
            Step::MergeAndSubtractOther => {
                self.step(Step::MergeOther, other);
                self.step(Step::SubtractOther, other);
            }
            Step::Intersect => {
                let both = self.filter.shared_cells(&other.filter).expect("the same size");
                for (&hash, &count) in &self.counts {
                    let shared = count.min(other.count(hash)) as f64;
                    assert!(both.count_hash(hash).upper() >= shared, "a shared key was lost");
                }
                let shared = self.filter.shared_items(&other.filter).expect("the same size");
                assert!(shared.lower() <= shared.value() && shared.value() <= shared.upper());
            }
            Step::RefuseOtherSize => {
                let before = self.filter.clone();
                let stranger = Self::new(Size { cells: self.size.cells + 1, ..self.size });
                assert!(self.filter.merge(&stranger.filter).is_err());
                assert!(self.filter.subtract(&stranger.filter).is_err());
                assert!(self.filter.shared_cells(&stranger.filter).is_err());
                assert_eq!(self.filter, before, "a refusal changed the filter");
            }
            Step::WriteAndRead => {
                let read =
                    CountingBloom::decode(&self.filter.encode()).expect("what was written can be read");
                assert_eq!(read, self.filter);
                self.filter = read;
            }
        }
        self.forgot |= self.filter.saturated() > 0;
    }

    /// All or nothing: all if all are in there, and nothing if it is refused.
    fn remove_batch(&mut self, keys: &[u8]) {
        let mut wanted = Self::new(self.size);
        let hashes: Vec<u64> = keys.iter().map(|&key| mix(key)).collect();
        hashes.iter().for_each(|&hash| wanted.add(hash, 1));
        let before = self.filter.clone();
        let outcome = self.filter.remove_hashes(&hashes);
        if self.holds(&wanted) {
            assert_eq!(outcome, Ok(()), "all of it is in there");
            hashes.iter().for_each(|&hash| self.take(hash, 1));
        } else {
            // Accepted if every key is a false positive: harm that the documentation warns of.
            if let Err(error) = outcome {
                assert_eq!(error.kind(), ErrorKind::Absent);
                assert_eq!(self.filter, before, "a refused removal changed the filter");
            }
            self.filter = before;
        }
    }

    fn subtract(&mut self, other: &Self) {
        let before = self.filter.clone();
        let outcome = self.filter.subtract(&other.filter);
        if self.holds(other) && !other.forgot {
            assert_eq!(outcome, Ok(()), "all of it is in there");
            other.counts.iter().for_each(|(&hash, &count)| self.take(hash, count));
        } else {
            if let Err(error) = outcome {
                assert_eq!(error.kind(), ErrorKind::Absent);
                assert_eq!(self.filter, before, "a refused subtraction changed the filter");
            }
            self.filter = before;
        }
    }

    fn check(&self) {
        let mut found = Vec::new();
        let hashes: Vec<u64> = self.counts.keys().copied().collect();
        self.filter.contains_hashes(&hashes, &mut found);
        assert!(found.iter().all(|&found| found), "a key was missed");
        for (&hash, &count) in &self.counts {
            assert!(self.filter.count_hash(hash).upper() >= count as f64, "{count} times, counted too low");
        }
        let items = self.filter.items();
        assert!(items.lower() <= items.value() && items.value() <= items.upper());
        assert!(self.filter.is_empty() || items.lower() >= 1.0);
        if !self.forgot {
            let mut fresh = Self::new(self.size).filter;
            self.counts.iter().for_each(|(&hash, &count)| _ = fresh.add_hash(hash, count));
            assert!(fresh.encode() == self.filter.encode(), "{:?}", self.size);
            assert_eq!(fresh, self.filter);
        }
    }
}

/// Few keys, spread over 64 bits (the finaliser of SplitMix64).
fn mix(key: u8) -> u64 {
    let mixed = u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ mixed >> 31
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let (mut first, mut second) = (Pair::new(program.size), Pair::new(program.size));
    for (on_first, step) in program.steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
    first.check();
    second.check();
}
