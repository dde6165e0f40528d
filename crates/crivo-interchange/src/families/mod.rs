//! The families of sketches, one file for each.

mod bloom;
mod border;
mod check;
mod cpc;
mod frequent;
mod hll;
mod kll_numbers;
mod quantiles;
mod tdigest;
mod theta;

use crivo::{Confidence, Estimate};
use datasketches::common::NumStdDev;

pub use bloom::Bloom;
pub use cpc::Cpc;
pub use frequent::FrequentItems;
pub use hll::Hll;
pub use kll_numbers::AnyKll;
pub use quantiles::{Kll, KllNumber, Req};
pub use tdigest::TDigest;
pub use theta::Theta;

/// Returns an estimate with the bounds of DataSketches at two standard deviations, which are 95.4 %
/// of a normal distribution.
fn estimate(value: f64, bound: impl Fn(NumStdDev) -> [f64; 2], is_exact: bool) -> Estimate {
    if is_exact {
        return Estimate::exact(value);
    }
    let [lower, upper] = bound(NumStdDev::Two);
    Estimate::probable(value, lower.min(value), upper.max(value), Confidence::P95)
}
