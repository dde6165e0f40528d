//! What changed between two tables, and is it more than chance?
//!
//! **Question.** Yesterday's table and today's: which columns have another type, more empty fields,
//! other values, another distribution?
//!
//! **Guarantee.** If the rows of both tables were drawn from the same source, independently of each
//! other, then all checks of all columns together report a change with a probability of at most
//! [`DriftRule::level`], 1 % unless told. That holds for tables of any size, because every check
//! has a finite-sample bound:
//!
//! | check | bound |
//! |---|---|
//! | empty, kinds of values, frequent values | Fisher's exact test, with the worst counts that the sketch allows |
//! | distribution of numbers | Dvoretzky, Kiefer, Wolfowitz (with Massart's constant) for each table; ranks may be off by what the sketch states (Hoeffding) |
//! | range of numbers | exact: the chance that as many rows of one table lie beyond all of the other |
//! | different values | self-bounding functions (Boucheron, Lugosi, Massart) for each table, with the interval of the sketch |
//!
//! The level is shared out by Holm's rule. Frequent values are chosen by their counts in both
//! tables together, which under no change tell nothing about the split between them, so that
//! choosing costs no more than the number of checks.
//!
//! **Limits.** Rows that depend on each other (times, numbers that count up, tables sorted by day)
//! drift by their nature: leave such columns out. Dates and texts are compared by kinds, frequent
//! values and the number of different ones, not by their order.
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

/// When a change counts.
#[derive(Debug, Clone, PartialEq)]
pub struct DriftRule {
    /// The probability that anything is reported though nothing changed: 0.01 unless told.
    pub level: f64,
    /// Changes with a smaller effect do not count: 0 unless told.
    pub min_effect: f64,
}

impl Default for DriftRule {
    fn default() -> Self {
        Self { level: 0.01, min_effect: 0.0 }
    }
}

/// What changed from one table to another.
#[derive(Debug, Clone, PartialEq)]
pub struct TableDrift {
    /// Every column that both tables have.
    pub columns: Vec<ColumnDrift>,
    /// Columns that only the later table has.
    pub added: Vec<String>,
    /// Columns that only the earlier table has.
    pub removed: Vec<String>,
    /// How many checks were made.
    pub checks: usize,
}

/// What changed in one column.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDrift {
    /// The name of the column.
    pub name: String,
    /// The changes that are more than chance and large enough, the largest effect first.
    pub changes: Vec<Change>,
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// What changed.
    pub what: ChangeKind,
    /// The value that it is about, of a frequent value.
    pub about: Option<String>,
    /// What it was.
    pub before: ChangeValue,
    /// What it is.
    pub after: ChangeValue,
    /// How large the change is: of shares and distributions the difference, of numbers of different
    /// values the relative one.
    pub effect: f64,
    /// How likely so large a difference is without a change, at most. Before it is compared with
    /// the shared level.
    pub p: f64,
}

/// What a change is about.
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
    /// The distribution of the numbers; before and after are the numbers at the share where both
    /// differ most.
    Distribution,
    /// The share of a frequent value.
    Frequent,
    /// A value that was not there before.
    New,
    /// A value that is no longer there.
    Vanished,
}

impl ChangeKind {
    /// Returns the name in small letters.
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

/// What something was or is.
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
    /// Compares a later table with an earlier one. Columns are matched by name, and those of one
    /// name by their order. `is_ignored` names columns that are left out.
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

    /// Returns true if anything changed: a column, or which columns there are.
    pub fn has_drifted(&self) -> bool {
        let changed = self.columns.iter().any(|column| !column.changes.is_empty());
        changed || !self.added.is_empty() || !self.removed.is_empty()
    }
}

/// The share of the level that sketches may use up, so that the rest is left for chance in the
/// rows.
const FOR_SKETCHES: f64 = 0.01;

/// Makes all checks and decides by Holm's rule.
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
        // The first that may be chance ends it: all others have larger probabilities.
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
