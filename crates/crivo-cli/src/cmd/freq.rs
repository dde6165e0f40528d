//! `crivo freq`: writes a sketch that can be asked how often any value occurs.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use crivo::codec::AnySketch;
use crivo::frequency::{CountMin, RangeCountMin};
use crivo::keys::{KeyKind, KeyScheme};
use crivo_rows::Counts;

use super::{Outcome, show};
use crate::args::{Continued, InputArgs, KeyArgs, SketchArgs, share};
use crate::output::{self, Output};
use crate::pass::Pass;
use crate::sizes::memory_size;
use crate::store::Stored;
use crate::tally::tally;
use crate::window::{self, WindowArgs};

const DEFAULT_ERROR: f64 = 0.001;
const DEFAULT_CONFIDENCE: f64 = 0.99;

/// How often does any value come? A sketch to ask later
///
/// Counts every value of a field, or every line, into a table of a fixed size; `crivo ask` then
/// says how often any value came. It never says too little, and too much by at most the error times
/// the number of rows, as often as the confidence says.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo freq -f user visits.csv --error 0.01% --confidence 99% -o visits.crivo
  crivo freq -f product --weight cents sales.parquet -o sales.crivo && crivo ask sales.crivo tea
  crivo freq -f millis --ranges 20 access.jsonl -o times.crivo && crivo ask times.crivo --range 100 250")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: FreqOptions,

    #[command(flatten)]
    sketch: SketchArgs,

    #[command(flatten)]
    window: WindowArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Counting")]
struct FreqOptions {
    /// By what share of all rows an answer may be too high: 0.001 or 0.1% [default: 0.1%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    error: Option<f64>,

    /// How many of 100 answers keep to that: 0.99 or 99% [default: 99%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    confidence: Option<f64>,

    /// The field with the weight of each row, a whole number: add these up instead of counting rows
    #[arg(long, value_name = "FIELD")]
    weight: Option<String>,

    /// Raise only what must be raised: closer answers, but one thread, no merge and no join
    #[arg(long, conflicts_with = "ranges")]
    conservative: bool,

    /// The values are integers below 2^BITS, and ranges of them can be asked about
    #[arg(long, value_name = "BITS")]
    ranges: Option<u32>,

    /// The most memory that the sketch may take; a larger one is refused
    #[arg(long, value_name = "SIZE", value_parser = memory_size, default_value = "256M")]
    memory: u64,

