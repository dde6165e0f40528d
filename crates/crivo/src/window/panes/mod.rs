// This file is long because it contains the documentation and the examples of its public functions.

//! Panes: a sketch of the last hour, day or month, of a stream that never ends.
//!
//! **Question.** How many different visitors came in the last 24 hours, which words were most
//! frequent in the last week? Any question that a sketch answers, for recent items only.
//!
//! **Guarantee.** Time is cut into panes of equal width `w`, counted from the epoch: pane `i` holds
//! the times from `i·w` to `i·w + w − 1`. [`merged`](Panes::merged) at `now` is the sketch of
//! exactly the items whose times lie in [`covered`](Panes::covered) at `now`. These are whole
//! panes: the pane of `now` and the `n − 1` before it. So the beginning of the window is exact to
//! one pane,
//!
//! ```text
//! (n − 1)·w  ≤  now − begin of what is covered  <  n·w
//! ```
//!
//! A window made by [`for_window`](Panes::for_window) always covers the whole requested time, and
//! at most one pane more. The answer has the error of the sketch and no other.
//!
//! **Idea.** A sketch cannot forget an item, but a whole sketch can be dropped. Keep one for each
//! pane, merge those of the window to answer, and drop a pane when the window has passed it.
//!
//! **Time** is supplied by the caller, as a whole number of any unit; it may be negative (before
//! the epoch). No clock is read: the ring's time is the latest time of an item or of
//! [`advance`](Panes::advance). Items may come out of order. An item whose pane is still kept goes
//! into that pane. An older item is refused and counted as [`late`](Panes::late). A time from the
//! future cannot be recognised as wrong, and it moves the window. A caller that cannot trust times
//! must check them first.
//!
//! **Randomness.** Panes are copies of one empty sketch. If that sketch is randomised (a sample, a
//! Morris counter), equal copies would draw the same random numbers, and their errors would add up
//! in the merged sketch. So the seed of each pane is derived from the seed of the empty sketch and
//! the pane's number ([`Merge::reseed`]). It differs between panes, and is the same whenever and
//! wherever that pane is created. Rings that are filled in parallel and then merged need different
//! seeds too: call [`Merge::reseed`] on each ring while it is empty, with the number of the thread
//! or the part.
//!
//! **When not to use it.** For a window of the last `n` items instead of a time. For an answer
//! after every item: each answer merges all panes of the window, so ask less often, or use fewer
//! panes.
//!
//! **Memory.** At most `n` sketches, one for each used pane, and the empty sketch.
//!
//! **Source.** Common practice; Datar, Gionis, Indyk, Motwani: *Maintaining stream statistics over
//! sliding windows* (2002) for windows that are exact to a share of their length, in logarithmic
//! memory, for simple counts. **Where this departs from it.** Panes of equal width keep the
//! sketch's own error and its exact merge.

mod bytes;

use alloc::collections::VecDeque;
use std::ops::RangeInclusive;

use super::Pane;
use crate::codec::{AnySketch, Encode, Family, Parameter, Parameters, Sealed, Summary};
use crate::error::{Error, ErrorKind, Result};
use crate::estimate::Estimate;
use crate::keys::{KeyBatch, KeyScheme};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{InsertKeys, Merge, Sketch};

/// A ring of sketches, one for each of the latest panes of time; see the [module](self) for the
/// guarantee.
///
/// ```
/// use crivo::distinct::HyperLogLog;
/// use crivo::window::Panes;
///
/// // Seconds; the last hour, exact to a minute.
/// let mut visitors = Panes::for_window(HyperLogLog::new(12)?, 3600, 60)?;
/// for second in 0..10_000_i64 {
///     if let Some(pane) = visitors.pane_mut(second, 1) {
///         pane.insert(&format!("user{}", second / 10))?;
///     }
/// }
/// let covered = visitors.covered(9_999)?;
/// assert_eq!(covered, 6_360..=10_019);
/// let estimate = visitors.merged(9_999)?.estimate();
/// assert!(estimate.covers((1_000 - 636) as f64));
/// assert!(visitors.pane_mut(5_000, 1).is_none());
/// assert_eq!(visitors.late(), 1);
/// # Ok::<(), crivo::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Panes<S = AnySketch> {
    pane_width: u64,
    capacity: u32,
    late: u64,
    /// The number of the latest pane of an item or of [`advance`](Panes::advance).
    latest: Option<i64>,
    /// Boxed, because `AnySketch` may be a ring of its own kind.
    empty: Box<S>,
    /// The panes that have items, in ascending order of their numbers. All lie in the window that
    /// ends with the latest pane.
    used: VecDeque<(i64, S)>,
}

// ---- limits and sizing ----

impl<S: Pane> Panes<S> {
    /// The possible widths of a pane, in units of time.
    pub const PANE_WIDTHS: RangeInclusive<u64> = 1..=i64::MAX as u64;

