//! `crivo set build`: the values of a field as a filter.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use crivo::distinct::HyperLogLog;
use crivo::keys::KeyScheme;
use crivo::membership::{BlockedBloom, Bloom, CounterBits, CountingBloom};

use crate::args::{InputArgs, KeyArgs, OnFull, SketchArgs, share, whole};
use crate::cmd::{Outcome, show};
use crate::filter::Filter;
use crate::output::{self, Output};
use crate::pass::Pass;
use crate::store::Stored;

/// One in a hundred of absent keys is taken for a member.
pub(crate) const DEFAULT_RATE: f64 = 0.01;

/// Make a filter of the values of a field, or of the lines
///
/// Without --items the input is read twice, once to see how many different values there are.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set build -f user customers.csv -o customers.crivo
  zcat seen.gz | crivo set build --items 5M --fpr 0.1% -o seen.crivo")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: How,

    #[command(flatten)]
    sketch: SketchArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filter")]
struct How {
    /// How many different values it is made for; counted in a first pass if not given
    #[arg(long, value_name = "N", value_parser = whole)]
    items: Option<u64>,

    /// The share of absent values that it may take for members: 0.01 or 1% [default: 1%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fpr: Option<f64>,

    /// One cache line a value: faster when it is large, for a little more memory
    #[arg(long, conflicts_with = "counting")]
    blocked: bool,

    /// Count in cells of 4, 8, 16 or 32 bits: says how often, and sets can be subtracted
    #[arg(long, value_name = "BITS", value_parser = counter_bits)]
    counting: Option<CounterBits>,

    /// What to do when there are more values than it is made for
    #[arg(long, value_enum, value_name = "WHAT", default_value = "warn")]
    on_full: OnFull,

    /// Print what `crivo show --json` prints about the filter
    #[arg(long)]
    json: bool,
}

fn counter_bits(text: &str) -> Result<CounterBits, String> {
    match text {
        "4" => Ok(CounterBits::Four),
        "8" => Ok(CounterBits::Eight),
        "16" => Ok(CounterBits::Sixteen),
        "32" => Ok(CounterBits::ThirtyTwo),
        _ => Err("expected 4, 8, 16 or 32".into()),
    }
}

pub(super) fn run(args: &Args, out: &Output) -> Outcome {
    let mut pass = args.input.pass()?;
    if !args.sketch.is_wanted() {
        bail!("the answer is a filter: name a file for it, such as -o set.crivo");
    }
    let before = args.sketch.to_continue()?;
    let Some(destination) = args.sketch.destination(&args.input)? else { return Ok(ExitCode::SUCCESS) };
    let start = if let Some(before) = before {
        let How { items, fpr, blocked, counting, .. } = &args.how;
        let name = &before.name;
        if items.is_some() || fpr.is_some() || *blocked || counting.is_some() {
            bail!("--items, --fpr, --blocked and --counting: {name} has its size already, and keeps it");
        }
        let filter = Filter::of(before.sketch, name)?;
        args.keys.agree_with(filter.scheme(), name)?;
        pass.require_keys(filter.scheme())?;
        filter
    } else {
        let scheme = args.keys.scheme()?;
        pass.require_keys(scheme)?;
        let items = match args.how.items {
            Some(items) => items,
            None => count_items(&pass, scheme, out)?,
        };
        new_filter(&args.how, items, scheme)?
    };
    let filter = fill(&mut pass, start, out)?;
    filter.report_if_full(args.how.on_full, out)?;
    let bytes = filter.encode();
    destination.write(&bytes)?;
    let (items, memory) = (filter.items(), filter.memory());
    if args.how.json {
        show::print_json(&Stored { sketch: filter.into_sketch(), file_bytes: bytes.len() }, out)?;
    } else {
        let (items, name) = (output::estimate(items), destination.name());
        out.remark(format_args!("{items} different in {name}, {}", output::bytes(memory)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How many different values the input has, at most.
pub(crate) fn count_items(pass: &Pass, scheme: KeyScheme, out: &Output) -> Result<u64> {
    if !pass.input.is_rereadable() {
        bail!(
            "without --items the input is read twice, and standard input or a pipe can be read only once: \
             say how many different values it has at most, such as --items 1M, or save it to a file first"
        );
    }
    let (sketch, _) = pass.sketch(&HyperLogLog::with_scheme(14, scheme)?, scheme, out)?;
    Ok((sketch.estimate().upper().ceil() as u64).max(1))
}

fn new_filter(how: &How, items: u64, scheme: KeyScheme) -> Result<Filter> {
    let rate = how.fpr.unwrap_or(DEFAULT_RATE);
    if !(rate > 0.0 && rate < 1.0) {
        bail!("--fpr {rate}: expected a share between 0 and 1, such as 1%");
    }
    match (how.blocked, how.counting) {
        (true, _) => BlockedBloom::for_items_with_scheme(items, rate, scheme).map(Filter::Blocked),
        (false, Some(bits)) => {
            CountingBloom::for_items_with_scheme(items, rate, bits, scheme).map(Filter::Counting)
        }
        (false, None) => Bloom::for_items_with_scheme(items, rate, scheme).map(Filter::Bloom),
    }
    .context("--items and --fpr")
}

/// Adds every row. Threads begin with what is there already, which a set does not notice; one that counts
/// would, so it is filled by one thread.
fn fill(pass: &mut Pass, start: Filter, out: &Output) -> Result<Filter> {
    if matches!(&start, Filter::Counting(filter) if !filter.is_empty()) {
        pass.threads = 1;
    }
    let (scheme, bytes) = (start.scheme(), start.memory());
    let (filter, _) = pass.fold_copies(
        scheme,
        out,
        (start, bytes),
        |filter, batch| Ok(filter.insert_batch(&batch.keys(0)?)?),
        |filter, other| Ok(filter.merge(&other)?),
    )?;
    Ok(filter)
}
