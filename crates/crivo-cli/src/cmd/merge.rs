//! `crivo merge`: several sketches into one, as if their inputs had been one.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use crivo::codec::{AnySketch, Parameter};
use crivo::sketch::Sketch as _;
use crivo_interchange::AnyInterchange;

use super::{Outcome, show};
use crate::args::OnFull;
use crate::filter;
use crate::foreign_sketch::{self, Opened};
use crate::output::{self, Output};
use crate::store::{self, Destination, Stored};
use crate::turn::WaitArgs;

/// Several sketches into one, as if their inputs had been one
///
/// The sketches must be of one kind, with the same keys and seed. Where precisions
/// differ, the lowest stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo merge monday.crivo tuesday.crivo -o week.crivo
  crivo merge day-*.crivo -o month.crivo --json")]
pub(crate) struct Args {
    /// The sketches to merge
    #[arg(value_name = "SKETCH", required = true)]
    sketches: Vec<PathBuf>,

    /// Where to write the merged sketch; one of those merged is fine
    #[arg(short, value_name = "SKETCH")]
    output: PathBuf,

    #[command(flatten)]
    wait: WaitArgs,

    /// What to do when the merged sketch is past what it can tell
    #[arg(long, value_enum, value_name = "WHAT", default_value = "warn")]
    on_full: OnFull,

    /// Print the merged sketch as `crivo show --json` does
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let destination = Destination::new(&args.output)?;
    let _turn = args.wait.take_turn(&args.output)?;
    let first = match args.sketches.first().map(|path| foreign_sketch::open(path)).transpose()? {
        Some(Opened::Foreign(first)) => return merge_foreign(args, first, &destination, out),
        Some(Opened::Other(file)) => Some(file),
        None => None,
    };
    let sketch = merge_all(&args.sketches, first, out)?;
    filter::report_if_full(&sketch, args.on_full, out)?;
    let bytes = sketch.encode();
    destination.write(&bytes)?;
    if args.json {
        show::print_json(&Stored { sketch, file_bytes: bytes.len() }, out)?;
    } else {
        let (number, name) = (args.sketches.len(), destination.name());
        let items = output::items(sketch.summary().items);
        out.remark(format_args!("{number} merged into {name}: {items}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Merges sketches of DataSketches, and writes the result in the same format.
fn merge_foreign(args: &Args, first: AnyInterchange, destination: &Destination, out: &Output) -> Outcome {
    let mut merged = first;
    for path in args.sketches.iter().skip(1) {
        let name = store::name_of(path);
        let Opened::Foreign(next) = foreign_sketch::open(path)? else {
            bail!(
                "{name}: is no sketch of DataSketches, and the first is: those of one system can be merged"
            );
        };
        merged.merge(&next).with_context(|| name)?;
    }
    let bytes = merged.encode();
    destination.write(&bytes)?;
    if args.json {
        show::print_foreign_json(&merged, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (number, name, items) = (args.sketches.len(), destination.name(), output::items(merged.items()));
    out.remark(format_args!("{number} merged into {name}: {items}"))?;
    Ok(ExitCode::SUCCESS)
}

/// Merges the sketches one after the other, so that at most two are in memory. The first file is
/// open.
fn merge_all(paths: &[PathBuf], mut first: Option<Box<dyn Read>>, out: &Output) -> Result<AnySketch> {
    let mut merged: Option<(AnySketch, &Path)> = None;
    for path in paths {
        let next = match first.take() {
            Some(file) => store::read_from(file, path)?.sketch,
            None => store::read(path)?.sketch,
        };
        match &mut merged {
            None => merged = Some((next, path)),
            Some((sketch, first)) => {
                let before = precision(sketch);
                let refused = |error: crivo::Error| {
                    let (path, first) = (store::name_of(path), store::name_of(first));
                    anyhow!("{path}: cannot be merged with {first}: {error}")
                };
                if sketch.answers_membership().is_some() {
                    *sketch = filter::united(sketch.clone(), &next).map_err(refused)?;
                } else {
                    sketch.merge(&next).map_err(refused)?;
                }
                let after = precision(sketch);
                if (before, precision(&next)) != (after, after) {
                    let lower = after.unwrap_or_default();
                    out.warn(format_args!(
                        "{}: the precisions differ; merged at the lower one, {lower}",
                        store::name_of(path)
                    ));
                }
            }
        }
    }
    merged.map(|(sketch, _)| sketch).ok_or_else(|| anyhow!("there is nothing to merge"))
}

/// Returns the precision of a sketch, if it has one.
fn precision(sketch: &AnySketch) -> Option<u64> {
    sketch.summary().parameters.iter().find_map(|(name, value)| match value {
        Parameter::Count(count) if *name == "precision" => Some(*count),
        _ => None,
    })
}
