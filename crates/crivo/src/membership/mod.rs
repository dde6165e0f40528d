//! Is it in there?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`DirectTable`] | one bit for each integer there could be | none | exact |
//! | [`Bloom`] | 9.6 bits a key at 1 % | "yes" is wrong at the rate | exact; so is intersection, but for its rate |
//! | [`BlockedBloom`] | 10.1 bits a key at 1 %, one cache line | "yes" is wrong at the rate | exact; so is intersection, but for its rate |
//! | [`CountingBloom`] | 4 to 32 bits a cell, 10 cells a key for 1 % | false positives; counts from above | exact, and so is subtraction |

pub mod blocked_bloom;
pub mod bloom;
pub mod counting_bloom;
pub mod direct_table;
mod occupancy;
mod sizing;

pub use blocked_bloom::BlockedBloom;
pub use bloom::Bloom;
pub use counting_bloom::{CounterBits, CountingBloom};
pub use direct_table::DirectTable;
