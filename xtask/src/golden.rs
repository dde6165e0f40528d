//! `cargo xtask golden`: writes the golden files that are missing.
//!
//! Golden files freeze the bytes of every released format. Only this verb writes them, and only
//! those that are missing. A test that finds one missing fails and does not write it.

use anyhow::Result;

use crate::shell::Step;

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    // The test that writes runs alone. A second test at the same time would look for files that are
    // not written yet.
    Step::cargo("test --package crivo --test golden stored_files_are_written_the_same_today")
        .env("CRIVO_GOLDEN", "write")
        .or("a golden file that differs is never rewritten: bump the family's version instead (CONTRIBUTING.md)")
        .run()?;
    Step::cargo("test --package crivo --test golden stored_files_answer_as_before")
        .env("CRIVO_GOLDEN", "write")
        .or("an answer that changes on purpose needs a line in CHANGELOG.md: delete its lines in answers.txt, then write again")
        .run()?;
    // Then all tests run without the permission to write: now no file may be missing.
    Step::cargo("test --package crivo --test golden").run()?;
    println!(
        "\nGolden files are complete. Look at `git status` and commit the new ones with docs/format.md."
    );
    Ok(())
}
