//! Finds columns of two tables that could join.
//!
//! [`JoinColumn`] compares two columns. This module compares all pairs of columns of different
//! tables and lists the best. A pair that the samples cannot decide is counted as undecided.

use anyhow::Result;
use crivo::profile::{JoinColumn, JoinVerdict};

use super::report::{ColumnName, ColumnReport, Join, TableReport, Undecided};

/// The most pairs that are listed.
const MOST: usize = 100;

/// A table, and the data to compare its columns.
pub(super) type Keyed = (TableReport, Vec<JoinColumn>);

/// The result of comparing pairs of columns.
#[derive(Debug, Default)]
pub(super) struct Joins {
    /// The pairs that could join, the best first.
    pub(super) found: Vec<Join>,
    /// The number of undecided pairs, and the first of them. Pairs with the same name come before
    /// others.
    pub(super) undecided: u64,
    pub(super) undecided_pairs: Vec<Undecided>,
}

/// The decision about a pair.
enum Verdict {
    Joins(f64, Join),
    Undecided(Undecided),
    No,
}

/// Returns the pairs of columns of different tables that could join.
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

/// A column with the table it is in.
type Sampled<'a> = (&'a TableReport, &'a ColumnReport, &'a JoinColumn);

fn columns(table: &Keyed) -> impl Iterator<Item = Sampled<'_>> {
    table.0.columns.iter().zip(&table.1).map(|(column, joined)| (&table.0, column, joined))
}

fn compare(left: Sampled<'_>, right: Sampled<'_>) -> Result<Verdict> {
    let is_named_alike = is_named_alike(&left.1.name, &right.1.name);
    let Some(found) = left.2.compare(right.2, is_named_alike)? else { return Ok(Verdict::No) };
    let (left, right) = (name(left), name(right));
    Ok(match found.verdict {
        JoinVerdict::Joins => {
            let best = found.left_in_right.value().max(found.right_in_left.value());
            let join = Join {
                left,
                right,
                common: found.common.into(),
                left_in_right: found.left_in_right.into(),
                right_in_left: found.right_in_left.into(),
            };
            Verdict::Joins(best + f64::from(u8::from(is_named_alike)), join)
        }
        JoinVerdict::Undecided => Verdict::Undecided(Undecided { left, right }),
        JoinVerdict::No => Verdict::No,
    })
}

fn name((table, column, _): Sampled<'_>) -> ColumnName {
    ColumnName {
        file: table.name.clone(),
        column: column.name.clone(),
        key: column.key,
        is_certain_key: column.is_certain_key(),
    }
}

impl Undecided {
    fn is_named_alike(&self) -> bool {
        is_named_alike(&self.left.column, &self.right.column)
    }
}

fn is_named_alike(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
}
