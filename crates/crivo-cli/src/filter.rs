//! Filters of every kind, as the commands about sets use them.

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

/// Bounds this far from the value, as a share of it, are no answer.
const USELESS: f64 = 0.5;

/// A sketch that says whether a key is in there.
#[derive(Debug, Clone)]
pub(crate) struct Filter(AnySketch);

impl Filter {
    /// Returns the sketch of a file as a filter, or says what it is instead.
    pub(crate) fn of(sketch: impl Into<AnySketch>, name: &str) -> Result<Self> {
        let sketch = sketch.into();
        if sketch.membership().is_err() {
            return Err(kinds::refusal(&sketch, name, "and no set: make one with crivo set build"));
        }
        Ok(Self(sketch))
    }

    /// Returns the filter to ask: of a ring, what its window sees.
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

    /// Makes this the filter of what is in one or the other, whatever their sizes.
    pub(crate) fn unite(&mut self, other: &Self) -> crivo::Result<()> {
        self.0 = united(self.0.clone(), &other.0)?;
        Ok(())
    }

    /// Keeps what both hold, and returns how many that are. The result knows that it is an
    /// intersection.
    pub(crate) fn intersect(&mut self, other: &Self) -> crivo::Result<Estimate> {
        self.0 = self.0.membership()?.intersection(&other.0)?;
        Ok(self.items())
    }

    /// Takes out what the other holds.
    pub(crate) fn subtract(&mut self, other: &Self) -> crivo::Result<()> {
        self.0.membership_mut()?.subtract(&other.0)
    }

    /// Says which keys may be in there, in their order, replacing what `found` held.
    pub(crate) fn contains(&self, keys: &KeyBatch<'_>, found: &mut Vec<bool>) -> crivo::Result<()> {
        self.0.membership()?.contains_batch(keys, found)
    }

    /// Adds the keys of these hashes one after the other; `fresh` says which were certainly new,
    /// replacing what it held.
    pub(crate) fn insert_fresh(&mut self, hashes: &[u64], fresh: &mut Vec<bool>) -> crivo::Result<()> {
        self.0.membership_mut()?.insert_new(hashes, fresh)
    }

    /// Says, or fails with, that there are more keys than the filter was made for.
    pub(crate) fn report_if_full(&self, on_full: OnFull, out: &Output) -> Result<()> {
        report_if_full(&self.0, on_full, out)
    }
}

/// Returns the filter of what is in one or the other: of one size as one, of different sizes side
/// by side.
pub(crate) fn united(mut first: AnySketch, second: &AnySketch) -> crivo::Result<AnySketch> {
    match first.merge(second) {
        Ok(()) => Ok(first),
        // What forbids it may be more than the sizes; that is said better by the filters
        // themselves.
        Err(error) => CombinedFilter::union(first, second.clone())
            .map(Into::into)
            .map_err(|other| if other.kind() == ErrorKind::Unsupported { error } else { other }),
    }
}

/// Says, or fails with, that a sketch is past what it can tell: a filter with more keys than it was
/// made for, or a count without an upper bound.
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
    // Past its size linear counting answers with bounds that say nothing, before it gives none.
    let says_nothing = sketch.downcast_ref::<LinearCounting>().is_some() && items.relative_error() > USELESS;
    if items.upper().is_infinite() || says_nothing {
        let message = "the sketch is full, the answer only a lower bound: a larger one reaches further";
        return on_full.report(message, out);
    }
    Ok(())
}
