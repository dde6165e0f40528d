// This file is long because each kind of column has its own lines.

//! A profile on a terminal: one line for each column if the terminal is wide enough, and a few
//! lines otherwise.
//!
//! Values that are not exact are marked with ±. Facts that do not fit into the line of a column,
//! and facts that only some columns have, are in a second line below it ([`second_line`]). Facts
//! that need attention follow below the table: columns that change their type, near-duplicates,
//! columns that depend on each other, and columns that could join.

mod second_line;

use std::fmt::Write as _;

use anyhow::Result;
use unicode_width::UnicodeWidthChar;

use super::report::{ColumnName, ColumnReport, Join, ProfileReport, Quantiles, Scalar, TableReport};
use super::separators::is_grouped;
use crate::output::{self, Cell, FAINT, Interval, Listing, Output, STRONG, harmless};

/// The narrowest terminal with one line for each column. Narrower ones get a block for each column.
const LEAST_TABLE: usize = 64;
const GAP: usize = 2;
/// The narrowest useful list of frequent values.
const LEAST_TOP: usize = 18;
/// The usual width of frequent values. Further room goes to names that need it.
const USUAL_TOP: usize = 40;
/// The most undecided pairs of columns that are named.
const UNDECIDED: usize = 3;

/// Prints the report on lines of at most `width` characters.
pub(super) fn print(report: &ProfileReport, width: usize, out: &Output) -> Result<()> {
    let mut text = String::new();
    for (at, table) in report.tables.iter().enumerate() {
        if at > 0 {
            text.push('\n');
        }
        heading(&mut text, table, width)?;
        if width < LEAST_TABLE {
            blocks(&mut text, table, width)?;
        } else {
            lines(&mut text, table, width)?;
        }
        let mut notes: Vec<String> = table.columns.iter().flat_map(notes).collect();
        notes.extend(second_line::relations(table));
        list(&mut text, &notes, width)?;
    }
    if report.tables.len() > 1 {
        let mut found: Vec<String> = report.joins.iter().map(join).collect();
        writeln!(text, "\n{STRONG}Columns that could join{STRONG:#}")?;
        if found.is_empty() && report.undecided == 0 {
            writeln!(text, "{FAINT}none{FAINT:#}")?;
        }
        found.extend(undecided(report));
        list(&mut text, &found, width)?;
    }
    out.styled(&text)
}

/// Returns one row for each column of each table, for programs.
pub(super) fn listing(report: &ProfileReport) -> Listing {
    let mut listing = Listing::default();
    let scalar = |value: &Option<Scalar>| match value {
        None => Cell::Unknown,
        Some(Scalar::Integer(integer)) => Cell::Text(integer.to_string()),
        Some(Scalar::Float(float)) => Cell::Number(*float),
        Some(Scalar::Text(text)) => Cell::Text(text.clone()),
    };
    for (table, column) in report.tables.iter().flat_map(|t| t.columns.iter().map(move |column| (t, column)))
    {
        let quantile = |of: fn(&Quantiles) -> Interval| {
            Cell::of_number(column.quantiles.as_ref().map(|quantiles| of(quantiles).value))
        };
        listing.push([
            ("table", Cell::Text(table.name.clone())),
            ("column", Cell::Text(column.name.clone())),
            ("type", Cell::Text(column.kind.into())),
            ("rows", Cell::Whole(table.rows)),
            ("empty", Cell::Whole(column.empty)),
            ("distinct", Cell::Interval(column.distinct)),
            ("key", Cell::Yes(column.key)),
            ("min", scalar(&column.min)),
            ("max", scalar(&column.max)),
            ("sum", Cell::of_number(column.sum)),
            ("mean", Cell::of_number(column.mean)),
            ("p25", quantile(|quantiles| quantiles.p25)),
            ("p50", quantile(|quantiles| quantiles.p50)),
            ("p75", quantile(|quantiles| quantiles.p75)),
            ("majority", Cell::of_text(column.majority.clone())),
        ]);
    }
    listing
}

fn heading(text: &mut String, table: &TableReport, width: usize) -> Result<()> {
    let unit = |count: u64, one: &str| {
        format!("{} {one}{}", output::count(count), if count == 1 { "" } else { "s" })
    };
    let some = |count: u64, what: &str| {
        if count > 0 { format!(", {} {what}", output::count(count)) } else { String::new() }
    };
    let (left_out, bad) = (some(table.left_out, "left out"), some(table.bad, "bad"));
    let facts = format!(
        "{}, {}, {}{left_out}{bad}",
        unit(table.rows, "row"),
        unit(table.columns.len() as u64, "column"),
        output::bytes(table.bytes as usize)
    );
    writeln!(text, "{STRONG}{}{STRONG:#}", cut(&table.name, width))?;
    writeln!(text, "{FAINT}{}{FAINT:#}\n", cut(&facts, width))?;
    Ok(())
}

