//! Random samples of streams and tables.
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`Reservoir`] | the k kept keys | none: every set of k items is equally likely | the same distribution |
//! | [`WeightedReservoir`] | the k kept keys, 8 bytes more each | none: k draws by weight, without replacement | the same distribution |
//! | [`RowSample`] | the k kept rows, 40 bytes more each | none: as the two above | exact: the same rows, however the input was split |
//!
//! The first two draw random numbers. Each is built with a seed and keeps the state of its
//! generator. So the same items in the same order give the same bytes everywhere, and a stored
//! sample continues as if it had never been stored. Merging two of them gives a sample with the
//! distribution of the joined stream, but not its bytes. The two must have different seeds;
//! otherwise they choose the same positions of both streams. A `RowSample` draws nothing: the seed
//! and the place of a row decide whether the row is in the sample.

mod items;
mod jump;
pub mod reservoir;
pub mod row_sample;
pub mod row_share;
pub mod weighted_reservoir;

pub use reservoir::Reservoir;
pub use row_sample::{RowSample, SampledRow};
pub use row_share::RowShare;
pub use weighted_reservoir::WeightedReservoir;
