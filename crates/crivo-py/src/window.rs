// This file is long because it contains the docstrings that Python shows.

//! Sketches of a window of time, such as the last day.

use crivo::codec::{AnySketch, Family};
use crivo::keys::{KeyBatch, KeyBuffer, KeyKind, KeyRef, KeyScheme, Span};
use crivo::sketch::{InsertKeys as _, Sketch as _};
use crivo::window::Panes as LibraryPanes;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use crate::any;
use crate::errors::{Failure, Result, setting, setting_in};
use crate::keys::{self, Stretch, gather, name_of, number_of, take_numbers, weights_of};
use crate::sketch::{INSERT, Reduced, Shared, common_methods};

type Ring = LibraryPanes<AnySketch>;

/// A sketch of the last hour, day or month: a ring of sketches, one for each of the latest `panes`
/// panes of time, each `pane_width` units wide. `merged` is the sketch of the window; old panes are
/// dropped.
///
/// Every pane begins as the empty sketch that is given. Times are whole numbers of any unit, and no
/// clock is read: the ring is as late as the latest time it was told. Items may come out of order;
/// those whose pane was dropped are refused and counted as `late`. `for_window` makes a ring that
/// always covers a window.
///
/// >>> from crivo import HyperLogLog, Panes
/// >>> visitors = Panes(HyperLogLog(12), pane_width=3600, panes=24)
/// >>> visitors.insert_batch(["ana", "rui"], 7200)
/// 0
/// >>> visitors.insert_batch(["ana", "eva", "zé"], [90_000, 90_010, 200_000])
/// 0
/// >>> visitors.merged(200_000).estimate().value, visitors.covered(200_000)
/// (1.0, (115200, 201599))
/// >>> visitors.insert("ana", 7200), visitors.late
/// (False, 1)
#[pyclass(module = "crivo", frozen)]
#[derive(Debug)]
pub(crate) struct Panes(Shared<Ring>);

common_methods!(Panes, Ring);

/// The first and the last time of a pane or a window.
type Times = (i64, i64);

#[pymethods]
impl Panes {
    #[new]
    fn new(
        sketch: &Bound<'_, PyAny>,
        pane_width: &Bound<'_, PyAny>,
        panes: &Bound<'_, PyAny>,
    ) -> Result<Self> {
        let (width, panes) =
            (units_of("pane_width", pane_width)?, panes_of(panes, *Ring::PANE_COUNTS.end())?);
        Ok(Self(Shared::new(Ring::new(any::from_python(sketch)?, width, panes)?)))
    }

    /// Returns a ring that always covers a window of the given length, and at most one pane more.
    /// The window is cut into `panes` panes.
    ///
    /// >>> day = Panes.for_window(HyperLogLog(12), 86_400, panes=24)
    /// >>> day.pane_width, day.pane_count
    /// (3600, 25)
    #[staticmethod]
    fn for_window(
        sketch: &Bound<'_, PyAny>,
        window: &Bound<'_, PyAny>,
        panes: &Bound<'_, PyAny>,
    ) -> Result<Self> {
        let (window, panes) = (units_of("window", window)?, panes_of(panes, *Ring::PANE_COUNTS.end() - 1)?);
        Ok(Self(Shared::new(Ring::for_window(any::from_python(sketch)?, window, panes)?)))
    }

