//! `crivo man`: manual pages, one for each command.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use super::{Cli, Outcome};
use crate::output::Output;
use crate::store;

/// Write the manual pages into a folder, one for each command
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo man ~/.local/share/man/man1
  crivo man pages && man -l pages/crivo-distinct.1")]
pub(crate) struct Args {
    /// The folder; it is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let folder = args.folder.display();
    store::make_folder(&args.folder)?;
    clap_mangen::generate_to(Cli::command(), &args.folder)
        .with_context(|| format!("{folder}: the pages were not written"))?;
    out.remark(format_args!("manual pages written to {folder}: try man -l {folder}/crivo.1"))?;
    Ok(ExitCode::SUCCESS)
}
