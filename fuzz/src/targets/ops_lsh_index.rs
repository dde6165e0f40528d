//! However an index comes about, it answers as comparing all of its sets does.
//!
//! Arbitrary programs insert sets of a few small elements, many of them equal, and remove them
//! again; a map from ids to sketches is the model. Each pair that shares a band must be named once,
//! and no other.

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use crivo::keys::KeyScheme;
use crivo::similarity::{Bands, LshIndex, MinHash};

const K: u32 = 12;

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    rows: u8,
    steps: Vec<Step>,
}

#[derive(Debug, Arbitrary)]
enum Step {
    /// The bits are the elements of the set.
    Insert {
        id: u8,
        elements: u16,
    },
    /// Sets in a row, so that removing them leaves something to clean up.
    InsertMany {
        start: u8,
        count: u8,
        elements: u16,
    },
    Remove(u8),
    RemoveMany {
        start: u8,
        count: u8,
    },
    Check,
}

struct Model {
    index: LshIndex,
    sets: BTreeMap<u64, MinHash>,
}

fn sketch(elements: u16) -> MinHash {
    let mut sketch = MinHash::with_scheme(K, KeyScheme::integers()).expect("a size of the range");
    (0..16_u64)
        .filter(|bit| elements >> bit & 1 == 1)
        .for_each(|bit| sketch.insert(&bit).expect("an integer"));
    sketch
}

impl Model {
    fn step(&mut self, step: Step) {
        match step {
            Step::Insert { id, elements } => self.insert(id.into(), elements),
            Step::InsertMany { start, count, elements } => {
                (0..u64::from(count))
                    .for_each(|i| self.insert(u64::from(start) + i, elements ^ (i as u16 >> 3)));
            }
            Step::Remove(id) => self.remove(id.into()),
            Step::RemoveMany { start, count } => {
                (0..u64::from(count)).for_each(|i| self.remove(u64::from(start) + i));
            }
            Step::Check => self.check(),
        }
    }

    fn insert(&mut self, id: u64, elements: u16) {
        let set = sketch(elements);
        let inserted = self.index.insert(id, &set).is_ok();
        assert_eq!(inserted, !set.is_empty() && !self.sets.contains_key(&id));
        if inserted {
            self.sets.insert(id, set);
        }
    }

    fn remove(&mut self, id: u64) {
        assert_eq!(self.index.remove(id), self.sets.remove(&id).is_some());
    }

    fn meet(&self, a: &MinHash, b: &MinHash) -> bool {
        let (bands, rows) = (self.index.bands().bands() as usize, self.index.bands().rows() as usize);
        (0..bands).any(|band| {
            let rows = band * rows..(band + 1) * rows;
            a.slots()[rows.clone()] == b.slots()[rows]
        })
    }

    fn check(&self) {
        assert_eq!(self.index.len(), self.sets.len());
        let mut pairs = Vec::new();
        for (&id, set) in &self.sets {
            assert!(self.index.contains(id));
            let near = self.sets.iter().filter(|(_, other)| self.meet(set, other)).map(|(&other, _)| other);
            let near: Vec<u64> = near.collect();
            pairs.extend(near.iter().filter(|&&other| other > id).map(|&other| (id, other)));
            assert_eq!(self.index.candidates_to(set).expect("the same size and scheme"), near);
        }
        assert_eq!(self.index.candidates(), pairs);
    }
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let rows = u32::from(program.rows) % K + 1;
    let bands = Bands::new(K / rows, rows).expect("at least one band");
    let index = LshIndex::with_scheme(K, bands, KeyScheme::integers()).expect("no more slots than there are");
    let mut model = Model { index: index.with_all_pairs_up_to(usize::MAX), sets: BTreeMap::new() };
    // A check compares all pairs: a few are enough.
    for step in program.steps.into_iter().take(200) {
        model.step(step);
    }
    model.check();
}
