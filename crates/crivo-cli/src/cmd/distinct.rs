//! `crivo distinct`: how many different values?

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use crivo::Estimate;
use crivo::codec::AnySketch;
use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;
use crivo::sketch::Merge;
use crivo_rows::{Counts, Items};
use serde::Serialize;

use super::Outcome;
use crate::args::{InputArgs, KeyArgs, OnFull, share};
use crate::output::{self, Interval, Output};
use crate::pass::Pass;
use crate::store::{self, Destination};

/// An error of 0.8 % in 16 KiB.
const DEFAULT_PRECISION: u8 = 14;

/// How many different values?
///
/// Counts the different values of a field, or the different lines, in one pass and a few kilobytes,
/// and says how far off the answer can be. Small counts are exact.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo distinct -f user visits.csv.gz
  crivo distinct --error 0.3% 'logs/*.jsonl' -f ip --json
  crivo distinct -f user monday.csv --into users.crivo")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: How,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Counting")]
#[allow(clippy::struct_excessive_bools)] // each is a switch the user types
struct How {
    /// How to count [default: hll]
    #[arg(long, value_enum)]
    method: Option<Method>,

    /// The standard error to aim for: 0.01 or 1% [default: 0.8%]
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "precision")]
    error: Option<f64>,

    /// The size instead: 2^P registers of one byte, P from 4 to 18
    #[arg(long, value_name = "P")]
    precision: Option<u8>,

    /// Count exactly in a second pass, and say whether the bounds hold
    #[arg(long, conflicts_with = "into")]
    verify: bool,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,

    /// Write the sketch to this file
    #[arg(short, long, value_name = "SKETCH")]
    output: Option<PathBuf>,

    /// Continue the sketch in this file (made if it is not there), and write it back or to -o
    #[arg(long, value_name = "SKETCH")]
    into: Option<PathBuf>,

    /// What to do when the sketch is too full to give an upper bound
    #[arg(long, value_enum, value_name = "WHAT", default_value = "warn")]
    on_full: OnFull,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Method {
    /// HyperLogLog: small, merges exactly, exact while small
    Hll,
    /// Every different value in memory
    Exact,
}

impl Method {
    /// As `--method` and the JSON have it.
    fn name(self) -> &'static str {
        match self {
            Self::Hll => "hll",
            Self::Exact => "exact",
        }
    }
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct Report {
    rows: u64,
    skipped: u64,
    bad: u64,
    distinct: Interval,
    method: &'static str,
    bytes: usize,
    #[serde(flatten)]
    verified: Option<Verified>,
}

#[derive(Debug, Serialize)]
struct Verified {
    exact: u64,
    covered: bool,
}

