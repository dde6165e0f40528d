//! `crivo set build`: builds a filter of the values of a field.

mod interchange;
mod parquet;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use crivo::codec::AnySketch;
use crivo::distinct::{ExactDistinct, HyperLogLog};
use crivo::keys::KeyScheme;
use crivo::membership::{BinaryFuse, BlockedBloom, Bloom, CounterBits, CountingBloom};
use crivo::sketch::{Membership, Sketch as _};

use crate::args::{Continued, InputArgs, KeyArgs, OnFull, SketchArgs, share, whole};
use crate::cmd::{Outcome, show};
use crate::filter::Filter;
use crate::output::{self, Output};
use crate::pass::Pass;
use crate::store::Stored;
use crate::window::{self, WindowArgs};

pub(crate) use self::parquet::column_filters;

/// The default false-positive rate: one in a hundred absent keys is taken for a member.
pub(crate) const DEFAULT_RATE: f64 = 0.01;

/// Make a filter of the values of a field, or of the lines
///
/// Without --items the input is read twice, once to see how many different values there are. With
/// --static it is read once, and the different values are held in memory (20 to 30 bytes each)
/// until the filter is built.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set build -f user customers.csv -o customers.crivo
  zcat seen.gz | crivo set build --items 5M --fpr 0.1% -o seen.crivo
  crivo set build --static -f user customers.csv -o customers.crivo
  crivo set build --parquet-filter -f user,page visits.csv -o visits.parquet
  crivo set build -f token --items 1M --window 24h --time-field ts --into seen.crivo today.csv")]
pub(super) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: FilterOptions,

    #[command(flatten)]
    sketch: SketchArgs,

    #[command(flatten)]
    window: WindowArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Filter")]
#[allow(clippy::struct_excessive_bools)] // options, each with a name of its own
struct FilterOptions {
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

    /// Write the bytes of Apache DataSketches to -o, for other systems, instead of a crivo sketch
    #[arg(long, value_enum, value_name = "FORM", conflicts_with_all = ["blocked", "counting", "finished"])]
    interchange: Option<interchange::Form>,

    /// Write a copy of the table to -o, a Parquet file that has a filter for each field of -f:
    /// engines skip row groups by them, and crivo set has asks them. Their bytes are those of the
    /// Parquet format, not of --blocked
    #[arg(long, conflicts_with_all = ["blocked", "counting", "finished", "interchange", "items"])]
    parquet_filter: bool,

