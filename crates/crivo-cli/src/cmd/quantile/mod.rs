//! `crivo quantile`: the values at given ranks.

pub(super) mod answer;
mod exact;
mod fill;
pub(super) mod groups;
mod interchange;
mod place;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use crivo::codec::AnySketch;
use crivo::keys::KeyScheme;
use crivo::quantiles::{Accuracy, KeyQuantiles, NumberQuantiles};
use crivo_rows::{Counts, Items};
use serde::Serialize;

use self::answer::{Answers, Asked};
use self::place::Place;
use super::Outcome;
use crate::args::{Continued, InputArgs, Seeded, SketchArgs, share};
use crate::form::FormArgs;
use crate::groups::GroupArgs;
use crate::output::{self, Form, Output};
use crate::pass::Pass;
use crate::store::Destination;
use crate::window::{self, Covered, WindowArgs};

/// The default error of ranks.
const DEFAULT_ERROR: f64 = 0.005;

/// Which value has that rank: the median, the 99th percentile?
///
/// Reads the numbers of a field in one pass and a few kilobytes, or its texts. Each answer says
/// between which values the true one lies, 95 % sure. While there are few values, answers are
/// exact.
#[derive(Debug, clap::Args)]
// Words are no numbers.
#[command(mut_arg("words", |words| words.hide(true)))]
#[command(after_help = "\
Examples:
  crivo quantile -f price -q 0.5,0.9,0.99 sales.csv
  crivo quantile -f millis -q 99.9%,99.99% --tails 'logs/*.jsonl' --json
  crivo quantile -f price -q 0.5 --by country,shop sales.csv
  crivo quantile -f name -q 25%,50%,75% --texts people.csv
  crivo quantile -f age --rank 18 65 --histogram people.parquet --verify
  crivo quantile -f price monday.csv --into prices.crivo && crivo ask prices.crivo --quantiles 0.5
  crivo quantile -f price sales.csv --interchange kll -o prices.bin")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    how: QuantileOptions,

    #[command(flatten)]
    groups: GroupArgs,

    #[command(flatten)]
    seed: Seeded,

    #[command(flatten)]
    sketch: SketchArgs,

    #[command(flatten)]
    window: WindowArgs,

    /// No progress, warnings or remarks: the answer and errors only
    // The same as for every command, but without its short name, which means quantiles here.
    #[arg(id = "quiet", long)]
    #[allow(dead_code)] // read where it is global
    quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Quantiles")]
struct QuantileOptions {
    /// The shares of all values: 0.5,0.99 or 50%,99% [default: 0.01,0.25,0.5,0.75,0.99]
    #[arg(short = 'q', long = "quantiles", value_name = "SHARE", value_delimiter = ',', value_parser = share)]
    shares: Vec<f64>,

    #[command(flatten)]
    asked: Asked,

    /// By what share of all ranks an answer may be off, 95 % sure: 0.01 or 1% [default: 0.5%]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    error: Option<f64>,

    /// The error is a share of the distance from the nearer end: for the 99.9th percentile and
    /// beyond
    #[arg(long)]
    tails: bool,

    /// Take values as texts, in the order of their bytes, instead of as numbers
    #[arg(long)]
    texts: bool,

    /// Write the bytes of Apache DataSketches to -o, for Spark, Druid and others, instead of a
    /// crivo sketch
    #[arg(long, value_enum, value_name = "FORM")]
    interchange: Option<interchange::Form>,

    /// Sort all values in a second pass, and say whether the bounds hold
    #[arg(long, conflicts_with_all = ["into", "window"])]
    verify: bool,

