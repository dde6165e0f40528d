//! Which are alike?
//!
//! Likeness is the Jaccard similarity of two sets, `J = |A ∩ B| / |A ∪ B|`: of a text's features, of the
//! films somebody saw, of whatever a caller brings as 64-bit hashes.
//!
//! | part | answers | cost |
//! |---|---|---|
//! | [`shingle`] | which pieces of a text make its set | a few steps a word |
//! | [`MinHash`] | the similarity of two sets from `k` numbers each, ± `1/√k` | one step an element, `k` steps a comparison |
//! | [`Bands`] | which slots of a signature to look up together, so that pairs above a threshold meet | – |

pub mod bands;
pub mod min_hash;
pub mod shingle;

pub use bands::Bands;
pub use min_hash::MinHash;
