//! Which value has that rank, and how many are at most x?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`NumberQuantiles`] | about 3 `k` numbers: 330 for 1 % | the *rank*: 1 % of all values, 95 % sure; or, for tails, a share of the distance from the nearer end | keeps the guarantee |
//! | [`KeyQuantiles`] | the same number of texts or integers | the same, for anything that has an order | keeps the guarantee |
//! | [`DDSketch`](crate::profile::DDSketch) | 12 to 32 bytes a bin in use | the *value*: certainly within 1 % of it | exact, bit for bit |
//!
//! # Which one to take
//!
//! - *Prices, ages, sizes, scores, names; any distribution:* a rank sketch with
//!   [`Accuracy::Uniform`]. "Half of all orders are below 17.90" is right to within 1 % of the
//!   orders, whatever the numbers are. This is KLL, and the fastest of the three.
//! - *p99.9 and p99.99 of anything:* a rank sketch with [`Accuracy::Tails`]. At the 99.9th
//!   percentile an error of 1 % of all ranks says nothing. With tails the error is a share of the
//!   distance from the nearer end, so that it shrinks as the ends come near. This is what REQ does
//!   for one end.
//! - *Latencies, file sizes, amounts of money over many decades, where "within 1 % of the value" is
//!   the question:* [`DDSketch`](crate::profile::DDSketch). Its bounds are certain, and its bytes
//!   do not depend on order or splitting. It takes numbers only, and numbers that crowd far from
//!   zero are not told apart.

pub mod rank_sketch;

pub use rank_sketch::{Accuracy, Bar, KeyQuantile, KeyQuantiles, NumberQuantiles, RankSketch};
