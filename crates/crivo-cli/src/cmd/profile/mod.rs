//! `crivo profile`: the profile of a file's columns.
//!
//! One pass, all columns, a fixed amount of memory. The pass is in [`collect`], the memory of each
//! column in [`budget`], the answers in [`answer`] and [`report`], and their display in [`table`]
//! and [`page`]. Files with the same fields are one table. Of several tables, [`joins`] finds the
//! columns that have values in common. A saved table ([`saved`]) is treated as if it were read
//! again, and [`drift`] compares another table with it.

mod answer;
mod budget;
mod collect;
mod drift;
mod expect;
mod joins;
mod missed;
pub(super) mod page;
mod report;
pub(super) mod saved;
mod separators;
mod table;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::keys::{KeyRef, KeyScheme};
use crivo::profile::expectations::{ColumnCheck, TableRules};
use crivo::profile::{TableColumnSizes, TableProfile};
use crivo_rows::{Format, RowId, Select, thread_count};

use self::budget::Budget;
use self::collect::{Column, PartialProfile, Setting};
use self::drift::DriftArgs;
use self::expect::ExpectArgs;
use self::joins::Joins;
use self::report::ProfileReport;
use self::saved::Named;
use self::separators::Separator;
use self::tables::TableSource;
use super::Outcome;
use crate::args::{InputArgs, Seeded};
use crate::form::FormArgs;
use crate::output::{self, Form, Output};
use crate::pass::Pass;
use crate::sizes::memory_size;

/// What is in this file?
///
/// Looks at every column of a table in one pass: its type, empty fields, different values, the most
/// frequent ones, least and greatest, quantiles, whether it could be a key, near-duplicate texts.
/// Files with the same fields are one table. Files with different fields are tables of their own,
/// and columns that could join them are listed.
///
/// -o saves the profile of a table. Saved profiles are looked at like files, and crivo merge joins
/// those of several days. --against compares a table with a saved one: what changed, by more than
/// chance? Exit code 1 if anything did. --expect holds every row to rules, and --write-rules makes
/// some from the table.
#[derive(Debug, clap::Args)]
// A profile is about whole values.
#[command(mut_arg("words", |words| words.hide(true)))]
#[command(after_help = "\
Examples:
  crivo profile orders.csv
  crivo profile 'logs/*.jsonl.gz' --html logs.html
  crivo profile orders.parquet customers.csv --json
  crivo profile monday.csv -o monday.crivo
  crivo merge monday.crivo tuesday.crivo -o week.crivo && crivo profile week.crivo --html week.html
  crivo profile today.csv --against week.crivo --ignore id,time
  crivo profile monday.csv --write-rules rules.toml && crivo profile today.csv --expect rules.toml")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    how: ProfileOptions,

    #[command(flatten)]
    drift: DriftArgs,

    #[command(flatten)]
    expect: ExpectArgs,

    #[command(flatten)]
    seed: Seeded,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Profile")]
struct ProfileOptions {
    /// Write one page with plots to this file, which needs no network, instead of a table
    #[arg(long, value_name = "OUT.html", conflicts_with_all = ["json", "form"])]
    html: Option<PathBuf>,

    /// Save the profile of the table to this file
    #[arg(short, value_name = "PROFILE")]
    output: Option<PathBuf>,

    /// The most memory to use, however long the file is; more makes wide tables more exact
    /// [default: 11M, and 25M for each thread; more if there are more columns than that has room
    /// for]
    #[arg(long, value_name = "SIZE", value_parser = memory_size)]
    memory: Option<u64>,

    /// Read numbers with this between thousands, such as ',': they are texts unless told
    #[arg(long, value_name = "CHARACTER")]
    thousands: Option<Separator>,

    /// Take each file for a table of its own, also where files have the same fields
    #[arg(long)]
    separate: bool,

