//! `crivo lab`: runs experiments that compare theory with measurements.
//!
//! The experiments are those of `crivo-lab`. This module selects them, shows their progress and
//! writes the results. A new folder appears complete. In an existing folder, each file is replaced
//! as a whole.

mod progress;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::{Subcommand, ValueEnum};
use crivo_lab::{
    Experiment, Inputs, Outcome as Ran, Scale, Settings, experiments, find, page, run as run_all,
};
use serde::Serialize;

use self::progress::Meters;
use super::Outcome;
use crate::args::Seeded;
use crate::interrupt::{self, Interrupted};
use crate::output::Output;
use crate::store::{Destination, NewFolder};

/// Does theory hold? Experiments with every sketch, each with its verdict
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo lab list
  crivo lab run morris bands -o results
  crivo lab all -o lab && xdg-open lab/index.html")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    List(ListArgs),
    Run(RunArgs),
    All(AllArgs),
}

/// Name the experiments, what each is about, and which verdict is expected
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo lab list
  crivo lab list --json")]
struct ListArgs {
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

/// Run some experiments
///
/// Prints the verdict of each, and ends with exit code 1 if one of them is not the expected one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo lab run morris
  crivo lab run bloom-hashes bloom-size --scale seed -o bloom
  crivo lab run similar-users --movielens ml-100k/u.data")]
struct RunArgs {
    /// Which experiments; `crivo lab list` names them
    #[arg(value_name = "NAME", required = true)]
    names: Vec<String>,

    #[command(flatten)]
    how: LabOptions,
}

/// Run all experiments, and write one page about them
///
/// Prints the verdict of each, and ends with exit code 1 if one of them is not the expected one.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  crivo lab all
  crivo lab all -o lab && xdg-open lab/index.html
  crivo lab all --seed random --scale seed -o full")]
struct AllArgs {
    #[command(flatten)]
    how: LabOptions,
}

#[derive(Debug, clap::Args)]
struct LabOptions {
    /// Write a table for each experiment, their times, and index.html into this folder
    #[arg(short, value_name = "DIR")]
    output: Option<PathBuf>,

    /// How large experiments are made: a few seconds each, or the sizes of the original texts
    #[arg(long, value_enum, value_name = "SCALE", default_value = "usual")]
    scale: Size,

    /// A MovieLens list of ratings (u.data or ratings.dat) instead of generated ones
    #[arg(long, value_name = "PATH")]
    movielens: Option<PathBuf>,

    /// A folder with the folders spam and ham, for the mail experiment
    #[arg(long, value_name = "PATH")]
    mail: Option<PathBuf>,

    #[command(flatten)]
    seed: Seeded,