    /// Adds one key, or one number to sketches of numbers, of a time, and says whether the window
    /// still has its pane. Empty text is a key here; `insert_batch` skips it.
    fn insert(&self, py: Python<'_>, key: &Bound<'_, PyAny>, time: &Bound<'_, PyAny>) -> Result<bool> {
        let time = time_of(time)?;
        if self.takes_numbers(py) {
            let number = number_of(key)?;
            return Ok(self.0.quick(py, |panes| insert_numbers(panes, time, &[number])));
        }
        let scheme = self.0.scheme(py);
        let insert = |key: KeyRef<'_>| {
            self.0.quick(py, |panes| Run::new(scheme).with(&[key], |batch| insert_batch(panes, time, batch)))
        };
        keys::with_one(key, scheme, &INSERT, insert)?
    }

    /// Adds many keys, or numbers to sketches of numbers, and returns how many missing values were
    /// skipped.
    ///
    /// `values` is whatever the sketch's own `insert_batch` takes; `time` is the time of all of
    /// them, or a list or array of as many times as there are values. Those whose pane was dropped
    /// are `late`.
    fn insert_batch(
        &self,
        py: Python<'_>,
        values: &Bound<'_, PyAny>,
        time: &Bound<'_, PyAny>,
    ) -> Result<u64> {
        self.insert_all(py, keys::take_keys, values, time)
    }

    /// Adds hashes of the caller's own to sketches with `keys="hash"`: as `insert_batch` does.
    fn insert_hashes(
        &self,
        py: Python<'_>,
        hashes: &Bound<'_, PyAny>,
        time: &Bound<'_, PyAny>,
    ) -> Result<u64> {
        self.insert_all(py, keys::take_hashes, hashes, time)
    }

    /// Counts events of a time, if the sketch is a counter, and says whether the window still has
    /// its pane.
    ///
    /// >>> from crivo import MorrisCounter
    /// >>> clicks = Panes(MorrisCounter(1.084, 8), pane_width=60, panes=60)
    /// >>> clicks.add(5, time=30)
    /// True
    fn add(&self, py: Python<'_>, events: &Bound<'_, PyAny>, time: &Bound<'_, PyAny>) -> Result<bool> {
        let (events, time) = (setting::<u64>("events", events, "0 to 2^64 - 1")?, time_of(time)?);
        self.0.quick(py, |panes| match panes.pane_mut(time, events) {
            None => Ok(false),
            Some(sketch) => match sketch.counts_events() {
                Some(counter) => {
                    counter.add(events);
                    Ok(true)
                }
                None => Err(wrong_kind("counters", sketch)),
            },
        })
    }

    /// Merges a sketch of items of one time into its pane, and says whether the window still has
    /// it. This is how sketches with weights, and any others, are filled.
    fn merge_at(&self, py: Python<'_>, sketch: &Bound<'_, PyAny>, time: &Bound<'_, PyAny>) -> Result<bool> {
        let (sketch, time) = (any::from_python(sketch)?, time_of(time)?);
        self.0.detached(py, |panes| {
            require_same_parameters(panes.empty(), &sketch)?;
            let items = sketch.summary().items.value().round() as u64;
            let merged = panes.pane_mut(time, items).map(|pane| pane.merge(&sketch)).transpose()?;
            Ok(merged.is_some())
        })
    }

    /// Tells the ring what time it is: panes that the window has passed are dropped.
    fn advance(&self, py: Python<'_>, now: &Bound<'_, PyAny>) -> Result<()> {
        let now = time_of(now)?;
        self.0.quick(py, |panes| panes.advance(now));
        Ok(())
    }

    /// The sketch of the window at `now`: of all items whose times are `covered`.
    fn merged<'py>(&self, py: Python<'py>, now: &Bound<'_, PyAny>) -> Result<Bound<'py, PyAny>> {
        let now = time_of(now)?;
        any::to_python(py, self.0.detached(py, |panes| panes.merged(now))?)
    }

    /// The first and the last time that the window at `now` covers. `InvalidParameterError` if the
    /// ring has no pane of it any more.
    fn covered(&self, py: Python<'_>, now: &Bound<'_, PyAny>) -> Result<Times> {
        let now = time_of(now)?;
        Ok(self.0.quick(py, |panes| panes.covered(now))?.into_inner())
    }

    /// The panes that were used, the oldest first: the first and the last time of each, and its
    /// sketch.
    fn panes<'py>(&self, py: Python<'py>) -> Result<Vec<(Times, Bound<'py, PyAny>)>> {
        let copies: Vec<_> = self.0.detached(py, |panes| {
            panes.panes().map(|(times, sketch)| (times.into_inner(), sketch.clone())).collect()
        });
        copies.into_iter().map(|(times, sketch)| Ok((times, any::to_python(py, sketch)?))).collect()
    }

    /// The sketch that every pane begins as.
    fn empty<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyAny>> {
        any::to_python(py, self.0.detached(py, |panes| panes.empty().clone()))
    }

    /// The first and the last time of the latest pane that the ring was told of; None if there was
    /// none.
    #[getter]
    fn latest(&self, py: Python<'_>) -> Option<Times> {
        self.0.quick(py, |panes| panes.latest()).map(std::ops::RangeInclusive::into_inner)
    }

    /// How many items were refused because the window had passed their time.
    #[getter]
    fn late(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |panes| panes.late())
    }

    /// How many units of time are in a pane.
    #[getter]
    fn pane_width(&self, py: Python<'_>) -> u64 {
        self.0.quick(py, |panes| panes.pane_width())
    }

    /// How many panes are in the window.
    #[getter]
    fn pane_count(&self, py: Python<'_>) -> u32 {
        self.0.quick(py, |panes| panes.pane_count())
    }

    /// What the sketches' keys are: "text", "int" or "hash".
    #[getter]
    fn keys(&self, py: Python<'_>) -> &'static str {
        name_of(self.0.scheme(py).kind())
    }

    /// The seed of the sketches' hash.
    #[getter]
    fn seed(&self, py: Python<'_>) -> u64 {
        self.0.scheme(py).seed()
    }

    /// Bytes of memory in use.
    #[getter]
    fn memory(&self, py: Python<'_>) -> usize {
        self.0.detached(py, |panes| panes.summary().memory)
    }

    /// Whether no pane is in use. (A sketch without a length is always true, as objects are.)
    #[getter]
    fn is_empty(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |panes| panes.is_empty())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let (kind, width, count) = (self.family(py), self.pane_width(py), self.pane_count(py));
        let used = self.0.quick(py, |panes| panes.panes().len());
        format!("<Panes of {kind}, pane_width={width}, panes={count}: {used} used>")
    }
}

