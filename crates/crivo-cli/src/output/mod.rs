//! The only place that prints: answers on standard output, everything else on standard error.
//!
//! Colours appear only on a terminal, and never under `NO_COLOR`: the streams strip them. Text from
//! data, such as the name of a field or a file, cannot control the terminal. Control characters and
//! characters that change the direction of writing are shown as escapes.

mod grid;
mod listing;
mod meter;
mod text;

use std::fmt::{self, Display, Write as _};
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};
use anyhow::Result;
use crivo::keys::OwnedKey;
use crivo::{Confidence, Estimate};
use crivo_rows::{Counts, Remedy};
use serde::ser::{Serialize, SerializeStruct, Serializer};

pub(crate) use self::grid::Grid;
pub(crate) use self::listing::{Cell, Form, Listing};
pub(crate) use self::meter::{Meter, RunStage};
pub(crate) use self::text::{
    between, bytes, count, estimate, exact, items, number, parameter, percent, rows as rows_of,
};

pub(crate) const STRONG: Style = Style::new().bold();
pub(crate) const FAINT: Style = Style::new().dimmed();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The output of a command.
#[derive(Debug)]
pub(crate) struct Output {
    quiet: bool,
    missed: Missed,
}

/// True if rows of a followed file may have been missed, so that no answer is exact.
#[derive(Debug, Clone, Default)]
struct Missed(Arc<AtomicBool>);

impl Missed {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An estimate in JSON, which has no infinity. If there is no upper bound, as in a full sketch, the
/// upper bound is the largest float. A value that is infinite is its lower bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Interval {
    pub(crate) value: f64,
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) confidence: f64,
}

impl Interval {
    /// Returns the estimate that this interval was made from.
    pub(crate) fn estimate(self) -> Estimate {
        let Self { value, lower, upper, confidence } = self;
        let confidence = Confidence::new(confidence).unwrap_or(Confidence::CERTAIN);
        Estimate::probable(value, lower, upper, confidence)
    }
}

impl From<Estimate> for Interval {
    fn from(estimate: Estimate) -> Self {
        Self {
            value: estimate.value(),
            lower: estimate.lower(),
            upper: estimate.upper(),
            confidence: estimate.confidence().level(),
        }
    }
}

impl Serialize for Interval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let finite = |number: f64| number.clamp(-f64::MAX, f64::MAX);
        let value = if self.value.is_finite() { self.value } else { self.lower };
        let mut object = serializer.serialize_struct("Interval", 4)?;
        object.serialize_field("value", &finite(value))?;
        object.serialize_field("lower", &finite(self.lower))?;
        object.serialize_field("upper", &finite(self.upper))?;
        object.serialize_field("confidence", &self.confidence)?;
        object.end()
    }
}

