//! `cargo xtask mutants`: would the tests notice if a line were wrong?
//!
//! cargo-mutants changes one operator, constant or result at a time and runs the tests. A mutant
//! that passes the tests is either a gap in the tests or a change without effect.
//! `xtask/mutants.txt` lists the second kind, each with its reason.
//!
//! Each crate is tried in two rounds. The first runs the quick tests, which catch most mutants in
//! seconds. The second runs the statistical tests on the mutants that are left, because only they
//! notice a wrong constant of an estimator.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use lexopt::prelude::*;

use crate::shell::{Step, root, target};
use crate::tools;

/// The list of mutants that have no effect, with the reason for each.
const HARMLESS: &str = "xtask/mutants.txt";
/// The share of mutants that the tests must catch.
const WANTED: f64 = 0.9;

/// A crate, the files whose mutants are tried, and the tests of each round.
struct Subject {
    package: &'static str,
    files: &'static [&'static str],
    rounds: &'static [&'static [&'static str]],
}

const SUBJECTS: [Subject; 3] = [
    Subject {
        package: "crivo",
        files: &[
            "crates/crivo/src/codec/**",
            "crates/crivo/src/distinct/**",
            "crates/crivo/src/frequency/**",
            "crates/crivo/src/membership/**",
            "crates/crivo/src/quantiles/**",
            "crates/crivo/src/sampling/**",
            "crates/crivo/src/similarity/**",
        ],
        rounds: &[
            &[
                "--lib",
                "--test=laws",
                "--test=damage",
                "--test=golden",
                "--test=memory",
                "--test=count_min",
                "--test=counting_bloom",
                "--test=distinct",
                "--test=lsh_index",
                "--test=private",
                "--test=range_count_min",
                "--test=sampling",
            ],
            &["--tests"],
        ],
    },
    Subject { package: "crivo-near", files: &["crates/crivo-near/src/**"], rounds: &[&["--tests"]] },
    Subject {
        package: "crivo-rows",
        files: &["crates/crivo-rows/src/condition/**"],
        rounds: &[&["--tests"]],
    },
];

/// The results of the mutants of one or more crates.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Outcome {
    caught: Vec<String>,
    /// The number of mutants that do not compile. They say nothing about the tests.
    unviable: usize,
    missed: Vec<String>,
}

impl Outcome {
    fn caught_share(&self) -> f64 {
        let caught = self.caught.len() as f64;
        caught / (caught + self.missed.len() as f64).max(1.0)
    }

    /// Moves the mutants that a later round caught from missed to caught. Names that this outcome
    /// did not miss are ignored.
    fn caught_later(&mut self, names: &[String]) {
        let (caught, missed) = self.missed.drain(..).partition(|mutant| names.contains(mutant));
        self.missed = missed;
        self.caught.extend::<Vec<String>>(caught);
    }
}

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let (mut sample, mut seed, mut wanted, mut jobs) = (None, 0_usize, None, 1_usize);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("sample") => sample = Some(arguments.value()?.parse::<usize>()?),
            Long("seed") => seed = arguments.value()?.parse()?,
            Long("package") => wanted = Some(arguments.value()?.string()?),
            Long("jobs") => jobs = arguments.value()?.parse()?,
            other => return Err(other.unexpected().into()),
        }
    }
    ensure!(sample != Some(0), "--sample: expected at least 1, found 0");
    let subjects: Vec<&Subject> = SUBJECTS
        .iter()
        .filter(|subject| wanted.as_deref().is_none_or(|name| name == subject.package))
        .collect();
    ensure!(
        !subjects.is_empty(),
        "--package: expected {}",
        SUBJECTS.map(|subject| subject.package).join(" or ")
    );
    let program = tools::MUTANTS.find_or_install()?;
    let harmless = harmless(&fs::read_to_string(root().join(HARMLESS)).context(HARMLESS)?)?;

    let lists: Vec<usize> = subjects.iter().map(|subject| subject.count(&program)).collect::<Result<_>>()?;
    let all: usize = lists.iter().sum();
    let mut total = Outcome::default();
    for (subject, mutants) in subjects.into_iter().zip(lists) {
        // Every n-th mutant, so that a sample has some mutants of each file.
        let every = sample.map_or(1, |sample| all.div_ceil(sample).clamp(1, mutants.max(1)));
        println!("\n{}: {mutants} mutants, one of {every} is tried", subject.package);
        let outcome = subject.try_mutants(&program, (seed % every, every), jobs)?;
        total.caught.extend(outcome.caught);
        total.unviable += outcome.unviable;
        total.missed.extend(outcome.missed);
    }
    report(total, &harmless)
}

/// Prints the results. Returns an error if the tests caught too small a share of the mutants, where
/// mutants known to be harmless do not count as missed.
fn report(mut outcome: Outcome, harmless: &[(String, String)]) -> Result<()> {
    outcome.missed.retain(|mutant| !harmless.iter().any(|(known, _)| *known == without_place(mutant)));
    println!(
        "\n{} mutants were caught, {} missed ({:.1} % caught); {} did not compile",
        outcome.caught.len(),
        outcome.missed.len(),
        100.0 * outcome.caught_share(),
        outcome.unviable
    );
    for mutant in &outcome.missed {
        println!("missed: {mutant}");
    }
    if outcome.caught_share() < WANTED {
        bail!(
            "fewer than {:.0} % of the mutants were caught\n  write a test that fails with the mutant; if it changes \
             nothing, list it in {HARMLESS} with the reason",
            100.0 * WANTED
        );
    }
    Ok(())
}

impl Subject {
    fn step(&self, program: &Path) -> Step {
        let files = self.files.iter().flat_map(|file| ["--file", file]);
        Step::new(program, "mutants --package").args([self.package]).args(files)
    }

