//! `crivo profile --against`: compares a table with a saved profile.

mod page;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::profile::TableProfile;
use crivo::profile::drift::{Change, ChangeKind, ChangeValue, DriftRule, TableDrift};
use serde::Serialize;

use super::saved;
use crate::args::share;
use crate::cmd::Outcome;
use crate::output::{self, Cell, Form, Listing, Output};
use crate::store::{self, Destination};

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Drift")]
pub(super) struct DriftArgs {
    /// Compare the table with this saved profile: what changed by more than chance? Exit code 1 if
    /// anything did
    #[arg(long, value_name = "PROFILE")]
    against: Option<PathBuf>,

    /// Leave these columns out of the comparison: a,b
    #[arg(long, value_name = "COLUMN", value_delimiter = ',', requires = "against")]
    ignore: Vec<String>,

    /// Leave smaller changes out: 0.02 or 2% of a share or a distribution
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "against")]
    min_effect: Option<f64>,
}

/// The profile to compare with, and its name.
#[derive(Debug)]
pub(super) struct Before {
    profile: TableProfile,
    name: String,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct DriftReport<'a> {
    drift: bool,
    columns: Vec<ColumnReport<'a>>,
    added: &'a [String],
    removed: &'a [String],
    /// The number of checks that share the level of significance.
    checks: usize,
    rows: [u64; 2],
}

#[derive(Debug, Serialize)]
struct ColumnReport<'a> {
    name: &'a str,
    drift: bool,
    changes: Vec<ChangeReport<'a>>,
}

#[derive(Debug, Serialize)]
struct ChangeReport<'a> {
    what: &'static str,
    /// The value or the kind of values that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    before: Side<'a>,
    after: Side<'a>,
    effect: f64,
    p: f64,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Side<'a> {
    Number(f64),
    Text(&'a str),
}

impl<'a> From<&'a ChangeValue> for Side<'a> {
    fn from(value: &'a ChangeValue) -> Self {
        match value {
            ChangeValue::Number(number) | ChangeValue::Share(number) => Self::Number(*number),
            ChangeValue::Text(text) => Self::Text(text),
        }
    }
}

impl DriftArgs {
    /// The file of the profile to compare with.
    pub(super) fn file(&self) -> Option<&PathBuf> {
        self.against.as_ref()
    }

    /// Opens the profile to compare with, before any input is read.
    pub(super) fn before(&self) -> Result<Option<Before>> {
        let Some(path) = &self.against else { return Ok(None) };
        Ok(Some(Before { profile: saved::open(path)?, name: store::name_of(path) }))
    }

    /// Compares the tables, and prints what changed.
    pub(super) fn run(
        &self,
        before: &Before,
        (after, name): (&TableProfile, &str),
        form: Form,
        page: Option<&Destination>,
        out: &Output,
    ) -> Outcome {
        let is_known = |column: &String| {
            let mut all = before.profile.columns().iter().chain(after.columns());
            all.any(|known| known.name() == column)
        };
        if let Some(unknown) = self.ignore.iter().find(|column| !is_known(column)) {
            let names = after.columns().iter().map(crivo::profile::TableColumn::name);
            let hint = crivo_rows::suggestion(unknown, names);
            bail!("--ignore {unknown}: neither table has such a column{hint}");
        }
        if before.profile.rows() == 0 || after.rows() == 0 {
            let empty = if after.rows() == 0 { name } else { &before.name };
            out.warn(format_args!("{empty}: has no rows, so that only the columns are compared"));
        }
        let rule = DriftRule { min_effect: self.min_effect.unwrap_or(0.0), ..DriftRule::default() };
        let drift = TableDrift::between(&before.profile, after, &rule, |column| {
            self.ignore.iter().any(|ignored| ignored == column)
        });
        if let Some(page) = page {
            page.write(page::page(&drift, before, (after, name)).as_bytes())?;
            out.remark(format_args!("Wrote {}.", page.name()))?;
        } else {
            match form {
                Form::Json => out.json(&report(&drift, before, after))?,
                Form::Table => print(&drift, before, name, out)?,
                form => out.listing(&listing(&drift), form)?,
            }
        }
        Ok(if drift.has_drifted() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

fn report<'a>(drift: &'a TableDrift, before: &Before, after: &TableProfile) -> DriftReport<'a> {
    let change = |change: &'a Change| ChangeReport {
        what: change.what.name(),
        value: change.about.as_deref(),
        before: Side::from(&change.before),
        after: Side::from(&change.after),
        effect: change.effect,
        p: change.p,
    };
    let columns = drift.columns.iter().map(|column| ColumnReport {
        name: &column.name,
        drift: !column.changes.is_empty(),
        changes: column.changes.iter().map(change).collect(),
    });
    DriftReport {
        drift: drift.has_drifted(),
        columns: columns.collect(),
        added: &drift.added,
        removed: &drift.removed,
        checks: drift.checks,
        rows: [before.profile.rows(), after.rows()],
    }
}

