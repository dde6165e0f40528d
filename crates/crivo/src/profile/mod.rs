//! What is in this column?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`DDSketch`] | 12 to 32 bytes a bin in use, 2,073 bins at most for 1 % | certain: a share of every quantile; count, sum, least and greatest exact | exact |

pub mod ddsketch;
mod exact_sum;

pub use ddsketch::DDSketch;
