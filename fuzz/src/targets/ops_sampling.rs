//! However items come, samples obey what is certain about them.
//!
//! Arbitrary programs (keys one by one and in batches, merges, writing and reading) run on both
//! kinds of reservoir and on exact lists. Which items are kept is chance; that they were shown,
//! that none is kept twice, that as many are kept as can be and that batches and storing change
//! nothing is not.

use std::collections::BTreeSet;

use arbitrary::Arbitrary;
use crivo::keys::{KeyBatch, KeyRef, KeyScheme};
use crivo::sampling::{Reservoir, WeightedReservoir};

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(7);

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    capacity: u8,
    seeds: [u64; 2],
    /// Which of the two sets of samples each step works on.
    steps: Vec<(bool, Step)>,
}

#[derive(Debug, Arbitrary)]
enum Step {
    Insert(f64),
    Batch(Vec<u8>),
    /// Many of one weight: enough to pass over most of them.
    Many {
        count: u16,
        weight: u8,
    },
    MergeOther,
    RefuseOthers,
    WriteAndRead,
}

/// One of each sample. Items are numbered across both sets, so that all are different.
struct Samples {
    capacity: u64,
    uniform: Reservoir,
    weighted: WeightedReservoir,
    shown: BTreeSet<u64>,
    with_weight: BTreeSet<u64>,
}

impl Samples {
    fn new(capacity: u64, seed: u64) -> Self {
        Self {
            capacity,
            uniform: Reservoir::with_scheme(capacity, SCHEME, seed).expect("a capacity"),
            weighted: WeightedReservoir::with_scheme(capacity, SCHEME, seed).expect("a capacity"),
            shown: BTreeSet::new(),
            with_weight: BTreeSet::new(),
        }
    }

    fn step(&mut self, step: Step, other: &Self, next: &mut u64) {
        match step {
            Step::Insert(weight) => self.insert(weight, next),
            Step::Batch(weights) => self.batch(&weights, next),
            Step::Many { count, weight } => self.batch(&vec![weight; usize::from(count % 2048)], next),
            Step::MergeOther => self.merge(other),
            Step::RefuseOthers => self.refuse_others(),
            Step::WriteAndRead => self.write_and_read(),
        }
        self.check();
    }

    fn insert(&mut self, weight: f64, next: &mut u64) {
        let is_weight = weight >= 0.0 && weight.is_finite();
        assert_eq!(self.weighted.insert_ref(KeyRef::Hash(*next), weight).is_ok(), is_weight);
        self.uniform.insert_ref(KeyRef::Hash(*next)).expect("a hash");
        self.shown.insert(*next);
        if is_weight && weight > 0.0 {
            self.with_weight.insert(*next);
        }
        *next += 1;
    }

    fn batch(&mut self, weights: &[u8], next: &mut u64) {
        let items: Vec<u64> = (*next..*next + weights.len() as u64).collect();
        let weights: Vec<f64> = weights.iter().map(|&weight| f64::from(weight) / 8.0).collect();
        let (mut uniform, mut weighted) = (self.uniform.clone(), self.weighted.clone());
        for (&item, &weight) in items.iter().zip(&weights) {
            uniform.insert_ref(KeyRef::Hash(item)).expect("a hash");
            weighted.insert_ref(KeyRef::Hash(item), weight).expect("a weight");
        }
        let batch = KeyBatch::from_hashes(SCHEME, &items).expect("a scheme of hashes");
        self.uniform.insert_batch(&batch).expect("the same scheme");
        self.weighted.insert_batch(&batch, &weights).expect("the same scheme");
        assert_eq!((&uniform, &weighted), (&self.uniform, &self.weighted), "batches matter");
        self.shown.extend(&items);
        self.with_weight
            .extend(items.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0).map(|(item, _)| item));
        *next += items.len() as u64;
    }

    fn merge(&mut self, other: &Self) {
        // The same items twice would be two items, and both might be kept.
        if !self.shown.is_disjoint(&other.shown) {
            return;
        }
        let before: BTreeSet<u64> =
            items(self.uniform.sample()).union(&items(other.uniform.sample())).copied().collect();
        self.uniform.merge(&other.uniform).expect("the same scheme and capacity");
        self.weighted.merge(&other.weighted).expect("the same scheme and capacity");
        assert!(items(self.uniform.sample()).is_subset(&before), "an item that neither sample had");
        self.shown.extend(&other.shown);
        self.with_weight.extend(&other.with_weight);
    }

    fn refuse_others(&mut self) {
        let before = (self.uniform.clone(), self.weighted.clone());
        let other = Self::new(self.capacity + 1, 1);
        assert!(self.uniform.merge(&other.uniform).is_err() && self.weighted.merge(&other.weighted).is_err());
        let batch = KeyBatch::from_hashes(SCHEME.with_seed(8), &[1]).expect("a scheme of hashes");
        assert!(
            self.uniform.insert_batch(&batch).is_err() && self.weighted.insert_batch(&batch, &[1.0]).is_err()
        );
        assert!(self.uniform.insert("text").is_err() && self.weighted.insert("text", 1.0).is_err());
        assert_eq!(before, (self.uniform.clone(), self.weighted.clone()), "a refusal changed it");
    }

    fn write_and_read(&mut self) {
        let uniform = Reservoir::decode(&self.uniform.encode()).expect("what was written can be read");
        let weighted =
            WeightedReservoir::decode(&self.weighted.encode()).expect("what was written can be read");
        assert_eq!((&uniform, &weighted), (&self.uniform, &self.weighted));
        (self.uniform, self.weighted) = (uniform, weighted);
    }

    fn check(&self) {
        check_sample(self.uniform.sample(), self.uniform.seen(), self.capacity, &self.shown);
        check_sample(self.weighted.sample(), self.weighted.seen(), self.capacity, &self.with_weight);
    }
}

fn items<'a>(sample: impl IntoIterator<Item = KeyRef<'a>>) -> BTreeSet<u64> {
    sample.into_iter().map(|key| if let KeyRef::Hash(item) = key { item } else { panic!("{key}") }).collect()
}

fn check_sample<'a>(
    sample: impl IntoIterator<Item = KeyRef<'a>>,
    seen: u64,
    capacity: u64,
    shown: &BTreeSet<u64>,
) {
    let kept = items(sample);
    assert_eq!(seen, shown.len() as u64);
    assert_eq!(kept.len(), shown.len().min(capacity as usize), "as many different items as can be");
    assert!(kept.is_subset(shown), "an item that was not shown");
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let capacity = u64::from(program.capacity) + 1;
    let [mut first, mut second] = program.seeds.map(|seed| Samples::new(capacity, seed));
    let mut next = 0;
    for (on_first, step) in program.steps {
        if on_first { first.step(step, &second, &mut next) } else { second.step(step, &first, &mut next) }
    }
}
