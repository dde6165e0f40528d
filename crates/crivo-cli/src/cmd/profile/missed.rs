//! The answer of `crivo profile` if rows of a followed file may have been missed.

use crivo::Estimate;

use super::report::{ColumnReport, ProfileReport, Quantiles};
use crate::output::{Form, Interval, Output};

const SHARES: [f64; 2] = [0.0, 1.0];
const CORRELATIONS: [f64; 2] = [-1.0, 1.0];
const NUMBERS: [f64; 2] = [-f64::MAX, f64::MAX];

impl ProfileReport {
    /// Claims no more than what holds whatever rows were missed: programs get wider bounds, and
    /// people are told so beside the name of each table.
    pub(super) fn allow_for_missed_rows(&mut self, form: Form, out: &Output) {
        if form == Form::Table {
            for table in &mut self.tables {
                table.name.push_str(" (rows may have been missed)");
            }
            return;
        }
        let count = |interval: &mut Interval| *interval = out.honest(interval.estimate()).into();
        let within = |interval: &mut Interval, limits| {
            let estimate: Estimate = interval.estimate();
            *interval = out.honest_within(estimate, limits).into();
        };
        for table in &mut self.tables {
            for correlation in &mut table.correlations {
                within(&mut correlation.rank_correlation, CORRELATIONS);
                correlation.pearson.iter_mut().for_each(|pearson| within(pearson, CORRELATIONS));
            }
            table.dependencies.iter_mut().for_each(|dependency| within(&mut dependency.share, SHARES));
            for column in &mut table.columns {
                column.majority = None;
                counts(column).for_each(count);
                column.near_duplicates.iter_mut().for_each(|share| within(share, SHARES));
                column.patterns.iter_mut().for_each(|pattern| within(&mut pattern.share, SHARES));
                if let Some(Quantiles { p01, p25, p50, p75, p99 }) = &mut column.quantiles {
                    [p01, p25, p50, p75, p99].into_iter().for_each(|number| within(number, NUMBERS));
                }
                if let Some(outliers) = &mut column.outliers {
                    // More rows move the fences too.
                    within(&mut outliers.below, [0.0, f64::INFINITY]);
                    within(&mut outliers.above, [0.0, f64::INFINITY]);
                }
            }
        }
        for join in &mut self.joins {
            count(&mut join.common);
            within(&mut join.left_in_right, SHARES);
            within(&mut join.right_in_left, SHARES);
        }
    }
}

/// The numbers of a column that only grow with more rows.
fn counts(column: &mut ColumnReport) -> impl Iterator<Item = &mut Interval> {
    let top = column.top.iter_mut().map(|frequent| &mut frequent.count);
    let growth = column.growth.iter_mut().map(|point| &mut point.distinct);
    let bars = column.histogram.iter_mut().flat_map(|histogram| {
        let bars = histogram.bars.iter_mut().map(|bar| &mut bar.count);
        bars.chain([&mut histogram.below, &mut histogram.above])
    });
    [&mut column.distinct].into_iter().chain(top).chain(growth).chain(bars)
}