    /// The possible numbers of panes of a ring.
    pub const PANE_COUNTS: RangeInclusive<u32> = 1..=1 << 16;

    /// Returns the pane width with which `panes` panes cover a window: `⌈window/panes⌉`.
    ///
    /// # Errors
    /// If the window is not in [`PANE_WIDTHS`](Self::PANE_WIDTHS), or the number of panes is not 1
    /// to 65535.
    pub fn pane_width_for(window: u64, panes: u32) -> Result<u64> {
        let (least, most) = Self::PANE_WIDTHS.into_inner();
        if !Self::PANE_WIDTHS.contains(&window) {
            return Err(Error::parameter("window", format_args!("{least} to {most} units of time"), window));
        }
        let most = *Self::PANE_COUNTS.end() - 1;
        if panes == 0 || panes > most {
            return Err(Error::parameter("panes", format_args!("1 to {most}"), panes));
        }
        Ok(window.div_ceil(panes.into()))
    }
}

// ---- construction ----

impl<S: Pane> Panes<S> {
    /// Returns an empty ring of `panes` panes, each of `pane_width` units of time. Every pane
    /// begins as a copy of the empty sketch.
    ///
    /// # Errors
    /// If the width is not in [`PANE_WIDTHS`](Self::PANE_WIDTHS), if the number is not in
    /// [`PANE_COUNTS`](Self::PANE_COUNTS), or if the sketch is not empty, is a container of
    /// sketches or cannot grow.
    pub fn new(empty: S, pane_width: u64, panes: u32) -> Result<Self> {
        if !Self::PANE_WIDTHS.contains(&pane_width) {
            let (least, most) = Self::PANE_WIDTHS.into_inner();
            return Err(Error::parameter("pane width", format_args!("{least} to {most}"), pane_width));
        }
        if !Self::PANE_COUNTS.contains(&panes) {
            let (least, most) = Self::PANE_COUNTS.into_inner();
            return Err(Error::parameter("panes", format_args!("{least} to {most}"), panes));
        }
        if let Some(expected) = empty.family().expected_of_part() {
            return Err(Error::parameter("sketch of a pane", expected, empty.family()));
        }
        if !empty.is_empty() {
            let items = empty.summary().items;
            return Err(Error::parameter("sketch of a pane", "an empty one", format_args!("{items} items")));
        }
        let (empty, used) = (Box::new(empty), VecDeque::new());
        Ok(Self { pane_width, capacity: panes, late: 0, latest: None, empty, used })
    }

    /// Returns an empty ring that always covers a window of that length, and at most one pane more.
    /// The window is cut into `panes` panes. The ring has one pane in addition, because the latest
    /// pane is not over yet.
    ///
    /// # Errors
    /// The errors of [`pane_width_for`](Self::pane_width_for) and [`new`](Self::new).
    ///
    /// ```
    /// use crivo::{distinct::HyperLogLog, window::Panes};
    /// let day = Panes::for_window(HyperLogLog::new(12)?, 86_400, 24)?;
    /// assert_eq!((day.pane_width(), day.pane_count()), (3_600, 25));
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn for_window(empty: S, window: u64, panes: u32) -> Result<Self> {
        Self::new(empty, Self::pane_width_for(window, panes)?, panes + 1)
    }
}

// ---- update ----

impl<S: Pane> Panes<S> {
    /// Returns the sketch of the pane that a time belongs to, so that the caller can insert `items`
    /// items of that time. Returns `None` if the window has passed that pane, and counts these
    /// items as [`late`](Self::late).
    ///
    /// The caller must not change the sketch's parameters: a pane with other parameters cannot be
    /// merged with the other panes.
    #[inline]
    pub fn pane_mut(&mut self, time: i64, items: u64) -> Option<&mut S> {
        let number = self.number(time);
        let index = match self.used.back() {
            // Nearly always the time belongs to the same pane as the last one.
            Some(last) if last.0 == number => self.used.len() - 1,
            _ => self.place(number, items)?,
        };
        self.used.get_mut(index).map(|pane| &mut pane.1)
    }

