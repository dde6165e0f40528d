//! From one hash to many indexes, and what makes a hash good enough for it.
//!
//! **What the sketches use.** A key is hashed once. A sketch with several rows derives from that
//! hash an index for each row. Two keys that collide in one row must collide in the others by
//! chance only. Plain double hashing (`a + i·b`) does not achieve that: two keys with the same `a`
//! and `b`, modulo the width of a row, share every row at once, and for narrow rows that is
//! frequent. So each row remixes all 64 bits with a function of its own ([`remix`]), and the high
//! bits choose the index ([`index`]). Both functions are part of the file format: they never
//! change.
//!
//! **How good that is** can be measured, here and for any other functions. [`Indexes`] holds the
//! indexes of many keys. It measures how evenly they are distributed, and whether the indexes of
//! one function depend on those of another. docs/accuracy/hashing.md has the figures for every
//! sketch. [`collision_probability`] is what no function can avoid.
//!
//! **What goes wrong otherwise** is shown by [`djb31ma()`], the hash of textbooks: it fails each of
//! these measurements, and [`forge()`] finds another readable text for any of its values.
//!
//! **Tables in memory** place keys by a secret number of the process: [`TableSecret`].
//!
//! **Hashing features.** [`FeatureHasher`] turns named features into vectors of fixed length,
//! without a dictionary.

#[cfg(feature = "study")]
pub mod birthday;
mod derive;
#[cfg(feature = "study")]
pub mod djb31ma;
pub mod features;
#[cfg(feature = "study")]
pub mod forge;
pub mod quality;
mod secret;
pub mod split_mix;
#[cfg(feature = "study")]
mod words;

#[cfg(feature = "study")]
pub use birthday::{approximate_collision_probability, collision_probability, items_for_collision};
pub use derive::{ROWS, index, remix};
pub(crate) use derive::{multiplier, multipliers};
#[cfg(feature = "study")]
pub use djb31ma::djb31ma;
pub use features::{FeatureHasher, SparseFeatures};
#[cfg(feature = "study")]
pub use forge::{forge, forge_after};
pub use quality::{ChiSquare, Indexes, Pair};
pub use secret::{SecretHasher, TableSecret};