    /// Print what `crivo show --json` prints about the sketch
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let mut pass = args.input.pass()?;
    if let Some(field) = &args.how.weight {
        pass.read_beside(field, "--weight")?;
    }
    if !args.sketch.is_wanted() {
        bail!("the answer is a sketch: name a file for it, such as -o counts.crivo");
    }
    let before = args.sketch.to_continue()?;
    if args.window.is_wanted() {
        return count_in_window(args, &mut pass, before, out);
    }
    if let Some(before) = &before {
        window::refuse_ring(&before.sketch, &before.name)?;
    }
    let start = match &before {
        Some(before) => continued(before, args)?,
        None => new_sketch(args)?,
    };
    pass.require_keys(start.scheme())?;
    let Some(destination) = args.sketch.destination(&args.input)? else { return Ok(ExitCode::SUCCESS) };
    let (sketch, counts) = count(&mut pass, start, before.map(|before| before.sketch), args, out)?;
    let bytes = sketch.encode();
    destination.write(&bytes)?;
    if args.how.json {
        show::print_json(&Stored { sketch, file_bytes: bytes.len() }, out)?;
    } else {
        print(&sketch, counts, destination.name(), out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Counts in a ring of sketches, one for each pane of the window.
fn count_in_window(args: &Args, pass: &mut Pass, before: Option<Continued>, out: &Output) -> Outcome {
    let FreqOptions { weight, conservative, ranges, .. } = &args.how;
    if *conservative || ranges.is_some() {
        bail!("--window: rows of a window are counted without --conservative or --ranges");
    }
    let window = match before {
        None => args.window.begin(new_sketch(args)?, pass)?,
        Some(before) => {
            let (ring, name) = window::ring_of(before)?;
            if ring.empty().downcast_ref::<CountMin>().is_none() {
                bail!("{name}: was not kept by crivo freq with --window");
            }
            continued(&Continued { name: name.clone(), sketch: ring.empty().clone() }, args)?;
            args.window.go_on(ring, &name, pass)?
        }
    };
    pass.require_keys(window.empty().scheme())?;
    let Some(destination) = args.sketch.destination(&args.input)? else { return Ok(ExitCode::SUCCESS) };
    let (window, counts) = window.fill(pass, weight.is_some(), out)?;
    let late = window.covered()?.map_or(0, |covered| covered.late);
    let ring = window.into_sketch();
    let bytes = ring.encode();
    destination.write(&bytes)?;
    if args.how.json {
        show::print_json(&Stored { sketch: ring, file_bytes: bytes.len() }, out)?;
    } else {
        print(&ring, counts, destination.name(), out)?;
        if late > 0 {
            out.remark(format_args!("{} late", output::count(late)))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn new_sketch(args: &Args) -> Result<AnySketch> {
    let FreqOptions { error, confidence, conservative, ranges, .. } = args.how;
    let error = error.unwrap_or(DEFAULT_ERROR);
    let left = 1.0 - confidence.unwrap_or(DEFAULT_CONFIDENCE);
    if !(error > 0.0 && error < 1.0) {
        bail!("--error {error}: expected a share between 0 and 1, such as 0.1%");
    }
    if !(left > 0.0 && left < 1.0) {
        bail!("--confidence {}: expected a share between 0 and 1, such as 99%", 1.0 - left);
    }
    let scheme = scheme(args)?;
    if let Some(bits) = ranges {
        let (width, depth) = RangeCountMin::size_for(bits, error, left).context("--ranges")?;
        // The upper levels are counted exactly, and together take as much memory as one sketched
        // level.
        let levels = RangeCountMin::sketched_levels(bits, width, depth) + 1;
        require_room(u64::from(levels), width, depth, args).with_context(|| format!("--ranges {bits}"))?;
        return Ok(RangeCountMin::with_scheme(bits, width, depth, scheme)?.into());
    }
    let (width, depth) = CountMin::size_for(error, left)?;
    require_room(1, width, depth, args)?;
    let build = if conservative { CountMin::conservative_with_scheme } else { CountMin::with_scheme };
    Ok(build(width, depth, scheme)?.into())
}

/// Returns an error with the needed memory if the tables of counters exceed the allowed memory.
fn require_room(tables: u64, width: u32, depth: u32, args: &Args) -> Result<()> {
    let counters = tables.saturating_mul(u64::from(width)).saturating_mul(u64::from(depth));
    let bytes = counters.saturating_mul(size_of::<u64>() as u64);
    if bytes > args.how.memory {
        let [bytes, most] =
            [bytes, args.how.memory].map(|bytes| output::bytes(usize::try_from(bytes).unwrap_or(usize::MAX)));
        bail!("takes {bytes}, more than the {most} of --memory: a larger --error takes less");
    }
    Ok(())
}

/// Returns the scheme of keys. With `--ranges` it is integers, even without `--keys int`.
fn scheme(args: &Args) -> Result<KeyScheme> {
    let scheme = args.keys.scheme()?;
    if args.how.ranges.is_none() || scheme.kind() == KeyKind::Integer {
        return Ok(scheme);
    }
    if args.keys.are_text() {
        bail!("--keys text: --ranges are over integers");
    }
    Ok(KeyScheme::integers().with_seed(scheme.seed()))
}

/// Returns the sketch to start from. That is an empty one, which is merged with the sketch of the
/// file later, or the sketch of the file itself if it cannot be merged.
fn continued(before: &Continued, args: &Args) -> Result<AnySketch> {
    let Continued { name, sketch } = before;
    args.keys.agree_with(sketch.scheme(), name)?;
    let FreqOptions { error, confidence, conservative, ranges, .. } = args.how;
    if error.is_some() || confidence.is_some() || conservative || ranges.is_some() {
        before.require_same_sizes(&new_sketch(args)?)?;
    }
    if let Some(counts) = sketch.downcast_ref::<CountMin>() {
        if counts.is_conservative() {
            return Ok(sketch.clone());
        }
        return Ok(CountMin::with_scheme(counts.width(), counts.depth(), counts.scheme())?.into());
    }
    let Some(ranges) = sketch.downcast_ref::<RangeCountMin>() else { return Err(before.refusal()) };
    let (width, depth) = (ranges.width(), ranges.depth());
    Ok(RangeCountMin::with_scheme(ranges.levels(), width, depth, ranges.scheme())?.into())
}

fn count(
    pass: &mut Pass,
    start: AnySketch,
    before: Option<AnySketch>,
    args: &Args,
    out: &Output,
) -> Result<(AnySketch, Counts)> {
    let is_conservative = start.downcast_ref().is_some_and(CountMin::is_conservative);
    if is_conservative {
        // What a conservative sketch counts depends on the order, and its parts cannot be merged.
        pass.threads = 1;
    }
    let (mut sketch, counts) = tally(pass, start, args.how.weight.is_some(), out)?;
    if let Some(before) = before.filter(|_| !is_conservative) {
        sketch.merge(&before)?;
    }
    Ok((sketch, counts))
}

fn print(sketch: &AnySketch, counts: Counts, name: &str, out: &Output) -> Result<()> {
    let summary = sketch.summary();
    out.remark(format_args!("{} counted into {name}", output::estimate(out.honest(summary.items))))?;
    if let Some(sketch) = sketch.downcast_ref::<CountMin>() {
        let sure = output::percent(sketch.confidence().level());
        out.remark(format_args!("answers at most {} too high, {sure} sure", output::count(sketch.margin())))?;
    }
    let bad = if counts.bad > 0 { format!(", {} bad", output::count(counts.bad)) } else { String::new() };
    let (rows, skipped) = (output::rows_of(counts.rows), output::count(counts.skipped));
    out.remark(format_args!("{rows}, {skipped} skipped{bad}"))?;
    out.remark(format_args!("{}", output::bytes(summary.memory)))
}