/// Returns one row for each change, for programs.
fn listing(drift: &TableDrift) -> Listing {
    const NAMES: [&str; 7] = ["column", "what", "value", "before", "after", "effect", "p"];
    let mut listing = Listing::named(NAMES);
    let cell = |value: &ChangeValue| match value {
        ChangeValue::Number(number) | ChangeValue::Share(number) => Cell::Number(*number),
        ChangeValue::Text(text) => Cell::Text(text.clone()),
    };
    for column in &drift.columns {
        for change in &column.changes {
            let cells = [
                Cell::Text(column.name.clone()),
                Cell::Text(change.what.name().into()),
                Cell::of_text(change.about.clone()),
                cell(&change.before),
                cell(&change.after),
                Cell::Number(change.effect),
                Cell::Number(change.p),
            ];
            listing.push(NAMES.into_iter().zip(cells));
        }
    }
    for (what, names) in [("added", &drift.added), ("removed", &drift.removed)] {
        for name in names {
            let mut cells = vec![Cell::Text(name.clone()), Cell::Text(what.into())];
            cells.extend([const { Cell::Unknown }; 5]);
            listing.push(NAMES.into_iter().zip(cells));
        }
    }
    listing
}

fn print(drift: &TableDrift, before: &Before, name: &str, out: &Output) -> Result<()> {
    let mut rows: Vec<[String; 3]> = Vec::new();
    for column in &drift.columns {
        for (at, change) in column.changes.iter().enumerate() {
            let named = if at == 0 { output::harmless(&column.name) } else { String::new() };
            rows.push([named, about(change), sides(change)]);
        }
    }
    for (what, names) in [("added", &drift.added), ("removed", &drift.removed)] {
        rows.extend(names.iter().map(|column| [output::harmless(column), what.into(), String::new()]));
    }
    out.columns(&rows)?;
    let changed = drift.columns.iter().filter(|column| !column.changes.is_empty()).count();
    let verdict = if drift.has_drifted() {
        let numbers = [(changed, "changed"), (drift.added.len(), "added"), (drift.removed.len(), "removed")];
        let parts = numbers.iter().filter(|(number, _)| *number > 0).map(|(number, what)| {
            format!("{number} {} {what}", if *number == 1 { "column" } else { "columns" })
        });
        parts.collect::<Vec<_>>().join(", ")
    } else {
        "nothing changed by more than chance".into()
    };
    let name = output::harmless(name);
    out.line(format_args!("{name} against {}: {verdict}", output::harmless(&before.name)))?;
    let checks = output::count(drift.checks as u64);
    out.detail(format_args!("{checks} checks, at most 1 % chance that any of them is wrong about a change"))
}

/// Returns the changed property in words.
fn about(change: &Change) -> String {
    match (&change.about, change.what) {
        (Some(kind), ChangeKind::Kinds) => format!("share of values that are {kind}"),
        (Some(value), ChangeKind::Frequent | ChangeKind::New | ChangeKind::Vanished) => {
            format!("{} '{}'", change.what.name(), output::harmless(shortened(value)))
        }
        _ => change.what.name().into(),
    }
}

fn shortened(value: &str) -> String {
    let mut short: String = value.chars().take(30).collect();
    if short.len() < value.len() {
        short.push('…');
    }
    short
}

/// Returns the old and the new state, and the size of the difference.
fn sides(change: &Change) -> String {
    let shown = |value: &ChangeValue| match value {
        ChangeValue::Number(number) => output::number(*number),
        ChangeValue::Share(share) => output::percent(*share),
        ChangeValue::Text(text) => text.clone(),
    };
    let effect = match change.what {
        ChangeKind::Distribution => format!(", {} of all ranks apart", output::percent(change.effect)),
        ChangeKind::Least | ChangeKind::Greatest => {
            format!(", {} lie beyond", output::percent(change.effect))
        }
        _ => String::new(),
    };
    format!("{} → {}{effect}", shown(&change.before), shown(&change.after))
}
