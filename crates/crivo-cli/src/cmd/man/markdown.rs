//! Writes the reference of all commands as Markdown: one page for each command, from the
//! definitions that `--help` shows.
//!
//! docs/commands is written by this module, and a test checks that both are equal.

use std::fmt::Write as _;

use clap::builder::PossibleValue;
use clap::{Arg, Command};

/// The page with the list of all commands.
const FRONT_PAGE: &str = "index.md";

/// Returns the pages as file names and texts, the list of commands first.
pub(super) fn pages(mut program: Command) -> Vec<(String, String)> {
    program.build();
    let mut pages = vec![(FRONT_PAGE.to_owned(), front_page(&program))];
    for command in subcommands(&program) {
        let mut page = String::new();
        section(&mut page, command, 1);
        pages.push((format!("{}.md", command.get_name()), page));
    }
    pages
}

/// Returns the subcommands of a command, without the `help` that clap adds.
fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| below.get_name() != "help" && !below.is_hide_set())
}

fn front_page(program: &Command) -> String {
    let mut page = String::from(
        "# Every command\n\nThese pages are made from the texts of `crivo --help`: `cargo xtask book` writes them.\n\n\
         | command | answers |\n|---|---|\n",
    );
    for command in subcommands(program) {
        let name = command.get_name();
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(page, "| [`crivo {name}`]({name}.md) | {} |", escaped(&about));
    }
    if let Some(after) = program.get_after_help() {
        let _ = write!(page, "\n{}\n", escaped(&after.to_string()));
    }
    page
}

/// Appends one command with its options and examples, then its subcommands.
fn section(page: &mut String, command: &Command, level: usize) {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let _ = writeln!(page, "{} {name}\n", "#".repeat(level));
    let about = command.get_long_about().or_else(|| command.get_about());
    if let Some(about) = about {
        let _ = writeln!(page, "{}\n", escaped(&about.to_string()));
    }
    let usage = command.clone().render_usage().to_string();
    let _ = writeln!(page, "```text\n{usage}\n```\n");
    for (heading, arguments) in by_heading(command) {
        let _ = writeln!(page, "**{heading}**\n");
        for argument in arguments {
            let _ = writeln!(page, "{}", entry(argument));
        }
        page.push('\n');
    }
    if let Some(after) = command.get_after_help() {
        let _ = writeln!(page, "```text\n{after}\n```\n");
    }
    for below in subcommands(command) {
        section(page, below, level + 1);
    }
    page.truncate(page.trim_end().len());
    page.push_str(if level == 1 { "\n" } else { "\n\n" });
}

/// Returns the arguments under the headings of `--help`, in its order. Options that every command
/// has are left out.
fn by_heading(command: &Command) -> Vec<(&str, Vec<&Arg>)> {
    let mut headings: Vec<(&str, Vec<&Arg>)> = Vec::new();
    let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let own = shown.filter(|argument| !matches!(argument.get_id().as_str(), "help" | "version" | "quiet"));
    for argument in own {
        let plain = if argument.is_positional() { "Arguments" } else { "Options" };
        let heading = argument.get_help_heading().unwrap_or(plain);
        match headings.iter_mut().find(|(known, _)| *known == heading) {
            Some((_, arguments)) => arguments.push(argument),
            None => headings.push((heading, vec![argument])),
        }
    }
    headings
}

/// Returns one line of a list: the argument as it is written, its effect, and its possible values.
fn entry(argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut line =
        format!("- `{}`: {}", written(argument), escaped(&help.replace("\n\n", " ").replace('\n', " ")));
    let takes_values = argument.get_action().takes_values();
    let values = argument.get_possible_values();
    let values: Vec<&PossibleValue> =
        values.iter().filter(|value| takes_values && !value.is_hide_set()).collect();
    if !values.is_empty() {
        let named = values.iter().map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), escaped(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        });
        let _ = write!(line, ". One of {}", named.collect::<Vec<_>>().join(", "));
    }
    let defaults = argument.get_default_values();
    if takes_values && !defaults.is_empty() && !argument.is_hide_default_value_set() {
        let defaults: Vec<_> = defaults.iter().map(|value| value.to_string_lossy()).collect();
        let _ = write!(line, ". Default: `{}`", defaults.join(" "));
    }
    line
}

/// Returns an argument as it is typed: `-f, --field FIELD` or `[FILE]…`.
fn written(argument: &Arg) -> String {
    if argument.is_positional() {
        return argument.to_string();
    }
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    let mut written = names.join(", ");
    if argument.get_action().takes_values() {
        let may_be_left_out = argument.get_num_args().is_some_and(|values| values.min_values() == 0);
        for name in argument.get_value_names().unwrap_or_default() {
            let _ = match (may_be_left_out, argument.is_require_equals_set()) {
                (true, true) => write!(written, "[={name}]"),
                (true, false) => write!(written, " [{name}]"),
                (false, true) => write!(written, "={name}"),
                (false, false) => write!(written, " {name}"),
            };
        }
    }
    written
}

/// Escapes the characters of a help text that have a meaning in Markdown. Names in backticks stay
/// as they are.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut in_code = false;
    for char in text.chars() {
        if char == '`' {
            in_code = !in_code;
        } else if !in_code && matches!(char, '<' | '>' | '*' | '_' | '|' | '[' | ']' | '\\') {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Command {
        let below = Command::new("count")
            .about("How many *rows*?")
            .arg(Arg::new("file").value_name("FILE").help("What to read, `a_b` or c_d"))
            .arg(
                Arg::new("by")
                    .short('b')
                    .long("by")
                    .value_name("FIELD")
                    .help("A group")
                    .help_heading("Groups"),
            )
            .arg(
                Arg::new("how")
                    .long("how")
                    .value_name("HOW")
                    .value_parser(["fast", "exact"])
                    .default_value("fast")
                    .help("How"),
            )
            .arg(
                Arg::new("bars")
                    .long("bars")
                    .value_name("N")
                    .num_args(0..=1)
                    .require_equals(true)
                    .help("Bars"),
            )
            .arg(Arg::new("web").long("web").value_name("ADDRESS").num_args(0..=1).help("A page"))
            .after_help("Examples:\n  crivo count x");
        Command::new("crivo").subcommand(below)
    }

    #[test]
    fn a_page_has_every_argument_under_its_heading() {
        let pages = pages(example());
        assert_eq!(pages.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["index.md", "count.md"]);
        let page = &pages[1].1;
        assert!(
            page.starts_with("# crivo count\n\nHow many \\*rows\\*?\n\n```text\nUsage: crivo count"),
            "{page}"
        );
        assert!(page.contains("**Arguments**\n\n- `[FILE]`: What to read, `a_b` or c\\_d\n"), "{page}");
        assert!(page.contains("**Groups**\n\n- `-b, --by FIELD`: A group\n"), "{page}");
        assert!(page.contains("`--how HOW`: How. One of `fast`, `exact`. Default: `fast`\n"), "{page}");
        assert!(page.contains("`--bars[=N]`: Bars\n"), "{page}");
        assert!(page.contains("`--web [ADDRESS]`: A page\n"), "{page}");
        assert!(page.ends_with("```text\nExamples:\n  crivo count x\n```\n"), "{page}");
        assert!(
            pages[0].1.contains("| [`crivo count`](count.md) | How many \\*rows\\*? |"),
            "{}",
            pages[0].1
        );
    }
}
