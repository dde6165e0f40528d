//! `cargo xtask lint`: everything that can be said about the code without running it.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use lexopt::prelude::*;

use crate::shell::{Step, root, target};
use crate::{kinds, tools};

/// Crates outside the workspace. The benchmarks are only formatted here: to check more would
/// mean building every peer library.
const BENCHMARKS: &str = "benchmarks/Cargo.toml";
const DUCKDB: &str = "crates/crivo-duckdb/Cargo.toml";

/// Crates that are of no use outside of this repository.
const NOT_PUBLISHED: [&str; 4] = ["crivo-browser-test", "crivo-fuzz", "crivo-py", "xtask"];

/// The advisory database is a few megabytes: who has not got it by then has no network.
const DATABASE_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let mut build_packages = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("packages") => build_packages = true,
            other => return Err(other.unexpected().into()),
        }
    }
    formatting()?;
    kinds::check()?;
    clippy()?;
    features()?;
    documentation()?;
    packages(build_packages)?;
    let deny = tools::DENY.find_or_install()?;
    dependencies(&deny)?;
    let advisories_checked = advisories(&deny)?;
    println!(
        "\nNothing to complain about.{}",
        if advisories_checked { "" } else { " (Advisories were NOT checked: see above.)" }
    );
    Ok(())
}

fn formatting() -> Result<()> {
    Step::cargo("fmt --all --check").or("run: cargo fmt --all").run()?;
    for manifest in [BENCHMARKS, DUCKDB] {
        if root().join(manifest).exists() {
            Step::cargo("fmt --check --manifest-path")
                .args([manifest])
                .or(format!("run: cargo fmt --manifest-path {manifest}"))
                .run()?;
        }
    }
    Ok(())
}

fn clippy() -> Result<()> {
    let advice = "where a lint is wrong, allow it on the line and say why";
    Step::cargo("clippy --workspace --all-targets -- -D warnings").or(advice).run()?;
    Step::cargo("clippy --all-targets --all-features --manifest-path")
        .args([DUCKDB, "--", "-D", "warnings"])
        .env("CARGO_TARGET_DIR", target().join("duckdb"))
        .or(advice)
        .run()
}

/// The library with fewer and with more features than the workspace builds it with.
fn features() -> Result<()> {
    let advice = "what needs the standard library stands behind the feature `std`; what it has beyond `core` is in \
                  crates/crivo/src/prelude.rs";
    Step::cargo("clippy --package crivo --no-default-features -- -D warnings").or(advice).run()?;
    let advice = "what a feature brings must be built without the others";
    Step::cargo("clippy --package crivo --all-targets --features serde,study -- -D warnings").or(advice).run()
}

/// Packs every crate that is meant for others, and builds the library from what was packed. The others would
/// build all dependencies again, which takes as long as the tests: `lint --packages` builds them too.
/// Crates of the workspace find each other there, so nothing has to be published first.
fn packages(build_all: bool) -> Result<()> {
    let advice = "a package must have all files that it is built from, and metadata that is true";
    let pack = |arguments| {
        let excluded = NOT_PUBLISHED.iter().flat_map(|name| ["--exclude", name]);
        Step::cargo(arguments).args(excluded).or(advice).run()
    };
    if build_all {
        return pack("package --workspace --allow-dirty --quiet");
    }
    pack("package --workspace --allow-dirty --quiet --no-verify")?;
    Step::cargo("package --package crivo --allow-dirty --quiet").or(advice).run()
}

fn documentation() -> Result<()> {
    Step::cargo("doc --workspace --no-deps --document-private-items")
        .env("RUSTDOCFLAGS", "-D warnings")
        .or("a link in the documentation leads nowhere, or an example is malformed")
        .run()
}

fn dependencies(deny: &Path) -> Result<()> {
    Step::new(deny, "check licenses bans sources")
        .or("deny.toml says which licences and sources are allowed, and why")
        .run()
}

/// Asks the database of known vulnerabilities about the dependencies. Whether it was asked is the answer.
///
/// Getting the database and asking it are two commands, so that their failures cannot be
/// confused: without network there is nothing to report, but an advisory is a failure.
fn advisories(deny: &Path) -> Result<bool> {
    let fetched = Step::new(deny, "fetch db")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_HTTP_LOW_SPEED_LIMIT", "1000")
        .env("GIT_HTTP_LOW_SPEED_TIME", "20")
        .run_within(DATABASE_LIMIT);
    if let Err(error) = fetched {
        println!(
            "\nAdvisories were NOT checked, because the RustSec database could not be fetched:\n  {error:#}"
        );
        return Ok(false);
    }
    Step::new(deny, "--offline check advisories")
        .or("update the dependency (cargo update -p NAME); if no fixed release exists, list the advisory in deny.toml \
             with the reason why it does not concern crivo")
        .run()?;
    Ok(true)
}