/// What was counted.
struct Counted {
    estimate: Estimate,
    counts: Counts,
    memory: usize,
    scheme: KeyScheme,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let Args { input, how, .. } = args;
    let pass = input.pass()?;
    if how.verify && !pass.input.is_rereadable() {
        bail!(
            "--verify reads the input twice, and standard input or a pipe can be read only once: save it to a file first"
        );
    }
    let method = how.method.unwrap_or(Method::Hll);
    let counted = match method {
        Method::Exact => count_exactly(args, &pass, out)?,
        Method::Hll => count_with_sketch(args, &pass, out)?,
    };
    let verified = if how.verify { Some(verify(&pass, &counted, out)?) } else { None };
    if how.json {
        out.json(&Report {
            rows: counted.counts.rows,
            skipped: counted.counts.skipped,
            bad: counted.counts.bad,
            distinct: counted.estimate.into(),
            method: method.name(),
            bytes: counted.memory,
            verified,
        })?;
    } else {
        print(method, &counted, verified.as_ref(), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn count_exactly(args: &Args, pass: &Pass, out: &Output) -> Result<Counted> {
    let How { output, into, error, precision, .. } = &args.how;
    if let Some(path) = output.as_ref().or(into.as_ref()) {
        bail!(
            "{}: --method exact keeps every value and has no sketch to write: use --method hll",
            path.display()
        );
    }
    if error.is_some() || precision.is_some() {
        bail!("--error and --precision: --method exact has neither");
    }
    let scheme = args.keys.scheme()?;
    pass.require_keys(scheme)?;
    let (keys, counts) = pass.exact(scheme, out)?;
    Ok(Counted { estimate: Estimate::exact(keys.len() as f64), counts, memory: keys.memory(), scheme })
}

fn count_with_sketch(args: &Args, pass: &Pass, out: &Output) -> Result<Counted> {
    let How { output, into, on_full, .. } = &args.how;
    let continued = match into {
        Some(path) if path.exists() => Some(open_to_continue(args, path)?),
        _ => None,
    };
    let empty = empty_sketch(args, continued.as_ref())?;
    let scheme = empty.scheme();
    pass.require_keys(scheme)?;
    let destination = output.as_deref().or(into.as_deref()).map(Destination::new).transpose()?;

    let (sketch, counts) = pass.sketch(&empty, scheme, out)?;
    let is_fresh = continued.is_none();
    let mut sketch = AnySketch::HyperLogLog(sketch);
    if let Some(before) = continued {
        sketch.merge(&AnySketch::HyperLogLog(before))?;
    }
    let summary = sketch.summary();
    let mut estimate = summary.items;
    if is_fresh && pass.items == Items::Values {
        estimate = estimate.limited_to(0.0, (counts.rows - counts.skipped) as f64);
    }
    if estimate.upper().is_infinite() {
        let message =
            "the sketch is full: the answer is only a lower bound (a larger --precision reaches further)";
        match on_full {
            OnFull::Warn => out.warn(message),
            OnFull::Fail => bail!("{message}"),
        }
    }
    if let Some(destination) = destination {
        destination.write(&sketch.encode())?;
    }
    Ok(Counted { estimate, counts, memory: summary.memory, scheme })
}

/// The sketch in the file, if it can go on with what was asked for.
fn open_to_continue(args: &Args, path: &Path) -> Result<HyperLogLog> {
    let name = store::name_of(path);
    let sketch = match store::read(path)?.sketch {
        AnySketch::HyperLogLog(sketch) => sketch,
        other => bail!("{name}: --into continues a HyperLogLog, and this is a {}", other.family()),
    };
    args.keys.agree_with(sketch.scheme(), &name)?;
    let found = sketch.precision();
    if let Some(precision) = args.how.precision.filter(|asked| *asked != found) {
        bail!("--precision {precision}: the precision of {name} is {found}, and it can only be continued so");
    }
    if let Some(error) = args.how.error {
        let asked = HyperLogLog::precision_for(error)?;
        if asked != found {
            bail!(
                "--error {error} takes precision {asked}: that of {name} is {found}, and it can only be continued so"
            );
        }
    }
    Ok(sketch)
}

/// A sketch with nothing in it, of the size that was asked for or that the continued one has.
fn empty_sketch(args: &Args, continued: Option<&HyperLogLog>) -> Result<HyperLogLog> {
    if let Some(sketch) = continued {
        return Ok(HyperLogLog::with_scheme(sketch.precision(), sketch.scheme())?);
    }
    let precision = match (args.how.error, args.how.precision) {
        (Some(error), _) => HyperLogLog::precision_for(error).context("--error")?,
        (None, precision) => precision.unwrap_or(DEFAULT_PRECISION),
    };
    HyperLogLog::with_scheme(precision, args.keys.scheme()?).context("--precision")
}

fn verify(pass: &Pass, counted: &Counted, out: &Output) -> Result<Verified> {
    let (keys, counts) = pass.exact(counted.scheme, out)?;
    if counts.rows != counted.counts.rows {
        bail!(
            "--verify: the input changed between the passes ({} rows, then {})",
            output::count(counted.counts.rows),
            output::count(counts.rows)
        );
    }
    Ok(Verified { exact: keys.len(), covered: counted.estimate.covers(keys.len() as f64) })
}

fn print(method: Method, counted: &Counted, verified: Option<&Verified>, out: &Output) -> Result<()> {
    let Counted { estimate, counts, memory, .. } = counted;
    let is_bounded = estimate.upper().is_finite();
    let what = match (estimate.is_exact(), is_bounded) {
        (true, _) => "different, exactly",
        (false, true) => "different, approximately",
        (false, false) => "different",
    };
    out.answer(output::estimate(*estimate), what)?;
    if !estimate.is_exact() && is_bounded {
        let sure = output::percent(estimate.confidence().level());
        // Outwards, so that the rounded bounds hold no less.
        let lower = Estimate::exact(estimate.lower().floor());
        let upper = Estimate::exact(estimate.upper().ceil());
        out.detail(format_args!("{lower} to {upper}, {sure} sure"))?;
    }
    if let Some(Verified { exact, covered }) = verified {
        let judgement = if *covered { "inside the bounds" } else { "outside the bounds" };
        out.detail(format_args!("{} exactly, {judgement}", output::count(*exact)))?;
    }
    let bad = if counts.bad > 0 { format!(", {} bad", output::count(counts.bad)) } else { String::new() };
    let (rows, skipped) = (output::count(counts.rows), output::count(counts.skipped));
    let unit = if counts.rows == 1 { "row" } else { "rows" };
    out.detail(format_args!("{rows} {unit}, {skipped} skipped{bad}"))?;
    out.detail(format_args!("{}, {}", method.name(), output::bytes(*memory)))
}
