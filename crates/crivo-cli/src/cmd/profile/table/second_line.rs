//! The lines below that of a column, for facts that do not fit into the table or that only some
//! columns have.

use super::super::report::{ColumnReport, CorrelationReport, DependencyReport, TableReport};
use super::{cut, median, range, share, width_of};
use crate::output::{self, Interval};

/// The number of table columns that are always printed. Range and median come after them.
const ALWAYS: usize = 4;
/// The most pairs of columns that are named below the table.
const RELATIONS: usize = 8;

/// The most different values at which a column is shown by its most frequent values instead of its
/// patterns.
const FEW: f64 = 16.0;

/// Returns the lines below that of a column, none if there are no further facts. `printed` is the
/// number of table columns in the line above.
pub(super) fn of(column: &ColumnReport, printed: usize, width: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    if printed <= ALWAYS {
        parts.extend(range(column, width.saturating_sub(20)));
    }
    if printed <= ALWAYS + 1 {
        parts.extend(median(column).map(|median| format!("median {median}")));
    }
    parts.extend(facts(column));
    let mut lines: Vec<String> = Vec::new();
    for part in parts {
        match lines.last_mut() {
            Some(line) if width_of(line) + 2 + width_of(&part) <= width => {
                line.push_str(", ");
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines.iter().map(|line| cut(line, width)).collect()
}

/// Returns the facts of a column that are not in the table, the most informative first.
pub(super) fn facts(column: &ColumnReport) -> Vec<String> {
    let mut facts = Vec::new();
    if let (Some(mean), Some(deviation)) = (column.mean, column.standard_deviation) {
        facts.push(format!("mean {}, sd {}", output::number(mean), output::number(deviation)));
    }
    if let Some(outliers) = &column.outliers {
        let sum = |of: fn(&Interval) -> f64| of(&outliers.below) + of(&outliers.above);
        let (value, lower, upper) = (sum(|one| one.value), sum(|one| one.lower), sum(|one| one.upper));
        let confidence = outliers.below.confidence.min(outliers.above.confidence);
        if value > 0.0 && lower > 0.0 {
            let count = output::estimate(Interval { value, lower, upper, confidence }.estimate());
            let fences = (output::number(outliers.lower_fence), output::number(outliers.upper_fence));
            facts.push(format!("{count} outside of {} … {}", fences.0, fences.1));
        }
    }
    facts.extend(column.skew.filter(|skew| skew.abs() >= 0.05).map(|skew| format!("skew {skew:.1}")));
    facts.extend(dates(column));
    // A pattern is worth its room if many values have it.
    let is_told = column.distinct.value > FEW && column.dates.is_none();
    if let Some(first) = column.patterns.first().filter(|first| is_told && first.share.value >= 0.3) {
        let shown = cut(&first.pattern, 32);
        facts.push(format!("like {shown} {}", share(first.share, 1)));
    }
    facts
}

/// Returns the facts about days in a column: range, formats, and missing days.
fn dates(column: &ColumnReport) -> Vec<String> {
    let Some(dates) = &column.dates else { return Vec::new() };
    let formats: Vec<&str> = dates.formats.iter().map(|format| format.format).collect();
    let is_iso = formats == ["YYYY-MM-DD"];
    let mut parts: Vec<String> = Vec::new();
    match (&dates.from, &dates.to) {
        // Days in ISO 8601 sort like texts, so the range of values already shows them.
        (Some(_), Some(_)) if is_iso => {}
        (Some(from), Some(to)) => {
            parts.push(format!("days {from} … {to}"));
            parts.push(format!("as {}", formats.join(", ")));
        }
        _ if formats.is_empty() => parts.push("days with day or month first".into()),
        _ => {
            parts.push(format!("days as {}", formats.join(" or ")));
            parts.push("which one is not known".into());
        }
    }
    match dates.missing_days {
        Some(0) => parts.push("no day missing".into()),
        Some(1) => parts.push("1 day missing".into()),
        Some(missing) => parts.push(format!("{} days missing", output::count(missing))),
        None => {}
    }
    if let Some(gap) = dates.longest_gap.as_ref().filter(|gap| gap.days > 1) {
        parts.push(format!("longest gap {} … {}", gap.from, gap.to));
    }
    if dates.others > 0 {
        parts.push(format!("{} no day", output::count(dates.others)));
    }
    parts
}

/// Returns sentences about columns that depend on each other, the strongest only.
pub(super) fn relations(table: &TableReport) -> Vec<String> {
    let strong = |one: &&CorrelationReport| one.rank_correlation.value.abs() >= 0.5;
    let correlations: Vec<&CorrelationReport> = table.correlations.iter().filter(strong).collect();
    let mut told: Vec<String> = table.dependencies.iter().take(RELATIONS).map(dependency).collect();
    if table.dependencies.len() > RELATIONS {
        told.push(format!("{} more dependencies are in --json", table.dependencies.len() - RELATIONS));
    }
    told.extend(correlations.iter().take(RELATIONS).map(|one| correlation(one)));
    if correlations.len() > RELATIONS {
        told.push(format!("{} more pairs that go together are in --json", correlations.len() - RELATIONS));
    }
    let left_out = table.not_compared.numbers + table.not_compared.few_values;
    if left_out > 0 && !told.is_empty() {
        told.push(format!("{} more columns were not compared with others", output::count(left_out as u64)));
    }
    told
}

fn dependency(found: &DependencyReport) -> String {
    let DependencyReport { from, to, share: held, rows, exceptions } = found;
    let rows = output::count(*rows as u64);
    match (*exceptions, held.lower == held.upper) {
        (0, true) => format!("{from} decides {to} in all rows"),
        (0, false) => {
            let least = (1000.0 * held.lower).floor() / 10.0;
            format!("{from} decides {to} in all of {rows} drawn rows: in at least {least} % of all")
        }
        (_, true) => format!("{from} decides {to} in {} of the rows", output::percent(held.value)),
        _ => format!("{from} decides {to} in {} of the rows", share(*held, 1)),
    }
}

fn correlation(found: &CorrelationReport) -> String {
    let CorrelationReport { left, right, rank_correlation, pearson, .. } = found;
    let direction = if rank_correlation.value < 0.0 { "against each other" } else { "together" };
    let ranks = coefficient(rank_correlation);
    let pearson = pearson.map_or(String::new(), |found| format!(", Pearson's {}", coefficient(&found)));
    format!("{left} and {right} go {direction}: rank correlation {ranks}{pearson}")
}

/// Returns a correlation with its error, unless it is exact.
fn coefficient(found: &Interval) -> String {
    let value = found.value;
    let error = (found.upper - value).max(value - found.lower);
    if error == 0.0 {
        format!("{value:.3}")
    } else {
        format!("{value:.2} ± {:.2}", (error * 100.0).ceil() / 100.0)
    }
}
