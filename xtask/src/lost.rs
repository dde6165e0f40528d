//! `cargo xtask bench lost`: in which rows of the benchmark pages is crivo behind?
//!
//! The page `docs/benchmarks/lost.md` is made from the other pages. A test compares it with them,
//! so that it always lists every lost row.

use std::fs;

use anyhow::{Context, Result};

use crate::shell::root;

const FOLDER: &str = "docs/benchmarks";
const PAGE: &str = "lost.md";
const HEAD: &str = "\
# Rows below 1.0

Every row of the other pages in which a peer is faster, smaller or more exact than crivo, as a ratio below 1.0, the lowest first. The pages say how each was
measured and why. This page is made from them by `cargo xtask bench lost`, and a test compares it with them.

Rows beside `wc -l` and beside crivo's own reading compare with a program that does a part of the work only: they show what is left to gain.

| ratio | row | under | page |
|---:|---|---|---|
";

/// A row in which a peer is ahead.
#[derive(Debug, PartialEq)]
struct Lost {
    /// The peer's figure ÷ crivo's, below 1.
    ratio: f64,
    row: String,
    heading: String,
}

/// The ratio that a column of a table shows.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    /// The best peer ÷ this row.
    BestPeerByThis,
    /// This row ÷ crivo.
    ThisByCrivo,
    /// This row ÷ a peer that the column's heading names.
    ThisByPeer,
}

impl Column {
    fn of(head: &str) -> Option<Self> {
        match head {
            "best peer ÷ this" => Some(Self::BestPeerByThis),
            "this ÷ crivo" => Some(Self::ThisByCrivo),
            _ => head.starts_with("this ÷ ").then_some(Self::ThisByPeer),
        }
    }

    /// Returns the ratio below 1 by which crivo is behind in this cell, or `None` if it is not
    /// behind.
    fn lost(self, is_crivo: bool, value: f64) -> Option<f64> {
        let ratio = match (self, is_crivo) {
            (Self::BestPeerByThis, true) | (Self::ThisByCrivo, false) => value,
            (Self::ThisByPeer, true) => 1.0 / value,
            _ => return None,
        };
        (ratio < 1.0).then_some(ratio)
    }
}

/// Returns the rows of a page in which a peer is ahead.
fn lost_rows(page: &str) -> Vec<Lost> {
    let mut lost = Vec::new();
    let mut heading = "";
    let mut columns: Vec<Option<Column>> = Vec::new();
    for line in page.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text;
        }
        let Some(row) = line.strip_prefix('|') else {
            columns.clear();
            continue;
        };
        // An escaped bar belongs to a cell.
        let row = row.trim_end_matches('|').replace("\\|", "\u{1}");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if columns.is_empty() {
            columns = cells.iter().map(|head| Column::of(head)).collect();
            continue;
        }
        let first_ratio = columns.iter().position(Option::is_some).unwrap_or(0);
        let is_crivo =
            cells.iter().take(first_ratio).any(|cell| cell.contains("**") || cell.contains(".crivo."));
        for (column, cell) in columns.iter().zip(&cells) {
            let value = column.zip(cell.replace(',', "").parse().ok());
            if let Some(ratio) = value.and_then(|(column, value)| column.lost(is_crivo, value)) {
                // Cells of numbers stand between the name and the ratio and are left out of the
                // name.
                let is_name =
                    |cell: &&&str| cell.replace(',', "").parse::<f64>().is_err() && !cell.is_empty();
                let name: Vec<&str> = cells.iter().take(first_ratio).filter(is_name).copied().collect();
                let row = name.join(", ").replace("**", "").replace('\u{1}', "\\|");
                lost.push(Lost { ratio, row, heading: heading.replace('|', "\\|") });
            }
        }
    }
    lost
}

/// Returns the text of the page, made from the other pages.
fn page() -> Result<String> {
    let folder = root().join(FOLDER);
    let entries = fs::read_dir(&folder).with_context(|| format!("{}", folder.display()))?;
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .filter(|name| name != PAGE)
        .collect();
    names.sort();
    let mut rows = Vec::new();
    for name in names {
        let text = fs::read_to_string(folder.join(&name)).with_context(|| name.clone())?;
        rows.extend(lost_rows(&text).into_iter().map(|lost| (lost, name.clone())));
    }
    // Rows with equal ratios keep the order of the pages.
    rows.sort_by(|(one, _), (other, _)| one.ratio.total_cmp(&other.ratio));
    let line = |(Lost { ratio, row, heading }, name): &(Lost, String)| {
        let ratio = if *ratio < 0.005 { "below 0.01".to_owned() } else { format!("{ratio:.2}") };
        format!("| {ratio} | {row} | {heading} | [{name}]({name}) |\n")
    };
    Ok(HEAD.to_owned() + &rows.iter().map(line).collect::<String>())
}

/// Writes the page.
pub(crate) fn run() -> Result<()> {
    let path = root().join(FOLDER).join(PAGE);
    fs::write(&path, page()?).with_context(|| format!("{}", path.display()))?;
    println!("{} is written", path.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lost_row_is_on_the_page() {
        let stored = fs::read_to_string(root().join(FOLDER).join(PAGE)).unwrap();
        assert_eq!(stored, page().unwrap(), "`cargo xtask bench lost` writes {FOLDER}/{PAGE}");
    }

    #[test]
    fn lost_rows_are_found_in_each_form_of_table() {
        let page = "\
## Speed
| who | ns a key | best peer ÷ this |
|---|---:|---:|
| **crivo, one by one** | 2.0 | 0.50 |
| **crivo, batches** | 0.5 | 2.00 |
| peer | 1.0 | 1.00 |
| slow peer | 4.0 | 0.25 |

## Commands

| who | s | this ÷ crivo | peak MB |
|---|---:|---:|---:|
| **crivo** | 2.0 | 1.00 | 5 |
| sort \\| wc | 1.0 | 0.75 | 2 |
| other | 1,600 | 1,600 | 2 |

## Engines

| engine | expression | seconds | this ÷ Polars |
|---|---|---:|---:|
| a | `n_unique()` | 1 | 1.00 |
| a | `.crivo.distinct()` | 2 | 2.00 |
| b | `.crivo.distinct()` | 1 | 0.50 |
";
        let lost = |ratio, row: &str, heading: &str| Lost { ratio, row: row.into(), heading: heading.into() };
        let expected = [
            lost(0.5, "crivo, one by one", "Speed"),
            lost(0.75, "sort \\| wc", "Commands"),
            lost(0.5, "a, `.crivo.distinct()`", "Engines"),
        ];
        assert_eq!(lost_rows(page), expected);
    }
}
