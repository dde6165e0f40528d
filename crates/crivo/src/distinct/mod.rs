//! How many different items are there?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`HyperLogLog`] | 2^precision bytes | 1.04/√memory; exact while small | exact, also between precisions |
//! | [`ExactDistinct`] | 11 to 21 bytes for each different item | none | exact |
//! | [`LinearCounting`] | L bits, about one for each item | √(L (e^t − t − 1))/n, t = n/L, of n items; no upper bound when full | exact |
//! | [`KMinValues`] | 13 to 26 bytes for each of k hashes | 1/√(k − 2); exact below k items | exact, also between sizes; compares sets |
//! | [`ProbabilisticCounting`] | one byte | a 95 % interval spans a factor of 291; for study | exact |
//! | [`LogLog`] | 2^precision bytes | 1.30/√memory, from five items a byte on; for study | exact, also between precisions |
//! | [`UltraLogLog`] | 2^precision bytes | 0.76/√memory; exact while small | exact, also between precisions |

pub mod exact;
mod hash_table;
pub mod hyperloglog;
pub mod k_min_values;
pub mod linear_counting;
pub mod log_log;
mod precision;
pub mod probabilistic_counting;
mod register_sketch;
mod registers;
pub mod ultraloglog;

pub use exact::ExactDistinct;
pub use hyperloglog::HyperLogLog;
pub use k_min_values::KMinValues;
pub use linear_counting::LinearCounting;
pub use log_log::LogLog;
pub use probabilistic_counting::ProbabilisticCounting;
pub use register_sketch::RegisterSketch;
pub use register_sketch::kind::RegisterKind;
pub use ultraloglog::UltraLogLog;
