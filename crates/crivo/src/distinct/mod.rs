//! How many different?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`HyperLogLog`] | 2^precision bytes | 1.04/√memory; exact while small | exact, also between precisions |

pub mod hyperloglog;

pub use hyperloglog::HyperLogLog;
