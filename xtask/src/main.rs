//! How do I build, test and check crivo?
//!
//! `cargo xtask <verb>` is the single entry point, for developers and for CI: a verb that passes
//! here passes there. Each verb is one file and a list of commands. Each command is printed before
//! it runs, so that it can be repeated by hand. The first failure stops the verb, which prints what
//! to do about it.

// A task runner prints what it does.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod attack;
mod bench;
mod book;
mod clean_root;
mod container;
mod dist;
#[cfg(test)]
mod documents;
mod duckdb;
mod foreign;
mod fuzz;
mod golden;
mod kinds;
mod lint;
mod lost;
mod mutants;
mod random;
mod sample;
mod setup;
mod shell;
mod stubs;
mod test;
mod tools;

use std::process::ExitCode;

use anyhow::{Result, bail};
use lexopt::prelude::*;

const HELP: &str = "\
Usage: cargo xtask <verb>

  test [--fresh-seeds] [--rust-only] [--no-spark] [--container]
                      every test, after installing what they need;
                      --fresh-seeds draws new seeds for the statistical tests and prints them
                      --rust-only   leaves the Python package and the packages for others out
                      --no-spark    leaves the tests on Spark out
                      --container   runs everything in Docker or podman, and installs nothing here
  test --portable [--target TRIPLE]
                      the tests that need nothing but Rust, on any system; with a target, those
                      of the bytes that must be the same on every machine
  foreign [--target TRIPLE]
                      the tests of bytes with addresses of 32 bits (i686) and with the other byte order
                      (s390x, emulated), in a Debian of their own
  lint [--packages] [--all-feature-sets] [--minimum-rust]
                      formatting, Clippy, features, documentation, packages, fuzz targets, licences,
                      advisories; --packages builds every crate from its package;
                      --all-feature-sets checks the program with every set of its features;
                      --minimum-rust only checks the workspace with the oldest Rust that it promises
  dist [--program FILE] [--no-wheel] [--untried]
                      program, tarball, Debian package, wheel, bill of materials and checksums in
                      target/packages, each installed and tried; --program packs one that is built
  golden              writes the golden files that are missing
  book [--pages-only] docs/ as a site in target/book, and the reference of commands in docs/commands;
                      --pages-only writes the reference alone
  sample              writes the sample that the README begins with
  fuzz [--seconds N] [--repeat FILE] [target]
                      runs each fuzz target for N seconds (60), or one target on one input
  mutants [--sample N] [--seed S] [--package NAME] [--jobs N]
                      changes one operator, constant or result at a time and asks whether a test
                      notices; --sample tries about N of all mutants, another N for each seed
  attack [--cases N | --seconds N] [--seed S] [--kind KIND,…] [--threads N] [--commands N] [--program PATH]
                      mutants of every kind of file, given to the program with 1 GiB and 5 seconds each;
                      a finding is kept in target/attack/findings with the command that repeats it
  duckdb [--release]  the extension for DuckDB, built and stamped
  stubs               writes the documentation of the Python module into its stub
  bench [arguments]   crivo beside its peers; the arguments go to the benchmark program
  bench lost          the page of all rows in which a peer is ahead, made from the other pages

`cargo x` is short for `cargo xtask`. CONTRIBUTING.md has the rest.
";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = lexopt::Parser::from_env();
    let verb = match arguments.next()? {
        None | Some(Short('h') | Long("help")) => "help".to_owned(),
        Some(Value(verb)) => verb.to_string_lossy().into_owned(),
        Some(other) => return Err(other.unexpected().into()),
    };
    match verb.as_str() {
        "help" => {
            print!("{HELP}");
            Ok(())
        }
        "test" => test::run(&mut arguments),
        "lint" => lint::run(&mut arguments),
        "attack" => attack::run(&mut arguments),
        "bench" => bench::run(&mut arguments),
        "dist" => dist::run(&mut arguments),
        "book" => book::run(&mut arguments),
        "duckdb" => duckdb::run(&mut arguments),
        "stubs" => stubs::run(),
        "foreign" => foreign::run(&mut arguments),
        "fuzz" => fuzz::run(&mut arguments),
        "golden" => golden::run(&mut arguments),
        "mutants" => mutants::run(&mut arguments),
        "sample" => sample::run(&mut arguments),
        other => bail!("no verb `{other}`: `cargo xtask help` lists them"),
    }
}
