//! `cargo xtask book`: docs/ as one site that can be searched, in target/book.
//!
//! The reference of commands is written first, from the program's own help texts. mdBook brings its
//! own styles, fonts and scripts. Every page is checked to load nothing from another machine.
//!
//! Building mdBook takes 150 seconds of processor time, so continuous integration does not build
//! the site. Tests check what does not need mdBook: the summary lists every page, links lead
//! somewhere, and commands print what is shown.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use lexopt::prelude::*;

use crate::shell::{Step, root, target};
use crate::tools;

/// The folder of the command reference.
const COMMANDS: &str = "docs/commands";

/// A page that mdBook adds. Its links are relative to the address at which the site is published.
const NOT_FOUND: &str = "404.html";

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
    let site = target().join("book");
    let pages = check(&site)?;
    println!("\n{pages} pages, and none needs the network: {}", site.join("index.html").display());
    Ok(())
}

/// Writes the pages of all commands, and removes the pages of commands that no longer exist.
fn write_reference() -> Result<()> {
    // The same build as the tests use, so that nothing is built twice.
    Step::cargo("build --workspace --bin crivo").run()?;
    let program = target().join("debug/crivo").with_extension(std::env::consts::EXE_EXTENSION);
    for entry in fs::read_dir(root().join(COMMANDS)).into_iter().flatten().flatten() {
        fs::remove_file(entry.path()).with_context(|| format!("{}", entry.path().display()))?;
    }
    Step::new(program, "man --quiet --markdown").args([COMMANDS]).run()
}

/// Checks that links of all pages lead to files of the site, and that no page loads anything from
/// elsewhere. Returns the number of pages.
fn check(site: &Path) -> Result<usize> {
    let (mut folders, mut pages, mut wrong) = (vec![site.to_owned()], 0, Vec::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder)?.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "html") && !path.ends_with(NOT_FOUND) {
                pages += 1;
                let text = fs::read_to_string(&path)?;
                let found = complaints(&text, |target| is_below(&path, target));
                wrong.extend(found.into_iter().map(|what| format!("{}: {what}", path.display())));
            }
        }
    }
    if wrong.is_empty() { Ok(pages) } else { bail!("the site is not whole:\n  {}", wrong.join("\n  ")) }
}

/// Returns true if a link of a page leads to a file.
fn is_below(page: &Path, target: &str) -> bool {
    let file = target.split(['#', '?']).next().unwrap_or_default();
    file.is_empty() || page.parent().map(|folder| folder.join(file)).as_deref().is_some_and(Path::is_file)
}

/// Returns the errors in the elements of a page: links to missing files, and elements that load
/// something from elsewhere.
fn complaints(page: &str, is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for element in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
        let name = element.split_whitespace().next().unwrap_or_default();
        for attribute in ["href", "src"] {
            let Some((_, rest)) = element.split_once(&format!(" {attribute}=\"")) else { continue };
            let target = rest.split('"').next().unwrap_or_default();
            if target.starts_with("data:") || target.starts_with("mailto:") {
                continue;
            }
            let elsewhere = target.contains("://") || target.starts_with("//");
            match (name, elsewhere) {
                // A link to another site is allowed, because nothing is loaded until the reader
                // follows it.
                ("a", true) => {}
                (_, true) => found.push(format!("<{name}> loads {target}")),
                _ if is_there(target) => {}
                _ => found.push(format!("{target} is not there")),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_lead_nowhere_and_foreign_scripts_are_found() {
        let page = r##"<a href="there.html#x">1</a><a href="gone.html">2</a><a href="https://example.org">3</a>
            <script src="//cdn.example.org/x.js"></script><link rel="icon" href="data:image/svg+xml,a://b"><a href="#here">4</a>"##;
        let is_there = |target: &str| target.starts_with("there") || target.starts_with('#');
        assert_eq!(
            complaints(page, is_there),
            ["gone.html is not there", "<script> loads //cdn.example.org/x.js"]
        );
    }
}
