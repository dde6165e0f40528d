//! `crivo set`: sets as filters. They are built, asked, used to select rows, and combined.

mod algebra;
mod build;
mod choose;
mod has;

use clap::Subcommand;

pub(super) use self::build::{column_filters, count_items};
use super::Outcome;
use crate::output::Output;

/// Is it in there? Sets as small filters: build, ask, choose rows by them, combine them
///
/// A filter takes about ten bits a key. What it says is not in there certainly is not; of what is
/// not in there it takes a small share (--fpr) for members.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo set build -f user customers.csv -o customers.crivo
  crivo set keep customers.crivo -f user visits.csv.gz > visits-of-customers.csv
  crivo set has customers.crivo ana && echo may be one")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Build(build::Args),
    Has(has::Args),
    Keep(choose::KeepArgs),
    Drop(choose::DropArgs),
    Union(algebra::UnionArgs),
    Intersect(algebra::IntersectArgs),
    Subtract(algebra::SubtractArgs),
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    match &args.command {
        Command::Build(args) => build::run(args, out),
        Command::Has(args) => has::run(args, out),
        Command::Keep(args) => choose::keep(args, out),
        Command::Drop(args) => choose::drop(args, out),
        Command::Union(args) => algebra::union(args, out),
        Command::Intersect(args) => algebra::intersect(args, out),
        Command::Subtract(args) => algebra::subtract(args, out),
    }
}