// ---- one line a column ----

/// A column of the printed table: its title, its cells, and whether it is aligned right.
struct Printed {
    title: &'static str,
    cells: Vec<String>,
    right: bool,
    widest: usize,
}

impl Printed {
    fn new(
        title: &'static str,
        widest: usize,
        right: bool,
        table: &TableReport,
        cell: impl Fn(&ColumnReport) -> String,
    ) -> Self {
        let cells: Vec<String> = table.columns.iter().map(|column| cut(&cell(column), widest)).collect();
        Self { title, cells, right, widest }
    }

    fn width(&self) -> usize {
        self.cells
            .iter()
            .map(|cell| width_of(cell))
            .chain([width_of(self.title)])
            .max()
            .unwrap_or(0)
            .min(self.widest)
    }
}

/// Returns the names of the columns, cut to a width.
fn names(table: &TableReport, widest: usize) -> Printed {
    let cells = table.columns.iter().map(|column| cut_middle(&column.name, widest)).collect();
    Printed { title: "column", cells, right: false, widest }
}

fn lines(text: &mut String, table: &TableReport, width: usize) -> Result<()> {
    let widest_range = (width / 4).clamp(20, 48);
    let mut printed = vec![
        names(table, (width / 5).clamp(12, 40)),
        Printed::new("type", 9, false, table, |column| column.kind.into()),
        Printed::new("empty", 8, true, table, |column| empty(column, table.rows)),
        Printed::new("different", 28, true, table, different),
        Printed::new("from … to", widest_range, false, table, |column| {
            range(column, widest_range).unwrap_or_default()
        }),
        Printed::new("median", 20, true, table, |column| median(column).unwrap_or_default()),
    ];
    let taken = |printed: &[Printed]| printed.iter().map(|column| column.width() + GAP).sum::<usize>();
    // The median and then the range move to the second line, until the frequent values have enough
    // room.
    while printed.len() > 4 && taken(&printed) + LEAST_TOP > width {
        printed.pop();
    }
    let below: Vec<Vec<String>> =
        table.columns.iter().map(|column| second_line::of(column, printed.len(), width - 4)).collect();
    // Names that are cut get the room that remains after the usual width of the frequent values.
    let spare = width.saturating_sub(taken(&printed) + USUAL_TOP);
    printed[0] = names(table, printed[0].widest + spare);
    let room = width.saturating_sub(taken(&printed));
    if room >= LEAST_TOP {
        printed.push(Printed::new("most frequent", room, false, table, |column| frequent(column, room)));
    }
    let widths: Vec<usize> = printed.iter().map(Printed::width).collect();
    let mut is_title = true;
    let mut put = |cells: &[&str], below: &[String]| -> Result<()> {
        let mut line = String::new();
        for ((cell, width), column) in cells.iter().zip(&widths).zip(&printed) {
            let blanks = " ".repeat(width.saturating_sub(width_of(cell)));
            let (before, after) = if column.right { (&*blanks, "") } else { ("", &*blanks) };
            write!(line, "{before}{cell}{after}{:GAP$}", "")?;
        }
        let line = line.trim_end();
        if is_title {
            writeln!(text, "{FAINT}{line}{FAINT:#}")?;
        } else {
            writeln!(text, "{line}")?;
        }
        is_title = false;
        for line in below {
            writeln!(text, "    {FAINT}{line}{FAINT:#}")?;
        }
        Ok(())
    };
    put(&printed.iter().map(|column| column.title).collect::<Vec<_>>(), &[])?;
    for (row, below) in below.iter().enumerate() {
        put(&printed.iter().map(|column| column.cells[row].as_str()).collect::<Vec<_>>(), below)?;
    }
    Ok(())
}

// ---- one block a column ----

fn blocks(text: &mut String, table: &TableReport, width: usize) -> Result<()> {
    for column in &table.columns {
        writeln!(text, "{STRONG}{}{STRONG:#}", cut_middle(&column.name, width))?;
        let empty =
            if column.empty > 0 { format!(", {} empty", empty(column, table.rows)) } else { String::new() };
        let mut facts = vec![format!("{}{empty}", column.kind)];
        if column.values > 0 {
            let key = match (column.key, column.is_certain_key()) {
                (true, true) => ", key",
                (true, false) => ", could be a key",
                _ => "",
            };
            facts.push(format!("{} different{key}", output::estimate(column.distinct.estimate())));
            facts.extend(range(column, width - 2));
            facts.extend(median(column).map(|median| format!("median {median}")));
            facts.extend(second_line::facts(column));
            facts.extend(Some(frequent(column, width - 2)).filter(|frequent| !frequent.is_empty()));
        }
        for fact in facts {
            writeln!(text, "  {}", cut(&fact, width - 2))?;
        }
    }
    Ok(())
}

