//! Answers about data too big to hold: one pass, small memory, and an honest error bound on
//! every answer.
//!
//! | question | module |
//! |---|---|
//! | how many events? | [`counting`] |
//! | how many different? | [`distinct`] |
//! | is it in there? | [`membership`] |
//! | how often, and which most often? | [`frequency`] |
//! | how often, without seeing anyone's value? | [`frequency::private`] |
//! | a fair sample? | [`sampling`] |
//! | which are alike? | [`similarity`] |
//! | which value has that rank? | [`quantiles`] |
//! | over the last day only? | [`window`] |
//! | the same for each group? | [`groups`] |
//! | what is in this column? | [`profile`] |
//!
//! Every sketch has the same verbs. It is built from a goal (`for_error`) or a size (`new`);
//! takes one key (`insert`), one hash (`insert_hash`) or a batch (`insert_batch`); answers with
//! an [`Estimate`], which is a value with bounds; combines with `merge`; and is stored with
//! `encode` and `decode` in one documented, checksummed format.
//!
//! ```
//! use crivo::distinct::HyperLogLog;
//!
//! let mut monday = HyperLogLog::for_error(0.02)?;
//! monday.insert("ana")?;
//! monday.insert("rui")?;
//! let mut week = HyperLogLog::decode(&monday.encode())?;
//! let mut tuesday = HyperLogLog::for_error(0.02)?;
//! tuesday.insert("rui")?;
//! week.merge(&tuesday)?;
//! assert_eq!(week.estimate().value(), 2.0);
//! # Ok::<(), crivo::Error>(())
//! ```
//!
//! The library does no input or output, starts no thread, reads no clock and no global source
//! of randomness: the same items and parameters give the same bytes everywhere. It never
//! panics on input or configuration; [`Error`] names the field, what was expected and what was
//! found.

pub mod codec;
pub mod counting;
mod cpu;
pub mod distinct;
mod error;
mod estimate;
pub mod frequency;
pub mod groups;
pub mod hash;
pub mod keys;
pub mod math;
pub mod membership;
pub mod profile;
pub mod quantiles;
mod random;
pub mod sampling;
pub mod similarity;
pub mod sketch;
pub mod window;

pub use error::{Error, ErrorKind, Result};
pub use estimate::{Confidence, Estimate};

/// The README's example is held to what the library does.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
