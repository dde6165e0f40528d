//! How far an answer may be off.
//!
//! Three things make an answer uncertain. **Flipped bits** have a known variance, and their sum is
//! nearly normal if there are many. **Collisions** add the reports about other keys in a key's
//! places, less the average. Their variance `(n − f + Σ f'(f'−1)/k)/(m − 1)` (Pan 2024) needs the
//! number of pairs of reports about the same key. The table itself tells this number: the squares
//! of its places are larger than flips and chance make them. But collisions need not be normal. If
//! one other key has half of all reports, a row either collides with it or not, and a row that does
//! is off by more than two standard deviations. Then the **rows** differ from each other, and their
//! spread shows it. The bounds are the wider of
//!
//! - `z` standard deviations of flipped bits and collisions;
//! - `t` standard deviations as the rows show them, with `t` from Student's distribution.
//!
//! The spread of fewer than eight rows says little. There collisions get the factor `1/√α` of
//! Chebyshev's inequality, which does not need normality.

use super::protocol::Protocol;
use crate::estimate::{Confidence, Estimate};
use crate::math::two_sided_quantile;

/// The rows' data about one key: for each row the number of reports, and of ones in the key's
/// place.
#[derive(Debug, Clone)]
pub(super) struct Rows<I>(pub(super) I);

impl<I: Iterator<Item = (u32, u32)> + Clone> Rows<I> {
    /// Returns the reports and the ones of all rows.
    fn totals(&self) -> (f64, f64) {
        let (reports, ones) =
            self.0.clone().fold((0_u64, 0_u64), |(reports, ones), (row_reports, row_ones)| {
                (reports + u64::from(row_reports), ones + u64::from(row_ones))
            });
        (reports as f64, ones as f64)
    }

    /// Returns `m/(m−1)·(M − n/m)`, where `M` is the number of reports that the ones of the key's
    /// places represent.
    pub(super) fn estimate(&self, protocol: &Protocol) -> f64 {
        let (reports, ones) = self.totals();
        protocol.spread()
            * (counts_for(protocol.scale(), reports, ones) - reports / f64::from(protocol.width()))
    }

    /// Returns the variance of the estimate as the rows show it: how far each row is from its share
    /// of the total. The reports about the key are not spread evenly over the rows, but that is not
    /// an error of the answer.
    fn variance(&self, protocol: &Protocol, frequency: f64) -> f64 {
        let (reports, ones) = self.totals();
        let scale = protocol.scale();
        let rate = counts_for(scale, reports, ones) / reports;
        let squares: f64 = self
            .0
            .clone()
            .map(|(reports, ones)| {
                let distance = counts_for(scale, reports.into(), ones.into()) - f64::from(reports) * rate;
                distance * distance
            })
            .sum();
        let rows = f64::from(protocol.rows());
        let uneven = frequency * (1.0 - frequency / reports);
        protocol.spread() * protocol.spread() * squares * rows / (rows - 1.0) - uneven
    }
}

/// Returns how many reports about a place its ones represent: `c·(2·ones − reports)/2 + reports/2`.
fn counts_for(scale: f64, reports: f64, ones: f64) -> f64 {
    scale * (ones - reports / 2.0) + reports / 2.0
}

/// Returns an estimate of the number of ordered pairs of reports about the same key. This is
/// `Σ f(f − 1)` over all keys, where `f` is the number of reports about a key.
///
/// Consider a row of `n` reports with `m` places. Let `N` be the true number of reports about a
/// place, `C` its estimate, and `c` the protocol's `scale`. Then, with sums over the places,
/// `E[ΣC²] = ΣN² + m·n·(c² − 1)/4`. On average `ΣN²` is `n`, plus the row's pairs about the same
/// key, plus `1/m` of its other pairs.
pub(super) fn pairs(protocol: &Protocol, reports: &[u32], ones: &[u32]) -> f64 {
    let (scale, width) = (protocol.scale(), f64::from(protocol.width()));
    let excess: f64 = reports
        .iter()
        .zip(ones.chunks_exact(protocol.width() as usize))
        .map(|(&reports, ones)| {
            let reports = f64::from(reports);
            let squares: f64 = ones
                .iter()
                .map(|&ones| counts_for(scale, reports, ones.into()))
                .map(|count| count * count)
                .sum();
            squares - width * reports * protocol.coin_variance() - reports - reports * (reports - 1.0) / width
        })
        .sum();
    let all: f64 = reports.iter().map(|&reports| f64::from(reports)).sum();
    // Only pairs that drew the same row are visible.
    let pairs = f64::from(protocol.rows()) * protocol.spread() * excess;
    pairs.clamp(0.0, (all * (all - 1.0)).max(0.0))
}

