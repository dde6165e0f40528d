//! `cargo xtask book`: docs/ as one site that can be searched, in target/book.
//!
//! The reference of commands is written first, from the program's own help texts. mdBook brings its styles, fonts and
//! scripts along, so the site asks no other machine for anything. Tests check what does not need mdBook: that
//! the summary lists every page, links lead somewhere, commands print what is shown (`crates/crivo-cli/tests`).

use std::fs;

use anyhow::{Context, Result};
use lexopt::prelude::*;

use crate::shell::{Step, root, target};
use crate::tools;

/// Where the reference of commands is.
const COMMANDS: &str = "docs/commands";

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    let mut pages_only = false;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("pages-only") => pages_only = true,
            other => return Err(other.unexpected().into()),
        }
    }
    write_reference()?;
    if pages_only {
        println!("\nThe pages in {COMMANDS} are what --help says.");
        return Ok(());
    }
    let mdbook = tools::MDBOOK.find_or_install()?;
    Step::new(mdbook, "build").or("book.toml and docs/SUMMARY.md are what mdBook reads").run()?;
    println!("\nThe book is in {}", target().join("book/index.html").display());
    Ok(())
}

/// Writes the pages of all commands, and removes those of commands that are gone.
fn write_reference() -> Result<()> {
    // As the tests build it, so that nothing is built twice.
    Step::cargo("build --workspace --bin crivo").run()?;
    let program = target().join("debug/crivo").with_extension(std::env::consts::EXE_EXTENSION);
    for entry in fs::read_dir(root().join(COMMANDS)).into_iter().flatten().flatten() {
        fs::remove_file(entry.path()).with_context(|| format!("{}", entry.path().display()))?;
    }
    Step::new(program, "man --quiet --markdown").args([COMMANDS]).run()
}
