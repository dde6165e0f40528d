//! Is it in there?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`Bloom`] | 9.6 bits a key at 1 % | "yes" is wrong at the rate | exact union; intersection |

pub mod bloom;
mod occupancy;
mod sizing;

pub use bloom::Bloom;
