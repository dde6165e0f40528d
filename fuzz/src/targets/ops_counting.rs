//! However events come, counters obey what is certain about them.
//!
//! Arbitrary programs (events one by one, at once and in batches, merges, writing and reading) run
//! on the three kinds of counter and on exact counts. What a coin decides is not certain, but much
//! is: no counter is above the number of its events, none is raised without one, portions do not
//! matter, and a merged counter lies between the larger one and the sum.

use arbitrary::{Arbitrary, Unstructured};
use crivo::Estimate;
use crivo::counting::{CounterArray, MorrisCounter, SampledCounter};

const LEN: u64 = 37;

/// A program, as the fuzzer draws it.
#[derive(Debug, Arbitrary)]
pub struct Program {
    settings: Settings,
    seeds: [u64; 2],
    /// Which of the two sets of counters each step works on.
    steps: Vec<(bool, Step)>,
}

#[derive(Debug, Clone, Copy)]
struct Settings {
    probability: f64,
    base: f64,
    bits: u8,
    array_bits: u8,
}

impl<'a> Arbitrary<'a> for Settings {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self {
            probability: f64::from(u.int_in_range(1..=1000)?) / 1000.0,
            base: 1.0 + f64::from(u.int_in_range(1..=1000)?) / 1000.0,
            bits: u.int_in_range(MorrisCounter::COUNTER_BITS)?,
            array_bits: *u.choose(&CounterArray::COUNTER_BITS)?,
        })
    }
}

#[derive(Debug, Arbitrary)]
enum Step {
    Increment(u8),
    Add {
        index: u8,
        events: u16,
    },
    /// More than any counter of few bits can take; cheap for counters whose steps are few.
    AddMany(u64),
    Batch(Vec<u8>),
    MergeOther,
    RefuseOthers,
    WriteAndRead,
}

/// One of each counter, with the exact numbers of their events.
struct Counters {
    settings: Settings,
    sampled: SampledCounter,
    morris: MorrisCounter,
    array: CounterArray,
    sampled_events: u128,
    morris_events: u128,
    array_events: [u128; LEN as usize],
}

impl Counters {
    fn new(settings: Settings, seed: u64) -> Self {
        let Settings { probability, base, bits, array_bits } = settings;
        Self {
            settings,
            sampled: SampledCounter::new(probability, seed).expect("a probability of the range"),
            morris: MorrisCounter::new(base, bits, seed).expect("a base and a width of the range"),
            array: CounterArray::new(LEN, base, array_bits, seed).expect("a base and a width of the range"),
            sampled_events: 0,
            morris_events: 0,
            array_events: [0; LEN as usize],
        }
    }

    fn step(&mut self, step: Step, other: &Self) {
        match step {
            Step::Increment(index) => {
                self.sampled.increment();
                self.morris.increment();
                self.array.increment(u64::from(index) % LEN).expect("an index of the array");
                self.count(index, 1);
            }
            Step::Add { index, events } => self.add(index, events),
            Step::AddMany(events) => {
                self.morris.add(events);
                self.morris_events += u128::from(events);
            }
            Step::Batch(indexes) => self.batch(&indexes),
            Step::MergeOther => self.merge(other),
            Step::RefuseOthers => self.refuse_others(),
            Step::WriteAndRead => self.write_and_read(),
        }
        self.check();
    }

    fn count(&mut self, index: u8, events: u128) {
        self.sampled_events += events;
        self.morris_events += events;
        self.array_events[usize::from(index) % LEN as usize] += events;
    }

    fn add(&mut self, index: u8, events: u16) {
        // The same events in two portions.
        let (mut sampled, mut morris) = (self.sampled.clone(), self.morris.clone());
        for portion in [events / 3, events - events / 3] {
            sampled.add(portion.into());
            morris.add(portion.into());
        }
        self.sampled.add(events.into());
        self.morris.add(events.into());
        assert_eq!((&sampled, &morris), (&self.sampled, &self.morris), "portions matter");
        self.array.add(u64::from(index) % LEN, events.into()).expect("an index of the array");
        self.count(index, events.into());
    }

