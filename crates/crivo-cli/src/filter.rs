//! Filters of every kind, as the commands about sets use them.

use anyhow::{Result, anyhow};
use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::keys::{KeyBatch, KeyScheme};
use crivo::membership::{BlockedBloom, Bloom, CountingBloom, DirectTable};

use crate::args::OnFull;
use crate::kinds::{self, Kind};
use crate::output::{self, Output};
use crate::window;

/// A sketch that says whether a key is in there.
#[derive(Debug, Clone)]
pub(crate) enum Filter {
    Bloom(Bloom),
    Blocked(BlockedBloom),
    Counting(CountingBloom),
    Direct(DirectTable),
}

/// The same call for whichever it is.
macro_rules! whichever {
    ($filter:expr, $inner:ident => $call:expr) => {
        match $filter {
            Filter::Bloom($inner) => $call,
            Filter::Blocked($inner) => $call,
            Filter::Counting($inner) => $call,
            Filter::Direct($inner) => $call,
        }
    };
}

impl Filter {
    /// The filter in the file of that name.
    pub(crate) fn of(sketch: AnySketch, name: &str) -> Result<Self> {
        match sketch {
            AnySketch::Bloom(filter) => Ok(Self::Bloom(filter)),
            AnySketch::BlockedBloom(filter) => Ok(Self::Blocked(filter)),
            AnySketch::CountingBloom(filter) => Ok(Self::Counting(filter)),
            AnySketch::DirectTable(filter) => Ok(Self::Direct(filter)),
            other => {
                let family = other.family();
                let Kind { made_by, answers, .. } = kinds::of(family);
                Err(anyhow!(
                    "{name}: this is a {family} made by `{made_by}`, which answers {answers}, and no set: \
                     make one with crivo set build"
                ))
            }
        }
    }

    /// The filter to ask: of a ring, what its window sees.
    pub(crate) fn to_ask(sketch: AnySketch, name: &str) -> Result<Self> {
        match sketch {
            AnySketch::Panes(ring) => Self::of(window::latest(&ring)?, name),
            sketch => Self::of(sketch, name),
        }
    }

    pub(crate) fn into_sketch(self) -> AnySketch {
        match self {
            Self::Bloom(filter) => AnySketch::Bloom(filter),
            Self::Blocked(filter) => AnySketch::BlockedBloom(filter),
            Self::Counting(filter) => AnySketch::CountingBloom(filter),
            Self::Direct(filter) => AnySketch::DirectTable(filter),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        whichever!(self, filter => filter.encode())
    }

    pub(crate) fn scheme(&self) -> KeyScheme {
        whichever!(self, filter => filter.scheme())
    }

    pub(crate) fn memory(&self) -> usize {
        whichever!(self, filter => filter.memory())
    }

    pub(crate) fn items(&self) -> Estimate {
        whichever!(self, filter => filter.items())
    }

    pub(crate) fn insert_batch(&mut self, keys: &KeyBatch<'_>) -> crivo::Result<()> {
        whichever!(self, filter => filter.insert_batch(keys))
    }

    pub(crate) fn merge(&mut self, other: &Self) -> crivo::Result<()> {
        match (self, other) {
            (Self::Bloom(mine), Self::Bloom(theirs)) => mine.merge(theirs),
            (Self::Blocked(mine), Self::Blocked(theirs)) => mine.merge(theirs),
            (Self::Counting(mine), Self::Counting(theirs)) => mine.merge(theirs),
            (Self::Direct(mine), Self::Direct(theirs)) => mine.merge(theirs),
            (mine, theirs) => {
                // The one place that words this refusal.
                let mut mine = mine.clone().into_sketch();
                crivo::sketch::Merge::merge(&mut mine, &theirs.clone().into_sketch())
            }
        }
    }

    /// Which keys may be in there, in their order, replacing what `found` held.
    pub(crate) fn contains(&self, keys: &KeyBatch<'_>, found: &mut Vec<bool>) -> crivo::Result<()> {
        match self {
            Self::Bloom(filter) => filter.contains_batch(keys, found),
            Self::Blocked(filter) => filter.contains_batch(keys, found),
            Self::Direct(filter) => filter.contains_batch(keys, found),
            Self::Counting(filter) => {
                filter.scheme().require_same(keys.scheme())?;
                filter.contains_hashes(keys.hashes(), found);
                Ok(())
            }
        }
    }

    /// Adds the keys of these hashes one after the other; `fresh` says which were certainly new, replacing
    /// what it held. Nothing for tables, which take no hashes.
    ///
    /// All are looked up first, together: that overlaps the memory accesses, and only those not found
    /// have to be added, from a cache that holds their place by now.
    pub(crate) fn insert_fresh(&mut self, hashes: &[u64], fresh: &mut Vec<bool>) {
        macro_rules! insert_fresh {
            ($filter:expr) => {{
                let mut found = Vec::new();
                fresh.clear();
                for hashes in hashes.chunks(KeyBatch::TARGET_LEN) {
                    $filter.contains_hashes(hashes, &mut found);
                    fresh.extend(
                        found.iter().zip(hashes).map(|(found, &hash)| !found && $filter.insert_hash(hash)),
                    );
                }
            }};
        }
        match self {
            Self::Bloom(filter) => insert_fresh!(filter),
            Self::Blocked(filter) => insert_fresh!(filter),
            Self::Counting(filter) => insert_fresh!(filter),
            Self::Direct(_) => {
                fresh.clear();
                fresh.resize(hashes.len(), false);
            }
        }
    }

    fn capacity(&self) -> Option<u64> {
        match self {
            Self::Bloom(filter) => Some(filter.capacity()),
            Self::Blocked(filter) => Some(filter.capacity()),
            Self::Counting(filter) => Some(filter.capacity()),
            Self::Direct(_) => None,
        }
    }

    fn false_positive_rate(&self) -> f64 {
        match self {
            Self::Bloom(filter) => filter.false_positive_rate(),
            Self::Blocked(filter) => filter.false_positive_rate(),
            Self::Counting(filter) => filter.false_positive_rate(),
            Self::Direct(_) => 0.0,
        }
    }

    /// Says, or fails with, that there are more keys than the filter was made for.
    pub(crate) fn report_if_full(&self, on_full: OnFull, out: &Output) -> Result<()> {
        let items = self.items();
        match self.capacity() {
            Some(capacity) if items.lower() > capacity as f64 => {
                let message = format!(
                    "the filter was made for {} items and has {}: it takes {} of absent keys for members now; \
                     build it anew with a larger --items",
                    output::count(capacity),
                    output::estimate(items),
                    output::percent(self.false_positive_rate())
                );
                on_full.report(&message, out)
            }
            _ => Ok(()),
        }
    }
}
