//! `crivo profile --expect` and `--write-rules`: checks a table against rules, or writes rules for
//! it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, anyhow, bail};
use crivo::profile::expectations::{BrokenRule, ColumnCheck, ColumnRules, TableRules};
use crivo::profile::{ColumnType, TableColumn, TableProfile};
use serde::{Deserialize, Serialize, Serializer};

use crate::cmd::Outcome;
use crate::output::{self, Cell, Form, Listing, Output};
use crate::store::{self, Destination};
use crate::used_files::UsedFiles;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rules")]
pub(super) struct ExpectArgs {
    /// Hold every row to the rules in this file; each broken one with its first row. Exit code 1 if
    /// one is broken
    #[arg(long, value_name = "RULES.toml", conflicts_with_all = ["against", "html"])]
    expect: Option<PathBuf>,

    /// Write rules that this table keeps to, to be edited
    #[arg(long, value_name = "RULES.toml", conflicts_with_all = ["against", "html"])]
    write_rules: Option<PathBuf>,
}

/// The file of rules.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<RowRules>,
    #[serde(default)]
    columns: BTreeMap<String, ColumnRulesText>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowRules {
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<u64>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnRulesText {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    column_type: Option<TypeName>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_number")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_number")]
    max: Option<f64>,
    #[serde(default, skip_serializing_if = "is_false")]
    not_empty: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_empty: Option<f64>,
    #[serde(default, skip_serializing_if = "is_false")]
    unique: bool,
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    allowed: Option<Vec<String>>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands over references
fn is_false(value: &bool) -> bool {
    !value
}

