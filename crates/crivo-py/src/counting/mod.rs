//! How many events?
//!
//! Counters have no keys. They make random draws, which follow from the seed.

mod array;
mod morris;
mod sampled;
mod tally;

pub(crate) use self::array::CounterArray;
pub(crate) use self::morris::MorrisCounter;
pub(crate) use self::sampled::SampledCounter;
pub(crate) use self::tally::Tally;

use pyo3::prelude::*;

use crate::errors::{Result, setting};

/// Returns the seed of the random draws, 0 if none is given.
fn seed_of(seed: Option<&Bound<'_, PyAny>>) -> Result<u64> {
    seed.map_or(Ok(0), |seed| setting("seed", seed, "0 to 2^64 - 1"))
}

/// Returns the number of events to add.
fn events_of(events: &Bound<'_, PyAny>) -> Result<u64> {
    setting("events", events, "0 to 2^64 - 1")
}
