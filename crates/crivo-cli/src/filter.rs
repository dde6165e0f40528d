//! Membership filters of any kind, for the commands about sets.

use anyhow::Result;
use crivo::codec::AnySketch;
use crivo::distinct::LinearCounting;
use crivo::keys::{KeyBatch, KeyScheme};
use crivo::membership::CombinedFilter;
use crivo::sketch::{InsertKeys, Merge, Sketch as _};
use crivo::{ErrorKind, Estimate};

use crate::args::OnFull;
use crate::kinds;
use crate::output::{self, Output};
use crate::window;

/// An answer is useless if its bounds are further from the value than this share of it.
const USELESS: f64 = 0.5;

/// A sketch that answers membership queries.
#[derive(Debug, Clone)]
pub(crate) struct Filter(AnySketch);

impl Filter {
    /// Returns the sketch of a file as a filter. The error for another kind of sketch says what it
    /// is.
    pub(crate) fn of(sketch: impl Into<AnySketch>, name: &str) -> Result<Self> {
        let sketch = sketch.into();
        if sketch.membership().is_err() {
            return Err(kinds::refusal(&sketch, name, "and no set: make one with crivo set build"));
        }
        Ok(Self(sketch))
    }

    /// Returns the filter for queries: the sketch itself, or the merged window of a ring.
    pub(crate) fn to_ask(sketch: AnySketch, name: &str) -> Result<Self> {
        Self::of(window::seen_by(sketch)?, name)
    }

    pub(crate) fn sketch(&self) -> &AnySketch {
        &self.0
    }

    pub(crate) fn into_sketch(self) -> AnySketch {
        self.0
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        self.0.encode()
    }

    pub(crate) fn scheme(&self) -> KeyScheme {
        self.0.scheme()
    }

    pub(crate) fn memory(&self) -> usize {
        self.0.memory()
    }

    pub(crate) fn items(&self) -> Estimate {
        self.0.summary().items
    }

    /// Returns true if adding a key twice changes the filter.
    pub(crate) fn counts(&self) -> bool {
        self.0.frequency().is_ok()
    }

    pub(crate) fn insert_batch(&mut self, keys: &KeyBatch<'_>) -> crivo::Result<()> {
        self.0.insert_batch(keys)
    }

    pub(crate) fn merge(&mut self, other: &Self) -> crivo::Result<()> {
        Merge::merge(&mut self.0, &other.0)
    }

    /// Replaces this filter by the union of both, whatever their sizes.
    pub(crate) fn unite(&mut self, other: &Self) -> crivo::Result<()> {
        self.0 = united(self.0.clone(), &other.0)?;
        Ok(())
    }

    /// Replaces this filter by the intersection of both, and returns its number of items. The
    /// result records that it is an intersection.
    pub(crate) fn intersect(&mut self, other: &Self) -> crivo::Result<Estimate> {
        self.0 = self.0.membership()?.intersection(&other.0)?;
        Ok(self.items())
    }

    /// Removes the items of the other filter.
    pub(crate) fn subtract(&mut self, other: &Self) -> crivo::Result<()> {
        self.0.membership_mut()?.subtract(&other.0)
    }

    /// Sets `found` to one bool per key, in the order of the keys: true if the key may be in the
    /// set.
    pub(crate) fn contains(&self, keys: &KeyBatch<'_>, found: &mut Vec<bool>) -> crivo::Result<()> {
        self.0.membership()?.contains_batch(keys, found)
    }

    /// Adds the keys with these hashes one by one. Sets `fresh` to one bool per key: true if the
    /// key was certainly new.
    pub(crate) fn insert_fresh(&mut self, hashes: &[u64], fresh: &mut Vec<bool>) -> crivo::Result<()> {
        self.0.membership_mut()?.insert_new(hashes, fresh)
    }

    /// Warns or fails if the filter holds more keys than it was made for.
    pub(crate) fn report_if_full(&self, on_full: OnFull, out: &Output) -> Result<()> {
        report_if_full(&self.0, on_full, out)
    }
}

/// Returns the union of two filters. Filters of one size are merged, filters of different sizes are
/// combined side by side.
pub(crate) fn united(mut first: AnySketch, second: &AnySketch) -> crivo::Result<AnySketch> {
    match first.merge(second) {
        Ok(()) => Ok(first),
        // The sizes may not be the only reason that the merge fails. The error of the combination
        // is then more precise.
        Err(error) => CombinedFilter::union(first, second.clone()).map(Into::into).map_err(|other| {
            // Filters of two kinds can be combined, so the kind is never the reason.
            let says_less = other.kind() == ErrorKind::Unsupported && error.kind() != ErrorKind::WrongFamily;
            if says_less { error } else { other }
        }),
    }
}

/// Warns or fails if a sketch is beyond its limits: a filter with more keys than it was made for,
/// or a count without an upper bound.
pub(crate) fn report_if_full(sketch: &AnySketch, on_full: OnFull, out: &Output) -> Result<()> {
    if let Some(filter) = sketch.answers_membership() {
        let items = filter.items();
        return match filter.capacity() {
            Some(capacity) if items.lower() > capacity as f64 => {
                let message = format!(
                    "the filter was made for {} items and has {}: it takes {} of absent keys for members now; \
                     build it anew with a larger --items",
                    output::count(capacity),
                    output::items(items),
                    output::percent(filter.false_positive_rate())
                );
                on_full.report(&message, out)
            }
            _ => Ok(()),
        };
    }
    let items = sketch.summary().items;
    // Beyond its size, linear counting returns useless bounds before it returns an infinite one.
    let says_nothing = sketch.downcast_ref::<LinearCounting>().is_some() && items.relative_error() > USELESS;
    if items.upper().is_infinite() || says_nothing {
        let message = "the sketch is full, the answer only a lower bound: a larger one reaches further";
        return on_full.report(message, out);
    }
    Ok(())
}
