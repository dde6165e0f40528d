//! `crivo profile`: what is in this file?
//!
//! One pass, all columns, a fixed amount of memory. The pass is in [`collect`], what each column may take in [`budget`],
//! what is told in [`answer`] and [`report`], and how it looks in [`table`] and [`page`]. Files with the same fields
//! are one table; of several tables [`joins`] says which columns hold each other's values.

mod answer;
mod budget;
mod collect;
mod joins;
mod page;
mod report;
mod separators;
mod table;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::keys::KeyScheme;
use crivo_near::thread_count;
use crivo_rows::{Format, RowId, Select};

use self::answer::Facts;
use self::budget::Budget;
use self::collect::{Column, Part, Setting};
use self::joins::{Joins, Keyed};
use self::report::{Report, TableReport};
use self::separators::Separator;
use self::tables::Source;
use super::Outcome;
use crate::args::{InputArgs, Seeded};
use crate::corpus::memory_size;
use crate::form::FormArgs;
use crate::output::{self, Form, Output};
use crate::pass::Pass;

/// What is in this file?
///
/// Looks at every column of a table in one pass: its type, empty fields, different values, the most frequent ones, least
/// and greatest, quantiles, whether it could be a key, near-duplicate texts. Files with the same fields are one table.
/// Files with different fields are tables of their own, and columns that could join them are listed.
#[derive(Debug, clap::Args)]
// A profile is about whole values.
#[command(mut_arg("words", |words| words.hide(true)))]
#[command(after_help = "\
Examples:
  crivo profile orders.csv
  crivo profile 'logs/*.jsonl.gz' --html logs.html
  crivo profile orders.parquet customers.csv --json")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    how: How,

    #[command(flatten)]
    seed: Seeded,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Profile")]
struct How {
    /// Write one page with plots to this file, which needs no network, instead of a table
    #[arg(long, value_name = "OUT.html", conflicts_with_all = ["json", "form"])]
    html: Option<PathBuf>,

    /// The most memory to use, however long the file is; more makes wide tables more exact
    /// [default: 11M, and 21M for each thread; more if there are more columns than that has room for]
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
    let page = args.how.html.as_ref().map(|path| args.input.output_beside(path)).transpose()?;
    let sources = tables::sources(&args.input, args.how.separate, args.how.memory)?;
    let scheme = KeyScheme::bytes().with_seed(args.seed.number()?);
    let tables =
        sources.into_iter().map(|source| read(source, args, scheme, out)).collect::<Result<Vec<_>>>()?;
    let joins = joins::joins(&tables)?;
    let Joins { found, undecided, undecided_pairs } = joins;
    let tables = tables.into_iter().map(|(table, _)| table).collect();
    let report = Report { tables, joins: found, undecided, undecided_pairs };
    let form = args.how.form.get();
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

/// Reads a table once.
fn read(source: Source, args: &Args, scheme: KeyScheme, out: &Output) -> Result<Keyed> {
    let Source { input, names, paths } = source;
    let pass = args.input.pass_of(input);
    let wanted = thread_count(pass.threads);
    let columns = if args.input.has_field() { 1 } else { names.len() };
    let setting = Setting {
        budget: Budget::new(args.how.memory, wanted, columns)?,
        scheme,
        separator: args.how.thousands,
    };
    let pass = Pass {
        select: args.input.field().map_or(Select::All, Select::field),
        threads: setting.budget.threads(),
        repeatable: true,
        numbers_rows: true,
        ..pass
    };
    let mut folded =
        pass.fold_rows(scheme, out, Part::default, |part, batch| part.insert(batch, &setting), Part::merge)?;
    if let Some(file) = &folded.odd_header {
        out.warn(format_args!("{file}: has another header than the first file: fields are found by name"));
    }
    let seen = folded.counts.rows - folded.counts.left_out;
    let mut columns = std::mem::take(&mut folded.state).finish(seen);
    if columns.is_empty() {
        let nothing = |name: &String| Column::without_rows(name, &setting, &folded.names);
        columns = folded.names.iter().map(nothing).collect::<Result<_>>()?;
    }
    let row_number = |id: RowId| folded.row_number(id).unwrap_or(0);
    let facts = Facts { counts: folded.counts, paths, row_number: &row_number };
    let (table, joined) = answer::table(columns, &facts)?;
    if let Some(delimiter) = other_delimiter(&table, &args.input) {
        let name = &table.name;
        let typed = if delimiter == '\t' { "\\t".into() } else { delimiter.to_string() };
        out.warn(format_args!("{name}: one column, and '{typed}' in every row: --delimiter '{typed}'?"));
    }
    Ok((table, joined))
}

/// What seems to stand between fields, where everything is one: it is in the name and in all values that were drawn.
fn other_delimiter(table: &TableReport, input: &InputArgs) -> Option<char> {
    let [column] = table.columns.as_slice() else { return None };
    let taken = match input.format_of(table.paths.first().map_or("", String::as_str)) {
        Format::Csv => ',',
        Format::Tsv => '\t',
        _ => return None,
    };
    if input.has_delimiter() || input.has_field() {
        return None;
    }
    let separates = |delimiter: &char| {
        // Without a header the name is a number.
        (column.name.contains(*delimiter) || column.name == "1" && !column.sample.is_empty())
            && column.sample.iter().all(|value| value.contains(*delimiter))
    };
    [';', '\t', '|', ','].into_iter().filter(|delimiter| *delimiter != taken).find(separates)
}
