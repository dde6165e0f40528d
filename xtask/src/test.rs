//! `cargo xtask test`: every test there is.
//!
//! Rust comes first, because it fails soonest, then the documentation's examples. The Python
//! package follows, installed the way users install it. Then come the packages for users, each
//! installed on a system without crivo, and last Spark. `setup` installs what a fresh machine
//! lacks.

use std::hash::{BuildHasher, RandomState};

use anyhow::Result;
use lexopt::prelude::*;

use crate::shell::{Step, root, target};
use crate::{attack, container, dist, duckdb, setup, tools};

/// The environment variable with the seed of the statistical tests.
const SEED: &str = "CRIVO_TEST_SEED";

/// The tests of results that must be the same on every machine: bytes, answers, merges, and the
/// errors for damaged bytes.
pub(crate) const SAME_BYTES: &str =
    "--package crivo --test golden --test laws --test damage --test hostile_bytes";

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let (mut fresh_seeds, mut rust_only, mut no_spark) = (false, false, false);
    let (mut in_container, mut portable, mut triple) = (false, false, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("fresh-seeds") => fresh_seeds = true,
            Long("rust-only") => rust_only = true,
            Long("no-spark") => no_spark = true,
            Long("container") => in_container = true,
            Long("portable") => portable = true,
            Long("target") => triple = Some(arguments.value()?.string()?),
            other => return Err(other.unexpected().into()),
        }
    }
    if in_container {
        let passed = [("--fresh-seeds", fresh_seeds), ("--rust-only", rust_only), ("--no-spark", no_spark)];
        return container::test(passed.iter().filter(|(_, given)| *given).map(|(option, _)| *option));
    }
    if portable || triple.is_some() {
        return portable_tests(triple.as_deref());
    }
    let seed = if fresh_seeds { Some(random_seed()) } else { std::env::var(SEED).ok() };
    let tests = Tests { seed };
    if let Some(seed) = &tests.seed {
        println!("Seed of the statistical tests: {seed}");
    }

    let with_python = !rust_only && root().join("pyproject.toml").exists();
    setup::for_rust_tests()?;
    let with_spark = with_python && !no_spark;
    if with_python {
        setup::require_python()?;
    }
    if with_spark {
        setup::require_java()?;
    }
    tests.rust()?;
    if cfg!(unix) {
        attack::smoke(tests.seed.as_deref().and_then(|seed| seed.parse().ok()).unwrap_or(0))?;
    }
    if with_python {
        tests.python()?;
        tests.duckdb()?;
    }
    if with_python && cfg!(target_os = "linux") {
        dist::smoke(&setup::wheel_in(&setup::wheels())?)?;
    }
    if with_spark {
        tests.spark()?;
    }
    println!("\nAll tests passed.");
    Ok(())
}

/// Runs the tests that need nothing but Rust. For another target it runs only the tests of bytes
/// that must be the same on every machine.
fn portable_tests(triple: Option<&str>) -> Result<()> {
    if let Some(triple) = triple {
        return Step::cargo("test")
            .args(SAME_BYTES.split_whitespace())
            .args(["--target", triple])
            .or(format!("the target and its linker must be there: rustup target add {triple}"))
            .run();
    }
    Step::cargo("build --workspace --exclude crivo-py").run()?;
    // The mail filter's tests drive programs of Unix, and the tests in a browser run on Linux.
    let packages = ["crivo", "crivo-arrow", "crivo-rows", "crivo-near", "crivo-page"];
    Step::cargo("test --tests").args(packages.map(|name| format!("--package={name}"))).run()
}

struct Tests {
    seed: Option<String>,
}

impl Tests {
    fn rust(&self) -> Result<()> {
        if tools::has_cargo_subcommand("nextest") {
            self.step(Step::cargo("nextest run --workspace")).run()?;
            print_slowest();
        } else {
            // `--tests` includes libraries and binaries. Naming those would include the ones with
            // `test = false` too.
            self.step(Step::cargo("test --workspace --tests")).run()?;
        }
        self.step(Step::cargo("test --workspace --doc")).run()?;
        self.step(Step::cargo("test --package crivo --features serde --test serde")).run()
    }