// ---- cells ----

fn empty(column: &ColumnReport, rows: u64) -> String {
    match column.empty {
        0 => String::new(),
        all if all == rows => "all".into(),
        some => output::percent(some as f64 / rows as f64),
    }
}

fn different(column: &ColumnReport) -> String {
    if column.values == 0 {
        return String::new();
    }
    let distinct = output::estimate(column.distinct.estimate());
    match (column.key, column.is_certain_key()) {
        (true, true) => format!("{distinct}, key"),
        (true, false) => format!("{distinct}, key?"),
        _ => distinct,
    }
}

/// Returns the least and the greatest value with all digits. If they do not fit, they are rounded
/// and marked as such.
fn range(column: &ColumnReport, widest: usize) -> Option<String> {
    let (least, greatest) = (column.min.as_ref()?, column.max.as_ref()?);
    let both = |shown: fn(&Scalar) -> String| {
        if least == greatest { shown(least) } else { format!("{} … {}", shown(least), shown(greatest)) }
    };
    let exactly = both(exact_scalar);
    Some(if width_of(&exactly) <= widest { exactly } else { both(rounded_scalar) })
}

fn exact_scalar(value: &Scalar) -> String {
    match value {
        Scalar::Integer(integer) => {
            let sign = if *integer < 0 { "-" } else { "" };
            format!("{sign}{}", output::count(integer.unsigned_abs()))
        }
        Scalar::Float(float) => output::exact(*float),
        Scalar::Text(text) => cut(text, 20),
    }
}

fn rounded_scalar(value: &Scalar) -> String {
    match value.as_number() {
        Some(number) if number.abs() >= 1e6 => format!("≈ {number:.2e}"),
        Some(number) => output::number(number),
        None => exact_scalar(value),
    }
}

fn median(column: &ColumnReport) -> Option<String> {
    Some(output::estimate(column.quantiles.as_ref()?.p50.estimate()))
}

/// Returns as many frequent values as fit, of those that certainly occur more than once.
fn frequent(column: &ColumnReport, room: usize) -> String {
    let mut text = String::new();
    for frequent in column.top.iter().filter(|frequent| frequent.count.lower > 1.0) {
        let shown = format!("{} {}", cut(&frequent.key, 24), share(frequent.count, column.values));
        let between = if text.is_empty() { "" } else { ", " };
        if width_of(&text) + between.len() + width_of(&shown) > room {
            break;
        }
        text.push_str(between);
        text.push_str(&shown);
    }
    text
}

/// Returns a share in percent, with its error in percentage points unless it is exact.
fn share(count: Interval, of: u64) -> String {
    let percent = |count: f64| 100.0 * count / of.max(1) as f64;
    let error = percent((count.upper - count.value).max(count.value - count.lower));
    if error == 0.0 {
        output::percent(count.value / of.max(1) as f64)
    } else {
        format!("{:.1} ± {:.1} %", percent(count.value), (error * 10.0).ceil() / 10.0)
    }
}

// ---- what to look at ----

fn notes(column: &ColumnReport) -> Vec<String> {
    let name = &column.name;
    let mut notes = Vec::new();
    if let Some(change) = column.changes.iter().find(|change| change.to == "text") {
        let hint = if is_grouped(&change.value) { " (see --thousands)" } else { "" };
        notes.push(format!(
            "{name}: {} before row {}, which has '{}'{hint}",
            change.from,
            output::count(change.row),
            change.value
        ));
    }
    if column.not_finite > 0 {
        let numbers = output::count(column.not_finite);
        let are = if column.not_finite == 1 { "number is" } else { "numbers are" };
        notes
            .push(format!("{name}: {numbers} {are} infinite, NaN or too large, and in no figure of numbers"));
    }
    // Bounds as wide as this give no information.
    let is_told = |near: &Interval| near.value > 0.0 && near.upper - near.lower < 0.9;
    if let Some(near) = column.near_duplicates.filter(is_told) {
        let percent = |share: f64| (100.0 * share).round();
        let (lower, upper) = (percent(near.lower), percent(near.upper));
        let range = if lower == upper { format!("{lower} %") } else { format!("{lower} to {upper} %") };
        notes.push(format!("{name}: {range} of the texts are near-duplicates of another"));
    }
    if let Some(code) = column.leading_zeros() {
        notes.push(format!("{name}: taken for numbers, and '{code}' has a leading zero: these may be codes"));
    }
    if column.long > 0 {
        let values = output::count(column.long);
        let are = if column.long == 1 { "value is" } else { "values are" };
        notes.push(format!("{name}: {values} {are} too long to be counted among the most frequent"));
    }
    notes
}

