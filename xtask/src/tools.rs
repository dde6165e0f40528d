//! Where do the programs come from that Rust does not install?
//!
//! A program already on the `PATH` is used if its version is right. Otherwise it is built once into
//! `target/tools`, with its locked dependencies. Nothing outside the repository changes.

use std::path::PathBuf;

use anyhow::Result;

use crate::shell::{Step, target};

/// A program and the release line that the project's settings are made for.
pub(crate) struct Tool {
    name: &'static str,
    release: &'static str,
    /// The options of the build, besides the version.
    options: &'static [&'static str],
    /// The arguments that make it print its name and version.
    version: &'static str,
}

/// Checks licences, advisories and sources of dependencies.
pub(crate) const DENY: Tool =
    Tool { name: "cargo-deny", release: "0.20", options: &[], version: "--version" };
/// Fuzzes with libFuzzer.
pub(crate) const FUZZ: Tool =
    Tool { name: "cargo-fuzz", release: "0.13", options: &[], version: "--version" };
/// Changes one line after another, to see whether a test notices.
pub(crate) const MUTANTS: Tool =
    Tool { name: "cargo-mutants", release: "27", options: &[], version: "mutants --version" };
/// Turns pages into a site. Built without its server, which takes most of the build time.
pub(crate) const MDBOOK: Tool = Tool {
    name: "mdbook",
    release: "0.5",
    options: &["--no-default-features", "--features", "search"],
    version: "--version",
};

impl Tool {
    /// Returns the path of the program. Installs it first if it is missing.
    pub(crate) fn find_or_install(&self) -> Result<PathBuf> {
        let folder = target().join("tools");
        let installed = folder.join("bin").join(self.name).with_extension(std::env::consts::EXE_EXTENSION);
        if let Some(found) =
            [PathBuf::from(self.name), installed.clone()].into_iter().find(|at| self.is_at(at))
        {
            return Ok(found);
        }
        eprintln!(
            "\n{} {} is not installed: building it, once, which takes minutes",
            self.name, self.release
        );
        Step::cargo("install --locked --force --root")
            .args([folder.as_os_str()])
            .args([self.name, "--version", &format!("^{}", self.release)])
            .args(self.options)
            .or(format!("if there is no network, put {} {} on the PATH", self.name, self.release))
            .run()?;
        Ok(installed)
    }

    fn is_at(&self, program: &PathBuf) -> bool {
        let version = Step::new(program, self.version).output().unwrap_or_default();
        version
            .strip_prefix(self.name)
            .and_then(|rest| rest.trim().trim_start_matches('v').strip_prefix(self.release))
            .is_some_and(|rest| rest.starts_with('.'))
    }
}

/// Returns true if `cargo <subcommand>` is installed.
pub(crate) fn has_cargo_subcommand(subcommand: &str) -> bool {
    Step::cargo(subcommand).args(["--version"]).output().is_some()
}
