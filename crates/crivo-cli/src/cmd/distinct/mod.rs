//! `crivo distinct`: the number of different values.

pub(crate) mod groups;
mod interchange;
mod method;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use crivo::Estimate;
use crivo::codec::{AnySketch, Summary};
use crivo::keys::KeyScheme;
use crivo_rows::{Counts, RowBatch};
use serde::Serialize;

use self::method::Method;
use super::Outcome;
use crate::args::{Continued, InputArgs, KeyArgs, OnFull, SketchArgs, share, whole};
use crate::every::{EveryArgs, fold_showing};
use crate::filter;
use crate::form::FormArgs;
use crate::groups::GroupArgs;
use crate::output::{self, Cell, Form, Interval, Listing, Output};
use crate::pass::Pass;
use crate::store::Destination;
use crate::window::{self, Covered, WindowArgs};

/// How many different values?
///
/// Counts the different values of a field, or the different lines, in one pass and a few kilobytes,
/// and says how far off the answer can be. Small counts are exact.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo distinct -f user visits.csv.gz
  crivo distinct --error 0.3% 'logs/*.jsonl' -f ip --json
  crivo distinct --method ull --precision 12 access.log --verify
  crivo distinct --method ull --history -f user visits.csv
  crivo distinct -f user --by country visits.csv
  crivo distinct -f user monday.csv --into users.crivo
  crivo distinct -f user monday.csv --output csv
  crivo distinct -f user visits.parquet --interchange hll -o users.bin
  crivo distinct -f user --window 24h --time-field time --follow visits.jsonl")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: DistinctOptions,

    #[command(flatten)]
    groups: GroupArgs,

    #[command(flatten)]
    sketch: SketchArgs,

    #[command(flatten)]
    window: WindowArgs,

    #[command(flatten)]
    every: EveryArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Counting")]
struct DistinctOptions {
    /// How to count [default: hll]
    #[arg(long, value_enum)]
    method: Option<Method>,

    /// The standard error to aim for: 0.01 or 1% [default: 0.8%]
    #[arg(long, value_name = "SHARE", value_parser = share, conflicts_with = "precision")]
    error: Option<f64>,

    /// The size instead: 2^P registers (hll, ull, loglog), smallest hashes (kmv) or bits (linear)
    #[arg(long, value_name = "P")]
    precision: Option<u8>,

    /// How many different values there are at most, for --method linear [default: 10 million]
    #[arg(long, value_name = "N", value_parser = whole)]
    items: Option<u64>,

    /// Also use the order in which values come, for a fifth less error in the same memory (hll,
    /// ull): reads with one thread, and a merge ends it
    #[arg(long, conflicts_with_all = ["interchange", "window", "by"])]
    history: bool,

    /// Write the bytes of Apache DataSketches to -o, for Spark, Druid and others, instead of a
    /// crivo sketch
    #[arg(long, value_enum, value_name = "FORM")]
    interchange: Option<interchange::Form>,

    /// Count exactly in a second pass, and say whether the bounds hold
    #[arg(long, conflicts_with = "into")]
    verify: bool,

    #[command(flatten)]
    form: FormArgs,

