//! Tests that the program accepts every command and option that the documentation names.
//!
//! Commands in blocks (`sh`, `console`, `text`) and in the examples of help texts are parsed as if
//! they were typed. Running text often names a command with only some of its options. So there only
//! the names of subcommands and options are looked up.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};

use super::Cli;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the README, the documents beside it and every page of the book, each with its name.
fn documents() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("docs")];
    let mut paths = vec![root().join("crates/crivo-cli/README.md")];
    let beside = ["README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG", "SECURITY"];
    paths.extend(beside.map(|name| root().join(name).with_extension("md")));
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                paths.push(path);
            }
        }
    }
    for path in paths {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        found.push((name, fs::read_to_string(path).unwrap()));
    }
    found
}

/// Returns the words of each simple command of a shell line. Quotes are resolved; redirections and
/// comments are left out.
fn commands_of(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let (mut word, mut quoted): (Option<String>, Option<char>) = (None, None);
    let mut redirected = false;
    let mut chars = line.chars().peekable();
    let end = |word: &mut Option<String>, commands: &mut Vec<Vec<String>>, redirected: &mut bool| {
        if let Some(word) = word.take()
            && !std::mem::take(redirected)
        {
            commands.last_mut().unwrap().push(word);
        }
    };
    while let Some(char) = chars.next() {
        match (quoted, char) {
            (Some(quote), _) if char == quote => quoted = None,
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quoted = Some(char);
            }
            (None, '#') if word.is_none() => break,
            (None, ' ' | '\t') => end(&mut word, &mut commands, &mut redirected),
            (None, '<' | '>') => {
                // The stream number before the sign belongs to the redirection.
                if word.as_deref() == Some("2") {
                    word = None;
                }
                end(&mut word, &mut commands, &mut redirected);
                redirected = true;
                while chars.next_if(|next| matches!(next, '>' | '&' | '<')).is_some() {}
            }
            (None, '|' | ';' | '&') => {
                end(&mut word, &mut commands, &mut redirected);
                commands.push(Vec::new());
            }
            _ => word.get_or_insert_default().push(char),
        }
    }
    end(&mut word, &mut commands, &mut redirected);
    // Words of loops and groups may precede a command.
    let bare = |words: Vec<String>| -> Vec<String> {
        words.into_iter().skip_while(|word| matches!(word.as_str(), "do" | "then" | "{" | "time")).collect()
    };
    commands.into_iter().map(bare).filter(|words| !words.is_empty()).collect()
}

/// Returns the shell lines in a document's blocks. A line that ends in `\` is joined with the next.
fn shell_lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for (language, code) in blocks(text) {
        let code = code.replace("\\\n", " ");
        match language {
            "sh" => lines.extend(code.lines().map(str::to_owned)),
            // Blocks of text may show commands that the tests do not run.
            "console" | "text" => {
                lines.extend(code.lines().filter_map(|line| line.strip_prefix("$ ")).map(str::to_owned));
            }
            _ => {}
        }
    }
    lines
}

/// Returns the blocks of a document with their languages.
fn blocks(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = text.split("\n```").skip(1).step_by(2);
    parts.map(|block| block.split_once('\n').unwrap_or((block, "")))
}

/// Returns the spans in backticks in running text.
fn spans(text: &str) -> Vec<&str> {
    let prose = text.split("\n```").step_by(2);
    prose.flat_map(|prose| prose.split('`').skip(1).step_by(2)).collect()
}

/// Parses a command as if it were typed. Returns the error, if any.
fn complaint(words: &[String]) -> Option<String> {
    let error = Cli::command().try_get_matches_from(words).err()?;
    error.use_stderr().then(|| format!("{}: {error}", words.join(" ")))
}

/// Returns the long and short options of a command, with those that every command has.
fn options(command: &Command) -> BTreeSet<String> {
    let arguments = command.get_arguments();
    let mut options: BTreeSet<String> = ["--help", "-h", "--version", "--quiet"].map(str::to_owned).into();
    for argument in arguments {
        options.extend(argument.get_long().map(|long| format!("--{long}")));
        options.extend(argument.get_short().map(|short| format!("-{short}")));
    }
    options
}

/// Returns the options of a command and of all its subcommands.
fn all_options(command: &Command) -> BTreeSet<String> {
    let mut found = options(command);
    for below in command.get_subcommands() {
        found.extend(all_options(below));
    }
    found
}

