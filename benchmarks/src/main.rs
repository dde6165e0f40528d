//! crivo beside its peers, on the same input in one process.
//!
//! `cargo xtask bench` runs every group and prints its tables; `cargo xtask bench distinct` one.
//! `--write DIR` also writes each group's page. Only the ratios mean something: absolute times
//! depend on the machine and on what else it does.

mod distinct;
mod measure;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use report::Page;

/// A group of jobs, and the page its tables go on.
type Group = (&'static str, fn() -> Page);

const GROUPS: &[Group] = &[("distinct", distinct::run)];

fn main() -> ExitCode {
    let mut wanted = Vec::new();
    let mut folder = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--write" => folder = arguments.next().map(PathBuf::from),
            name if GROUPS.iter().any(|(group, _)| *group == name) => wanted.push(argument),
            other => {
                let known: Vec<_> = GROUPS.iter().map(|(group, _)| *group).collect();
                eprintln!("unknown group {other:?}; there are: {}; and --write DIR", known.join(", "));
                return ExitCode::from(2);
            }
        }
    }
    for (name, run) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|group| group == name) {
            let text = run().to_markdown();
            println!("{text}");
            if let Some(folder) = &folder
                && let Err(error) = std::fs::write(folder.join(format!("{name}.md")), text)
            {
                eprintln!("{}: {error}", folder.display());
                return ExitCode::from(2);
            }
        }
    }
    ExitCode::SUCCESS
}