/// Returns a column, and whether it is a key.
fn side(name: &ColumnName) -> String {
    let key = match (name.key, name.is_certain_key) {
        (true, true) => " (key)",
        (true, false) => " (could be a key)",
        _ => "",
    };
    format!("{} of {}{key}", name.column, name.file)
}

/// Returns the number of undecided pairs, and the first of them.
fn undecided(report: &ProfileReport) -> Option<String> {
    let count = report.undecided;
    let named: Vec<String> = report
        .undecided_pairs
        .iter()
        .take(UNDECIDED)
        .map(|pair| format!("{} and {}", side(&pair.left), side(&pair.right)))
        .collect();
    let pairs = if count == 1 { "pair" } else { "pairs" };
    let more = if count > named.len() as u64 { "; and others" } else { "" };
    (count > 0).then(|| {
        format!(
            "{} {pairs} of columns could join or not, because too few values were compared to tell: {}{more}",
            output::count(count),
            named.join("; ")
        )
    })
}

fn join(join: &Join) -> String {
    let share = |share: Interval| {
        let (value, error) =
            (100.0 * share.value, 100.0 * (share.upper - share.value).max(share.value - share.lower));
        if error == 0.0 {
            output::percent(share.value)
        } else {
            format!("{value:.0} ± {:.0} %", error.ceil())
        }
    };
    format!(
        "{} and {}: {} of the first are in the second, {} of the second in the first",
        side(&join.left),
        side(&join.right),
        share(join.left_in_right),
        share(join.right_in_left)
    )
}

/// Appends sentences as a list, broken into lines.
fn list(text: &mut String, sentences: &[String], width: usize) -> Result<()> {
    if !sentences.is_empty() {
        text.push('\n');
    }
    for sentence in sentences {
        let mut line = String::from("-");
        for word in harmless(sentence).split_whitespace() {
            if width_of(&line) + 1 + width_of(word) > width && width_of(&line) > 1 {
                writeln!(text, "{line}")?;
                line = String::from(" ");
            }
            line.push(' ');
            line.push_str(&cut(word, width.saturating_sub(2)));
        }
        writeln!(text, "{line}")?;
    }
    Ok(())
}

// ---- widths ----

fn width_of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns the text without control characters, cut to a width.
fn cut(text: &str, width: usize) -> String {
    let text = harmless(text);
    if width_of(&text) <= width {
        return text;
    }
    let mut shown = String::new();
    let mut taken = 1;
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > width {
            break;
        }
        shown.push(c);
    }
    shown.push('…');
    shown
}

/// Returns the text without control characters, cut in the middle, because names that begin alike
/// differ at their ends.
fn cut_middle(text: &str, width: usize) -> String {
    let text = harmless(text);
    if width_of(&text) <= width {
        return text;
    }
    let (mut taken, mut start) = (0, text.len());
    for (at, c) in text.char_indices().rev() {
        taken += c.width().unwrap_or(0);
        if taken > width / 2 {
            break;
        }
        start = at;
    }
    let end = &text[start..];
    cut(&text, width - width_of(end)) + end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_in_the_middle() {
        assert_eq!(cut_middle("short", 5), "short");
        assert_eq!(cut_middle("customer_address_street", 12), "custo…street");
        assert_eq!(cut_middle("文字文字文字", 7), "文字…字");
        assert_eq!(cut_middle("ab\u{202e}gpj.exe", 30), "ab\\u{202e}gpj.exe");
    }

    #[test]
    fn texts_are_cut_by_the_places_they_take() {
        assert_eq!(cut("ação", 4), "ação");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("文字文字", 5), "文字…");
        assert_eq!(cut("a\u{1b}[1m", 20), "a\\u{1b}[1m");
    }

    #[test]
    fn shares_that_are_not_exact_say_so() {
        let interval = |value, lower, upper| Interval { value, lower, upper, confidence: 1.0 };
        assert_eq!(share(interval(340.0, 340.0, 340.0), 1000), "34 %");
        assert_eq!(share(interval(340.0, 339.0, 341.0), 1000), "34.0 ± 0.1 %");
    }
}
