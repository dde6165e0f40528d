//! The examples in the documentation show what the program prints.
//!
//! Every block that is marked `console`, in the README and on each page of docs/, is run by a shell
//! in a scratch folder of its page. The folder has the samples, and the visits of
//! `samples/visits.csv` as two days. A command is followed by its output. `…` on a line of its own
//! means one or more lines that depend on chance or the machine. A comment `# exit code N` gives
//! the exit code of a command, if it is not 0.
//!
//! `CRIVO_WRITE_DOCUMENTS=1 cargo test -p crivo-cli --test cli documents` writes the output into
//! the pages instead of comparing it. Review the difference before you commit it.

#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use flate2::write::GzEncoder;

use crate::support::{Ran, Scratch};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A command of a page, its output and its exit code.
#[derive(Debug, PartialEq)]
struct Step {
    command: String,
    shown: String,
    exit_code: i32,
}

/// Returns the commands of a page's console blocks, in their order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            if let Some(command) = line.strip_prefix("$ ") {
                let exit_code =
                    command.rsplit_once("# exit code ").map_or(0, |(_, code)| code.parse().unwrap());
                steps.push(Step { command: command.to_owned(), shown: String::new(), exit_code });
            } else {
                let step = steps.last_mut().unwrap_or_else(|| panic!("output without a command: {line}"));
                step.shown.extend([line, "\n"]);
            }
        }
    }
    steps
}

/// Returns true if the output is as shown, with any lines in place of each ellipsis.
fn matches(out: &str, shown: &str) -> bool {
    let (begins, rest) = match shown.strip_prefix("…\n") {
        Some(rest) => ("", Some(rest)),
        None => match shown.split_once("\n…\n") {
            Some((begins, rest)) => (&shown[..=begins.len()], Some(rest)),
            None => (shown, None),
        },
    };
    let Some(left) = out.strip_prefix(begins) else { return false };
    match rest {
        None => left.is_empty(),
        // An ellipsis is at least one line.
        Some(rest) => left.match_indices('\n').any(|(at, _)| matches(&left[at + 1..], rest)),
    }
}

/// Collects the pages below a folder.
fn pages_below(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_below(&path, pages);
        } else if path.extension().is_some_and(|end| end == "md") {
            pages.push(path);
        }
    }
}

/// Returns a folder with the samples, and the visits as two days.
fn furnished() -> Scratch {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("samples")).unwrap();
    for entry in fs::read_dir(root().join("samples")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, scratch.path("samples").join(path.file_name().unwrap())).unwrap();
    }
    let visits = fs::read_to_string(root().join("samples/visits.csv")).unwrap();
    let (header, rows) = visits.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let day = |rows: &[&str]| format!("{header}\n{}\n", rows.join("\n"));
    scratch.write("monday.csv", day(&rows[..2500]));
    let mut tuesday = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    tuesday.write_all(day(&rows[2500..]).as_bytes()).unwrap();
    scratch.write("tuesday.csv.gz", tuesday.finish().unwrap());
    scratch
}

/// The variable that makes the test write the output into the pages.
const WRITE: &str = "CRIVO_WRITE_DOCUMENTS";

