//! `crivo man`: manual pages, one for each command.

mod markdown;

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
  crivo man pages && man -l pages/crivo-distinct.1
  crivo man --markdown docs/commands")]
pub(crate) struct Args {
    /// The folder; it is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Write Markdown instead, as the book has it
    #[arg(long)]
    markdown: bool,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    let folder = args.folder.display();
    store::make_folder(&args.folder)?;
    if args.markdown {
        for (name, text) in markdown::pages(Cli::command()) {
            let path = args.folder.join(name);
            std::fs::write(&path, text).with_context(|| format!("{}: cannot be written", path.display()))?;
        }
        out.remark(format_args!("pages written to {folder}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    clap_mangen::generate_to(Cli::command(), &args.folder)
        .with_context(|| format!("{folder}: the pages were not written"))?;
    out.remark(format_args!("manual pages written to {folder}: try man -l {folder}/crivo.1"))?;
    Ok(ExitCode::SUCCESS)
}