    #[command(flatten)]
    form: FormArgs,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    if args.input.has_words() {
        bail!("--words: a profile is about whole values");
    }
    let mut files =
        args.input.used_files().and_reading(args.drift.file()).and_reading(args.expect.rules_file());
    let page = files.optional_output(args.how.html.as_ref())?;
    let destination = files.optional_output(args.how.output.as_ref())?;
    let before = args.drift.before()?;
    let rules = args.expect.rules()?;
    let rules_file = args.expect.destination(&mut files)?;
    let (mut profiles, checks) = profiles(args, rules.as_ref(), out)?;
    if let (Some(before), [(after, paths)]) = (&before, profiles.as_slice()) {
        if let Some(destination) = &destination {
            destination.write(&after.encode())?;
        }
        let name = paths.first().map_or("standard input", String::as_str);
        return args.drift.run(before, (after, name), args.how.form.get(), page.as_ref(), out);
    }
    if rules.is_some() || rules_file.is_some() {
        let [(profile, paths)] = profiles.as_slice() else {
            bail!("--expect and --write-rules: are about one table, and there are {}", profiles.len());
        };
        if let Some(destination) = &destination {
            destination.write(&profile.encode())?;
        }
        let name = paths.first().map_or("standard input", String::as_str);
        let checked = rules.as_ref().zip(checks.first());
        return args.expect.run((profile, name), checked, rules_file.as_ref(), args.how.form.get(), out);
    }
    if let Some(destination) = &destination {
        let [(profile, _)] = profiles.as_slice() else {
            bail!(
                "-o {}: a saved profile is of one table, and there are {}",
                destination.name(),
                profiles.len()
            );
        };
        destination.write(&profile.encode())?;
    }
    if before.is_some() {
        bail!("--against: compares one table, and there are {}", profiles.len());
    }
    let tables = profiles
        .drain(..)
        .map(|(profile, paths)| answer::table(&profile, paths).map_err(anyhow::Error::from));
    let tables = tables.collect::<Result<Vec<_>>>()?;
    let joins = joins::joins(&tables)?;
    let Joins { found, undecided, undecided_pairs } = joins;
    let tables = tables.into_iter().map(|(table, _)| table).collect();
    let mut report = ProfileReport { tables, joins: found, undecided, undecided_pairs };
    let form = args.how.form.get();
    if out.has_missed_rows() {
        report.allow_for_missed_rows(form, out);
    }
    if form == Form::Json {
        out.json(&report)?;
    } else if form != Form::Table {
        out.listing(&table::listing(&report), form)?;
    } else if let Some(page) = page {
        page.write(page::page(&report).as_bytes())?;
        out.remark(format_args!("Wrote {}.", page.name()))?;
    } else {
        table::print(&report, output::width(), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the profiles of all tables, first the saved ones, then those that are read, with the
/// checks of the latter.
fn profiles(
    args: &Args,
    rules: Option<&TableRules>,
    out: &Output,
) -> Result<(Vec<Named>, Vec<Vec<ColumnCheck>>)> {
    let (saved, files) = saved::split(args.input.files())?;
    if !saved.is_empty() && rules.is_some() {
        bail!("--expect: rules are checked row by row: name the file, not its saved profile");
    }
    let (mut profiles, mut checks) = (saved, Vec::new());
    if profiles.is_empty() || !files.is_empty() {
        let scheme = KeyScheme::bytes().with_seed(args.seed.number()?);
        let sources = tables::sources(&args.input, &files, args.how.separate, args.how.memory)?;
        let last = sources.len().saturating_sub(1);
        for (at, source) in sources.into_iter().enumerate() {
            let paths = source.paths.clone();
            let (profile, checked) = read(source, at == last, args, (scheme, rules), out)?;
            profiles.push((profile, paths));
            checks.push(checked);
        }
    }
    Ok((profiles, checks))
}

/// Reads a table once. With `--follow`, only the last table is followed.
fn read(
    source: TableSource,
    is_last: bool,
    args: &Args,
    (scheme, rules): (KeyScheme, Option<&TableRules>),
    out: &Output,
) -> Result<(TableProfile, Vec<ColumnCheck>)> {
    let TableSource { input, names, paths } = source;
    let mut pass = args.input.pass_of(input);
    pass.follow &= is_last;
    pass.input = pass.input.follow(pass.follow);
    let wanted = thread_count(pass.threads);
    let columns = if args.input.has_field() { 1 } else { names.len() };
    let setting = Setting {
        budget: Budget::new(args.how.memory, wanted, columns)?,
        scheme,
        separator: args.how.thousands,
        rules: rules.cloned().unwrap_or_default(),
    };
    let select = args.input.field().map_or(Select::All, Select::field);
    let (table, checks) = fold(Pass { select, ..pass }, &setting, out)?;
    if let Some(delimiter) = other_delimiter(&table, &paths, &args.input) {
        let name = paths.first().map_or("standard input", String::as_str);
        let typed = if delimiter == '\t' { "\\t".into() } else { delimiter.to_string() };
        out.warn(format_args!("{name}: one column, and '{typed}' in every row: --delimiter '{typed}'?"));
    }
    Ok((table, checks))
}

/// Reads a table once, and keeps only the data of each column that [`joins`](super::joins)
/// compares.
pub(super) fn read_for_joins(
    pass: Pass,
    sizes: TableColumnSizes,
    scheme: KeyScheme,
    out: &Output,
) -> Result<TableProfile> {
    let budget = Budget::fixed(sizes, pass.threads);
    let setting = Setting { budget, scheme, separator: None, rules: TableRules::default() };
    Ok(fold(pass, &setting, out)?.0)
}

/// Adds every batch of a pass to the profile of a table.
fn fold(pass: Pass, setting: &Setting, out: &Output) -> Result<(TableProfile, Vec<ColumnCheck>)> {
    let scheme = setting.scheme;
    let pass = Pass { threads: setting.budget.threads(), repeatable: true, numbers_rows: true, ..pass };
    let mut folded = pass.fold_rows(
        scheme,
        out,
        PartialProfile::default,
        |part, batch| part.insert(batch, setting),
        PartialProfile::merge,
    )?;
    if let Some(file) = &folded.odd_names {
        out.warn(format_args!("{file}: has another header than the first file: fields are found by name"));
    }
    let (mut columns, mut checks) = std::mem::take(&mut folded.state).finish();
    if columns.is_empty() {
        let nothing = |name: &String| Column::without_rows(name, setting, &folded.names);
        columns = folded.names.iter().map(nothing).collect::<Result<_>>()?;
    }
    // One more than the row's id.
    let row_number = |row: u64| folded.row_number(RowId::from_u64(row.saturating_sub(1))).unwrap_or(1);
    columns.iter_mut().for_each(|column| column.renumber(row_number));
    checks.iter_mut().for_each(|check| check.renumber(row_number));
    if checks.is_empty() {
        checks = setting.rules.checks();
    }
    let counts = folded.counts;
    let mut table = TableProfile::new(counts.rows - counts.left_out, scheme, columns)?;
    (table.bytes, table.bad, table.left_out) = (counts.bytes, counts.bad, counts.left_out);
    Ok((table, checks))
}

/// Returns the probable delimiter of a table that was read as a single column. It occurs in the
/// column's name and in all drawn values.
fn other_delimiter(table: &TableProfile, paths: &[String], input: &InputArgs) -> Option<char> {
    let [column] = table.columns() else { return None };
    let taken = match input.format_of(paths.first().map_or("", String::as_str)) {
        Format::Csv => ',',
        Format::Tsv => '\t',
        _ => return None,
    };
    if input.has_delimiter() || input.has_field() {
        return None;
    }
    let separates = |delimiter: &char| {
        let mut sample = column.data().profile.sample();
        // Without a header the name is a number.
        (column.name().contains(*delimiter) || column.name() == "1" && sample.len() > 0)
            && sample.all(|value| matches!(value, KeyRef::Bytes(text) if text.contains(&(*delimiter as u8))))
    };
    [';', '\t', '|', ','].into_iter().filter(|delimiter| *delimiter != taken).find(separates)
}