    /// Inserts a batch of keys, all of one time, into its pane: the same as
    /// [`pane_mut`](Self::pane_mut) and an insertion. Returns true if the window still has that
    /// pane.
    ///
    /// # Errors
    /// The errors of the sketch's `insert_batch`.
    pub fn insert_batch(&mut self, time: i64, batch: &KeyBatch<'_>) -> Result<bool>
    where
        S: InsertKeys,
    {
        match self.pane_mut(time, batch.len() as u64) {
            Some(pane) => pane.insert_batch(batch).map(|()| true),
            None => Ok(false),
        }
    }

    /// Sets the current time, and drops the panes that the window has passed. A time before the
    /// latest changes nothing.
    pub fn advance(&mut self, now: i64) {
        self.advance_to(self.number(now));
    }

    /// Returns the position of a pane in `used`, and creates the pane if it is missing. Returns
    /// `None` and counts the items as late if the window has passed the pane.
    #[cold]
    fn place(&mut self, number: i64, items: u64) -> Option<usize> {
        if self.latest.is_some_and(|latest| number < self.first_of(latest)) {
            self.late = self.late.saturating_add(items);
            return None;
        }
        self.advance_to(number);
        Some(self.used.binary_search_by_key(&number, |pane| pane.0).unwrap_or_else(|index| {
            let mut sketch = (*self.empty).clone();
            sketch.reseed(number as u64);
            self.used.insert(index, (number, sketch));
            index
        }))
    }

    fn advance_to(&mut self, number: i64) {
        if self.latest.is_none_or(|latest| latest < number) {
            self.latest = Some(number);
            let first = self.first_of(number);
            self.used.retain(|pane| pane.0 >= first);
        }
    }

    /// Returns the number of the pane that a time belongs to.
    fn number(&self, time: i64) -> i64 {
        time.div_euclid(self.pane_width as i64)
    }

    /// Returns the number of the first pane of the window that ends with the pane `last`.
    fn first_of(&self, last: i64) -> i64 {
        last.saturating_sub(i64::from(self.capacity) - 1)
    }

    /// Returns the first and the last time of a pane.
    fn times(&self, number: i64) -> (i64, i64) {
        let first = number.saturating_mul(self.pane_width as i64);
        (first, first.saturating_add(self.pane_width as i64 - 1))
    }
}

// ---- query ----

impl<S: Pane> Panes<S> {
    /// Returns the sketch of the window at `now`: of all items whose times lie in
    /// [`covered`](Self::covered).
    ///
    /// # Errors
    /// If the panes of the window at `now` were dropped, or if a pane's parameters were changed so
    /// that it does not merge.
    pub fn merged(&self, now: i64) -> Result<S> {
        let (first, last) = self.window(now)?;
        let mut merged = (*self.empty).clone();
        let inside = self.used.iter().filter(|pane| (first..=last).contains(&pane.0));
        inside.map(|pane| &pane.1).try_for_each(|pane| merged.merge(pane))?;
        Ok(merged)
    }

    /// Returns the first and the last time that the window at `now` covers: from the beginning of
    /// its oldest pane to the end of the pane of `now`. For a time in the past the window is
    /// shorter, because it has only the panes that are still kept.
    ///
    /// # Errors
    /// If all panes of the window were dropped.
    pub fn covered(&self, now: i64) -> Result<RangeInclusive<i64>> {
        let (first, last) = self.window(now)?;
        Ok(self.times(first).0..=self.times(last).1)
    }

    /// Returns the numbers of the first and the last pane of the window at `now`.
    fn window(&self, now: i64) -> Result<(i64, i64)> {
        let last = self.number(now);
        let kept = self.latest.map_or(i64::MIN, |latest| self.first_of(latest));
        if last < kept {
            let expected = format_args!("at least {}", self.times(kept).0).to_string();
            let advice = "the window has passed that time";
            return Err(Error::new(ErrorKind::InvalidParameter, "now", expected, now, advice));
        }
        Ok((self.first_of(last).max(kept), last))
    }

    /// Returns the panes that have items, the oldest first: the first and the last time of each,
    /// and its sketch.
    pub fn panes(&self) -> impl ExactSizeIterator<Item = (RangeInclusive<i64>, &S)> {
        self.used.iter().map(|(number, sketch)| {
            let (first, last) = self.times(*number);
            (first..=last, sketch)
        })
    }

    /// Returns the times of the latest pane of an item or of [`advance`](Self::advance).
    pub fn latest(&self) -> Option<RangeInclusive<i64>> {
        self.latest.map(|number| self.times(number)).map(|(first, last)| first..=last)
    }

    /// Returns how many items were refused because the window had passed their time. The count
    /// stops at [`u64::MAX`].
    pub fn late(&self) -> u64 {
        self.late
    }

    /// Returns how many units of time are in a pane.
    pub fn pane_width(&self) -> u64 {
        self.pane_width
    }

    /// Returns how many panes are in the window.
    pub fn pane_count(&self) -> u32 {
        self.capacity
    }

    /// Returns the sketch that every pane begins as.
    pub fn empty(&self) -> &S {
        &self.empty
    }

    /// Returns true if no pane is in use.
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// Returns the bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        let sketches = std::iter::once(&*self.empty).chain(self.used.iter().map(|pane| &pane.1));
        // The ring holds the structs themselves; an `AnySketch` is larger than the sketch inside.
        let beside = sketches.map(|sketch| sketch.memory().saturating_sub(size_of::<S>()));
        size_of::<Self>() + size_of::<S>() + self.used.len() * size_of::<(i64, S)>() + beside.sum::<usize>()
    }

