//! Pearson's correlation from drawn rows, with bounds for what the drawn rows lack.
//!
//! A few large numbers can decide Pearson's correlation, and the drawn rows may lack them. This can
//! be detected, because the variance of every column is known exactly. Let `q` be the share of a
//! column's variance that its drawn rows lack. If it is more than chance explains, no correlation
//! is reported. Otherwise the rows that were not drawn change the correlation by at most
//! `√(q · q′)` beyond chance (Cauchy and Schwarz), which is added to the interval.

use super::correlation::{GROUPS, Sample, interval, nearest_to_perfect};
use crate::estimate::{Confidence, Estimate};
#[cfg(not(feature = "std"))]
use crate::prelude::*;
use crate::profile::TableColumn;

/// The number of standard errors by which the variance of the drawn rows may be off.
const MOST_ERRORS: f64 = 3.0;

/// Returns the share of a column's variance that its drawn rows lack, or 0 if they lack none.
/// Returns `None` if that is more than chance explains, or if there is no variance.
pub(super) fn lacking_variance(
    column: &TableColumn,
    drawn: impl Iterator<Item = f64> + Clone,
) -> Option<f64> {
    let deviation = column.spread().standard_deviation.filter(|deviation| *deviation > 0.0)?;
    let count = drawn.clone().count() as f64;
    let mean = drawn.clone().map(|number| number / count).sum::<f64>();
    // The unit is the known deviation, so that no power is too large for a float.
    let (mut squares, mut fourths) = (0.0, 0.0);
    for number in drawn {
        let square = ((number - mean) / deviation) * ((number - mean) / deviation);
        squares += square;
        fourths += square * square;
    }
    let variance = squares / (count - 1.0);
    let error = ((fourths * count / (squares * squares) - 1.0) / count).sqrt();
    let is_by_chance = libm::log(variance).abs() <= MOST_ERRORS * error;
    is_by_chance.then(|| (1.0 - variance).max(0.0))
}

/// Returns Pearson's correlation of the rows of a sample. `lacking` has the shares of variance that
/// the columns lack.
pub(super) fn estimate(sample: &Sample, lacking: [Option<f64>; 2]) -> Option<Estimate> {
    let value = correlation(sample, None)?;
    if sample.are_all {
        return Some(Estimate::exact(value));
    }
    let beyond = lacking[0]?.min(1.0) * lacking[1]?.min(1.0);
    let replicas = (0..GROUPS).filter_map(|group| correlation(sample, Some(group)));
    let (lower, upper) = nearest_to_perfect(value, interval(value, replicas), sample.pairs.len());
    let (lower, upper) = (lower - beyond.sqrt(), upper + beyond.sqrt());
    Some(Estimate::probable(value, lower.max(-1.0), upper.min(1.0), Confidence::P95))
}

/// Returns Pearson's correlation without the rows of a group, or `None` if all numbers of a column
/// are equal.
fn correlation(sample: &Sample, without: Option<usize>) -> Option<f64> {
    let kept = || {
        let numbered = sample.pairs.iter().enumerate();
        numbered.filter(|(row, _)| without.is_none_or(|group| row % GROUPS != group)).map(|(_, pair)| *pair)
    };
    let count = kept().count() as f64;
    let mean = kept().fold((0.0, 0.0), |mean, pair| (mean.0 + pair.0 / count, mean.1 + pair.1 / count));
    // The unit is the largest deviation, so that no square is too large or too small for a float.
    let unit = kept().fold((0.0_f64, 0.0_f64), |most, pair| {
        (most.0.max((pair.0 - mean.0).abs()), most.1.max((pair.1 - mean.1).abs()))
    });
    let (mut squares, mut products) = ([0.0; 2], 0.0);
    for pair in kept() {
        let (left, right) = ((pair.0 - mean.0) / unit.0, (pair.1 - mean.1) / unit.1);
        squares[0] += left * left;
        squares[1] += right * right;
        products += left * right;
    }
    let is_spread = unit.0 > 0.0 && unit.1 > 0.0 && unit.0.is_finite() && unit.1.is_finite();
    is_spread.then(|| (products / (squares[0] * squares[1]).sqrt()).clamp(-1.0, 1.0))
}
