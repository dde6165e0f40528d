//! An answer as a table for programs: TSV, CSV, Markdown, or one JSON object a row.
//!
//! A cell that is an interval takes four columns: its value under its own name, and the bounds and
//! the confidence beside it (`count`, `count_lower`, `count_upper`, `count_confidence`). An unknown
//! value is an empty cell. Fields of TSV and CSV are quoted as in RFC 4180 if they hold the
//! separator, a quote or a line end, so that crivo reads its own tables back. Numbers have all
//! their digits and no spaces.

use std::fmt::Write as _;

use crivo_rows::written::delimited_field;

use super::Interval;

/// The forms of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// Text for people
    Table,
    /// Fields separated by tabs, after a header
    Tsv,
    /// Fields separated by commas, after a header
    Csv,
    /// A table of Markdown
    Markdown,
    /// One JSON object, the same as --json
    Json,
    /// One JSON object for each row of the table
    Jsonl,
}

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Yes(bool),
    Whole(u64),
    Number(f64),
    Interval(Interval),
    Unknown,
}

/// A table with names of columns, and rows.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    names: Vec<String>,
    /// The names of columns that are intervals, even if no row has an interval there.
    intervals: Vec<String>,
    rows: Vec<Vec<Cell>>,
}

impl Listing {
    /// Adds a row of names and cells. All rows must have the names of the first.
    pub(crate) fn push<N: Into<String>>(&mut self, row: impl IntoIterator<Item = (N, Cell)>) {
        let (names, cells): (Vec<String>, Vec<Cell>) =
            row.into_iter().map(|(name, cell)| (name.into(), cell)).unzip();
        if self.rows.is_empty() {
            self.names = names;
        }
        self.rows.push(cells);
    }

    /// Returns a table with these columns. It has a header even without rows.
    pub(crate) fn named<N: Into<String>>(names: impl IntoIterator<Item = N>) -> Self {
        Self { names: names.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// Marks these columns as intervals, also in a table without rows.
    pub(crate) fn with_intervals<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.intervals = names.into_iter().map(Into::into).collect();
        self
    }

    /// Returns the table in a form for programs.
    pub(crate) fn text(&self, form: Form) -> String {
        self.header(form) + &self.body(form)
    }

    /// Returns the text before the first row.
    pub(crate) fn header(&self, form: Form) -> String {
        let header = [self.header_texts()];
        match form {
            Form::Csv => delimited(&header, ","),
            Form::Markdown => format!("{}|{}\n", markdown(&header), "---|".repeat(header[0].len())),
            Form::Json | Form::Jsonl => String::new(),
            Form::Tsv | Form::Table => delimited(&header, "\t"),
        }
    }

    /// Returns the text of the rows.
    pub(crate) fn body(&self, form: Form) -> String {
        match form {
            Form::Csv => delimited(&self.row_texts(), ","),
            Form::Markdown => markdown(&self.row_texts()),
            Form::Json | Form::Jsonl => self.json_lines(),
            Form::Tsv | Form::Table => delimited(&self.row_texts(), "\t"),
        }
    }

    /// Returns true for each column that is an interval in at least one row, or was marked as one.
    fn intervals(&self) -> Vec<bool> {
        let is_interval =
            |at: usize| self.rows.iter().any(|row| matches!(row.get(at), Some(Cell::Interval(_))));
        let names = self.names.iter().enumerate();
        names.map(|(at, name)| self.intervals.contains(name) || is_interval(at)).collect()
    }

    /// Returns the names of the columns, four for each interval.
    fn header_texts(&self) -> Vec<String> {
        let intervals = self.intervals();
        let mut header = Vec::new();
        for (name, is_interval) in self.names.iter().zip(&intervals) {
            header.push(name.clone());
            if *is_interval {
                header.extend(["lower", "upper", "confidence"].map(|bound| format!("{name}_{bound}")));
            }
        }
        header
    }

    /// Returns the rows as text, with four columns for each interval.
    fn row_texts(&self) -> Vec<Vec<String>> {
        let intervals = self.intervals();
        let mut texts = Vec::new();
        for row in &self.rows {
            let mut line = Vec::new();
            for (cell, is_interval) in row.iter().zip(&intervals) {
                if let Cell::Interval(Interval { value, lower, upper, confidence }) = cell {
                    line.extend([value, lower, upper, confidence].map(|number| finite(*number)));
                } else {
                    line.push(cell.text());
                    line.extend(vec![String::new(); if *is_interval { 3 } else { 0 }]);
                }
            }
            texts.push(line);
        }
        texts
    }

    fn json_lines(&self) -> String {
        let mut text = String::new();
        for row in &self.rows {
            let fields: Vec<String> = self
                .names
                .iter()
                .zip(row)
                .map(|(name, cell)| format!("{}:{}", json(name), cell.json()))
                .collect();
            let _ = writeln!(text, "{{{}}}", fields.join(","));
        }
        text
    }
}

impl Cell {
    /// Returns a text cell, or an empty cell for `None`.
    pub(crate) fn of_text(text: Option<impl Into<String>>) -> Self {
        text.map_or(Self::Unknown, |text| Self::Text(text.into()))
    }