/// Returns the answer for a key, limited to possible values.
pub(super) fn frequency(
    protocol: &Protocol,
    rows: &Rows<impl Iterator<Item = (u32, u32)> + Clone>,
    pairs: f64,
    confidence: Confidence,
) -> Estimate {
    let (reports, _) = rows.totals();
    if reports == 0.0 {
        return Estimate::exact(0.0);
    }
    let value = rows.estimate(protocol);
    let quantile = two_sided_quantile(confidence.level());
    let coins = protocol.standard_error(reports as u64);
    // Subtracts the key's own pairs, but no more than it certainly has. With one row it certainly
    // has none, because a collision there looks like a report about the key.
    let surely = if protocol.rows() > 1 { (value - quantile * coins).clamp(0.0, reports) } else { 0.0 };
    let others = (pairs - surely * (surely - 1.0)).max(0.0);
    let collisions =
        (reports - surely + others / f64::from(protocol.rows())) / f64::from(protocol.width() - 1);
    let margin = if protocol.rows() < Protocol::FEW_ROWS {
        libm::sqrt(quantile * quantile * coins * coins + collisions / (1.0 - confidence.level()))
    } else {
        let normal = quantile * libm::sqrt(coins * coins + collisions);
        let shown = rows.variance(protocol, value.clamp(0.0, reports)).max(0.0);
        normal.max(students_quantile(quantile, f64::from(protocol.rows() - 1)) * libm::sqrt(shown))
    };
    Estimate::probable(value, value - margin, value + margin, confidence).limited_to(0.0, reports)
}

/// Returns the quantile of Student's distribution that corresponds to a normal one, by the
/// expansion of Fisher and Cornish (1960). With seven degrees of freedom it is right to a
/// thousandth at 99 %.
fn students_quantile(z: f64, degrees: f64) -> f64 {
    let square = z * z;
    let terms = [
        (square + 1.0) / 4.0,
        ((5.0 * square + 16.0) * square + 3.0) / 96.0,
        (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0,
        ((((79.0 * square + 776.0) * square + 1482.0) * square - 1920.0) * square - 945.0) / 92_160.0,
    ];
    z * terms.iter().rfold(0.0, |sum, term| (sum + term) / degrees) + z
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From tables of the distribution, two-sided.
    #[test]
    fn students_quantiles_are_those_of_tables() {
        for (level, degrees, expected) in [
            (0.95, 7.0, 2.364_6),
            (0.95, 15.0, 2.131_4),
            (0.95, 63.0, 1.998_3),
            (0.99, 7.0, 3.499_5),
            (0.99, 30.0, 2.750_0),
            (0.5, 10.0, 0.699_8),
        ] {
            let found = students_quantile(two_sided_quantile(level), degrees);
            assert!((found / expected - 1.0).abs() < 1.5e-3, "{level}, {degrees}: {found}");
        }
    }

    #[test]
    fn a_table_without_coins_gives_exact_pairs_on_average() {
        // Without flips, a report's row is all zeros except its place. Three keys with distinct
        // places.
        let protocol = Protocol::new(32.0, 1, 4).unwrap();
        let found = pairs(&protocol, &[60], &[10, 20, 30, 0]);
        let seen = 10.0_f64.powi(2) + 400.0 + 900.0 - 60.0;
        let expected = (seen - 60.0 * 59.0 / 4.0) * 4.0 / 3.0;
        assert!((found - expected).abs() < 0.01, "{found} instead of {expected}");
    }
}
