//! `crivo count`: the number of rows, the sum of a field, or the number of rows of each key.

mod by;
mod counter;
pub(crate) mod groups;
mod sum;

use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use crivo::Estimate;
use crivo::counting::CounterArray;
use crivo_rows::{Counts, Items, RowBatch, Select};
use serde::Serialize;

use self::counter::Counter;
use self::sum::Sum;
use super::Outcome;
use crate::args::{InputArgs, KeyArgs, OnFull, SketchArgs, whole};
use crate::every::{EveryArgs, fold_showing};
use crate::form::FormArgs;
use crate::groups::GroupArgs;
use crate::numbers;
use crate::output::{self, Cell, Form, Interval, Listing, Output};
use crate::pass::Pass;

/// How many rows? How many that satisfy a condition, and what is their sum?
///
/// With -f only rows with a value in that field count; with --words its words do. A counter that
/// tosses coins needs fewer bits than an exact one. --by counts each group, and with --bits it
/// keeps a counter of 4, 8 or 16 bits for every key instead.
///
/// Conditions compare a field with a value: = != < <= > >=, or ~ and a regular expression; 'id % 3'
/// asks for multiples, 'id % 3 = 1' for remainders. Join them by 'and', 'or' and 'not', with
/// brackets. Field 0 is the whole row. Numbers are compared as numbers; quote what is to be
/// compared as text.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo count access.csv --where 'status >= 500 and url ~ ^/api'
  crivo count sales.jsonl --where 'country = PT' --sum amount --json
  crivo count access.log --follow --every 10s
  crivo count access.log --where '0 ~ \"timed? out\"'
  crivo count sales.csv --by country,month --sum amount
  crivo count --by video --bits 8 --reach 1e10 views.csv -o views.crivo && crivo ask views.crivo cats")]
pub(crate) struct Args {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    keys: KeyArgs,

    #[command(flatten)]
    how: CountOptions,

    #[command(flatten)]
    groups: GroupArgs,

    #[command(flatten)]
    sketch: SketchArgs,

    #[command(flatten)]
    every: EveryArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Counting")]
struct CountOptions {
    /// Add up this field of the rows that count
    #[arg(long, value_name = "FIELD")]
    sum: Option<String>,

    /// What to count with: exact, half, sampled:N (one in N), morris, or morris:BASE (1.000001
    /// to 2)
    #[arg(long, value_name = "WHAT", default_value = "exact", conflicts_with = "by")]
    counter: Counter,

    /// With --by, keep one small counter of this many bits for every key instead of printing: 4, 8
    /// or 16; needs -o
    #[arg(long, value_name = "BITS", requires = "by")]
    bits: Option<u8>,

    /// How far each can count [default: 1e10; 32767 with 4 bits]
    #[arg(long, value_name = "N", requires = "by", value_parser = positive)]
    reach: Option<f64>,

    /// How many different values there are (with --keys int: they are below N); counted in a first
    /// pass if not given
    #[arg(long, value_name = "N", requires = "by", value_parser = whole)]
    items: Option<u64>,

    /// What to do when a counter can count no further
    #[arg(long, value_enum, value_name = "WHAT", default_value = "warn")]
    on_full: OnFull,

