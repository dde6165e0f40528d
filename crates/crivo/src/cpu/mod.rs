//! Operations that use special instructions of the processor. Each has a portable twin with
//! identical results.
//!
//! Callers see one safe function, which chooses the twin. This folder is the only place in the
//! library where `unsafe` may be written. Each use states why it is sound, and has a test that
//! compares it with its portable twin.

pub(crate) mod blocks;
mod decimals;
mod integers;
mod letters;
mod memory;
mod prefetch;
mod zero_bits;

pub(crate) use decimals::hash_decimals;
pub(crate) use integers::hash_integers;
pub(crate) use letters::{BLOCK, lower_and_mark};
pub(crate) use memory::{reserved, zeroed};
pub(crate) use prefetch::prefetch;
pub(crate) use zero_bits::without_bits;
