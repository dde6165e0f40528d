//! `crivo similar`: finds similar sets and documents.

mod files;
mod index;
mod pairs;

pub(in crate::cmd) use self::index::warn_if_few_are_found;
use super::Outcome;
use crate::output::Output;

/// Which are alike: sets, streams, or documents beside an index
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo similar pairs ratings.dat --sets 1,2 --threshold 0.9
  crivo similar files monday.txt tuesday.txt
  crivo similar index seen/ query tuesday.jsonl")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Pairs(pairs::Args),
    Files(files::Args),
    Index(index::Args),
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    match &args.command {
        Command::Pairs(args) => pairs::run(args, out),
        Command::Files(args) => files::run(args, out),
        Command::Index(args) => index::run(args, out),
    }
}
