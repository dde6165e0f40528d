//! How often, and which most often?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`CountMin`] | 8 · width · depth bytes | never below the truth; above by e/width of the whole | exact; not after conservative updates |
//! | [`RangeCountMin`] | as many of those as levels, and a tree | the same for ranges of integers, by 2·levels·e/width | exact |

pub mod count_min;
pub mod range_count_min;
mod rows;

pub use count_min::CountMin;
pub use range_count_min::RangeCountMin;
