//! `crivo freq --interchange`: how often any value comes, as the bytes of Apache DataSketches.

use std::process::ExitCode;

use anyhow::Context;
use clap::ValueEnum;
use crivo::keys::KeyRef;
use crivo_interchange::{AnyInterchange, CountMin, Counters};

use super::{Args, DEFAULT_CONFIDENCE, DEFAULT_ERROR, require_room};
use crate::cmd::{Outcome, show};
use crate::foreign_sketch::{self, Told};
use crate::output::{self, Output};
use crate::pass::Pass;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Count-Min of whole numbers: what the Java and Rust libraries read
    CountMin,
    /// Count-Min of doubles: what the Python package reads
    CountMinDouble,
}

pub(super) fn run(form: Form, args: &Args, pass: &Pass, out: &Output) -> Outcome {
    let how = &args.how;
    let scheme = args.keys.scheme()?;
    let told = Told {
        sketch: &args.sketch,
        input: &args.input,
        window: &args.window,
        seed: scheme.seed(),
        others: &[("--conservative", how.conservative), ("--ranges", how.ranges.is_some())],
    };
    let destination = told.destination()?;
    let (error, confidence) =
        (how.error.unwrap_or(DEFAULT_ERROR), how.confidence.unwrap_or(DEFAULT_CONFIDENCE));
    let (rows, width) = CountMin::size_for(error, confidence).context("--error and --confidence")?;
    require_room(1, width, rows.into(), args)?;
    let counters = if form == Form::CountMin { Counters::Longs } else { Counters::Doubles };
    let start = CountMin::new(rows, width)?.stored_as(counters);
    let bytes = 8 * width as usize * usize::from(rows);
    let (sketch, counts) = foreign_sketch::fill(
        pass,
        scheme,
        how.weight.is_some(),
        out,
        (start, bytes),
        |sketch, key, weight| match key {
            KeyRef::Bytes(key) => sketch.add_bytes(key, weight),
            KeyRef::Integer(key) | KeyRef::Hash(key) => sketch.add_integer(key, weight),
        },
        CountMin::merge,
    )?;
    let bytes = sketch.encode();
    destination.write(&bytes)?;
    if how.json {
        show::print_foreign_json(&AnyInterchange::CountMin(sketch), out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let margin = (sketch.error() * sketch.total() as f64) as u64;
    out.remark(format_args!("{} counted into {}", output::count(sketch.total()), destination.name()))?;
    let sure = output::percent(1.0 - (-f64::from(sketch.rows())).exp());
    out.remark(format_args!("answers at most {} too high, {sure} sure", output::count(margin)))?;
    let (rows, skipped) = (output::rows_of(counts.rows), output::count(counts.skipped));
    out.remark(format_args!("{rows}, {skipped} skipped"))?;
    out.remark(output::bytes(bytes.len()))?;
    Ok(ExitCode::SUCCESS)
}