/// Runs the commands of a page. Returns the differences from what is shown.
fn complaints(page: &Path) -> Vec<String> {
    let mut text = fs::read_to_string(page).unwrap();
    let steps = steps(&text);
    if steps.is_empty() {
        return Vec::new();
    }
    let scratch = furnished();
    let program = Path::new(env!("CARGO_BIN_EXE_crivo"));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let mut complaints = Vec::new();
    for Step { command, shown, exit_code } in steps {
        let mut shell = Command::new("sh");
        // A terminal shows both streams.
        shell.arg("-c").arg(format!("exec 2>&1\n{command}")).current_dir(scratch.path("")).env("PATH", &path);
        // The developer's settings of colours and home folder must not affect the test.
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            shell.env_remove(name);
        }
        shell.env("HOME", scratch.path(""));
        let mut ran = Ran::from(shell.output().unwrap());
        // Blanks at the ends of lines are invisible, and editors remove them.
        ran.out = ran.out.lines().map(|line| format!("{}\n", line.trim_end_matches(' '))).collect();
        if ran.code != Some(exit_code) || !matches(&ran.out, &shown) {
            let before = format!("$ {command}\n{shown}");
            let is_whole = !shown.lines().any(|line| line == "…");
            if std::env::var_os(WRITE).is_some() && ran.code == Some(exit_code) && is_whole {
                text = text.replacen(&before, &format!("$ {command}\n{}", ran.out), 1);
                continue;
            }
            complaints.push(format!("{}: $ {command}\nshown:\n{shown}\nbut {ran:?}", page.display()));
        }
    }
    if std::env::var_os(WRITE).is_some() {
        fs::write(page, text).unwrap();
    }
    complaints
}

#[test]
fn every_command_of_the_documents_prints_what_they_show() {
    let mut pages =
        vec![root().join("README.md"), root().join("CONTRIBUTING.md"), root().join("SECURITY.md")];
    pages_below(&root().join("docs"), &mut pages);
    assert!(pages.len() > 60);
    // As many pages at once as there are processors, because most time is spent starting programs.
    let (waiting, found) = (Mutex::new(pages), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let Some(page) = waiting.lock().unwrap().pop() else { break };
                    let complaints = complaints(&page);
                    found.lock().unwrap().extend(complaints);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

/// Without this test, a page that loses its examples would pass unnoticed.
#[test]
fn pages_about_questions_and_users_show_commands() {
    for (folder, least) in [("docs/questions", 2), ("docs/users", 0)] {
        let mut pages = Vec::new();
        pages_below(&root().join(folder), &mut pages);
        assert!(pages.len() >= 8, "{folder}");
        for page in pages {
            let text = fs::read_to_string(&page).unwrap();
            assert!(
                steps(&text).len() >= least && text.contains("```"),
                "{}: too few examples",
                page.display()
            );
        }
    }
}

#[test]
fn the_reference_is_what_the_program_writes() {
    let scratch = Scratch::new();
    scratch.run(&["man", "--markdown", "pages"]).ok();
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    let (written, kept) = (scratch.path("pages"), root().join("docs/commands"));
    assert_eq!(names(&kept), names(&written), "run: cargo xtask book");
    for name in names(&written) {
        let text = |folder: &Path| fs::read_to_string(folder.join(&name)).unwrap();
        assert!(
            text(&kept) == text(&written),
            "docs/commands/{name} is not what --help says: run cargo xtask book"
        );
    }
}

#[test]
fn steps_are_read_with_their_output_and_exit_code() {
    let page = "```console\n$ a\n1\n2\n$ b  # exit code 1\n```\ntext\n```console\n$ c\n```\n";
    let step = |command: &str, shown: &str, exit_code| Step {
        command: command.to_owned(),
        shown: shown.to_owned(),
        exit_code,
    };
    assert_eq!(steps(page), [step("a", "1\n2\n", 0), step("b  # exit code 1", "", 1), step("c", "", 0)]);
}

#[test]
fn an_ellipsis_stands_for_lines() {
    assert!(matches("a\nb\n", "a\nb\n") && !matches("a\nb\n", "a\n") && !matches("a\n", "a\nb\n"));
    assert!(matches("a\nb\nc\n", "a\n…\nc\n") && matches("a\nb\nb\nc\n", "a\n…\nc\n"));
    assert!(matches("a\nb\n", "…\n") && matches("a\nb\n", "…\nb\n") && !matches("b\n", "…\nb\n"));
    assert!(!matches("", "…\n") && !matches("a\nb\nc\n", "a\n…\nd\n") && !matches("x\nb\nc\n", "a\n…\nc\n"));
}