    /// How many experiments run at once [default: as many as there are processors]
    #[arg(long, value_name = "N")]
    threads: Option<u16>,

    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Size {
    /// As small as the tests allow
    Tiny,
    /// A few seconds each
    Usual,
    /// The sizes of the original texts
    Seed,
}

impl From<Size> for Scale {
    fn from(size: Size) -> Self {
        match size {
            Size::Tiny => Self::Tiny,
            Size::Usual => Self::Usual,
            Size::Seed => Self::Seed,
        }
    }
}

#[derive(Debug, Serialize)]
struct Listed {
    name: &'static str,
    title: &'static str,
    claim: &'static str,
    sources: Vec<String>,
    expected: String,
}

/// The JSON object; fields may be added, never renamed.
#[derive(Debug, Serialize)]
struct LabReport {
    seed: u64,
    scale: &'static str,
    expected: usize,
    experiments: Vec<Judged>,
}

#[derive(Debug, Serialize)]
struct Judged {
    name: &'static str,
    verdict: Option<String>,
    expected: String,
    as_expected: bool,
    reason: String,
    /// The comparison with published figures, if files with their data are given; null otherwise.
    published: Option<Beside>,
    checks: usize,
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Beside {
    verdict: String,
    reason: String,
}

pub(crate) fn run(args: &Args, out: &Output) -> Outcome {
    match &args.what {
        What::List(args) => list(args, out),
        What::Run(args) => {
            let mut chosen: Vec<&'static Experiment> = Vec::new();
            for name in &args.names {
                let experiment = find(name)?;
                // An experiment that is named twice runs once.
                if !chosen.iter().any(|other| other.name == experiment.name) {
                    chosen.push(experiment);
                }
            }
            perform(&chosen, &args.how, out)
        }
        What::All(args) => perform(experiments(), &args.how, out),
    }
}

fn list(args: &ListArgs, out: &Output) -> Outcome {
    let listed = experiments().iter().map(|experiment| Listed {
        name: experiment.name,
        title: experiment.title,
        claim: experiment.claim,
        sources: experiment
            .sources
            .iter()
            .map(|(text, place)| format!("{}, {place}", text.title()))
            .collect(),
        expected: experiment.expected.to_string(),
    });
    if args.json {
        out.json(&serde_json::json!({ "experiments": listed.collect::<Vec<_>>() }))?;
    } else {
        let rows: Vec<(&str, String)> = experiments()
            .iter()
            .map(|experiment| {
                let refuted = if experiment.expected == crivo_lab::Verdict::Confirmed {
                    ""
                } else {
                    " (to be refuted)"
                };
                (experiment.name, format!("{}{refuted}", experiment.title))
            })
            .collect();
        out.table(&rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn perform(chosen: &[&'static Experiment], how: &LabOptions, out: &Output) -> Outcome {
    // All errors in the arguments are found before any work.
    let inputs = Inputs::open(how.movielens.as_deref(), how.mail.as_deref())?;
    let folder = how.output.as_deref().map(|path| Folder::new(path, chosen)).transpose()?;
    let settings = Settings {
        seed: how.seed.number()?,
        scale: how.scale.into(),
        threads: how.threads.unwrap_or(0).into(),
        inputs,
    };
    interrupt::watch(false);
    let outcomes = {
        let meters = Meters::new(out, chosen.len());
        run_all(chosen, &settings, &meters)
    };
    if interrupt::is_requested() {
        return Err(Interrupted.into());
    }
    if let Some(folder) = &folder {
        folder.write(&page::files(&outcomes, &settings))?;
    }
    let expected = outcomes.iter().filter(|outcome| outcome.is_expected()).count();
    if how.json {
        let experiments = outcomes.iter().map(judged).collect();
        out.json(&LabReport { seed: settings.seed, scale: settings.scale.name(), expected, experiments })?;
    } else {
        print(&outcomes, expected, how.output.as_deref(), out)?;
    }
    Ok(if expected == outcomes.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn judged(outcome: &Ran) -> Judged {
    let (verdict, reason, published, checks) = match &outcome.report {
        Ok(report) => {
            let judgement = report.judge();
            let published = judgement.published.as_ref().map(|published| Beside {
                verdict: published.verdict.to_string(),
                reason: published.reason.clone(),
            });
            (Some(judgement.verdict.to_string()), judgement.reason(), published, judgement.lines.len())
        }
        Err(error) => (None, error.to_string(), None, 0),
    };
    Judged {
        name: outcome.experiment.name,
        verdict,
        expected: outcome.experiment.expected.to_string(),
        as_expected: outcome.is_expected(),
        reason,
        published,
        checks,
        seconds: outcome.seconds,
    }
}

fn print(outcomes: &[Ran], expected: usize, folder: Option<&Path>, out: &Output) -> Result<()> {
    let mut rows: Vec<(&str, String)> = Vec::new();
    for outcome in outcomes {
        let Judged { name, verdict, expected, as_expected, reason, published, .. } = judged(outcome);
        let verdict = match verdict {
            None => format!("not done: {reason}"),
            Some(verdict) if as_expected && outcomes.len() > 3 => verdict,
            Some(verdict) if as_expected => format!("{verdict}: {reason}"),
            Some(verdict) => format!("{verdict}, expected {expected}: {reason}"),
        };
        rows.push((name, verdict));
        // The comparison with published figures is printed for any number of experiments.
        if let Some(Beside { verdict, reason }) = published {
            rows.push(("", format!("published figures {verdict}: {reason}")));
        }
    }
    out.table(&rows)?;
    out.detail(format_args!("{expected} of {} verdicts are as expected", outcomes.len()))?;
    if let Some(folder) = folder {
        out.remark(format_args!("{} has the page and the tables", folder.join("index.html").display()))?;
    }
    Ok(())
}

/// The folder of the results.
enum Folder {
    /// A new folder, which appears with all its files.
    New(NewFolder),
    /// An existing folder, in which each file is replaced as a whole.
    There(PathBuf),
}

impl Folder {
    /// Makes sure that the folder can be written, and changes nothing yet.
    fn new(path: &Path, chosen: &[&'static Experiment]) -> Result<Self> {
        if path.is_dir() {
            let names = chosen.iter().map(|experiment| format!("{}.csv", experiment.name));
            for name in names.chain(["times.csv".into(), "index.html".into()]) {
                Destination::new(&path.join(name)).context("-o")?;
            }
            return Ok(Self::There(path.to_path_buf()));
        }
        if path.exists() {
            bail!("-o: {}: is no folder", path.display());
        }
        Ok(Self::New(NewFolder::new(path).context("-o")?))
    }

    fn write(&self, files: &[page::File]) -> Result<()> {
        match self {
            Self::New(folder) => folder.fill(|path| {
                for file in files {
                    std::fs::write(path.join(&file.name), &file.text)
                        .with_context(|| format!("{}: was not written", file.name))?;
                }
                Ok(())
            }),
            Self::There(path) => files
                .iter()
                .try_for_each(|file| Destination::new(&path.join(&file.name))?.write(file.text.as_bytes())),
        }
    }
}
