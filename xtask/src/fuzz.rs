//! `cargo xtask fuzz`: is there any input that breaks a promise?
//!
//! Every target under `fuzz/fuzz_targets` runs for the same time. The first inputs are valid ones,
//! so that the search begins behind the checks and need not guess its way through them: the golden
//! files for the decoders, and the files of `fuzz/seeds` for the other targets. A finding fails the
//! verb, which prints where the input is stored and how to repeat it.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;

use crate::shell::{Step, root};
use crate::tools;

/// The limit of memory. A decoder that allocates more for inputs of some kilobytes has trusted a
/// stored length.
const MOST_MEGABYTES: u32 = 256;
/// Long enough for a dense sketch of precision 13, short enough for thousands of runs a second.
const LONGEST_INPUT: u32 = 8 << 10;
/// A single input that takes longer than this many seconds is a finding.
const SLOWEST_INPUT: u32 = 10;

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let (mut seconds, mut repeat, mut wanted) = (60_u32, None, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("seconds") => seconds = arguments.value()?.parse()?,
            Long("repeat") => repeat = Some(arguments.value()?),
            Value(target) if wanted.is_none() => wanted = Some(target.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    ensure!(seconds > 0, "--seconds: expected at least 1, found 0 (libFuzzer would never stop)");
    let mut targets = targets()?;
    if let Some(wanted) = wanted {
        ensure!(targets.contains(&wanted), "no fuzz target `{wanted}`: there are {}", targets.join(", "));
        targets = vec![wanted];
    }
    let cargo_fuzz = tools::FUZZ.find_or_install()?;

    if let Some(input) = repeat {
        let [target] = targets.as_slice() else { bail!("--repeat needs a target: {}", targets.join(", ")) };
        return fuzz_step(&cargo_fuzz, target).args([input]).run();
    }
    for target in &targets {
        seed_corpus(target)?;
        let started = SystemTime::now();
        let outcome = fuzz_step(&cargo_fuzz, target)
            .args(["--"])
            .args([
                format!("-max_total_time={seconds}"),
                format!("-max_len={LONGEST_INPUT}"),
                format!("-timeout={SLOWEST_INPUT}"),
                format!("-malloc_limit_mb={MOST_MEGABYTES}"),
                "-print_final_stats=1".to_owned(),
            ])
            .run();
        if let Err(error) = outcome {
            return Err(explain(error, target, started));
        }
    }
    println!("\nNo finding in {seconds} seconds each of: {}", targets.join(", "));
    Ok(())
}

/// Returns the step `cargo fuzz run <target>`. An environment variable lets the stable compiler
/// accept the sanitizer's flags.
fn fuzz_step(cargo_fuzz: &Path, target: &str) -> Step {
    Step::new(cargo_fuzz, "run --fuzz-dir fuzz").args([target]).env("RUSTC_BOOTSTRAP", "1")
}

fn targets() -> Result<Vec<String>> {
    let folder = root().join("fuzz/fuzz_targets");
    let mut targets = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        if let (Some("rs"), Some(name)) =
            (path.extension().and_then(|e| e.to_str()), path.file_stem().and_then(|name| name.to_str()))
        {
            targets.push(name.to_owned());
        }
    }
    targets.sort();
    Ok(targets)
}

/// Copies the valid inputs of a target to its corpus, where libFuzzer keeps what it finds.
fn seed_corpus(target: &str) -> Result<()> {
    let seeds = match target.strip_prefix("decode") {
        Some(_) => root().join("crates/crivo/tests/golden"),
        None => root().join("fuzz/seeds").join(target),
    };
    if !seeds.exists() {
        return Ok(());
    }
    let corpus = root().join("fuzz/corpus").join(target);
    fs::create_dir_all(&corpus)?;
    for entry in fs::read_dir(&seeds)? {
        let path = entry?.path();
        if let (true, Some(name)) = (path.is_file(), path.file_name()) {
            fs::copy(&path, corpus.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// Adds to the error the inputs that were written since `started`, and how to run them again.
fn explain(error: anyhow::Error, target: &str, started: SystemTime) -> anyhow::Error {
    let folder = format!("fuzz/artifacts/{target}");
    let Ok(entries) = fs::read_dir(root().join(&folder)) else { return error };
    let mut lines = vec![format!("{error:#}")];
    for entry in entries.flatten() {
        if entry.metadata().and_then(|about| about.modified()).is_ok_and(|written| written >= started) {
            let input = format!("{folder}/{}", entry.file_name().to_string_lossy());
            lines.push(format!("  found: {input}"));
            lines.push(format!("  repeat: cargo xtask fuzz {target} --repeat {input}"));
        }
    }
    anyhow::anyhow!(lines.join("\n"))
}