/// Writes a whole number without a fraction, so that limits of a column of integers look like its
/// values.
#[allow(clippy::ref_option)] // serde hands over references
fn as_number<S: Serializer>(limit: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    match *limit {
        Some(limit) if limit.fract() == 0.0 && limit.abs() < 9e15 => serializer.serialize_i64(limit as i64),
        limit => limit.serialize(serializer),
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TypeName {
    Boolean,
    Integer,
    Float,
    Date,
    Timestamp,
    Text,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct RulesReport {
    broken: Vec<BrokenReport>,
    /// The number of columns with rules.
    columns: usize,
    rows: u64,
}

#[derive(Debug, Serialize)]
struct BrokenReport {
    /// Empty for rules of the table.
    column: String,
    rule: &'static str,
    row: Option<u64>,
    found: String,
}

impl ExpectArgs {
    /// The file of rules that every row is held to.
    pub(super) fn rules_file(&self) -> Option<&PathBuf> {
        self.expect.as_ref()
    }

    /// Reads the rules, before any other input is read.
    pub(super) fn rules(&self) -> Result<Option<TableRules>> {
        let Some(path) = &self.expect else { return Ok(None) };
        let name = store::name_of(path);
        let text = std::fs::read_to_string(path).with_context(|| format!("--expect {name}"))?;
        let file: RulesFile =
            toml::from_str(&text).map_err(|error| anyhow!("{name}: {}", located(&text, &error)))?;
        let rows = file.rows.unwrap_or(RowRules { min: None, max: None });
        let mut columns = Vec::new();
        for (column, rules) in file.columns {
            if rules.max_empty.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
                bail!("{name}: max_empty of '{column}': expected a share from 0 to 1, such as 0.02");
            }
            columns.push((column, rules.into()));
        }
        Ok(Some(TableRules { min_rows: rows.min, max_rows: rows.max, columns }))
    }

    /// Returns the destination of the rules.
    pub(super) fn destination(&self, files: &mut UsedFiles) -> Result<Option<Destination>> {
        files.optional_output(self.write_rules.as_ref())
    }

    /// Writes rules, or prints which are broken.
    pub(super) fn run(
        &self,
        (table, name): (&TableProfile, &str),
        checked: Option<(&TableRules, &Vec<ColumnCheck>)>,
        destination: Option<&Destination>,
        form: Form,
        out: &Output,
    ) -> Outcome {
        if let Some(destination) = destination {
            let text = toml::to_string(&RulesFile::from(TableRules::of(table)))?;
            destination.write(text.as_bytes())?;
            out.remark(format_args!("Wrote {}.", destination.name()))?;
        }
        let Some((rules, checks)) = checked else { return Ok(ExitCode::SUCCESS) };
        if let Some(unknown) = rules.unknown_column(table) {
            let file = self.expect.as_deref().map(store::name_of).unwrap_or_default();
            let hint = crivo_rows::suggestion(unknown, table.columns().iter().map(TableColumn::name));
            bail!("{file}: there is no column '{unknown}' in {name}{hint}");
        }
        let broken = rules.broken(table, checks);
        match form {
            Form::Json => out.json(&report(&broken, rules, table))?,
            Form::Table => print(&broken, rules, name, out)?,
            form => out.listing(&listing(&broken), form)?,
        }
        Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Returns the message of an error in one line, with the line number in the file.
fn located(text: &str, error: &toml::de::Error) -> String {
    let message = error.message().trim().replace('\n', " ");
    match error.span() {
        Some(span) => {
            let line = 1 + text.bytes().take(span.start).filter(|byte| *byte == b'\n').count();
            format!("line {line}: {message}")
        }
        None => message,
    }
}

fn report(broken: &[BrokenRule], rules: &TableRules, table: &TableProfile) -> RulesReport {
    let rule = |broken: &BrokenRule| BrokenReport {
        column: broken.column.clone().unwrap_or_default(),
        rule: broken.rule,
        row: broken.row,
        found: broken.found.clone(),
    };
    RulesReport {
        broken: broken.iter().map(rule).collect(),
        columns: rules.columns.len(),
        rows: table.rows(),
    }
}

fn listing(broken: &[BrokenRule]) -> Listing {
    const NAMES: [&str; 4] = ["column", "rule", "row", "found"];
    let mut listing = Listing::named(NAMES);
    for rule in broken {
        let cells = [
            Cell::of_text(rule.column.clone()),
            Cell::Text(rule.rule.into()),
            rule.row.map_or(Cell::Unknown, Cell::Whole),
            Cell::Text(rule.found.clone()),
        ];
        listing.push(NAMES.into_iter().zip(cells));
    }
    listing
}

fn print(broken: &[BrokenRule], rules: &TableRules, name: &str, out: &Output) -> Result<()> {
    let row = |rule: &BrokenRule| {
        let column = rule.column.as_deref().unwrap_or("table");
        let row = rule.row.map_or_else(String::new, |row| format!("row {}", output::count(row)));
        [output::harmless(column), rule.rule.to_owned(), row, output::harmless(&rule.found)]
    };
    out.columns(&broken.iter().map(row).collect::<Vec<_>>())?;
    let name = output::harmless(name);
    match broken.len() {
        0 => {
            let columns = output::count(rules.columns.len() as u64);
            out.line(format_args!("{name} keeps to all rules, of {columns} columns"))
        }
        1 => out.line(format_args!("{name} breaks 1 rule")),
        many => out.line(format_args!("{name} breaks {many} rules")),
    }
}

impl From<ColumnRulesText> for ColumnRules {
    fn from(text: ColumnRulesText) -> Self {
        let ColumnRulesText { column_type, min, max, not_empty, max_empty, unique, allowed } = text;
        let column_type = column_type.map(|name| match name {
            TypeName::Boolean => ColumnType::Boolean,
            TypeName::Integer => ColumnType::Integer,
            TypeName::Float => ColumnType::Float,
            TypeName::Date => ColumnType::Date,
            TypeName::Timestamp => ColumnType::Timestamp,
            TypeName::Text => ColumnType::Text,
        });
        Self { column_type, min, max, not_empty, max_empty, unique, allowed }
    }
}

impl From<TableRules> for RulesFile {
    fn from(rules: TableRules) -> Self {
        let TableRules { min_rows: min, max_rows: max, columns } = rules;
        let column = |(name, rules): (String, ColumnRules)| {
            let ColumnRules { column_type, min, max, not_empty, max_empty, unique, allowed } = rules;
            let column_type = column_type.and_then(|column_type| match column_type {
                ColumnType::Boolean => Some(TypeName::Boolean),
                ColumnType::Integer => Some(TypeName::Integer),
                ColumnType::Float => Some(TypeName::Float),
                ColumnType::Date => Some(TypeName::Date),
                ColumnType::Timestamp => Some(TypeName::Timestamp),
                ColumnType::Text => Some(TypeName::Text),
                _ => None,
            });
            (name, ColumnRulesText { column_type, min, max, not_empty, max_empty, unique, allowed })
        };
        let rows = (min.is_some() || max.is_some()).then_some(RowRules { min, max });
        Self { rows, columns: columns.into_iter().map(column).collect() }
    }
}
