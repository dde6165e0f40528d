//! `crivo set build --interchange`: writes a filter in the format of Apache DataSketches.

use std::process::ExitCode;

use anyhow::Context;
use clap::ValueEnum;
use crivo::keys::KeyRef;
use crivo_interchange::{AnyInterchange, Bloom};

use super::{Args, DEFAULT_RATE, count_items};
use crate::cmd::{Outcome, show};
use crate::foreign_sketch::{self, Told};
use crate::output::{self, Output};
use crate::pass::Pass;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Form {
    /// Bloom: what the Java, C++ and Rust libraries read
    Bloom,
}

pub(super) fn run(args: &Args, pass: &Pass, out: &Output) -> Outcome {
    let scheme = args.keys.scheme()?;
    let told = Told {
        sketch: &args.sketch,
        input: &args.input,
        window: &args.window,
        seed: scheme.seed(),
        others: &[],
    };
    let destination = told.destination()?;
    pass.require_keys(scheme)?;
    let items = match args.how.items {
        Some(items) => items,
        None => count_items(pass, scheme, out)?,
    };
    let rate = args.how.fpr.unwrap_or(DEFAULT_RATE);
    let start = Bloom::for_items(items, rate).context("--items and --fpr")?;
    let bytes = start.bits() as usize / 8;
    let add = |filter: &mut Bloom, key: KeyRef<'_>, _| {
        match key {
            KeyRef::Bytes(key) => filter.insert_bytes(key),
            KeyRef::Integer(key) | KeyRef::Hash(key) => filter.insert_integer(key),
        }
        Ok(())
    };
    let (filter, _) = foreign_sketch::fill(pass, scheme, false, out, (start, bytes), add, Bloom::merge)?;
    if filter.false_positive_rate() > 2.0 * rate {
        let now = output::percent(filter.false_positive_rate());
        args.how.on_full.report(
            &format!("there are more values than --items: {now} of absent ones are taken for members now"),
            out,
        )?;
    }
    let bytes = filter.encode();
    destination.write(&bytes)?;
    if args.how.json {
        show::print_foreign_json(&AnyInterchange::Bloom(filter), out)?;
    } else {
        let (items, name) = (output::items(filter.items()), destination.name());
        out.remark(format_args!("{items} different in {name}, {}", output::bytes(bytes.len())))?;
    }
    Ok(ExitCode::SUCCESS)
}