#[allow(clippy::unused_self)] // commands print through one value, and need not know what each way to print uses of it
impl Output {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, missed: Missed::default() }
    }

    /// Returns an output that prints only the answer.
    pub(crate) fn silenced(&self) -> Self {
        Self { quiet: true, missed: self.missed.clone() }
    }

    /// Returns the estimate of a number that only grows with more rows. It has no upper bound if
    /// rows may have been missed.
    pub(crate) fn honest(&self, estimate: Estimate) -> Estimate {
        if !self.has_missed_rows() {
            return estimate;
        }
        let (value, lower) = (estimate.value(), estimate.lower());
        Estimate::probable(value, lower, f64::INFINITY, estimate.confidence())
    }

    /// Returns the estimate of a number that more rows could move either way. Its bounds are the
    /// least and the greatest possible number if rows may have been missed.
    pub(crate) fn honest_within(&self, estimate: Estimate, [least, greatest]: [f64; 2]) -> Estimate {
        if !self.has_missed_rows() {
            return estimate;
        }
        Estimate::certain(estimate.value(), least, greatest)
    }

    /// Returns true if rows of a followed file may have been missed.
    pub(crate) fn has_missed_rows(&self) -> bool {
        self.missed.0.load(Ordering::Relaxed)
    }

    /// Returns true if the user wants only the answer.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Prints one JSON object on one line.
    pub(crate) fn json(&self, value: &impl Serialize) -> Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.raw(&line)
    }

    /// Prints an answer that is a table, in a form for programs.
    pub(crate) fn listing(&self, listing: &Listing, form: Form) -> Result<()> {
        self.raw(listing.text(form).as_bytes())
    }

    /// Prints the answer, followed by what it counts.
    pub(crate) fn answer(&self, answer: impl Display, what: &str) -> Result<()> {
        print(format_args!("{STRONG}{answer}{STRONG:#} {what}\n"))
    }

    /// Prints a line below the answer.
    pub(crate) fn detail(&self, line: impl Display) -> Result<()> {
        print(format_args!("{FAINT}{}{FAINT:#}\n", harmless(line)))
    }

    /// Prints a line of an answer that is a list.
    pub(crate) fn line(&self, line: impl Display) -> Result<()> {
        print(format_args!("{line}\n"))
    }

    /// Prints text that is already styled. The caller has passed all data in it through
    /// [`harmless`].
    pub(crate) fn styled(&self, text: &str) -> Result<()> {
        print(format_args!("{text}"))
    }

    /// Prints names and values in two columns.
    pub(crate) fn table(&self, rows: &[(impl AsRef<str>, String)]) -> Result<()> {
        let width = rows.iter().map(|(name, _)| name.as_ref().chars().count()).max().unwrap_or(0);
        let mut table = String::new();
        for (name, value) in rows {
            writeln!(table, "{FAINT}{:width$}{FAINT:#}  {}", name.as_ref(), harmless(value))?;
        }
        print(format_args!("{table}"))
    }

    /// Prints columns side by side. All but the last are flush right, because they are numbers.
    pub(crate) fn columns<const N: usize>(&self, rows: &[[String; N]]) -> Result<()> {
        let mut widths = [0; N];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().max(*width);
            }
        }
        let mut text = String::new();
        for row in rows {
            // Lines have no trailing spaces.
            let filled = row.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
            for (column, (width, cell)) in widths.iter().zip(row).enumerate().take(filled) {
                let between = if column > 0 { "  " } else { "" };
                if column + 1 < N {
                    write!(text, "{between}{cell:>width$}")?;
                } else {
                    write!(text, "{between}{STRONG}{}{STRONG:#}", harmless(cell))?;
                }
            }
            text.push('\n');
        }
        print(format_args!("{text}"))
    }

    /// Prints the number of rows that were read.
    pub(crate) fn counts(&self, counts: Counts) -> Result<()> {
        let bad = if counts.bad > 0 { format!(", {} bad", count(counts.bad)) } else { String::new() };
        let left_out = match counts.left_out {
            0 => String::new(),
            left_out => format!(", {} left out", count(left_out)),
        };
        let (rows, skipped) = (rows_of(counts.rows), count(counts.skipped));
        self.detail(format_args!("{rows}{left_out}, {skipped} skipped{bad}"))
    }

    /// Prints what was done, for a command whose result is a file. Prints nothing if quiet.
    pub(crate) fn remark(&self, line: impl Display) -> Result<()> {
        if self.quiet { Ok(()) } else { print(format_args!("{}\n", harmless(line))) }
    }

    /// Prints bytes unchanged.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Result<()> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(bytes).map_err(|error| of_standard_output(&error))?;
        Ok(stdout.flush().map_err(|error| of_standard_output(&error))?)
    }

    /// Prints a warning on standard error. Prints nothing if quiet.
    pub(crate) fn warn(&self, message: impl Display) {
        if !self.quiet {
            complain(format_args!("{WARNING}crivo: warning:{WARNING:#} {}\n", harmless(message)));
        }
    }

    /// Prints a line on standard error, for commands that print documents on standard output.
    /// Prints nothing if quiet.
    pub(crate) fn tell(&self, line: impl Display) {
        if !self.quiet {
            complain(format_args!("{}\n", harmless(line)));
        }
    }

    /// Prints why the command failed.
    pub(crate) fn error(&self, error: &anyhow::Error) {
        complain(format_args!("{ERROR}crivo:{ERROR:#} {}\n", harmless(explain(error))));
    }
}

/// Writes a line of a log to standard error, from any thread.
pub(crate) fn log_line(line: &str) {
    complain(format_args!("{}\n", harmless(line)));
}

/// Returns the number of characters in a line: from `COLUMNS`, else from the terminal, else 80.
pub(crate) fn width() -> usize {
    const USABLE: std::ops::RangeInclusive<usize> = 20..=1000;
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let found = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    told.or(found).map_or(80, |width: usize| width.clamp(*USABLE.start(), *USABLE.end()))
}

/// Returns the writer for rows that are copied to standard output.
pub(crate) fn rows() -> impl Write + Send {
    StandardOutput(io::stdout())
}

/// Standard output. Its errors name it.
struct StandardOutput(io::Stdout);

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| of_standard_output(&error))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes).map_err(|error| of_standard_output(&error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(|error| of_standard_output(&error))
    }
}

/// Adds "standard output" to an error of writing. The error keeps its kind, by which a closed pipe
/// is recognised.
fn of_standard_output(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

/// Returns true if the error is a closed pipe, because the reader of the output has ended.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = Some(io::ErrorKind::BrokenPipe);
    error.chain().any(|cause| {
        cause.downcast_ref::<io::Error>().map(io::Error::kind) == closed
            || cause.downcast_ref::<crivo_rows::Error>().and_then(crivo_rows::Error::io_kind) == closed
    })
}

