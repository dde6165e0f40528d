//! Does a table meet its rules?
//!
//! **Question.** Does each column have the required type? Are its numbers in their range, and its
//! values in their set? Is no value missing, is the key unique, and are there as many rows as
//! expected?
//!
//! **Guarantee.** Every broken rule is found, with the first row that breaks it and the value in
//! that row. Nothing is estimated, with one exception: a column that must be unique is checked by
//! hashes of 64 bits. So among `n` different values, two have equal hashes with a probability of
//! `n²/2^65`: 3·10⁻⁸ for a million.
//!
//! **Idea.** Rules are checked while rows are read. Each thread or partition has a [`ColumnCheck`]
//! for each column with rules, and these are merged. Types need no check of their own, because a
//! [`TableProfile`] knows the first row of each kind of value.
//!
//! **Memory.** A check is small, except for unique columns: about 40 bytes for each different
//! value.

use super::by_hash::ByHash;
use super::column_profile::number_of;
use super::{ColumnType, Kind, TableColumn, TableProfile};
use crate::frequency::Hitter;
use crate::hash::TableSecret;
use crate::keys::{KeyBatch, KeyRef};
#[cfg(not(feature = "std"))]
use crate::prelude::*;

/// The rules of a column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnRules {
    /// The type. Values of a narrower type are allowed, such as integers in a column of floats.
    pub column_type: Option<ColumnType>,
    /// The least number allowed. Values that are not numbers are not compared.
    pub min: Option<f64>,
    /// The greatest number allowed.
    pub max: Option<f64>,
    /// Whether every row must have a value.
    pub not_empty: bool,
    /// The largest share of rows without a value.
    pub max_empty: Option<f64>,
    /// Whether no value may occur twice.
    pub unique: bool,
    /// The values that are allowed.
    pub allowed: Option<Vec<String>>,
}

/// The rules of a table.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableRules {
    /// The least number of rows.
    pub min_rows: Option<u64>,
    /// The greatest number of rows.
    pub max_rows: Option<u64>,
    /// The rules of columns, by their names.
    pub columns: Vec<(String, ColumnRules)>,
}

/// A rule that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenRule {
    /// The column, or `None` for rules of the table.
    pub column: Option<String>,
    /// The name of the rule.
    pub rule: &'static str,
    /// The first row that breaks the rule, from 1, or `None` if the rule is about all rows.
    pub row: Option<u64>,
    /// The value or the number that was found.
    pub found: String,
}

/// A row that breaks a rule, and the beginning of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Breach {
    row: u64,
    text: Box<[u8]>,
}

/// The number of bytes of a value that are kept to show it.
const SHOWN: usize = 60;

/// The first breach of each rule of one column, in the rows that were seen so far.
#[derive(Debug, Clone, Default)]
pub struct ColumnCheck {
    missing: Option<u64>,
    below: Option<Breach>,
    above: Option<Breach>,
    outside: Option<Breach>,
    repeated: Option<Breach>,
    /// The first row of each value, by its hash. Used for unique columns only.
    seen: ByHash<u64>,
    allowed: hashbrown::HashSet<Box<[u8]>, TableSecret>,
}

impl ColumnCheck {
    /// Creates a check that has seen no rows.
    pub fn new(rules: &ColumnRules) -> Self {
        let allowed = rules.allowed.iter().flatten().map(|value| Box::from(value.as_bytes()));
        Self { allowed: allowed.collect(), ..Self::default() }
    }

    /// Records a row without a value.
    pub fn add_missing(&mut self, row: u64) {
        self.missing = Some(self.missing.map_or(row, |first| first.min(row)));
    }

    /// Checks the values of a batch. `row` returns the row of a value by its index in the batch.
    pub fn insert_batch(&mut self, rules: &ColumnRules, batch: &KeyBatch<'_>, row: impl Fn(usize) -> u64) {
        let has_range = rules.min.is_some() || rules.max.is_some();
        for (at, (key, hash)) in batch.iter().enumerate() {
            let KeyRef::Bytes(text) = key else { continue };
            if has_range && let Some(number) = number_of(text) {
                if rules.min.is_some_and(|min| number < min) {
                    note(&mut self.below, row(at), text);
                }
                if rules.max.is_some_and(|max| number > max) {
                    note(&mut self.above, row(at), text);
                }
            }
            if rules.allowed.is_some() && !self.allowed.contains(text) {
                note(&mut self.outside, row(at), text);
            }
            if rules.unique {
                let row = row(at);
                let first = self.seen.entry(hash).or_insert(row);
                if *first != row {
                    let again = (*first).max(row);
                    *first = (*first).min(row);
                    note(&mut self.repeated, again, text);
                }
            }
        }
    }