/// Looks up the verbs and options of a command in running text. Returns the error, if any.
fn named_wrongly(program: &Command, span: &str) -> Option<String> {
    let mut command = program;
    let typed = span.split(" | ").next().unwrap_or(span);
    let mut words = typed.split_whitespace().skip(1).peekable();
    let first = *words.peek()?;
    let placeholder = |word: &str| word.starts_with(['<', '-', '…']) || word.chars().all(char::is_uppercase);
    // `crivo = { path = … }` is a line of a manifest.
    if matches!(first, "help" | "=") {
        return None;
    }
    while let Some(word) = words.peek() {
        // `learn|unlearn` names two commands of one shape.
        let named = word.split('|').next().unwrap_or(word);
        match command.find_subcommand(named) {
            Some(below) => {
                if let Some(unknown) = word.split('|').find(|each| command.find_subcommand(each).is_none()) {
                    return Some(format!("`{span}`: there is no command {unknown}"));
                }
                command = below;
                words.next();
            }
            None if std::ptr::eq(command, program) && !placeholder(word) => {
                return Some(format!("`{span}`: there is no command {word}"));
            }
            None => break,
        }
    }
    let known = all_options(command);
    words.find_map(|word| {
        let option =
            word.trim_matches(['[', ']', '(', ')', ',', '.']).split(['=', '|']).next().unwrap_or(word);
        let is_option =
            option.starts_with('-') && option.len() > 1 && !option[1..].starts_with(char::is_numeric);
        (is_option && !known.contains(option))
            .then(|| format!("`{span}`: {} has no {option}", command.get_name()))
    })
}

#[test]
fn every_command_in_a_block_can_be_typed() {
    let mut wrong = Vec::new();
    let mut parsed = 0;
    for (name, text) in documents() {
        for words in shell_lines(&text).iter().flat_map(|line| commands_of(line)) {
            if words[0] == "crivo" {
                parsed += 1;
                wrong.extend(complaint(&words).map(|complaint| format!("{name}: {complaint}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(parsed > 100, "{parsed}");
}

#[test]
fn every_command_that_is_named_exists_with_its_options() {
    let program = Cli::command();
    let mut wrong = Vec::new();
    for (name, text) in documents() {
        let named = spans(&text).into_iter().filter(|span| span.starts_with("crivo "));
        wrong.extend(
            named.filter_map(|span| named_wrongly(&program, span)).map(|found| format!("{name}: {found}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Options that are named without a command belong to one of crivo's commands, or to another
/// program in this list.
#[test]
fn every_option_that_is_named_exists() {
    let others = [
        "--release",
        "--locked",
        "--profile",
        "--workspace",
        "--include-ignored",
        "--nocapture",
        "--features",
        "--no-default-features",
        "--rust-only",
        "--no-spark",
        "--fresh-seeds",
        "--seconds",
        "--packages",
        "--repeat",
        "--container",
        "--portable",
        "--target",
        "--pages-only",
        "--cases",
        "--commands",
    ];
    let mut known = all_options(&Cli::command());
    known.extend(others.map(str::to_owned));
    let mut wrong = Vec::new();
    for (name, text) in documents() {
        for span in spans(&text) {
            let option = span.split([' ', '=', '|', ',', '[']).next().unwrap_or_default();
            if option.starts_with("--") && option.len() > 2 && !known.contains(option) {
                wrong.push(format!("{name}: `{span}`"));
            }
        }
    }
    assert!(wrong.is_empty(), "no command has these options:\n{}", wrong.join("\n"));
}

#[test]
fn every_example_of_a_help_text_can_be_typed() {
    fn check(command: &Command, wrong: &mut Vec<String>) {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default().replace("\\\n", " ");
        let examples =
            help.lines().filter(|line| line.starts_with("  ") && line.trim_start().starts_with("crivo "));
        for words in examples.flat_map(commands_of).filter(|words| words[0] == "crivo") {
            wrong.extend(complaint(&words));
        }
        command.get_subcommands().for_each(|below| check(below, wrong));
    }
    let mut wrong = Vec::new();
    check(&Cli::command(), &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn shell_lines_become_words() {
    let words = |line| commands_of(line).into_iter().map(|words| words.join("·")).collect::<Vec<_>>();
    assert_eq!(words("crivo top 'a b' -k 2 > x # why"), ["crivo·top·a b·-k·2"]);
    assert_eq!(words("for i in 1 2; do crivo count; done"), ["for·i·in·1·2", "crivo·count", "done"]);
    assert_eq!(words("a | crivo set drop w.crivo 2>&1 && b < c"), ["a", "crivo·set·drop·w.crivo", "b"]);
}

#[test]
fn wrong_names_are_found() {
    let program = Cli::command();
    let wrong = |span| named_wrongly(&program, span).is_some();
    assert!(wrong("crivo destinct") && wrong("crivo top --most") && wrong("crivo mail learn|forget"));
    assert!(!wrong("crivo top -k 10 | head -n 3"));
    assert!(
        !wrong("crivo mail learn|unlearn --store DIR")
            && !wrong("crivo distinct --interchange hll -o users.bin")
    );
    assert!(complaint(&["crivo", "top", "--no-such-option"].map(str::to_owned)).is_some());
    assert!(complaint(&["crivo", "top", "-k", "3", "x.csv"].map(str::to_owned)).is_none());
}
