//! Converts the library's further answers about a column to the report.

use crivo::keys::calendar::date_of;
use crivo::profile::{Relations, TableColumn, TableProfile};

use super::super::report::{
    CorrelationReport, DateGap, DatesReport, DependencyReport, FormatCount, HistogramBar, HistogramReport,
    OutlierReport, PatternReport,
};

/// The number of bars of a histogram.
const BARS: usize = 20;
/// The number of patterns that are listed.
const PATTERNS: usize = 5;

pub(super) fn histogram(column: &TableColumn) -> Option<HistogramReport> {
    let histogram = column.histogram(BARS)?;
    let bar =
        |bar: &crivo::quantiles::Bar| HistogramBar { from: bar.from, to: bar.to, count: bar.count.into() };
    Some(HistogramReport {
        bars: histogram.bars.iter().map(bar).collect(),
        below: histogram.below.into(),
        above: histogram.above.into(),
    })
}

pub(super) fn outliers(column: &TableColumn) -> Option<OutlierReport> {
    let outliers = column.outliers()?;
    Some(OutlierReport {
        lower_fence: outliers.lower_fence,
        upper_fence: outliers.upper_fence,
        below: outliers.below.into(),
        above: outliers.above.into(),
    })
}

pub(super) fn patterns(column: &TableColumn) -> Vec<PatternReport> {
    let patterns = column.patterns(PATTERNS).into_iter().map(|pattern| PatternReport {
        pattern: pattern.pattern,
        example: String::from_utf8_lossy(&pattern.example).into_owned(),
        share: pattern.share.into(),
    });
    patterns.collect()
}

pub(super) fn dates(column: &TableColumn) -> Option<DatesReport> {
    let facts = column.dates()?;
    let formats =
        facts.formats.iter().map(|(format, count)| FormatCount { format: format.name(), count: *count });
    let gap = facts.gaps.and_then(|gaps| gaps.longest).map(|(from, to)| DateGap {
        from: day(from),
        to: day(to),
        days: u64::from(from.abs_diff(to)) + 1,
    });
    Some(DatesReport {
        formats: formats.collect(),
        dates: facts.dates,
        others: facts.others,
        from: facts.range.map(|(from, _)| day(from)),
        to: facts.range.map(|(_, to)| day(to)),
        missing_days: facts.gaps.map(|gaps| gaps.missing),
        longest_gap: gap,
    })
}

/// Returns a day in the format of ISO 8601.
fn day(number: i32) -> String {
    let (year, month, day) = date_of(number.into());
    format!("{year:04}-{month:02}-{day:02}")
}

pub(super) fn correlations(table: &TableProfile, related: &Relations) -> Vec<CorrelationReport> {
    let name = |place: usize| table.columns()[place].name().to_owned();
    let report = |found: &crivo::profile::Correlation| CorrelationReport {
        left: name(found.left),
        right: name(found.right),
        rank_correlation: found.rank_correlation.into(),
        pearson: found.pearson.map(Into::into),
        rows: found.rows,
    };
    related.correlations.iter().map(report).collect()
}

pub(super) fn dependencies(table: &TableProfile, related: &Relations) -> Vec<DependencyReport> {
    let name = |place: usize| table.columns()[place].name().to_owned();
    let report = |found: &crivo::profile::Dependency| DependencyReport {
        from: name(found.from),
        to: name(found.to),
        share: found.share.into(),
        rows: found.rows,
        exceptions: found.exceptions,
    };
    related.dependencies.iter().map(report).collect()
}
