//! `crivo set build --parquet-filter`: writes a table as a Parquet file with filters of its
//! columns.

use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo_rows::{ColumnFilters, Select};

use super::{Args, DEFAULT_RATE};
use crate::cmd::Outcome;
use crate::output::{self, Output};
use crate::pass::Pass;
use crate::rows_file::RowsFile;

pub(super) fn run(args: &Args, mut pass: Pass, out: &Output) -> Outcome {
    let Some(fields) = args.input.field() else {
        bail!("--parquet-filter: name the columns that get a filter: -f NAME or -f NAME,NAME");
    };
    if args.input.has_words() || args.window.is_wanted() || args.how.json {
        bail!("--parquet-filter: copies whole rows: leave out --words, --window and --json");
    }
    let Some(path) = args.sketch.only_output() else {
        bail!("--parquet-filter: makes a new Parquet file: name it with -o, such as -o visits.parquet");
    };
    let file = RowsFile::new(path, args.input.output_beside(path)?)?;
    if !file.is_parquet() {
        bail!("{}: --parquet-filter makes a Parquet file: name it .parquet", path.display());
    }
    pass.select = Select::Fields(Vec::new());
    pass.column_filters = Some(column_filters(fields, args.how.fpr)?);
    let copied = file.write_rows(&pass, out)?;
    let rows = output::rows_of(copied.kept);
    out.remark(format_args!("{rows} in {}, with filters of {fields}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the settings of column filters in a written Parquet file.
pub(crate) fn column_filters(columns: &str, rate: Option<f64>) -> Result<ColumnFilters> {
    let rate = rate.unwrap_or(DEFAULT_RATE);
    if !(rate > 0.0 && rate < 1.0) {
        bail!("--fpr {rate}: expected a share between 0 and 1, such as 1%");
    }
    Ok(ColumnFilters { columns: vec![columns.to_owned()], rate })
}
