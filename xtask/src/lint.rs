//! `cargo xtask lint`: every check of the code that does not run it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use lexopt::prelude::*;

use crate::shell::{Step, root, target};
use crate::{kinds, tools};

/// A crate outside the workspace. The benchmarks are only formatted here, because to check more
/// would mean building every peer library.
const BENCHMARKS: &str = "benchmarks/Cargo.toml";
const DUCKDB: &str = "crates/crivo-duckdb/Cargo.toml";

/// Crates that are useful only inside this repository.
const NOT_PUBLISHED: [&str; 4] = ["crivo-browser-test", "crivo-fuzz", "crivo-py", "xtask"];

/// The time limit for fetching the advisory database. It is a few megabytes, so a slower machine
/// has no network.
const DATABASE_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let (mut build_packages, mut all_feature_sets) = (false, false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("packages") => build_packages = true,
            Long("all-feature-sets") => all_feature_sets = true,
            Long("minimum-rust") => return minimum_rust(),
            other => return Err(other.unexpected().into()),
        }
    }
    formatting()?;
    kinds::check()?;
    clippy()?;
    features()?;
    program_features(all_feature_sets)?;
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
    Step::cargo("clippy --locked --all-targets --all-features --manifest-path")
        .args([DUCKDB, "--", "-D", "warnings"])
        .env("CARGO_TARGET_DIR", target().join("duckdb"))
        .or(advice)
        .run()
}

/// Checks the library with fewer and with more features than the workspace uses.
fn features() -> Result<()> {
    let advice = "what needs the standard library stands behind the feature `std`; what it has beyond `core` is in \
                  crates/crivo/src/prelude.rs";
    Step::cargo("clippy --package crivo --no-default-features -- -D warnings").or(advice).run()?;
    let advice = "what a feature brings must be built without the others";
    Step::cargo("clippy --package crivo --all-targets --features serde,study -- -D warnings").or(advice).run()
}

/// The features of the program.
const PROGRAM_FEATURES: [&str; 5] = ["interchange", "lab", "mail", "near", "parquet"];

/// The sets of features that every lint checks: none, those of README's first command, and the
/// rest.
const USUAL_SETS: [&[&str]; 3] = [&[], &["near", "parquet"], &["interchange", "lab", "mail"]];

/// Checks the program with only some of its features. Such a build fails if code of one feature
/// uses code of a feature that is left out. By default the sets are [`USUAL_SETS`]; `lint
/// --all-feature-sets` checks every set.
fn program_features(all_sets: bool) -> Result<()> {
    let sets = if all_sets { every_set(&PROGRAM_FEATURES) } else { USUAL_SETS.map(<[_]>::to_vec).to_vec() };
    for set in sets {
        Step::cargo("clippy --package crivo-cli --no-default-features --features")
            .args([set.join(",")])
            .args(["--", "-D", "warnings"])
            .or("code of one feature needs another: put it behind that one too, or move what both need")
            .run()?;
    }
    Ok(())
}

/// Returns every subset of some features, including the empty one.
fn every_set(features: &[&'static str]) -> Vec<Vec<&'static str>> {
    let chosen = |set: u32| features.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1);
    (0..1 << features.len()).map(|set| chosen(set).map(|(_, name)| *name).collect()).collect()
}

/// Checks the workspace with its minimum supported Rust version, which rustup installs.
fn minimum_rust() -> Result<()> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).context("cannot read Cargo.toml")?;
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = "));
    let version = version.context("Cargo.toml states no rust-version")?.trim_matches('"');
    Step::new("rustup", "toolchain install --profile minimal")
        .args([version])
        .or("rustup is at https://rustup.rs")
        .run()?;
    Step::new("rustup", "run")
        .args([version, "cargo", "check", "--workspace", "--exclude", "crivo-py"])
        .env("CARGO_TARGET_DIR", target().join("minimum-rust"))
        .or("use what that Rust has, or raise rust-version in Cargo.toml and say so in CHANGELOG.md")
        .run()
}

/// Packs every crate that is published, and builds the library from its package. `lint --packages`
/// builds the other packages too. By default they are not built, because that builds all
/// dependencies again and takes as long as the tests. Crates of the workspace find each other
/// there, so nothing has to be published first.
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

/// Checks the dependencies against the database of known vulnerabilities. Returns false if the
/// database could not be fetched and nothing was checked.
///
/// Fetching the database and checking against it are two commands, so that their failures cannot be
/// confused. Without network there is nothing to report, but an advisory is a failure.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_features_are_those_of_the_program() {
        let manifest = fs::read_to_string(root().join("crates/crivo-cli/Cargo.toml")).unwrap();
        let listed = PROGRAM_FEATURES.map(|name| format!("\"{name}\"")).join(", ");
        assert!(manifest.contains(&format!("default = [{listed}]\n")), "{listed}");
        let all = every_set(&PROGRAM_FEATURES);
        assert_eq!((all.len(), &all[0][..], all[31].len()), (32, &[][..], 5));
        for name in PROGRAM_FEATURES {
            assert!(USUAL_SETS.iter().any(|set| set.contains(&name)), "{name}");
        }
        assert!(USUAL_SETS.iter().all(|set| set.iter().all(|name| PROGRAM_FEATURES.contains(name))));
    }
}