    /// Merges the check of another part of a table. The rows of all parts must be numbered
    /// continuously.
    pub fn merge(&mut self, other: Self) {
        if let Some(row) = other.missing {
            self.add_missing(row);
        }
        let theirs = [other.below, other.above, other.outside, other.repeated];
        let mine = [&mut self.below, &mut self.above, &mut self.outside, &mut self.repeated];
        for (mine, theirs) in mine.into_iter().zip(theirs) {
            if let Some(Breach { row, text }) = theirs {
                note(mine, row, &text);
            }
        }
        #[allow(clippy::iter_over_hash_type)] // each value is merged by itself, and the earliest row wins
        for (hash, row) in other.seen {
            let first = self.seen.entry(hash).or_insert(row);
            if *first != row {
                let again = (*first).max(row);
                *first = (*first).min(row);
                // Neither part knows the text of the value.
                note(&mut self.repeated, again, b"");
            }
        }
    }

    /// Gives every row another number. The numbers must keep the order of the rows.
    pub fn renumber(&mut self, number: impl Fn(u64) -> u64) {
        self.missing = self.missing.map(&number);
        let breaches = [&mut self.below, &mut self.above, &mut self.outside, &mut self.repeated];
        for breach in breaches.into_iter().flatten() {
            breach.row = number(breach.row);
        }
        self.seen.values_mut().for_each(|row| *row = number(*row));
    }
}

/// Keeps the earlier of two breaches.
fn note(first: &mut Option<Breach>, row: u64, text: &[u8]) {
    if first.as_ref().is_none_or(|first| row < first.row) {
        *first = Some(Breach { row, text: text[..text.len().min(SHOWN)].into() });
    }
}

impl TableRules {
    /// Returns a check for each column with rules, in their order.
    pub fn checks(&self) -> Vec<ColumnCheck> {
        self.columns.iter().map(|(_, rules)| ColumnCheck::new(rules)).collect()
    }

    /// Returns the first column name in the rules that the table does not have.
    pub fn unknown_column(&self, table: &TableProfile) -> Option<&str> {
        let has = |name: &str| table.columns().iter().any(|column| column.name() == name);
        self.columns.iter().map(|(name, _)| name.as_str()).find(|name| !has(name))
    }

    /// Returns every broken rule: rules of the table first, then column by column. The checks must
    /// have seen all rows, with the same row numbers as the profile.
    pub fn broken(&self, table: &TableProfile, checks: &[ColumnCheck]) -> Vec<BrokenRule> {
        let mut broken = Vec::new();
        let rows = table.rows();
        let of_rows = |rule| BrokenRule { column: None, rule, row: None, found: format!("{rows} rows") };
        if self.min_rows.is_some_and(|least| rows < least) {
            broken.push(of_rows("rows.min"));
        }
        if self.max_rows.is_some_and(|most| rows > most) {
            broken.push(of_rows("rows.max"));
        }
        for ((name, rules), check) in self.columns.iter().zip(checks) {
            if let Some(column) = table.columns().iter().find(|column| column.name() == name) {
                broken.extend(rules.broken(column, check));
            }
        }
        broken
    }

    /// Returns rules that this table meets: types, ranges, missing values, keys, and the values of
    /// columns that have few.
    pub fn of(table: &TableProfile) -> Self {
        let columns = table.columns().iter().map(|column| (column.name().into(), ColumnRules::of(column)));
        Self { min_rows: Some(1.min(table.rows())), max_rows: None, columns: columns.collect() }
    }
}

/// A column with at most this many different values gets a list of allowed values.
const FEW: f64 = 20.0;