impl Panes {
    /// Returns true if the panes are sketches of numbers.
    fn takes_numbers(&self, py: Python<'_>) -> bool {
        self.0.quick(py, |panes| panes.empty().clone().takes_numbers().is_some())
    }

    fn family(&self, py: Python<'_>) -> Family {
        self.0.quick(py, |panes| panes.empty().family())
    }

    fn insert_all(
        &self,
        py: Python<'_>,
        read: crate::sketch::Reader,
        values: &Bound<'_, PyAny>,
        time: &Bound<'_, PyAny>,
    ) -> Result<u64> {
        let mut times = TimesOf::new(values, time)?;
        let missing = if self.takes_numbers(py) {
            let mut take = |numbers: &[f64], gaps: &[usize]| {
                let times = times.next(numbers.len() + gaps.len(), gaps)?;
                self.0.locked(|panes| {
                    times.runs(panes.pane_width(), numbers.len(), |time, range| {
                        insert_numbers(panes, time, &numbers[range]);
                        Ok(())
                    })
                })
            };
            take_numbers(values, INSERT.so_far, &mut take)?
        } else {
            let scheme = self.0.scheme(py);
            let mut run = Run::new(scheme);
            let mut take = |stretch: Stretch<'_>| {
                let times = times.next_of(&stretch)?;
                self.0.locked(|panes| insert_stretch(panes, &mut run, &stretch.keys, &times))
            };
            read(values, scheme, &INSERT, &mut take)?
        };
        times.finish()?;
        Ok(missing)
    }
}

/// The times of values: one for all, or one for each.
enum TimesOf {
    One(i64),
    Each { times: Vec<i64>, used: usize },
}

/// The times of the values that are present in a stretch.
enum TimesHere {
    One(i64),
    Each(Vec<i64>),
}

impl TimesOf {
    fn new(values: &Bound<'_, PyAny>, time: &Bound<'_, PyAny>) -> Result<Self> {
        if time.try_iter().is_err() {
            return Ok(Self::One(time_of(time)?));
        }
        let times = weights_of::<i64>(time)?;
        // If the values have a length, a mismatch is refused before anything is added.
        match values.len() {
            Ok(length) if length != times.len() => Err(mismatch(&length, times.len())),
            _ => Ok(Self::Each { times, used: 0 }),
        }
    }

    fn next(&mut self, values: usize, gaps: &[usize]) -> Result<TimesHere> {
        match self {
            Self::One(time) => Ok(TimesHere::One(*time)),
            Self::Each { times, used } => {
                let here = times.get(*used..*used + values).ok_or_else(|| mismatch(&"more", times.len()))?;
                let mut present = Vec::new();
                gather(gaps, here, &mut present);
                *used += values;
                Ok(TimesHere::Each(present))
            }
        }
    }

    fn next_of(&mut self, stretch: &Stretch<'_>) -> Result<TimesHere> {
        self.next(stretch.values(), stretch.gaps())
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Each { times, used } if used != times.len() => Err(mismatch(&used, times.len())),
            _ => Ok(()),
        }
    }
}

fn mismatch(values: &dyn std::fmt::Display, times: usize) -> Failure {
    Failure::Parameter(format!("number of times: expected {values}, one for each value, found {times}"))
}

impl TimesHere {
    /// Calls `work` for each run of values whose times are in one pane.
    fn runs(
        &self,
        pane_width: u64,
        values: usize,
        mut work: impl FnMut(i64, std::ops::Range<usize>) -> Result<()>,
    ) -> Result<()> {
        let times = match self {
            Self::One(_) if values == 0 => return Ok(()),
            Self::One(time) => return work(*time, 0..values),
            Self::Each(times) => times,
        };
        let pane = |time: i64| time.div_euclid(i64::try_from(pane_width).unwrap_or(i64::MAX));
        let mut start = 0;
        for run in times.chunk_by(|&one, &next| pane(one) == pane(next)) {
            work(run[0], start..start + run.len())?;
            start += run.len();
        }
        Ok(())
    }
}

