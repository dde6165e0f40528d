//! The answers that the bins give.

use super::bins::{Bin, order};
use super::{DDSketch, ExactSum};
use crate::codec::{Encode as _, Parameter, Parameters, Summary};
use crate::counting::NO_KEYS;
use crate::estimate::Estimate;
use crate::frequency::certain;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl DDSketch {
    /// Returns the quantile of a share, with certain bounds: the least number such that at least
    /// this share of all numbers is not above it. 0.5 is the median, 0 the least and 1 the greatest
    /// number. Returns `None` if there are no numbers, or if the share is not from 0 to 1.
    pub fn quantile(&self, share: f64) -> Option<Estimate> {
        self.quantiles(&[share])[0]
    }

    /// Returns many quantiles at the cost of one.
    pub fn quantiles(&self, shares: &[f64]) -> Vec<Option<Estimate>> {
        let bins = self.bins.sorted();
        shares.iter().map(|&share| self.quantile_of(&bins, share)).collect()
    }

    fn quantile_of(&self, bins: &[Bin], share: f64) -> Option<Estimate> {
        if self.is_empty() || !(0.0..=1.0).contains(&share) {
            return None;
        }
        if self.is_saturated() {
            // A saturated sketch knows no ranks.
            let middle = self.min / 2.0 + self.max / 2.0;
            return Some(Estimate::certain(middle, self.min, self.max));
        }
        let rank = rank_of(share, self.count);
        if rank == 0 {
            return Some(Estimate::exact(self.min));
        }
        if rank == self.count - 1 {
            return Some(Estimate::exact(self.max));
        }
        let mut below = 0;
        for bin in sorted_with_zeros(bins) {
            below += bin.map_or(self.zeros, |bin| bin.count);
            if rank < below {
                return Some(bin.map_or(Estimate::exact(0.0), |bin| self.number_in(bin)));
            }
        }
        None
    }

    /// Returns the number of a bin that has the least guaranteed relative error.
    fn number_in(&self, bin: &Bin) -> Estimate {
        let (least, greatest) = self.scale.borders(bin.number, self.level);
        // The harmonic mean has the same relative distance from both ends.
        let middle = least * (2.0 / (1.0 + least / greatest));
        let estimate = if bin.is_negative {
            Estimate::certain(-middle, -greatest, -least)
        } else {
            Estimate::certain(middle, least, greatest)
        };
        estimate.limited_to(self.min, self.max)
    }

    /// Returns how many numbers are below a limit, with certain bounds.
    pub fn count_below(&self, limit: f64) -> Estimate {
        if self.is_empty() || limit.is_nan() || limit <= self.min {
            return Estimate::exact(0.0);
        }
        if limit > self.max {
            return certain(self.count, self.count, self.count);
        }
        if self.is_saturated() {
            return Estimate::certain(0.0, 0.0, f64::INFINITY);
        }
        // The bin of the limit. All bins of lower numbers are below the limit.
        let border =
            if limit == 0.0 { 0 } else { order(limit < 0.0, self.scale.bin(limit.abs()) >> self.level) };
        let lower: u64 = self.bins.iter().filter(|bin| bin.order() < border).map(|bin| bin.count).sum();
        let lower = if border > 0 { lower + self.zeros } else { lower };
        let (mut upper, mut value) = (lower, lower as f64);
        if let Some(bin) = self.bins.iter().find(|bin| bin.order() == border) {
            let bounds = self.number_in(&bin);
            upper += bin.count;
            value += bin.count as f64
                * ((limit - bounds.lower()) / (bounds.upper() - bounds.lower())).clamp(0.0, 1.0);
        }
        // The greatest number is not below the limit, and the least number is.
        let (lower, upper) = (lower.max(1), upper.min(self.count - 1));
        let bounds = certain(lower, lower, upper);
        let value = if value.is_nan() { bounds.lower() } else { value.round() };
        Estimate::certain(value.clamp(bounds.lower(), bounds.upper()), bounds.lower(), bounds.upper())
    }

    /// The number of finite numbers; [`u64::MAX`] if it is that or more.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of infinities and NaNs, which no other answer includes.
    pub fn not_finite(&self) -> u64 {
        self.not_finite
    }

    /// The number of zeros.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// Returns the least number, exactly.
    pub fn min(&self) -> Option<f64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// Returns the greatest number, exactly.
    pub fn max(&self) -> Option<f64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// Returns the sum of all numbers, rounded once to the nearest float. Returns `None` if the
    /// count is saturated.
    pub fn sum(&self) -> Option<f64> {
        self.exact_sum(0).map(|sum| sum.value())
    }

    /// Returns the mean of all numbers. Returns `None` if there are no numbers, or if the count is
    /// saturated.
    pub fn mean(&self) -> Option<f64> {
        self.exact_sum(0)
            .filter(|_| !self.is_empty())
            .map(|sum| sum.mean(self.count).clamp(self.min, self.max))
    }

    /// Returns the exact sum, plus what the whole numbers lost when they were converted to floats.
    pub(in crate::profile) fn exact_sum(&self, lost: i128) -> Option<ExactSum> {
        /// The loss is added in two parts, which floats represent exactly: none of 2^64 numbers
        /// loses more than 2^9.
        const LOW_BITS: u32 = 40;
        let mut sum = self.sum.clone();
        sum.add(libm::ldexp((lost >> LOW_BITS) as f64, LOW_BITS as i32));
        sum.add((lost & ((1 << LOW_BITS) - 1)) as f64);
        (!self.is_saturated()).then_some(sum)
    }

    /// The present relative error of quantiles, which is the requested one unless bins were joined.
    pub fn relative_error(&self) -> f64 {
        if self.level == 0 { self.accuracy } else { self.scale.relative_error(self.level) }
    }

    /// The relative error that the caller requested.
    pub fn accuracy(&self) -> f64 {
        self.accuracy
    }

    /// The number of bins in use.
    pub fn bins(&self) -> usize {
        self.bins.len()
    }

    /// The largest number of bins.
    pub fn max_bins(&self) -> u32 {
        self.max_bins
    }

    /// Returns true if bins were joined because there were too many. Then the relative error is
    /// larger than the requested one.
    pub fn is_collapsed(&self) -> bool {
        self.level > 0
    }

    /// Returns true if the count has reached [`u64::MAX`]. From then on no sum, mean or rank is
    /// known.
    pub fn is_saturated(&self) -> bool {
        self.count == u64::MAX
    }

    /// Returns true if there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The number of bytes of memory in use, including the struct itself.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.bins.memory() + self.sum.memory()
    }

    /// Returns the sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("accuracy", Parameter::Ratio(self.accuracy)),
            ("max_bins", Parameter::Count(self.max_bins.into())),
        ]
    }

    /// Returns the summary that `crivo show` prints.
    pub fn summary(&self) -> Summary {
        Summary {
            family: Self::FAMILY,
            parameters: [
                self.parameters(),
                vec![
                    ("relative_error", Parameter::Ratio(self.relative_error())),
                    ("bins", Parameter::Count(self.bins.len() as u64)),
                    ("not_finite", Parameter::Count(self.not_finite)),
                ],
            ]
            .concat(),
            scheme: NO_KEYS,
            items: certain(self.count, self.count, self.count),
            fill: Some(self.bins.len() as f64 / f64::from(self.max_bins)),
            false_positive_rate: None,
            memory: self.memory(),
        }
    }
}