    /// The smallest filter, for a set that is finished: 9 bits a value and a rate of 0.39 %. It
    /// cannot be added to or merged
    #[arg(long = "static", conflicts_with_all = ["blocked", "counting", "items"])]
    finished: bool,

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
    if args.how.interchange.is_some() {
        return interchange::run(args, &pass, out);
    }
    if args.how.parquet_filter {
        return parquet::run(args, pass, out);
    }
    if !args.sketch.is_wanted() {
        bail!("the answer is a filter: name a file for it, such as -o set.crivo");
    }
    let before = args.sketch.to_continue()?;
    if args.how.finished {
        check_static(args, before.as_ref())?;
    }
    if args.window.is_wanted() {
        return build_in_window(args, &mut pass, before, out);
    }
    let Some(destination) = args.sketch.destination(&args.input)? else { return Ok(ExitCode::SUCCESS) };
    let filter = if args.how.finished {
        build_static(args, &pass, out)?
    } else {
        let start = begin(args, &pass, before, out)?;
        fill(&mut pass, start, out)?
    };
    filter.report_if_full(args.how.on_full, out)?;
    let bytes = filter.encode();
    destination.write(&bytes)?;
    let (items, memory) = (filter.items(), filter.memory());
    if args.how.json {
        show::print_json(&Stored { sketch: filter.into_sketch(), file_bytes: bytes.len() }, out)?;
    } else {
        let (items, name) = (output::items(items), destination.name());
        out.remark(format_args!("{items} different in {name}, {}", output::bytes(memory)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the filter to fill: the one to continue, or an empty one of the requested sizes.
fn begin(args: &Args, pass: &Pass, before: Option<Continued>, out: &Output) -> Result<Filter> {
    if let Some(mut before) = before {
        let name = &before.name;
        window::refuse_ring(&before.sketch, name)?;
        if before.sketch.membership().is_ok() && before.sketch.takes_keys().is_none() {
            bail!(
                "{name}: a static filter cannot be added to: build it anew from all values, or without --static"
            );
        }
        require_same_sizes(&args.how, &before)?;
        let filter = Filter::of(before.sketch, name)?;
        args.keys.agree_with(filter.scheme(), name)?;
        pass.require_keys(filter.scheme())?;
        return Ok(filter);
    }
    let scheme = args.keys.scheme()?;
    pass.require_keys(scheme)?;
    let items = match args.how.items {
        Some(items) => items,
        None => count_items(pass, scheme, out)?,
    };
    new_filter(&args.how, items, scheme)
}

/// Refuses options that a static filter cannot support.
fn check_static(args: &Args, before: Option<&Continued>) -> Result<()> {
    if let Some(before) = before {
        bail!("--static: {} is there, and a static filter cannot be added to: write it with -o", before.name);
    }
    if args.window.is_wanted() {
        bail!("--static: a static filter cannot be added to, so it cannot see a window");
    }
    if let Some(rate) = args.how.fpr
        && rate < BinaryFuse::RATE
    {
        bail!("--fpr {rate}: a static filter has a rate of 0.39 %: leave out --static for a smaller one");
    }
    Ok(())
}

/// Collects the hashes of all different values, and builds a static filter from them.
fn build_static(args: &Args, pass: &Pass, out: &Output) -> Result<Filter> {
    let scheme = args.keys.scheme()?;
    pass.require_keys(scheme)?;
    let (values, _) = pass.sketch(&ExactDistinct::with_scheme(scheme), scheme, out)?;
    Filter::of(BinaryFuse::of_hashes(&values.hashes(), scheme)?, "the new filter")
}

/// Builds a ring of filters, from which a value is removed when the window has passed it.
fn build_in_window(args: &Args, pass: &mut Pass, before: Option<Continued>, out: &Output) -> Outcome {
    if args.how.counting.is_some() {
        bail!("--counting: values leave the set with their pane, and need not be counted to be removed");
    }
    let window = if let Some(before) = before {
        let (ring, name) = window::ring_of(before)?;
        if ring.empty().membership().is_err() {
            bail!("{name}: was not kept by crivo set build with --window");
        }
        require_same_sizes(&args.how, &Continued { name: name.clone(), sketch: ring.empty().clone() })?;
        args.keys.agree_with(ring.empty().scheme(), &name)?;
        args.window.go_on(ring, &name, pass)?
    } else {
        let Some(items) = args.how.items else {
            bail!("--window: say how many different values it sees at most, such as --items 1M");
        };
        args.window.begin(new_filter(&args.how, items, args.keys.scheme()?)?.into_sketch(), pass)?
    };
    pass.require_keys(window.empty().scheme())?;
    let Some(destination) = args.sketch.destination(&args.input)? else { return Ok(ExitCode::SUCCESS) };
    let (window, _) = window.fill(pass, false, out)?;
    let seen = Filter::of(window.merged()?, destination.name())?;
    seen.report_if_full(args.how.on_full, out)?;
    let late = window.covered()?.map_or(0, |covered| covered.late);
    let ring = window.into_sketch();
    let bytes = ring.encode();
    destination.write(&bytes)?;
    if args.how.json {
        show::print_json(&Stored { sketch: ring, file_bytes: bytes.len() }, out)?;
    } else {
        let (items, name) = (output::items(seen.items()), destination.name());
        let memory = output::bytes(ring.summary().memory);
        out.remark(format_args!("{items} different in the window of {name}, {memory}"))?;
        if late > 0 {
            out.remark(format_args!("{} late", output::count(late)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes sure that a filter has the requested sizes, if any were requested.
fn require_same_sizes(how: &FilterOptions, before: &Continued) -> Result<()> {
    if how.items.is_none() && how.fpr.is_none() && !how.blocked && how.counting.is_none() {
        return Ok(());
    }
    let capacity = before.sketch.membership().ok().and_then(Membership::capacity);
    let Some(items) = how.items.or(capacity) else { return Err(before.refusal()) };
    before.require_same_sizes(new_filter(how, items, before.sketch.scheme())?.sketch())
}

/// Returns an upper bound on the number of different values in the input.
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

fn new_filter(how: &FilterOptions, items: u64, scheme: KeyScheme) -> Result<Filter> {
    let rate = how.fpr.unwrap_or(DEFAULT_RATE);
    if !(rate > 0.0 && rate < 1.0) {
        bail!("--fpr {rate}: expected a share between 0 and 1, such as 1%");
    }
    let filter = match (how.blocked, how.counting) {
        (true, _) => BlockedBloom::for_items_with_scheme(items, rate, scheme).map(AnySketch::from),
        (false, Some(bits)) => {
            CountingBloom::for_items_with_scheme(items, rate, bits, scheme).map(AnySketch::from)
        }
        (false, None) => Bloom::for_items_with_scheme(items, rate, scheme).map(AnySketch::from),
    };
    Filter::of(filter.context("--items and --fpr")?, "the new filter")
}

/// Adds every row. Each thread begins with a copy of `start`, which does not change a set. A
/// counting filter would count `start` several times, so it is filled by one thread.
fn fill(pass: &mut Pass, start: Filter, out: &Output) -> Result<Filter> {
    if start.counts() && !start.sketch().is_empty() {
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