    #[command(flatten)]
    form: FormArgs,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct QuantileReport {
    rows: u64,
    skipped: u64,
    left_out: u64,
    bad: u64,
    #[serde(flatten)]
    answers: Answers,
    method: &'static str,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<Covered>,
}

/// The result of reading, and the destination of the sketch.
struct Read {
    /// The sketch that answers. A window is asked as of its latest time.
    seen: AnySketch,
    counts: Counts,
    memory: usize,
    window: Option<Covered>,
    unwritten: Option<(Destination, Vec<u8>)>,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let mut pass = args.input.pass()?;
    if pass.items != Items::Values {
        bail!("--words: words are no numbers");
    }
    args.how.asked.check(&args.how.shares, args.how.texts)?;
    // The sketch depends on which thread saw which rows.
    pass.repeatable = true;
    if let Some(by) = args.groups.by() {
        return groups::run(args, &mut pass, by, out);
    }
    if args.how.verify {
        pass.require_twice("--verify")?;
    }
    if let Some(form) = args.how.interchange {
        let read = interchange::read(form, args, &pass, out)?;
        let Some(quantiles) = read.sketch.quantiles() else { return Ok(ExitCode::SUCCESS) };
        let mut answers = args.how.asked.answers_of_numbers(&args.how.shares, quantiles)?;
        verify_if_wanted(&mut answers, read.counts, args, &pass, out)?;
        let bytes = read.sketch.encode();
        read.destination.write(&bytes)?;
        report(args, answers, read.counts, (read.method, bytes.len()), None, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let read = if args.window.is_wanted() {
        read_window(args, &mut pass, out)?
    } else {
        read_rows(args, &pass, out)?
    };
    let mut answers = args.how.asked.answers(&args.how.shares, &read.seen)?;
    verify_if_wanted(&mut answers, read.counts, args, &pass, out)?;
    if let Some((destination, bytes)) = &read.unwritten {
        destination.write(bytes)?;
    }
    report(args, answers, read.counts, (method(&read.seen), read.memory), read.window, out)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the answers in the requested form.
fn report(
    args: &Args,
    answers: Answers,
    counts: Counts,
    (method, bytes): (&'static str, usize),
    window: Option<Covered>,
    out: &Output,
) -> Result<()> {
    let (form, answers) = (args.how.form.get(), answers.honest(out));
    if form == Form::Json {
        let Counts { rows, skipped, left_out, bad, .. } = counts;
        out.json(&QuantileReport { rows, skipped, left_out, bad, answers, method, bytes, window })
    } else if form != Form::Table {
        out.listing(&answers.listing(), form)
    } else {
        answers.print(out)?;
        if let Some(window) = &window {
            window.print(out)?;
        }
        out.counts(counts)?;
        out.detail(format_args!("{method}, {}", output::bytes(bytes)))
    }
}

/// Compares the answers with all values, if requested.
fn verify_if_wanted(
    answers: &mut Answers,
    first: Counts,
    args: &Args,
    pass: &Pass,
    out: &Output,
) -> Result<()> {
    if args.how.verify {
        let counts = verify(answers, args, pass, out)?;
        Pass::require_same(first, counts).context("--verify")?;
    }
    Ok(())
}

/// Compares the answers with all values.
fn verify(answers: &mut Answers, args: &Args, pass: &Pass, out: &Output) -> Result<Counts> {
    if args.how.texts {
        let (texts, counts) = exact::texts(pass, out)?;
        answers.verify(&texts, |text| Place::Text(text.to_vec()));
        return Ok(counts);
    }
    let (numbers, counts) = exact::numbers(pass, out)?;
    answers.verify(&numbers, |number| Place::Number(*number));
    Ok(counts)
}

/// Returns the sketch's method in a word.
fn method(sketch: &AnySketch) -> &'static str {
    let of_numbers = sketch.downcast_ref().map(NumberQuantiles::accuracy);
    match of_numbers.or_else(|| sketch.downcast_ref().map(KeyQuantiles::accuracy)) {
        Some(Accuracy::Tails) => "tails",
        _ => "kll",
    }
}

fn new_sketch(args: &Args) -> Result<AnySketch> {
    let (error, seed) = (args.how.error.unwrap_or(DEFAULT_ERROR), args.seed.number()?);
    let accuracy = if args.how.tails { Accuracy::Tails } else { Accuracy::Uniform };
    let size = NumberQuantiles::size_for(error, accuracy).context("--error")?;
    Ok(if args.how.texts {
        KeyQuantiles::with_scheme(size, accuracy, KeyScheme::bytes(), seed)?.into()
    } else {
        NumberQuantiles::new(size, accuracy, seed)?.into()
    })
}

/// Returns an empty sketch like the one in the file. Returns an error if this command cannot
/// continue that sketch.
fn continued(before: &Continued, args: &Args) -> Result<AnySketch> {
    if args.how.error.is_some() || args.how.tails {
        before.require_same_sizes(&new_sketch(args)?)?;
    }
    if args.how.texts {
        let sketch = before.sketch.downcast_ref().map(KeyQuantiles::emptied);
        return sketch.map(AnySketch::from).ok_or_else(|| before.refusal());
    }
    if before.sketch.downcast_ref::<KeyQuantiles>().is_some() {
        bail!("{}: was made of texts: go on with --texts", before.name);
    }
    let sketch = before.sketch.downcast_ref().map(NumberQuantiles::emptied);
    sketch.map(AnySketch::from).ok_or_else(|| before.refusal())
}

fn read_rows(args: &Args, pass: &Pass, out: &Output) -> Result<Read> {
    let before = args.sketch.to_continue()?;
    let start = match &before {
        None => new_sketch(args)?,
        Some(before) => {
            window::refuse_ring(&before.sketch, &before.name)?;
            continued(before, args)?
        }
    };
    let destination = args.sketch.destination(&args.input)?;
    let (fresh, counts) = fill::fill(pass, start, args.how.texts, out)?;
    let seen = match before {
        None => fresh,
        Some(Continued { mut sketch, .. }) => {
            sketch.merge(&fresh)?;
            sketch
        }
    };
    let unwritten = destination.map(|destination| (destination, seen.encode()));
    Ok(Read { memory: seen.memory(), seen, counts, window: None, unwritten })
}

fn read_window(args: &Args, pass: &mut Pass, out: &Output) -> Result<Read> {
    let window = match args.sketch.to_continue()? {
        None => args.window.begin(new_sketch(args)?, pass)?,
        Some(before) => {
            let (ring, name) = window::ring_of(before)?;
            continued(&Continued { name: name.clone(), sketch: ring.empty().clone() }, args)?;
            args.window.go_on(ring, &name, pass)?
        }
    };
    let destination = args.sketch.destination(&args.input)?;
    let (window, counts) = window.fill(pass, false, out)?;
    let (seen, covered) = (window.merged()?, window.covered()?);
    let ring = window.into_sketch();
    let unwritten = destination.map(|destination| (destination, ring.encode()));
    Ok(Read { memory: ring.memory(), seen, counts, window: covered, unwritten })
}
