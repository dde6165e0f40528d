//! How many events?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`SampledCounter`] | log2 of (events · p) bits | √((1 − p)/(p·events)), falls with the events | the same distribution |
//! | [`MorrisCounter`] | log2 log of events: 4 to 16 bits | √((base − 1)/2), the same at any count | the same distribution |
//! | [`CounterArray`] | 4, 8 or 16 bits an index | as `MorrisCounter`, each | the same distribution |
//! | [`Tally`] | 32 bytes, and 552 once a number came | none: count and sum are exact | exact |
//!
//! All but the `Tally` are random. Each is built with a seed and stores the state of its generator.
//! So the same events give the same bytes everywhere, and a stored counter continues exactly where
//! it was. Merging two of them gives a counter with the distribution of the joined stream, but not
//! its bytes. They must have been built with different seeds; with equal seeds they make the same
//! errors, which add up.
//!
//! An event has no key here. To count only events of one kind, call the counter only for those.

mod cells;
pub mod counter_array;
pub mod morris_counter;
pub mod sampled_counter;
mod scale;
mod skip;
pub mod tally;

pub use counter_array::CounterArray;
pub use morris_counter::MorrisCounter;
pub use sampled_counter::SampledCounter;
pub use tally::Tally;

use crate::codec::Header;
use crate::error::{Error, Result};
use crate::keys::KeyScheme;

/// The key scheme in the envelope of a sketch without keys.
pub(crate) const NO_KEYS: KeyScheme = KeyScheme::hashes();

pub(crate) fn require_no_keys(header: &Header) -> Result<()> {
    if header.scheme == NO_KEYS {
        Ok(())
    } else {
        Err(Error::contents("key kind", "that of a counter, which has no keys: hash, seed 0", header.scheme))
    }
}