    fn batch(&mut self, indexes: &[u8]) {
        let indexes: Vec<u64> = indexes.iter().map(|&index| u64::from(index) % LEN).collect();
        let mut one_by_one = self.array.clone();
        indexes.iter().for_each(|&index| one_by_one.increment(index).expect("an index of the array"));
        self.array.increment_batch(&indexes).expect("indexes of the array");
        assert_eq!(one_by_one, self.array, "batches matter");
        indexes.iter().for_each(|&index| self.array_events[index as usize] += 1);
    }

    fn merge(&mut self, other: &Self) {
        let before = (self.sampled.value(), self.morris.value(), self.array.clone());
        self.sampled.merge(&other.sampled).expect("the same probability");
        self.morris.merge(&other.morris).expect("the same scale");
        self.array.merge(&other.array).expect("the same shape");
        assert_eq!(self.sampled.value(), before.0 + other.sampled.value());
        assert_between(self.morris.value(), before.1, other.morris.value());
        for ((joined, mine), theirs) in self.array.values().zip(before.2.values()).zip(other.array.values()) {
            assert_between(joined, mine, theirs);
        }
        self.sampled_events += other.sampled_events;
        self.morris_events += other.morris_events;
        for (mine, theirs) in self.array_events.iter_mut().zip(other.array_events) {
            *mine += theirs;
        }
    }

    fn refuse_others(&mut self) {
        let other = Settings {
            probability: self.settings.probability / 2.0,
            base: 1.0 + (self.settings.base - 1.0) / 2.0,
            ..self.settings
        };
        let other = Self::new(other, 1);
        let before = (self.sampled.clone(), self.morris.clone(), self.array.clone());
        assert!(self.sampled.merge(&other.sampled).is_err());
        assert!(self.morris.merge(&other.morris).is_err());
        assert!(self.array.merge(&other.array).is_err());
        assert!(self.array.increment_batch(&[0, LEN]).is_err());
        assert_eq!(
            before,
            (self.sampled.clone(), self.morris.clone(), self.array.clone()),
            "a refusal changed it"
        );
    }

    fn write_and_read(&mut self) {
        let sampled = SampledCounter::decode(&self.sampled.encode()).expect("what was written can be read");
        let morris = MorrisCounter::decode(&self.morris.encode()).expect("what was written can be read");
        let array = CounterArray::decode(&self.array.encode()).expect("what was written can be read");
        assert_eq!((&sampled, &morris, &array), (&self.sampled, &self.morris, &self.array));
        (self.sampled, self.morris, self.array) = (sampled, morris, array);
    }

    fn check(&self) {
        assert!(u128::from(self.sampled.value()) <= self.sampled_events);
        assert!(u128::from(self.morris.value()) <= self.morris_events);
        assert_eq!(self.morris.is_empty(), self.morris_events == 0);
        check_estimate(self.sampled.estimate(), self.sampled.value() as f64);
        check_estimate(self.morris.estimate(), f64::from(self.morris.value()));
        for (index, &events) in (0..).zip(&self.array_events) {
            let value = self.array.value(index).expect("an index of the array");
            assert!(u128::from(value) <= events && (value == 0) == (events == 0));
            check_estimate(self.array.estimate(index).expect("an index of the array"), f64::from(value));
        }
        check_estimate(self.array.total(), self.array.values().map(f64::from).sum());
    }
}

fn assert_between(joined: u16, mine: u16, theirs: u16) {
    let (least, most) = (mine.max(theirs), u32::from(mine) + u32::from(theirs));
    assert!(joined >= least && u32::from(joined) <= most, "{mine} and {theirs} became {joined}");
}

fn check_estimate(estimate: Estimate, least: f64) {
    let (lower, value, upper) = (estimate.lower(), estimate.value(), estimate.upper());
    assert!(least <= lower && lower <= value && value <= upper, "{value} is not in [{lower}, {upper}]");
}

/// Checks the promise for one input.
pub fn check(program: Program) {
    let [mut first, mut second] = program.seeds.map(|seed| Counters::new(program.settings, seed));
    for (on_first, step) in program.steps {
        if on_first { first.step(step, &second) } else { second.step(step, &first) }
    }
}
