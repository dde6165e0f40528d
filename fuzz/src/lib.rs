//! What must hold for every input: the fuzz targets, and what they share.

mod decoded;
pub mod foreign;
/// The register sketches, by definition: as the library's own tests have them.
#[allow(dead_code, unused_macros, unused_imports)]
#[path = "../../crates/crivo/tests/support/register_sketches.rs"]
mod models;
mod register_sketch;
pub mod rows;
mod seal;
pub mod targets;

pub use decoded::check_decoding;
pub use register_sketch::RegisterProgram;
pub use seal::seal;
