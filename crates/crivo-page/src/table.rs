//! Tables that a reader can sort and search.
//!
//! Headings contain buttons, because a button can be reached by keyboard and is announced as one. A
//! sorted column has the attribute `aria-sort`. Numbers sort by `data-value`, which has all of
//! their digits in any format. The script is the page's own; without it the table still shows its
//! rows.

use maud::{Markup, html};

use crate::{number, text};

/// The greatest width of a text in a cell. A longer one is cut, and shown when the mouse is over
/// it.
const WIDEST_TEXT: usize = 48;
/// The greatest width of the text that is shown when the mouse is over a cell.
const WIDEST_HINT: usize = 400;

/// A table with buttons to sort it and, if requested, a field to search it.
///
/// ```
/// use crivo_page::{Cell, Column, Table};
///
/// let table = Table::new("Rivers")
///     .column(Column::text("name"))
///     .column(Column::number("length in km"))
///     .searchable("Find a river")
///     .row([Cell::text("Douro"), Cell::number(897.0)])
///     .row([Cell::text("Tejo"), Cell::number(1_007.0)]);
/// assert!(table.markup().into_string().contains("data-value=\"1007\""));
/// ```
#[derive(Debug, Clone)]
pub struct Table {
    caption: String,
    search: Option<String>,
    columns: Vec<Column>,
    rows: Vec<Row>,
}

/// A column: its heading, and whether its values are numbers.
#[derive(Debug, Clone)]
pub struct Column {
    heading: String,
    numbers: bool,
}

/// A cell: its content, and the number by which it sorts.
#[derive(Debug, Clone)]
pub struct Cell {
    shown: Markup,
    value: Option<f64>,
}

#[derive(Debug, Clone)]
struct Row {
    about: Option<String>,
    cells: Vec<Cell>,
}

impl Column {
    /// Returns a column that sorts by text in natural order: `a2` before `a10`.
    pub fn text(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), numbers: false }
    }

    /// Returns a column that sorts by number. Cells without a number come last.
    pub fn number(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), numbers: true }
    }
}

impl Cell {
    /// Returns a cell with text from any source.
    pub fn text(content: &str) -> Self {
        let shown = text::shorten(content, WIDEST_TEXT);
        let hint = (shown != content).then(|| text::shorten(content, WIDEST_HINT));
        Self { shown: html! { bdi title=[hint] { (shown) } }, value: None }
    }

    /// Returns a cell with a number, in groups of three digits.
    pub fn number(value: f64) -> Self {
        Self::markup(html! { (number::grouped(value)) }).value(value)
    }

    /// Returns a cell with any markup.
    pub fn markup(shown: Markup) -> Self {
        Self { shown, value: None }
    }

    /// Returns an empty cell, which comes last in any order.
    pub fn empty() -> Self {
        Self::markup(html! { span.muted aria-hidden="true" { "–" } })
    }

    /// Sets the number by which the cell sorts.
    #[must_use]
    pub fn value(mut self, value: f64) -> Self {
        self.value = Some(value);
        self
    }
}

impl Table {
    /// Returns a table without columns. The caption names its rows.
    pub fn new(caption: impl Into<String>) -> Self {
        Self { caption: caption.into(), search: None, columns: Vec::new(), rows: Vec::new() }
    }

    /// Adds a column to the right.
    #[must_use]
    pub fn column(mut self, column: Column) -> Self {
        self.columns.push(column);
        self
    }

    /// Adds a search field above the table, which hides the rows that do not contain the typed
    /// text.
    #[must_use]
    pub fn searchable(mut self, label: impl Into<String>) -> Self {
        self.search = Some(label.into());
        self
    }

    /// Adds a row. Its first cell names it. Cells beyond the columns are left out.
    #[must_use]
    pub fn row(mut self, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(Row { about: None, cells: cells.into_iter().collect() });
        self
    }

    /// Adds a row about another element of the page, by its `id`. A search hides both or none.
    #[must_use]
    pub fn row_about(mut self, id: impl Into<String>, cells: impl IntoIterator<Item = Cell>) -> Self {
        self.rows.push(Row { about: Some(id.into()), cells: cells.into_iter().collect() });
        self
    }

    /// Returns the table, its search field and the line with the result of the search.
    pub fn markup(&self) -> Markup {
        let caption = text::visible(&self.caption);
        html! {
            div.table {
                @if let Some(label) = &self.search {
                    // The script shows the field, because without the script it has no effect.
                    div.search hidden {
                        label { (text::visible(label)) " " input type="search" autocomplete="off" spellcheck="false"; }
                    }
                }
                p.found.muted role="status" {}
                div.scroll role="region" aria-label=(caption) tabindex="0" {
                    table {
                        caption.unseen { (caption) }
                        thead { tr { @for column in &self.columns { (heading(column)) } } }
                        tbody { @for row in &self.rows { (self.draw_row(row)) } }
                    }
                }
            }
        }
    }

    fn draw_row(&self, row: &Row) -> Markup {
        let cells = self.columns.iter().zip(&row.cells).enumerate();
        html! {
            tr data-about=[row.about.as_deref().map(text::visible)] {
                @for (index, (column, cell)) in cells {
                    @let value = cell.value.map(number::exact);
                    @if index == 0 {
                        th scope="row" data-value=[value] { (cell.shown) }
                    } @else {
                        td.number[column.numbers] data-value=[value] { (cell.shown) }
                    }
                }
            }
        }
    }
}

fn heading(column: &Column) -> Markup {
    html! {
        th.number[column.numbers] scope="col" aria-sort="none" {
            button type="button" { (text::shorten(&column.heading, 40)) span.arrow aria-hidden="true" {} }
        }
    }
}
