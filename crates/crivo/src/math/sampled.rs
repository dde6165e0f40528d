//! From a sample back to the number of items it was drawn from.

use crate::distinct::k_min_values::bounds::{least_items, most_items};
use crate::estimate::{Confidence, Estimate};

/// Returns the estimated number of items, if each was sampled independently with the probability
/// `share` and `count` of them were sampled.
///
/// The value is unbiased, and the bounds are those of Clopper and Pearson (1934), which hold for a
/// handful of items as well as for a million. A share of 1 is a full count, which is exact.
///
/// ```
/// use crivo::{Confidence, math::sampled_total};
/// let total = sampled_total(1_000, 0.01, Confidence::P95);
/// assert_eq!(total.value(), 100_000.0);
/// assert!(total.lower() > 93_000.0 && total.upper() < 107_000.0);
/// assert!(sampled_total(7, 1.0, Confidence::P95).is_exact());
/// ```
pub fn sampled_total(count: u64, share: f64, confidence: Confidence) -> Estimate {
    let count = count as f64;
    if share.is_nan() || share >= 1.0 {
        return Estimate::exact(count);
    }
    let share = share.max(f64::MIN_POSITIVE);
    let unlikely = (1.0 - confidence.level()) / 2.0;
    let lower = least_items(count, share, unlikely);
    let upper = most_items(count + 1.0, share, unlikely);
    Estimate::probable(count / share, lower, upper, confidence)
}