    fn python(&self) -> Result<()> {
        let python = setup::python_with_crivo()?;
        // The tests compare the output of this program with Python's.
        let program = setup::tested_program();
        let tests = python.module(
            "pytest --durations=10 python/tests --ignore python/tests/spark --ignore python/tests/sql",
        );
        self.step(tests).env("CRIVO_PROGRAM", program).run()?;
        let advice = "run: ruff check --fix python && ruff format python (from the virtual environment in target/venv)";
        python.module("ruff check python").or(advice).run()?;
        python.module("ruff format --check --quiet python").or(advice).run()?;
        python.module("mypy --strict python/crivo python/tests").run()?;
        python
            .module("mypy.stubtest crivo._native --allowlist python/stubtest-allowlist.txt")
            .or("python/crivo/_native.pyi must declare what the extension has, no more and no less")
            .run()
    }

    /// Tests SQL in DuckDB, with a release build of the extension.
    fn duckdb(&self) -> Result<()> {
        let extension = duckdb::extension(duckdb::Build::Tests)?;
        let python = setup::python_with_crivo()?;
        let older = setup::older_duckdb(&python)?;
        let program = setup::tested_program();
        self.step(python.module("pytest --durations=5 python/tests/sql"))
            .env("CRIVO_PROGRAM", program)
            .env("CRIVO_DUCKDB", extension)
            .env("CRIVO_DUCKDB_OLDER", older)
            .run()
    }

    /// Tests jobs on Spark, in this process and on a cluster of three workers. One of the workers is
    /// killed.
    fn spark(&self) -> Result<()> {
        let python = setup::python_with_spark()?;
        self.step(python.module("pytest --durations=10 python/tests/spark")).run()
    }

    /// Adds the seed to a step, and the advice how to repeat it with the same seed.
    fn step(&self, step: Step) -> Step {
        match &self.seed {
            Some(seed) => step
                .env(SEED, seed)
                .or(format!("to repeat with the same seeds: {SEED}={seed} cargo xtask test")),
            None => step,
        }
    }
}

/// The number of tests that [`print_slowest`] lists.
const SLOWEST: usize = 10;

/// Prints the tests that took longest, from the report that nextest writes.
fn print_slowest() {
    let Ok(report) = std::fs::read_to_string(target().join("nextest/default/junit.xml")) else { return };
    let mut times = times_in(&report);
    times.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    println!("\nThe {SLOWEST} slowest tests:");
    for (name, seconds) in times.iter().take(SLOWEST) {
        println!("{seconds:8.1} s  {name}");
    }
}

/// Returns every test of a report with its seconds.
fn times_in(report: &str) -> Vec<(String, f64)> {
    let attribute = |element: &str, name: &str| {
        let (_, rest) = element.split_once(&format!(" {name}=\""))?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let elements = report.split("<testcase").skip(1).filter_map(|rest| rest.split_once('>'));
    elements
        .filter_map(|(element, _)| {
            let name = format!("{} {}", attribute(element, "classname")?, attribute(element, "name")?);
            Some((name, attribute(element, "time")?.parse().ok()?))
        })
        .collect()
}

/// Returns 64 bits that the standard library took from the operating system's random generator.
pub(crate) fn random_seed() -> String {
    RandomState::new().hash_one(std::process::id()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_from_a_report() {
        let report = r#"<testsuite><testcase name="a::b" classname="crivo::laws" time="1.250">
            </testcase><testcase name="c" classname="xtask" timestamp="x" time="0.5"/></testsuite>"#;
        assert_eq!(times_in(report), [("crivo::laws a::b".into(), 1.25), ("xtask c".into(), 0.5)]);
        assert!(times_in("no report").is_empty());
    }

    #[test]
    fn fresh_seeds_are_fresh() {
        assert_ne!(random_seed(), random_seed());
    }
}
