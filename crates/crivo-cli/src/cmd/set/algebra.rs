//! `crivo set union`, `intersect` and `subtract`: combines two sets into one.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use crivo::{ErrorKind, Estimate};

use crate::args::OnFull;
use crate::cmd::Outcome;
use crate::filter::Filter;
use crate::kinds;
use crate::output::{self, Output};
use crate::store::{self, Destination};
use crate::turn::WaitArgs;

/// What is in one set or the other
///
/// Filters of one size become one filter. Those of different sizes are kept side by side, and a key
/// that is in neither set gets a yes at most as often as from both together.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set union monday.crivo tuesday.crivo -o both.crivo
  crivo set union seen.crivo new.crivo -o seen.crivo")]
pub(super) struct UnionArgs {
    #[command(flatten)]
    two: TwoArgs,
}

/// What is in both sets
///
/// Finds every key that is in both. A key in neither set gets a yes at most as often as from the
/// better filter; a key in one of them gets it as often as from the other. The file holds both
/// filters, because how many keys they share can be told from the two only.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set intersect buyers.crivo readers.crivo -o both.crivo
  crivo set intersect a.crivo b.crivo -o both.crivo && crivo show both.crivo")]
pub(super) struct IntersectArgs {
    #[command(flatten)]
    two: TwoArgs,
}

/// What is in the first set and not in the second, which must be a part of it
///
/// Only sets that count (set build --counting) can be subtracted.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set subtract all.crivo gone.crivo -o left.crivo
  crivo set build --counting 8 -f user gone.csv --items 1M -o gone.crivo")]
pub(super) struct SubtractArgs {
    #[command(flatten)]
    two: TwoArgs,
}

#[derive(Debug, clap::Args)]
struct TwoArgs {
    /// The first set
    #[arg(value_name = "A")]
    first: PathBuf,

    /// The second set
    #[arg(value_name = "B")]
    second: PathBuf,

    /// Where to write the result; one of the two is fine
    #[arg(short, value_name = "SKETCH")]
    output: PathBuf,

    /// What to do when there are more keys than the result is made for
    #[arg(long, value_enum, value_name = "WHAT", default_value = "warn")]
    on_full: OnFull,

    #[command(flatten)]
    wait: WaitArgs,
}

pub(super) fn union(args: &UnionArgs, out: &Output) -> Outcome {
    combine(&args.two, "united", out, |first, second| {
        first.unite(second)?;
        Ok(first.items())
    })
}

pub(super) fn intersect(args: &IntersectArgs, out: &Output) -> Outcome {
    combine(&args.two, "intersected", out, |first, second| Ok(first.intersect(second)?))
}

pub(super) fn subtract(args: &SubtractArgs, out: &Output) -> Outcome {
    combine(&args.two, "subtracted", out, |first, second| {
        first.subtract(second).map_err(|error| match error.kind() {
            ErrorKind::Unsupported => anyhow!(
                "only sets that count can be subtracted, and this is one made by `{}`: \
                 build both with crivo set build --counting 8",
                kinds::of(first.sketch()).made_by
            ),
            _ => error.into(),
        })?;
        Ok(first.items())
    })
}

fn combine(
    args: &TwoArgs,
    done: &str,
    out: &Output,
    work: impl Fn(&mut Filter, &Filter) -> Result<Estimate>,
) -> Outcome {
    let destination = Destination::new(&args.output)?;
    let _turn = args.wait.take_turn(&args.output)?;
    let read = |path: &PathBuf| Filter::of(store::read(path)?.sketch, &store::name_of(path));
    let (mut first, second) = (read(&args.first)?, read(&args.second)?);
    let items = work(&mut first, &second).map_err(|error| {
        let (first, second) = (store::name_of(&args.first), store::name_of(&args.second));
        anyhow!("{second}: cannot be {done} with {first}: {error}")
    })?;
    first.report_if_full(args.on_full, out)?;
    destination.write(&first.encode())?;
    out.remark(format_args!("{} different in {}", output::items(items), destination.name()))?;
    for line in crate::lookup::about_rate(first.sketch()) {
        out.remark(line)?;
    }
    Ok(ExitCode::SUCCESS)
}
