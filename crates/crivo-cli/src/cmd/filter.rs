//! `crivo filter`: the rows that satisfy a condition.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::keys::KeyScheme;
use crivo_rows::Select;

use super::Outcome;
use super::set::column_filters;
use crate::args::{InputArgs, share};
use crate::condition::Condition;
use crate::output::{self, Output};
use crate::rows_file::RowsFile;

/// Print the rows that satisfy a condition, after the header
///
/// Rows are copied as they stand, byte for byte and in their order. The name of the file after -o
/// may choose another format (.csv, .tsv, .jsonl, .parquet) and compression (.gz, .zst, .xz).
/// Numbers and truth values of JSON and Parquet stay what they are; values of CSV, TSV and lines
/// are texts, as they stand in the input. The exit code is 1 if no row satisfies the condition.
///
/// Conditions are those of crivo count --help: status >= 500, url ~ ^/api, country in (PT, BR),
/// note is empty, joined by 'and', 'or' and 'not'. 'true' keeps every row, to convert a file.
#[derive(Debug, clap::Args)]
// The condition names its fields, and rows are copied whole.
#[command(mut_arg("words", |words| words.hide(true)), mut_arg("field", |field| field.hide(true)))]
#[command(after_help = "\
Examples:
  crivo filter 'status >= 500' access.csv
  crivo filter 'country in (PT, BR) and note is not empty' orders.parquet -o some.csv.gz
  crivo filter true visits.csv -o visits.parquet --parquet-filter user,page")]
pub(crate) struct Args {
    /// What rows must satisfy, such as 'status >= 500 and method = GET'
    #[arg(value_name = "EXPRESSION")]
    expression: Expression,

    #[command(flatten)]
    input: InputArgs,

    /// Write the rows to this file, whose name may choose another format
    #[arg(short, value_name = "OUT", help_heading = "Output")]
    output: Option<PathBuf>,

    /// Give these columns of a written Parquet file a filter, with which engines skip row groups
    /// that lack a value
    #[arg(long, value_name = "NAME[,NAME]", help_heading = "Output")]
    parquet_filter: Option<String>,

    /// The share of absent values that such a filter may take for members: 0.01 or 1% [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = share, requires = "parquet_filter", help_heading = "Output")]
    fpr: Option<f64>,
}

/// A condition, or every row.
#[derive(Debug, Clone)]
struct Expression(Option<Condition>);

impl std::str::FromStr for Expression {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().eq_ignore_ascii_case("true") {
            return Ok(Self(None));
        }
        text.parse().map(|condition| Self(Some(condition)))
    }
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    if args.input.has_words() || args.input.has_field() {
        bail!("-f and --words: rows are copied whole, and the condition names the fields it needs");
    }
    let mut pass = args.input.pass()?;
    pass.condition = match (pass.condition.take(), args.expression.0.clone()) {
        (Some(_), Some(_)) => bail!("--where: the first argument is the condition: join the two with 'and'"),
        (given, expression) => expression.or(given),
    };
    pass.select = Select::Fields(Vec::new());
    let file = match &args.output {
        Some(path) => Some(RowsFile::new(path, args.input.output_beside(path)?)?),
        None => None,
    };
    if let Some(columns) = &args.parquet_filter {
        if !file.as_ref().is_some_and(RowsFile::is_parquet) {
            bail!(
                "--parquet-filter: filters of columns are part of Parquet files: name one with -o, such as -o some.parquet"
            );
        }
        pass.column_filters = Some(column_filters(columns, args.fpr)?);
    }
    let copied = match &file {
        None => pass.copy_all(KeyScheme::bytes(), out, &mut output::rows())?,
        Some(file) => file.write_rows(&pass, out)?,
    };
    let kept = copied.kept;
    if let Some(path) = &args.output {
        out.remark(format_args!("{} in {}", output::rows_of(kept), path.display()))?;
    }
    Ok(if kept > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