/// Returns the bins in ascending order, with `None` in the place of the bin of zero.
fn sorted_with_zeros(bins: &[Bin]) -> impl Iterator<Item = Option<&Bin>> {
    let negative = bins.partition_point(|bin| bin.is_negative);
    let (below, above) = bins.split_at(negative);
    below.iter().map(Some).chain([None]).chain(above.iter().map(Some))
}

/// Returns the index from 0 of the number that is the quantile: `⌈share·count⌉ − 1`, and 0 for a
/// share of 0.
pub(crate) fn rank_of(share: f64, count: u64) -> u64 {
    // The product is computed in floats, as people expect: a fifth of 5 numbers is 1, although the
    // float 0.2 is more than a fifth.
    let numbers = (share * count as f64).ceil() as u64;
    numbers.saturating_sub(1).min(count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_definition() {
        for (share, count, rank) in [
            (0.0, 5, 0),
            (0.2, 5, 0),
            (0.21, 5, 1),
            (0.5, 4, 1),
            (0.5, 5, 2),
            (0.75, 4, 2),
            (1.0, 5, 4),
            (1e-300, 5, 0),
            (1.0, u64::MAX - 1, u64::MAX - 2),
            (0.5, 1, 0),
        ] {
            assert_eq!(rank_of(share, count), rank, "{share} of {count}");
        }
    }
}
