//! Which columns of two tables could join?
//!
//! Columns join if one holds the values of the other. Each column has a sample of its different values, the
//! ones with the smallest hashes, and two samples with the same hash function can be compared: of the values that
//! would be in both if both columns had them, which are? That gives the share of each column's values that the other has,
//! with bounds ([`KMinValues`]).
//!
//! Numbers from 1 on are in every column of numbers from 1 on. So a pair is listed if half of the values of one side are on the
//! other, and one side could be a key or both have the same name: a join by anything else pairs rows
//! at random.
//!
//! Twenty values beside 300,000 leave nothing to compare: none of the twenty is likely to be in the sample. Of such a pair
//! neither yes nor no can be said, and it is counted as undecided, unless the least and the greatest values tell
//! that the columns have nothing in common.

use anyhow::Result;
use crivo::Estimate;
use crivo::distinct::KMinValues;

use super::report::{ColumnName, ColumnReport, Join, KindCount, Scalar, TableReport, Undecided};

/// Below this share of common values columns are not said to join.
const LEAST: f64 = 0.5;
/// More pairs are not worth reading.
const MOST: usize = 100;

/// A table with the different values of each column.
pub(super) type Keyed = (TableReport, Vec<KMinValues>);

/// What is known of the pairs of columns.
#[derive(Debug, Default)]
pub(super) struct Joins {
    /// Those that could join, the best first.
    pub(super) found: Vec<Join>,
    /// How many the samples cannot tell of, and the first of them, those with the same name before others.
    pub(super) undecided: u64,
    pub(super) undecided_pairs: Vec<Undecided>,
}

/// What the samples say of a pair.
enum Verdict {
    Joins(f64, Join),
    Undecided(Undecided),
    No,
}

/// The pairs of columns of different tables that could join.
pub(super) fn joins(tables: &[Keyed]) -> Result<Joins> {
    let mut found: Vec<(f64, Join)> = Vec::new();
    let (mut undecided, mut alike, mut others) = (0, Vec::new(), Vec::new());
    for (at, left) in tables.iter().enumerate() {
        for right in &tables[at + 1..] {
            for left_column in columns(left) {
                for right_column in columns(right) {
                    match compare(left_column, right_column)? {
                        Verdict::Joins(rank, join) => found.push((rank, join)),
                        Verdict::Undecided(pair) => {
                            undecided += 1;
                            let named = if pair.is_named_alike() { &mut alike } else { &mut others };
                            if named.len() < MOST {
                                named.push(pair);
                            }
                        }
                        Verdict::No => {}
                    }
                }
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(Joins {
        found: found.into_iter().take(MOST).map(|(_, join)| join).collect(),
        undecided,
        undecided_pairs: alike.into_iter().chain(others).take(MOST).collect(),
    })
}

/// A column with the table it is in and its different values.
type Sampled<'a> = (&'a TableReport, &'a ColumnReport, &'a KMinValues);

fn columns(table: &Keyed) -> impl Iterator<Item = Sampled<'_>> {
    table.0.columns.iter().zip(&table.1).map(|(column, keys)| (&table.0, column, keys))
}

fn compare(left: Sampled<'_>, right: Sampled<'_>) -> Result<Verdict> {
    if !may_join(left.1, right.1) || are_apart(left.1, right.1) {
        return Ok(Verdict::No);
    }
    let forth = left.2.compare(right.2)?;
    let (left_in_right, common) = (forth.containment(), forth.intersection());
    let right_in_left = right.2.compare(left.2)?.containment();
    let best = left_in_right.value().max(right_in_left.value());
    let (left, right) = (name(left), name(right));
    if best >= LEAST && common.value() >= 1.0 {
        let rank = best + f64::from(u8::from(is_named_alike(&left.column, &right.column)));
        let join = Join {
            left,
            right,
            common: common.into(),
            left_in_right: shares(left_in_right).into(),
            right_in_left: shares(right_in_left).into(),
        };
        return Ok(Verdict::Joins(rank, join));
    }
    let can_be = left_in_right.upper().max(right_in_left.upper());
    Ok(if can_be >= LEAST { Verdict::Undecided(Undecided { left, right }) } else { Verdict::No })
}

fn name((table, column, _): Sampled<'_>) -> ColumnName {
    ColumnName {
        file: table.name.clone(),
        column: column.name.clone(),
        key: column.key,
        is_certain_key: column.is_certain_key(),
    }
}

/// Whether it is worth comparing values at all.
fn may_join(left: &ColumnReport, right: &ColumnReport) -> bool {
    let is_candidate = |column: &ColumnReport| {
        column.values > 0 && column.distinct.value > 1.0 && !matches!(column.kind, "boolean" | "empty")
    };
    // Equal values are of the same kind. Texts with numbers among them may hold a column of numbers.
    let has_kind = |kind: &KindCount| right.kinds.iter().any(|other| other.kind == kind.kind);
    is_candidate(left)
        && is_candidate(right)
        && left.kinds.iter().any(has_kind)
        && (left.key || right.key || is_named_alike(&left.name, &right.name))
}

/// Whether all values of one column certainly lie below all of the other.
fn are_apart(left: &ColumnReport, right: &ColumnReport) -> bool {
    let is_below = |column: &ColumnReport, other: &ColumnReport| match (&column.max, &other.min) {
        // A text that is cut stands for all that begin with it.
        (Some(Scalar::Text(greatest)), Some(Scalar::Text(least))) => {
            greatest < least && !least.starts_with(greatest.as_str())
        }
        (Some(greatest), Some(least)) => {
            greatest.as_number().zip(least.as_number()).is_some_and(|(greatest, least)| greatest < least)
        }
        _ => false,
    };
    // Bytes that are no text are shown as a character of another place in the order.
    let is_as_read = |column: &ColumnReport| {
        ![&column.min, &column.max]
            .iter()
            .any(|end| matches!(end, Some(Scalar::Text(text)) if text.contains(char::REPLACEMENT_CHARACTER)))
    };
    // Infinities are beyond the least and the greatest.
    [left, right].iter().all(|column| is_as_read(column) && column.not_finite == 0)
        && (is_below(left, right) || is_below(right, left))
}

impl Undecided {
    fn is_named_alike(&self) -> bool {
        is_named_alike(&self.left.column, &self.right.column)
    }
}

fn is_named_alike(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
}

fn shares(estimate: Estimate) -> Estimate {
    estimate.limited_to(0.0, 1.0)
}