/// Joins the causes of an error, the outermost first. Errors about input begin with `file:line:`,
/// as compilers write it, and already contain their causes.
fn explain(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        if let Some(located) = cause.downcast_ref::<crivo_rows::Error>() {
            let line = located.line().map(|line| format!(":{line}")).unwrap_or_default();
            parts.extend(located.file().map(|file| format!("{file}{line}")));
            let advice = located.remedy().map(advice).unwrap_or_default();
            parts.push(format!("{}{advice}", located.message()));
            break;
        }
        // An error that only wraps another one has the same words.
        let words = cause.to_string();
        if parts.last() != Some(&words) {
            parts.push(words);
        }
    }
    // An option has the same name as the field in the library's error. Show the name once.
    for at in 1..parts.len() {
        let name = parts[at - 1].strip_prefix("--").map(|option| format!("{option}: "));
        if let Some(rest) = name.and_then(|name| parts[at].strip_prefix(&name).map(String::from)) {
            parts[at] = rest;
        }
    }
    parts.join(": ")
}

/// Translates advice of the row reader into options of the command line.
fn advice(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::SkipBad => " (skip such records with --skip-bad, or check the delimiter)",
        Remedy::ChooseField => ": -f NAME",
        Remedy::NameFormat => ": is it --format csv or jsonl?",
        Remedy::LongerRecords => " (--max-record 1G allows longer ones)",
        _ => "",
    }
}

/// Returns a key as text. Bytes that are not UTF-8 are shown as `\\xFF`, so that different keys
/// look different.
pub(crate) fn key_text(key: &[u8]) -> String {
    let mut text = String::new();
    for part in key.utf8_chunks() {
        text.push_str(part.valid());
        part.invalid().iter().for_each(|byte| {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02X}");
        });
    }
    text
}

/// Returns a key of either kind as text.
pub(crate) fn key_of(key: &OwnedKey) -> String {
    match key {
        OwnedKey::Bytes(bytes) => key_text(bytes),
        integer => integer.to_string(),
    }
}

/// Returns the bytes of a key of either kind in hexadecimal, if they are not UTF-8.
pub(crate) fn key_hex_of(key: &OwnedKey) -> Option<String> {
    match key {
        OwnedKey::Bytes(bytes) => key_hex(bytes),
        _ => None,
    }
}

/// Returns the bytes of a key in hexadecimal, if they are not UTF-8.
pub(crate) fn key_hex(key: &[u8]) -> Option<String> {
    std::str::from_utf8(key).err()?;
    Some(key.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Returns the text with everything escaped that would control a terminal.
pub(crate) fn harmless(text: impl Display) -> String {
    let turns_direction = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let mut shown = String::new();
    for c in text.to_string().chars() {
        if c.is_control() || turns_direction(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

fn print(text: fmt::Arguments<'_>) -> Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_fmt(text).map_err(|error| of_standard_output(&error))?;
    Ok(stdout.flush().map_err(|error| of_standard_output(&error))?)
}

fn complain(text: fmt::Arguments<'_>) {
    // If standard error is closed, the message cannot be shown.
    let _ = anstream::stderr().lock().write_fmt(text);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_not_obeyed() {
        assert_eq!(harmless("a\u{1b}[31m\tb\u{9b}ção"), "a\\u{1b}[31m\\tb\\u{9b}ção");
        assert_eq!(harmless("photo\u{202e}gpj.exe"), "photo\\u{202e}gpj.exe");
    }

    #[test]
    fn different_keys_look_different() {
        assert_eq!(key_text("ação".as_bytes()), "ação");
        assert_eq!(key_text(b"a\xFFb"), "a\\xFFb");
        assert_eq!((key_hex(b"a\xFFb").as_deref(), key_hex(b"ab")), (Some("61ff62"), None));
    }

    #[test]
    fn closed_pipe_is_found_below_context() {
        let error = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe)).context("while printing");
        assert!(is_closed_pipe(&error));
        assert!(!is_closed_pipe(&anyhow::Error::from(io::Error::from(io::ErrorKind::StorageFull))));
    }

    #[test]
    fn an_interval_in_json_has_four_numbers() {
        let json = |estimate: Estimate| serde_json::to_value(Interval::from(estimate)).unwrap();
        let full = Estimate::certain(f64::INFINITY, 900.0, f64::INFINITY);
        let expected =
            serde_json::json!({"value": 900.0, "lower": 900.0, "upper": f64::MAX, "confidence": 1.0});
        assert_eq!(json(full), expected);
        let unbounded = json(Estimate::certain(5.0, 4.0, f64::INFINITY));
        assert_eq!((&unbounded["value"], &unbounded["upper"]), (&5.0.into(), &f64::MAX.into()));
    }

    #[test]
    fn an_option_is_named_once() {
        let error = anyhow::anyhow!("error: expected less").context("--error");
        assert_eq!(explain(&error), "--error: expected less");
    }

    #[test]
    fn errors_about_input_begin_with_the_file() {
        let error = crivo_rows::Input::from_args(["no-such.csv"]).unwrap_err();
        assert_eq!(explain(&error.into()), "no-such.csv: no such file");
    }
}
