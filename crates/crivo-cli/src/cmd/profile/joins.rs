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

use anyhow::Result;
use crivo::Estimate;
use crivo::distinct::KMinValues;

use super::report::{ColumnName, ColumnReport, Join, TableReport};

/// Below this share of common values columns are not said to join.
const LEAST: f64 = 0.5;
/// More pairs are not worth reading.
const MOST: usize = 100;

/// A table with the different values of each column.
pub(super) type Keyed = (TableReport, Vec<KMinValues>);

/// The pairs of columns of different tables that could join, the best first.
pub(super) fn joins(tables: &[Keyed]) -> Result<Vec<Join>> {
    let mut found: Vec<(f64, Join)> = Vec::new();
    for (at, left) in tables.iter().enumerate() {
        for right in &tables[at + 1..] {
            for (left_column, left_keys) in left.0.columns.iter().zip(&left.1) {
                for (right_column, right_keys) in right.0.columns.iter().zip(&right.1) {
                    if !may_join(left_column, right_column) {
                        continue;
                    }
                    let forth = left_keys.compare(right_keys)?;
                    let (left_in_right, common) = (forth.containment(), forth.intersection());
                    let right_in_left = right_keys.compare(left_keys)?.containment();
                    let best = left_in_right.value().max(right_in_left.value());
                    if best < LEAST || common.value() < 1.0 {
                        continue;
                    }
                    let is_named_alike = is_named_alike(left_column, right_column);
                    let name = |table: &TableReport, column: &ColumnReport| ColumnName {
                        file: table.name.clone(),
                        column: column.name.clone(),
                        key: column.key,
                    };
                    let join = Join {
                        left: name(&left.0, left_column),
                        right: name(&right.0, right_column),
                        common: common.into(),
                        left_in_right: shares(left_in_right).into(),
                        right_in_left: shares(right_in_left).into(),
                    };
                    found.push((best + f64::from(u8::from(is_named_alike)), join));
                }
            }
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(found.into_iter().take(MOST).map(|(_, join)| join).collect())
}

/// Whether it is worth comparing values at all.
fn may_join(left: &ColumnReport, right: &ColumnReport) -> bool {
    let is_number = |column: &ColumnReport| matches!(column.kind, "integer" | "float");
    let is_candidate = |column: &ColumnReport| {
        column.values > 0 && column.distinct.value > 1.0 && !matches!(column.kind, "boolean" | "empty")
    };
    // Texts with numbers among them may hold a column of numbers.
    let is_alike = is_number(left) == is_number(right) || left.kind == "text" || right.kind == "text";
    is_candidate(left)
        && is_candidate(right)
        && is_alike
        && (left.key || right.key || is_named_alike(left, right))
}

fn is_named_alike(left: &ColumnReport, right: &ColumnReport) -> bool {
    left.name.eq_ignore_ascii_case(&right.name)
}

fn shares(estimate: Estimate) -> Estimate {
    estimate.limited_to(0.0, 1.0)
}
