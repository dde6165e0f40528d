//! The commands: one file for each, with its arguments, its help with examples, and its work.

mod ask;
mod completions;
mod count;
#[cfg(feature = "near")]
mod dedup;
mod distinct;
#[cfg(test)]
mod documents;
#[cfg(feature = "near")]
mod edited;
mod filter;
mod freq;
mod joins;
#[cfg(feature = "lab")]
mod lab;
#[cfg(feature = "mail")]
mod mail;
mod man;
mod merge;
#[cfg(feature = "near")]
mod overlap;
#[cfg(feature = "near")]
mod passages;
mod plan;
mod private;
mod profile;
mod quantile;
mod sample;
mod set;
mod show;
#[cfg(feature = "near")]
mod similar;
mod top;
mod uniq;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::output::Output;

/// The result of a command. Yes and done are exit code 0, no is 1; an error becomes 2 in `main`.
pub(crate) type Outcome = anyhow::Result<ExitCode>;

/// Answers about data too big to hold: one pass, small memory, honest error bounds
#[derive(Debug, Parser)]
#[command(name = "crivo", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done or yes, 1 no or nothing found, 2 error, 130 interrupted.")]
pub(crate) struct Cli {
    /// No progress, warnings or remarks: the answer and errors only
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Profile(profile::Args),
    Joins(joins::Args),
    Distinct(distinct::Args),
    Filter(filter::Args),
    Top(top::Args),
    Freq(freq::Args),
    Set(set::Args),
    Uniq(uniq::Args),
    Sample(sample::Args),
    Count(count::Args),
    Quantile(quantile::Args),
    Plan(plan::Args),
    Private(private::Args),
    Ask(ask::Args),
    #[cfg(feature = "near")]
    Dedup(dedup::Args),
    #[cfg(feature = "near")]
    Passages(passages::Args),
    #[cfg(feature = "near")]
    Overlap(overlap::Args),
    #[cfg(feature = "near")]
    Similar(similar::Args),
    #[cfg(feature = "mail")]
    Mail(mail::Args),
    Merge(merge::Args),
    Show(show::Args),
    #[cfg(feature = "lab")]
    Lab(lab::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    pub(crate) fn run(self, out: &Output) -> Outcome {
        match self {
            Self::Profile(args) => profile::run(&args, out),
            Self::Joins(args) => joins::run(&args, out),
            Self::Distinct(args) => distinct::run(&args, out),
            Self::Filter(args) => filter::run(&args, out),
            Self::Top(args) => top::run(&args, out),
            Self::Freq(args) => freq::run(&args, out),
            Self::Set(args) => set::run(&args, out),
            Self::Uniq(args) => uniq::run(&args, out),
            Self::Sample(args) => sample::run(&args, out),
            Self::Count(args) => count::run(&args, out),
            Self::Quantile(args) => quantile::run(&args, out),
            Self::Plan(args) => plan::run(&args, out),
            Self::Private(args) => private::run(&args, out),
            Self::Ask(args) => ask::run(&args, out),
            #[cfg(feature = "near")]
            Self::Dedup(args) => dedup::run(&args, out),
            #[cfg(feature = "near")]
            Self::Passages(args) => passages::run(&args, out),
            #[cfg(feature = "near")]
            Self::Overlap(args) => overlap::run(&args, out),
            #[cfg(feature = "near")]
            Self::Similar(args) => similar::run(&args, out),
            #[cfg(feature = "mail")]
            Self::Mail(args) => mail::run(&args, out),
            Self::Merge(args) => merge::run(&args, out),
            Self::Show(args) => show::run(&args, out),
            #[cfg(feature = "lab")]
            Self::Lab(args) => lab::run(&args, out),
            Self::Completions(args) => completions::run(&args, out),
            Self::Man(args) => man::run(&args, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn definition_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_says_what_it_does_and_shows_two_examples() {
        let cli = Cli::command();
        let nested = cli.get_subcommands().flat_map(clap::Command::get_subcommands);
        for command in cli.get_subcommands().chain(nested) {
            assert!(command.get_about().is_some(), "{} has no description", command.get_name());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples =
                help.lines().filter(|line| line.starts_with("  ") && line.contains("crivo ")).count();
            assert!(examples >= 2, "{}: {examples} examples", command.get_name());
        }
    }
}
