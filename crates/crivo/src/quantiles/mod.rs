//! Which value has a given rank, and how many values are at most x?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`NumberQuantiles`] | about 3 `k` numbers: 330 for 1 % | the *rank*: 1 % of all values, with 95 % confidence; or, for tails, a share of the distance from the nearer end | keeps the guarantee |
//! | [`KeyQuantiles`] | the same number of texts or integers | the same, for anything that has an order | keeps the guarantee |
//! | [`DDSketch`](crate::profile::DDSketch) | 12 to 32 bytes a bin in use | the *value*: certainly within 1 % of it | exact, bit for bit |
//!
//! # Choosing a type
//!
//! - *Prices, ages, sizes, scores, names; any distribution:* a rank sketch with
//!   [`Accuracy::Uniform`]. "Half of all orders are below 17.90" is right to within 1 % of the
//!   orders, whatever the numbers are. This is KLL, and the fastest of the three.
//! - *p99.9 and p99.99 of anything:* a rank sketch with [`Accuracy::Tails`]. At the 99.9th
//!   percentile an error of 1 % of all ranks says nothing. With tails the error is a share of the
//!   distance from the nearer end, so it shrinks towards the ends. REQ does this for one end.
//! - *Latencies, file sizes, amounts of money over many decades, where the error must be within 1 %
//!   of the value:* [`DDSketch`](crate::profile::DDSketch). Its bounds are certain, and its bytes
//!   do not depend on order or splitting. It accepts numbers only, and does not distinguish numbers
//!   that are close together and far from zero.

pub mod rank_sketch;

pub use rank_sketch::{Accuracy, Bar, KeyQuantile, KeyQuantiles, NumberQuantiles, RankSketch};