    #[command(flatten)]
    form: FormArgs,
}

fn positive(text: &str) -> Result<f64, String> {
    match numbers::decimal(text.as_bytes()) {
        Some(number) if number > 0.0 => Ok(number),
        _ => Err("expected a number above 0, such as 1e10".into()),
    }
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct CountReport {
    rows: u64,
    skipped: u64,
    bad: u64,
    count: Interval,
    sum: Option<f64>,
    mean: Option<f64>,
    counter: String,
}

impl CountReport {
    fn listing(&self) -> Listing {
        let mut listing = Listing::default();
        listing.push([
            ("count", Cell::Interval(self.count)),
            ("sum", Cell::of_number(self.sum)),
            ("mean", Cell::of_number(self.mean)),
            ("rows", Cell::Whole(self.rows)),
            ("skipped", Cell::Whole(self.skipped)),
            ("bad", Cell::Whole(self.bad)),
            ("counter", Cell::Text(self.counter.clone())),
        ]);
        listing
    }
}

/// The result of counting the rows.
#[derive(Debug, Default)]
struct Total {
    matched: u64,
    sum: Sum,
    bad: u64,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let mut pass = args.input.pass()?;
    let before = args.sketch.to_continue()?;
    if let Some(field) = args.groups.by() {
        let goes_on =
            before.as_ref().is_some_and(|before| before.sketch.downcast_ref::<CounterArray>().is_some());
        let CountOptions { bits, reach, items, .. } = &args.how;
        if goes_on || bits.is_some() || reach.is_some() || items.is_some() {
            return by::run(args, &mut pass, field, out);
        }
        return groups::run(args, &mut pass, field, out);
    }
    let start = args.how.counter.begin(before, args.sketch.is_wanted())?;
    let destination = args.sketch.destination(&args.input)?;
    let question = Question::new(args, &mut pass)?;
    let (scheme, step) =
        (args.keys.scheme()?, |total: &mut Total, batch: &mut RowBatch<'_>| question.step(total, batch));
    let (total, mut counts) = match args.every.interval() {
        None => pass.fold(scheme, out, Total::default, step, |total, other| {
            total.matched += other.matched;
            total.sum.merge(&other.sum);
            total.bad += other.bad;
            Ok(())
        })?,
        Some(every) => fold_showing(&pass, scheme, every, out, Total::default(), step, |total, counts| {
            let summed = args.how.sum.as_ref().map(|_| &total.sum);
            report(args, Estimate::exact(total.matched as f64), summed, counts, out)
        })?,
    };
    counts.bad += total.bad;
    counts.rows = counts.rows.saturating_sub(total.bad);
    let (estimate, sketch) = start.finish(total.matched, args.keys.seed()?, counts)?;
    if estimate.upper().is_infinite() {
        args.how.on_full.report("the counter is at its end, the answer only a lower bound", out)?;
    }
    if let (Some(destination), Some(sketch)) = (destination, sketch) {
        destination.write(&sketch.encode())?;
    }
    let summed = args.how.sum.as_ref().map(|_| total.sum);
    if summed.as_ref().is_some_and(|sum| sum.value().is_infinite()) {
        out.warn("the sum is beyond the largest number there is (1.8e308)");
    }
    report(args, estimate, summed.as_ref(), counts, out)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the answer in the requested form.
fn report(args: &Args, estimate: Estimate, summed: Option<&Sum>, counts: Counts, out: &Output) -> Result<()> {
    let form = args.how.form.get();
    let estimate = out.honest(estimate);
    if form == Form::Table {
        print(estimate, summed, counts, args, out)?;
    } else {
        let report = CountReport {
            rows: counts.rows,
            skipped: counts.skipped,
            bad: counts.bad,
            count: estimate.into(),
            sum: summed.map(Sum::value),
            mean: summed.and_then(Sum::mean),
            counter: args.how.counter.to_string(),
        };
        if form == Form::Json { out.json(&report)? } else { out.listing(&report.listing(), form)? }
    }
    Ok(())
}

/// What to count or sum in each row, and in which columns.
struct Question {
    sum: Option<usize>,
    /// Whether only rows with a value in column 0 count.
    must_have: bool,
    /// Whether the words of the row are counted.
    words: bool,
    skip_bad: bool,
}

impl Question {
    fn new(args: &Args, pass: &mut Pass) -> Result<Self> {
        let sum = &args.how.sum;
        let words = pass.items != Items::Values;
        let must_have = args.input.has_field();
        if words && !must_have && sum.is_some() {
            bail!("--words: name the field with the words too: -f NAME");
        }
        let mut fields = match &pass.select {
            Select::Fields(fields) => fields.clone(),
            _ => Vec::new(),
        };
        let sum = sum.as_ref().map(|field| {
            fields.push(field.clone());
            fields.len() - 1
        });
        if !words || must_have {
            pass.select = Select::Fields(fields);
        }
        Ok(Self { sum, must_have, words, skip_bad: pass.skip_bad })
    }

    fn step(&self, total: &mut Total, batch: &mut RowBatch<'_>) -> crivo_rows::Result<()> {
        let Total { matched, sum, bad } = total;
        let values = self.must_have.then(|| batch.column(0));
        let has_value = |row| values.is_none_or(|values| values.get(row).is_some());
        let mut not_numbers = Vec::new();
        if let Some(column) = self.sum {
            for (row, text) in batch.column(column).iter().enumerate() {
                let Some(text) = text.filter(|_| has_value(row)) else { continue };
                match numbers::decimal_and_rest(text) {
                    Some(parts) => sum.add(parts),
                    None if self.skip_bad => not_numbers.push(row as u32),
                    None => {
                        let found = numbers::shown(text);
                        let message = format!("expected a number to add up, found '{found}'");
                        return Err(batch.value_error(column, row, message));
                    }
                }
            }
        }
        *bad += not_numbers.len() as u64;
        *matched += if self.words {
            let rows = batch.keys_with_rows(0)?.rows;
            rows.iter().filter(|row| not_numbers.binary_search(row).is_err()).count() as u64
        } else {
            let with_value = (0..batch.rows()).filter(|&row| has_value(row)).count();
            (with_value - not_numbers.len()) as u64
        };
        Ok(())
    }
}

fn print(estimate: Estimate, sum: Option<&Sum>, counts: Counts, args: &Args, out: &Output) -> Result<()> {
    let rows = if estimate.value() == 1.0 { "row" } else { "rows" };
    let what = match (estimate.is_exact(), estimate.upper().is_finite()) {
        (true, _) => ", exactly",
        (false, true) => ", approximately",
        (false, false) => "",
    };
    out.answer(output::items(estimate), &format!("{rows}{what}"))?;
    if !estimate.is_exact() && estimate.upper().is_finite() {
        let sure = output::percent(estimate.confidence().level());
        out.detail(format_args!("{}, {sure} sure", output::between(estimate)))?;
    }
    if let Some(sum) = sum {
        let mean = sum.mean().map_or("none".into(), output::number);
        out.detail(format_args!("sum {}, mean {mean}", output::exact(sum.value())))?;
    }
    out.counts(counts)?;
    if args.how.counter == Counter::Exact { Ok(()) } else { out.detail(args.how.counter) }
}

/// Returns an error that names the option.
fn refuse(option: &str, error: &crivo::Error) -> anyhow::Error {
    anyhow!("{option}: {error}")
}
