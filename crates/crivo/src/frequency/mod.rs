//! How often do keys occur, and which keys most often?
//!
//! | type | memory | error | merge |
//! |---|---|---|---|
//! | [`CountMin`] | 8 · width · depth bytes | never below the truth; above by e/width of the whole | exact; not after conservative updates |
//! | [`RangeCountMin`] | one of those for each lower level, and an exact tree of the upper ones | the same for ranges of integers, by 2·levels·e/width | exact |
//! | [`Majority`] | one key | certain bounds of its votes | keeps the guarantee |
//! | [`HeavyHitters`] | 24 bytes a counter, and its text | certain bounds a key, at most 4/3 of the whole ÷ counters; exact while small | keeps the guarantee |
//! | [`PrivateCountMean`] | 4 · rows · width bytes | unbiased, from reports that are ε-private each; 0.43·√reports at ε = 4 | exact |

pub mod count_min;
pub mod heavy_hitters;
mod hitter;
pub mod majority;
pub mod private;
pub mod range_count_min;
mod rows;

pub use count_min::CountMin;
pub use heavy_hitters::{HeavyHitters, Reading};
pub use hitter::Hitter;
pub(crate) use hitter::certain;
pub use majority::Majority;
pub use private::{PrivateClient, PrivateCountMean};
pub use range_count_min::RangeCountMin;
