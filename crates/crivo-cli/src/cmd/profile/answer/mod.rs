//! Makes the report from the collected profile.

mod detail;

use crivo::Estimate;
use crivo::keys::KeyRef;
use crivo::profile::{
    ColumnProfile, ColumnType, FirstOfKind, JoinColumn, Kind, TableColumn, TableProfile, Value,
};

use super::report::{
    ColumnReport, Frequent, GrowthPoint, KindCount, Length, NotCompared, Quantiles, Scalar, TableReport,
    TypeChange,
};
use crate::output::Interval;

/// The number of the most frequent values that are listed.
const TOP: usize = 10;
/// The number of points of a curve.
const POINTS: u64 = 40;

/// Returns the report of a table, and the data to compare its columns with others. `paths` are its
/// files; empty for standard input.
pub(super) fn table(
    profile: &TableProfile,
    paths: Vec<String>,
) -> crivo::Result<(TableReport, Vec<JoinColumn>)> {
    let mut reports = Vec::with_capacity(profile.columns().len());
    let mut joined = Vec::with_capacity(profile.columns().len());
    // Rows that were left out also have numbers.
    let last_row = profile.rows() + profile.left_out;
    for column in profile.columns() {
        joined.push(column.data().join_column()?);
        reports.push(answer(column, last_row));
    }
    let name = match paths.as_slice() {
        [] => "standard input".into(),
        [path] => path.clone(),
        [path, others @ ..] => format!("{path} and {} more", others.len()),
    };
    let &TableProfile { bytes, bad, left_out, .. } = profile;
    let rows = profile.rows();
    let related = profile.relations();
    let table = TableReport {
        rows,
        left_out,
        bytes,
        columns: reports,
        name,
        paths,
        bad,
        correlations: detail::correlations(profile, &related),
        dependencies: detail::dependencies(profile, &related),
        not_compared: NotCompared {
            numbers: related.compared_numbers.1,
            few_values: related.compared_categories.1,
        },
    };
    Ok((table, joined))
}

fn answer(column: &TableColumn, last_row: u64) -> ColumnReport {
    let data = column.data();
    let profile = &data.profile;
    let column_type = profile.column_type();
    let is_number = column_type.is_number();
    let (key, distinct) = (data.could_be_key(), data.distinct());
    let Top { listed, majority, others_at_most } = top(profile, distinct);
    let number = |of: Option<f64>| of.filter(|_| is_number);
    let spread = column.spread();
    ColumnReport {
        name: column.name().to_owned(),
        kind: column_type.name(),
        empty: profile.missing(),
        distinct: distinct.into(),
        key,
        top: listed,
        majority,
        sample: profile.sample().map(text_of).collect(),
        min: profile.min().map(scalar),
        max: profile.max().map(scalar),
        sum: number(profile.sum()),
        mean: number(profile.mean()),
        quantiles: if is_number { quantiles(profile) } else { None },
        length: profile.lengths().map_or(Length { min: 0, mean: 0.0, max: 0 }, |lengths| Length {
            min: lengths.min,
            mean: lengths.mean,
            max: lengths.max,
        }),
        near_duplicates: data.near_duplicate_share().map(Interval::from),
        values: profile.values(),
        kinds: kinds(profile),
        changes: changes(column),
        growth: growth(column, last_row, distinct),
        long: profile.long(),
        documents: data.near_duplicates.as_ref().map_or(0, crivo::profile::NearDuplicateShare::documents),
        others_at_most,
        not_finite: if is_number { profile.numbers().not_finite() } else { 0 },
        standard_deviation: number(spread.standard_deviation),
        skew: number(spread.skew),
        histogram: if is_number { detail::histogram(column) } else { None },
        outliers: if is_number { detail::outliers(column) } else { None },
        patterns: detail::patterns(column),
        dates: detail::dates(column),
    }
}

/// The most frequent values.
struct Top {
    listed: Vec<Frequent>,
    majority: Option<String>,
    /// An upper bound on the count of every other value.
    others_at_most: u64,
}