/// A batch of consecutive keys of another batch.
struct Run {
    buffer: KeyBuffer,
    bytes: Vec<u8>,
    integers: Vec<u64>,
}

impl Run {
    fn new(scheme: KeyScheme) -> Self {
        Self { buffer: KeyBuffer::new(scheme), bytes: Vec::new(), integers: Vec::new() }
    }

    fn with<R>(&mut self, keys: &[KeyRef<'_>], work: impl FnOnce(&KeyBatch<'_>) -> Result<R>) -> Result<R> {
        let scheme = self.buffer.scheme();
        self.buffer.clear();
        self.bytes.clear();
        self.integers.clear();
        for key in keys {
            match *key {
                KeyRef::Bytes(text) => {
                    let start = self.bytes.len();
                    self.bytes.extend_from_slice(text);
                    self.buffer.push_span(Span::new(start..self.bytes.len())?);
                }
                KeyRef::Integer(integer) | KeyRef::Hash(integer) => self.integers.push(integer),
            }
        }
        match scheme.kind() {
            KeyKind::Bytes => work(&self.buffer.hash_spans(&self.bytes)?),
            KeyKind::Integer => work(&self.buffer.hash_integers(&self.integers)?),
            KeyKind::Hash => work(&KeyBatch::from_hashes(scheme, &self.integers)?),
        }
    }
}

fn insert_stretch(panes: &mut Ring, run: &mut Run, keys: &KeyBatch<'_>, times: &TimesHere) -> Result<()> {
    times.runs(panes.pane_width(), keys.len(), |time, range| {
        if range.len() == keys.len() {
            insert_batch(panes, time, keys)?;
            return Ok(());
        }
        let part: Vec<KeyRef<'_>> = range.filter_map(|index| keys.get(index)).collect();
        run.with(&part, |batch| insert_batch(panes, time, batch))?;
        Ok(())
    })
}

/// Adds a batch of one time to its pane. Returns false if the pane is no longer kept.
fn insert_batch(panes: &mut Ring, time: i64, batch: &KeyBatch<'_>) -> Result<bool> {
    match panes.pane_mut(time, batch.len() as u64) {
        None => Ok(false),
        Some(pane) => insert_into(pane, batch).map(|()| true),
    }
}

fn insert_numbers(panes: &mut Ring, time: i64, numbers: &[f64]) -> bool {
    match panes.pane_mut(time, numbers.len() as u64).and_then(|sketch| sketch.takes_numbers()) {
        Some(sketch) => {
            sketch.insert_numbers(numbers);
            true
        }
        None => false,
    }
}

/// Refuses a sketch whose merge would change the parameters of a pane. Some sketches merge to the
/// smaller size of both.
fn require_same_parameters(empty: &AnySketch, sketch: &AnySketch) -> Result<()> {
    let mut merged = empty.clone();
    merged.merge(sketch)?;
    if merged.parameters() == empty.parameters() {
        return Ok(());
    }
    let advice = "build it with the settings of panes.empty()";
    Err(Failure::Parameter(format!(
        "sketch: expected the settings of the panes, found smaller ones ({advice})"
    )))
}

/// Adds keys to a sketch of any kind that takes them.
fn insert_into(sketch: &mut AnySketch, batch: &KeyBatch<'_>) -> Result<()> {
    if sketch.takes_keys().is_none() {
        return Err(wrong_kind("sketches of keys without weights", sketch));
    }
    Ok(sketch.insert_batch(batch)?)
}

fn wrong_kind(expected: &str, found: &AnySketch) -> Failure {
    let advice = "merge_at takes a sketch of any kind";
    Failure::key(expected, format_args!("panes of {}", found.family()), advice)
}

fn time_of(time: &Bound<'_, PyAny>) -> Result<i64> {
    setting("time", time, "-2^63 to 2^63 - 1")
}

fn units_of(name: &str, units: &Bound<'_, PyAny>) -> Result<u64> {
    setting_in(name, units, Ring::PANE_WIDTHS)
}

fn panes_of(panes: &Bound<'_, PyAny>, most: u32) -> Result<u32> {
    Ok(setting_in("panes", panes, 1..=most.into())? as u32)
}
