//! The streams of output: answers on standard output, everything else on standard error, and no
//! colours without a terminal.

use std::io::Write;
use std::process::Stdio;

use crate::support::Scratch;

#[test]
fn closed_pipe_is_no_error() {
    let scratch = Scratch::new();
    scratch.feed(&["distinct", "-o", "s.crivo"], "a\n").ok();
    for args in [
        &["distinct"][..],
        &["distinct", "--json"],
        &["show", "s.crivo"],
        &["show", "s.crivo", "--json"],
        &["merge", "s.crivo", "-o", "t.crivo"],
        &["completions", "bash"],
        &["--help"],
        &["--version"],
    ] {
        let mut command = scratch.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let _ = child.stdin.take().unwrap().write_all(b"a\nb\n");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
        assert!(output.stderr.is_empty(), "{args:?}: {output:?}");
    }
    assert!(scratch.path("t.crivo").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn answer_that_cannot_be_printed_is_an_error() {
    let scratch = Scratch::new();
    scratch.feed(&["distinct", "-o", "s.crivo"], "a\n").ok();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = scratch.command(&["show", "s.crivo"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!output.stderr.is_empty());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_named() {
    let scratch = Scratch::with([("a.csv", "n\n1\n2\n")]);
    for args in [&["distinct", "a.csv"][..], &["distinct", "a.csv", "--json"], &["filter", "true", "a.csv"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = scratch.command(args).stdout(full).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("crivo: standard output: No space left on device"), "{args:?}: {said}");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}

/// Documents are read more than once, so the content of pipes is stored. Files beside a pipe are
/// read too.
#[cfg(target_os = "linux")]
#[test]
fn documents_come_through_pipes_beside_files() {
    let text =
        |at: usize| format!("{{\"id\":{at},\"text\":\"the {at} quick brown fox jumps over a lazy dog\"}}\n");
    let scratch = Scratch::with([("a.jsonl", text(1))]);
    let piped = [text(1), text(2)].concat();
    for names in [&["a.jsonl", "/dev/stdin"][..], &["a.jsonl", "-"], &["/dev/stdin", "a.jsonl"]] {
        let arguments = [&["dedup", "--json", "-q", "-o", "kept.jsonl"], names].concat();
        let json = scratch.feed(&arguments, &piped).json();
        assert_eq!((json["documents"].as_u64(), json["removed"].as_u64()), (Some(3), Some(1)), "{names:?}");
        assert_eq!(scratch.read("kept.jsonl"), piped.as_bytes());
    }
    let json = scratch.feed(&["passages", "/dev/stdin", "--min-words", "8", "--json", "-q"], &piped).json();
    assert_eq!(json["passages"].as_u64(), Some(1));
    let arguments = ["overlap", "a.jsonl", "--with", "/dev/stdin", "--json", "-q"];
    assert_eq!(scratch.feed(&arguments, &piped).json()["items"].as_u64(), Some(2));
    scratch.feed(&["dedup", "/dev/stdin", "--work", "w"], &piped).fails_with("a pipe cannot be read again");
    scratch.feed(&["dedup", "--format", "jsonl"], "{\"text\":\n").fails_with("standard input:1:");
}

#[test]
fn pipes_get_neither_colours_nor_progress() {
    let scratch = Scratch::new();
    let large = b"some line of text\n".repeat(100_000);
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "xterm-256color")] {
        let mut command = scratch.command(&["distinct", "-"]);
        command.env(name, value).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&large).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(!output.stdout.contains(&0x1b), "{output:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
    let failed = scratch.run(&["distinct", "none.csv"]);
    assert_eq!(failed.err, "crivo: none.csv: no such file\n");
}

#[test]
fn no_color_wins_over_a_terminal_that_would_show_them() {
    let scratch = Scratch::new();
    scratch.feed(&["distinct", "-o", "s.crivo"], "a\n").ok();
    // The variable that forces colours replaces a terminal, which a test does not have.
    let run = |variables: &[(&str, &str)]| {
        let mut command = scratch.command(&["show", "s.crivo"]);
        command.envs(variables.iter().copied()).output().unwrap().stdout
    };
    assert!(run(&[("CLICOLOR_FORCE", "1")]).contains(&0x1b));
    assert!(!run(&[("NO_COLOR", "1")]).contains(&0x1b));
}

#[test]
fn data_cannot_steer_the_terminal() {
    let scratch = Scratch::with([("a.csv", "us\u{1b}[31mer,b\n1,2\n")]);
    let run = scratch.run(&["distinct", "a.csv", "-f", "usr"]);
    run.fails_with("us\\u{1b}[31mer");
    assert!(!run.err.contains('\u{1b}'));
}

#[test]
fn quiet_leaves_the_answer_and_errors() {
    let scratch = Scratch::new();
    let loud = scratch.feed(&["distinct"], "a\nb\n");
    let quiet = scratch.feed(&["--quiet", "distinct"], "a\nb\n");
    assert_eq!(loud.ok(), quiet.ok());
    assert!(scratch.run(&["distinct", "--quiet", "none.csv"]).err.contains("no such file"));
}

#[test]
fn version_and_help_succeed() {
    let scratch = Scratch::new();
    assert_eq!(scratch.run(&["--version"]).ok(), format!("crivo {}\n", env!("CARGO_PKG_VERSION")));
    assert!(scratch.run(&["--help"]).ok().contains("distinct"));
    let commands = "distinct|top|freq|ask|count|sample|uniq|merge|show|plan|plan bloom|plan distinct|\
                    private|private encode|private aggregate|set|set build|set has|set keep|set drop|set union|set intersect|set subtract|\
                    completions|man";
    for command in commands.split('|') {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = scratch.run(&words);
        assert!(help.ok().contains("Examples:\n  "), "{command}");
        // The environment says that the terminal has 40 columns. Longer lines are wrapped, except
        // in examples.
        assert!(help.out.contains("crivo "), "{command}");
    }
}
