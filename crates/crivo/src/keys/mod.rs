//! What is a key, and how does it become a hash?
//!
//! Two sketches can only be compared or merged if they hashed the same item to the same 64 bits. So
//! every sketch and every file has a [`KeyScheme`], which says how items are hashed: the
//! [`KeyKind`], the hash function and the seed. Sketches with different schemes are never merged,
//! which would give nonsense; the merge returns an error.
//!
//! - A key is **bytes** (text as UTF-8, or anything raw) or a **64-bit integer**. The text `42` and
//!   the integer 42 are different keys.
//! - Callers with a hash of their own choose [`KeyKind::Hash`] and insert hashes only.
//! - The hash is XXH3-64 for bytes and Rrmxmx for integers, with the scheme's seed. Both are
//!   specified bit for bit, so the same key gives the same hash in every language, on every
//!   machine, in every later version. `std::hash::Hash` does not guarantee that and is not used.
//!   Files whose integers were hashed with XXH3 can still be read, queried and added to.
//! - A key is hashed once. A sketch that needs several indexes derives them from the hash.
//!
//! docs/keys.md says how values of tables (numbers, dates, nulls) become keys. [`text`] writes the
//! text that represents each value.
//!
//! Code that knows its kind of keys wraps a sketch in [`Texts`] or [`Integers`], so that a key of
//! another kind does not compile.
//!
//! The default seed is 0 and public, so an adversary can construct keys that collide.
//! Where keys come from an adversary, use a secret seed ([`KeyScheme::with_seed`]).
//!
//! Batches connect reading and sketching. [`KeyBuffer`] collects the positions of keys in a chunk
//! of bytes and hashes the keys in one tight loop. It lends the result as a [`KeyBatch`], which any
//! sketch takes.

mod batch;
pub mod calendar;
mod decimal;
mod dictionary;
mod integer;
mod scheme;
pub mod text;
pub mod typed;
mod value;
mod word_spans;
pub(crate) mod words;

pub use batch::{KeyBatch, KeyBuffer, Span};
pub(crate) use decimal::{DecimalMasks, append_hashes};
pub(crate) use dictionary::FEW_PLACES;
pub use dictionary::KeyDictionary;
pub(crate) use integer::{IntegerHash, inverse, rrmxmx, xxh3 as xxh3_of_integer};
pub(crate) use scheme::hash_bytes;
pub use scheme::{HashFunction, Key, KeyKind, KeyScheme};
pub use typed::{DefaultSize, Integers, KeyOf, TakesKeys, Texts};
pub(crate) use value::same_bytes;
pub use value::{KeyRef, OwnedKey};
pub use word_spans::word_spans;
pub use words::Words;