    /// Returns the sizes the ring was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("sketch", Parameter::Name(self.empty.family().name())),
            ("pane_width", Parameter::Count(self.pane_width)),
            ("panes", Parameter::Count(self.capacity.into())),
        ]
    }

    /// Returns a summary of the ring. Its number of items is that of the window at the latest time.
    pub fn summary(&self) -> Summary {
        let items = match self.latest.map(|latest| self.merged(self.times(latest).0)) {
            None => Estimate::exact(0.0),
            Some(Ok(window)) => window.summary().items,
            Some(Err(_)) => Estimate::certain(0.0, 0.0, f64::INFINITY),
        };
        let facts =
            vec![("used", Parameter::Count(self.used.len() as u64)), ("late", Parameter::Count(self.late))];
        Summary {
            family: Family::Panes,
            parameters: [self.parameters(), facts].concat(),
            scheme: self.empty.scheme(),
            items,
            fill: Some(self.used.len() as f64 / f64::from(self.capacity)),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

impl<S: Pane> Sealed for Panes<S> {}

impl<S: Pane> Sketch for Panes<S> {
    fn family(&self) -> Family {
        Family::Panes
    }

    fn scheme(&self) -> KeyScheme {
        self.empty.scheme()
    }

    fn parameters(&self) -> Parameters {
        self.parameters()
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn memory(&self) -> usize {
        self.memory()
    }

    fn summary(&self) -> Summary {
        self.summary()
    }

    fn to_bytes(&self) -> Vec<u8> {
        Encode::encode(self)
    }
}

// ---- merge ----

impl<S: Pane> Panes<S> {
    /// Merges `other` into this ring, which then holds both streams. Each pane is merged with the
    /// other ring's pane of the same time. Panes that the later of the two windows has passed are
    /// dropped. If merging the sketches equals the sketch of the joined stream, so does merging the
    /// rings. The late items of both rings are added up.
    ///
    /// # Errors
    /// If the panes differ in width or number, or the sketches do not merge; the ring is unchanged
    /// then.
    ///
    /// ```
    /// use crivo::{distinct::HyperLogLog, window::Panes};
    /// let mut north = Panes::new(HyperLogLog::new(12)?, 60, 10)?;
    /// let mut south = north.clone();
    /// north.pane_mut(5, 1).map_or(Ok(()), |pane| pane.insert("ana"))?;
    /// south.pane_mut(59, 1).map_or(Ok(()), |pane| pane.insert("rui"))?;
    /// north.merge(&south)?;
    /// assert_eq!(north.merged(60)?.estimate().value(), 2.0);
    /// # Ok::<(), crivo::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let advice = "only rings of the same panes can be merged";
        if self.pane_width != other.pane_width {
            return Err(Error::incompatible("pane width", self.pane_width, other.pane_width, advice));
        }
        if self.capacity != other.capacity {
            return Err(Error::incompatible("panes", self.capacity, other.capacity, advice));
        }
        // Two sketches of different sizes may merge to the smaller size. Then all panes need that
        // size.
        let mut empty = self.empty.clone();
        empty.merge(&other.empty)?;
        let latest = self.latest.max(other.latest);
        let first = latest.map_or(i64::MIN, |latest| self.first_of(latest));
        let mut used = VecDeque::new();
        let mut theirs = other.used.iter().filter(|pane| pane.0 >= first).peekable();
        for (number, sketch) in self.used.iter().filter(|pane| pane.0 >= first) {
            while let Some(before) = theirs.next_if(|pane| pane.0 < *number) {
                used.push_back(fitted(before, &empty, &other.empty)?);
            }
            let mut merged = fitted(&(*number, sketch.clone()), &empty, &self.empty)?;
            if let Some(same) = theirs.next_if(|pane| pane.0 == *number) {
                merged.1.merge(&same.1)?;
            }
            used.push_back(merged);
        }
        for after in theirs {
            used.push_back(fitted(after, &empty, &other.empty)?);
        }
        let late = self.late.saturating_add(other.late);
        *self = Self { late, latest, empty, used, ..*self };
        Ok(())
    }
}

/// Returns a copy of a pane with the parameters of the merged ring, which `empty` has. The pane's
/// own parameters are those of `before`.
fn fitted<S: Pane>(pane: &(i64, S), empty: &S, before: &S) -> Result<(i64, S)> {
    let mut fitted = pane.clone();
    if empty != before {
        fitted.1.merge(empty)?;
    }
    Ok(fitted)
}

impl<S: Pane> Merge for Panes<S> {
    fn merge(&mut self, other: &Self) -> Result<()> {
        self.merge(other)
    }

    fn reseed(&mut self, part: u64) {
        self.empty.reseed(part);
    }
}
