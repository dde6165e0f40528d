//! `cargo xtask golden`: writes the golden files that are missing.
//!
//! Golden files freeze the bytes of every released format. Only this verb writes them, and
//! only those that are not there: a test that finds one missing fails, it never repairs.

use anyhow::Result;

use crate::shell::Step;

pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<()> {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    // One test that writes after the other: beside them another would look for files not written
    // yet.
    Step::cargo("test --package crivo --test golden stored_files_are_written_the_same_today")
        .env("CRIVO_GOLDEN", "write")
        .or("a golden file that differs is never rewritten: bump the family's version instead (CONTRIBUTING.md)")
        .run()?;
    Step::cargo("test --package crivo --test golden stored_files_answer_as_before")
        .env("CRIVO_GOLDEN", "write")
        .or("an answer that changes on purpose needs a line in CHANGELOG.md: delete its lines in answers.txt, then write again")
        .run()?;
    // All of them, and without the permission to write: now nothing may be missing.
    Step::cargo("test --package crivo --test golden").run()?;
    println!(
        "\nGolden files are complete. Look at `git status` and commit the new ones with docs/format.md."
    );
    Ok(())
}
