//! How many keys are in a combined filter, and how often does it take another key for one of them?

use super::{BlockedBloom, Bloom, CombinedFilter, CountingBloom};
use crate::codec::AnySketch;
use crate::estimate::{Confidence, Estimate};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::sketch::{Membership, Sketch as _};

impl CombinedFilter {
    /// Returns the number of different keys, with bounds at 95 %: of a union from the largest of
    /// its sets to all of them together, because how much they share is not known.
    ///
    /// The bounds hold if those of all united sets do. So each set gets its share of the 5 %.
    pub fn items(&self) -> Estimate {
        let unlikely = (1.0 - Confidence::P95.level()) / self.groups.len() as f64;
        let groups: Vec<Estimate> = self.groups.iter().map(|group| shared(group, unlikely).0).collect();
        if let [only] = groups.as_slice() {
            return *only;
        }
        let most = |of: fn(Estimate) -> f64| groups.iter().copied().map(of).fold(0.0, f64::max);
        let sum = |of: fn(Estimate) -> f64| groups.iter().copied().map(of).sum::<f64>();
        let value = f64::midpoint(most(Estimate::value), sum(Estimate::value));
        Estimate::probable(value, most(Estimate::lower), sum(Estimate::upper), Confidence::P95)
    }

    /// Returns the most that the chance can be that a key which is in none of the sets is taken for
    /// a member.
    pub fn false_positive_rate(&self) -> f64 {
        let unlikely = 1.0 - Confidence::P95.level();
        self.groups.iter().map(|group| shared(group, unlikely).1).sum::<f64>().min(1.0)
    }
}

/// Returns the number of keys that are in all filters of a group, with bounds that miss it with at
/// most the probability `unlikely`, and the false-positive rate for a key that is in none of the
/// filters.
fn shared(group: &[AnySketch], unlikely: f64) -> (Estimate, f64) {
    let least_rate = group.iter().map(rate_of).fold(1.0, f64::min);
    let confidence = confidence_of(unlikely);
    match group {
        [only] => return (items_at(only, confidence), least_rate),
        [first, second] => {
            if let Some((shared, rate)) = shared_by(first, second, confidence) {
                return (shared, rate.min(least_rate));
            }
        }
        _ => {}
    }
    // Nothing is known but that no more can be shared than the smallest set has. Any of the upper
    // bounds may miss the truth, each with an equal share of the probability.
    let each = confidence_of(2.0 * unlikely / group.len() as f64);
    let estimates = group.iter().map(|part| items_at(part, each));
    let (value, upper) = estimates.fold((f64::INFINITY, f64::INFINITY), |(value, upper), items| {
        (items.value().min(value), items.upper().min(upper))
    });
    (Estimate::probable(value / 2.0, 0.0, upper, confidence), least_rate)
}

/// Returns the false-positive rate of a part.
pub(super) fn rate_of(part: &AnySketch) -> f64 {
    part.answers_membership().map_or(1.0, Membership::false_positive_rate)
}

/// Returns the confidence of bounds that miss the truth with this probability.
fn confidence_of(unlikely: f64) -> Confidence {
    Confidence::new(1.0 - unlikely).unwrap_or(Confidence::P95)
}

/// Returns the number of different keys in a part, with bounds at the given confidence.
fn items_at(part: &AnySketch, confidence: Confidence) -> Estimate {
    macro_rules! of_kind {
        ($($kind:ty),*) => {$(
            if let Some(filter) = part.downcast_ref::<$kind>() {
                return filter.items_at(confidence);
            }
        )*};
    }
    of_kind!(Bloom, BlockedBloom, CountingBloom);
    part.summary().items
}

/// Returns the number of keys that are in both filters, with bounds at the given confidence, and
/// the false-positive rate for a key that is in neither. Returns `None` if the filters are not of
/// one kind and size.
fn shared_by(first: &AnySketch, second: &AnySketch, confidence: Confidence) -> Option<(Estimate, f64)> {
    macro_rules! of_kind {
        ($($kind:ty),*) => {$(
            if let Some((first, second)) = first.downcast_ref::<$kind>().zip(second.downcast_ref::<$kind>()) {
                let rate = first.shared_cells(second).ok()?.false_positive_rate();
                return Some((first.shared_items_at(second, confidence).ok()?, rate));
            }
        )*};
    }
    of_kind!(Bloom, BlockedBloom, CountingBloom);
    None
}