impl ColumnRules {
    /// Returns rules that this column meets.
    fn of(column: &TableColumn) -> Self {
        let (data, profile) = (column.data(), &column.data().profile);
        let column_type = profile.column_type();
        let is_number = column_type.is_number() && profile.numbers().not_finite() == 0;
        let distinct = data.distinct();
        let are_few = distinct.is_exact() && distinct.value() <= FEW && profile.long() == 0;
        let is_listed = are_few && matches!(column_type, ColumnType::Text | ColumnType::Boolean);
        let listed = || {
            let text = |hitter: &Hitter| match hitter.key() {
                KeyRef::Bytes(text) => std::str::from_utf8(text).ok().map(String::from),
                _ => None,
            };
            let mut values: Vec<String> = profile.top(usize::MAX).iter().filter_map(text).collect();
            values.sort();
            // The list lacks values if the profile has too few counters, or if some are not UTF-8.
            (values.len() as f64 == distinct.value()).then_some(values)
        };
        let empty = profile.missing() as f64 / profile.rows().max(1) as f64;
        Self {
            column_type: (column_type != ColumnType::Empty).then_some(column_type),
            min: profile.numbers().min().filter(|_| is_number),
            max: profile.numbers().max().filter(|_| is_number),
            not_empty: profile.missing() == 0 && profile.rows() > 0,
            // Rounded up to whole percents.
            max_empty: (profile.missing() > 0 && empty < 1.0).then(|| libm::ceil(100.0 * empty) / 100.0),
            unique: data.could_be_key() && distinct.is_exact() && distinct.value() > FEW,
            allowed: is_listed.then(listed).flatten(),
        }
    }

    fn broken(&self, column: &TableColumn, check: &ColumnCheck) -> Vec<BrokenRule> {
        let mut broken = Vec::new();
        let mut add = |rule, row, found| {
            broken.push(BrokenRule { column: Some(column.name().into()), rule, row, found });
        };
        if let Some(wanted) = self.column_type {
            let is_allowed = |kind: Kind| wanted == widened(wanted, kind);
            let wrong = Kind::ALL.into_iter().filter(|kind| !is_allowed(*kind));
            if let Some(first) = wrong.filter_map(|kind| column.first(kind)).min_by_key(|first| first.row) {
                add("type", Some(first.row), String::from_utf8_lossy(&first.text).into_owned());
            }
        }
        let profile = &column.data().profile;
        if self.not_empty && profile.missing() > 0 {
            add("not_empty", check.missing, format!("{} empty", profile.missing()));
        }
        let empty = profile.missing() as f64 / profile.rows().max(1) as f64;
        if self.max_empty.is_some_and(|most| empty > most) {
            add("max_empty", None, format!("{empty:.4} empty"));
        }
        let breaches = [
            ("min", &check.below),
            ("max", &check.above),
            ("in", &check.outside),
            ("unique", &check.repeated),
        ];
        for (rule, breach) in breaches {
            if let Some(Breach { row, text }) = breach {
                // The first occurrence is not stored, so of some repeated values the text is unknown.
                let found = if rule == "unique" && text.is_empty() {
                    "a value for the second time".into()
                } else {
                    String::from_utf8_lossy(text)
                };
                add(rule, Some(*row), found.into_owned());
            }
        }
        broken
    }
}

