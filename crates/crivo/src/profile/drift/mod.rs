//! What changed between two tables, and is it more than chance?
//!
//! **Question.** Which columns of today's table differ from yesterday's? Do they have another type,
//! more empty fields, other values, another distribution?
//!
//! **Guarantee.** Suppose the rows of both tables were drawn from the same source, independently of
//! each other. Then all checks of all columns together report a change with a probability of at
//! most [`DriftRule::level`], 1 % by default. That holds for tables of any size, because every
//! check has a finite-sample bound:
//!
//! | check | bound |
//! |---|---|
//! | empty, kinds of values, frequent values | Fisher's exact test, with the worst counts that the sketch allows |
//! | distribution of numbers | Dvoretzky, Kiefer, Wolfowitz (with Massart's constant) for each table; ranks may be off by what the sketch states (Hoeffding) |
//! | range of numbers | exact: the probability that as many rows of one table lie beyond all of the other |
//! | different values | self-bounding functions (Boucheron, Lugosi, Massart) for each table, with the interval of the sketch |
//!
//! The level is divided by Holm's rule. Frequent values are chosen by their counts in both tables
//! together. Without a change these counts say nothing about the split between the tables, so
//! choosing costs no more than the number of checks.
//!
//! **Limits.** Rows that depend on each other (times, numbers that count up, tables sorted by date)
//! drift by their nature: exclude such columns. Dates and texts are compared by kinds, frequent
//! values and the number of different values, not by their order.
//!
//! **Sources.** Holm: *A simple sequentially rejective multiple test procedure* (1979). Massart:
//! *The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality* (1990). Boucheron, Lugosi,
//! Massart: *A sharp concentration inequality with applications* (2000).

mod checks;

use self::checks::Check;
use super::{TableColumn, TableProfile};
use crate::hash::TableSecret;
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The rule by which changes are reported.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftRule {
    /// The probability that any change is reported if nothing changed; 0.01 by default.
    pub level: f64,
    /// Changes with a smaller effect are not reported; 0 by default.
    pub min_effect: f64,
}

impl Default for DriftRule {
    fn default() -> Self {
        Self { level: 0.01, min_effect: 0.0 }
    }
}

/// The changes from one table to another.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDrift {
    /// Every column that both tables have.
    pub columns: Vec<ColumnDrift>,
    /// Columns that only the later table has.
    pub added: Vec<String>,
    /// Columns that only the earlier table has.
    pub removed: Vec<String>,
    /// The number of checks made.
    pub checks: usize,
}

/// The changes of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDrift {
    /// The name of the column.
    pub name: String,
    /// The changes that are more than chance and have a large enough effect, the largest effect
    /// first.
    pub changes: Vec<Change>,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The kind of the change.
    pub what: ChangeKind,
    /// The value or the kind of value that the change is about, if it is about one.
    pub about: Option<String>,
    /// The earlier value.
    pub before: ChangeValue,
    /// The later value.
    pub after: ChangeValue,
    /// The size of the change, from 0 to 1: the difference of two shares, or the largest difference
    /// of two distributions. For the least and the greatest number it is the share of one table's
    /// numbers that lie beyond all numbers of the other. For the number of different values it is
    /// the relative difference that the numbers of rows do not explain.
    pub effect: f64,
    /// An upper bound of the probability of such a difference without a change. It is not yet
    /// corrected for the number of checks.
    pub p: f64,
}

/// The subject of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The type of the column.
    Type,
    /// The shares of kinds of values, in a column of the same type.
    Kinds,
    /// The share of rows without a value.
    Empty,
    /// The number of different values.
    Distinct,
    /// The least number.
    Least,
    /// The greatest number.
    Greatest,
    /// The distribution of the numbers. The earlier and the later value are the numbers at the
    /// share where the distributions differ most.
    Distribution,
    /// The share of a frequent value.
    Frequent,
    /// A value that did not occur before.
    New,
    /// A value that no longer occurs.
    Vanished,
}

impl ChangeKind {
    /// Returns the name in lower case.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Type => "type",
            Self::Kinds => "kinds",
            Self::Empty => "empty",
            Self::Distinct => "distinct",
            Self::Least => "min",
            Self::Greatest => "max",
            Self::Distribution => "distribution",
            Self::Frequent => "frequent value",
            Self::New => "new value",
            Self::Vanished => "vanished value",
        }
    }
}

/// The earlier or the later value of a change.
#[derive(Debug, Clone, PartialEq)]
pub enum ChangeValue {
    /// A number.
    Number(f64),
    /// A share of all, from 0 to 1.
    Share(f64),
    /// A word.
    Text(String),
}

impl TableDrift {
    /// Compares a later table with an earlier one. Columns are matched by name, and columns of the
    /// same name by their order. Columns for which `is_ignored` returns true are left out.
    pub fn between(
        before: &TableProfile,
        after: &TableProfile,
        rule: &DriftRule,
        is_ignored: impl Fn(&str) -> bool,
    ) -> Self {
        let mut earlier: hashbrown::HashMap<(&str, usize), &TableColumn, TableSecret> =
            before.named().into_iter().filter(|((name, _), _)| !is_ignored(name)).collect();
        let mut pairs: Vec<(&TableColumn, &TableColumn)> = Vec::new();
        let mut added = Vec::new();
        for (key, column) in after.named().into_iter().filter(|((name, _), _)| !is_ignored(name)) {
            match earlier.remove(&key) {
                Some(other) => pairs.push((other, column)),
                None => added.push(column.name().into()),
            }
        }
        let is_left = |key: &(&str, usize)| earlier.contains_key(key);
        let removed = before.named().into_iter().filter(|(key, _)| is_left(key));
        let removed = removed.map(|((name, _), _)| name.into()).collect();
        let (columns, checks) = judged(&pairs, rule);
        Self { columns, added, removed, checks }
    }

    /// Returns true if any column changed, or was added or removed.
    pub fn has_drifted(&self) -> bool {
        let changed = self.columns.iter().any(|column| !column.changes.is_empty());
        changed || !self.added.is_empty() || !self.removed.is_empty()
    }
}

/// The share of the level that errors of sketches may use, so that the rest is left for chance in
/// the rows.
const FOR_SKETCHES: f64 = 0.01;

/// Makes all checks and selects the changes by Holm's rule.
fn judged(pairs: &[(&TableColumn, &TableColumn)], rule: &DriftRule) -> (Vec<ColumnDrift>, usize) {
    let planned: usize = pairs.iter().map(|(before, after)| checks::most_checks(before, after)).sum();
    let for_sketch = rule.level * FOR_SKETCHES / planned.max(1) as f64;
    let mut all: Vec<(usize, Check)> = Vec::new();
    for (column, (before, after)) in pairs.iter().enumerate() {
        all.extend(checks::of(before, after, for_sketch).into_iter().map(|check| (column, check)));
    }
    let count = all.len();
    all.sort_by(|one, other| one.1.p.total_cmp(&other.1.p));
    let mut columns: Vec<ColumnDrift> = pairs
        .iter()
        .map(|(_, after)| ColumnDrift { name: after.name().into(), changes: Vec::new() })
        .collect();
    for (rank, (column, check)) in all.into_iter().enumerate() {
        // The first check that may be chance ends the loop, because all others have larger
        // probabilities.
        if check.p > rule.level / (count - rank) as f64 {
            break;
        }
        if check.effect >= rule.min_effect {
            columns[column].changes.push(check.into_change(pairs[column]));
        }
    }
    for column in &mut columns {
        column.changes.sort_by(|one, other| other.effect.total_cmp(&one.effect));
    }
    (columns, count)
}
