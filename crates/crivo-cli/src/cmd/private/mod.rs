//! `crivo private`: counts of values, without access to any person's value.

mod aggregate;
mod encode;

use clap::Subcommand;

use super::Outcome;
use crate::output::Output;

/// How often, without seeing anyone's value? Private reports, and what they come to
///
/// A person encodes a value, and the report is so noisy that the value cannot be told from it, to
/// the degree that --epsilon says. The server adds up reports, and `crivo ask` says how often a
/// value was among them.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo private encode -f emoji mine.csv --epsilon 4 --rows 64 --width 1024 -o mine.reports
  crivo private aggregate *.reports -o emoji.crivo && crivo ask emoji.crivo 😂")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Encode(Box<encode::Args>),
    Aggregate(aggregate::Args),
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    match &args.command {
        Command::Encode(args) => encode::run(args, out),
        Command::Aggregate(args) => aggregate::run(args, out),
    }
}
