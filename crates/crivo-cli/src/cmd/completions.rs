//! `crivo completions`: writes completion scripts for shells.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Outcome};
use crate::output::Output;

/// Print what a shell needs to complete crivo's commands and options
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo completions bash > ~/.local/share/bash-completion/completions/crivo
  crivo completions fish > ~/.config/fish/completions/crivo.fish")]
pub(crate) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    // The script is generated in memory first, because the generator panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "crivo", &mut script);
    out.raw(&script)?;
    Ok(ExitCode::SUCCESS)
}
