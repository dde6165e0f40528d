//! `crivo joins`: finds columns of many tables that could join.
//!
//! Each file is a table. Its columns are sketched in one pass ([`tables`]), or taken from the cache
//! ([`cache`]) if the file did not change. The library searches for pairs ([`JoinSearch`]). A file
//! that cannot be read is reported, and the others are still compared.

mod answer;
mod cache;
mod page;
mod tables;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use crivo::profile::join_search::{JoinRule, JoinSearch};

use self::answer::Answer;
use self::cache::Cache;
use super::Outcome;
use crate::args::{Seeded, share};
use crate::form::FormArgs;
use crate::interrupt::{self, Interrupted};
use crate::layout_args::LayoutArgs;
use crate::output::{Form, Meter, Output};

/// Which columns of many tables could join?
///
/// Each file is a table of its own. Lists the pairs of columns of different tables where one column
/// has at least half of the other's different values, with both shares as intervals, and says which
/// column could be a key. Pairs that the samples cannot tell of are counted as undecided, and the
/// first of them are listed: no other pair is left out.
///
/// A file that cannot be read is named, and the others are compared; the exit code is 2 then.
/// Without any pair it is
/// 1. With --cache a second run reads only files that changed.
#[derive(Debug, clap::Args)]
#[command(mut_arg("field", |field| field.hide(true)))]
#[command(after_help = "\
Examples:
  crivo joins 'lake/**/*.parquet'
  crivo joins customers.csv orders.jsonl items.parquet --json
  crivo joins 'lake/**/*.csv' --cache ~/.cache/crivo --html joins.html
  crivo joins 'lake/**/*.csv' --keys --min-containment 0.9 --output tsv")]
pub(crate) struct Args {
    #[command(flatten)]
    layout: LayoutArgs,

    #[command(flatten)]
    how: JoinOptions,

    #[command(flatten)]
    seed: Seeded,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Joins")]
struct JoinOptions {
    /// The least share of one column's different values that the other must have
    #[arg(long, alias = "min", value_name = "SHARE", value_parser = share, default_value = "0.5")]
    min_containment: f64,

    /// Only pairs where one column could be a key: every row has a value of its own
    #[arg(long)]
    keys: bool,

    /// The most pairs to list; all are counted
    #[arg(long, value_name = "N", default_value = "1000000")]
    limit: usize,

    /// Keep what was found out about each file in this folder (made if it is not there), and read
    /// only files that changed; anything in it can be deleted
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,

    /// How many of a column's different values are compared; with fewer the column is known
    /// entirely. Each takes 8 bytes of memory
    #[arg(long, value_name = "N", default_value = "1024", value_parser = clap::value_parser!(u32).range(16..=65536))]
    hashes: u32,

    /// Write one page with a graph to this file, which needs no network, instead of a table
    #[arg(long, value_name = "OUT.html", conflicts_with_all = ["json", "form"])]
    html: Option<PathBuf>,

    #[command(flatten)]
    form: FormArgs,
}

/// The most undecided pairs that are listed.
const MOST_UNDECIDED: usize = 1_000;

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    if args.layout.is_standard_input() {
        bail!(
            "name the files, such as 'lake/**/*.parquet': standard input is one table, which joins nothing"
        );
    }
    if args.layout.field.is_some() {
        bail!("--field: all columns are compared");
    }
    if args.how.min_containment <= 0.0 {
        bail!("--min-containment: expected a share above 0 and at most 1");
    }
    let page = args.how.html.as_ref().map(|path| args.layout.output_beside(path)).transpose()?;
    let seed = args.seed.number()?;
    let cache = args.how.cache.as_deref().map(Cache::open).transpose()?;
    let rule = JoinRule {
        least: args.how.min_containment,
        needs_key: args.how.keys,
        most: args.how.limit,
        most_undecided: MOST_UNDECIDED,
    };
    let mut search = JoinSearch::new(rule)?;
    let read = tables::read_all(&args.layout, (args.how.hashes, seed), cache.as_ref(), &mut search, out)?;
    let meter = Meter::of_stage("comparing columns", out);
    let found = search.search_while(|done, total| {
        if done % 64 == 0 {
            meter.show_parts(done as u64, total as u64);
        }
        !interrupt::is_requested()
    });
    drop(meter);
    let found = found.ok_or(Interrupted)?;
    let answer = Answer::new(&search, &read, &found);
    match (args.how.form.get(), page) {
        (_, Some(page)) => {
            page.write(page::page(&answer).as_bytes())?;
            out.remark(format_args!("Wrote {}.", page.name()))?;
        }
        (Form::Json, None) => answer.print_json()?,
        (Form::Table, None) => answer.print(out)?,
        (form, None) => answer.print_listing(form, out)?,
    }
    if answer.is_cut() {
        out.warn(format_args!(
            "{} pairs were found, and the first {} of them are listed: --limit {} lists all",
            found.found,
            found.joins.len(),
            found.found
        ));
    }
    Ok(exit_code(&answer))
}

fn exit_code(answer: &Answer<'_>) -> ExitCode {
    if answer.has_unreadable() {
        return ExitCode::from(2);
    }
    if answer.is_empty() { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
