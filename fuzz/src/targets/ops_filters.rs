//! However two filters come about, they hold what was put in, and their bytes are those of their
//! sets.
//!
//! Arbitrary programs (insert, batch, merge, intersect, write and read) run on two filters of each
//! kind and on two exact sets. After an intersection the set of keys no longer decides the bits, so
//! from then on only membership is compared.

use std::collections::BTreeSet;

use arbitrary::Arbitrary;
use crivo::keys::KeyScheme;
use crivo::membership::{BlockedBloom, Bloom};

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(7);

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    bits: u16,
    hashes: u8,
    blocks: u8,
    /// Which of the two sides each step works on.
    steps: Vec<(bool, Step)>,
}

#[derive(Debug, Arbitrary)]
enum Step {
    Insert(u64),
    InsertBatch(Vec<u64>),
    MergeOther,
    IntersectOther,
    WriteAndRead,
}

#[derive(Clone)]
struct Side {
    bloom: Bloom,
    blocked: BlockedBloom,
    set: BTreeSet<u64>,
    is_built_from_set: bool,
}

impl Side {
    fn new(program: &Program) -> Self {
        let (bits, hashes) = (u64::from(program.bits) + 1, u32::from(program.hashes % 64) + 1);
        Self {
            bloom: Bloom::with_scheme(bits, hashes, SCHEME).expect("a valid size"),
            blocked: BlockedBloom::with_scheme(u64::from(program.blocks) + 1, SCHEME).expect("a valid size"),
            set: BTreeSet::new(),
            is_built_from_set: true,
        }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert(hash) => {
                let was_there = (self.bloom.contains_hash(hash), self.blocked.contains_hash(hash));
                assert_eq!((!self.bloom.insert_hash(hash), !self.blocked.insert_hash(hash)), was_there);
                self.set.insert(hash);
            }
            Step::InsertBatch(hashes) => {
                self.bloom.insert_hashes(&hashes);
                self.blocked.insert_hashes(&hashes);
                self.set.extend(&hashes);
            }
            Step::MergeOther => {
                self.bloom.merge(&other.bloom).expect("the same size");
                self.blocked.merge(&other.blocked).expect("the same size");
                self.set.extend(&other.set);
                self.is_built_from_set &= other.is_built_from_set;
            }
            Step::IntersectOther => {
                self.bloom = self.bloom.shared_cells(&other.bloom).expect("the same size");
                self.blocked = self.blocked.shared_cells(&other.blocked).expect("the same size");
                self.set = self.set.intersection(&other.set).copied().collect();
                self.is_built_from_set = false;
            }
            Step::WriteAndRead => {
                self.bloom = Bloom::decode(&self.bloom.encode()).expect("what was written can be read");
                self.blocked =
                    BlockedBloom::decode(&self.blocked.encode()).expect("what was written can be read");
            }
        }
    }

    fn check(&self, program: &Program) {
        let hashes: Vec<u64> = self.set.iter().copied().collect();
        let mut found = Vec::new();
        self.bloom.contains_hashes(&hashes, &mut found);
        assert!(found.iter().all(|&found| found) && found.len() == hashes.len());
        self.blocked.contains_hashes(&hashes, &mut found);
        assert!(found.iter().all(|&found| found) && found.len() == hashes.len());
        if self.is_built_from_set {
            let mut fresh = Self::new(program);
            fresh.bloom.insert_hashes(&hashes);
            fresh.blocked.insert_hashes(&hashes);
            assert!(fresh.bloom.encode() == self.bloom.encode());
            assert!(fresh.blocked.encode() == self.blocked.encode());
        }
    }
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let mut program = program;
    let steps = std::mem::take(&mut program.steps);
    let (mut first, mut second) = (Side::new(&program), Side::new(&program));
    for (on_first, step) in steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
    first.check(&program);
    second.check(&program);
}
