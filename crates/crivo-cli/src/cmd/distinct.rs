//! `crivo distinct`: how many different values?

mod method;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use crivo::Estimate;
use crivo::codec::{AnySketch, Summary};
use crivo::keys::KeyScheme;
use crivo::sketch::Merge;
use crivo_rows::{Counts, Items};
use serde::Serialize;

use self::method::Method;
use super::Outcome;
use crate::args::{InputArgs, KeyArgs, OnFull, share};
use crate::output::{self, Interval, Output};
use crate::pass::Pass;
use crate::store::Destination;

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

/// What was counted, and where it is to be written.
struct Counted {
    method: Method,
    estimate: Estimate,
    counts: Counts,
    memory: usize,
    scheme: KeyScheme,
    unwritten: Option<(Destination, AnySketch)>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let Args { input, how, .. } = args;
    let pass = input.pass()?;
    if how.verify && !pass.input.is_rereadable() {
        bail!(
            "--verify reads the input twice, and standard input or a pipe can be read only once: \
             save it to a file first"
        );
    }
    let counted = match how.method {
        Some(Method::Exact) => count_exactly(args, &pass, out)?,
        _ => count_with_sketch(args, &pass, out)?,
    };
    let verified = if how.verify { Some(verify(&pass, &counted, out)?) } else { None };
    if let Some((destination, sketch)) = &counted.unwritten {
        destination.write(&sketch.encode())?;
    }
    if how.json {
        out.json(&Report {
            rows: counted.counts.rows,
            skipped: counted.counts.skipped,
            bad: counted.counts.bad,
            distinct: counted.estimate.into(),
            method: counted.method.name(),
            bytes: counted.memory,
            verified,
        })?;
    } else {
        print(&counted, verified.as_ref(), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn count_exactly(args: &Args, pass: &Pass, out: &Output) -> Result<Counted> {
    let How { output, into, error, precision, .. } = &args.how;
    if output.is_some() || into.is_some() {
        bail!("--method exact keeps every value and has no sketch to write: use --method hll");
    }
    if error.is_some() || precision.is_some() {
        bail!("--method exact has neither --error nor --precision: use --method hll");
    }
    let scheme = args.keys.scheme()?;
    pass.require_keys(scheme)?;
    let (keys, counts) = pass.exact(scheme, out)?;
    Ok(Counted {
        method: Method::Exact,
        estimate: Estimate::exact(keys.len() as f64),
        counts,
        memory: keys.memory(),
        scheme,
        unwritten: None,
    })
}

fn count_with_sketch(args: &Args, pass: &Pass, out: &Output) -> Result<Counted> {
    let How { output, into, on_full, .. } = &args.how;
    let (method, empty, before) = match into {
        Some(path) if path.exists() => {
            let (method, sketch) = method::open_to_continue(path, args)?;
            (method, method::emptied(&sketch)?, Some(sketch))
        }
        _ => {
            let method = args.how.method.unwrap_or(Method::Hll);
            (method, method::new_sketch(method, args)?, None)
        }
    };
    pass.require_keys(empty.summary().scheme)?;
    let destination = match output.as_deref().or(into.as_deref()) {
        Some(path) => Some(args.input.output_beside(path)?),
        None => None,
    };

    let (mut sketch, counts) = method::add_rows(pass, empty, out)?;
    let is_fresh = before.is_none();
    if let Some(before) = before {
        sketch.merge(&before)?;
    }
    let Summary { items: mut estimate, scheme, memory, .. } = sketch.summary();
    if is_fresh && pass.items == Items::Values {
        estimate = estimate.limited_to(0.0, counts.rows.saturating_sub(counts.skipped) as f64);
    }
    if estimate.upper().is_infinite() {
        let message = "the sketch is full, the answer only a lower bound: a larger one reaches further";
        match on_full {
            OnFull::Warn => out.warn(message),
            OnFull::Fail => bail!("{message}"),
        }
    }
    let unwritten = destination.map(|destination| (destination, sketch));
    Ok(Counted { method, estimate, counts, memory, scheme, unwritten })
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

fn print(counted: &Counted, verified: Option<&Verified>, out: &Output) -> Result<()> {
    let Counted { method, estimate, counts, memory, .. } = counted;
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
