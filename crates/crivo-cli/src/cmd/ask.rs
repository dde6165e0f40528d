//! `crivo ask`: what does a sketch say about these keys?

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;

use super::Outcome;
use crate::kinds::{self, Kind};
use crate::store;

/// What does a sketch say about these keys?
///
/// Sketches that answer about keys say how often each came, or whether it may be there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo ask visits.crivo ana rui
  cut -f1 users.tsv | crivo ask visits.crivo - --json")]
pub(crate) struct Args {
    /// The sketch file
    #[arg(value_name = "SKETCH")]
    sketch: PathBuf,

    /// The keys to ask about; - reads them from standard input, one a line
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<OsString>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Outcome {
    let sketch = store::read(&args.sketch)?.sketch;
    let name = store::name_of(&args.sketch);
    // No kind of sketch that answers about keys exists yet: each will have its arm here.
    let family = sketch.family();
    let Kind { made_by, answers, asked_by } = kinds::of(family);
    bail!(
        "{name}: this is a {family} made by `{made_by}`; it cannot answer about single keys, only {answers}: {asked_by} {name}"
    )
}
