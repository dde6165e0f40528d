//! The distribution of the numbers of a column: a histogram, and the numbers outside of fences.
//!
//! Three parts of a profile know how many numbers are below a limit. The counts of all values know
//! it exactly while there are few different values. The bins of [`DDSketch`](super::DDSketch) are
//! certain to 1 % of the value. The ranks of [`NumberQuantiles`](crate::quantiles::NumberQuantiles)
//! are right to a share of the rows. Each count here comes from the part with the closest bounds:
//! ranks in the middle, bins in the tails.

use super::TableColumn;
use crate::estimate::{Confidence, Estimate};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::quantiles::Bar;

/// Numbers in bars of equal width, and the numbers on both sides of the bars.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The bars, from the least to the greatest.
    pub bars: Vec<Bar>,
    /// The number of numbers below the first bar.
    pub below: Estimate,
    /// The number of numbers above the last bar.
    pub above: Estimate,
}

/// Numbers outside of Tukey's fences. A fence is one and a half times the distance of the quartiles
/// away from the nearer quartile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outliers {
    /// Numbers below this are outliers: the first quartile minus one and a half times the distance.
    pub lower_fence: f64,
    /// Numbers above this are outliers: the third quartile plus one and a half times the distance.
    pub upper_fence: f64,
    /// The number of numbers below the lower fence.
    pub below: Estimate,
    /// The number of numbers above the upper fence.
    pub above: Estimate,
}

impl TableColumn {
    /// Returns the finite numbers of the column in at most `bars` bars, with bounds for each. The
    /// bars go from the least to the greatest number, but not beyond Tukey's fences, so that one
    /// large number does not flatten all others. Returns `None` if there are no numbers or no bars.
    pub fn histogram(&self, bars: usize) -> Option<Histogram> {
        let counts = Counts::new(self);
        let numbers = self.data().profile.numbers();
        let (least, greatest) = numbers.min().zip(numbers.max())?;
        let (mut from, mut to) = (least, greatest);
        if let Some((lower, upper)) = self.fences() {
            (from, to) = (from.max(lower), to.min(upper));
        }
        // The fences normally cut off only the tails. If they leave no range, show all numbers.
        if bars == 0 || from >= to {
            (from, to) = (least, greatest);
        }
        if bars == 0 {
            return None;
        }
        let limits = Bar::limits(from, to, bars);
        let last = limits.len() - 2;
        let bar = |bar: usize| {
            let (from, to) = (limits[bar], limits[bar + 1]);
            let end = if bar == last { to.next_up() } else { to };
            Bar { from, to, count: counts.between(from, end) }
        };
        let end = limits[last + 1];
        Some(Histogram {
            bars: (0..=last).map(bar).collect(),
            below: counts.below(from),
            above: counts.above(end),
        })
    }

    /// Returns how many finite numbers lie outside of Tukey's fences. Returns `None` if there are
    /// no numbers, or if both quartiles are equal, because then all other numbers would be outside.
    pub fn outliers(&self) -> Option<Outliers> {
        let (lower_fence, upper_fence) = self.fences()?;
        let counts = Counts::new(self);
        let (below, above) = (counts.below(lower_fence), counts.above(upper_fence));
        Some(Outliers { lower_fence, upper_fence, below, above })
    }

    /// Returns Tukey's fences, from the estimated quartiles with the closer bounds.
    fn fences(&self) -> Option<(f64, f64)> {
        let profile = &self.data().profile;
        let quartile = |share| {
            let by_value = profile.quantile(share)?;
            let by_rank = self.ranks().quantile(share)?;
            let width = |estimate: Estimate| estimate.upper() - estimate.lower();
            Some(if width(by_rank) < width(by_value) { by_rank.value() } else { by_value.value() })
        };
        let (first, third) = (quartile(0.25)?, quartile(0.75)?);
        let reach = 1.5 * (third - first);
        let fences = (first - reach, third + reach);
        (reach > 0.0 && fences.0.is_finite() && fences.1.is_finite()).then_some(fences)
    }
}

/// Counts the numbers below a limit, by the part with the closest bounds.
struct Counts<'a> {
    column: &'a TableColumn,
    /// Every number with the count of numbers up to it, if all are counted.
    counted: Option<Vec<(f64, u64)>>,
    all: f64,
}

impl<'a> Counts<'a> {
    fn new(column: &'a TableColumn) -> Self {
        let profile = &column.data().profile;
        let counted = profile.counted_numbers().map(|mut numbers| {
            let mut sum = 0;
            for (_, count) in &mut numbers {
                sum += *count;
                *count = sum;
            }
            numbers
        });
        Self { column, counted, all: profile.numbers().count() as f64 }
    }

    fn below(&self, limit: f64) -> Estimate {
        if let Some(numbers) = &self.counted {
            let at = numbers.partition_point(|(number, _)| *number < limit);
            return Estimate::exact(at.checked_sub(1).map_or(0.0, |last| numbers[last].1 as f64));
        }
        let by_bins = self.column.data().profile.numbers().count_below(limit);
        closest(by_bins, self.column.ranks().count_below(limit))
    }

    /// Returns how many numbers are above a limit.
    fn above(&self, limit: f64) -> Estimate {
        let up_to = self.below(limit.next_up());
        let Estimates { value, lower, upper } = Estimates::of(up_to);
        Estimate::probable(self.all - value, self.all - upper, self.all - lower, up_to.confidence())
    }

    /// Returns how many numbers lie from one limit to below another.
    fn between(&self, from: f64, to: f64) -> Estimate {
        let bounds = [from, to].map(|limit| {
            if self.counted.is_some() {
                self.below(limit)
            } else {
                self.column.data().profile.numbers().count_below(limit)
            }
        });
        let [before, up_to] = bounds.map(Estimates::of);
        let (value, lower) = (up_to.value - before.value, up_to.lower - before.upper);
        let certain = Estimate::certain(value, lower, up_to.upper - before.lower).limited_to(0.0, self.all);
        if self.counted.is_some() {
            return certain;
        }
        closest(certain, self.column.ranks().count_between_at(from, to, Confidence::P95))
    }
}

struct Estimates {
    value: f64,
    lower: f64,
    upper: f64,
}

impl Estimates {
    fn of(estimate: Estimate) -> Self {
        Self { value: estimate.value(), lower: estimate.lower(), upper: estimate.upper() }
    }
}

/// Returns the estimate with the closer bounds, and the first one if both are as close.
fn closest(one: Estimate, other: Estimate) -> Estimate {
    let width = |estimate: Estimate| estimate.upper() - estimate.lower();
    if width(other) < width(one) { other } else { one }
}
