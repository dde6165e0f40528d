//! `cargo xtask bench`: how fast, how small, how exact, beside the peers?
//!
//! Sketches are compared in one process, by a crate outside the workspace. It depends on every peer
//! library, and other tasks should not have to build those.
//!
//! Whole commands are compared on large files: `rows`, `near`, `passages`, `verbs`, `profile`,
//! `mail`, `learning` and `serve`. A Python script makes the files and runs the commands, because
//! the peers are installed in a Python environment. `spark` does the same with jobs on Spark, and
//! `python` with calls from Python. `lost` lists the rows of all pages in which a peer is ahead.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::shell::{Step, root, target};
use crate::{duckdb, lost, setup};

/// Groups of whole commands, each a script `bench_<group>.py`.
const SCRIPTS: [&str; 8] = ["rows", "near", "passages", "verbs", "profile", "mail", "learning", "serve"];

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let arguments: Vec<OsString> = arguments.raw_args()?.collect();
    match arguments.split_first() {
        Some((group, [])) if group == "lost" => return lost::run(),
        Some((group, rest)) if group == "spark" => return spark(rest),
        Some((group, rest)) if group == "python" => return python(rest),
        Some((group, rest)) if group == "duckdb" => return functions_in_duckdb(rest),
        _ => {}
    }
    if let Some((group, rest)) = arguments.split_first()
        && let Some(group) = SCRIPTS.iter().find(|script| group == **script)
    {
        return commands(group, rest);
    }
    sketches(&arguments)
}

/// Returns the folder of the virtual environment in which the peers are installed.
fn environment() -> PathBuf {
    target().join("venv-bench")
}

fn sketches(arguments: &[OsString]) -> Result<()> {
    let manifest = root().join("benchmarks/Cargo.toml");
    ensure!(manifest.exists(), "there is no benchmarks/Cargo.toml");
    Step::cargo("run --release --manifest-path")
        .args([manifest.as_os_str()])
        .args(["--"])
        .args(arguments)
        .run()
}

/// Runs `benchmarks/commands/bench_spark.py` with the Python package, because Spark jobs use crivo
/// as a library.
fn spark(arguments: &[OsString]) -> Result<()> {
    setup::require_python()?;
    setup::require_java()?;
    setup::python_with_crivo()?;
    setup::python_with_spark()?
        .script(&root().join("benchmarks/commands/bench_spark.py"))
        .args(["--data".into(), target().join("bench-data").into_os_string()])
        .args(arguments)
        .run()
}

/// Runs the scripts of `benchmarks/python`: they insert keys into a sketch or, if a corpus is
/// passed, find near-duplicates in it.
fn python(arguments: &[OsString]) -> Result<()> {
    setup::require_python()?;
    let python = setup::python_with_crivo()?;
    let folder = root().join("benchmarks/python");
    python
        .module("pip install --quiet --disable-pip-version-check -r")
        .args([folder.join("requirements.txt")])
        .run()?;
    let script = if arguments.is_empty() { "insert_batch.py" } else { "near_duplicates.py" };
    python.script(&folder.join(script)).args(arguments).run()
}

/// Runs `benchmarks/python/duckdb_functions.py` on a release build of the extension, and writes its
/// page.
fn functions_in_duckdb(arguments: &[OsString]) -> Result<()> {
    setup::require_python()?;
    let extension = duckdb::extension(duckdb::Build::Release)?;
    setup::python_with(&environment(), &root().join("benchmarks/python/requirements_duckdb.txt"))?
        .script(&root().join("benchmarks/python/duckdb_functions.py"))
        .args([extension])
        .args(["--page".into(), root().join("docs/benchmarks/duckdb.md").into_os_string()])
        .args(arguments)
        .run()
}

/// Runs `benchmarks/commands/bench_<group>.py` on the command-line program as it is installed.
fn commands(group: &str, arguments: &[OsString]) -> Result<()> {
    Step::cargo("build --profile dist --package crivo-cli").run()?;
    if group == "serve" {
        Step::cargo("build --profile dist --package crivo-mail --example load").run()?;
    }
    let folder = root().join("benchmarks/commands");
    let own = folder.join(format!("requirements_{group}.txt"));
    let shared = folder.join("requirements.txt");
    let python = setup::python_with(&environment(), if own.exists() { &own } else { &shared })?;
    python
        .script(&folder.join(format!("bench_{group}.py")))
        .args(["--crivo".into(), target().join("dist/crivo").into_os_string()])
        .args(["--data".into(), target().join("bench-data").into_os_string()])
        .args(arguments)
        .run()
}