    /// What to do when the sketch is too full to give an upper bound
    #[arg(long, value_enum, value_name = "WHAT", default_value = "warn")]
    on_full: OnFull,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct DistinctReport {
    rows: u64,
    skipped: u64,
    left_out: u64,
    bad: u64,
    distinct: Interval,
    method: &'static str,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Covered>,
    #[serde(flatten)]
    verified: Option<Verified>,
}

#[derive(Debug, Serialize)]
struct Verified {
    exact: u64,
    covered: bool,
}

impl DistinctReport {
    fn listing(&self) -> Listing {
        let mut row = vec![
            ("distinct", Cell::Interval(self.distinct)),
            ("rows", Cell::Whole(self.rows)),
            ("skipped", Cell::Whole(self.skipped)),
            ("left_out", Cell::Whole(self.left_out)),
            ("bad", Cell::Whole(self.bad)),
            ("method", Cell::Text(self.method.into())),
            ("bytes", Cell::Whole(self.bytes as u64)),
        ];
        if let Some(Verified { exact, covered }) = self.verified {
            row.extend([("exact", Cell::Whole(exact)), ("covered", Cell::Yes(covered))]);
        }
        let mut listing = Listing::default();
        listing.push(row);
        listing
    }
}

/// The result, and the file that is not yet written.
struct Counted {
    method: &'static str,
    estimate: Estimate,
    counts: Counts,
    memory: usize,
    scheme: KeyScheme,
    window: Option<Covered>,
    unwritten: Option<(Destination, Vec<u8>)>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let Args { input, how, .. } = args;
    let mut pass = input.pass()?;
    if let Some(by) = args.groups.by() {
        return groups::run(args, &mut pass, by, out);
    }
    if how.verify {
        pass.require_twice("--verify")?;
    }
    if args.every.interval().is_some() && (args.window.is_wanted() || how.interchange.is_some()) {
        bail!("--every: neither --window nor --interchange answer before the end");
    }
    let counted = match (how.interchange, how.method) {
        (Some(form), _) => interchange::count(form, args, &pass, out)?,
        _ if args.window.is_wanted() => count_in_window(args, &mut pass, out)?,
        (_, Some(Method::Exact)) if !args.sketch.is_wanted() && args.every.interval().is_none() => {
            count_exactly(args, &pass, out)?
        }
        _ => count_with_sketch(args, &pass, out)?,
    };
    let verified = if how.verify { Some(verify(&pass, &counted, out)?) } else { None };
    if let Some((destination, bytes)) = &counted.unwritten {
        destination.write(bytes)?;
    }
    report(args, counted, verified, out)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the answer in the requested form.
fn report(args: &Args, mut counted: Counted, verified: Option<Verified>, out: &Output) -> Result<()> {
    let form = args.how.form.get();
    counted.estimate = out.honest(counted.estimate);
    if form == Form::Table {
        print(&counted, verified.as_ref(), out)?;
    } else {
        let report = DistinctReport {
            rows: counted.counts.rows,
            skipped: counted.counts.skipped,
            left_out: counted.counts.left_out,
            bad: counted.counts.bad,
            distinct: counted.estimate.into(),
            method: counted.method,
            bytes: counted.memory,
            window: counted.window,
            verified,
        };
        if form == Form::Json { out.json(&report)? } else { out.listing(&report.listing(), form)? }
    }
    Ok(())
}

/// Counts the values themselves. If a sketch is requested, their hashes are counted instead.
fn count_exactly(args: &Args, pass: &Pass, out: &Output) -> Result<Counted> {
    method::refuse_sizes(Method::Exact, args)?;
    let scheme = args.keys.scheme()?;
    pass.require_keys(scheme)?;
    let (keys, counts) = pass.exact(scheme, out)?;
    Ok(Counted {
        method: Method::Exact.name(),
        estimate: Estimate::exact(keys.len() as f64),
        counts,
        memory: keys.memory(),
        scheme,
        window: None,
        unwritten: None,
    })
}

/// Counts the values within the window of time before the latest row.
fn count_in_window(args: &Args, pass: &mut Pass, out: &Output) -> Result<Counted> {
    if args.how.verify {
        bail!("--verify: counts all rows exactly, and not those of a window");
    }
    let (method, window) = if let Some(before) = args.sketch.to_continue()? {
        let (ring, name) = window::ring_of(before)?;
        let inside = Continued { name: name.clone(), sketch: ring.empty().clone() };
        let (method, _) = method::to_continue(inside, args)?;
        (method, args.window.go_on(ring, &name, pass)?)
    } else {
        let method = args.how.method.unwrap_or(Method::Hll);
        (method, args.window.begin(method::new_sketch(method, args)?, pass)?)
    };
    pass.require_keys(window.empty().summary().scheme)?;
    let destination = args.sketch.destination(&args.input)?;
    let (window, counts) = window.fill(pass, false, out)?;
    let Summary { items: estimate, scheme, .. } = window.merged()?.summary();
    let covered = window.covered()?;
    let ring = window.into_sketch();
    let memory = ring.summary().memory;
    let unwritten = destination.map(|destination| (destination, ring.encode()));
    Ok(Counted { method: method.name(), estimate, counts, memory, scheme, window: covered, unwritten })
}

fn count_with_sketch(args: &Args, pass: &Pass, out: &Output) -> Result<Counted> {
    let before = args.sketch.to_continue()?;
    if let Some(before) = &before {
        window::refuse_ring(&before.sketch, &before.name)?;
    }
    let is_fresh = before.is_none();
    let (method, start) = if let Some(before) = before {
        method::to_continue(before, args)?
    } else {
        let method = args.how.method.unwrap_or(Method::Hll);
        (method, method::new_sketch(method, args)?)
    };
    pass.require_keys(start.summary().scheme)?;
    let destination = args.sketch.destination(&args.input)?;

    let (sketch, counts) = match args.every.interval() {
        None => method::add_rows(pass, start, out)?,
        Some(every) => {
            let scheme = start.scheme();
            let step = |sketch: &mut AnySketch, batch: &mut RowBatch<'_>| {
                Ok(sketch.keys_mut()?.insert_batch(&batch.keys(0)?)?)
            };
            let show = |sketch: &AnySketch, counts: Counts| {
                let Summary { items: estimate, memory, .. } = sketch.summary();
                let (window, unwritten) = (None, None);
                let method = method.name();
                report(
                    args,
                    Counted { method, estimate, counts, memory, scheme, window, unwritten },
                    None,
                    out,
                )
            };
            fold_showing(pass, scheme, every, out, start, step, show)?
        }
    };
    let Summary { items: mut estimate, scheme, memory, .. } = sketch.summary();
    if let Some(most) = pass.most_items(counts).filter(|_| is_fresh) {
        estimate = estimate.limited_to(0.0, most as f64);
    }
    filter::report_if_full(&sketch, args.how.on_full, out)?;
    let unwritten = destination.map(|destination| (destination, sketch.encode()));
    Ok(Counted { method: method.name(), estimate, counts, memory, scheme, window: None, unwritten })
}

fn verify(pass: &Pass, counted: &Counted, out: &Output) -> Result<Verified> {
    let (keys, counts) = pass.exact(counted.scheme, out)?;
    Pass::require_same(counted.counts, counts).context("--verify")?;
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
    out.answer(output::items(*estimate), what)?;
    if !estimate.is_exact() && is_bounded {
        let sure = output::percent(estimate.confidence().level());
        out.detail(format_args!("{}, {sure} sure", output::between(*estimate)))?;
    }
    if let Some(Verified { exact, covered }) = verified {
        let judgement = if *covered { "inside the bounds" } else { "outside the bounds" };
        out.detail(format_args!("{} exactly, {judgement}", output::count(*exact)))?;
    }
    if let Some(covered) = &counted.window {
        covered.print(out)?;
    }
    out.counts(*counts)?;
    out.detail(format_args!("{method}, {}", output::bytes(*memory)))
}
