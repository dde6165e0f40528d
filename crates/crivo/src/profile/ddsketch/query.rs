//! What the bins answer.

use super::bins::{Bin, order};
use super::{DDSketch, ExactSum};
use crate::codec::{Encode as _, Parameter, Parameters, Summary};
use crate::counting::NO_KEYS;
use crate::estimate::Estimate;
use crate::frequency::certain;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

impl DDSketch {
    /// The quantile of a share: the least number that at least that share of all numbers is not
    /// above, with certain bounds. 0.5 is the median, 0 the least and 1 the greatest number. None
    /// if there are no numbers, or the share is not from 0 to 1.
    pub fn quantile(&self, share: f64) -> Option<Estimate> {
        self.quantiles(&[share])[0]
    }

    /// Many quantiles, at the cost of one.
    pub fn quantiles(&self, shares: &[f64]) -> Vec<Option<Estimate>> {
        let bins = self.bins.sorted();
        shares.iter().map(|&share| self.quantile_of(&bins, share)).collect()
    }

    fn quantile_of(&self, bins: &[Bin], share: f64) -> Option<Estimate> {
        if self.is_empty() || !(0.0..=1.0).contains(&share) {
            return None;
        }
        if self.is_saturated() {
            // Where counts have stopped, no rank is known.
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

    /// A number of a bin: the one whose relative error is the least that can be promised.
    fn number_in(&self, bin: &Bin) -> Estimate {
        let (least, greatest) = self.scale.borders(bin.number, self.level);
        // The harmonic mean is as far from both ends, relative to each.
        let middle = least * (2.0 / (1.0 + least / greatest));
        let estimate = if bin.is_negative {
            Estimate::certain(-middle, -greatest, -least)
        } else {
            Estimate::certain(middle, least, greatest)
        };
        estimate.limited_to(self.min, self.max)
    }

    /// How many numbers are below a limit, with certain bounds.
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
        // The bin that the limit lies in; those of lower numbers are below it.
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
        // The greatest is one that is not below the limit, and the least one that is.
        let (lower, upper) = (lower.max(1), upper.min(self.count - 1));
        let bounds = certain(lower, lower, upper);
        let value = if value.is_nan() { bounds.lower() } else { value.round() };
        Estimate::certain(value.clamp(bounds.lower(), bounds.upper()), bounds.lower(), bounds.upper())
    }

    /// How many numbers there are, those that are not finite left out; [`u64::MAX`] if that many or
    /// more.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many infinities and NaNs came, which are in no other answer.
    pub fn not_finite(&self) -> u64 {
        self.not_finite
    }

    /// How many numbers are 0.
    pub fn zeros(&self) -> u64 {
        self.zeros
    }

    /// The least number, exactly.
    pub fn min(&self) -> Option<f64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// The greatest number, exactly.
    pub fn max(&self) -> Option<f64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// The sum of all numbers, rounded once, to the nearest float. None if the count is saturated.
    pub fn sum(&self) -> Option<f64> {
        self.exact_sum(0).map(|sum| sum.value())
    }

    /// The mean of all numbers. None if there are none, or the count is saturated.
    pub fn mean(&self) -> Option<f64> {
        self.exact_sum(0)
            .filter(|_| !self.is_empty())
            .map(|sum| sum.mean(self.count).clamp(self.min, self.max))
    }

    /// The sum, and what the whole numbers in it lost when they became floats.
    pub(in crate::profile) fn exact_sum(&self, lost: i128) -> Option<ExactSum> {
        /// In two parts floats hold it exactly: none of 2^64 numbers loses more than 2^9.
        const LOW_BITS: u32 = 40;
        let mut sum = self.sum.clone();
        sum.add(libm::ldexp((lost >> LOW_BITS) as f64, LOW_BITS as i32));
        sum.add((lost & ((1 << LOW_BITS) - 1)) as f64);
        (!self.is_saturated()).then_some(sum)
    }

    /// The relative error of quantiles now: what was asked for as long as no bins had to be joined.
    pub fn relative_error(&self) -> f64 {
        if self.level == 0 { self.accuracy } else { self.scale.relative_error(self.level) }
    }

    /// The relative error that was asked for.
    pub fn accuracy(&self) -> f64 {
        self.accuracy
    }

    /// How many bins are in use.
    pub fn bins(&self) -> usize {
        self.bins.len()
    }

    /// How many bins there may be.
    pub fn max_bins(&self) -> u32 {
        self.max_bins
    }

    /// Whether bins were joined because there were too many: then the relative error is larger than
    /// was asked for.
    pub fn is_collapsed(&self) -> bool {
        self.level > 0
    }

    /// Whether the count is at its largest: no sum, mean or rank is known from there on.
    pub fn is_saturated(&self) -> bool {
        self.count == u64::MAX
    }

    /// Whether there are no numbers.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Bytes of memory in use, the struct itself included.
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.bins.memory() + self.sum.memory()
    }

    /// The sizes the sketch was built with, in the order of its constructor.
    pub fn parameters(&self) -> Parameters {
        vec![
            ("accuracy", Parameter::Ratio(self.accuracy)),
            ("max_bins", Parameter::Count(self.max_bins.into())),
        ]
    }

    /// What `crivo show` prints.
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

/// Bins in the order of their numbers, with none for that of zero, at its place.
fn sorted_with_zeros(bins: &[Bin]) -> impl Iterator<Item = Option<&Bin>> {
    let negative = bins.partition_point(|bin| bin.is_negative);
    let (below, above) = bins.split_at(negative);
    below.iter().map(Some).chain([None]).chain(above.iter().map(Some))
}

/// `⌈share·count⌉ − 1`, and 0 for a share of 0: which number from the least on is the quantile.
pub(crate) fn rank_of(share: f64, count: u64) -> u64 {
    // The product of floats, as people compute it: a fifth of 5 numbers is 1, though 0.2 is more
    // than a fifth.
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
