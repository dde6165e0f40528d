//! What must hold for every input, shared by the targets.

mod decoded;
mod seal;

pub use decoded::check_decoding;
pub use seal::seal;
