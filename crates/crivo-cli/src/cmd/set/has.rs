//! `crivo set has`: looks up keys in a set.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use crivo_rows::ParquetFilters;
use serde::Serialize;

use crate::args::AskedKeyArgs;
use crate::cmd::Outcome;
use crate::filter::Filter;
use crate::foreign_sketch::{self, Opened};
use crate::form::FormArgs;
use crate::lookup::{Lookup, about_rate, each_key, rate_in_words};
use crate::output::{self, Cell, Form, Listing, Output};
use crate::store;

/// Ask whether keys are in a set: exit 0 if all may be, 1 if one certainly is not
///
/// The set is a filter that crivo set build made, a Bloom filter of Apache DataSketches, or a
/// Parquet file: the filters that it has of a column are asked then, and no row is read. Keys are
/// values of the column's type.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set has customers.crivo ana rui
  crivo set has seen.crivo \"$url\" || fetch \"$url\"
  crivo set has visits.parquet -f user ana")]
pub(super) struct Args {
    /// The filter, or a Parquet file with filters of its columns
    #[arg(value_name = "SKETCH")]
    sketch: PathBuf,

    /// The column to ask about, in a Parquet file
    #[arg(short, long, value_name = "NAME")]
    field: Option<String>,

    /// The keys; - reads them from standard input, one a line
    #[arg(value_name = "KEY", required = true, allow_negative_numbers = true)]
    keys: Vec<OsString>,

    #[command(flatten)]
    form: FormArgs,

    #[command(flatten)]
    kind: AskedKeyArgs,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct HasReport {
    all: bool,
    answers: Vec<Line>,
}

#[derive(Debug, Serialize)]
struct Line {
    key: String,
    /// The bytes of a key that is not text.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_hex: Option<String>,
    member: bool,
    fpr: f64,
}

pub(super) fn run(args: &Args, out: &Output) -> Outcome {
    let name = store::name_of(&args.sketch);
    if let Some(filters) = ParquetFilters::open(&args.sketch, args.field.as_deref())? {
        return ask_column(args, &filters, out);
    }
    if args.field.is_some() {
        bail!("-f: {name} is no Parquet file, and only those have columns: leave it out");
    }
    let file = match foreign_sketch::open(&args.sketch)? {
        Opened::Foreign(sketch) => {
            let lookup = Lookup::of_foreign(&sketch, &args.kind, &name)?;
            let Some(rate) = lookup.false_positive_rate else {
                bail!("{name}: is a {}, and no set: crivo ask {name} KEY", sketch.name());
            };
            return answer(args, &lookup, vec![rate_in_words(rate)], out);
        }
        Opened::Other(file) => file,
    };
    let sketch = Filter::to_ask(store::read_from(file, &args.sketch)?.sketch, &name)?.into_sketch();
    args.kind.agree_with(sketch.scheme(), &name)?;
    answer(args, &Lookup::of(&sketch, &name)?, about_rate(&sketch), out)
}

/// Looks up the keys in the filters of a column, and prints the answers.
fn ask_column(args: &Args, filters: &ParquetFilters, out: &Output) -> Outcome {
    if args.kind.are_integers().is_some() {
        bail!("--keys: the type of column '{}' says what the keys are: leave it out", filters.column());
    }
    let mut keys = Vec::new();
    each_key(&args.keys, |key| {
        keys.push(key.to_vec());
        Ok(())
    })?;
    let answers = filters.ask(&keys)?;
    let fpr = answers.false_positive_rate;
    let mut report = HasReport::default();
    keys.iter().zip(answers.members).for_each(|(key, member)| report.push(key, member, fpr));
    print(args, report, vec![rate_in_words(fpr)], out)
}

/// Looks up the keys in a set, and prints the answers.
fn answer(args: &Args, lookup: &Lookup<'_>, about_rate: Vec<String>, out: &Output) -> Outcome {
    let fpr = lookup.false_positive_rate.unwrap_or(0.0);
    let mut report = HasReport::default();
    each_key(&args.keys, |key| {
        report.push(key, lookup.ask(key)?.member.unwrap_or(false), fpr);
        Ok(())
    })?;
    print(args, report, about_rate, out)
}

impl HasReport {
    fn push(&mut self, key: &[u8], member: bool, fpr: f64) {
        self.all &= member;
        self.answers.push(Line { key: output::key_text(key), key_hex: output::key_hex(key), member, fpr });
    }
}

impl Default for HasReport {
    fn default() -> Self {
        Self { all: true, answers: Vec::new() }
    }
}

/// Prints the answers in the requested form.
fn print(args: &Args, report: HasReport, about_rate: Vec<String>, out: &Output) -> Outcome {
    let (all, fpr) = (report.all, report.answers.first().map_or(0.0, |line| line.fpr));
    let form = args.form.get();
    if form == Form::Json {
        out.json(&report)?;
    } else if form != Form::Table {
        let mut listing = Listing::named(["key", "member", "fpr"]);
        for Line { key, member, fpr, .. } in report.answers {
            listing.push([
                ("key", Cell::Text(key)),
                ("member", Cell::Yes(member)),
                ("fpr", Cell::Number(fpr)),
            ]);
        }
        out.listing(&listing, form)?;
    } else if !out.is_quiet() {
        // With `--quiet`, only the exit code is the answer.
        let words = |line: Line| (line.key, if line.member { "yes".into() } else { "no, certainly".into() });
        out.table(&report.answers.into_iter().map(words).collect::<Vec<(String, String)>>())?;
        if all && fpr > 0.0 {
            about_rate.into_iter().try_for_each(|line| out.detail(line))?;
        }
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