    /// Returns a number cell, or an empty cell for `None`.
    pub(crate) fn of_number(number: Option<f64>) -> Self {
        number.map_or(Self::Unknown, Self::Number)
    }

    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Yes(yes) => yes.to_string(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => finite(*number),
            Self::Interval(interval) => finite(interval.value),
            Self::Unknown => String::new(),
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Text(text) => json(text),
            Self::Yes(yes) => yes.to_string(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => json(number),
            Self::Interval(interval) => json(interval),
            Self::Unknown => "null".into(),
        }
    }
}

impl From<Interval> for Cell {
    fn from(interval: Interval) -> Self {
        Self::Interval(interval)
    }
}

fn delimited(lines: &[Vec<String>], separator: &str) -> String {
    let mut text = String::new();
    for line in lines {
        let fields: Vec<_> = line.iter().map(|field| delimited_field(field, separator)).collect();
        text.push_str(&fields.join(separator));
        text.push('\n');
    }
    text
}

fn markdown(lines: &[Vec<String>]) -> String {
    let mut text = String::new();
    for line in lines {
        let escaped = |cell: &String| {
            let cell = cell.replace('\\', "\\\\").replace('|', "\\|");
            cell.replace(['\n', '\r'], " ")
        };
        let cells: Vec<String> = line.iter().map(escaped).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

/// Returns the shortest digits that give exactly this number, or nothing if it is not finite.
fn finite(number: f64) -> String {
    if number.is_finite() { number.to_string() } else { String::new() }
}

fn json(value: &(impl serde::Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".into())
}

#[cfg(test)]
mod tests {
    use crivo::Estimate;

    use super::*;

    fn listing() -> Listing {
        let mut listing = Listing::default();
        let count = Estimate::certain(1_234_567.0, 1_234_000.0, f64::INFINITY).into();
        listing.push([("key", Cell::Text("a,\"b\"|\tc".into())), ("count", Cell::Interval(count))]);
        listing.push([("key", Cell::Text("d".into())), ("count", Cell::Unknown)]);
        listing
    }

    #[test]
    fn every_form_has_names_and_all_digits() {
        let listing = listing();
        assert_eq!(
            listing.text(Form::Csv),
            "key,count,count_lower,count_upper,count_confidence\n\
             \"a,\"\"b\"\"|\tc\",1234567,1234000,,1\nd,,,,\n"
        );
        assert_eq!(
            listing.text(Form::Tsv).lines().nth(1),
            Some("\"a,\"\"b\"\"|\tc\"\t1234567\t1234000\t\t1")
        );
        assert_eq!(
            listing.text(Form::Markdown).lines().nth(2),
            Some("| a,\"b\"\\|\tc | 1234567 | 1234000 |  | 1 |")
        );
        assert_eq!(
            listing.text(Form::Jsonl),
            "{\"key\":\"a,\\\"b\\\"|\\tc\",\"count\":{\"value\":1234567.0,\"lower\":1234000.0,\
             \"upper\":1.7976931348623157e+308,\"confidence\":1.0}}\n{\"key\":\"d\",\"count\":null}\n"
        );
    }

    #[test]
    fn a_table_without_rows_has_a_header() {
        assert_eq!(Listing::named(["key", "count"]).text(Form::Tsv), "key\tcount\n");
    }
}
