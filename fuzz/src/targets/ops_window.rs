//! However times come, a ring holds what came in its window.
//!
//! Arbitrary programs (items at any time, batches, the clock moved on, merges, writing and reading)
//! run on two rings of exact sets and on a model that keeps every item with its time.

use std::collections::BTreeSet;

use arbitrary::Arbitrary;
use crivo::distinct::ExactDistinct;
use crivo::keys::{KeyBatch, KeyScheme};
use crivo::window::Panes;

const SCHEME: KeyScheme = KeyScheme::hashes().with_seed(7);

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    width: u64,
    panes: u8,
    /// Which of the two rings each step works on.
    steps: Vec<(bool, Step)>,
}

#[derive(Debug, Arbitrary)]
enum Step {
    /// Near the epoch, where panes of all widths meet.
    Insert {
        time: i8,
        item: u8,
    },
    InsertAnywhen {
        time: i64,
        item: u8,
    },
    Batch {
        time: i16,
        items: Vec<u64>,
    },
    Advance(i16),
    Ask(i16),
    MergeOther,
    RefuseOthers,
    WriteAndRead,
}

#[derive(Clone)]
struct Window {
    width: i64,
    panes: i64,
    ring: Panes<ExactDistinct>,
    /// Every item that was not late, by the number of its pane.
    items: BTreeSet<(i64, u64)>,
    latest: Option<i64>,
    late: u64,
}

impl Window {
    fn new(width: u64, panes: u32) -> Self {
        let ring =
            Panes::new(ExactDistinct::with_scheme(SCHEME), width, panes).expect("a width and a number");
        let (width, panes) = (width as i64, i64::from(panes));
        Self { width, panes, ring, items: BTreeSet::new(), latest: None, late: 0 }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Insert { time, item } => self.insert(time.into(), &[item.into()]),
            Step::InsertAnywhen { time, item } => self.insert(time, &[item.into()]),
            Step::Batch { time, items } => self.insert(time.into(), &items),
            Step::Advance(now) => {
                self.ring.advance(now.into());
                self.latest = self.latest.max(Some(i64::from(now).div_euclid(self.width)));
            }
            Step::Ask(now) => self.ask(now.into()),
            Step::MergeOther => {
                self.ring.merge(&other.ring).expect("the same panes");
                self.items.extend(&other.items);
                self.latest = self.latest.max(other.latest);
                self.late += other.late;
            }
            Step::RefuseOthers => self.refuse_others(),
            Step::WriteAndRead => {
                let read = Panes::decode(&self.ring.encode()).expect("what was written can be read");
                assert_eq!(read, self.ring);
                self.ring = read;
            }
        }
        self.check();
    }

    fn insert(&mut self, time: i64, items: &[u64]) {
        let number = time.div_euclid(self.width);
        let is_late = self.latest.is_some_and(|latest| number < self.first_of(latest));
        let batch = KeyBatch::from_hashes(SCHEME, items).expect("a scheme of hashes");
        assert_eq!(self.ring.insert_batch(time, &batch), Ok(!is_late));
        if is_late {
            self.late += items.len() as u64;
        } else {
            self.latest = self.latest.max(Some(number));
            self.items.extend(items.iter().map(|&item| (number, item)));
        }
    }

    fn first_of(&self, last: i64) -> i64 {
        last.saturating_sub(self.panes - 1)
    }

    fn ask(&self, now: i64) {
        let last = now.div_euclid(self.width);
        let kept = self.latest.map_or(i64::MIN, |latest| self.first_of(latest));
        let first = self.first_of(last).max(kept);
        if last < kept {
            assert!(self.ring.merged(now).is_err() && self.ring.covered(now).is_err());
            return;
        }
        let inside = self.items.iter().filter(|item| (first..=last).contains(&item.0)).map(|item| item.1);
        let different: BTreeSet<u64> = inside.collect();
        let merged = self.ring.merged(now).expect("the window is there");
        assert_eq!(merged.estimate().value(), different.len() as f64);
        let covered = self.ring.covered(now).expect("the window is there");
        assert!(covered.contains(&now));
    }

    fn refuse_others(&mut self) {
        let before = self.ring.clone();
        let (width, panes) = (self.width as u64, self.panes as u32);
        assert!(self.ring.merge(&Self::new(width, panes + 1).ring).is_err());
        assert!(
            self.ring.merge(&Self::new(width.max(2) - 1 + u64::from(width == 1) * 2, panes).ring).is_err()
        );
        let seeded = ExactDistinct::with_scheme(SCHEME.with_seed(8));
        assert!(self.ring.merge(&Panes::new(seeded, width, panes).expect("the same panes")).is_err());
        assert_eq!(self.ring, before, "a refusal changed it");
    }

    fn check(&self) {
        assert_eq!(self.ring.late(), self.late);
        if let Some(latest) = self.latest {
            self.ask(latest.saturating_mul(self.width));
        }
    }
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let width = program.width % (1 << 40) + 1;
    let mut first = Window::new(width, u32::from(program.panes) + 1);
    let mut second = first.clone();
    for (on_first, step) in program.steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
}
