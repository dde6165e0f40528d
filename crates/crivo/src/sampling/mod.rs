//! A fair sample.
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`Reservoir`] | the k kept keys | none: every set of k items is as likely | the same distribution |
//! | [`WeightedReservoir`] | the k kept keys, 8 bytes more each | none: k draws by weight, without replacement | the same distribution |
//!
//! These sketches draw. Each is built with a seed and keeps the state of its generator, so that the same items
//! in the same order give the same bytes everywhere and a stored sample goes on where it was. Merging two
//! of them gives a sample with the distribution of the joined stream, not its bytes; they must have been
//! built with different seeds, or they choose the same positions of both streams.

mod items;
pub mod reservoir;
pub mod weighted_reservoir;

pub use reservoir::Reservoir;
pub use weighted_reservoir::WeightedReservoir;
