//! Which are alike?
//!
//! Likeness is the Jaccard similarity of two sets, `J = |A ∩ B| / |A ∪ B|`: sets of a text's
//! features, of the films a person saw, or of any 64-bit hashes that the caller brings.
//!
//! | part | answers | cost |
//! |---|---|---|
//! | [`shingle`] | which pieces of a text make its set | a few steps a word |
//! | [`jaccard`] | the similarity of two sets, exactly | a pass over both, sorted |
//! | [`MinHash`] | the similarity of two sets from `k` numbers each, ± `1/√k` | one step an element, `k` steps a comparison |
//! | [`Bands`] | which slots of a signature to look up together, so that pairs above a threshold meet | – |
//! | [`winnow`] | which few positions of a text find every passage it shares with another | two steps a word |
//! | [`runs`] | the passages that two texts share, word for word | a step a word |
//! | [`LshIndex`] | which of many sets are like this one, or like each other, without comparing all | one step a band |
//!
//! To find what is alike among many: a signature of each set ([`MinHash`]), bands that fit the
//! threshold ([`Bands::for_threshold`]), an index of them ([`LshIndex`]), and the exact similarity
//! of the candidates it names ([`jaccard`]). [`Bands::expected_missed`] says how many were never
//! candidates.

pub mod bands;
pub mod jaccard;
pub mod lsh_index;
pub mod min_hash;
pub mod runs;
pub mod shingle;
pub mod winnow;

pub use bands::Bands;
pub use lsh_index::LshIndex;
pub use min_hash::MinHash;

use crate::error::Result;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// Returns an empty array with room for `len` hashes, on huge pages if the system has them: for
/// engines that keep the sets of many texts, and spend much of their time on the first touch of
/// each page otherwise.
///
/// # Errors
/// If the memory cannot be had.
///
/// ```
/// let mut hashes = crivo::similarity::room_for_hashes(1 << 20)?;
/// hashes.extend_from_slice(&[3, 1, 4]);
/// assert!(hashes.capacity() >= 1 << 20);
/// # Ok::<(), crivo::Error>(())
/// ```
pub fn room_for_hashes(len: u64) -> Result<Vec<u64>> {
    crate::cpu::reserved(len)
}
