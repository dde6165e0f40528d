//! From one hash to many indexes.
//!
//! A key is hashed once. A sketch with several rows derives from that hash an index for each, and
//! has to do it so that two keys which meet in one row meet in the others by chance only. Plain
//! double hashing (`a + i·b`) does not: two keys with the same `a` and `b`, modulo the width of a
//! row, share every row at once, and for narrow rows that is frequent. So each row remixes all
//! 64 bits with a function of its own ([`remix`]), and the high bits choose the index ([`index`]).
//!
//! Both functions are part of the file format: they never change.

mod derive;

pub use derive::{ROWS, index, remix};
pub(crate) use derive::{multiplier, multipliers};
