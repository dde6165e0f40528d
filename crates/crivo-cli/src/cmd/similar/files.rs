//! `crivo similar files`: estimates the similarity of two streams of items, in constant space.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use crivo::similarity::MinHash;
use crivo_rows::{Counts, Input};
use serde::Serialize;

use super::super::Outcome;
use crate::args::{InputArgs, KeyArgs, share};
use crate::form::FormArgs;
use crate::output::{self, Cell, Form, Interval, Listing, Output};

/// How alike two files are, by the items they hold
///
/// Each line, or each value of a field, is an item; the similarity is the share of all different
/// items that both have (Jaccard). Memory does not grow with the files: it follows from the error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo similar files monday.txt tuesday.txt
  crivo similar files -f user a.csv b.csv --error 1%
  zcat log.gz | crivo similar files --words 3 - yesterday.txt")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    /// How far the similarity may be off, in 95 of 100 cases: 0.01 or 1%
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "2%")]
    error: f64,

    #[command(flatten)]
    form: FormArgs,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct FilesReport {
    similarity: Interval,
    rows: [u64; 2],
    skipped: [u64; 2],
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let empty = MinHash::for_bound_with_scheme(args.error, args.keys.scheme()?).context("--error")?;
    let [one, other] = args.input.files() else {
        bail!("two files are compared, and {} were named", args.input.files().len());
    };
    if one == other && one.as_os_str() == "-" {
        bail!("standard input (-) can be read only once");
    }
    let (one, first) = sketch(args, one, false, &empty, out)?;
    let (other, second) = sketch(args, other, true, &empty, out)?;
    if one.is_empty() && other.is_empty() {
        bail!("neither file has an item: there is nothing to compare");
    }
    let similarity = out.honest_within(one.similarity(&other)?, [0.0, 1.0]);
    let form = args.form.get();
    if !matches!(form, Form::Json | Form::Table) {
        let mut listing = Listing::default();
        listing.push([("similarity", Cell::Interval(similarity.into()))]);
        out.listing(&listing, form)?;
    } else if form == Form::Json {
        out.json(&FilesReport {
            similarity: similarity.into(),
            rows: [first.rows, second.rows],
            skipped: [first.skipped, second.skipped],
        })?;
    } else {
        let percent = |share: f64| output::percent(share);
        out.answer(percent(similarity.value()), "of their items in common")?;
        let (lower, upper) = (percent(similarity.lower()), percent(similarity.upper()));
        out.detail(format_args!("{lower} to {upper}, {} sure", percent(similarity.confidence().level())))?;
        let (first, second) = (output::count(first.rows), output::count(second.rows));
        let memory = output::bytes(one.memory() + other.memory());
        out.detail(format_args!("{first} and {second} rows, {memory}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the signature of one file's items. With `--follow`, only the last file is followed.
fn sketch(
    args: &Args,
    file: &PathBuf,
    is_last: bool,
    empty: &MinHash,
    out: &Output,
) -> Result<(MinHash, Counts)> {
    let mut pass = args.input.pass()?;
    pass.follow &= is_last;
    pass.input = args.input.laid_out(Input::from_args([file])?)?.follow(pass.follow);
    pass.require_keys(empty.scheme())?;
    pass.sketch(empty, empty.scheme(), out)
}