    fn count(&self, program: &Path) -> Result<usize> {
        let list = self.step(program).args(["--list"]).output();
        Ok(list.with_context(|| format!("cannot list the mutants of {}", self.package))?.lines().count())
    }

    /// Tries one shard of the mutants in the first round, and the missed ones in later rounds.
    fn try_mutants(&self, program: &Path, (shard, shards): (usize, usize), jobs: usize) -> Result<Outcome> {
        let folder = target().join("mutants").join(self.package);
        if folder.exists() {
            fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let mut total = Outcome::default();
        for (round, tests) in self.rounds.iter().enumerate() {
            let chosen: Vec<String> = if round == 0 {
                let shard = format!("{shard}/{shards}");
                ["--sharding", "round-robin", "--shard", &shard].map(str::to_owned).to_vec()
            } else {
                total.missed.iter().flat_map(|name| ["--re".to_owned(), pattern_of(name)]).collect()
            };
            let step = self
                .step(program)
                .args(["--profile", "mutants", "--no-shuffle", "--jobs", &jobs.to_string()])
                .args(["--output".as_ref(), folder.as_os_str()])
                .args(chosen)
                .args(["--"])
                .args(*tests);
            // The command also fails if mutants were missed. Then its lists exist, and that is no
            // error.
            let outcome = step.run();
            let lists = folder.join("mutants.out");
            if !lists.join("missed.txt").exists() {
                outcome?;
            }
            let found = Outcome::in_folder(&lists)?;
            if round == 0 {
                ensure!(
                    found.caught.len() + found.unviable + found.missed.len() > 0,
                    "no mutant of {} was tried: does the unchanged crate pass its tests?",
                    self.package
                );
                total = found;
            } else {
                total.caught_later(&found.caught);
            }
            if total.missed.is_empty() {
                break;
            }
        }
        Ok(total)
    }
}

/// Returns a regular expression that matches exactly one mutant's name.
fn pattern_of(name: &str) -> String {
    let escaped = name.chars().flat_map(|c| {
        let mark = r"\.+*?()|[]{}^$#&-~".contains(c).then_some('\\');
        mark.into_iter().chain([c])
    });
    format!("^{}$", escaped.collect::<String>())
}

impl Outcome {
    /// Reads the lists that cargo-mutants writes. A mutant that runs out of time counts as caught.
    fn in_folder(folder: &Path) -> Result<Self> {
        let lines = |name: &str| -> Result<Vec<String>> {
            let path: PathBuf = folder.join(name);
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(text.lines().map(str::to_owned).collect())
        };
        Ok(Self {
            caught: [lines("caught.txt")?, lines("timeout.txt")?].concat(),
            unviable: lines("unviable.txt")?.len(),
            missed: lines("missed.txt")?,
        })
    }
}

/// Parses the list of harmless mutants with their reasons. Each has a line `file: change`, and an
/// indented line with the reason.
fn harmless(list: &str) -> Result<Vec<(String, String)>> {
    let mut known: Vec<(String, String)> = Vec::new();
    for line in list.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match (line.strip_prefix("    "), known.last_mut()) {
            (None, _) => known.push((line.to_owned(), String::new())),
            (Some(reason), Some((_, reasons))) => reasons.push_str(reason),
            (Some(_), None) => bail!("{HARMLESS}: a reason stands before any mutant"),
        }
    }
    if let Some((mutant, _)) = known.iter().find(|(_, reason)| reason.is_empty()) {
        bail!("{HARMLESS}: no reason is given for: {mutant}");
    }
    Ok(known)
}

/// Removes line and column from `file:line:column: change`, because they move.
fn without_place(mutant: &str) -> String {
    let mut parts = mutant.splitn(4, ':');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(file), Some(_), Some(_), Some(change)) => format!("{file}:{change}"),
        _ => mutant.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmless_mutants_have_reasons() {
        let list = "# why\n\na.rs: replace + with - in f\n    Both are zero.\n";
        assert_eq!(
            harmless(list).unwrap(),
            [("a.rs: replace + with - in f".to_owned(), "Both are zero.".to_owned())]
        );
        assert!(harmless("a.rs: x\nb.rs: y\n    Why.\n").unwrap_err().to_string().contains("a.rs: x"));
        assert!(harmless("    Why.\n").is_err());
        harmless(&fs::read_to_string(root().join(HARMLESS)).unwrap()).unwrap();
    }

    #[test]
    fn known_mutants_are_found_wherever_their_line_is() {
        let missed = "crates/x.rs:12:34: replace < with <= in A::b".to_owned();
        assert_eq!(without_place(&missed), "crates/x.rs: replace < with <= in A::b");
        let outcome = Outcome { caught: vec!["c".into()], unviable: 0, missed: vec![missed.clone()] };
        assert!(report(outcome.clone(), &[]).is_err());
        report(outcome, &[(without_place(&missed), "Why.".into())]).unwrap();
    }

    #[test]
    fn a_share_counts_what_could_be_caught() {
        let caught = (0..9).map(|number| number.to_string()).collect();
        let mut outcome = Outcome { caught, unviable: 5, missed: vec!["m".into()] };
        assert_eq!(outcome.caught_share(), 0.9);
        report(outcome.clone(), &[]).unwrap();
        outcome.caught_later(&["another".into(), "m".into()]);
        assert_eq!((outcome.caught.len(), outcome.missed.len()), (10, 0));
    }

    #[test]
    fn a_pattern_matches_its_name_alone() {
        let name = "a/b.rs:1:2: replace <S as T>::f -> u32 with 1 (x)";
        assert_eq!(pattern_of(name), r"^a/b\.rs:1:2: replace <S as T>::f \-> u32 with 1 \(x\)$");
    }
}
