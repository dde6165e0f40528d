//! `crivo private aggregate`: adds reports to a sketch.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use crivo::frequency::private::{PrivateCountMean, Protocol};

use crate::cmd::{Outcome, show};
use crate::interrupt::{self, Interrupted};
use crate::output::{self, Output};
use crate::store::{self, Stored};
use crate::used_files::UsedFiles;

/// The number of reports that are added at a time.
const AT_ONCE: usize = 1000;

/// Add up private reports into a sketch that crivo ask answers from
///
/// The reports must have been made with the same epsilon, rows, width and keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo private aggregate *.reports -o emoji.crivo
  crivo private aggregate monday.reports tuesday.reports -o both.crivo && crivo ask both.crivo yes no")]
pub(super) struct Args {
    /// The files of reports; - is standard input
    #[arg(value_name = "REPORTS", required = true)]
    reports: Vec<PathBuf>,

    /// Where to write the sketch
    #[arg(short, value_name = "SKETCH")]
    output: PathBuf,

    /// Print what `crivo show --json` prints about the sketch
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &Output) -> Outcome {
    let destination = UsedFiles::reading(&args.reports).output(&args.output)?;
    interrupt::watch(false);
    let mut sum: Option<(PrivateCountMean, String)> = None;
    for path in &args.reports {
        let name = store::name_of(path);
        add(path, &name, &mut sum)?;
    }
    let Some((sketch, _)) = sum else { bail!("there are no reports to add up") };
    let reports = sketch.reports();
    let error = output::count(sketch.protocol().standard_error(reports) as u64);
    let sketch = crivo::codec::AnySketch::from(sketch);
    let bytes = sketch.encode();
    destination.write(&bytes)?;
    if args.json {
        show::print_json(&Stored { sketch, file_bytes: bytes.len() }, out)?;
    } else {
        let (reports, name) = (output::count(reports), destination.name());
        out.remark(format_args!("{reports} reports in {name}, answers off by about {error}"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds the reports of a file to the sum. The first file begins the sum.
fn add(path: &Path, name: &str, sum: &mut Option<(PrivateCountMean, String)>) -> Result<()> {
    let failed = |error: &io::Error| anyhow!("{name}: {}", store::reason(error));
    let mut file: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(|error| failed(&error))?)
    };
    let mut bytes = Vec::new();
    let mut read = |bytes: &mut Vec<u8>, length: usize| {
        bytes.clear();
        file.by_ref().take(length as u64).read_to_end(bytes).map_err(|error| failed(&error))
    };
    read(&mut bytes, Protocol::HEADER_LEN)?;
    let protocol = Protocol::from_header(&bytes).map_err(|error| anyhow!("{name}: {error}"))?;
    let (sketch, first) = match sum {
        Some(known) => known,
        None => sum.insert((PrivateCountMean::new(protocol)?, name.into())),
    };
    require_same(sketch.protocol(), &protocol).map_err(|field| {
        anyhow!("{name}: was made for another protocol than {first}, with another {field}: add them up apart")
    })?;
    let mut before = 0;
    while read(&mut bytes, protocol.record_len() * AT_ONCE)? > 0 {
        sketch.insert_records(&bytes).map_err(|error| match before {
            0 => anyhow!("{name}: {error}"),
            // The error numbers the reports from the first that was added with it.
            _ => anyhow!("{name}: after the first {} reports: {error}", output::count(before)),
        })?;
        before += AT_ONCE as u64;
        if interrupt::is_requested() {
            return Err(Interrupted.into());
        }
    }
    Ok(())
}

/// Returns the first property in which two protocols differ as an error.
fn require_same(mine: &Protocol, theirs: &Protocol) -> Result<(), &'static str> {
    match () {
        () if mine.epsilon() != theirs.epsilon() => Err("epsilon"),
        () if mine.rows() != theirs.rows() => Err("number of rows"),
        () if mine.width() != theirs.width() => Err("width"),
        () if mine.scheme() != theirs.scheme() => Err("kind of keys or seed"),
        () => Ok(()),
    }
}