/// Returns the type of a column with values of `column_type` and of one value of the given kind.
fn widened(column_type: ColumnType, kind: Kind) -> ColumnType {
    match column_type {
        ColumnType::Float => ColumnType::of(&[Kind::Float, kind]),
        ColumnType::Timestamp => ColumnType::of(&[Kind::Timestamp, kind]),
        ColumnType::Text => ColumnType::Text,
        other => {
            if ColumnType::of(&[kind]) == other {
                other
            } else {
                ColumnType::Text
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{KeyBuffer, KeyScheme, Span};
    use crate::profile::TableColumnSizes;

    /// Returns a check of these rows, numbered from `first`.
    fn check(rules: &ColumnRules, texts: &[String], first: u64) -> ColumnCheck {
        let mut check = ColumnCheck::new(rules);
        let (mut bytes, mut spans) = (Vec::new(), Vec::new());
        for text in texts {
            spans.push(Span::new(bytes.len()..bytes.len() + text.len()).unwrap());
            bytes.extend_from_slice(text.as_bytes());
        }
        let mut buffer = KeyBuffer::new(KeyScheme::bytes());
        let keys = buffer.hash_spans_of(&spans, &bytes).unwrap();
        check.insert_batch(rules, &keys, |at| first + at as u64);
        check
    }

    fn rows(check: &ColumnCheck) -> [Option<u64>; 4] {
        [&check.below, &check.above, &check.outside, &check.repeated]
            .map(|breach| breach.as_ref().map(|breach| breach.row))
    }

    #[test]
    fn first_breaches_do_not_depend_on_parts() {
        let allowed = (0..40).map(|number: u32| number.to_string()).collect();
        let rules = ColumnRules {
            min: Some(3.0),
            max: Some(45.0),
            unique: true,
            allowed: Some(allowed),
            ..ColumnRules::default()
        };
        let mut state = 1_u64;
        for _ in 0..500 {
            let texts: Vec<String> = (0..30)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((state >> 33) % 50).to_string()
                })
                .collect();
            let number = |text: &String| text.parse::<u32>().unwrap();
            let place = |wrong: &dyn Fn(usize) -> bool| {
                (0..texts.len()).find(|&at| wrong(at)).map(|at| at as u64 + 1)
            };
            let model = [
                place(&|at| number(&texts[at]) < 3),
                place(&|at| number(&texts[at]) > 45),
                place(&|at| number(&texts[at]) >= 40),
                place(&|at| texts[..at].contains(&texts[at])),
            ];
            assert_eq!(rows(&check(&rules, &texts, 1)), model);
            let cut = (state >> 40) as usize % texts.len();
            let (early, late) =
                (check(&rules, &texts[..cut], 1), check(&rules, &texts[cut..], cut as u64 + 1));
            let (mut forth, mut back) = (early.clone(), late.clone());
            forth.merge(late);
            back.merge(early);
            assert_eq!((rows(&forth), rows(&back)), (model, model));
        }
    }

    #[test]
    fn values_repeated_in_another_part_are_found_after_renumbering() {
        let rules = ColumnRules { unique: true, ..ColumnRules::default() };
        let texts = ["a", "b", "c", "d", "x"].map(String::from);
        let others = ["e", "f", "g", "h", "x"].map(String::from);
        let (mut early, mut late) = (check(&rules, &texts, 1), check(&rules, &others, 1));
        late.renumber(|row| row + 100);
        early.merge(late);
        assert_eq!(rows(&early), [None, None, None, Some(105)]);
    }

    /// Returns a table of one column, whose profile has this many counters.
    fn table(texts: &[&[u8]], counters: u32) -> TableProfile {
        let mut sizes = TableColumnSizes::for_memory(TableColumnSizes::LEAST_MEMORY);
        sizes.column.profile.counters = counters;
        let scheme = KeyScheme::bytes();
        let mut column = TableColumn::new("city", sizes, scheme).unwrap();
        let mut buffer = KeyBuffer::new(scheme);
        column.insert_batch(&buffer.hash_slices(texts).unwrap(), |at| at as u64 + 1).unwrap();
        TableProfile::new(texts.len() as u64, scheme, vec![column]).unwrap()
    }

    #[test]
    fn a_table_meets_its_own_rules_with_any_number_of_counters() {
        let texts: Vec<String> = (0..18_u8).map(|at| char::from(b'a' + at).to_string()).collect();
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        for counters in 1..24 {
            let table = table(&texts, counters);
            let rules = TableRules::of(&table);
            let mut checks = rules.checks();
            let mut buffer = KeyBuffer::new(KeyScheme::bytes());
            let keys = buffer.hash_slices(&texts).unwrap();
            checks[0].insert_batch(&rules.columns[0].1, &keys, |at| at as u64 + 1);
            assert_eq!(rules.broken(&table, &checks), [], "{counters} counters");
            assert_eq!(rules.columns[0].1.allowed.is_some(), counters >= 18, "{counters} counters");
        }
        // A value that is not UTF-8 cannot be listed.
        let rules = TableRules::of(&table(&[b"a", b"\xFF"], 24));
        assert_eq!(rules.columns[0].1.allowed, None);
    }

    #[test]
    fn narrower_types_are_allowed() {
        let allows = |wanted: ColumnType, kind: Kind| widened(wanted, kind) == wanted;
        assert!(allows(ColumnType::Float, Kind::Integer) && !allows(ColumnType::Integer, Kind::Float));
        assert!(allows(ColumnType::Timestamp, Kind::Date) && !allows(ColumnType::Date, Kind::Timestamp));
        assert!(allows(ColumnType::Text, Kind::Boolean) && !allows(ColumnType::Boolean, Kind::Text));
    }
}
