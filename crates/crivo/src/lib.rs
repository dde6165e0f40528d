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
//! | which are similar? | [`similarity`] |
//! | which value has that rank? | [`quantiles`] |
//! | over the last day only? | [`window`] |
//! | the same for each group? | [`groups`] |
//! | what is in this column? | [`profile`] |
//!
//! Every sketch has the same verbs. It is built from a goal (`for_error`) or a size (`new`); takes
//! one key (`insert`), one hash (`insert_hash`) or a batch (`insert_batch`); answers with an
//! [`Estimate`], which is a value with bounds; combines with `merge`; and is stored with `encode`
//! and `decode` in one documented, checksummed format. Code that knows its kind of keys wraps a
//! sketch in [`keys::Texts`] or [`keys::Integers`]: a key of another kind does not compile then.
//!
//! # Five things people do
//!
//! Count visitors a day, and the week from the days:
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
//! Drop what a stream repeats:
//!
//! ```
//! use crivo::membership::Bloom;
//!
//! let mut seen = Bloom::for_items(1_000_000, 0.001)?;
//! assert!(seen.insert("event 17")?, "certainly new");
//! assert!(!seen.insert("event 17")?);
//! # Ok::<(), crivo::Error>(())
//! ```
//!
//! Find the heavy hitters of a log:
//!
//! ```
//! use crivo::frequency::HeavyHitters;
//!
//! let mut requests = HeavyHitters::for_share(0.01)?;
//! for address in ["192.0.2.1", "192.0.2.2", "192.0.2.1"] {
//!     requests.insert(address)?;
//! }
//! assert_eq!(requests.top(1)[0].count(), 2);
//! # Ok::<(), crivo::Error>(())
//! ```
//!
//! Share a filter between programs, whatever kind it is:
//!
//! ```
//! use crivo::{codec::AnySketch, keys::Key, membership::BlockedBloom};
//!
//! let mut customers = BlockedBloom::for_items(10_000, 0.01)?;
//! customers.insert("ana")?;
//! let bytes = customers.encode();
//! let opened = AnySketch::decode(&bytes)?;
//! assert!(opened.membership()?.contains_ref("ana".to_ref())?);
//! # Ok::<(), crivo::Error>(())
//! ```
//!
//! Keep a small sketch in a column of a database, and merge by any group later:
//!
//! ```
//! use crivo::distinct::UltraLogLog;
//!
//! let mut rows = Vec::new();
//! for users in [["ana", "rui"], ["rui", "eva"]] {
//!     let mut sketch = UltraLogLog::new(10)?;
//!     users.iter().try_for_each(|user| sketch.insert(*user))?;
//!     rows.push(sketch.encode());
//! }
//! let mut all = UltraLogLog::new(10)?;
//! for row in &rows {
//!     all.merge(&UltraLogLog::decode(row)?)?;
//! }
//! assert_eq!(all.estimate().value(), 3.0);
//! # Ok::<(), crivo::Error>(())
//! ```
//!
//! The folder `examples` has each of them as a program.
//!
//! # One vocabulary
//!
//! The same word means the same in every sketch, in Python and in `crivo show`.
//!
//! | word | meaning |
//! |---|---|
//! | `error` | one standard error: of a count a share of it, of a similarity a difference. `for_error` asks for it |
//! | `bound` | a limit of the error that holds certainly, or with a probability that is stated beside it. `for_bound` asks for it |
//! | `epsilon`, `delta` | a bound as a share of the whole weight, and the probability that it is exceeded (1 − confidence) |
//! | `confidence` | the probability that the interval of an [`Estimate`] holds the truth; 0.95 by default |
//! | `rate` | the probability that a filter reports an absent key as a member |
//! | `share` | a part of a whole, between 0 and 1 |
//! | `items` | a number of different keys: those a sketch is made for, or holds |
//! | `capacity` | how many keys or rows a sketch keeps or is made for, always a `u64` |
//! | `width`, `depth` | the counters of a row, and the number of rows |
//! | `bits` | the size of a table of bits; `counter_bits` is that of one counter, `slot_bits` that of an index |
//! | `k`, `precision` | how many hashes or slots a sketch has, and the base-2 logarithm of its registers |
//! | `pane_width`, `window` | units of time |
//!
//! Constructors follow one pattern. Sizes or a goal come first, then the scheme of the keys, then
//! the random seed if the sketch draws random numbers:
//!
//! | | keys are bytes or text | keys of a [`KeyScheme`](keys::KeyScheme) |
//! |---|---|---|
//! | of a size | `new(sizes…)` | `with_scheme(sizes…, scheme)` |
//! | of a finished set | `of_keys(keys)` | `of_keys_with_scheme(keys, scheme)`, `of_hashes(hashes, scheme)` |
//! | for a goal | `for_error(goal…)`, `for_bound`, `for_items`, `for_share`, … | `for_error_with_scheme(goal…, scheme)`, … |
//!
//! The size that a goal needs is a public function too: `precision_for`, `size_for`,
//! `capacity_for`, …
//!
//! # Features
//!
//! | feature | what it brings | what it costs |
//! |---|---|---|
//! | `std` (default) | vector instructions that are chosen at run time; large arrays on huge pages | the standard library; on Linux, `libc` |
//! | `serde` | `Serialize` for [`Estimate`], [`Summary`](codec::Summary) and the other answers | `serde` |
//! | `study` | DJB31MA, forged collisions and birthdays in [`hash`]: to be studied, not used | nothing |
//!
//! Without `std` the library needs `alloc` only; answers and bytes are the same.
//!
//! # What it promises
//!
//! The library does no input or output, starts no thread, reads no clock and no global source
//! of randomness: the same items and parameters give the same bytes everywhere. It never
//! panics on input or configuration; [`Error`] names the field, what was expected and what was
//! found.

#![cfg_attr(not(feature = "std"), no_std)]

#[cfg_attr(not(feature = "std"), macro_use)]
extern crate alloc;
// Lets both builds write `std::…`: everything the library takes from `std` is in `core` too.
#[cfg(not(feature = "std"))]
extern crate core as std;

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
#[cfg(not(feature = "std"))]
mod prelude;
pub mod profile;
pub mod quantiles;
mod random;
pub mod sampling;
#[cfg(feature = "serde")]
mod serialize;
pub mod similarity;
pub mod sketch;
pub mod window;

pub use error::{Error, ErrorKind, Result};
pub use estimate::{Confidence, Estimate};

/// Tests the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CrateReadme;

/// Tests the example of the workspace's README, which is not part of the packaged crate.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Tests the examples of the book's chapter about Rust.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/users/rust.md")]
struct RustChapter;
