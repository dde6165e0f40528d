//! Which sets are similar?
//!
//! Similarity is the Jaccard similarity of two sets, `J = |A ∩ B| / |A ∪ B|`. The sets are those of
//! a text's features, of the films a person saw, or of any 64-bit hashes that the caller supplies.
//!
//! | part | answers | cost |
//! |---|---|---|
//! | [`shingle`] | which pieces of a text make its set | a few steps a word |
//! | [`jaccard`] | the similarity of two sets, exactly | a pass over both, sorted |
//! | [`MinHash`] | the similarity of two sets from `k` numbers each, ± `1/√k` | one step an element, `k` steps a comparison |
//! | [`Bands`] | which slots of a signature to look up together, so that pairs above a threshold meet | – |
//! | [`winnow`] | which few positions of a text find every passage it shares with another | two steps a word |
//! | [`runs`] | the passages that two texts share, word for word | a step a word |
//! | [`LshIndex`] | which of many sets are similar to a given one, or to each other, without comparing all | one step a band |
//!
//! To find what is similar among many sets, take four steps. Make a signature of each set
//! ([`MinHash`]), choose bands that fit the threshold ([`Bands::for_threshold`]), and put the
//! signatures into an index ([`LshIndex`]). Then compute the exact similarity of the candidates it
//! returns ([`jaccard`]). [`Bands::expected_missed`] estimates how many similar pairs were never
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

/// Returns an empty array with room for `len` hashes, on huge pages if the system has them. It is
/// for programs that keep the sets of many texts, which would otherwise spend much time on the
/// first access to each page.
///
/// # Errors
/// If the memory cannot be allocated.
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