/// Returns the most frequent values. If there are many different values, some have a counter at the
/// end by chance. So only values are listed whose count is certainly larger than that of any value
/// without a counter.
fn top(profile: &ColumnProfile, distinct: Estimate) -> Top {
    let values = profile.values();
    if let Some(only) = only_value(profile, distinct) {
        let count = Estimate::exact(values as f64).into();
        let listed = vec![Frequent { key: only.clone(), count }];
        return Top { listed, majority: Some(only), others_at_most: 0 };
    }
    // Every other value occurs at least once.
    let others = if distinct.is_exact() { distinct.value() as u64 } else { 1 }.saturating_sub(1);
    let most = values.saturating_sub(others);
    let unknown = profile.heavy_hitters().max_error().min(most);
    let (mut listed, mut others_at_most) = (Vec::new(), unknown);
    for hitter in profile.top(usize::MAX) {
        let is_frequent = unknown == 0 || hitter.lower() > unknown;
        if is_frequent && listed.len() < TOP {
            let count = hitter.estimate().limited_to(0.0, most as f64).into();
            listed.push(Frequent { key: text_of(hitter.key()), count });
        } else {
            others_at_most = others_at_most.max(hitter.upper().min(most));
        }
    }
    let majority = profile.majority().filter(|hitter| hitter.lower() > values / 2);
    Top { listed, majority: majority.map(|hitter| text_of(hitter.key())), others_at_most }
}

/// Returns the value that all rows have, if it is too long to be counted. It is then also the least
/// value, and is cut like that.
fn only_value(profile: &ColumnProfile, distinct: Estimate) -> Option<String> {
    let is_long = profile.long() > 0 && distinct == Estimate::exact(1.0);
    match profile.min().filter(|_| is_long)? {
        Value::Text(text) => Some(String::from_utf8_lossy(&text).into_owned()),
        Value::Integer(_) | Value::Float(_) => None,
    }
}

fn quantiles(profile: &ColumnProfile) -> Option<Quantiles> {
    let at = |share| profile.quantile(share).map(Interval::from);
    Some(Quantiles { p01: at(0.01)?, p25: at(0.25)?, p50: at(0.5)?, p75: at(0.75)?, p99: at(0.99)? })
}

fn kinds(profile: &ColumnProfile) -> Vec<KindCount> {
    Kind::ALL
        .into_iter()
        .map(|kind| KindCount { kind: kind.name(), count: profile.count_of(kind) })
        .filter(|kind| kind.count > 0)
        .collect()
}

/// Returns the rows at which the type of all values so far changed.
fn changes(column: &TableColumn) -> Vec<TypeChange> {
    let mut found: Vec<(Kind, &FirstOfKind)> =
        Kind::ALL.into_iter().filter_map(|kind| Some((kind, column.first(kind)?))).collect();
    found.sort_by_key(|(_, first)| first.row);
    let mut changes = Vec::new();
    let mut kinds = Vec::new();
    for (kind, first) in found {
        let from = ColumnType::of(&kinds);
        kinds.push(kind);
        let to = ColumnType::of(&kinds);
        if from != ColumnType::Empty && from != to {
            let value = String::from_utf8_lossy(&first.text).into_owned();
            changes.push(TypeChange { row: first.row, from: from.name(), to: to.name(), value });
        }
    }
    changes
}

fn growth(column: &TableColumn, total: u64, distinct: Estimate) -> Vec<GrowthPoint> {
    let points = POINTS.min(total);
    let rows: Vec<u64> = (1..=points)
        .map(|point| (u128::from(total) * u128::from(point)).div_ceil(u128::from(points)) as u64)
        .collect();
    let mut curve = column.data().growth.growth(&rows);
    if let Some(last) = curve.last_mut() {
        *last = distinct;
    }
    rows.into_iter()
        .zip(curve)
        .map(|(rows, distinct)| GrowthPoint { rows, distinct: distinct.into() })
        .collect()
}

fn scalar(value: Value) -> Scalar {
    match value {
        Value::Integer(integer) => Scalar::Integer(integer),
        Value::Float(float) => Scalar::Float(float),
        Value::Text(text) => Scalar::Text(String::from_utf8_lossy(&text).into_owned()),
    }
}

fn text_of(key: KeyRef<'_>) -> String {
    match key {
        KeyRef::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
        other => other.to_string(),
    }
}
