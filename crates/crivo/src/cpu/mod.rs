//! What the processor offers beyond plain code, each with a portable twin of identical results.
//!
//! Callers see one safe function; the choice is made here. This folder is the only place in the
//! library where `unsafe` may be written, each use with the reason why it holds and a test that
//! compares it with its twin.

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
