//! A fair sample.
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`Reservoir`] | the k kept keys | none: every set of k items is as likely | the same distribution |
//! | [`WeightedReservoir`] | the k kept keys, 8 bytes more each | none: k draws by weight, without replacement | the same distribution |
//! | [`RowSample`] | the k kept rows, 40 bytes more each | none: as the two above | exact: the same rows, however the input was split |
//!
//! The first two draw. Each is built with a seed and keeps the state of its generator, so that the
//! same items in the same order give the same bytes everywhere and a stored sample goes on where it
//! was. Merging two of them gives a sample with the distribution of the joined stream, not its
//! bytes; they must have been built with different seeds, or they choose the same positions of both
//! streams. A `RowSample` draws nothing: its seed and the place of a row decide whether the row is
//! in it.

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
